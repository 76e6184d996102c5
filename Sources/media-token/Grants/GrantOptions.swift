internal import CommandShell
internal import Glibc
internal import MediaTokenGate
internal import PlaybackGrants
internal import TextEncodings

/// The form in which a grant is printed.
enum GrantForm: String, CaseIterable {
    case query, url, cookie, header
}

/// The options and operands of `media-token grant`.
struct GrantOptions {
    let kind: GrantKind
    /// The grant to check; `nil` if one is to be made.
    let grant: String?
    let now: Timestamp
    let starts: Timestamp?
    let expires: Timestamp?
    let validity: Int64
    let form: GrantForm
    /// The values of the options that the kind declares.
    let values: GrantValues
    private let given: Arguments
    private let single: [String: String]

    init(_ given: Arguments) throws(UsageError) {
        var operands = given.operands[...]
        let isCheck = operands.first == "check"
        if isCheck { operands = operands.dropFirst() }
        guard let name = operands.popFirst() else {
            throw UsageError("no kind of grant given; expected \(GrantKind.names)")
        }
        guard let kind = GrantKind.named(name) else {
            let known = GrantKind.all.map(\.name) + (isCheck ? [] : ["check"])
            throw UsageError("no kind '\(printable(name, limit: 20))'" + Spelling.hint(for: name, among: known))
        }
        guard operands.count == (isCheck ? 1 : 0) else {
            throw UsageError(isCheck ? "expected one grant, @FILE or -" : "expected options only behind \(name)")
        }
        let single = try Self.single(given, kind, isCheck: isCheck)
        if isCheck { try Self.refuseTwoQuestions(given, kind) }
        // A grant is shown without a key too.
        guard given.has("key-file") != given.has("key-env") || isCheck && !given.has("key-file") else {
            throw UsageError("expected one of --key-file and --key-env")
        }
        if isCheck, let grant = operands.first, grant != "-", !grant.hasPrefix("@"), access(grant, F_OK) == 0 {
            throw UsageError("'\(printable(grant))' is a file; expected @ before its name, or a grant")
        }
        guard isCheck || given.all("key-file").count < 2 else {
            throw UsageError("--key-file is given twice; expected the one key that makes the grant")
        }
        (self.kind, grant, self.given, self.single) = (kind, operands.first, given, single)
        values = try Self.values(of: kind, given, single)
        now = try TimeOptions.time("at", given) ?? .now
        (starts, expires) = (try TimeOptions.time("starts", given), try TimeOptions.time("expires", given))
        guard expires == nil || !given.has("validity") else {
            throw UsageError("--expires and --validity are given; expected one of them")
        }
        validity = try given.number("validity", in: 1...GrantPeriod.longest.components.seconds) ?? 3600
        form = try Self.word("form", single["form"] ?? "query", GrantForm.allCases)
        guard form != .url || isCheck || given.has("url") || given.has("path") else {
            throw UsageError("--form is url, and no --url or --path is given")
        }
    }

    /// The values of the options that `kind` declares.
    private static func values(
        of kind: GrantKind, _ given: Arguments, _ single: [String: String]
    ) throws(UsageError) -> GrantValues {
        var values = GrantValues()
        for setting in kind.scheme.settings where setting.isOption && given.has(setting.name) {
            switch setting.value {
            case .list: values.set(setting.name, to: given.all(setting.name))
            case .flag: values[setting.name] = ""
            case .word(let words) where !words.contains(single[setting.name] ?? ""):
                let word = single[setting.name] ?? ""
                throw UsageError("--\(setting.name) is '\(word)'; expected \(words.joined(separator: ", "))")
            case .text, .word, .secretFile, .seconds: values[setting.name] = single[setting.name]
            }
        }
        return values
    }

    /// The values of the options that may be given once. An option that does not belong to this kind is a usage error.
    private static func single(
        _ given: Arguments, _ kind: GrantKind, isCheck: Bool
    ) throws(UsageError) -> [String: String] {
        var single: [String: String] = [:]
        for option in GrantOption.all where given.has(option.name) {
            guard option.kinds.isEmpty || option.kinds.contains(kind) || isCheck && option.isQuestion else {
                let kinds = option.kinds.map(\.name).joined(separator: ", ")
                throw UsageError("--\(option.name) is not for \(kind.name); it is for \(kinds)")
            }
            if !option.isRepeatable { single[option.name] = try given.one(option.name) }
        }
        return single
    }

    /// Refuses options that describe two requests. A path that is a part of the grant, as for `cat`, is no request.
    private static func refuseTwoQuestions(_ given: Arguments, _ kind: GrantKind) throws(UsageError) {
        let isPartOfGrant = kind.scheme.settings.contains { $0.name == "path" && !$0.isQuestion }
        guard isPartOfGrant || !given.has("url") || !given.has("path") else {
            throw UsageError("--url and --path are given; expected one of them")
        }
        guard given.all("method").count < 2 else {
            throw UsageError("--method is given twice; expected the one of the request")
        }
    }

    private static func word<Value: RawRepresentable>(
        _ option: String, _ text: String, _ all: [Value]
    ) throws(UsageError) -> Value where Value.RawValue == String {
        guard let value = Value(rawValue: text) else {
            throw UsageError("--\(option) is '\(text)'; expected \(all.map(\.rawValue).joined(separator: ", "))")
        }
        return value
    }

    /// The value of an option that may be given once.
    subscript(option: String) -> String? { single[option] }

    /// The URL or path that the grant is for; `nil` if none is given.
    var stream: String? { single["url"] ?? single["path"] }

    func has(_ option: String) -> Bool { given.has(option) }

    var hasKey: Bool { has("key-file") || has("key-env") }

    func period() throws(GrantError) -> GrantPeriod {
        let begin = starts.map { $0.wholeSeconds }
        if let expires { return try GrantPeriod(from: begin, to: expires.wholeSeconds) }
        return try GrantPeriod(from: begin, to: GrantPeriod(from: starts ?? now, lasting: .seconds(validity)).end)
    }

    var settings: GrantSettings {
        var settings = GrantSettings(kind)
        (settings.keyFiles, settings.keyEnvironment) = (given.all("key-file"), single["key-env"])
        settings.values = values
        return settings
    }

    /// The request for which a grant is checked.
    var question: GrantQuestion {
        var question = GrantQuestion(at: now)
        (question.url, question.method) = (stream, given.all("method").first)
        (question.ip, question.issuer) = (single["ip"], single["issuer"])
        return question
    }
}
