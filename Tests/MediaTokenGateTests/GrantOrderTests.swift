import Basics
import EventLoops
import Foundation
import HTTP
import PlaybackGrants
import StreamPaths
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("Grants that are shared, and signed off the loop")
struct GrantOrderTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        _ = try directory.write(String(repeating: "0f", count: 32) + "\n", to: "key")
        let pem = try Program("openssl").succeed(
            ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"])
        _ = try directory.write(pem, to: "ec.pem")
    }

    /// Grants of a route at `/a`; CloudFront's are signed with ECDSA, so that no two signatures are the same.
    private func grants(
        _ kind: GrantKind, _ delivery: GrantDelivery = .query, validity: Int64 = 14_400
    ) throws -> RouteGrant {
        var maker = GrantConfiguration(kind)
        maker.keyFiles = [directory.path + (kind.name == "cloudfront" ? "/ec.pem" : "/key")]
        maker.values["key-pair-id"] = "K1"
        var settings = RouteGrantSettings(maker, scope: "/a")
        (settings.delivery, settings.validity) = (delivery, .seconds(validity))
        settings.origins = [try #require(StreamOrigin("https://d.example"))]
        return try RouteGrant(settings, hosts: [])
    }

    private func order(_ grants: RouteGrant, _ path: String) throws -> GrantOrder {
        try grants.order(for: .one(try #require(StreamURL("https://d.example" + path))), at: .now)
    }

    private static func second(_ second: Int64) -> Timestamp { Timestamp(milliseconds: second * 1000 + 7) }

    private static var identifier: [UInt8] { (0..<16).map { _ in UInt8.random(in: 0...255) } }

    @Test("clients that ask in the same second for what one grant opens get the same grant, unless each has its own")
    func shared() throws {
        func made(_ grants: RouteGrant, _ path: String, _ second: Int64) throws -> Grant {
            let time = Self.second(second)
            return try order(grants, path).outcome(identifier: Self.identifier, firstUse: time, at: time).get().grant
        }
        for delivery in [GrantDelivery.cookie, .query] {
            let grants = try grants(CloudFrontGrant.kind, delivery)
            let (order, late) = (try order(grants, "/a/1"), Timestamp(milliseconds: 1_000_999))
            #expect(order.isCostly && order.recent(firstUse: late) == nil)
            let first = try made(grants, "/a/1", 1000)
            #expect(order.recent(firstUse: late)?.grant == first)
            #expect(try made(grants, "/a/1", 1001) != first)
            #expect(try (made(grants, "/a/2", 1000) == first) == (delivery == .cookie))
            // What was not asked for lately is made again.
            for number in 0..<300 { _ = try made(grants, "/a/\(number)", 2000 + Int64(number)) }
            #expect(try made(grants, "/a/1", 1000) != first)
        }
        let (links, tokens) = (try grants(SecureLink.kind), try grants(AkamaiToken.kind))
        #expect(try made(links, "/a/1", 1000) == made(links, "/a/1?x=1", 1000))
        #expect(try made(links, "/a/1", 1000) != made(links, "/a/2", 1000))
        #expect(try made(tokens, "/a/1", 1000) == made(tokens, "/a/2", 1000))
        #expect(try made(tokens, "/a/1", 1000) != made(tokens, "/a/1", 1001))
        let own = try grants(CommonAccessToken.kind)
        #expect(try made(own, "/a/1", 1000) != made(own, "/a/1", 1000))
    }

    @Test("a grant for all below a URL is one that opens a path; one for all of the route needs a single host")
    func all() throws {
        let url = try #require(StreamURL("https://d.example/a/b"))
        #expect(throws: Never.self) { try grants(AkamaiToken.kind).order(for: .allBelow(url), at: .now) }
        #expect(throws: Never.self) { try grants(AkamaiToken.kind).order(for: .allOf(path: "/a", hosts: []), at: .now) }
        for action in [
            { try grants(SecureLink.kind).order(for: .allBelow(url), at: .now) },
            { try grants(SecureLink.kind).order(for: .allOf(path: "/a", hosts: []), at: .now) },
        ] {
            let error = #expect(throws: GrantError.self) { try action() }
            #expect(error?.reason.contains("for one URL") == true)
        }
    }

    @Test("the cookies of a shared grant end with it, also for a client that asks again later")
    func later() throws {
        let order = try order(try grants(CloudFrontGrant.kind, .cookie, validity: 600), "/a/1")
        let made = try order.outcome(identifier: [], firstUse: Self.second(1000), at: Self.second(1000)).get()
        func ages(at second: Int64) -> [Int?] {
            var answer = HTTPAnswer(200)
            answer.fields.add(order.play(made, at: Self.second(second)).cookies)
            return answer.headers.map { header in header.value.firstMatch(of: /Max-Age=(\d+)/).flatMap { Int($0.1) } }
        }
        #expect(ages(at: 1000) == [599, 599, 599, 599])
        #expect(ages(at: 1009) == [590, 590, 590, 590])
    }

    @Test("tokens that share a grant wait for one signature; it comes back to the loop's thread")
    func signedOnce() throws {
        let (loop, signing) = (try EventLoop(), GrantSigning(mostThreads: 2))
        let grants = LoopGrants(signing, on: loop)
        let order = try order(try self.grants(CloudFrontGrant.kind), "/a/1")
        let thread = pthread_self()
        var made: [Grant] = []
        // Both threads are busy until all have asked, however fast a signature is made.
        let gates = [hold(signing), hold(signing)]
        for _ in 0..<5 {
            #expect(grants.make(order, identifier: [], firstUse: Self.second(1000)) == nil)
            grants.sign(order, identifier: Self.identifier, firstUse: Self.second(1000), isRetry: false) { outcome in
                #expect(pthread_equal(thread, pthread_self()) != 0)
                if case .success(let one) = outcome { made.append(one.grant) }
            }
        }
        for gate in gates { gate.signal() }
        loop.run { made.count == 5 }
        #expect(Set(made.map(\.query)).count == 1)
        guard case .success(let recent)? = grants.make(order, identifier: [], firstUse: Self.second(1000)) else {
            Issue.record("the grant is not kept")
            return
        }
        #expect(recent.grant == made[0])
        // A grant that is not costly is made at once.
        let own = try self.order(try self.grants(CommonAccessToken.kind), "/a/1")
        #expect(grants.make(own, identifier: Self.identifier, firstUse: Self.second(1000)) != nil)
    }

    /// Has one of the threads do a job that ends when the semaphore is signalled.
    private func hold(_ signing: GrantSigning) -> Basics.Semaphore {
        let (gate, started) = (Semaphore(), Semaphore())
        #expect(
            signing.perform {
                started.signal()
                gate.wait()
            })
        started.wait()
        return gate
    }

    @Test("while too many grants wait, no order is taken whose grant would have to be signed")
    func signingIsFull() throws {
        let (loop, signing) = (try EventLoop(), GrantSigning(mostThreads: 1))
        let grants = LoopGrants(signing, on: loop)
        let signed = try self.grants(CloudFrontGrant.kind)
        let (hot, other) = (try order(signed, "/a/1"), try order(signed, "/a/2"))
        let own = try order(try self.grants(CommonAccessToken.kind), "/a/1")
        _ = hot.outcome(identifier: [], firstUse: Self.second(1000), at: Self.second(1000))
        let (gate, done) = (hold(signing), Semaphore())
        for _ in 1..<GrantSigning.capacity { #expect(signing.perform {}) }
        #expect(!grants.refuses(other, at: Self.second(1000)))
        #expect(signing.perform { done.signal() })
        #expect(grants.refuses(other, at: Self.second(1000)))
        #expect(!grants.refuses(hot, at: Self.second(1000)) && !grants.refuses(own, at: Self.second(1000)))
        gate.signal()
        done.wait()
        #expect(signing.perform { done.signal() })
        done.wait()
        #expect(!grants.refuses(other, at: Self.second(1000)))
    }

    @Test("clients that ask again wait behind others, not for ever, and only so many of them wait")
    func retries() throws {
        let (loop, signing) = (try EventLoop(), GrantSigning(mostThreads: 1))
        let grants = LoopGrants(signing, on: loop)
        let signed = try self.grants(CloudFrontGrant.kind)
        let gate = hold(signing)
        var (finished, failures) = ([Int](), 0)
        func ask(_ number: Int, isRetry: Bool) throws {
            let order = try order(signed, "/a/\(number)")
            grants.sign(order, identifier: [], firstUse: Self.second(1000), isRetry: isRetry) { outcome in
                if case .success = outcome { finished.append(number) } else { failures += 1 }
            }
        }
        for number in 0..<(GrantSigning.retryCapacity + 5) { try ask(number, isRetry: true) }
        #expect(failures == 5)
        #expect(!grants.refuses(try order(signed, "/a/new"), at: Self.second(1000)))
        // A retry of the same grant waits with the first; the first use of a token that shares it does not.
        try ask(3, isRetry: true)
        #expect(failures == 5)
        for number in [60] + Array(1000..<1019) { try ask(number, isRetry: false) }
        gate.signal()
        loop.run { finished.count == GrantSigning.retryCapacity + 21 }
        // The job that held the thread was the first of sixteen.
        #expect(Array(finished.prefix(17)) == [60] + Array(1000..<1014) + [0, 1014])
    }

    @Test("no grant is made after signing was stopped")
    func stopped() {
        let signing = GrantSigning(mostThreads: 1)
        let (started, queued, made) = (Semaphore(), Semaphore(), Guarded(0))
        #expect(
            signing.perform {
                started.signal()
                queued.wait()
                // Some time for the stop, which this job holds up.
                usleep(50_000)
                made.withLock { $0 += 1 }
            })
        started.wait()
        for isRetry in [true, false] { #expect(signing.perform(isRetry: isRetry) { made.withLock { $0 += 10 } }) }
        queued.signal()
        signing.stop()
        #expect(made.withLock { $0 } == 1)
        usleep(50_000)
        #expect(made.withLock { $0 } == 1)
    }
}
