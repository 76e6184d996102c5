internal import Basics

extension CATRenewal {
    private static let kinds: [(name: String, kind: Kind)] = [
        ("automatic", .automatic), ("cookie", .cookie), ("header", .header), ("redirect", .redirect),
    ]

    /// Reads a renewal as written on the command line and in the configuration: `cookie:300` or `cookie:300:60`.
    ///
    /// - Throws: ``GrantError`` for the field `renew`.
    init(text: String) throws(GrantError) {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
            .map { String(Substring($0)) }
        let numbers = parts.dropFirst().compactMap { Int64($0) }
        guard let kind = Self.kinds.first(where: { $0.name.hasSameBytes(as: parts[0]) })?.kind,
            (1...2).contains(numbers.count), numbers.count == parts.count - 1, numbers.allSatisfy({ $0 > 0 }),
            numbers.count == 1 || numbers[1] < numbers[0]
        else {
            throw GrantError(
                "renew",
                "is '\(printable(text))'; expected a kind of \(Self.kinds.map(\.name).joined(separator: ", ")), "
                    + "seconds, and maybe fewer seconds before the end: cookie:300:60")
        }
        self.init(kind: kind, seconds: numbers[0], deadline: numbers.count > 1 ? numbers[1] : nil)
    }

    /// Reads the setting `renew`; `nil` if it is not given.
    ///
    /// - Throws: ``GrantError`` for the field `renew`.
    init?(in values: GrantValues) throws(GrantError) {
        guard let text = values["renew"] else { return nil }
        try self.init(text: text)
    }
}
