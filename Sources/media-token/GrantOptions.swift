internal import MediaTokenGate
internal import PlaybackGrants
internal import Timestamps

/// How a grant is printed.
enum GrantForm: String, CaseIterable {
    case query, url, cookie, header
}

/// What `media-token grant` was told.
struct GrantOptions {
    let kind: GrantKind
    /// What is to be looked at; `nil` where one is to be made.
    let grant: String?
    let now: Timestamp
    let starts: Timestamp?
    let expires: Timestamp?
    let validity: Int64
    let form: GrantForm
    let digest: String
    private let given: Arguments
    private let single: [String: String]

    init(_ given: Arguments) throws(UsageError) {
        var operands = given.operands[...]
        let isCheck = operands.first == "check"
        if isCheck { operands = operands.dropFirst() }
        let kinds = GrantKind.allCases.map(\.rawValue).joined(separator: ", ")
        guard let name = operands.popFirst() else { throw UsageError("no kind of grant given; expected \(kinds)") }
        guard let kind = GrantKind(rawValue: name) else { throw UsageError("no kind '\(name)'; expected \(kinds)") }
        guard operands.count == (isCheck ? 1 : 0) else {
            throw UsageError(isCheck ? "expected one grant, @FILE or -" : "expected options only behind \(name)")
        }
        let single = try Self.single(given, kind, isCheck: isCheck)
        if isCheck { try Self.refuseTwoQuestions(given, kind) }
        guard given.has("key-file") != given.has("key-env") else {
            throw UsageError("expected one of --key-file and --key-env")
        }
        (self.kind, grant, self.given, self.single) = (kind, operands.first, given, single)
        now = try TimeOptions.time("at", given) ?? .now
        (starts, expires) = (try TimeOptions.time("starts", given), try TimeOptions.time("expires", given))
        guard expires == nil || !given.has("validity") else {
            throw UsageError("--expires and --validity are given; expected one of them")
        }
        validity = try given.number("validity", in: 1...GrantPeriod.longestSeconds) ?? 3600
        form = try Self.word("form", single["form"] ?? "query", GrantForm.allCases)
        guard form != .url || isCheck || given.has("url") || given.has("path") else {
            throw UsageError("--form is url, and no --url or --path is given")
        }
        let digests = GrantSettings.digests(kind)
        digest = single["digest"] ?? "sha256"
        guard digests.contains(digest) else {
            throw UsageError("--digest is '\(digest)'; expected \(digests.joined(separator: ", "))")
        }
    }

    /// The values of the options that are given once. One that is not for this kind is refused.
    private static func single(
        _ given: Arguments, _ kind: GrantKind, isCheck: Bool
    ) throws(UsageError) -> [String: String] {
        var single: [String: String] = [:]
        for option in GrantOption.all where given.has(option.name) {
            guard option.kinds.contains(kind) || isCheck && option.isQuestion else {
                let kinds = option.kinds.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--\(option.name) is not for \(kind.rawValue); it is for \(kinds)")
            }
            if !option.isRepeatable { single[option.name] = try given.one(option.name) }
        }
        return single
    }

    /// One grant is looked at for one request. To `cat` the path is a part of the token, as all is that made it.
    private static func refuseTwoQuestions(_ given: Arguments, _ kind: GrantKind) throws(UsageError) {
        guard kind == .cat || !given.has("url") || !given.has("path") else {
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

    /// The value of an option that is given once.
    subscript(option: String) -> String? { single[option] }

    /// The same of one that must be given.
    func required(_ option: String) throws(GrantProblem) -> String {
        guard let value = single[option] else {
            throw GrantProblem(option, "is missing; expected --\(option) for \(kind.rawValue)")
        }
        return value
    }

    /// The URL or path that is opened, where there is one.
    var stream: String? { single["url"] ?? single["path"] }

    func all(_ option: String) -> [String] { given.all(option) }

    func has(_ option: String) -> Bool { given.has(option) }

    func period() throws(GrantProblem) -> GrantPeriod {
        let begin = starts.map { $0.milliseconds / 1000 }
        if let expires { return try GrantPeriod(from: begin, to: expires.milliseconds / 1000) }
        return try GrantPeriod(from: begin, to: GrantPeriod(from: starts ?? now, seconds: validity).end)
    }
}
