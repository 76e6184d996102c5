internal import Basics
package import MediaToken
package import MediaTokenTesting
package import TokenCrypto

/// Mints tokens for tests: well-formed ones, and whatever else shall be signed.
package enum Mint {
    /// When every minted token is issued unless a test says otherwise.
    package static let issued = TokenDate(Timestamp(milliseconds: 1_700_000_000_000), offset: -7 * 60)
    /// Ten seconds later.
    package static let now = Timestamp(milliseconds: 1_700_000_010_000)
    /// What the standard token is for.
    package static let expectation = Expectation(requestor: "MML", resource: "TNT")

    /// A token's clear text.
    package static func token(
        key: RSASigningKey = TestKeys.standard, _ change: (inout TokenRecipe) -> Void = { _ in }
    ) throws -> String {
        try TokenSigner(key: key).sign(payload(change))
    }

    /// A token of any text as its payload, signed.
    package static func signed(_ payload: String, key: RSASigningKey = TestKeys.standard) throws -> String {
        try TokenSigner(key: key).sign(payload)
    }

    /// A token of any bytes as its payload, signed; they need not be UTF-8.
    package static func signed(_ payload: [UInt8], key: RSASigningKey = TestKeys.standard) throws -> [UInt8] {
        let head = "<signatureInfo>\(Base64.encode(try key.sign(payload)))<signatureInfo>"
        return Array(head.utf8) + payload
    }

    package static func payload(_ change: (inout TokenRecipe) -> Void = { _ in }) -> String {
        recipe(change).payload
    }

    package static func recipe(_ change: (inout TokenRecipe) -> Void = { _ in }) -> TokenRecipe {
        var recipe = TokenRecipe(issued: issued)
        change(&recipe)
        return recipe
    }

    /// A key ring of the given keys, each in a file named `key-0.pem` and so on.
    package static func keyRing(
        _ keys: [RSASigningKey] = [TestKeys.standard], minimumRSABits: Int = 1024
    ) throws -> KeyRing {
        let directory = try TemporaryDirectory()
        for (number, key) in keys.enumerated() {
            try directory.write(try key.publicKey.pemText(), to: "key-\(number).pem")
        }
        return try KeyRing(loading: directory.path, minimumRSABits: minimumRSABits)
    }

    /// A verifier that has seen nothing yet.
    package static func verifier(
        keys: [RSASigningKey] = [TestKeys.standard], policy: VerificationPolicy = VerificationPolicy(),
        replays: any ReplayStore = MemoryReplayStore.unfenced()
    ) throws -> MediaTokenVerifier {
        MediaTokenVerifier(keys: try keyRing(keys), policy: policy, replays: replays)
    }
}

extension MediaTokenVerifier {
    /// Verifies at the standard time for the standard expectation.
    package func verify(
        _ token: String, for expectation: Expectation = Mint.expectation, at now: Timestamp = Mint.now
    ) throws -> Verdict {
        try verify(RawToken(token), for: expectation, at: now)
    }

    /// The code alone.
    package func code(
        _ token: String, for expectation: Expectation = Mint.expectation, at now: Timestamp = Mint.now
    ) throws -> VerdictCode {
        try verify(token, for: expectation, at: now).code
    }
}

extension Verdict {
    /// Why it was rejected; empty where it was not.
    package var message: String {
        if case .rejected(let rejection) = self { rejection.message } else { "" }
    }
}
