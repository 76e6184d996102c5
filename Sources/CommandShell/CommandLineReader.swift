internal import Basics

/// The options and operands given on a command line.
package struct Arguments: Sendable {
    /// The values of each option, in their order. A flag has an empty one.
    package fileprivate(set) var values: [String: [String]] = [:]
    package fileprivate(set) var operands: [String] = []
}

/// A command line that cannot be read. It ends the program with exit status 64.
package struct UsageError: Error {
    package let message: String

    package init(_ message: String) { self.message = message }
}

/// Splits a command line into options and operands, as users of GNU's programs expect it: `--name VALUE`,
/// `--name=VALUE`, `-h`, operands between options, and `--` before operands that begin with a hyphen. Names are not
/// abbreviated: some flags are unsafe, and must not be set by accident.
struct CommandLineReader {
    private let options: [CommandOption]
    private(set) var arguments = Arguments()
    private(set) var problems: [String] = []

    /// Whether the command line asks for the help.
    var asksForHelp: Bool { problems.isEmpty && arguments.values[CommandSyntax.help.name] != nil }

    /// - Parameter stopsAtOperand: Whether the first operand ends the options, as in a command that has subcommands.
    init(_ line: [String], of syntax: CommandSyntax, stopsAtOperand: Bool) {
        options = syntax.options
        let isAlone = line.count == (syntax.firstOperands.contains(line.first ?? "") ? 2 : 1)
        var rest = line[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                arguments.operands += rest
                return
            }
            // Compares bytes: the first character may consist of a hyphen and more.
            guard argument.utf8.first == UInt8(ascii: "-"), argument != "-" else {
                arguments.operands.append(argument)
                if !stopsAtOperand { continue }
                arguments.operands += rest
                return
            }
            take(argument, &rest, isAlone: isAlone)
        }
    }

    /// The options that end a command with 0 and no verdict.
    private static let standAlone: Set = ["help", "version"]

    private mutating func take(_ argument: String, _ rest: inout ArraySlice<String>, isAlone: Bool) {
        let hyphens = argument.utf8.prefix(2).prefix { $0 == UInt8(ascii: "-") }.count
        let mark = argument.firstIndex(of: "=")
        let name =
            argument == "-h"
            ? CommandSyntax.help.name : String(argument[..<(mark ?? argument.endIndex)].dropFirst(hyphens))
        guard hyphens == 2 || argument == "-h", let option = options.first(where: { $0.name == name }) else {
            let abbreviated = options.filter { $0.name.hasPrefix(name) }
            let nearest =
                abbreviated.count == 1 ? abbreviated[0].name : Spelling.nearest(to: name, among: options.map(\.name))
            let hint = nearest.map { "; did you mean --\($0)?" }
            // What follows the letters of a name may be a secret.
            let shown = name.prefix { $0.isLetter || $0 == "-" }
            let rest = shown.count < name.count ? "…" : ""
            problems.append(
                "no option '\(argument.prefix(hyphens))\(printable(String(shown), limit: 20))\(rest)'\(hint ?? "")")
            return
        }
        guard !Self.standAlone.contains(name) || isAlone else {
            problems.append(
                "\(argument.prefix { $0 != "=" }) is given with other arguments; expected it alone, or after -- if it is an operand"
            )
            return
        }
        let given = mark.map { String(argument[argument.index(after: $0)...]) }
        switch (option.value, given) {
        case (nil, nil): arguments.values[name, default: []].append("")
        case (nil, _?): problems.append("--\(name) is given a value; expected none")
        case (_?, let text?): arguments.values[name, default: []].append(text)
        case (let placeholder?, nil):
            guard let text = rest.popFirst() else {
                problems.append("--\(name) is given without its value; expected \(placeholder)")
                return
            }
            arguments.values[name, default: []].append(text)
        }
    }
}
