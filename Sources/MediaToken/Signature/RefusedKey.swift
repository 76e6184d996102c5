internal import Basics
internal import TokenCrypto

/// A key, or a whole file, that was not loaded.
public struct RefusedKey: Sendable, CustomStringConvertible {
    enum Reason: Sendable {
        case unreadable(String)
        case holdsPrivateKey(KeyFile)
        case leftOut(String)
        case tooShort(bits: Int, minimum: Int)
        case tooLong(bits: Int)
        case exponent(UInt64?)
        case outsideValidity(ClosedRange<Timestamp>, now: Timestamp)
    }

    /// The file that the key came from.
    public let file: String
    let reason: Reason

    /// Whether the file could not be read, so that nobody knows which keys it has.
    var isUnreadable: Bool { if case .unreadable = reason { true } else { false } }

    /// One line: the file, what is wrong with it or its key, and which setting allows it or what to do.
    public var description: String { "\(printable(file, limit: 300)): \(explanation)" }

    /// What is wrong with the file or its key, and which setting allows it or what to do.
    package var explanation: String {
        switch reason {
        case .unreadable(let what):
            what
        case .holdsPrivateKey(let content):
            "holds a private key; a verifier needs the public half of an RSA key"
                + (content.commandForPublicKeys(in: file).map { command in
                    " (take it out with '\(command)', and keep the private key elsewhere)"
                } ?? "")
        case .leftOut(let what):
            what
        case .tooShort(let bits, let minimum):
            bits >= KeyRequirements.lowestMinimumRSABits
                ? "is RSA with \(bits) bits; at least \(minimum) are required "
                    + "(--min-rsa-bits \(bits), in the library minimumRSABits, allows it)"
                : "is RSA with \(bits) bits; at least \(minimum) are required "
                    + "(no setting allows less than \(KeyRequirements.lowestMinimumRSABits))"
        case .tooLong(let bits):
            "is RSA with \(bits) bits; at most \(KeyRequirements.maximumRSABits) are supported (no setting allows more)"
        case .exponent(let exponent):
            "has the public exponent \(exponent.map(String.init) ?? "of more than 64 bits"); "
                + "expected an odd one from \(KeyRequirements.minimumExponent) up (no setting allows it)"
        case .outsideValidity(let validity, let now):
            "is a certificate valid from \(validity.lowerBound.utcText) to \(validity.upperBound.utcText), "
                + "and it is \(now.utcText) (get the new one; for a captured token --ignore-certificate-dates allows it, in the library "
                + "unsafeIgnoringCertificateDates)"
        }
    }
}

/// The keys could not be loaded. This is thrown at start, so that a key problem does not show up one token at a time.
public enum KeyRingError: Error, Sendable, CustomStringConvertible {
    /// A named path cannot be opened, or a directory cannot be listed.
    case unreadable(path: String, reason: String)
    /// A file that was named explicitly holds keys that are not acceptable.
    case refused([RefusedKey])
    /// None of the given places has a usable key; `refused` lists the keys that were found there but not loaded.
    case noKeys(places: [String], refused: [RefusedKey])
    /// libcrypto cannot set up verification with a loaded key.
    case libcrypto(String)

    /// One line per problem.
    public var description: String {
        switch self {
        case .unreadable(let path, let reason): "\(printable(path, limit: 300)): \(reason)"
        case .refused(let keys): keys.map(\.description).joined(separator: "\n")
        case .noKeys(let places, let refused):
            (refused.map(\.description) + [
                "no usable verification key in \(places.joined(separator: ", ")) "
                    + "(looked for files named *.\(KeyRing.fileExtensions.joined(separator: ", *.")))"
            ])
            .joined(separator: "\n")
        case .libcrypto(let what): what
        }
    }
}
