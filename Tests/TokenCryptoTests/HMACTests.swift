import Basics
import Testing
import TokenCrypto

@Suite("HMAC")
struct HMACTests {
    /// RFC 4231, 4.2 and 4.3; RFC 2202, 2 (test case 2) and 3 (test case 2).
    @Test(
        "codes are those of the RFCs, also when one key makes many",
        arguments: [
            (DigestAlgorithm.sha256, "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"),
            (.sha1, "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79"), (.md5, "750c783e6ab0b503eaa86e310a5db738"),
        ])
    func vectors(digest: DigestAlgorithm, code: String) throws {
        let key = try HMACKey(digest, key: Array("Jefe".utf8))
        let message = Array("what do ya want for nothing?".utf8)
        for length in 0..<200 {
            #expect(try key.code(of: message).hexadecimal == code)
            _ = try key.code(of: Array(repeating: 7, count: length))
        }
    }

    @Test("threads that share a key get the codes that each would get alone")
    func threads() async throws {
        let shared = try HMACKey(.sha256, key: Array("Jefe".utf8))
        await withTaskGroup(of: Bool.self) { group in
            for thread in 0..<8 as Range<UInt8> {
                group.addTask {
                    (0..<500).allSatisfy { length in
                        let message = [UInt8](repeating: thread, count: length)
                        let alone = try? HMACKey(.sha256, key: Array("Jefe".utf8)).code(of: message)
                        return alone != nil && (try? shared.code(of: message)) == alone
                    }
                }
            }
            for await isSame in group { #expect(isSame) }
        }
    }
}
