import EnvelopeStage
import MediaToken
import SignatureStage
import TestSupport
import Testing
import TokenCrypto
import TokenIssuer

@Suite("Signatures of a group")
struct EngineTests {
    private static let engines = [BatchVerifier.Engine.model, .ifma].filter(\.isAvailable)

    private static func envelopes() throws -> [Result<TokenEnvelope, EnvelopeError>] {
        let long = try RSASigningKey.generate(bits: 3072)
        var tokens: [String] = []
        for number in 0..<9 {
            for key in [TestKeys.standard, TestKeys.short, TestKeys.stranger, long] {
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
        let envelopes = try Self.envelopes()
        let keys = try Mint.keyRing([TestKeys.standard, TestKeys.short])
        let alone = try SignatureWorkspace(keys: keys, engine: nil)
        let expected = envelopes.map { Self.outcomes([$0], alone)[0] }
        #expect(expected.count { $0.hasPrefix(keys.keys[0].fingerprint) } == 9)
        #expect(expected.count { $0.hasPrefix(keys.keys[1].fingerprint) } == 9)
        let kept = try SignatureWorkspace(keys: keys, engine: engine)
        for length in engine == .model ? [2, 9, envelopes.count] : [1, 2, 3, 7, 8, 9, 16, 17, envelopes.count] {
            for start in stride(from: 0, to: envelopes.count, by: length) {
                let group = start..<min(start + length, envelopes.count)
                #expect(Self.outcomes(envelopes[group], kept) == Array(expected[group]), "\(length) from \(start)")
            }
        }
    }
}
