internal import Settings

/// One option of a command, as `--help`, the manual and shells know it.
package struct CommandOption: Sendable {
    package let name: String
    /// The placeholder for the value in the help; `nil` for a flag.
    package let value: String?
    package let help: String
}

extension Setting {
    /// The setting as an option.
    fileprivate var option: CommandOption {
        let isTurnedOff = optionName == "no-\(name)"
        return CommandOption(
            name: optionName, value: placeholder, help: isTurnedOff ? "Turn off: \(help)" : fullHelp)
    }
}

/// The options under one heading of the help.
package struct OptionGroup: Sendable {
    package let heading: String
    package fileprivate(set) var options: [CommandOption]
}

/// The syntax of a command, in the words of its `--help`.
package struct CommandSyntax: Sendable {
    /// The command as the user types it: `media-token verify`.
    package let name: String
    /// The operands, which follow the options: `[TOKEN | @FILE | -]`.
    package let operands: String
    package let summary: String
    /// The text after the options in the help: details, exit status, an example.
    package let details: String
    /// The options under their headings, without `--help`, which every command has.
    package private(set) var groups: [OptionGroup]

    package init(name: String, operands: String, summary: String, details: String) {
        (self.name, self.operands, self.summary, self.details) = (name, operands, summary, details)
        groups = []
    }

    /// The syntax with the options of a table, under their headings.
    func with(_ table: SettingsTable<some Any>) -> CommandSyntax {
        var syntax = self
        for setting in table.options {
            let heading = setting.topic.isEmpty ? Self.usualHeading : setting.topic
            if let known = syntax.groups.firstIndex(where: { $0.heading == heading }) {
                syntax.groups[known].options.append(setting.option)
            } else {
                syntax.groups.append(OptionGroup(heading: heading, options: [setting.option]))
            }
        }
        return syntax
    }

    private static let usualHeading = "Options"
    package static let help = CommandOption(name: "help", value: nil, help: "Print this help")

    package var options: [CommandOption] { groups.flatMap(\.options) + [Self.help] }

    /// The words that the first operand may be; empty if it may be anything.
    package var firstOperands: [String] {
        let first = operands.prefix { $0 != " " }
        return first.contains("|") ? first.split(separator: "|").map(String.init) : []
    }

    /// What `--help` prints.
    ///
    /// - Parameter width: The columns of the terminal.
    package func help(width: Int) -> String {
        let hint = OptionGroup(heading: "Help", options: [Self.help])
        let usage = "Usage: \(name) [OPTION]...\(operands.isEmpty ? "" : " " + operands)"
        var lines = [LineWrap(width: width, hanging: 8).wrapped(usage), ""]
        lines.append(LineWrap(width: width, hanging: 0).wrapped(summary))
        for group in groups + [hint] {
            lines += ["", "\(group.heading):"] + group.options.map { Self.line($0, width: width) }
        }
        lines.append("")
        for line in details.split(separator: "\n", omittingEmptySubsequences: false) {
            let column = Self.hangingColumn(of: line)
            lines.append(column.map { LineWrap(width: width, hanging: $0).wrapped(String(line)) } ?? String(line))
        }
        return lines.joined(separator: "\n")
    }

    /// The column at which the help of each option begins.
    private static let column = 26

    private static func line(_ option: CommandOption, width: Int) -> String {
        let name =
            (option.name == help.name ? "  -h, --" : "      --") + option.name + (option.value.map { "=\($0)" } ?? "")
        let wrap = LineWrap(width: width, hanging: column)
        let blanks = String(repeating: " ", count: max(0, column - name.count))
        // A long name stands on lines of its own, which are broken between the words that it may have.
        guard name.count + 2 > column else { return wrap.wrapped(name + blanks + option.help) }
        var lines = [""]
        for word in name.split(separator: "|") {
            if (lines.last ?? "").count + word.count + 1 > width { lines.append(String(repeating: " ", count: column)) }
            lines[lines.count - 1] += word + "|"
        }
        return lines.joined(separator: "\n").dropLast() + "\n"
            + wrap.wrapped(String(repeating: " ", count: column) + option.help)
    }

    /// Where further lines of a line of the details begin: at the margin or, in a row of a table, below its second
    /// column. `nil` for a line of an example, which stays as it is, since people paste it.
    private static func hangingColumn(of line: Substring) -> Int? {
        let indent = line.prefix { $0 == " " }.count
        guard indent > 0 else { return 0 }
        guard let gap = line.dropFirst(indent).firstRange(of: "  ") else { return nil }
        return line[..<gap.lowerBound].count + line[gap.lowerBound...].prefix { $0 == " " }.count
    }
}
