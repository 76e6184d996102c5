internal import Basics
internal import HTTP
internal import TokenCrypto

/// Dynamic client registration (RFC 7591) that keeps no state: client secrets and bearer tokens are message
/// authentication codes of their contents, so the sandbox needs no table of them.
struct Registration: Sendable {
    private let key: HMACKey
    private let lifetimeSeconds: Int64

    init(secret: [UInt8], lifetimeSeconds: Int64) throws(CryptoError) {
        (key, self.lifetimeSeconds) = (try HMACKey(.sha256, key: secret), lifetimeSeconds)
    }

    /// Answers `POST /o/client/register`.
    ///
    /// Any software statement in the form of a JWT is approved, so that an app keeps the statement that it has from
    /// Adobe.
    func register(_ call: PassCall, _ state: inout SandboxState) -> SandboxAnswer {
        guard let body = try? StrictJSON.readObject(call.request.body),
            let statement = try? body.text("software_statement"), let redirect = try? body.text("redirect_uri") ?? ""
        else { return Self.refuse("invalid_request") }
        guard statement.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).count == 3 else {
            return Self.refuse("invalid_software_statement")
        }
        let client = state.random.identifier()
        return .json(
            201,
            [
                "client_id": .text(client), "client_secret": .text(mac(of: "client \(client)")),
                "client_id_issued_at": .number(call.now.wholeSeconds), "grant_types": ["client_credentials"],
                "redirect_uris": .texts(redirect.isEmpty ? [] : [redirect]), "scopes": ["api:client:v2"],
            ])
    }

    /// Answers `POST /o/client/token`.
    func token(_ call: PassCall, _ state: inout SandboxState) -> SandboxAnswer {
        guard let client = call.parameter("client_id"), let secret = call.parameter("client_secret"),
            let grant = call.parameter("grant_type")
        else { return Self.refuse("invalid_request") }
        guard grant == "client_credentials" else { return Self.refuse("unsupported_grant_type") }
        guard secret.hasSameBytes(as: mac(of: "client \(client)")) else { return Self.refuse("invalid_client") }
        return .json(
            201,
            [
                "id": .text(state.random.identifier()), "access_token": .text(bearer(of: client, from: call.now)),
                "created_at": .number(call.now.milliseconds), "expires_in": .number(lifetimeSeconds),
                "token_type": "bearer",
            ])
    }

    /// A bearer token in the form of a JWT (RFC 7519), as Adobe's are, which no client reads.
    private func bearer(of client: String, from now: Timestamp) -> String {
        let claims: JSONValue = [
            "sub": .text(client), "iss": "sandbox", "scopes": "api:client:v2", "iat": .number(now.wholeSeconds),
            "exp": .number(now.wholeSeconds + lifetimeSeconds),
        ]
        let text = Self.base64(#"{"alg":"HS256"}"#) + "." + Self.base64(claims.document)
        return text + "." + mac(of: text)
    }

    /// Whether the call has a bearer token of this sandbox that has not expired.
    func permits(_ call: PassCall) -> Bool {
        guard let parts = call.bearer?.split(separator: ".", omittingEmptySubsequences: false), parts.count == 3,
            mac(of: "\(parts[0]).\(parts[1])").hasSameBytes(as: String(parts[2])),
            let claims = try? Base64.decode(Array(parts[1].utf8)[...], alphabet: .urlSafe, padding: .forbidden),
            case .number(let end)? = (try? StrictJSON.readObject(claims[...]))?.members["exp"]
        else { return false }
        return Double(call.now.wholeSeconds) < end
    }

    private func mac(of text: String) -> String {
        // libcrypto fails without memory only; nobody can know the random code that stands in then.
        let code = (try? key.code(of: Array(text.utf8))) ?? (0..<32).map { _ in UInt8.random(in: 0...255) }
        return Base64.encode(code, alphabet: .urlSafe, isPadded: false)
    }

    private static func base64(_ text: String) -> String {
        Base64.encode(Array(text.utf8), alphabet: .urlSafe, isPadded: false)
    }

    private static func refuse(_ error: String) -> SandboxAnswer { .json(400, ["error": .text(error)]) }
}
