internal import CommandShell

/// Writes a command's `--help` as a manual page, in the macros of man(7).
struct ManualPage {
    let command: Command
    let version: String

    /// The name of the page, which is also that of its file without `.1`: `media-token-verify`.
    var name: String { Self.name(of: command) }

    /// The page.
    var text: String {
        let syntax = command.syntax
        var lines = [
            ".TH \(name.uppercased()) 1 \"\" \"media-token \(version)\" \"User commands\"", ".SH NAME",
            Self.escaped(name) + " \\- " + Self.escaped(syntax.summary), ".SH SYNOPSIS",
            "\\fB\(Self.escaped(syntax.name))\\fR [\\fIOPTION\\fR]... " + Self.escaped(syntax.operands),
            ".SH DESCRIPTION",
        ]
        lines += syntax.details.split(separator: "\n\n").flatMap { Self.paragraph($0.split(separator: "\n")) }
        for group in syntax.groups {
            lines += [".SH \"\(group.heading.uppercased())\""] + group.options.flatMap(Self.entry)
        }
        let others = command.commands.map(Self.name)
        if !others.isEmpty {
            lines += [".SH SEE ALSO"] + others.map { ".BR \(Self.escaped($0)) (1)" + ($0 == others.last ? "" : ",") }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func name(of command: Command) -> String { command.syntax.name.replacing(" ", with: "-") }

    /// A paragraph of the details. Its indented lines are examples or lists, and stay as they are.
    private static func paragraph(_ lines: [Substring]) -> [String] {
        var (result, isVerbatim) = ([".PP"], false)
        for line in lines {
            if line.hasPrefix("  ") != isVerbatim {
                isVerbatim.toggle()
                result += isVerbatim ? [".PP", ".nf"] : [".fi", ".PP"]
            }
            result.append(escaped(String(line)))
        }
        return result + (isVerbatim ? [".fi"] : [])
    }

    private static func entry(_ option: CommandOption) -> [String] {
        let value = option.value.map { "=\\fI\(escaped($0))\\fR" } ?? ""
        return [".TP", "\\fB\\-\\-\(escaped(option.name))\\fR\(value)", escaped(option.help)]
    }

    /// A line that troff prints as it is: backslashes, hyphens, and dots and apostrophes at its beginning mean
    /// something else.
    private static func escaped(_ text: String) -> String {
        let line = text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
        return line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }
}
