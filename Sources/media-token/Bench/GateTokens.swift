internal import CommandShell
internal import LoadTest
internal import MediaToken
internal import MediaTokenTesting
internal import TokenCrypto

/// The tokens for a load test of a gate: captured ones, or the key and the fields to sign them with.
enum GateTokens {
    case captured(TokenCorpus)
    case signed(RSASigningKey, TokenRecipe)

    init(_ options: CorpusOptions) throws(CommandError) {
        if let corpus = try options.captured() {
            self = .captured(corpus)
        } else {
            self = .signed(try options.key(generating: 2048), try options.recipe(issued: .now))
        }
    }

    /// One token: the first captured one, or one that is issued now.
    func one() throws(CommandError) -> TokenCorpus.Item {
        switch self {
        case .captured(let corpus):
            // The corpus has at least one token, but maybe behind empty lines.
            return corpus.items.first { !$0.token.bytes.isEmpty } ?? corpus.items[0]
        case .signed(let key, var recipe):
            recipe.issued = TokenDate(.now)
            return try CommandError.wrap { try TokenSigner(key: key).item(recipe) }
        }
    }

    /// The queue of tokens, with as many as are needed before the load begins. The caller must close it.
    func queue(_ plan: TokenQueue.Plan) throws(CommandError) -> TokenQueue {
        switch self {
        case .captured(let corpus): return TokenQueue(corpus)
        case .signed(let key, let recipe): return try Self.queue(plan, of: recipe, signedWith: key)
        }
    }

    private static func queue(
        _ plan: TokenQueue.Plan, of recipe: TokenRecipe, signedWith key: RSASigningKey
    ) throws(CommandError) -> TokenQueue {
        do {
            let queue = try TokenQueue(signing: recipe, with: key, plan)
            do {
                var progress = ProgressBar("signing", total: 100)
                try queue.waitUntilReady { progress.update(min(100, $0 * 100 / $1)) }
                return queue
            } catch {
                queue.close()
                throw error
            }
        } catch let error as TokenQueue.RateError {
            throw CommandError(
                "signing makes \(Figure.count(error.speed)) tokens a second here; expected a --rate up to "
                    + "\(Figure.count(error.highestRate)) for so many --seconds")
        } catch { throw CommandError("\(error)") }
    }
}
