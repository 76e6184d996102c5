import Basics
import Foundation
import HTTP
import MediaToken
import Sandbox
import TestSupport
import TokenCrypto

/// A client of a sandbox in this process, with a clock of its own.
final class SandboxClient {
    /// The time at which all clients begin: programs that read the certificates must find them valid.
    static let start = Timestamp.now
    /// Making keys takes most of a second, so all tests share them.
    static let keys = Result { try SandboxKeys(at: start) }

    let service: SandboxService
    var now = SandboxClient.start
    var provider = "MML"
    var device: String? = "device-1"
    var bearer: String?
    /// Further header fields of each call.
    var headers: [(name: String, value: String)] = []

    init(_ change: (inout SandboxSettings) -> Void = { _ in }) throws {
        var settings = SandboxSettings()
        change(&settings)
        service = try SandboxService(try Self.keys.get(), settings)
        bearer = try register()
    }

    struct Answer {
        let status: Int
        let json: [String: Any]
        let text: String
        let delay: Int
        let headers: [(name: String, value: String)]

        /// A text in the answer, by the names of the objects on the way to it.
        func text(_ path: String...) -> String? { path.reduce(json as Any?) { ($0 as? [String: Any])?[$1] } as? String }

        var code: String? { json["code"] as? String }
        /// The media token of the first decision.
        var token: String? { (decisions.first?["token"] as? [String: Any])?["serializedToken"] as? String }
        var decisions: [[String: Any]] { json["decisions"] as? [[String: Any]] ?? [] }
        func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    }

    /// The form of a session that lacks nothing.
    static let session = "mvpd=Sandbox&domainName=x&redirectUrl=https://x.example"

    /// Verifies a token now, with the published keys.
    func verify(_ token: String, for resource: String = "TNT") throws -> Verdict {
        let keys = try KeyRing(loading: SandboxKeyFiles.shared.store, password: SandboxKeys.storePassword)
        let verifier = MediaTokenVerifier(
            keys: keys, policy: VerificationPolicy(), replays: MemoryReplayStore.unfenced())
        return try verifier.verify(RawToken(token), for: Expectation(requestor: "MML", resource: resource), at: now)
    }

    /// Sends a GET, or a POST of a form or a JSON document.
    @discardableResult
    func call(
        _ path: String, method: String? = nil, form: String? = nil, json: String? = nil
    ) -> Answer {
        var fields = headers
        if let bearer { fields.append(("Authorization", "Bearer \(bearer)")) }
        if let device {
            fields.append(("AP-Device-Identifier", "fingerprint \(Data(device.utf8).base64EncodedString())"))
        }
        if form != nil { fields.append(("Content-Type", "application/x-www-form-urlencoded")) }
        let parts = path.split(separator: "?", maxSplits: 1).map(String.init)
        let body = form ?? json
        let request = HTTPRequest(
            method: method ?? (body == nil ? "GET" : "POST"), path: parts[0], query: parts.count > 1 ? parts[1] : nil,
            headers: fields, body: Array((body ?? "").utf8), peer: "192.0.2.1")
        let answer = service.answer(request, at: now)
        let json = try? JSONSerialization.jsonObject(with: Data(answer.answer.body)) as? [String: Any]
        return Answer(
            status: answer.answer.status, json: json ?? [:],
            text: String(decoding: answer.answer.body, as: UTF8.self), delay: answer.delay,
            headers: answer.answer.headers)
    }

    func register() throws -> String? {
        let client = call("/o/client/register", json: #"{"software_statement": "a.b.c", "redirect_uri": "app://x"}"#)
        let (id, secret) = (client.text("client_id") ?? "", client.text("client_secret") ?? "")
        return call("/o/client/token", form: "client_id=\(id)&client_secret=\(secret)&grant_type=client_credentials")
            .text("access_token")
    }

    /// Logs a viewer in, by way of the pages of the MVPD.
    @discardableResult
    func logIn(_ mvpd: String = "Sandbox", user: String = "ann") -> Answer {
        let session = call(
            "/api/v2/\(provider)/sessions", form: "mvpd=\(mvpd)&domainName=x.example&redirectUrl=https://x.example/done"
        )
        return call(
            "/mvpd/login", form: "provider=\(provider)&code=\(session.code ?? "")&user=\(user)&password=secret")
    }

    func authorize(_ resources: [String] = ["TNT"], mvpd: String = "Sandbox", _ kind: String = "authorize") -> Answer {
        let body: JSONValue = ["resources": .list(resources.map { .text($0) })]
        return call("/api/v2/\(provider)/decisions/\(kind)/\(mvpd)", json: body.document)
    }
}

/// The keys of the sandbox that all tests share, as files.
final class SandboxKeyFiles: Sendable {
    static let shared = SandboxKeyFiles()
    private let outcome: Result<TemporaryDirectory, any Error>

    private init() {
        outcome = Result {
            let directory = try TemporaryDirectory()
            let files = try SandboxClient.keys.get().files()
            for file in files { try Data(file.bytes).write(to: URL(filePath: "\(directory.path)/\(file.name)")) }
            return directory
        }
    }

    var folder: String { get throws { try outcome.get().path } }
    var store: String { get throws { try folder + "/media_token_keystore.jks" } }
}
