import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

@Suite("The same asker again")
struct RepetitionTests {
    private let verifier: MediaTokenVerifier

    init() throws { verifier = try Mint.verifier() }

    private func verdict(
        _ token: String, _ secret: String?, within span: Duration = .seconds(10), after milliseconds: Int64 = 0
    ) throws -> Verdict {
        let padding = [UInt8](repeating: 0, count: RetryWindow.shortestSecret)
        let retries = secret.flatMap { RetryWindow(secret: Array($0.utf8) + padding, within: span) }
        let request = VerificationRequest(
            token: RawToken(token), expectation: Mint.expectation, retries: retries)
        return try verifier.verify([request], at: Mint.now.advanced(byMilliseconds: milliseconds))[0].get()
    }

    @Test("is told yes again within the span, counted from the first yes, and nobody else is")
    func again() throws {
        let token = try Mint.token()
        for (secret, milliseconds, isYes) in [
            ("mine", 0, true), ("mine", 1, true), ("other", 2, false), (nil, 3, false), ("mine", 9_999, true),
            ("mine", 10_000, true), ("mine", 10_001, false), ("mine", 9_000, true), ("", 4, false),
            ("mine", -10_000, true),
            ("mine", -10_001, false),
        ] as [(String?, Int64, Bool)] {
            let verdict = try verdict(token, secret, after: milliseconds)
            #expect(
                verdict.accepted?.firstUse == (isYes ? Mint.now : nil), "\(secret ?? "nobody") after \(milliseconds)")
            #expect(isYes || verdict.code == .tokenAlreadyUsed)
        }
    }

    @Test("a token that was used without a secret is used up, whoever comes with one")
    func plain() throws {
        let token = try Mint.token()
        #expect(try verdict(token, nil).code == .validToken)
        #expect(try verdict(token, "mine").code == .tokenAlreadyUsed)
        #expect(try verdict(token, "mine").code == .tokenAlreadyUsed, "nor has asking left anything behind")
    }

    @Test("a secret is of no use for another token, nor against any other check")
    func others() throws {
        let (token, other) = (try Mint.token(), try Mint.token { $0.sessionGUID = "other" })
        #expect(try verdict(token, "mine").code == .validToken)
        #expect(try verdict(other, nil).code == .validToken)
        #expect(try verdict(other, "mine").code == .tokenAlreadyUsed)
        #expect(try verdict(token, "mine", within: .seconds(60), after: 3_600_000).code == .tokenExpired)
        #expect(try verdict(token.replacing("TNT", with: "CNN"), "mine").code == .invalidSignature)
    }

    @Test("no span is longer than the longest")
    func longest() throws {
        let token = try Mint.token()
        #expect(try verdict(token, "mine", within: .seconds(3600)).accepted?.isRetry == false)
        #expect(try verdict(token, "mine", within: .seconds(3600), after: 60_000).accepted?.isRetry == true)
        #expect(try verdict(token, "mine", within: .seconds(3600), after: 60_001).code == .tokenAlreadyUsed)
    }

    @Test("a secret that could be guessed makes no window")
    func shortSecrets() {
        for (count, isWindow) in [(0, false), (1, false), (15, false), (16, true)] {
            let window = RetryWindow(secret: [UInt8](repeating: 7, count: count), within: .seconds(1))
            #expect((window != nil) == isWindow, "\(count)")
        }
    }

    @Test("a secret shows itself to nobody")
    func secrets() throws {
        let retries = try #require(RetryWindow(secret: Array("top-secret-of-a-play".utf8), within: .seconds(1)))
        var shown = ""
        dump(retries, to: &shown)
        for text in ["\(retries)", String(reflecting: retries), shown] {
            #expect(!text.contains("top") && !text.contains("116"))
        }
    }
}
