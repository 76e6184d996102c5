internal import Basics
internal import CommandShell
internal import Glibc
internal import Settings

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
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>.group(
            "Output",
            [
                .text("to", "DIR", "Write the page of each command to DIR, which must exist", \.directory)
            ])

        var directory: String?
        var name = ""

        mutating func take(_ operands: [String]) { name = operands.joined(separator: " ") }

        func check(_ given: inout SettingsObject) {
            if directory != nil, !name.isEmpty { given.refuse("to", "writes all pages; expected it without a command") }
            if directory == "" { given.refuse("to", "is empty; expected a directory") }
        }
    }

    /// - Parameter program: The program whose commands have the pages.
    static func command(of program: @escaping @Sendable () -> Command) -> Command {
        Command(syntax, Invocation.self) { (invocation) throws(CommandError) in
            let pages = program().all.map { ManualPage(command: $0, version: ProgramVersion.text) }
            guard let directory = invocation.directory else {
                let names = pages.map { $0.command.words.joined(separator: " ") }
                guard let number = names.firstIndex(of: invocation.name) else {
                    let nearest = Spelling.nearest(to: invocation.name, among: names)
                    let hint = nearest.map { "; did you mean \($0)?" } ?? ""
                    Console.printError(
                        "no command '\(printable(invocation.name, limit: 40))'" + hint, from: syntax.name)
                    return .usage
                }
                Console.print(pages[number].text)
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
