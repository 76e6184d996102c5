package import MediaToken
package import MediaTokenTesting
internal import Synchronization
package import TokenCrypto

/// The tokens that a load test verifies, and what each was issued for.
package struct TokenCorpus: Sendable {
    /// One token as it arrives, and the requestor and resource that its own claims name.
    package struct Item: Sendable {
        package let token: RawToken
        package let requestor: String
        package let resource: String

        /// The token's bytes, as the body of a request.
        var body: [UInt8] { Array(token.bytes) }
    }

    package let items: [Item]

    /// The default resource of generated tokens: MRSS, as real programmers send it.
    package static let resource = """
        <rss version="2.0" xmlns:media="http://search.yahoo.com/mrss/"><channel><title>TNT</title><item>\
        <title>Game 7</title><guid>2847811</guid><media:rating scheme="urn:v-chip">tv-pg</media:rating></item>\
        </channel></rss>
        """

    /// Uses captured tokens. Requestor and resource are read from each token, unverified, or empty if unreadable.
    package init(captured tokens: [RawToken]) {
        let inspector = TokenInspector(keys: nil)
        items = tokens.map { token in
            let fields = inspector.inspect(token, asking: TokenInspector.Questions()).fields
            func field(_ name: String) -> String { fields.first { $0.name == name }?.text ?? "" }
            return Item(token: token, requestor: field("requestorID"), resource: field("resourceID"))
        }
    }

    /// Signs `count` tokens that differ in their session GUID, on `threads` threads.
    ///
    /// - Parameter progress: Called on the caller's thread with the number of tokens started so far.
    package init(
        signing count: Int, of recipe: TokenRecipe, with key: RSASigningKey, threads: Int,
        progress: (Int) -> Void
    ) throws {
        let signer = TokenSigner(key: key)
        let work = SharedWork(count: count)
        let parts = try Workers.run(threads, progress: { progress(work.taken) }) { _ in
            var items: [Item] = []
            while work.takeOne() {
                items.append(try signer.item(recipe))
            }
            return items
        }
        items = parts.flatMap(\.self)
    }

    /// Verification requests for all tokens, in order, in groups of `size`.
    package func groups(of size: Int) -> [[VerificationRequest]] {
        stride(from: 0, to: items.count, by: size).map { first in
            items[first..<min(first + size, items.count)].map { item in
                let expectation = Expectation(requestor: item.requestor, resource: item.resource)
                return VerificationRequest(token: item.token, expectation: expectation)
            }
        }
    }

    /// The average size of a token in bytes.
    package var averageSize: Int {
        items.isEmpty ? 0 : items.reduce(0) { $0 + $1.token.bytes.count } / items.count
    }
}

extension TokenSigner {
    /// Signs a token of `recipe` with a session GUID of its own.
    package func item(_ recipe: TokenRecipe) throws(CryptoError) -> TokenCorpus.Item {
        var recipe = recipe
        recipe.sessionGUID = TokenRecipe.freshSessionGUID()
        let token = RawToken(try sign(recipe.payload))
        return TokenCorpus.Item(token: token, requestor: recipe.requestor, resource: recipe.resource)
    }
}

/// A number of identical work items, which threads take one by one.
private final class SharedWork: Sendable {
    private let count: Int
    private let next = Atomic<Int>(0)

    init(count: Int) { self.count = count }

    var taken: Int { min(next.load(ordering: .relaxed), count) }

    func takeOne() -> Bool { next.add(1, ordering: .relaxed).oldValue < count }
}
