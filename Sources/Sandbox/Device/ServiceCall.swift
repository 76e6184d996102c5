internal import Basics
internal import HTTP
internal import MediaToken

/// A call that a device makes at Adobe Pass: a request of its SDK, or a page of its app's web view.
package struct ServiceCall: Sendable {
    /// What a call is for.
    package enum Purpose: String, Sendable {
        case configure, login, authorize, logout
    }

    package let purpose: Purpose
    /// The path and the query.
    package let target: String
    /// The fields of a form, which is posted; `nil` for a GET.
    package let form: [(name: String, value: String?)]?
    package let visitorID: String?

    /// The form as it is sent.
    package var body: String? { form.map(FormFields.encode) }

    /// The header fields of the call.
    package var headers: [(name: String, value: String)] {
        [("Accept", "application/json, text/html")] + (visitorID.map { [("AP-Visitor-Identifier", $0.visible)] } ?? [])
            + (form == nil ? [] : [("Content-Type", "application/x-www-form-urlencoded")])
    }

    /// The call for people; tokens, passwords and secrets are not shown.
    package var text: String {
        let fields = (form ?? []).compactMap { name, value -> String? in
            let isSecret = name.hasSuffix("token") || ["password", "secret"].contains(name)
            return value.map { "\(name)=\(isSecret ? "…" : $0)" }
        }
        return ([form == nil ? "GET" : "POST", target] + fields).joined(separator: " ")
    }

    init(
        _ purpose: Purpose, _ target: String, form: [(name: String, value: String?)]? = nil, visitorID: String? = nil
    ) {
        (self.purpose, self.target, self.form, self.visitorID) = (purpose, target, form, visitorID)
    }
}

extension DeviceRequest {
    /// The call that asks for it.
    func call(of device: Device) -> ServiceCall {
        func call(
            _ purpose: ServiceCall.Purpose, _ path: String, _ requestor: RequestorID, _ fields: [(String, String?)] = []
        ) -> ServiceCall {
            ServiceCall(
                purpose, "/adobe-services/\(path)",
                form: [("requestor_id", requestor.text), ("device_id", device.id)] + fields, visitorID: device.visitorID
            )
        }
        switch self {
        case .configuration(let requestor, _, let credentials):
            let query = FormFields.encode([("device_id", device.id), ("public_key", credentials?.publicKey)])
            return ServiceCall(
                .configure, "/adobe-services/config/\(PercentEncoding.encode(requestor.text))?\(query)",
                visitorID: device.visitorID)
        case .passiveAuthentication(let requestor, let other):
            return call(.login, "session", requestor, [("authentication_token", other.text)])
        case .exchange(_, let requestor, let mvpd): return call(.login, "session", requestor, [("mso_id", mvpd.text)])
        case .systemExchange(let requestor, let mvpd):
            return call(.login, "session", requestor, [("system_provider", mvpd.text)])
        case .registrationCode(let requestor, let mvpd):
            return ServiceCall(
                .login, "/reggie/v1/\(PercentEncoding.encode(requestor.text))/regcode",
                form: [("device_id", device.id), ("mso_id", mvpd.text)], visitorID: device.visitorID)
        case .poll(let code, let requestor): return call(.login, "session", requestor, [("reg_code", code)])
        case .preauthorization(let resources, let requestor, let login):
            return call(
                .authorize, "preauthorize", requestor,
                [("authentication_token", login.text)] + resources.map { ("resource_id", $0.text) })
        case .authorization(let resource, let requestor, let login):
            return call(
                .authorize, "authorize", requestor,
                [("authentication_token", login.text), ("resource_id", resource.text)])
        case .mediaToken(let token, let login):
            return call(
                .authorize, "shortAuthorize", token.requestor,
                [("authz_token", token.text), ("authentication_token", login.text)])
        case .logout(let requestor, let mvpd): return call(.logout, "logout", requestor, [("mso_id", mvpd?.text)])
        }
    }

    /// What a reply to the call means.
    func answer(_ reply: HTTPClient.Answer?) -> DeviceAnswer {
        guard let reply else { return .failure(DeviceFailure(.other, "no answer: the service gave none")) }
        let object = try? StrictJSON.readObject(reply.body[...], valueLimit: 4096)
        guard reply.status == 200 else {
            if case .poll = self, reply.status == 404 { return .pending }
            return .failure(
                DeviceFailure(
                    status: reply.status, action: object?.string("action"),
                    code: object?.string("code") ?? "HTTP \(reply.status)",
                    object?.string("details") ?? object?.string("message") ?? "the service refused it"))
        }
        return object.flatMap(answer)
            ?? .failure(DeviceFailure(.other, "unreadable: the service's answer is not what was asked for"))
    }

    private func answer(_ object: JSONObject) -> DeviceAnswer? {
        switch self {
        case .configuration(let requestor, _, _):
            let listed = (try? object.object("requestor")?.objects("mvpds")) ?? nil
            return listed.map {
                .configuration(DeviceConfiguration(requestor, providers: $0.compactMap(DeviceProvider.init)))
            }
        case .passiveAuthentication, .exchange, .systemExchange, .poll:
            return AuthenticationToken(object).map { .authentication($0) }
        case .registrationCode:
            guard let code = object.string("code"), let url = object.string("url") else { return nil }
            return .registrationCode(code, url: url)
        case .preauthorization:
            guard case .list(let items)? = object.members["resources"] else { return nil }
            return .preauthorized(
                items.compactMap { if case .text(let text) = $0 { ResourceID(text) } else { nil } })
        case .authorization: return AuthorizationToken(object).map { .authorization($0) }
        case .mediaToken: return object.string("mediaToken").map { .mediaToken($0) }
        case .logout: return .loggedOut
        }
    }
}
