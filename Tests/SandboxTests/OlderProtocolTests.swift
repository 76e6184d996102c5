import Basics
import Foundation
import MediaToken
import MediaTokenTesting
import Sandbox
import Testing
import TestSupport
import TokenCrypto

@Suite("the sandbox answers the older protocols")
struct OlderProtocolTests {
    /// A client that has logged in, and its AuthN token.
    private func session(_ device: String = "device-1") throws -> (SandboxClient, authentication: String) {
        let client = try SandboxClient()
        client.logIn()
        let answer = client.call("/adobe-services/session", form: "_method=GET&requestor_id=MML&device_id=\(device)")
        return (client, try token(answer, "authnToken"))
    }

    private func token(_ answer: SandboxClient.Answer, _ element: String) throws -> String {
        let match = try #require(
            answer.text.firstMatch(of: Regex("<\(element)>(.*)</\(element)>").dotMatchesNewlines()))
        let text = String(try #require(match.output[1].substring))
        return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
    }

    private func form(_ fields: [String: String]) -> String {
        fields.map { "\($0)=\($1.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")" }.joined(
            separator: "&")
    }

    private func authorize(
        _ client: SandboxClient, _ token: String, device: String = "device-1", _ resource: String = "TNT"
    )
        -> SandboxClient.Answer
    {
        client.call(
            "/adobe-services/authorize",
            form: form([
                "requestor_id": "MML", "resource_id": resource, "authentication_token": token, "device_id": device,
                "mso_id": "Sandbox", "userMeta": "1",
            ]))
    }

    private func play(_ client: SandboxClient, _ token: String, device: String = "device-1") -> SandboxClient.Answer {
        client.call(
            "/adobe-services/shortAuthorize",
            form: form(["requestor_id": "MML", "authz_token": token, "device_id": device, "session_guid": "x"]))
    }

    @Test("a device exchanges its AuthN token for an AuthZ token, and that for a media token")
    func exchange() throws {
        let (client, authentication) = try session()
        let authorization = try token(authorize(client, authentication), "authzToken")
        let played = play(client, authorization)
        #expect(played.status == 200 && played.text.hasPrefix("<signatureInfo>"))
        #expect(try client.verify(played.text).code == .validToken)
        for other in [authentication, authorization] { #expect(try client.verify(other).code == .invalidTokenFormat) }
    }

    @Test("a token of another device is refused")
    func deviceBinding() throws {
        let (client, authentication) = try session()
        #expect(authorize(client, authentication, device: "device-2").status == 401)
        let authorization = try token(authorize(client, authentication), "authzToken")
        #expect(play(client, authorization, device: "device-2").status == 401)
        #expect(play(client, authentication).status == 401)
        #expect(play(client, authorization.replacing("TNT", with: "HBO")).status == 401)
        client.now = client.now.advanced(byMilliseconds: 86_400_001)
        #expect(play(client, authorization).status == 401)
    }

    @Test("an AuthZ token plays only by the login with its MVPD, whatever other AuthN token comes along")
    func otherMVPD() throws {
        let (client, authentication) = try session()
        let authorization = try token(authorize(client, authentication), "authzToken")
        client.call("/api/v2/MML/logout/Sandbox")
        let system = "requestor_id=MML_Apple&device_id=device-1&system_provider=SandboxApple"
        let other = try token(client.call("/adobe-services/session", form: system), "authnToken")
        let fields = ["requestor_id": "MML", "device_id": "device-1", "authz_token": authorization]
        let refused = client.call(
            "/adobe-services/shortAuthorize", form: form(fields.merging(["authentication_token": other]) { $1 }))
        #expect(refused.status == 401 && refused.text.contains("the login is with SandboxApple"))
    }

    @Test("an AuthN token is worth nothing again when somebody else logs in after its login has ended")
    func laterLogin() throws {
        let (client, authentication) = try session()
        client.call("/api/v2/MML/logout/Sandbox")
        client.now = client.now.advanced(byMilliseconds: 2000)
        client.logIn()
        let refused = authorize(client, authentication)
        #expect(refused.status == 401 && refused.text.contains("there is another one"))
    }

    @Test("the code of a second screen is worth nothing to another device, and before the login")
    func registrationCode() throws {
        let client = try SandboxClient()
        client.headers = [("Accept", "application/json")]
        let made = client.call("/reggie/v1/MML/regcode", form: "device_id=device-2&mso_id=Sandbox")
        let code = try #require(made.json["code"] as? String)
        let ask = { (device: String) in
            client.call("/adobe-services/session", form: "requestor_id=MML&device_id=\(device)&reg_code=\(code)").status
        }
        #expect(ask("device-2") == 404)
        client.call("/mvpd/login", form: "provider=MML&code=\(code)&user=ann&password=x")
        client.logIn()
        #expect(ask("device-1") == 400)
        #expect(ask("device-2") == 200)
    }

    @Test(
        "a login counts for other programmers too, unless its MVPD wants one for each; passive authentication makes one"
    )
    func otherProgrammer() throws {
        let client = try SandboxClient()
        func login(_ mvpd: String) throws -> String {
            let path = "/adobe-services/authenticate/saml?requestor_id=MML&device_id=device-1&mso_id=\(mvpd)"
            let page = try #require(client.call(path).header("Location"))
            let code = try #require(page.split(separator: "code=").last)
            client.call("/mvpd/login", form: "provider=MML&code=\(code)&user=ann&password=x")
            let asked = form(["requestor_id": "MML", "device_id": "device-1", "mso_id": mvpd])
            return try token(client.call("/adobe-services/session", form: asked), "authnToken")
        }
        var requestor = "TBS"
        func ask(_ path: String, _ token: String) -> SandboxClient.Answer {
            let fields = ["requestor_id": requestor, "device_id": "device-1", "authentication_token": token]
            return client.call("/adobe-services/\(path)", form: form(fields.merging(["resource_id": "TBS"]) { $1 }))
        }
        #expect(ask("authorize", try login("Sandbox")).status == 200)
        requestor = "TBS_Two"
        #expect(ask("authorize", try login("Sandbox")).text.contains("none of the MVPDs of TBS_Two"))
        requestor = "TBS"
        let single = try login("SandboxPerRequestor")
        #expect(ask("authorize", single).status == 401)
        let passive = try token(ask("session", single), "authnToken")
        #expect(ask("authorize", passive).status == 200)
    }

    @Test("cards deny here too, and a login that has ended authorizes nothing")
    func denial() throws {
        let (client, authentication) = try session()
        let denied = authorize(client, authentication, "TNT:denied-hostile")
        #expect(denied.status == 403 && denied.text.contains("<error>") && !denied.text.contains("<script>"))
        let authorization = try token(authorize(client, authentication), "authzToken")
        let disturbed = try token(authorize(client, authentication, "TNT:unavailable"), "authzToken")
        #expect(play(client, disturbed).status == 503)
        client.call("/api/v2/MML/logout/Sandbox")
        #expect(authorize(client, authentication).status == 401)
        #expect(play(client, authorization).status == 401)
    }

    @Test("a browser that logs in by the older address is known by its cookie")
    func cookie() throws {
        let client = try SandboxClient()
        let page = client.call(
            "/adobe-services/authenticate/saml?requestor_id=MML&mso_id=Sandbox&redirect_url=https://x.example")
        let login = try #require(page.header("Location"))
        let code = try #require(login.split(separator: "code=").last)
        client.call("/mvpd/login", form: "provider=MML&code=\(code)&user=ann&password=x")
        #expect(client.call("/adobe-services/session", form: "requestor_id=MML").status == 400)
        client.headers = [("Cookie", String(try #require(page.header("Set-Cookie")?.split(separator: ";").first)))]
        #expect(client.call("/adobe-services/session", form: "requestor_id=MML").text.contains("<authnToken>"))
    }

    @Test("REST v1's media token comes as XML or JSON", arguments: ["application/json", "application/xml"])
    func mediaToken(accept: String) throws {
        let client = try SandboxClient()
        let path = "/api/v1/mediatoken?requestor=MML&deviceId=device-1&resource=TNT"
        client.headers = [("Accept", accept)]
        let refusal = client.call(path)
        #expect(refusal.status == 403 && refusal.text.contains("nobody has logged in"))
        #expect((refusal.json["status"] as? Int == 403) == (accept == "application/json"))
        #expect(client.call(path, method: "DELETE").status == 405)
        client.logIn()
        let answer = client.call(path)
        #expect(answer.text.hasPrefix(accept == "application/json" ? "{" : "<?xml"))
        #expect(try client.verify(answer.text).code == .validToken)
    }
}
