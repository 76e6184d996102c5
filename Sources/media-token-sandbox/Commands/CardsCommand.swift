internal import Basics
internal import CommandShell
internal import MediaToken
internal import Sandbox
internal import Settings

/// `media-token-sandbox cards`: prints the table of test cards.
enum CardsCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token-sandbox cards", operands: "",
        summary: "Print the test cards: what the name of an MVPD or a resource brings about.",
        details: """
            An MVPD or a resource whose ID is the name of a card, or ends with a colon and that name, chooses the card: the MVPD \
            Sandbox:other-key, the resource TNT:denied. A resource's card goes before that of the MVPD. VERDICT is that of a gate that \
            knows the sandbox's keys and expects what was asked for; without one, the client gets no media token.

            Exit status: 0 done, 64 usage.

            Example:
              media-token-sandbox cards
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>([.flag("json", "Print one JSON object per line", \.isJSON)])
        var isJSON = false
    }

    @Sendable private static func run(_ invocation: Invocation) -> ExitStatus {
        let width = TestCard.all.map(\.name.count).max() ?? 0
        for card in TestCard.all {
            let verdict = card.verdict?.rawValue
            let members: JSONValue = [
                "card": .text(card.name), "summary": .text(card.summary), "verdict": verdict.map { .text($0) } ?? .null,
            ]
            let name = card.name + String(repeating: " ", count: width - card.name.count)
            Console.print(invocation.isJSON ? members.line : "\(name)  \(verdict ?? "-")  \(card.summary)")
        }
        return .success
    }
}
