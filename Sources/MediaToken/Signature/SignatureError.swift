internal import TextEncodings
package import Timestamps
internal import TokenCrypto

/// Why the signature of a token was not verified.
///
/// Indirect, so that a result is as small as a reference: most signatures are valid.
package indirect enum SignatureError: Error, Sendable {
    /// None of the loaded keys verifies it. Its length is in bytes.
    case noKeyVerifies(length: Int, keys: [VerificationKey])
    /// A key verifies it whose certificate is not valid now.
    case keyOutsideValidity(name: String, ClosedRange<Timestamp>, now: Timestamp)
    /// libcrypto could not work, in practice because memory ran out.
    case outOfResources(String)

    /// One line: what was expected, what came.
    package var message: String {
        switch self {
        case .noKeyVerifies(let length, let keys): Self.noKeyVerifies(length, keys)
        case .keyOutsideValidity(let name, let validity, let now):
            "signed by \(name), whose certificate is valid from \(validity.lowerBound.utcText) to "
                + "\(validity.upperBound.utcText), and it is \(now.utcText)"
        case .outOfResources(let what): what
        }
    }

    private static func noKeyVerifies(_ length: Int, _ keys: [VerificationKey]) -> String {
        let names = printableList(keys.map { "\($0.name), \($0.bits) bits" })
        guard keys.contains(where: { $0.publicKey.signatureLength == length }) else {
            return "the signature has \(length) bytes (RSA with \(length * 8) bits); the loaded keys are \(names)"
        }
        return "no loaded key verifies it; tried \(names)"
    }
}
