import Basics
import Foundation
import HTTP
import MediaToken
import PlaybackGrants
import TestSupport
import Testing
import Settings

@testable import MediaTokenGate

/// Dialects, and requests in them.
enum DialectVectors {
    /// Routes for the dialects: `/live` and `/two` with a grant of one field, `/cf` with one of three fields for one
    /// URL, `/plain` without a grant, `/origins` with a grant for one origin and a folder, and `/free`, which is open.
    private static func routes(in directory: TemporaryDirectory) throws -> String {
        let key = try directory.write(String(repeating: "0f", count: 32), to: "key")
        let grant = #""grant": {"kind": "akamai", "key-file": "\#(key)"}"#
        let link = #""grant": {"kind": "secure-link", "key-file": "\#(key)"}"#
        let mml = #""requestor": "MML", "resource": "TNT""#
        return """
            [{"path": "/live", \(mml), \(grant)}, {"path": "/link", \(mml), \(link)}, {"path": "/plain", \(mml)},
             {"path": "/two", "requestor": ["MML", "OTHER"], "resource": ["TNT", "CNN"], \(grant)},
             {"path": "/origins", \(mml), "grant": {"kind": "akamai", "key-file": "\(key)", "scope": "/origins/in",
               "origins": ["https://cdn.example"]}},
             {"path": "/free", "open": true}]
            """
    }

    /// The settings with these dialects, with loaded grants, and all problems.
    private static func settings(_ dialects: String) throws -> (settings: GateSettings, problems: [String]) {
        let directory = try TemporaryDirectory()
        let text = #"{"keys": ["x"], "routes": \#(try routes(in: directory)), "dialects": \#(dialects)}"#
        let reader = GateSettingsReader(
            SettingsObject(try StrictJSON.readObject(Array(text.utf8)[...], valueLimit: 10_000).members))
        var settings = reader.settings
        settings.routes = try settings.routes.map { try $0.withGrant(among: reader.settings.routes) }
        return (
            settings,
            reader.problems.map(\.description)
                + settings.dialects.compactMap { $0.problem(beside: settings.routes)?.description }
        )
    }

    static func check(_ vector: Vector) throws -> VectorOutcome {
        let problems = try settings(#require(vector.input)).problems
        return VectorOutcome(code: problems.isEmpty ? "SERVED" : "REFUSED", message: problems.joined(separator: "; "))
    }

    static func ask(_ vector: Vector) throws -> VectorOutcome {
        let file = Fixtures.vectors.appending(path: "settings/dialects.json")
        let (settings, problems) = try settings(String(contentsOf: file, encoding: .utf8))
        try #require(problems == [])
        let token = try Mint.token()
        let target = try DocumentVectors.fill(#require(vector.path), token)
            .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let request = HTTPRequest(
            method: vector.method ?? "POST", path: String(target[0]), query: target.count > 1 ? String(target[1]) : nil,
            headers: try (vector.headers ?? []).map { ($0[0], try DocumentVectors.fill($0[1], token)) },
            body: Array(try DocumentVectors.fill(vector.input ?? "", token).utf8))
        let reply: GateReply =
            switch settings.gate.task(request, at: Mint.now) {
            case .settled(let reply): reply
            case .verify(let task):
                task.reply(to: try Mint.verifier().verify([task.request], at: Mint.now)[0], at: Mint.now)
            case .explain: throw Program.Failure(description: "no dialect explains")
            }
        let body = String(decoding: reply.answer.body, as: UTF8.self).trimmingCharacters(in: ["\n"])
        #expect(!body.contains(token.prefix(40)))
        // Whatever a client sent, the answer stays of its form.
        if reply.answer.headers.contains(where: { $0.value == "application/json" }) {
            _ = try StrictJSON.readObject(reply.answer.body[...])
        }
        return VectorOutcome(code: reply.code, message: body)
    }
}
