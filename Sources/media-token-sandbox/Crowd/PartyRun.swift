internal import Basics
internal import HTTP
internal import LoadTest
internal import MediaToken
internal import Sandbox

/// A party on its way through its story, on one worker.
final class PartyRun {
    /// Longer than a second: a second play of a viewer in the same second would have the same token.
    private static let pauseMilliseconds = 1100

    private let worker: CrowdWorker
    private let party: CrowdParty
    private let mvpd: MVPDID
    private let hardware: DeviceDriver.Hardware
    private var apps: [CrowdApp] = []
    private var seen = CrowdOutcome()
    /// How often the gate accepted each token.
    private var acceptances: [String: Int] = [:]
    private var cookies: String?

    init(_ party: CrowdParty, _ worker: CrowdWorker) {
        (self.party, self.worker) = (party, worker)
        mvpd = MVPDID(party.story.card.map { "Sandbox:\($0)" } ?? "Sandbox")
        hardware = DeviceDriver.Hardware(DeviceMemory(name: "\(worker.settings.nonce)-\(party.first)"))
        hardware.clockMilliseconds = Int64(party.clockError) * 1000
    }

    func start() {
        let app = makeApp("one", of: "crowd")
        open(app) { [self] in
            guard party.story.kind == .restart else { return play(app) }
            app.restart()
            open(app) { [self] in play(app) }
        }
    }

    private func makeApp(_ name: String, of team: String) -> CrowdApp {
        let viewer = CrowdApp.Viewer(
            name: hardware.memory.name, mvpd: mvpd, mistypesPassword: party.story.kind == .wrongPassword)
        let app = CrowdApp(worker, viewer, name, of: team, on: hardware) { [unowned self] in seen.note($0, $1) }
        apps.append(app)
        return app
    }

    private func open(_ app: CrowdApp, _ then: @escaping () -> Void) {
        app.open { [self] ending in
            guard case .done = ending else { return refuse(ending) }
            then()
        }
    }

    private func play(_ app: CrowdApp) {
        app.authorize { [self] ending in
            guard case .token(let token) = ending else { return refuse(ending) }
            post(party.story.posts[...], token) { [self] in stream { [self] in goOn() } }
        }
    }

    private func refuse(_ ending: CrowdApp.Ending) {
        if case .refused(let code) = ending { seen.note(.decision, printable(code, limit: 80)) }
        logOut()
    }

    /// Plays in the second app, if there is one, or ends.
    private func goOn() {
        guard party.story.hasSecondApp, apps.count == 1 else { return logOut() }
        worker.pause(milliseconds: Self.pauseMilliseconds) { [self] in
            let app = makeApp("two", of: party.story.kind == .otherTeam ? "other" : "crowd")
            open(app) { [self] in play(app) }
        }
    }

    /// Logs out, so that the service has no more to remember, and counts the party. Apps of one team are logged out
    /// together.
    private func logOut() {
        guard let app = apps.popLast() else {
            return worker.count(party, seen, Array(acceptances.values))
        }
        app.logOut { [self] _ in
            if party.story.kind == .appSwitch {
                apps.forEach { $0.noteLogoutElsewhere() }
                apps = []
            }
            logOut()
        }
    }

    // MARK: The gate

    /// Posts a token as the steps say, one step after the other.
    private func post(_ steps: ArraySlice<[CrowdStory.Post]>, _ token: String, _ then: @escaping () -> Void) {
        guard let step = steps.first else { return then() }
        var open = step.count
        for one in step {
            post(one, token) { [self] in
                open -= 1
                if open == 0 { post(steps.dropFirst(), token, then) }
            }
        }
    }

    private func post(_ post: CrowdStory.Post, _ token: String, _ then: @escaping () -> Void) {
        let settings = worker.settings
        let path = PercentEncoding.encode(post.isElsewhere ? "/no-route-of-the-crowd/index.m3u8" : settings.path)
        let key = (name: "Idempotency-Key", value: "crowd-play-\(settings.nonce)-\(party.first)")
        let headers = [(name: "Content-Type", value: "text/plain")] + (post.hasKey ? [key] : [])
        worker.send(.play, "/v1/play?path=\(path)", headers: headers, body: token) { [self] answer in
            let play = CrowdPlay(answer)
            seen.note(.play, CrowdStory.code(play.code, of: post))
            if play.isAccepted { acceptances[token, default: 0] += 1 }
            if play.isAccepted, !play.cookies.isEmpty { cookies = play.cookies.joined(separator: "; ") }
            then()
        }
    }

    // MARK: The stream

    /// Fetches the manifest and some segments by the cookies of the play, and one segment without them.
    private func stream(_ then: @escaping () -> Void) {
        guard worker.settings.stream != nil, let cookies else { return then() }
        self.cookies = nil
        fetch(worker.settings.path, cookies) { [self] manifest in
            let names = String(decoding: manifest, as: UTF8.self).split(whereSeparator: \.isNewline)
                .filter { !$0.hasPrefix("#") }
            guard !names.isEmpty else {
                seen.note(.stream, "no segments in the manifest")
                return then()
            }
            let folder = worker.settings.path.prefix(through: worker.settings.path.lastIndex(of: "/") ?? "".startIndex)
            let paths = (0..<party.segments).map { "\(folder)\(names[$0 % names.count])" }
            fetch(paths[...], cookies) { [self] in
                worker.send(.stream, paths[0]) { [self] answer in
                    let isShut = answer.map { $0.status == 401 || $0.status == 403 } ?? false
                    seen.note(.stream, isShut ? CrowdOutcome.shut : "without cookie: " + Self.code(answer))
                    then()
                }
            }
        }
    }

    private func fetch(_ paths: ArraySlice<String>, _ cookies: String, _ then: @escaping () -> Void) {
        guard let path = paths.first else { return then() }
        fetch(path, cookies) { [self] _ in fetch(paths.dropFirst(), cookies, then) }
    }

    private func fetch(_ path: String, _ cookies: String, _ then: @escaping ([UInt8]) -> Void) {
        worker.send(.stream, path, headers: [("Cookie", cookies)]) { [self] answer in
            let isOpen = answer?.status == 200
            seen.note(.stream, isOpen ? CrowdOutcome.opened : "by cookie: " + Self.code(answer))
            then(isOpen ? answer?.body ?? [] : [])
        }
    }

    private static func code(_ answer: HTTPClient.Answer?) -> String {
        answer.map { printable($0.gateCode, limit: 80) } ?? "no answer"
    }
}

/// The gate's answer to a play. If its code, its status and its grant contradict each other, ``code`` says so.
struct CrowdPlay {
    let code: String
    /// Whether a client could take the answer for an acceptance.
    let isAccepted: Bool
    /// The cookies of the answer, in the form in which a client sends them back.
    let cookies: [String]

    init(_ answer: HTTPClient.Answer?) {
        guard let answer else {
            (code, isAccepted, cookies) = ("no answer", false, [])
            return
        }
        let isValid = answer.gateCode == VerdictCode.validToken.rawValue
        let isRefusal = [401, 403, 503].contains(answer.status) && !answer.opens
        var code = printable(answer.gateCode, limit: 80)
        if isValid ? answer.status != 200 : !isRefusal { code += " with HTTP \(answer.status)" }
        if !isValid, answer.opens { code += " that opens" }
        if !answer.isConsistent { code += " and another code in the body" }
        cookies = answer.values(of: "Set-Cookie").map { String($0.prefix { $0 != ";" }) }
        (self.code, isAccepted) = (code, isValid || answer.opens)
    }
}
