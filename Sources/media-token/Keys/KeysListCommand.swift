internal import Basics
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import Settings

/// `media-token keys list`: shows the keys that a verifier would load.
enum KeysListCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token keys list", operands: "[FILE | DIR]...",
        summary: "Show the keys that verify would load, and why others are refused.",
        details: """
            A file that verify is given by name must hold no refused key. What else a file has is named as left out.

            Exit status: 0 at least one usable key, 2 none, 64 usage.

            Example:
              media-token keys list --min-rsa-bits 1024 Keys
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            KeyOptions.table.within(\.keys),
            .group("Output", [.flag("json", "Print one JSON object per line for each key", \.isJSON)]))

        var keys = KeyOptions()
        var isJSON = false

        mutating func take(_ operands: [String]) { keys.operands = operands }

        func check(_ given: inout SettingsObject) {
            keys.check(&given)
            if keys.paths.isEmpty { given.refuse(nil, "no key given; expected a file or a directory") }
        }
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let (usable, refused, leftOut) = try invocation.keys.survey()
        for key in usable { Console.print(invocation.isJSON ? document(key).line : text(key)) }
        for (key, isRefused) in refused.map({ ($0, true) }) + leftOut.map({ ($0, false) }) {
            let text = key.explanation
            if invocation.isJSON {
                Console.print(JSONValue(["file": key.file, isRefused ? "refused" : "leftOut": text]).line)
            } else {
                Console.print(Style.faint(printable(key.file, limit: 300)))
                Console.print(Style.faint("  \(isRefused ? "refused: " : "")\(text)"), hanging: 4)
            }
        }
        if usable.isEmpty {
            Console.printError("\(KeyRingError.noKeys(places: invocation.keys.paths, refused: []))")
        }
        return usable.isEmpty ? .undecided : .success
    }

    private static func text(_ key: VerificationKey) -> String {
        let validity = key.validity.map {
            "\n  valid        \(TokenDate($0.lowerBound)) to \(TokenDate($0.upperBound))"
        }
        return """
            \(key.name)
              file         \(key.file)
              modulus      \(key.bits) bits
              fingerprint  \(key.fingerprint)
            """ + (validity ?? "")
    }

    static func document(_ key: VerificationKey) -> JSONValue {
        JSONValue([
            "name": key.name, "file": key.file, "bits": key.bits, "fingerprint": key.fingerprint,
            "notBeforeMilliseconds": key.validity?.lowerBound.milliseconds,
            "notAfterMilliseconds": key.validity?.upperBound.milliseconds,
        ])
    }
}
