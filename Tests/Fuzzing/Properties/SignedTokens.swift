internal import Basics
internal import Foundation
internal import MediaToken
internal import TestSupport
internal import TokenCrypto

/// Tokens of Adobe's and of ours, of two keys whose private halves are not to be had: whatever else these verify is
/// forged.
struct SignedTokens {
    /// The tokens of one key, all issued at one time.
    struct Batch {
        let verifier: MediaTokenVerifier
        let publicKey: RSAPublicKey
        let time: Timestamp
        let expectation: Expectation
        /// One of the tokens.
        let token: RawToken
        /// The signature and the SHA-256 of what it signs, of each.
        let signatures: [(signature: [UInt8], digest: SHA256Digest)]

        init(
            _ tokens: [String], key: String, time: Timestamp, requestor: String
        ) throws {
            let ring = try KeyRing(loading: SignedTokens.keys, requirements: KeyRequirements(minimumRSABits: 1024))
            verifier = MediaTokenVerifier(keys: ring, replays: EveryUseIsTheFirst())
            guard
                case .key(let publicKey)? = try KeyFile(reading: FileBytes.read(key, limit: 8192), password: nil)
                    .entries.first
            else { throw Violation(description: "\(key): expected a public key") }
            (self.publicKey, self.time) = (publicKey, time)
            expectation = Expectation(requestor: requestor, resource: .unsafeAnyResource)
            token = RawToken(tokens[0])
            signatures = try tokens.map { token in
                // Not by the envelope's own code, which is under test.
                let parts = token.split(separator: "<signatureInfo>", omittingEmptySubsequences: true)
                return (try Self.base64(String(parts[0])), try SHA256Hasher.digest(Array(parts[1].utf8)))
            }
        }

        private static func base64(_ text: String) throws -> [UInt8] {
            guard let data = Data(base64Encoded: text) else {
                throw Violation(description: "no Base64 in a known token")
            }
            return Array(data)
        }

        func isSigned(_ key: ReplayKey) -> Bool { signatures.contains { $0.digest.words == key.words } }
    }

    let batches: [Batch]

    private static let keys = [Fixtures.keys, Fixtures.vectors.path + "/mrss-tokens.pem"]

    init() throws {
        let real = try Fixtures.realToken().trimmingCharacters(in: .whitespacesAndNewlines)
        let minted = try String(contentsOf: Fixtures.vectors.appending(path: "mrss-tokens.txt"), encoding: .utf8)
        batches = [
            try Batch(
                [real], key: Fixtures.keys + "/adobe-pass-2015-2021.pem", time: Fixtures.realTokenTime, requestor: "MML"
            ),
            try Batch(
                minted.split(separator: "\n").map(String.init), key: Fixtures.vectors.path + "/mrss-tokens.pem",
                time: Timestamp(milliseconds: 1_767_225_610_000), requestor: "MML"),
        ]
    }
}

/// A store that remembers nothing, so that an input's outcome is its own.
struct EveryUseIsTheFirst: ReplayStore {
    func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
        group.map { _ in .success(.first) }
    }
}
