import EnvelopeStage
import MediaToken
import MediaTokenTesting
import SignatureStage
import TestSupport
import Testing
import TokenCrypto

@Suite("Signatures of a group")
struct EngineTests {
    private static let engines = BatchVerifier.Engine.available

    /// A key of a length that another has too, which an engine does not serve.
    private static func otherExponent() throws -> RSASigningKey {
        let options = ["-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt", "rsa_keygen_pubexp:65539"]
        return try RSASigningKey(pem: Array(Program("openssl").succeed(["genpkey"] + options).utf8))
    }

    /// Tokens of keys that are loaded and of others, mixed with what no key has signed.
    private static func envelopes(_ loaded: [RSASigningKey]) throws -> [Result<TokenEnvelope, EnvelopeError>] {
        let long = try RSASigningKey.generate(bits: 3072)
        var tokens: [String] = []
        for number in 0..<9 {
            for key in loaded + [TestKeys.stranger, long] {
                tokens.append(try Mint.token(key: key) { $0.sessionGUID = "viewer \(number)" })
            }
            // Signed by one key, over what another token says.
            tokens.append(tokens[0].replacing("viewer 0", with: "viewer \(number + 100)"))
            tokens.append("no token")
        }
        return tokens.map { token in
            Result { () throws(EnvelopeError) in try TokenEnvelope(opening: RawToken(token)) { _ in false } }
        }
    }

    private static func outcomes(
        _ group: some Collection<Result<TokenEnvelope, EnvelopeError>>, _ workspace: SignatureWorkspace
    ) -> [String] {
        workspace.authenticate(Array(group), at: Mint.now).map { outcome in
            switch outcome {
            case .success(let payload)?: "\(payload.key.fingerprint) \(payload.digest.hexadecimal)"
            case .failure(let error)?: error.message
            case nil: "no envelope"
            }
        }
    }

    @Test("in a group too, a key verifies within its certificate's dates alone", arguments: engines)
    func dates(engine: BatchVerifier.Engine) throws {
        let directory = try TemporaryDirectory()
        let (key, file) = (
            try directory.write(try TestKeys.standard.pemText(), to: "own.key"), "\(directory.path)/own.crt"
        )
        try Program("openssl").succeed(["req", "-x509", "-key", key, "-subj", "/CN=Own", "-days", "10", "-out", file])
        let keys = try KeyRing(loading: [file])
        let validity = try #require(keys.keys[0].validity)
        let workspace = try SignatureWorkspace(keys: keys, engine: engine)
        let tokens = try (0..<3).map { number in try Mint.token { $0.sessionGUID = "viewer \(number)" } }
        let group = tokens.map { token in
            Result { () throws(EnvelopeError) in try TokenEnvelope(opening: RawToken(token)) { _ in false } }
        }
        for (now, isValid) in [
            (validity.lowerBound, true), (validity.upperBound, true),
            (validity.upperBound.advanced(by: .milliseconds(1)), false),
            (validity.lowerBound.advanced(by: .milliseconds(-1)), false),
        ] {
            for outcome in workspace.authenticate(group, at: now) {
                switch outcome {
                case .success?: #expect(isValid)
                case .failure(let error)?:
                    #expect(!isValid && error.message.contains("signed by CN=Own"), "\(error.message)")
                case nil: Issue.record("no envelope")
                }
            }
        }
    }

    @Test("each is verified by its own key, as it would be alone", arguments: engines)
    func mixed(engine: BatchVerifier.Engine) throws {
        let loaded = [
            TestKeys.standard, try RSASigningKey.generate(bits: 2048), TestKeys.short, try Self.otherExponent(),
        ]
        let envelopes = try Self.envelopes(loaded)
        let keys = try Mint.keyRing(loaded)
        let alone = try SignatureWorkspace(keys: keys, engine: nil)
        let expected = envelopes.map { Self.outcomes([$0], alone)[0] }
        for key in keys.keys { #expect(expected.count { $0.hasPrefix(key.fingerprint) } == 9) }
        #expect(alone.verifiedTogether == 0)
        let kept = try SignatureWorkspace(keys: keys, engine: engine)
        for length in engine == .model ? [9, envelopes.count] : [1, 2, 3, 7, 8, 9, 16, 17, envelopes.count] {
            for start in stride(from: 0, to: envelopes.count, by: length) {
                let group = start..<min(start + length, envelopes.count)
                #expect(Self.outcomes(envelopes[group], kept) == Array(expected[group]), "\(length) from \(start)")
            }
        }
        // All at once: the engine has verified all but a last group of one for each of the three keys that it serves.
        let whole = try SignatureWorkspace(keys: keys, engine: engine)
        _ = Self.outcomes(envelopes, whole)
        #expect((24...27).contains(whole.verifiedTogether), "\(whole.verifiedTogether)")
    }
}
