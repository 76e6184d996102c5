/// The version of an AccessEnabler SDK, such as `1.7.5`.
package struct SDKVersion: Comparable, Hashable, Sendable, CustomStringConvertible {
    /// How an SDK lays out the tokens that it stores.
    package enum Layout: Sendable {
        /// One slot for the login of all programmers, in SDKs up to 1.6.
        case oneSlot
        /// A map of programmer and MVPD to logins, in SDKs from 1.7 on.
        case nestedMap
    }

    package let major: Int
    package let minor: Int
    package let patch: Int

    /// The version 3.7, which is assumed of an app that names no version.
    package static let latest = SDKVersion(3, 7)
    /// The first SDK that removes the logins of another device ID, in its sanitizer.
    package static let sanitizing = SDKVersion(1, 7, 5)
    /// The first SDK whose sanitizer spares the logins of other apps.
    package static let sparing = SDKVersion(1, 9)
    /// The first SDK that cannot be installed on iOS 6.
    package static let withoutIOS6 = SDKVersion(1, 9, 4)

    /// A version that no SDK reaches, for a range without an upper end.
    static let never = SDKVersion(.max, 0)

    package init(_ major: Int, _ minor: Int, _ patch: Int = 0) {
        (self.major, self.minor, self.patch) = (major, minor, patch)
    }

    /// Reads two or three numbers with dots between them; returns `nil` for any other text.
    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in
            part.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(part) : nil
        }
        guard (2...3).contains(parts.count), numbers.count == parts.count else { return nil }
        self.init(numbers[0], numbers[1], numbers.count > 2 ? numbers[2] : 0)
    }

    package var layout: Layout { self < SDKVersion(1, 7) ? .oneSlot : .nestedMap }

    package var description: String { "\(major).\(minor)" + (patch > 0 ? ".\(patch)" : "") }

    package static func < (left: Self, right: Self) -> Bool {
        (left.major, left.minor, left.patch) < (right.major, right.minor, right.patch)
    }
}
