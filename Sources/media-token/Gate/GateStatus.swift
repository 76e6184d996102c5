internal import Basics
internal import CommandShell
internal import HTTP
internal import MediaToken
internal import MediaTokenGate

/// Tells the operator of each change of a gate's state: a line for the journal, and what `systemctl status` shows from
/// then on.
final class GateStatus: Sendable {
    /// What can be wrong with a gate that serves.
    enum Part: Int {
        case store, servers, reload
    }

    private struct State {
        var isServing = false
        var contents = ""
        var problems: [Part: String] = [:]
        /// What the service manager was told last.
        var told = ""
    }

    private let state = Guarded(State())

    /// The gate begins to serve.
    func begin() {
        ServiceManager.notify("READY=1")
        show { $0.isServing = true }
    }

    /// The gate has so many keys and routes.
    func load(_ files: GateFiles, _ settings: GateSettings) {
        let counted = { (count: Int, thing: String) in "\(count) \(thing)\(count == 1 ? "" : "s")" }
        let contents = [counted(files.keyCount, "key"), counted(settings.routes.count, "route")]
        show { $0.contents = contents.joined(separator: ", ") }
    }

    /// The keys and routes that the gate has.
    var contents: String { state.withLock { $0.contents } }

    /// Something is wrong with a part of the gate.
    func lose(_ part: Part, _ problem: String) {
        Console.printError(problem)
        show { $0.problems[part] = problem }
    }

    /// Nothing is wrong with that part any more.
    func regain(_ part: Part) { show { $0.problems[part] = nil } }

    /// Tells of a change of the replay store.
    ///
    /// - Parameter cause: Why the store has a fence.
    func tell(_ change: StoreReadiness.Change, cause: String) {
        switch change {
        case .lost(let error): lose(.store, "a token cannot be checked, and is not accepted: \(error)")
        case .regained:
            Console.printNotice("the replay store works again")
            regain(.store)
        case .serversLost([]):
            Console.printNotice("all servers of the replay store work again")
            regain(.servers)
        case .serversLost(let errors):
            let reasons = errors.map(\.description).joined(separator: "; ")
            lose(.servers, "a server of the replay store is away, and the others decide: \(reasons)")
        case .fenced(let until, let isReady):
            Console.printError(
                "fenced until \(until.internetText): \(cause), and tokens issued up to then are rejected as "
                    + "TOKEN_PREDATES_STORE\(isReady ? "" : "; until then /readyz answers 503")", as: .warning)
        }
    }

    private func show(_ change: (inout State) -> Void) {
        let text = state.withLock { state -> String? in
            change(&state)
            let problems = state.problems.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.value)
            let text = (["serving: \(state.contents)"] + problems).joined(separator: "; ")
            guard state.isServing, text != state.told else { return nil }
            state.told = text
            return text
        }
        if let text { ServiceManager.notify("STATUS=\(printable(text, limit: 500))") }
    }
}
