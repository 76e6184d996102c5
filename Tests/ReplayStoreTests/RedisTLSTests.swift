import Foundation
import MediaToken
import ReplayRedis
import TestSupport
import Testing

extension ReplayStoreTests {
    @Suite("Redis replay store over TLS")
    struct RedisTLSTests {
        private let clock = RedisClock()
        private let authority: TestAuthority

        init() throws {
            authority = try TestAuthority()
        }

        /// A server with a certificate of the authority, for the loopback address and a name.
        private func server(_ settings: [String] = ["--tls-auth-clients", "no"]) throws -> RedisServer {
            let certificate = try authority.certificate("redis", names: "IP:127.0.0.1,DNS:redis.test")
            return try RedisServer(settings, tls: RedisServer.TLSIdentity(certificate, clientsOf: authority))
        }

        /// The error of opening a store.
        private func refusal(_ url: String, timeoutMilliseconds: Int = 5000) -> String {
            message { _ = try clock.open(url, timeoutMilliseconds: timeoutMilliseconds) }
        }

        @Test(
            "claims go to a server whose certificate is of the authority and for its address, or for the name that is asked for"
        )
        func accepted() throws {
            let server = try server()
            for (number, setting) in ["", "&tls-name=redis.test"].enumerated() {
                let store = try clock.open("\(server.url)?tls-ca=\(authority.file)\(setting)")
                #expect(try store.claim(clock.claim(UInt64(number)), at: clock.now) == .first)
                #expect(try store.claim(clock.claim(UInt64(number)), at: clock.now) == .alreadyUsed)
            }
            let store = try clock.open("\(server.url)?tls-ca=\(authority.file)")
            let group = (100..<1100 as Range<UInt64>).map { clock.claim($0) }
            #expect(store.claim(group, at: clock.now).allSatisfy { (try? $0.get()) == .first })
            #expect(try store.contents().entries == 1002)
        }

        @Test(
            "a certificate of another authority, for another name, or that has expired is refused, and nothing is sent")
        func refused() throws {
            let server = try server()
            let other = try TestAuthority()
            for (settings, expected) in [
                ("?tls-ca=\(other.file)", "certificate"), ("", "certificate"),
                ("?tls-ca=\(authority.file)&tls-name=other.test", "hostname mismatch; its name must be other.test"),
                ("?tls-ca=/nowhere.pem", "cannot be reached: /nowhere.pem: cannot be opened: No such file"),
            ] {
                let text = refusal(server.url + settings)
                #expect(text.contains(expected) && text.contains(server.url), "\(settings): \(text)")
            }
            #expect(refusal("rediss://localhost:\(server.port)?tls-ca=\(authority.file)").contains("hostname mismatch"))
            #expect(try server.cli("dbsize") == "0")
            let expired = try authority.certificate("redis", names: "IP:127.0.0.1", isExpired: true)
            let late = try RedisServer(
                ["--tls-auth-clients", "no"], tls: RedisServer.TLSIdentity(expired, clientsOf: authority))
            #expect(refusal("\(late.url)?tls-ca=\(authority.file)").contains("certificate has expired"))
        }

        @Test("a server that demands a client's certificate gets it, or refuses")
        func clientCertificate() throws {
            let server = try server(["--tls-auth-clients", "yes"])
            let own = try authority.certificate("gate")
            let url = "\(server.url)?tls-ca=\(authority.file)"
            let store = try clock.open("\(url)&tls-certificate=\(own.file)&tls-key=\(own.key)")
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            #expect(refusal(url).contains("tls-certificate"), "\(refusal(url))")
            let otherAuthority = try TestAuthority()
            let stranger = try otherAuthority.certificate("gate")
            let text = refusal("\(url)&tls-certificate=\(stranger.file)&tls-key=\(stranger.key)")
            #expect(text.contains("refuses TLS"), "\(text)")
            let wrong = refusal("\(url)&tls-certificate=\(own.file)&tls-key=\(stranger.key)")
            #expect(wrong.contains("expected the key of \(own.file)"), "\(wrong)")
        }

        @Test("a server that speaks no TLS, or nothing else, is told from one that is away")
        func otherProtocol() throws {
            let plain = try RedisServer()
            let url = "rediss://127.0.0.1:\(plain.port)?tls-ca=\(authority.file)"
            let text = refusal(url, timeoutMilliseconds: 1000)
            #expect(text.contains("speak TLS"), "\(text)")
            let server = try server()
            let reverse = refusal("redis://127.0.0.1:\(server.port)", timeoutMilliseconds: 1000)
            #expect(reverse.contains("needs rediss://"), "\(reverse)")
        }

        @Test("a changed certificate of a client, and a changed password, are read for the next connection")
        func changedFiles() throws {
            let server = try server(["--tls-auth-clients", "yes", "--requirepass", "old"])
            let directory = try TemporaryDirectory()
            let otherAuthority = try TestAuthority()
            let (right, wrong) = (try authority.certificate("gate"), try otherAuthority.certificate("gate"))
            func use(_ certificate: TestAuthority.Certificate, password: String) throws -> String {
                let pem = try directory.write(try Data(contentsOf: URL(filePath: certificate.file)), to: "own.pem")
                let key = try directory.write(try Data(contentsOf: URL(filePath: certificate.key)), to: "own.key")
                let file = try directory.write(password + "\n", to: "password")
                return "&tls-certificate=\(pem)&tls-key=\(key)&password-file=\(file)"
            }
            let files = try use(wrong, password: "other")
            var configuration = try RedisConfiguration.exact("\(server.url)?tls-ca=\(authority.file)\(files)")
            configuration.timeout = .milliseconds(20_000)
            let store = RedisReplayStore(configuration)
            #expect(message { try store.open() }.contains("refuses TLS"))
            _ = try use(right, password: "other")
            var refused = ""
            #expect(
                Program.wait {
                    refused = message { try store.open() }
                    return refused.contains("WRONGPASS")
                })
            #expect(!refused.contains("other"), "\(refused)")
            _ = try use(right, password: "old")
            #expect(Program.wait { (try? store.open(at: .now)) != nil })
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            try FileManager.default.removeItem(atPath: directory.path + "/password")
            // What is connected stays so.
            #expect(try store.claim(clock.claim(1), at: clock.now) == .alreadyUsed)
            let missing = message { try RedisReplayStore(configuration).open() }
            #expect(missing.contains("the password file \(directory.path)/password"), "\(missing)")
        }

        @Test("a server that ends and comes back, or hangs, is treated as one without TLS")
        func faults() throws {
            let server = try server(["--tls-auth-clients", "no", "--appendonly", "yes", "--appendfsync", "always"])
            let store = try clock.open(
                "\(server.url)?tls-ca=\(authority.file)", timeoutMilliseconds: 2000 * Program.slowness)
            #expect(try store.claim(clock.claim(1), at: clock.now) == .first)
            server.signal(SIGSTOP)
            #expect(
                message { _ = try store.claim(clock.claim(2), at: clock.now) }.contains("did not answer within"))
            server.signal(SIGCONT)
            server.end(SIGKILL)
            #expect(message { _ = try store.claim(clock.claim(3), at: clock.now) }.contains("unavailable"))
            try server.start()
            #expect(Program.wait { (try? store.claim(clock.claim(1), at: clock.now)) == .alreadyUsed })
            #expect(try store.claim(clock.claim(4), at: clock.now) == .first)
        }
    }
}
