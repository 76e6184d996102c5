internal import CommandShell
internal import PlaybackGrants

/// One option of `grant`, and the kinds of grants that have it. An option that limits a grant must not be ignored for a
/// kind that cannot express the limit: the grant would open more than the user asked for.
struct GrantOption {
    let name: String
    /// The kinds that have the option; empty for an option of the command, which every kind has.
    let kinds: [GrantKind]
    /// Whether `check` accepts the option for every kind, because it describes the request.
    let isQuestion: Bool
    let isRepeatable: Bool
    private let option: CommandOption

    private init(_ name: String, _ value: String?, _ help: String, isRepeatable: Bool = false) {
        (self.name, option) = (name, CommandOption(name, value, help))
        (kinds, isQuestion, self.isRepeatable) = ([], false, isRepeatable)
    }

    /// Creates the option that some kinds declare under one name.
    private init(_ name: String, _ declared: [(kind: GrantKind, setting: GrantSetting)]) {
        self.name = name
        kinds = declared.map(\.kind)
        isQuestion = declared.contains(where: \.setting.isQuestion)
        isRepeatable = declared.contains { if case .list = $0.setting.value { true } else { false } }
        var helps: [(text: String, kinds: [String])] = []
        for (kind, setting) in declared {
            if let known = helps.firstIndex(where: { $0.text == setting.help }) {
                helps[known].kinds.append(kind.name)
            } else {
                helps.append((setting.help, [kind.name]))
            }
        }
        let help = helps.map { "\($0.kinds.joined(separator: ", ")): \($0.text)" }.joined(separator: "; ")
        option = CommandOption(name, declared[0].setting.placeholder, help)
    }

    /// The options of the command itself.
    private static let common: [(heading: String, options: [GrantOption])] = [
        (
            GrantSetting.Topic.key.rawValue,
            [
                GrantOption(
                    "key-file", "FILE", "File with the key (repeatable to check a cat, each with its --key-id)",
                    isRepeatable: true),
                GrantOption("key-env", "NAME", "Environment variable with the key"),
            ]
        ),
        (
            GrantSetting.Topic.time.rawValue,
            [
                GrantOption("validity", "S", "Seconds from now on (default 3600)"),
                GrantOption("expires", "TIME", "Instead: until then"),
                GrantOption("at", "TIME", "Make or check as of TIME (default now)"),
            ]
        ),
        (
            "Output:",
            [
                GrantOption("form", "FORM", "query, url, cookie or header (default query)"),
                GrantOption("cookie-path", "PATH", "Path of cookies (default /)"),
                GrantOption("json", nil, "Print one JSON object"),
            ]
        ),
    ]

    private static let sections: [(heading: String, options: [GrantOption])] = {
        var sections = GrantSetting.Topic.allCases.map { topic in
            let options = common.first { $0.heading == topic.rawValue }?.options ?? []
            return (heading: topic.rawValue, options: options + declared(for: topic))
        }
        sections += common.filter { section in !sections.contains { $0.heading == section.heading } }
        return sections
    }()

    /// The options of a topic that the kinds declare, in the order of the kinds, each name once.
    private static func declared(for topic: GrantSetting.Topic) -> [GrantOption] {
        let all = GrantKind.all.flatMap { kind in
            kind.scheme.settings.filter { $0.isOption && $0.topic == topic }.map { (kind: kind, setting: $0) }
        }
        var names: [String] = []
        for (_, setting) in all where !names.contains(setting.name) { names.append(setting.name) }
        return names.map { name in GrantOption(name, all.filter { $0.setting.name == name }) }
    }

    static let all = sections.flatMap(\.options)

    /// The options as `--help` shows them. The help of an option that kinds declare begins with their names.
    static let groups = sections.map { OptionGroup(heading: $0.heading, options: $0.options.map(\.option)) }
}

extension GrantSetting {
    /// The placeholder for the value in `--help`; `nil` for a flag.
    fileprivate var placeholder: String? {
        switch value {
        case .text(let placeholder), .list(let placeholder): placeholder
        case .word: "NAME"
        case .secretFile: "FILE"
        case .seconds: "S"
        case .flag: nil
        }
    }
}
