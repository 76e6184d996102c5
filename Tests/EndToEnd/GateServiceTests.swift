import Foundation
import Synchronization
import TestSupport
import TestThreads
import Testing

/// All tests of whole programs, three at a time: they wait for programs more than they compute.
@Suite("End to end", OwnThreads(3))
enum EndToEnd {}

extension EndToEnd {
    @Suite("The gate as a service")
    struct GateServiceTests {
        private let place = GateDestination()

        private static let question = "GET /nothing HTTP/1.1\r\nHost: gate\r\n\r\n"

        @Test("answers, tells its health, counts, and logs nothing that a viewer could be known by")
        func serves() throws {
            let gate = try GateProcess(in: place, GateDestination.strict)
            let token = try place.tokens(1)[0]
            let connection = try RawConnection(port: gate.port)
            #expect(connection.ask(GateProcess.verification(token))?.status == 200)
            let again = connection.ask(GateProcess.verification(token))
            #expect(again?.headers.contains("X-Media-Token-Code: TOKEN_ALREADY_USED") == true)
            #expect(try gate.admin("/healthz") == "alive\n200")
            #expect(try gate.admin("/readyz") == "ready\n200")
            let metrics = try gate.admin("/metrics")
            #expect(
                metrics.contains(
                    "media_token_verdicts_total{code=\"VALID_TOKEN\",requestor=\"MML\",endpoint=\"/v1/verify\"} 1"))
            #expect(metrics.contains("media_token_connections 1"))
            #expect(
                metrics.contains(
                    try Regex(
                        "media_token_build_info\\{.*signatures=\"(ifma|libcrypto)\",configuration=\"[0-9a-f]{12}\",report_only=\"none\"\\} 1"
                    )))
            for request in ["a1-b2", token, "a1-b2 viewer-0", "\u{301}"] {
                let answer = connection.ask("GET / HTTP/1.1\r\nHost: gate\r\nX-Request-Id: \(request)\r\n\r\n")
                #expect(answer?.status == 404)
            }
            gate.end()
            let log = try gate.logged()
            #expect(log.components(separatedBy: "\"requestId\":").count == 2 && log.contains("\"requestId\":\"a1-b2\""))
            #expect(log.contains(try Regex("\"time\":\"20[0-9-]{8}T[0-9:]{8}\\.[0-9]{3}Z\"")))
            #expect(log.contains("\"code\":\"TOKEN_ALREADY_USED\"") && log.contains("\"mvpd\":\"TempPass\""))
            #expect(!log.contains("viewer-0") && !log.contains(token.prefix(60)) && !metrics.contains("viewer-0"))
        }

        @Test("lines that cannot be written are counted, and keep no verdict waiting")
        func lostLog() throws {
            let gate = try GateProcess(in: place, launcher: ["sh", "-c", "exec \"$@\" >/dev/full", "sh"])
            for number in 1...3 {
                #expect(try GateProcess.fetch("http://127.0.0.1:\(gate.port)/").code == "404")
                try gate.wait { try gate.admin("/metrics").contains("media_token_log_lost_total \(number)\n") }
            }
        }

        @Test("pipelined requests are answered in order, and a peer that sends no more still gets its answer")
        func pipelined() throws {
            let gate = try GateProcess(in: place, GateDestination.strict)
            let tokens = try place.tokens(4)
            let connection = try RawConnection(port: gate.port)
            connection.send((tokens[..<3] + tokens[..<3]).map(GateProcess.verification).joined())
            #expect((0..<6).map { _ in connection.answer()?.status } == [200, 200, 200, 403, 403, 403])
            // An answer to HEAD has no body.
            connection.send("HEAD /nothing HTTP/1.1\r\nHost: gate\r\n\r\n" + GateProcess.verification(tokens[3]))
            connection.finishSending()
            #expect(connection.answer()?.status == 404)
            #expect(connection.answer()?.status == 200)
            #expect(connection.answer() == nil)
        }

        @Test("a request that is too long, or comes too slowly, is cut off; others are served meanwhile")
        func limits() throws {
            let options = ["--max-header-bytes", "2048", "--max-body-bytes", "2048", "--arrival-timeout", "1"]
            let gate = try GateProcess(in: place, GateDestination.strict + options)
            let long = String(repeating: "x", count: 3000)
            for (request, status) in [
                (GateProcess.verification(long), 413), ("GET / HTTP/1.1\r\nHost: gate\r\nX-Long: \(long)\r\n\r\n", 431),
                ("GET /\(long) HTTP/1.1\r\nHost: gate\r\n\r\n", 431), ("nonsense\r\n\r\n", 400),
            ] {
                #expect(try gate.status(request) == status, "\(request.prefix(30))")
            }
            for beginning in [
                "GET / HT", "GET / HTTP/1.1\r\nHost: gate\r\n",
                "POST /v1/verify HTTP/1.1\r\nHost: gate\r\nContent-Length: 100\r\n\r\nx",
            ] {
                let slow = try RawConnection(port: gate.port)
                let start = ContinuousClock.now
                // A byte now and then does not help.
                slow.send(beginning)
                while ContinuousClock.now - start < Program.patience, slow.send("x") { usleep(100_000) }
                #expect(slow.answer() == nil)
                #expect(ContinuousClock.now - start < Program.patience)
                #expect(try gate.status(Self.question) == 404)
            }
        }

        @Test("a peer that sends and does not read takes little memory, and is cut off")
        func deafPeer() throws {
            let gate = try GateProcess(in: place, ["--arrival-timeout", "1", "--max-body-bytes", "4096"])
            let connection = try RawConnection(port: gate.port)
            let requests = String(repeating: Self.question, count: 1000)
            let start = ContinuousClock.now
            while ContinuousClock.now - start < Program.patience, connection.send(requests) {}
            #expect(ContinuousClock.now - start < Program.patience)
            try gate.wait { try gate.connections() == 0 }
        }

        @Test("connections are counted, all and by peer, and idle ones are closed")
        func connectionLimits() throws {
            let gate = try GateProcess(in: place, ["--max-connections-per-peer", "20", "--idle-timeout", "8"])
            var open = try (0..<20).map { _ in try RawConnection(port: gate.port) }
            for connection in open { #expect(connection.ask(Self.question)?.status == 404) }
            #expect(try gate.status(Self.question) == nil)
            open.removeLast(5)
            try gate.wait { try gate.connections() == 15 }
            #expect(try gate.status(Self.question) == 404)
            try gate.wait { try gate.connections() == 0 }
            #expect(open.allSatisfy { $0.answer() == nil })
        }

        @Test("stopped, it answers what is on its way and takes nothing new")
        func stops() throws {
            let redis = try RedisServer()
            let gate = try GateProcess(in: place, replays: redis.url + "?timeout=20000", GateDestination.strict)
            let tokens = try place.tokens(2)
            let connection = try RawConnection(port: gate.port)
            redis.signal(SIGSTOP)
            connection.send(GateProcess.verification(tokens[0]))
            try gate.wait { try RawConnection.hasUnreadBytes(port: redis.port) }
            gate.signal(SIGTERM)
            try gate.wait { try gate.admin("/readyz") == "stopping\n503" }
            #expect(throws: Program.Failure.self) {
                let late = try RawConnection(port: gate.port)
                late.send(GateProcess.verification(tokens[1]))
                guard late.answer() == nil else { return }
                throw Program.Failure(description: "not answered")
            }
            #expect(try gate.admin("/readyz") == "stopping\n503")
            redis.signal(SIGCONT)
            let answer = connection.answer()
            #expect(answer?.status == 200 && answer?.headers.contains("Connection: close") == true, "\(answer as Any)")
        }

        @Test("a store that fails is 503 and not ready, and all is well when it is back")
        func storeFails() throws {
            let redis = try RedisServer()
            let gate = try GateProcess(in: place, replays: redis.url + "?timeout=2000", GateDestination.strict)
            let tokens = try place.tokens(4)
            let connection = try RawConnection(port: gate.port)
            func verify(_ number: Int) -> Int? { connection.ask(GateProcess.verification(tokens[number]))?.status }
            #expect(verify(0) == 200)
            redis.signal(SIGSTOP)
            #expect(verify(1) == 503)
            #expect(try gate.admin("/readyz").hasSuffix("503"))
            #expect(verify(2) == 503)
            redis.signal(SIGCONT)
            try gate.wait { try gate.admin("/readyz").hasSuffix("200") }
            #expect(verify(3) == 200)
            #expect(try gate.admin("/metrics").contains("media_token_store_errors_total"))
        }

        @Test(
            "a Redis server that answers reads and takes no claim is not ready",
            arguments: [
                ["config set maxmemory 1", "config set maxmemory 0"],
                ["config set min-replicas-to-write 1", "config set min-replicas-to-write 0"],
                ["acl setuser default -set", "acl setuser default +set"],
                ["client pause 60000 write", "client unpause"],
            ])
        func takesNoClaim(commands: [String]) throws {
            let redis = try RedisServer()
            let gate = try GateProcess(in: place, replays: redis.url, GateDestination.strict)
            func cli(_ command: String) throws {
                try Program("redis-cli").succeed(
                    ["-p", "\(redis.port)"] + command.split(separator: " ").map(String.init))
            }
            func isUp() throws -> Bool { try gate.admin("/metrics").contains("media_token_store_up 1\n") }
            let tokens = try place.tokens(2)
            #expect(try isUp() && gate.admin("/readyz").hasSuffix("200"))
            try cli(commands[0])
            #expect(try gate.verify(tokens[0]) == 503)
            #expect(try !isUp() && gate.admin("/readyz").hasSuffix("503"))
            try cli(commands[1])
            try gate.wait { try gate.admin("/readyz").hasSuffix("200") }
            #expect(try isUp())
            #expect(try gate.verify(tokens[1]) == 200)
        }

        @Test("a Redis server without the replicas that must confirm claims is not ready")
        func takesNoClaimWithoutReplicas() throws {
            let (primary, replica) = (try RedisServer(), try RedisServer())
            func follow(_ primary: String) throws {
                let words = ["-p", "\(replica.port)", "replicaof"] + primary.split(separator: " ").map(String.init)
                try Program("redis-cli").succeed(words)
            }
            try follow("127.0.0.1 \(primary.port)")
            // A gate does not start with a store that takes no claim, as this one does until the replica has followed.
            while try !Program("redis-cli").succeed(["-p", "\(primary.port)", "wait", "1", "1000"]).hasPrefix("1") {}
            let store = primary.url + "?wait=1&timeout=\(2000 * Program.slowness)"
            let gate = try GateProcess(in: place, replays: store, GateDestination.strict)
            try gate.wait { try gate.admin("/readyz").hasSuffix("200") }
            try follow("no one")
            try gate.wait { try gate.admin("/readyz").hasSuffix("503") }
            #expect(try gate.admin("/metrics").contains("media_token_store_up 0\n"))
            #expect(try gate.verify(place.tokens(1)[0]) == 503)
            try follow("127.0.0.1 \(primary.port)")
            try gate.wait { try gate.admin("/readyz").hasSuffix("200") }
        }

        @Test("a store that hangs holds nobody up who does not need it")
        func storeHangs() throws {
            let redis = try RedisServer()
            let gate = try GateProcess(in: place, replays: redis.url + "?timeout=20000", GateDestination.strict)
            let token = try place.tokens(1)[0]
            let waiting = try RawConnection(port: gate.port)
            redis.signal(SIGSTOP)
            waiting.send(GateProcess.verification(token))
            try gate.wait { try RawConnection.hasUnreadBytes(port: redis.port) }
            for _ in 0..<16 { #expect(try gate.status(Self.question) == 404) }
            redis.signal(SIGCONT)
            // Answers that had waited for the store would have come after its deadline, which makes this a 503.
            #expect(waiting.answer()?.status == 200)
        }

        @Test("SIGHUP takes a new configuration as a whole, and a broken one not at all")
        func reloads() throws {
            func configure(_ text: String) throws -> String { try place.directory.write(text, to: "gate.json") }
            let file = try configure("{\"routes\": [{\"path\": \"/a\", \"open\": true}]}")
            let gate = try GateProcess(in: place, ["--config", file])
            let connection = try RawConnection(port: gate.port)
            func status(_ path: String) -> Int? {
                let head = "GET /v1/authz/auth-request HTTP/1.1\r\nHost: gate\r\n"
                return connection.ask("\(head)X-Original-URI: \(path)\r\n\r\n")?.status
            }
            func reload(_ text: String, until said: String) throws {
                _ = try configure(text)
                gate.signal(SIGHUP)
                try gate.wait { try gate.logged().contains(said) }
            }
            #expect(status("/a/x") == 200 && status("/b/x") == 403)
            try reload(
                "{\"routes\": [{\"path\": \"/b\", \"open\": true}, {\"path\": 1}]}",
                until: "reload failed, configuration unchanged")
            #expect(status("/a/x") == 200 && status("/b/x") == 403)
            try reload(
                "{\"routes\": [{\"path\": \"/b\", \"open\": true}]}",
                until: "reloaded: 1 key, 1 route; changed: routes")
            #expect(status("/a/x") == 403 && status("/b/x") == 200)
            try reload(
                "{\"cors-origin\": \"*\", \"max-ttl\": 86400, \"routes\": [{\"path\": \"/b\", \"open\": true}]}",
                until: "changed: cors-origin, max-ttl")
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("settings unchanged") }
        }

        @Test("key files that other users can read or write are named, at the start, at a reload and by --check")
        func modes() throws {
            let folder = place.directory.path + "/secrets"
            let files = ["tls.key", "tls.pem", "password", "grant.key", "salt", "new.key", "old.key"].map {
                "\(folder)/\($0)"
            }
            try FileManager.default.createDirectory(atPath: folder + "/keys", withIntermediateDirectories: true)
            try GateDestination.makeCertificate(folder + "/tls", days: 60)
            for (index, file) in files.enumerated().dropFirst(2) {
                let digits = String(repeating: "0\(index)", count: 32)
                try digits.write(toFile: file, atomically: false, encoding: .utf8)
            }
            for name in ["a.pem", "b.pem", "notes"] {
                try FileManager.default.copyItem(atPath: place.key, toPath: "\(folder)/keys/\(name)")
            }
            let named = try place.directory.write(
                """
                {"listen": "tls:127.0.0.1:1", "tls-key": "\(files[0])", "tls-certificate": "\(files[1])",
                 "password-file": "\(files[2])", "keys": ["\(folder)/keys", "\(place.key)"], "replays": "memory", "routes": [
                  {"path": "/a", "requestor": "MML", "resource": "TNT", "grant":
                    {"kind": "akamai", "key-file": "\(files[3])", "salt-file": "\(files[4])"}},
                  {"path": "/b", "requestor": "MML", "resource": "TNT", "grant":
                    {"kind": "cat", "key-file": ["\(files[5])", "\(files[6])"], "key-id": ["new", "old"]}}]}
                """, to: "gate.json")
            func change(_ path: String, _ mode: Int) throws {
                try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            }
            func warnings(_ text: String) -> [Substring] {
                text.split(separator: "\n").filter { $0.contains("has mode") }
            }
            func check() throws -> [Substring] {
                let outcome = try Program.mediaToken.run(["serve", "--check", "--config", named])
                #expect(outcome.status == 0, "\(outcome.errors)")
                return warnings(outcome.errors)
            }
            let secrets = [files[0]] + files[2...]
            for file in secrets { try change(file, 0o640) }
            #expect(try check() == [])
            let parent = place.directory.path
            for (path, mode, usual, better) in secrets.flatMap({
                [($0, 0o644, 0o640, "640"), ($0, 0o642, 0o600, "640"), ($0, 0o604, 0o400, "640")]
            }) + [
                ("\(folder)/keys/a.pem", 0o646, 0o644, "644"), ("\(folder)/keys/b.pem", 0o642, 0o644, "644"),
                ("\(folder)/keys", 0o757, 0o755, "755"), ("\(folder)/keys", 0o1777, 0o755, "755"),
                (place.key, 0o666, 0o644, "644"), (parent, 0o777, 0o755, "755"), (named, 0o646, 0o644, "644"),
            ] {
                try change(path, mode)
                let found = try check()
                #expect(
                    found.count == 1 && found[0].contains("\(path): has mode \(String(mode, radix: 8)), "), "\(found)")
                #expect(found.first?.hasSuffix("run chmod \(better) \(path)") == true)
                try change(path, usual)
            }
            for (path, mode) in [("\(folder)/keys/notes", 0o666), (parent, 0o1777), (files[1], 0o644), (folder, 0o755)]
            {
                try change(path, mode)
                #expect(try check() == [], "\(path)")
            }
            try change(files[3], 0o644)
            let listen = ["--listen", "tls:127.0.0.1:\(try FreePort.take(1)[0])"]
            let gate = try GateProcess(in: place, ["--config", named] + listen)
            #expect(try warnings(gate.logged()).count == 1)
            try change(files[0], 0o644)
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("reloaded: ") }
            #expect(try warnings(gate.logged()).count == 3)
        }

        @Test("files that others own, that a foreign group can write, and that a link leads to are named by --check")
        func owners() throws {
            let folder = place.directory.path + "/owned"
            for name in ["keys", "wide", "replays"] {
                try FileManager.default.createDirectory(atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
            }
            for name in ["keys/a.pem", "wide/b.pem", "authority.pem"] {
                try FileManager.default.copyItem(
                    atPath: Fixtures.vectors.appending(path: "keystores/certificate.pem").path,
                    toPath: "\(folder)/\(name)")
            }
            for (link, target) in [("keys/linked.pem", "../wide/b.pem"), ("link", "wide")] {
                try FileManager.default.createSymbolicLink(atPath: "\(folder)/\(link)", withDestinationPath: target)
            }
            try GateDestination.makeCertificate(folder + "/tls")
            let secret = "\(folder)/secret"
            try String(repeating: "01", count: 32).write(toFile: secret, atomically: false, encoding: .utf8)
            let file = folder + "/gate.json"
            try """
            {"listen": "tls:127.0.0.1:1", "tls-key": "\(folder)/tls.key", "tls-certificate": "\(folder)/tls.pem",
             "tls-client-ca": "\(folder)/authority.pem", "keys": ["\(folder)/keys", "\(folder)/link"],
             "replays": "lmdb:\(folder)/replays/new", "routes": [
              {"path": "/a", "requestor": "MML", "resource": "TNT", "grant": {"kind": "akamai", "key-file": "\(secret)"}}]}
            """.write(toFile: file, atomically: false, encoding: .utf8)
            func check(_ more: [String] = []) throws -> (status: Int32, lines: [Substring]) {
                let outcome = try Program.mediaToken.run(["serve", "--check", "--config", file] + more)
                let lines = outcome.errors.split(separator: "\n").filter { $0.contains(", so that ") }
                return (outcome.status, lines)
            }
            for name in ["keys", "wide", "replays", "."] { try Program.asRoot("chmod", "755", "\(folder)/\(name)") }
            for name in ["keys/a.pem", "wide/b.pem", "authority.pem", "gate.json", "secret"] {
                try Program.asRoot("chmod", "640", "\(folder)/\(name)")
            }
            try Program.asRoot("chmod", "600", folder + "/tls.key")
            #expect(try check().lines == [])
            let (user, group) = ("belongs to user 65534", "so that group 65534 can")
            for (name, change, undo, expected) in [
                ("keys/a.pem", ["chown", "65534"], ["chown", "\(geteuid())"], user),
                ("keys", ["chown", "65534"], ["chown", "\(geteuid())"], user),
                ("authority.pem", ["chown", "65534"], ["chown", "\(geteuid())"], user),
                ("gate.json", ["chown", "65534"], ["chown", "\(geteuid())"], user),
                ("secret", ["chgrp", "65534"], ["chgrp", "\(getegid())"], group),
                ("keys/linked.pem", ["chown", "-h", "65534"], ["chown", "-h", "\(geteuid())"], user),
                ("link", ["chown", "-h", "65534"], ["chown", "-h", "\(geteuid())"], user),
                ("wide", ["chmod", "777"], ["chmod", "755"], "has mode 777"),
                ("replays", ["chmod", "777"], ["chmod", "755"], "has mode 777"),
            ] {
                let path = "\(folder)/\(name)"
                try Program.asRoot(change + [path])
                let found = try check()
                #expect(
                    found.status == 0 && found.lines.count == 1
                        && found.lines[0].contains("warning: \(path): ") && found.lines[0].contains(expected),
                    "\(name): \(found)")
                try Program.asRoot(undo + [path])
            }
            try Program.asRoot("chmod", "777", folder + "/replays")
            let refused = try check(["--replays", "lmdb:\(folder)/replays"])
            #expect(
                refused.status == 64 && refused.lines.count == 1
                    && refused.lines[0].contains("--replays \(folder)/replays has mode 777"), "\(refused)")
            let authority = try check(["--replays", "rediss://127.0.0.1:1?tls-ca=\(folder)/replays/ca.pem"])
            #expect(
                authority.lines.count == 1 && authority.lines[0].contains("warning: \(folder)/replays: has mode 777"))
        }

        @Test("a password of Redis that other users can read is named, in a file of its own and in the settings")
        func passwordModes() throws {
            let password = try place.directory.write("0123456789abcdef", to: "password")
            for (url, secret) in [
                ("redis://127.0.0.1:1?password-file=\(password)", password),
                ("redis://user:0123456789abcdef@127.0.0.1:1", place.directory.path + "/gate.json"),
            ] {
                let file = try place.directory.write(#"{"replays": "\#(url)"}"#, to: "gate.json")
                for (mode, isTold) in [(0o640, false), (0o644, true)] {
                    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: secret)
                    let outcome = try Program.mediaToken.run([
                        "serve", "--check", "--config", file, "--keys", place.key,
                    ])
                    #expect(outcome.errors.contains("\(secret): has mode 644") == isTold, "\(outcome.errors)")
                    #expect(outcome.status == 0 && !outcome.errors.contains("0123456789abcdef"))
                }
                try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: secret)
            }
        }

        @Test("--check names every file that cannot be read, with its setting")
        func missingFiles() throws {
            let file = try place.directory.write(
                """
                {"listen": "tls:127.0.0.1:1", "tls-certificate": "/none/a", "tls-key": "/none/b", "tls-client-ca": "/none/c",
                 "keys": ["/none/d", "/none/e"]}
                """, to: "gate.json")
            let outcome = try Program.mediaToken.run(["serve", "--check", "--config", file])
            let lines = outcome.errors.split(separator: "\n").filter { !$0.contains("warning: ") }
            let names = [
                "tls-certificate: /none/a", "tls-key: /none/b", "tls-client-ca: /none/c", "keys: /none/d",
                "keys: /none/e",
            ]
            #expect(outcome.status == 64 && lines.count == names.count, "\(outcome.errors)")
            for (line, name) in zip(lines, names) {
                #expect(line.contains(try Regex("^media-token: \(file):[0-9]+:[0-9]+: \(name): ")), "\(line)")
            }
        }
    }
}
