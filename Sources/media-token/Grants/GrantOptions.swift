internal import Basics
internal import CommandShell
internal import Glibc
internal import MediaToken
internal import MediaTokenGate
internal import PlaybackGrants
internal import Settings

/// The form in which a grant is printed.
enum GrantForm: String, CaseIterable {
    case query, url, cookie, header
}

/// The options and operands of `media-token grant`.
struct GrantOptions: CommandValues {
    static let table = SettingsTable<GrantOptions>(
        group(
            .key,
            [
                .texts(
                    "key-file", "FILE", "File with the key; to check a cat several, each with its --key-id", \.keyFiles),
                Setting("key-env", "NAME", .text(), "Environment variable with the key") { given, name, options in
                    // What is no name may be the key itself, and is not shown.
                    let text = given.text(name)
                    options.keyEnvironment = text
                    if text?.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "_") }) == false {
                        given.refuse(name, "is not the name of an environment variable")
                    }
                },
            ]),
        group(.scope, []),
        group(
            .time,
            [
                .number(
                    "validity", "S", "Seconds from now on, or from --starts",
                    1...Int(GrantPeriod.longest.components.seconds),
                    default: 3600,
                    \.validity),
                .time("expires", "Instead: until then", \.expires),
                .time("at", "Make or check as of TIME (default now)", \.at),
            ]),
        group(.form, []),
        .group(
            "Output",
            [
                .word("form", "FORM", "Form of a new grant", default: .query, \.form),
                Setting("cookie-path", "PATH", .text(), "Path of cookies", default: "/") { given, name, options in
                    let path = given.value(name, "a path from / on, without ; and control characters") {
                        text in
                        let isPath = text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ";") }
                        return text.hasPrefix("/") && isPath ? text : nil
                    }
                    options.cookiePath = path ?? options.cookiePath
                },
                .flag("json", "Print one JSON object", \.isJSON),
            ]))

    /// The options of a topic: some of the command itself, and those that kinds declare.
    private static func group(
        _ topic: GrantTopic, _ common: [Setting<GrantOptions>]
    ) -> SettingsTable<GrantOptions> {
        .group(topic.rawValue, common + declared(for: topic.rawValue))
    }

    private var chosen: GrantKind?
    /// The grant to check; `nil` if one is to be made.
    private(set) var grant: String?
    private var isCheck = false
    private var keyFiles: [String] = []
    private var keyEnvironment: String?
    private var validity = 3600
    private var expires: Timestamp?
    private var starts: Timestamp?
    private var at: Timestamp?
    private(set) var form = GrantForm.query
    private(set) var cookiePath = "/"
    private(set) var isJSON = false
    /// The values of the options that the kind declares, and of those that describe the request.
    private(set) var values = GrantValues()

    init() {}

    /// Options that describe the request for which a grant of any kind is checked.
    private static let ofRequest = ["url", "path"]

    /// The options of a topic that the kinds declare, in the order of the kinds, each name once. An option that limits
    /// a grant must not be ignored for a kind that cannot express the limit: the grant would open more than the user
    /// asked for.
    private static func declared(for topic: String) -> [Setting<GrantOptions>] {
        let all = GrantKind.all.flatMap { kind in
            SettingsTable(kind.settings).options.filter { $0.topic == topic }.map { (kind: kind, setting: $0) }
        }
        return all.map(\.setting.name).reduce(into: [String]()) { names, name in
            if !names.contains(name) { names.append(name) }
        }.map { name in option(declared: all.filter { $0.setting.name == name }) }
    }

    /// The option that some kinds declare under one name. Its help begins with their names.
    private static func option(declared: [(kind: GrantKind, setting: GrantSetting)]) -> Setting<GrantOptions> {
        let first = declared[0].setting
        var helps: [(text: String, kinds: [String])] = []
        for (kind, setting) in declared {
            if let known = helps.firstIndex(where: { $0.text == setting.help }) {
                helps[known].kinds.append(kind.name)
            } else {
                helps.append((setting.help, [kind.name]))
            }
        }
        let help = helps.map { "\($0.kinds.joined(separator: ", ")): \($0.text)" }.joined(separator: "; ")
        // The words of one kind need not be those of another.
        let form = if case .word = first.form { SettingForm.text() } else { first.form }
        return Setting(first.name, first.placeholder, form, help) { given, name, options in
            guard let kind = options.chosen, given.has(name) else {
                given.take(name)
                return
            }
            let own = declared.first { $0.kind == kind }?.setting
            guard let setting = own ?? (options.isCheck && ofRequest.contains(name) ? first : nil) else {
                given.take(name)
                let kinds = declared.map(\.kind.name).joined(separator: ", ")
                return given.refuse(name, "is not for \(kind.name); it is for \(kinds)")
            }
            setting.read(&given, name, &options.values)
        }
    }

    mutating func take(_ given: [String]) throws(UsageError) {
        var operands = given[...]
        isCheck = operands.first == "check"
        if isCheck { operands = operands.dropFirst() }
        guard let name = operands.popFirst() else {
            throw UsageError("no kind of grant given; expected \(GrantKind.names)")
        }
        guard let kind = GrantKind.named(name) else {
            let known = GrantKind.all.map(\.name) + (isCheck ? [] : ["check"])
            throw UsageError("no kind '\(printable(name, limit: 20))'" + Spelling.hint(for: name, among: known))
        }
        chosen = kind
        guard operands.count == (isCheck ? 1 : 0) else {
            throw UsageError(isCheck ? "expected one grant, @FILE or -" : "expected options only after \(name)")
        }
        grant = operands.first
        if let grant, grant != "-", !grant.hasPrefix("@"), access(grant, F_OK) == 0 {
            throw UsageError("'\(printable(grant))' is a file; expected @ before its name, or a grant")
        }
    }

    mutating func check(_ given: inout SettingsObject) {
        guard let chosen else { return }
        if isCheck {
            // A path that is a part of the grant is no request.
            if !chosen.limitsPath { given.refuseSecond(of: Self.ofRequest) }
            if values.all("method").count > 1 {
                given.refuse("method", "is given twice; expected the one of the request")
            }
        } else {
            if keyFiles.count > 1 {
                given.refuse("key-file", "is given twice; expected the one key that makes the grant")
            }
            if form == .url, stream == nil { given.refuse("form", "is url, and no --url or --path is given") }
            if form != .cookie, !isJSON { given.refuse(["cookie-path"], withoutEffect: "without --form cookie") }
            given.refuseSecond(of: ["expires", "validity"])
        }
        // A grant is shown without a key too.
        if given.wasTaken("key-file") == given.wasTaken("key-env"), !isCheck || given.wasTaken("key-file") {
            given.refuse(nil, "expected one of --key-file and --key-env")
        }
        guard let text = values["starts"] else { return }
        if case .at(let time)? = CheckTime(reading: text) {
            starts = time
        } else {
            given.refuse("starts", "is '\(printable(text, limit: 40))'; expected a time, as for --at")
        }
    }

    /// The kind of the grant. Without one, the options have been refused.
    var kind: GrantKind { chosen ?? GrantKind.all[0] }
    var now: Timestamp { at ?? .now }
    /// The URL or path that the grant is for; `nil` if none is given.
    var stream: String? { values["url"] ?? values["path"] }
    var hasKey: Bool { !keyFiles.isEmpty || keyEnvironment != nil }

    func period() throws(GrantError) -> GrantPeriod {
        let begin = starts.map { $0.wholeSeconds }
        if let expires { return try GrantPeriod(from: begin, to: expires.wholeSeconds) }
        return try GrantPeriod(
            from: begin, to: GrantPeriod(from: starts ?? now, lasting: .seconds(validity)).end)
    }

    var settings: GrantConfiguration {
        var settings = GrantConfiguration(kind)
        (settings.keyFiles, settings.keyEnvironment, settings.values) = (keyFiles, keyEnvironment, values)
        return settings
    }

    /// The request for which a grant is checked.
    var question: GrantQuestion {
        var question = GrantQuestion(at: now)
        (question.url, question.method) = (stream, values.all("method").first)
        (question.ip, question.issuer) = (values["ip"], values["issuer"])
        return question
    }
}
