import LoadTest
import MediaToken
import MediaTokenTesting
import Synchronization
import TestSupport
import Testing

@Suite("Load of verifications")
struct VerifyLoadTests {
    private func corpus(_ count: Int) throws -> TokenCorpus {
        var recipe = TokenRecipe(issued: TokenDate(.now))
        recipe.resource = TokenCorpus.resource
        return try TokenCorpus(signing: count, of: recipe, with: TestKeys.standard, threads: 2, progress: { _ in })
    }

    private func load(_ corpus: TokenCorpus, _ settings: VerifyLoad.Settings, _ cache: any ReplayStore) throws
        -> VerifyLoad
    {
        VerifyLoad(
            corpus, keys: try Mint.keyRing(), policy: VerificationPolicy(), replays: cache, settings: settings)
    }

    @Test("all that is signed differs, and is for the resource that was asked for")
    func distinct() throws {
        let items = try corpus(50).items
        #expect(items.count == 50)
        #expect(Set(items.map(\.token.bytes)).count == 50)
        #expect(items.allSatisfy { $0.resource == TokenCorpus.resource })
    }

    @Test("every pass over the tokens takes them for new ones, on any number of threads", arguments: [1, 3])
    func passes(threads: Int) throws {
        var settings = VerifyLoad.Settings()
        (settings.threads, settings.seconds, settings.group) = (threads, 0.5, 4)
        let cache = MemoryReplayStore.unfenced()
        let figures = try load(try corpus(30), settings, cache).run(isCancelled: { false }, progress: { _ in })
        #expect(figures.codes == [.validToken: figures.verifications])
        #expect(figures.verifications > 60)
        #expect(cache.count == figures.verifications)
        #expect(figures.latency.count >= UInt64(figures.verifications / 4))
        #expect((figures.bareSignaturesPerSecond ?? 0) > figures.verificationsPerSecond / 10)
        #expect(figures.stages.allSatisfy { $0.nanoseconds > 0 })
    }

    @Test("within a pass a token is new once")
    func withinAPass() throws {
        let verifiers = PassVerifiers(
            keys: try Mint.keyRing(), policy: VerificationPolicy(), replays: MemoryReplayStore.unfenced())
        let group = try corpus(1).groups(of: 1)[0]
        for pass in 0..<3 as Range<UInt64> {
            let codes = try (0..<2).map { _ in
                try verifiers.verifier(of: pass).verify(group, at: .now)[0].get().code
            }
            #expect(codes == [.validToken, .tokenAlreadyUsed])
        }
    }

    @Test("captured tokens are asked about as what they say they are; what is none, as nothing")
    func captured() throws {
        let tokens = try corpus(2).items.map(\.token) + [RawToken("junk")]
        let corpus = TokenCorpus(captured: tokens)
        #expect(corpus.items.map(\.resource) == [TokenCorpus.resource, TokenCorpus.resource, ""])
        var settings = VerifyLoad.Settings()
        settings.seconds = 0.2
        let figures = try load(corpus, settings, MemoryReplayStore.unfenced()).run(
            isCancelled: { false }, progress: { _ in })
        #expect(Set(figures.codes.keys) == [.validToken, .invalidTokenFormat])
    }

    @Test("it ends when it is told to, with what it has")
    func cancelled() throws {
        var settings = VerifyLoad.Settings()
        settings.seconds = 3600
        let isCancelled = Atomic<Bool>(false)
        let figures = try load(try corpus(10), settings, MemoryReplayStore.unfenced()).run(
            isCancelled: { isCancelled.load(ordering: .relaxed) },
            progress: { if $0 > 0.0001 { isCancelled.store(true, ordering: .relaxed) } })
        #expect(figures.verifications > 0)
    }
}
