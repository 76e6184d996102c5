internal import TextEncodings
package import Timestamps
internal import TokenCrypto

/// Why the signature of a token was not verified.
///
/// The enum is indirect, so that a result is no larger than a reference: most signatures are valid.
package indirect enum SignatureError: Error, Sendable {
    /// None of the loaded keys verifies the signature, whose length is given in bytes.
    case noKeyVerifies(length: Int, keys: [VerificationKey])
    /// The signature was made with a loaded key whose certificate is not valid now.
    case keyOutsideValidity(name: String, ClosedRange<Timestamp>, now: Timestamp)
    /// libcrypto failed, in practice because memory ran out.
    case outOfResources(String)

    /// One line that says what was expected and what was found.
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
