import Basics
import HTTP
import MediaToken
import Settings
import TestSupport
import Testing

@testable import MediaTokenGate

extension GateSettingsReader {
    /// Reads the text of a configuration file.
    init(reading json: String) throws {
        self.init(SettingsObject(try StrictJSON.readObject(Array(json.utf8)[...]).members))
    }

    /// The problems as they are printed.
    var lines: [String] { problems.map(\.description) }
}

extension Gate {
    /// A gate by the text of a configuration file without problems, with the keys of its grants.
    init(reading json: String) throws {
        let reader = try GateSettingsReader(reading: json)
        try #require(reader.lines == [])
        var settings = reader.settings
        settings.routes = try settings.routes.map { try $0.withGrant(among: reader.settings.routes) }
        self = settings.gate
    }

    /// The reply to a request, which a verifier decides where it has a token.
    func reply(to request: HTTPRequest, by verifier: MediaTokenVerifier, at now: Timestamp = Mint.now) -> GateReply {
        switch task(request, at: now) {
        case .settled(let reply): reply
        case .explain(let asked):
            asked.reply(to: verifier.examine(asked.token, for: asked.requestors, asked.resource, at: now))
        case .verify(let task): task.reply(to: verifier.verify([task.request], at: now)[0], at: now)
        }
    }
}

extension HTTPAnswer {
    /// The value of the first header field with this name.
    func value(of name: String) -> String? { headers.first { $0.name == name }?.value }
}
