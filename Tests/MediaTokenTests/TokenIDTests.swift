import Basics
import MediaToken
import TestSupport
import Testing
import TokenCrypto

@Suite("The short ID of a token")
struct TokenIDTests {
    /// The first 16 hexadecimal digits of what `sha256sum` prints of a token's signed bytes.
    private func expected(_ payload: String) throws -> String {
        String(try SHA256Hasher.digest(Array(payload.utf8)).hexadecimal.prefix(16))
    }

    private func id(_ verdict: Verdict) -> String? {
        switch verdict {
        case .accepted(let token): token.id.description
        case .rejected(let rejection): rejection.id?.description
        }
    }

    @Test("is the beginning of the digest of the signed bytes, and of the replay key, whatever the verdict")
    func verdicts() throws {
        let (token, id) = (try Mint.token(), try expected(Mint.payload()))
        let verifier = try Mint.verifier(replays: MemoryReplayStore.unfenced())
        let other = Expectation(requestor: "other", resource: "TNT")
        #expect(self.id(try verifier.verify(token, for: other)) == id)
        #expect(self.id(try verifier.verify(token, at: .now)) == id)
        let accepted = try verifier.verify(token)
        let verified = try #require(accepted.accepted)
        #expect(self.id(accepted) == id && verified.replayKey.words.0.hexadecimal == id)
        let used = try verifier.verify(token)
        #expect(used.code == .tokenAlreadyUsed && self.id(used) == id)
        let fenced = try Mint.verifier(replays: MemoryReplayStore(fencedAt: Mint.now))
        let predates = try fenced.verify(token)
        #expect(predates.code == .tokenPredatesStore && self.id(predates) == id)
    }

    @Test("does not depend on the wrapping, nor on a valid signature; what is no token has none")
    func wrappings() throws {
        let token = try Mint.token()
        let verifier = try Mint.verifier(keys: [TestKeys.stranger])
        for wrapped in [token, Base64.encode(Array(token.utf8))] {
            let verdict = try verifier.verify(wrapped)
            #expect(verdict.code == .invalidSignature)
            #expect(id(verdict) == (try expected(Mint.payload())))
        }
        let notXML = try Mint.verifier().verify(try Mint.signed("<broken"))
        let broken = try expected("<broken")
        #expect(notXML.code == .invalidTokenFormat && id(notXML) == broken)
        #expect(id(try verifier.verify("nothing")) == nil)
    }

    @Test("is in an examination, with a key and without")
    func examinations() throws {
        let (token, id) = (RawToken(try Mint.token()), try expected(Mint.payload()))
        let examination = try Mint.verifier().examine(token, for: Mint.expectation, at: Mint.now)
        #expect(examination.id?.description == id)
        let inspector = TokenInspector(keys: nil)
        #expect(inspector.inspect(token, asking: .init()).id?.description == id)
        #expect(inspector.inspect(RawToken("nothing"), asking: .init()).id == nil)
        let broken = inspector.inspect(RawToken(try Mint.signed("<broken")), asking: .init())
        #expect(broken.id?.description == (try expected("<broken")))
    }
}
