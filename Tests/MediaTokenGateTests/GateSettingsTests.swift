import Basics
import EventLoops
import HTTP
import MediaToken
import Testing

@testable import MediaTokenGate

@Suite("Settings of the gate")
struct GateSettingsTests {
    @Test("every problem is found at once, each with its place")
    func problems() throws {
        let reader = try GateSettingsReader(
            reading:
                """
                {"listen": ["nowhere", "127.0.0.1:80"], "workers": 0, "skew": 3.5, "replays": 7, "colour": "red", "mvpd": {"A": 1},
                 "routes": [{"path": "/a/../b", "open": true}, {"path": "/c"}, {"path": "/d", "open": true, "resource": "x"},
                            {"path": "/e", "requestor": "A", "resource": ["T", 1]}, 5, {"path": "/f", "open": false, "x": 1}]}
                """)
        let expected = [
            "listen[0]: is 'nowhere'", "workers: is 0; expected a whole number from 1", "skew: is 3.5",
            "replays: is 7",
            "colour: no such setting", "mvpd.A: is 1;", "keys: is missing", "routes[0].path: is '/a/../b'",
            "routes[1].requestor: is missing", "routes[1].resource: is missing",
            "routes[2].resource: is given, and the route is open",
            "routes[3].resource: is an array; expected a string or an array of strings", "routes[4]: is 5;",
            "routes[5].requestor: is missing",
            "routes[5].x: no such setting",
        ]
        for text in expected {
            #expect(reader.lines.contains { $0.hasPrefix(text) }, "\(text) is not among \(reader.lines)")
        }
    }

    @Test("what is right is taken as it stands")
    func right() throws {
        let reader = try GateSettingsReader(
            reading:
                """
                {"listen": "unix:/run/gate", "admin": [], "keys": ["Keys"], "workers": 4, "skew": 10, "token-cookie": "",
                 "token-bearer": false, "mvpd": {"MML": ["A", "B"]}, "max-body-bytes": 4096, "max-unfinished-bytes": 17179869184,
                 "routes": [{"path": "/live", "requestor": ["MML", "X"], "resource": "TNT", "canonical-resource": true}]}
                """)
        #expect(reader.problems.isEmpty)
        let settings = reader.settings
        #expect(
            settings.listen == [HTTPListener(.unix("/run/gate"))] && settings.admin.isEmpty && settings.workers == 4)
        #expect(settings.sources.cookie == nil && settings.sources.bearer == false)
        #expect(settings.mvpds == ["MML": ["A", "B"]] && settings.limits.bodyBytes == 4096)
        #expect(settings.limits.unfinishedBytes == 1 << 34)
        #expect(settings.clockSkew == .seconds(10) && settings.routes.count == 1)
    }

    @Test("what would refuse everybody, or could be nothing, is told")
    func useless() throws {
        for (json, problem) in [
            (#""listen": []"#, "listen: names no address"),
            (#""listen": ":80", "admin": "0.0.0.0:80""#, "admin: has 0.0.0.0:80, which is in use"),
            (#""listen": ["127.0.0.1:80", "127.0.0.1:80"]"#, "listen: has 127.0.0.1:80, which is in use"),
            (#""listen": "localhost:80""#, "listen: is 'localhost:80'"),
            ("\"listen\": \"unix:/\(String(repeating: "x", count: 120))\"", "listen: is 'unix:/xxx"),
            (#""replays": "nonsense:secret""#, "replays: no replay store of the kind 'nonsense'"),
            (
                #""replays": "redis+sentinel://:secret@host/name""#,
                "replays: no replay store of the kind 'redis+sentinel'; name the primary that the Sentinel watches"
            ),
            (#""replays": "redis://""#, "replays: the URL of the redis store"),
            (#""max-unfinished-bytes": 1048575"#, "max-unfinished-bytes: is 1048575; expected a whole number from"),
            (#""max-unfinished-bytes": 17179869185"#, "max-unfinished-bytes: is 17179869185; expected"),
            (#""max-unfinished-bytes": 2359295"#, "max-unfinished-bytes: is 2359295; expected at least 2359296"),
            (
                #""workers": 1, "max-body-bytes": 16777216, "max-unfinished-bytes": 2359296"#,
                "max-unfinished-bytes: is 2359296; expected at least 67239936"
            ),
            (#""token-header": "a b""#, "token-header: is 'a b'"),
            (#""token-cookie": "a=b""#, "token-cookie: is 'a=b'"),
            (#""mvpd": {"MML": []}"#, "mvpd.MML: is an empty list"),
            (#""routes": [{"path": "/a", "requestor": "", "resource": "T"}]"#, "routes[0].requestor: is empty"),
            (#""routes": [{"path": "/a", "requestor": "M", "resource": []}]"#, "routes[0].resource: is empty"),
            (
                #""routes": [{"path": "/watch?free=1", "open": true}]"#,
                "routes[0].path: is '/watch?free=1'; the path has a query"
            ),
        ] {
            let problems = try GateSettingsReader(reading: "{\"keys\": \"Keys\", \(json)}").lines
            #expect(problems.count == 1 && problems[0].hasPrefix(problem), "\(problems)")
        }
    }

    @Test("two routes that a server might take for one are refused")
    func alike() throws {
        for (first, second, isRefused) in [
            ("/a/live", "/a/live", true), ("/a/live", "/a/live/", true), ("/a/live", "/a/LIVE", true),
            ("/live", "/LIVE/free", true), ("/LIVE/free", "/live", true), ("/live", "/live/FREE", false),
            ("/sport", "/%C5%BFport", true), ("/%CF%82", "/%CF%83/x", true),
            ("/a/live", "/a/live.", true), ("/a/live", "/a/live;x", true), ("/caf%C3%A9", "/cafe%CC%81", true),
            ("/%C3%A9", "/%C3%89", true), ("/K", "/%E2%84%AA", true), ("/a%20b", "/a+b", true),
            ("/a/live", "/a/lively", false), ("/a/live", "/a", false), ("/f%C3%BAtbol", "/tenis", false),
        ] {
            let routes = [first, second].map { #"{"path": "\#($0)", "open": true}"# }.joined(separator: ",")
            let problems = try GateSettingsReader(reading: #"{"keys": "Keys", "routes": [\#(routes)]}"#).lines
            #expect(problems.isEmpty != isRefused && problems.count < 2, "\(first), \(second): \(problems)")
            #expect(problems.allSatisfy { $0.hasPrefix("routes[1].path: is ") }, "\(problems)")
        }
    }

    @Test("what TLS needs is there, or is told")
    func tls() throws {
        let tls = #""listen": "tls:systemd", "tls-certificate": "c", "tls-key": "k""#
        for (json, problem) in [
            (#""listen": "tls:127.0.0.1:443""#, "tls-certificate: is missing; expected one, and tls-key"),
            (#""admin": "tls:systemd:x""#, "tls-certificate: is missing; expected one, and tls-key"),
            (#""tls-key": "k""#, "tls-certificate: is missing; expected one for tls-key"),
            (#""tls-certificate": "c""#, "tls-key: is missing; expected the private key"),
            (#""tls-client-ca": "a""#, "tls-client-ca: is given without"),
            (#""tls-client-name": "a""#, "tls-client-name: is given without tls-client-ca"),
            (#""tls-client-ca": "a", "tls-client-name": [], \#(tls)"#, "tls-client-name: names no client"),
            (#""tls-client-ca": "a", "tls-client-name": "", \#(tls)"#, "tls-client-name: is ''"),
            (#""tls-client-ca": "a", "tls-client-name": "*.a", \#(tls)"#, "tls-client-name: is '*.a'"),
            (#""tls-client-ca": "a", "tls-client-name": ["a", "b*"], \#(tls)"#, "tls-client-name[1]: is 'b*'"),
            (#""tls-client-ca": "a", "tls-client-name": ".a", \#(tls)"#, "tls-client-name: is '.a'"),
            (#""tls-client-ca": "a", "tls-client-name": "a\u0001b", \#(tls)"#, "tls-client-name: is 'a"),
            (#""unix-mode": "668""#, "unix-mode: is '668'; expected permissions"),
            (#""tls-certificate": "c", "tls-key": "k""#, "tls-certificate: is given, and no listener speaks TLS"),
        ] {
            let problems = try GateSettingsReader(reading: "{\"keys\": \"Keys\", \(json)}").lines
            #expect(problems.count == 1 && problems[0].hasPrefix(problem), "\(problems)")
        }
        let right = try GateSettingsReader(
            reading:
                #"{"keys": "k", "listen": ["tls:[::1]:443", "tls:systemd"], "tls-certificate": "c", "tls-key": "k", "unix-mode": "600"}"#
        )
        #expect(right.problems.isEmpty && right.settings.tls == TLSServer.Files(certificate: "c", key: "k"))
        // JSON cannot write it here, but somebody else may ask.
        #expect(!TLSServer.Files.isClientName("a\0b") && !TLSServer.Files.isClientName("a\0"))
        let named = try GateSettingsReader(
            reading:
                #"{"keys": "k", \#(tls), "tls-client-ca": "a", "tls-client-name": ["proxy.example", "Proxy Two"]}"#)
        #expect(named.problems.isEmpty && named.settings.tls?.clientNames == ["proxy.example", "Proxy Two"])
        let places = [
            HTTPListener(.tcp(host: "::1", port: 443), isTLS: true), HTTPListener(.systemd(name: nil), isTLS: true),
        ]
        #expect(right.settings.listen == places && right.settings.unixMode == 0o600)
        #expect(right.settings.listen.map(\.description) == ["tls:[::1]:443", "tls:systemd"])
    }
}
