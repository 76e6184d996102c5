package import Basics
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

    /// The cause and what to do about it, for a person: whether the text of the token was changed, or another key made
    /// `signature`; `nil` if that cannot be told from the signature.
    ///
    /// It takes one operation for each loaded key, and no verification calls it.
    package func origin(of signature: [UInt8]) -> (cause: String, advice: String?)? {
        guard case .noKeyVerifies(_, let keys) = self else { return nil }
        if let signer = keys.first(where: { $0.publicKey.hasMade(signature) }) {
            return (
                "signed by \(signer.name), but the text was changed afterwards",
                "get the token as Adobe Pass issued it: something between changed it"
            )
        }
        guard keys.contains(where: { $0.publicKey.signatureLength == signature.count }) else { return nil }
        return ("\(message): another key made it, or the signature itself was damaged", nil)
    }

    private static func noKeyVerifies(_ length: Int, _ keys: [VerificationKey]) -> String {
        guard !keys.isEmpty else { return "no key is loaded: all were withdrawn" }
        let names = printableList(keys.map { "\($0.name), \($0.bits) bits" })
        guard keys.contains(where: { $0.publicKey.signatureLength == length }) else {
            return "the signature has \(length) bytes (RSA with \(length * 8) bits); the loaded keys are \(names)"
        }
        return "no loaded key verifies it; tried \(names)"
    }
}
