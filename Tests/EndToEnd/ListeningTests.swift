import Foundation
import MediaToken
import TestSupport
import Testing

extension EndToEnd {
    @Suite("Where the gate listens")
    struct ListeningTests {
        private let place: GateDestination
        private let folder: String

        init() throws {
            place = GateDestination()
            folder = place.directory.path
        }

        /// Makes the gate's certificate, and returns the options for a listener that shows it.
        private func tlsListener(_ port: Int, _ more: [String] = []) throws -> [String] {
            try GateDestination.makeCertificate(folder + "/gate")
            return tls + ["--listen", "tls:127.0.0.1:\(port)"] + more
        }

        private func install(_ name: String) throws {
            for kind in ["pem", "key"] {
                let bytes = try Data(contentsOf: URL(filePath: "\(folder)/\(name).\(kind)"))
                try bytes.write(to: URL(filePath: "\(folder)/gate.\(kind)"))
            }
        }

        private var tls: [String] { ["--tls-certificate", "\(folder)/gate.pem", "--tls-key", "\(folder)/gate.key"] }
        /// Options with which `curl` trusts the gate.
        private var trust: [String] { ["--cacert", "\(folder)/gate.pem"] }

        @Test("TLS from 1.2 on, with a certificate that is exchanged while it serves; a broken one changes nothing")
        func servesTLS() throws {
            for name in ["first", "second"] { try GateDestination.makeCertificate("\(folder)/\(name)") }
            try install("first")
            let port = try FreePort.take(1)[0]
            let options =
                GateDestination.strict + tls + ["--listen", "tls:127.0.0.1:\(port)", "--arrival-timeout", "5"]
            let gate = try GateProcess(in: place, options)
            let token = try place.directory.write(try place.tokens(1)[0], to: "token")
            let url = "https://127.0.0.1:\(port)/v1/verify?requestor=MML&resource=TNT"
            let post = [
                "--cacert", "\(folder)/first.pem", "-H", "Content-Type: text/plain", "--data-binary", "@\(token)",
            ]
            #expect(try GateProcess.fetch(url, post).code == "200")
            #expect(try GateProcess.fetch(url, post).code == "403")
            #expect(try GateProcess.fetch(url, post + ["--tlsv1.0", "--tls-max", "1.1"]).code == "000")
            #expect(try GateProcess.fetch("http://127.0.0.1:\(port)/").code == "000")
            // Who begins no handshake is not waited for.
            #expect(try RawConnection(port: port).isClosed())

            try install("second")
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("reloaded: ") }
            #expect(try GateProcess.fetch(url, ["--cacert", "\(folder)/first.pem"]).code == "000")
            #expect(try GateProcess.fetch(url, ["--cacert", "\(folder)/second.pem"]).code == "405")
            try "no certificate".write(toFile: "\(folder)/gate.pem", atomically: false, encoding: .utf8)
            gate.signal(SIGHUP)
            try gate.wait {
                try gate.logged().contains("reload failed, configuration unchanged: \(folder)/gate.pem: expected")
            }
            #expect(try GateProcess.fetch(url, ["--cacert", "\(folder)/second.pem"]).code == "405")
        }

        private static func show(_ certificate: TestAuthority.Certificate) -> [String] {
            ["--cert", certificate.file, "--key", certificate.key]
        }

        @Test("TLS clients without a certificate of the authority are not served, where one is demanded")
        func demandsClients() throws {
            let (port, authority) = (try FreePort.take(1)[0], try TestAuthority())
            let options = try tlsListener(port, ["--tls-client-ca", authority.file])
            let gate = try GateProcess(in: place, options)
            let url = "https://127.0.0.1:\(port)/v1/verify"
            #expect(try GateProcess.fetch(url, trust).code == "000")
            for (issuer, code) in [(try TestAuthority(), "000"), (authority, "405")] {
                #expect(try GateProcess.fetch(url, trust + Self.show(issuer.certificate("client"))).code == code)
            }
            gate.end()
        }

        @Test("TLS clients without one of the names demanded are not served, whatever their authority says")
        func demandsNames() throws {
            let (port, authority, stranger) = (try FreePort.take(1)[0], try TestAuthority(), try TestAuthority())
            let options = [
                "--tls-client-ca", authority.file, "--tls-client-name", "proxy.example.test", "--tls-client-name",
                "Proxy Two",
            ]
            let gate = try GateProcess(in: place, try tlsListener(port, options))
            let wanted = "proxy.example.test"
            for (subject, names, issuer, isServed) in [
                ("x", "DNS:\(wanted)", authority, true), ("x", "DNS:PROXY.Example.TEST", authority, true),
                ("x", "DNS:a.test,DNS:\(wanted)", authority, true), (wanted, nil, authority, true),
                (wanted, "IP:127.0.0.1", authority, true), ("pROXY tWO", nil, authority, true),
                (wanted, "DNS:\(wanted)", stranger, false), (wanted, "DNS:a.test", authority, false),
                ("x", "DNS:other.example.test", authority, false), ("other", nil, authority, false),
                (wanted, "DNS:*.example.test", authority, false), ("*.example.test", nil, authority, false),
                ("x", "DNS:\(wanted).a.test", authority, false), ("x", "DNS:a.\(wanted)", authority, false),
                ("x", "DNS:example.test", authority, false), ("x", "DNS:proxy", authority, false),
                ("x", "URI:\(wanted),email:a@\(wanted)", authority, false), ("Proxy", nil, authority, false),
                ("Proxy Two Three", nil, authority, false), ("*", "DNS:*", authority, false),
            ] as [(String, String?, TestAuthority, Bool)] {
                let show = Self.show(try issuer.certificate(subject, names: names))
                for version in [["--tls-max", "1.2"], ["--tlsv1.3"]] {
                    let answer = try GateProcess.fetch("https://127.0.0.1:\(port)/v1/verify", trust + show + version)
                    #expect(answer.code == (isServed ? "405" : "000"), "\(subject), \(names ?? "-"), \(version)")
                }
            }
            #expect(try GateProcess.fetch("https://127.0.0.1:\(port)/v1/verify", trust).code == "000")
            gate.end()
        }

        @Test("a client that resumes its session is served while its name is demanded, and not with another's name")
        func resumesNames() throws {
            let (port, authority) = (try FreePort.take(1)[0], try TestAuthority())
            let client = try authority.certificate("one", names: "DNS:one")
            func configure(_ name: String) throws -> String {
                try place.directory.write(#"{"tls-client-name": "\#(name)"}"#, to: "gate.json")
            }
            let options = try tlsListener(port, ["--tls-client-ca", authority.file, "--config", configure("one")])
            let gate = try GateProcess(in: place, options)
            func ask(_ version: String, _ session: [String], shows: Bool = true) throws -> String {
                let own = shows ? ["-cert", client.file, "-key", client.key] : []
                let arguments = ["s_client", "-connect", "127.0.0.1:\(port)", version, "-ign_eof"] + own + session
                let request = "GET /v1/verify HTTP/1.1\r\nHost: gate\r\nConnection: close\r\n\r\n"
                let outcome = try Program("openssl").run(arguments, input: Data(request.utf8))
                return outcome.output + outcome.errors
            }
            let versions = ["-tls1_2", "-tls1_3"]
            let served = "HTTP/1.1 405"
            for version in versions {
                #expect(try ask(version, ["-sess_out", "\(folder)/\(version)"]).contains(served))
                let again = try ask(version, ["-sess_in", "\(folder)/\(version)"], shows: false)
                #expect(again.contains("Reused, TLSv1.") && again.contains(served), "\(again)")
            }
            _ = try configure("two")
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("reloaded: ") }
            for version in versions {
                for session in [[], ["-sess_in", "\(folder)/\(version)"]] {
                    #expect(try !ask(version, session).contains(served), "\(version) \(session)")
                }
            }
        }

        @Test("TLS 1.2 is spoken with ECDHE and AEAD only")
        func ciphers() throws {
            let port = try FreePort.take(1)[0]
            let gate = try GateProcess(in: place, try tlsListener(port))
            func connect(_ options: [String]) throws -> String {
                let outcome = try Program("openssl").run(["s_client", "-connect", "127.0.0.1:\(port)"] + options)
                return outcome.output + outcome.errors
            }
            for suite in [
                "ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384", "ECDHE-RSA-CHACHA20-POLY1305",
            ] {
                #expect(try connect(["-tls1_2", "-cipher", suite]).contains("New, TLSv1.2, Cipher is \(suite)"))
            }
            for suites in [
                "kRSA", "kDHE", "aNULL", "eNULL", "SHA1", "SHA256", "SHA384", "AESCCM", "ARIAGCM", "CAMELLIA",
                "DHE+AESGCM",
                "RSA+AESGCM", "ALL:!kECDHE", "ALL:!AESGCM:!CHACHA20",
            ] {
                let answer = try connect(["-tls1_2", "-cipher", "\(suites):@SECLEVEL=0"])
                #expect(
                    answer.contains("handshake failure") && !answer.contains("New, TLSv1.2"), "\(suites): \(answer)")
            }
            for suite in ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"] {
                let answer = try connect(["-tls1_3", "-ciphersuites", suite])
                #expect(answer.contains("New, TLSv1.3, Cipher is \(suite)"))
            }
            gate.end()
        }

        @Test("clear text on an address that is not of the loopback is warned of, at the start and by --check")
        func exposed() throws {
            try GateDestination.makeCertificate(folder + "/gate")
            // Each has a port of its own, by which a warning names it.
            let exposed = [
                "0.0.0.0", "", "[::]", "192.0.2.1", "[2001:db8::1]", "[::ffff:192.0.2.1]", "[::ffff:0.0.0.0]",
                "[::127.0.0.1]", "[7f00::1]", "128.0.0.1", "126.255.255.255",
            ]
            let safe = [
                "127.0.0.1", "127.255.0.9", "[::1]", "[0:0::0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f12:1]",
                "unix:\(folder)/x", "tls:0.0.0.0", "tls:[::]",
            ]
            for role in ["--listen", "--admin"] {
                let listeners = (exposed + safe).enumerated().flatMap { [role, "\($1):\($0 + 1)"] }
                let outcome = try Program.mediaToken.run(
                    ["serve", "--check", "--keys", place.key] + listeners + tls)
                #expect(outcome.status == 0)
                let warned = outcome.errors.matches(of: /:([0-9]+): others on the network can read and change/)
                #expect(warned.map { Int($0.1) } == exposed.indices.map { $0 + 1 }, "\(role): \(outcome.errors)")
            }
            let port = try FreePort.take(1)[0]
            let gate = try GateProcess(in: place, ["--listen", "0.0.0.0:\(port)"])
            let warning = "warning: 0.0.0.0:\(port): others on the network can read"
            try gate.wait { try gate.logged().contains(warning) }
            #expect(try gate.logged().components(separatedBy: "can read and change").count == 2)
            gate.end()
            let log = folder + "/exposed.log"
            let daemon = try Daemon(
                "timeout",
                ["60", "setpriv", "--pdeathsig", "KILL", "systemd-socket-activate", "-l", "0.0.0.0:\(port)"]
                    + [Program.mediaToken.executable, "serve", "--keys", place.key, "--replays", "memory"]
                    + ["--listen", "systemd", "--admin", "unix:\(folder)/admin.sock"], log: log)
            try daemon.wait { try GateProcess.fetch("http://127.0.0.1:\(port)/").code == "404" }
            try daemon.wait { try daemon.printed().contains(warning) }
        }

        @Test("a Redis server that is asked in clear text over a network is warned of, without its password")
        func exposedStore() throws {
            for (url, isWarned) in [
                ("redis://u:secret@replays.example.com", true), ("redis://192.0.2.1:7000", true),
                ("redis://[2001:db8::1]", true), ("redis://127.0.0.1", false), ("redis://[::1]:7000", false),
                ("redis://localhost", false), ("rediss://replays.example.com", false), ("memory", false),
            ] {
                let outcome = try Program.mediaToken.run(["serve", "--check", "--keys", place.key, "--replays", url])
                #expect(outcome.status == 0 && !outcome.errors.contains("secret"), "\(url): \(outcome.errors)")
                #expect(outcome.errors.contains("use rediss://") == isWarned, "\(url): \(outcome.errors)")
            }
        }

        @Test("a serving process can be dumped neither by the kernel nor by another process of its user")
        func noDump() throws {
            let asNobody = geteuid() == 0 ? ["setpriv", "--reuid", "65534", "--clear-groups"] : []
            let gate = try GateProcess(in: place, launcher: asNobody)
            // The memory of a process that cannot be dumped is root's (proc(5)).
            #expect(try gate.memoryOwner() == 0)
        }

        @Test("the end of the gate's certificate is told when it is near, and is in the metrics")
        func certificateEnd() throws {
            let gate = try GateProcess(in: place, try tlsListener(try FreePort.take(1)[0]))
            try gate.wait { try gate.logged().contains("warning: \(folder)/gate.pem: expires ") }
            #expect(try gate.logged().contains(try Regex(", in [12] days; replace the file")))
            let shown = try Program("openssl").succeed([
                "x509", "-in", "\(folder)/gate.pem", "-noout", "-enddate", "-dateopt", "iso_8601",
            ])
            let text = shown.split(separator: "=")[1].dropLast().replacing(" ", with: "T", maxReplacements: 1)
            let end = try #require(Timestamp(reading: String(text)))
            let metric = "media_token_tls_certificate_expiry_timestamp_seconds \(end.milliseconds / 1000)\n"
            #expect(try gate.admin("/metrics").contains(metric), "\(text)")
            try Program("openssl").succeed([
                "req", "-x509", "-key", "\(folder)/gate.key", "-days", "15", "-subj", "/CN=x", "-out",
                "\(folder)/gate.pem",
            ])
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("reloaded: ") }
            #expect(try !gate.admin("/metrics").contains(metric))
            #expect(try gate.logged().components(separatedBy: "gate.pem: expires ").count == 2)
            gate.end()
            let plain = try GateProcess(in: place)
            #expect(try !plain.admin("/metrics").contains("media_token_tls_certificate_expiry_timestamp_seconds"))
        }

        @Test("a Unix socket has its mode, is taken from the dead and not from the living, and is gone at the end")
        func unix() throws {
            let path = folder + "/gate.sock"
            let options = ["--listen", "unix:\(path)", "--unix-mode", "640"]
            let first = try GateProcess(in: place, options)
            let fetch = { try GateProcess.fetch("http://gate/v1/verify", ["--unix-socket", path]).code }
            #expect(try fetch() == "405")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect(attributes[.posixPermissions] as? Int == 0o640)
            #expect(throws: (any Error).self) { try GateProcess(in: place, options) }
            #expect(try fetch() == "405")
            first.end(SIGKILL)
            #expect(FileManager.default.fileExists(atPath: path))
            let second = try GateProcess(in: place, options)
            #expect(try fetch() == "405")
            second.end()
            #expect(!FileManager.default.fileExists(atPath: path))
            // What is no socket stays.
            try "notes".write(toFile: path, atomically: false, encoding: .utf8)
            #expect(throws: (any Error).self) { try GateProcess(in: place, options) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "notes")
        }

        @Test("a second gate is refused the address of a living one, since it would decide by another store")
        func alone() throws {
            let port = try FreePort.take(1)[0]
            let first = try GateProcess(in: place, ["--listen", "127.0.0.1:\(port)", "--workers", "3"])
            #expect(throws: (any Error).self) { try GateProcess(in: place, ["--listen", "127.0.0.1:\(port)"]) }
            first.end()
            let second = try GateProcess(in: place, ["--listen", "127.0.0.1:\(port)"])
            #expect(try GateProcess.fetch("http://127.0.0.1:\(port)/").code == "404")
            second.end()
            let twice = Array(repeating: ["--listen", "127.0.0.1:\(port)"], count: 2).joined()
            #expect(throws: (any Error).self) { try GateProcess(in: place, Array(twice)) }
        }

        @Test("a certificate with another's key is told before anybody connects")
        func wrongKey() throws {
            for name in ["one", "other"] { try GateDestination.makeCertificate("\(folder)/\(name)") }
            try Program("openssl").succeed([
                "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "\(folder)/curve.key",
            ])
            for (key, status) in [("one", 0), ("other", 64), ("curve", 64)] {
                let outcome = try Program.mediaToken.run([
                    "serve", "--check", "--keys", place.key, "--listen", "tls:127.0.0.1:1", "--tls-certificate",
                    "\(folder)/one.pem", "--tls-key", "\(folder)/\(key).key",
                ])
                #expect(outcome.status == status, "\(key): \(outcome.errors)")
                #expect(status == 0 || outcome.errors.contains("\(folder)/\(key).key: expected the key of"))
            }
        }

        @Test("TLS before 1.2, and a renegotiation, are refused by the gate, not only by the client")
        func oldTLS() throws {
            let port = try FreePort.take(1)[0]
            let gate = try GateProcess(in: place, try tlsListener(port))
            func connect(_ options: [String], input: String = "") throws -> String {
                // A client that would talk to anybody.
                let arguments =
                    ["s_client", "-connect", "127.0.0.1:\(port)", "-cipher", "DEFAULT@SECLEVEL=0"] + options
                let outcome = try Program("openssl").run(arguments, input: Data(input.utf8))
                return outcome.output + outcome.errors
            }
            for version in ["-tls1", "-tls1_1"] {
                #expect(try connect([version]).contains("alert protocol version"), "\(version)")
            }
            #expect(try connect(["-tls1_2"]).contains("New, TLSv1.2"))
            let renegotiated = try connect(["-tls1_2"], input: "R\n")
            #expect(renegotiated.contains("RENEGOTIATING") && renegotiated.contains("no renegotiation"))
            gate.end()
        }

        @Test("systemd's sockets are served by name, and by TLS where that is asked for")
        func socketActivation() throws {
            try GateDestination.makeCertificate(folder + "/gate")
            let ports = try FreePort.take(2)
            let log = folder + "/activated.log"
            // It starts the program when somebody connects, and closes what it inherits: Foundation would take that for
            // its end.
            let daemon = try Daemon(
                "timeout",
                [
                    "60", "setpriv", "--pdeathsig", "KILL", "systemd-socket-activate", "-l", "127.0.0.1:\(ports[0])",
                    "-l", "127.0.0.1:\(ports[1])", "--fdname=plain:secure",
                ]
                    + [Program.mediaToken.executable, "serve", "--keys", place.key, "--replays", "memory"]
                    + ["--listen", "systemd:plain", "--listen", "tls:systemd:secure"]
                    + ["--admin", "unix:\(folder)/admin.sock"] + tls, log: log)
            try daemon.wait { try GateProcess.fetch("http://127.0.0.1:\(ports[0])/").code == "404" }
            let secure = "https://127.0.0.1:\(ports[1])/"
            for _ in 0..<20 {
                #expect(try GateProcess.fetch(secure, trust).code == "404")
            }
            daemon.end(SIGKILL)
            #expect(throws: (any Error).self) { try GateProcess(in: place, ["--listen", "systemd"]) }
        }

        @Test("the service manager is told of readiness, of a reload and of the end")
        func notifies() throws {
            let manager = try DatagramSocket(path: folder + "/notify")
            let gate = try GateProcess(in: place, launcher: ["NOTIFY_SOCKET=\(folder)/notify"])
            #expect(manager.receive() == "READY=1")
            #expect(manager.receive() == "STATUS=serving: 1 key, 0 routes")
            gate.signal(SIGHUP)
            #expect(manager.receive()?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
            #expect(manager.receive() == "READY=1")
            gate.end()
            #expect(manager.receive() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=15000000")
        }

        @Test("without descriptors for the next connection it serves those it has, and takes more when there are some")
        func noDescriptors() throws {
            let gate = try GateProcess(in: place, ["--workers", "1"], launcher: ["prlimit", "--nofile=64:64"])
            #expect(try gate.logged().contains("may have 64 descriptors; expected at least"))
            let question = "GET /nothing HTTP/1.1\r\nHost: gate\r\n\r\n"
            let served = try RawConnection(port: gate.port)
            #expect(served.ask(question)?.status == 404)
            let admin = try RawConnection(port: gate.adminPort)
            func pauses() throws -> Int {
                let answer = admin.ask("GET /metrics HTTP/1.1\r\nHost: gate\r\n\r\n")
                let metrics = try #require(answer).body.split(separator: "\n")
                let pauses = metrics.first { $0.hasPrefix("media_token_accept_pauses_total ") }
                return try #require(pauses?.split(separator: " ").last.flatMap { Int($0) })
            }
            // Its answer shows that the gate has accepted this connection before the others take all descriptors.
            #expect(try pauses() == 0)
            var waiting = try (0..<100).map { _ in try RawConnection(port: gate.port) }
            try gate.wait { try pauses() > 1 }
            #expect(served.ask(question)?.status == 404)
            #expect(try gate.logged().utf8.count < 4096)
            waiting.removeAll()
            #expect(try gate.status(question) == 404)
        }
    }
}
