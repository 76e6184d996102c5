internal import CommandShell
internal import Glibc
internal import TextEncodings

/// `media-token manual`: prints or writes the manual pages, which are made of the same texts as `--help`.
enum ManualCommand {
    private static let syntax = CommandSyntax(
        name: "media-token manual", operands: "[COMMAND]...",
        summary: "Print the manual page of a command, or write all pages.",
        details: """
            Exit status: 0 done, 2 a file cannot be written, 64 usage.

            Examples:
              media-token manual serve | man -l -
              media-token manual --to .
            """,
        groups: [
            OptionGroup(
                heading: "Output:",
                options: [CommandOption("to", "DIR", "Write the page of each command to DIR, which must exist")])
        ])

    /// - Parameter program: The program whose commands have the pages.
    static func command(of program: @escaping @Sendable () -> Command) -> Command {
        Command(syntax) { arguments in
            let pages = program().all.map { ManualPage(command: $0, version: ProgramVersion.text) }
            let (directory, page) = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in
                let (name, directory) = (given.operands.joined(separator: " "), try given.one("to"))
                guard directory == nil || name.isEmpty else {
                    throw UsageError("--to writes all pages; expected it without a command")
                }
                guard directory != "" else { throw UsageError("--to is empty; expected a directory") }
                let names = pages.map { $0.command.words.joined(separator: " ") }
                guard let number = names.firstIndex(of: name) else {
                    let nearest = Spelling.nearest(to: name, among: names)
                    let hint = nearest.map { "; did you mean \($0)?" } ?? ""
                    throw UsageError("no command '\(printable(name, limit: 40))'" + hint)
                }
                return (directory, pages[number])
            }
            return CommandError.report { () throws(CommandError) in
                guard let directory else {
                    Console.print(page.text)
                    return .success
                }
                for page in pages {
                    let file = "\(directory)/\(page.name).1"
                    // An upgrade replaces the pages of the version before.
                    unlink(file)
                    try NewFile.write(page.text, to: file, mode: 0o644)
                }
                return .success
            }
        }
    }
}
