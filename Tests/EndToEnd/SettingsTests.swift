import Foundation
import TestSupport
import Testing
import TokenCrypto

extension EndToEnd {
    /// The configuration file as a stranger meets it: one with many faults, the example with every setting, and the
    /// schema.
    @Suite("Settings")
    struct SettingsTests {
        private let place = GateDestination()

        private var file: String { place.directory.path + "/gate.json" }

        /// What `--check` says of a configuration file.
        private func check(_ text: String, _ options: [String] = []) throws -> Program.Outcome {
            try place.directory.write(text, to: "gate.json")
            return try Program.mediaToken.run(["serve", "--check", "--config", file] + options)
        }

        /// Members of a configuration, one with a fault each on a line of its own, and what `--check` says of it.
        private static let faults = [
            (#""listen": ["nowhere"]"#, ":1:13: listen[0]: is 'nowhere'; expected IP:PORT"),
            (#""workers": 0"#, ":2:1: workers: is 0; expected a whole number from 1 to 256"),
            (#""max-ttl": "900""#, ":3:1: max-ttl: is '900'; expected a whole number"),
            (#""replays": "reddis://host""#, ":4:1: replays: no replay store of the kind 'reddis'"),
            (#""tls-key": "key.pem""#, "tls-certificate: is missing; expected one for tls-key"),
            (#""tokenheader": "X""#, "tokenheader: no such setting; did you mean token-header?"),
            (#""mvpd": {"MML": []}"#, "mvpd.MML: is an empty list"),
            (#""keys": ["kees"]"#, ":8:1: keys: kees: cannot be opened: No such file or directory"),
        ]
        /// Routes with faults, and the beginnings of the lines that `--check` prints for them. The first has two
        /// faults.
        private static let faultyRoutes = [
            (
                #"{"path": "live", "requestor": "MML"}"#,
                [
                    ":9:13: routes[0].path: is 'live'; the path does not begin with a slash",
                    ":9:12: routes[0].resource: is missing",
                ]
            ),
            (
                #"{"path": "/free", "open": true, "requestor": "MML"}"#,
                [":9:82: routes[1].requestor: is given, and the route is open"]
            ),
            (
                #"{"path": "/c", "requestor": "MML", "resource": "TNT", "grant": {"kind": "cat", "key-env": "X", "delivery": "query", "partitioned": true}}"#,
                ["routes[2].grant.partitioned: has no effect with delivery query"]
            ),
        ]
        /// Options with faults, and what is said of them.
        private static let options = [
            ("--log-every=x", "--log-every is 'x'; expected a whole number"),
            ("--unix-mode=9", "--unix-mode is '9'; expected permissions"),
            ("--skew=400", "--skew is 400; expected a whole number from 0 to 300"),
        ]

        @Test("--check reports fifteen faults of a file and a command line in fifteen lines, each with its place")
        func faults() throws {
            let routes = Self.faultyRoutes.map(\.0).joined(separator: ", ")
            let members = Self.faults.map(\.0) + ["\"routes\": [\(routes)]"]
            let options = Self.options.map(\.0)
            let outcome = try check("{\(members.joined(separator: ",\n"))}", options)
            #expect(outcome.status == 64)
            let lines = outcome.errors.split(separator: "\n").filter { !$0.contains("warning: ") }
            let expected = Self.faults.map(\.1) + Self.faultyRoutes.flatMap(\.1) + Self.options.map(\.1)
            #expect(lines.count == 15 && expected.count == 15, "\(outcome.errors)")
            for text in expected { #expect(lines.contains { $0.contains(text) }, "\(text): \(outcome.errors)") }
        }

        @Test(
            "a syntax error has its line and column, and JSON that is no object is not called malformed",
            arguments: [
                ("{\"keys\": [\"a\"],\n \"skew\": 30,,\n}", "2:13: expected a name in quotes"),
                ("{\"keys\": [\"é\" 1]}", "1:15: expected ',' or ']'"),
                ("{\n\"skew\": 1,\n  \"skew\": 2}", "3:3: 'skew' is given twice"), ("", "1:1: expected an object"),
                ("[]]", "1:3: expected the end"), ("[1", "1:3: expected ',' or ']'"),
                ("[]", " it is an array; expected an object"), (" [{}]\n", " it is an array; expected an object"),
                (#""keys""#, " it is 'keys'; expected an object"), ("1", " it is 1; expected an object"),
                ("true", " it is true; expected an object"), ("false", " it is false; expected an object"),
                ("null", " it is null; expected an object"),
            ])
        func syntax(text: String, told: String) throws {
            let outcome = try check(text)
            #expect(outcome.errors == "media-token: \(file):\(told)\n" && outcome.status == 64)
        }

        @Test("the former name of a setting is read, and named in a warning")
        func formerName() throws {
            for (members, status, line) in [
                (#""mvpds": {"MML": ["A"]}"#, Int32(0), "mvpds: is called mvpd now"),
                (#""mvpd": ["MML=A"]"#, 0, ""),
                (#""mvpds": {}, "mvpd": {}"#, 64, "mvpds: is the former name of mvpd, which is given too"),
                (#""mvpd": ["MML"]"#, 64, "mvpd: is 'MML'; expected REQUESTOR=ID"),
                (#""default-ttl": 901"#, 64, "default-ttl: is 901; expected at most max-ttl, 900"),
                (#""$schema": "x", "mvpd": {"MML": "A"}"#, 0, ""),
                (#""mvpd": {}"#, 64, "mvpd: is empty, and would restrict no requestor"),
                (#""mvpd": {"MML ": ["A"]}"#, 64, "mvpd: names 'MML '; expected the ID of a requestor, without blanks"),
                (#""mvpd": {"": ["A"]}"#, 64, "mvpd: names ''; expected the ID"),
                (
                    #""mvpd": {"MLL": ["A"]}, "routes": [{"path": "/a", "requestor": "MML", "resource": "TNT"}]"#, 0,
                    "warning: FILE:1:2: mvpd: restricts 'MLL', which no route names; did you mean MML?"
                ),
                (#""mvpd": {"MML": ["A"]}, "routes": [{"path": "/a", "requestor": "MML", "resource": "TNT"}]"#, 0, ""),
                // Messages escape such a name; it is compared as it is.
                (
                    #""mvpd": {"M\u202eL": ["A"]}, "routes": [{"path": "/a", "requestor": "M\u202eL", "resource": "T"}]"#,
                    0, ""
                ),
            ] {
                let outcome = try check("{\(members)}", ["--keys", place.key])
                #expect(
                    outcome.status == status
                        && (line.isEmpty || outcome.errors.contains(line.replacing("FILE", with: file))),
                    "\(outcome.errors)")
                #expect(line.isEmpty == outcome.errors.isEmpty)
            }
        }

        @Test("a mistake is told of the option or of the file that has it, and an option replaces a former name")
        func places() throws {
            let text = #"{"skew": 10, "mvpds": {"MML": ["A"]}}"#
            let wrong = try check(text, ["--keys", place.key, "--skew", "999", "--listen", "x"])
            #expect(wrong.status == 64 && wrong.errors.contains("media-token: --skew is 999; expected"))
            #expect(wrong.errors.contains("media-token: --listen is 'x'"))
            let replaced = try check(text, ["--keys", place.key, "--mvpd", "MML=B"])
            #expect(replaced.status == 0 && replaced.errors.isEmpty, "\(replaced.errors)")
        }

        @Test("a problem hides no other: neither of the command line, nor of the file, nor a clash of two paths")
        func together() throws {
            let routes = [
                #"{"path": "/o", "requestor": "M", "resource": "R", "allow-head": 1}"#,
                #"{"path": "/O", "requestor": "M", "resource": "R"}"#,
            ].joined(separator: ", ")
            let outcome = try check(
                #"{"keys": "\#(place.key)", "replays": "memory", "": 1, "routes": [\#(routes)]}"#,
                ["--workers", "1", "--workers", "2", "--nonsense"])
            #expect(outcome.status == 64)
            for text in [
                "no option '--nonsense'", "--workers is given 2 times", "routes[0].allow-head: is 1",
                "routes[1].path: is '/O', and another route's '/o'", ": '': no such setting",
            ] { #expect(outcome.errors.contains(text), "\(text): \(outcome.errors)") }
            let store = try check("{\"keys\": \"\(place.key)\", \"replays\": \"rediss://h?tls-ca=/nowhere\"}")
            #expect(store.status == 64 && store.errors.contains("replays: /nowhere: cannot be opened"), "\(store)")
            let both = try Program.mediaToken.run(["serve", "--print=start", "--check"])
            #expect(both.status == 64 && both.output.isEmpty)
        }

        @Test("a proxy's file is refused for a path that could be read as part of it")
        func proxyFilePath() throws {
            let route = #"{"path": "/fox", "requestor": "MML", "resource": "TNT"}"#
            func printed(_ path: String) throws -> Program.Outcome {
                let dialects = try DialectTests.ofPage().replacing("\"/fox/", with: "\"\(path)/")
                let file = try place.directory.write(
                    #"{"routes": [\#(route)], "dialects": \#(dialects)}"#, to: "gate.json")
                return try Program.mediaToken.run(["serve", "--config", file, "--keys", place.key, "--print=nginx"])
            }
            #expect(try printed("/fox").output.contains("/fox/token"))
            for path in ["/{gate}", "/a;b", "/a|b", "/$a"] {
                let outcome = try printed(path)
                #expect(outcome.status == 2 && outcome.output.isEmpty, "\(outcome.output)")
                #expect(outcome.errors.contains("the dialect's path '\(path)/"), "\(outcome.errors)")
            }
        }

        @Test(
            "Caddy takes the file for several hosts, and each proxy's tells the origin the host that the gate went by")
        func proxyFileHosts() throws {
            let routes = ["a", "b"].map {
                #"{"hosts": ["\#($0).example"], "path": "/live", "requestor": "MML", "resource": "TNT"}"#
            }
            let file = try place.directory.write(
                #"{"routes": [\#(routes.joined(separator: ", "))]}"#, to: "gate.json")
            func printed(_ proxy: String) throws -> String {
                try Program.mediaToken.succeed(["serve", "--config", file, "--keys", place.key, "--print=\(proxy)"])
            }
            let caddy = try printed("caddy")
            #expect(caddy.contains("http://a.example:80, http://b.example:80 {"))
            #expect(caddy.contains("https://a.example:443, https://b.example:443 {"))
            let adapted = try place.directory.write(caddy, to: "Caddyfile")
            try Program("caddy").succeed(["adapt", "--adapter", "caddyfile", "--config", adapted])
            #expect(try printed("nginx").contains("proxy_pass http://origin;\n        proxy_set_header Host $host;"))
        }

        @Test(
            "the file to start with is right as it stands, has every setting, and each comment is a setting without its slashes"
        )
        func start() throws {
            let folder = place.directory.path
            let text = try Program.mediaToken.succeed(["serve", "--print=start"])
                .replacing("/etc/media-token/keys", with: place.key).replacing("/var/lib/media-token", with: folder)
            let checked = try check(text)
            #expect(checked.status == 0 && checked.errors.isEmpty, "\(checked.errors)")
            let page = try Program.mediaToken.succeed(["serve", "--print=page"]).split(separator: "### A route")[0]
            let names = page.matches(of: /^\| `([a-z-]+)`/.anchorsMatchLineEndings()).map { String($0.1) }
            let settings = text.matches(
                of: /^  (?:\/\/ )?"([a-z-]+)": .*(?:\n  \/\/   .*|\n  \/\/ [\]}],)*/.anchorsMatchLineEndings())
            #expect(Set(settings.map { String($0.1) }) == Set(names) && names.count > 30)
            let route = text.replacing("    // {\"path\"", with: "    {\"path\"")
            #expect(route != text)
            #expect(try check(route).status == 0)
            for setting in settings where setting.0.hasPrefix("  //") {
                let bare = setting.0.replacing("  // ", with: "  ")
                let errors = try check(text.replacing(setting.0, with: bare)).errors
                // A setting that needs another one is refused by its name, not for the syntax of the file.
                for line in errors.split(separator: "\n") {
                    #expect(
                        line.contains(/gate.json:(?:[0-9]+:[0-9]+:)? [a-z-]+[:.\[]/), "\(setting.1): \(line)")
                }
            }
        }

        @Test("a comment is a whole line, and a mistake below it has its line and column")
        func comments() throws {
            func errors(_ text: String) throws -> String { try check(text).errors }
            let keys = "\"keys\": [\"\(place.key)\"], \"replays\": \"memory\""
            #expect(try errors("// é\r\n{\n\t//\n \(keys)}\n  // end") == "")
            #expect(try errors("// é\n{ // no\n\(keys)}").contains("gate.json:2:3: expected"))
            #expect(try errors("{\n// \"a\n\(keys),\n  1}").contains("gate.json:4:3: expected"))
            // Some editors would show the rest as part of the comment, and others as a setting.
            #expect(
                try errors("{\(keys),\n// note\r\"workers\": 99999}").contains(
                    "gate.json:2: a carriage return without a line feed"))
            // A value ends on its line, so slashes in it begin no line.
            #expect(try errors("{\(keys), \"token-header\": \"\n//\"}").contains("gate.json:2:"))
        }

        @Test("the example with every setting starts a gate")
        func example() throws {
            let folder = place.directory.path
            let ports = try FreePort.take(3)
            try writeFiles(of: folder)
            let text = try Program.mediaToken.succeed(["serve", "--print=example"])
                .replacing("/etc/media-token", with: folder).replacing("/var/lib/media-token", with: folder)
                .replacing("127.0.0.1:8080", with: "127.0.0.1:\(ports[0])")
                .replacing("127.0.0.1:8081", with: "127.0.0.1:\(ports[1])")
                .replacing("127.0.0.1:8443", with: "127.0.0.1:\(ports[2])")
            let checked = try check(text)
            #expect(checked.status == 0, "\(checked.errors)")
            let gate = try Daemon(Program.mediaToken.executable, ["serve", "--config", file], log: folder + "/log")
            try gate.wait { try gate.printed().contains("administered on") }
            let alive = try GateProcess.fetch("http://127.0.0.1:\(ports[1])/healthz")
            let open = try GateProcess.fetch(
                "http://127.0.0.1:\(ports[0])/v1/authz/forward-auth",
                ["-H", "X-Forwarded-Uri: /trailers/1", "-H", "X-Forwarded-Host: stream.example"])
            #expect(alive.code == "200" && open.code == "200")
            // What a reload cannot change is the same in the file, so nothing is said to wait.
            gate.signal(SIGHUP)
            try gate.wait { try gate.printed().contains("reloaded: 1 key, 5 routes") }
            #expect(try !gate.printed().contains("after a restart"))
        }

        /// Writes the files that the example names.
        private func writeFiles(of folder: String) throws {
            try FileManager.default.createDirectory(atPath: folder + "/keys", withIntermediateDirectories: false)
            try FileManager.default.copyItem(atPath: place.key, toPath: folder + "/keys/adobe.pem")
            let authority = try TestAuthority()
            let certificate = try authority.certificate("gate")
            for (from, to) in [
                (certificate.file, "tls.pem"), (certificate.key, "tls.key"), (authority.file, "clients.pem"),
            ] { try FileManager.default.copyItem(atPath: from, toPath: "\(folder)/\(to)") }
            for (name, digits) in [("akamai", "0f"), ("cat", "0f"), ("cat-old", "1f")] {
                _ = try place.directory.write(String(repeating: digits, count: 32), to: name + ".key")
            }
            for name in ["secure-link.key", "salt-file", "keystore-password", "viewer.key"] {
                _ = try place.directory.write("a secret of some length, for example", to: name)
            }
            try Program("openssl").succeed(["genrsa", "-out", folder + "/cloudfront.key", "2048"])
        }

        @Test("the schema accepts the example, and refuses each fault")
        func schema() throws {
            let schema = try place.directory.write(
                try Program.mediaToken.succeed(["serve", "--print=schema"]), to: "schema.json")
            func isAccepted(_ instance: String) throws -> Bool {
                let file = try place.directory.write(instance, to: "instance.json")
                let check = """
                    import json, sys, jsonschema
                    schema = json.load(open(sys.argv[1]))
                    jsonschema.Draft202012Validator.check_schema(schema)
                    sys.exit(1 if list(jsonschema.Draft202012Validator(schema).iter_errors(json.load(open(sys.argv[2])))) else 0)
                    """
                let outcome = try Program(".build/python/bin/python").run(["-c", check, schema, file])
                #expect(outcome.errors.isEmpty, "\(outcome.errors)")
                return outcome.status == 0
            }
            #expect(try isAccepted(Program.mediaToken.succeed(["serve", "--print=example"])))
            let keys = #""keys": "adobe.pem""#
            #expect(
                try isAccepted("{\(keys), \"mvpd\": [\"MML=A\"], \"admin\": [], \"$schema\": \"gate.schema.json\"}"))
            // A schema cannot know which files there are.
            for (fault, _) in Self.faults.dropLast() {
                #expect(try !isAccepted("{\(keys), \(fault)}"), "\(fault)")
            }
            // Nor does it know which delivery a kind of grant has.
            let routes =
                Self.faultyRoutes.dropLast().map(\.0) + [
                    #"{"path": "/live", "requestor": "MML"}"#, #"{"path": "/a/../b", "open": true}"#,
                    #"{"path": "/a", "requestor": "M", "resource": "T", "grant": {"kind": "cat"}}"#,
                    #"{"path": "/a", "requestor": "M", "resource": "T", "grant": {"kind": "akamai", "key-file": ["a", "b"]}}"#,
                    #"{"path": "/a", "requestor": "M", "resource": "T", "grant": {"kind": "cat", "key-file": "a", "salt-file": "b"}}"#,
                ]
            for route in routes { #expect(try !isAccepted("{\(keys), \"routes\": [\(route)]}"), "\(route)") }
            #expect(try !isAccepted("{}"), "no key")
        }
    }
}
