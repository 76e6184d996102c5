import Basics
import Foundation
import HTTP
import MediaToken
import Sandbox
import Testing

@Suite("the sandbox answers REST v2 as Adobe's documents say")
struct ServiceTests {
    @Test("a viewer logs in, plays, and logs out")
    func play() throws {
        let client = try SandboxClient()
        #expect(client.call("/api/v2/MML/configuration").json["requestor"] != nil)
        #expect(client.call("//api/v2/MML/configuration").status == 200)
        #expect(client.authorize().code == "authenticated_profile_missing")
        let login = client.logIn()
        #expect(login.status == 302 && login.header("Location") == "https://x.example/done")
        #expect(client.call("/api/v2/MML/profiles").text("profiles", "Sandbox", "type") == "regular")
        #expect(client.authorize(["TNT"], "preauthorize").decisions.first?["token"] == nil)
        let decision = try #require(client.authorize().decisions.first)
        #expect(decision["authorized"] as? Bool == true && decision["source"] as? String == "mvpd")
        #expect(client.authorize().token != nil)
        let logout = client.call("/api/v2/MML/logout/Sandbox?redirectUrl=https://x.example/bye")
        #expect(logout.text("logouts", "Sandbox", "actionName") == "logout")
        let url = try #require(logout.text("logouts", "Sandbox", "url"))
        #expect(client.call(url).header("Location") == "https://x.example/bye")
        #expect(client.authorize().code == "authenticated_profile_missing")
        #expect(client.call("/api/v2/MML/logout/Sandbox").text("logouts", "Sandbox", "actionName") == "invalid")
    }

    @Test("a test gets a token by one call, for what it names, of the age, the form and the card that it names")
    func tokenForTest() throws {
        let client = try SandboxClient()
        client.bearer = nil
        func token(_ form: String) throws -> String {
            let answer = client.call("/sandbox/token", form: form)
            #expect(answer.status == 200 && !answer.text.isEmpty)
            return answer.text
        }
        let plain = try token("requestor=MML&resource=TNT")
        #expect(try plain.hasPrefix("<signatureInfo>") && client.verify(plain).code == .validToken)
        #expect(try token("") != token(""))
        #expect(
            try client.verify(try token("form=base64&resource=<rss>%26</rss>"), for: "<rss>&</rss>").code == .validToken
        )
        #expect(try client.verify(try token("requestor=OTHER")).code == .invalidRequestorID)
        #expect(try client.verify(try token("age=1000")).code == .tokenExpired)
        #expect(try client.verify(try token("age=-1000")).code == .tokenNotYetValid)
        #expect(try client.verify(try token("mvpd=Sandbox:other-key")).code == .invalidSignature)
        for form in ["age=x", "age=86401", "age=-9223372036854775808", "form=zip"] {
            #expect(client.call("/sandbox/token", form: form).status == 400, "\(form)")
        }
        #expect(client.call("/sandbox/token").status == 404)
    }

    @Test("a living profile needs no login")
    func livingProfile() throws {
        let client = try SandboxClient()
        client.logIn()
        let session = client.call(
            "/api/v2/MML/sessions", form: SandboxClient.session)
        #expect(session.text("actionName") == "authorize" && session.text("reasonType") == "authenticated")
        #expect(session.code == nil)
    }

    @Test("a second screen resumes a session, and the first one polls")
    func secondScreen() throws {
        let client = try SandboxClient()
        let session = client.call("/api/v2/MML/sessions", form: "")
        #expect(session.text("actionName") == "resume")
        let named = client.call("/api/v2/MML/sessions", form: "%6Dvpd=Sandbox&redirect%55rl=app:///back")
        #expect(named.json["missingParameters"] as? [String] == ["domainName"])
        #expect(session.json["missingParameters"] as? [String] == ["mvpd", "domainName", "redirectUrl"])
        let code = try #require(session.code)
        #expect((client.call("/api/v2/MML/profiles/code/\(code)").json["profiles"] as? [String: Any])?.isEmpty == true)
        let retry = client.call("/api/v2/MML/sessions/\(code)", form: "mvpd=Sandbox&domainName=x")
        #expect(retry.text("actionName") == "retry" && retry.json["missingParameters"] as? [String] == ["redirectUrl"])
        let resumed = client.call("/api/v2/MML/sessions/\(code)", form: "redirectUrl=https://x.example")
        #expect(resumed.text("url") == "/api/v2/authenticate/MML/\(code)")
        #expect(client.call("/api/v2/MML/sessions/\(code)").text("existingParameters", "mvpd") == "Sandbox")
        let page = client.call("/api/v2/authenticate/MML/\(code)").header("Location")
        #expect(client.call(try #require(page)).text.contains("<form"))
        client.call("/mvpd/login", form: "provider=MML&code=\(code)&user=ann&password=x")
        #expect(client.call("/api/v2/MML/profiles/code/\(code)").text("profiles", "Sandbox", "issuer") == "Sandbox")
    }

    @Test("the wrong password, and a login that is cancelled, log nobody in")
    func wrongPassword() throws {
        let client = try SandboxClient()
        let code = client.call("/api/v2/MML/sessions", form: SandboxClient.session)
            .code
        let form = "provider=MML&code=\(try #require(code))&user=ann"
        #expect(client.call("/mvpd/login", form: form + "&password=wrong").text.contains("role=\"alert\""))
        #expect(client.call("/mvpd/login", form: form + "&password=x&cancel=yes").status == 302)
        let bare = try #require(client.call("/api/v2/MML/sessions", form: "mvpd=Sandbox").code)
        let cancelled = client.call("/mvpd/login", form: "provider=MML&code=\(bare)&cancel=yes")
        #expect(cancelled.status == 200 && cancelled.text.contains("The login was cancelled."))
        #expect(client.authorize().code == "authenticated_profile_missing")
    }

    @Test("a page of another site logs nobody in")
    func foreignOrigin() throws {
        let client = try SandboxClient()
        let code = try #require(client.call("/api/v2/MML/sessions", form: "mvpd=Sandbox").code)
        let form = "provider=MML&code=\(code)&user=ann&password=x"
        for (origin, status) in [("https://evil.example", 403), ("null", 403), ("https://sandbox.example", 200)] {
            client.headers = [("Host", "sandbox.example"), ("Origin", origin)]
            #expect(client.call("/mvpd/login", form: form).status == status, "\(origin)")
        }
    }

    @Test("after the login, another client that has seen the code cannot change the session")
    func usedSession() throws {
        let client = try SandboxClient()
        let session = client.call(
            "/api/v2/MML/sessions", form: SandboxClient.session)
        let code = try #require(session.code)
        client.call("/mvpd/login", form: "provider=MML&code=\(code)&user=ann&password=x")
        client.device = "device-2"
        client.call("/api/v2/MML/sessions/\(code)", form: "mvpd=SandboxTwo&redirectUrl=https://evil.example")
        let existing = client.call("/api/v2/MML/sessions/\(code)")
        #expect(existing.text("existingParameters", "mvpd") == "Sandbox")
        #expect(existing.text("existingParameters", "redirectUrl") == "https://x.example")
    }

    @Test(
        "errors of REST v2 are JSON, whatever is wrong with the path",
        arguments: [
            ("GET", "/api/v2/MML/configuration?x=%zz", 400, "bad_request"),
            ("GET", "/api/v2/MML/nonsense", 404, "not_found"), ("GET", "/api/v2/MML/profiles/x/y", 404, "not_found"),
            ("POST", "/api/v2//decisions/authorize/Sandbox", 400, "invalid_parameter_service_provider"),
            ("POST", "/api/v2/MML/decisions/authorize/", 400, "invalid_parameter_mvpd"),
            ("GET", "/api/v2/MML/profiles/", 400, "invalid_parameter_mvpd"),
            ("GET", "/api/v2/MML/logout/", 400, "invalid_parameter_mvpd"),
            ("POST", "/api/v2/MML/decisions/x/Sandbox", 404, "not_found"),
            ("DELETE", "/api/v2/MML/configuration", 405, "method_not_allowed"),
        ])
    func errorShape(method: String, path: String, status: Int, code: String) throws {
        let client = try SandboxClient()
        client.headers = [("Origin", "https://app.example")]
        let answer = client.call(path, method: method)
        #expect(answer.header("Access-Control-Allow-Origin") == "https://app.example")
        #expect(answer.status == status && answer.code == code && answer.text("trace") != nil, "\(answer)")
    }

    @Test("what no token can carry is refused, and a device may be any bytes")
    func characters() throws {
        let client = try SandboxClient()
        client.logIn()
        for resource in ["a\u{1}b", "\u{FFFF}"] {
            #expect(client.authorize([resource]).code == "invalid_parameter_resources")
        }
        #expect(client.call("/api/v1/mediatoken?requestor=MML&deviceId=device-1&resource=a%01b").status == 400)
        client.headers = [("Cookie", "sandbox_device=%01")]
        client.device = nil
        #expect(client.call("/adobe-services/session", form: "requestor_id=MML").status == 400)
        for bytes in [Data([0xFF, 0xFE]), Data([1, 2])] {
            client.headers = [("AP-Device-Identifier", "fingerprint \(bytes.base64EncodedString())")]
            #expect(client.call("/api/v2/MML/profiles").status == 200)
        }
    }

    @Test("a path in a log has no code")
    func loggedPath() {
        for (path, logged) in [
            ("/api/v2/MML/sessions/ABC", "/api/v2/MML/sessions/CODE"),
            ("/api/v2/sessions/profiles/cod%65/ABC", "/api/v2/sessions/profiles/code/CODE"),
            ("/api/v2/authenticate/MML/ABC", "/api/v2/authenticate/MML/CODE"),
            ("/api/v2/code/profiles/ABC", "/api/v2/code/profiles/ABC"),
            ("/api/v2/authenticate/%/ABC", "(undecodable)"),
        ] {
            for query in [nil, "a=%"] as [String?] {
                let request = HTTPRequest(method: "GET", path: path, query: query, headers: [], body: [], peer: "")
                #expect(SandboxService.pathWithoutCode(of: request) == logged)
            }
        }
    }

    @Test("texts of thousands of combining characters, which take seconds to compare, are refused")
    func combining() throws {
        let client = try SandboxClient()
        let accents = String(repeating: "\u{301}\u{316}", count: 3000)
        let few = "a" + String(repeating: "\u{301}", count: 30)
        #expect(client.call("/o/client/token", form: "\(accents)=1").code == "bad_request")
        #expect(client.authorize([accents]).code == "invalid_parameter_resources")
        #expect(client.authorize([few]).code == "authenticated_profile_missing")
        client.device = accents
        #expect(client.call("/api/v2/MML/profiles").status == 200)
    }

    @Test("configuration has a slash at its end, or has none, as in Adobe's sample and in its list")
    func configurationWithSlash() throws {
        let client = try SandboxClient()
        let answers = ["", "/"].map { client.call("/api/v2/MML/configuration\($0)") }
        #expect(answers.map(\.status) == [200, 200] && answers[0].text == answers[1].text)
        #expect(client.call("/api/v2/MML/configuration/x").status == 404)
    }

    @Test("no decision counts for longer than the login, or the TempPass, on which it rests")
    func decisionEnds() throws {
        func life(_ client: SandboxClient, _ mvpd: String) throws -> Int64 {
            let decision = try #require(client.authorize(["A"], mvpd: mvpd).decisions.first)
            let end = try #require(decision["notAfter"] as? NSNumber)
            return end.int64Value - client.now.milliseconds
        }
        let client = try SandboxClient { ($0.profileSeconds, $0.temporarySeconds, $0.decisionSeconds) = (100, 50, 60) }
        client.logIn()
        #expect(try life(client, "Sandbox") == 60_000)
        #expect(try life(client, "TempPass") == 50_000)
        client.now = client.now.advanced(byMilliseconds: 45_000)
        #expect(try life(client, "Sandbox") == 55_000)
        #expect(try life(client, "TempPass") == 5000)
    }

    @Test("bearer tokens, codes, logins and decisions end at their time")
    func expiry() throws {
        let client = try SandboxClient {
            ($0.bearerSeconds, $0.sessionSeconds, $0.profileSeconds) = (10, 20, 30)
        }
        client.logIn()
        let code = try #require(client.call("/api/v2/MML/sessions", form: "").code)
        client.now = client.now.advanced(byMilliseconds: 10_000)
        let late = client.call("/api/v2/MML/profiles")
        #expect(late.status == 401 && late.text("action") == "application-registration")
        client.bearer = try client.register()
        #expect(client.call("/api/v2/MML/sessions/\(code)").status == 200)
        client.now = client.now.advanced(byMilliseconds: 10_000)
        client.bearer = try client.register()
        #expect(client.call("/api/v2/MML/sessions/\(code)").code == "invalid_parameter_code")
        #expect(client.authorize().decisions.count == 1)
        client.now = client.now.advanced(byMilliseconds: 10_000)
        client.bearer = try client.register()
        #expect(client.authorize().code == "authenticated_profile_expired")
        #expect(client.call("/api/v2/MML/logout/Sandbox").text("logouts", "Sandbox", "actionName") == "invalid")
    }

    @Test("bearer tokens that were changed or made up are refused")
    func bearer() throws {
        let client = try SandboxClient { $0.bearerSeconds = 10 }
        let parts = try #require(client.bearer).split(separator: ".").map(String.init)
        let later = #"{"exp": 4000000000}"#.data(using: .utf8)?.base64EncodedString().replacing("=", with: "") ?? ""
        let mac = parts[2].hasPrefix("A") ? "B" + parts[2].dropFirst() : "A" + parts[2].dropFirst()
        let forged = [
            "\(parts[0]).\(later).\(parts[2])", "\(parts[0]).\(parts[1]).\(mac)", "\(parts[0]).\(parts[1]).",
            "\(parts[0])..\(parts[1]).\(parts[2])", "a.b.c", "x", "",
        ]
        for token in forged {
            client.bearer = token
            #expect(client.call("/api/v2/MML/configuration").status == 401, "\(token)")
        }
        client.bearer = nil
        #expect(client.call("/api/v2/MML/configuration").status == 401)
        client.bearer = parts.joined(separator: ".")
        #expect(client.call("/api/v2/MML/configuration").status == 200)
    }

    @Test("a first screen finds the login that a second screen did not have to make")
    func secondScreenOfTheLoggedIn() throws {
        let client = try SandboxClient()
        client.logIn()
        let code = try #require(client.call("/api/v2/MML/sessions", form: "").code)
        let resumed = client.call("/api/v2/MML/sessions/\(code)", form: "mvpd=Sandbox")
        #expect(resumed.text("actionName") == "authorize")
        #expect(client.call("/api/v2/MML/profiles/code/\(code)").text("profiles", "Sandbox", "type") == "regular")
    }

    @Test("a code logs one viewer in, and nobody after that")
    func usedCode() throws {
        let client = try SandboxClient()
        let code = try #require(
            client.call("/api/v2/MML/sessions", form: SandboxClient.session).code)
        let form = "provider=MML&code=\(code)&password=x&user="
        #expect(client.call("/mvpd/login", form: form + "ann").status == 302)
        #expect(client.call("/mvpd/login", form: form + "mallory").status == 400)
        #expect(
            client.call("/api/v2/MML/profiles").text("profiles", "Sandbox", "attributes", "userID", "value") == "ann")
    }

    @Test(
        "a redirect URL that is not absolute, or that a browser would run, is refused",
        arguments: [
            "nonsense", "//x.example", "javascript://x", "data://x", "https://a/%0D%0AX-Evil:%201", "https://a/%C3%A9",
            "://", "//evil.example://", "VBScript:x://", "vbscript://x", "file:///etc/passwd", "view-source://x",
            "x%22><script>://a", "https://", "http:///x", "1a://x", "https://a%22",
        ])
    func redirect(url: String) throws {
        let client = try SandboxClient()
        let session = client.call("/api/v2/MML/sessions", form: "mvpd=Sandbox&redirectUrl=\(url)")
        #expect(session.code == "invalid_parameter_redirect_url")
        #expect(client.call("/mvpd/logout?redirect_url=\(url)").status == 400)
    }

    @Test("a call may ask for as many resources as the limit, and not for more")
    func resourceLimit() throws {
        let client = try SandboxClient { $0.resourceLimit = 2 }
        client.logIn()
        for kind in ["authorize", "preauthorize"] {
            #expect(client.authorize(["A", "B"], kind).decisions.count == 2)
            #expect(client.authorize(["A", "B", "C"], kind).code == "too_many_resources")
        }
    }

    @Test("a client that is wrong about its credentials is told which")
    func registration() throws {
        let client = try SandboxClient()
        let error = { (form: String) in client.call("/o/client/token", form: form).text("error") }
        #expect(error("client_id=a") == "invalid_request")
        #expect(error("client_id=a&client_secret=b&grant_type=password") == "unsupported_grant_type")
        #expect(error("client_id=a&client_secret=b&grant_type=client_credentials") == "invalid_client")
        #expect(client.call("/o/client/register", json: "{}").text("error") == "invalid_request")
        let statement = client.call("/o/client/register", json: #"{"software_statement": "a.b"}"#)
        #expect(statement.text("error") == "invalid_software_statement" && statement.status == 400)
    }

    @Test("logins are those of one device at one service provider")
    func places() throws {
        let client = try SandboxClient()
        client.logIn()
        client.device = "device-2"
        #expect(client.authorize().code == "authenticated_profile_missing")
        (client.device, client.provider) = ("device-1", "Other")
        #expect(client.authorize().code == "authenticated_profile_missing")
        client.device = nil
        #expect(client.authorize().code == "invalid_header_device_identifier")
    }

    @Test("a TempPass permits for a time, a promotional one a number of resources too")
    func temporaryAccess() throws {
        let client = try SandboxClient { ($0.temporarySeconds, $0.temporaryResources) = (60, 2) }
        let code = { (answer: SandboxClient.Answer) in
            (answer.decisions.first?["error"] as? [String: Any])?["code"] as? String
        }
        let session = client.call(
            "/api/v2/MML/sessions", form: "mvpd=TempPass_x&domainName=x&redirectUrl=https://x.example")
        #expect(session.text("reasonType") == "temporary")
        #expect(client.authorize(mvpd: "TempPass_x").decisions.first?["source"] as? String == "temppass")
        #expect(client.call("/api/v2/MML/profiles/TempPass_x").text("profiles", "TempPass_x", "type") == "temporary")
        client.now = client.now.advanced(byMilliseconds: 60_000)
        for kind in ["authorize", "preauthorize"] {
            #expect(code(client.authorize(mvpd: "TempPass_x", kind)) == "temporary_access_duration_limit_exceeded")
        }
        #expect(client.call("/api/v2/MML/profiles/TempPass_x").code == "temporary_access_duration_limit_exceeded")
        let promotional = { (resource: String) in code(client.authorize([resource], mvpd: "flexibleTempPass")) }
        let nobody = client.authorize(["A"], mvpd: "flexibleTempPass")
        #expect(nobody.status == 400 && nobody.code == "invalid_header_identity_for_temporary_access")
        #expect(code(client.authorize(["A"], mvpd: "flexibleTempPass", "preauthorize")) == nil)
        client.headers = [("AP-TempPass-Identity", Data("ann@x.example".utf8).base64EncodedString())]
        #expect(["A", "B", "A"].map(promotional) == [nil, nil, nil])
        #expect(promotional("C") == "temporary_access_resources_limit_exceeded")
        let profile = client.call("/api/v2/MML/profiles/flexibleTempPass")
        #expect(profile.code == "temporary_access_resources_limit_exceeded")
    }

    @Test("the throttle answers as in Adobe's example, for each address that a backend names")
    func throttle() throws {
        let client = try SandboxClient { $0.throttles = true }
        client.headers = [("X-Forwarded-For", "198.51.100.1, 10.0.0.1")]
        // Milliseconds since the first request, in the example of the page on the throttling mechanism.
        let allowed: [Int64] = [0, 300, 600, 900, 1200, 1300, 1400, 1500, 1600, 1700, 1800, 2100, 2200]
        for (times, status) in [(allowed, 200), ([2400, 2600, 2800], 429), ([3100], 200), ([3200], 429)] {
            for time in times {
                client.now = SandboxClient.start.advanced(byMilliseconds: time)
                #expect(client.call("/api/v2/MML/configuration").status == status, "after \(time) ms")
            }
        }
        #expect(client.call("/healthz").status == 200)
        #expect(client.call("/adobe-services/session", form: "requestor_id=MML").status != 429)
        client.headers = [("X-Forwarded-For", "198.51.100.2")]
        #expect(client.call("/api/v2/MML/configuration").status == 200)
    }

    @Test(
        "hostile requests get an answer, and no crash",
        arguments: [
            "/", "/api", "/api/v2", "/api/v2/MML", "/api/v2//sessions", "/api/v2/%00/sessions", "/api/v2/%FF/sessions",
            "/api/v2/MML/decisions/x/y", "/api/v2/MML/sessions/../..", "/mvpd/login?code=%3Cscript%3E&provider=x",
            "/api/v2/authenticate/MML/%3Cscript%3E",
            "/o/client/x",
            "/adobe-services/x", "/sandbox/keys/none", "/api/v2/MML/profiles/code/x", "/%", "/?a=%",
        ])
    func hostile(path: String) throws {
        let client = try SandboxClient()
        for method in ["GET", "POST", "PUT", "HEAD", "\u{E9}"] {
            let answer = client.call(path, method: method, json: #"{"resources": [1, null]}"#)
            #expect((200...499).contains(answer.status) && !answer.text.contains("<script>"), "\(method)")
        }
    }

    @Test("the same seed chooses the same codes and identifiers")
    func seed() throws {
        let codes = try [1, 1, 2].map { (seed: UInt64) in
            let client = try SandboxClient { $0.seed = seed }
            return client.call("/api/v2/MML/sessions", form: "").code
        }
        #expect(codes[0] == codes[1] && codes[0] != codes[2])
    }

    @Test("answers are late within the range, and the clock is apart, as asked for")
    func latencyAndClock() throws {
        let client = try SandboxClient { ($0.latencyMilliseconds, $0.clockMilliseconds) = (20...30, -120_000) }
        let delays = (0..<50).map { _ in client.call("/healthz").delay }
        #expect(delays.allSatisfy { (20...30).contains($0) } && Set(delays).count > 1)
        let time = client.call("/api/v2/MML/configuration").json["time"] as? Int64
        #expect(time == client.now.milliseconds - 120_000)
    }
}
