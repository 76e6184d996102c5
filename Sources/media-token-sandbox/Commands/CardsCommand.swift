internal import CommandShell
internal import MediaToken
internal import Sandbox
internal import TextEncodings

/// `media-token-sandbox cards`: prints the table of test cards.
enum CardsCommand {
    static let command = Command(syntax, run: run)

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
            """,
        groups: [
            OptionGroup(
                heading: "Options:", options: [CommandOption("json", nil, "Print one JSON object per line")])
        ])

    @Sendable private static func run(_ arguments: [String]) -> ExitStatus {
        let isJSON = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in
            guard given.operands.isEmpty else { throw UsageError("expected options only") }
            return given.has("json")
        }
        let width = TestCard.all.map(\.name.count).max() ?? 0
        for card in TestCard.all {
            let verdict = card.verdict?.rawValue
            let members: JSONValue = [
                "card": .text(card.name), "summary": .text(card.summary), "verdict": verdict.map { .text($0) } ?? .null,
            ]
            let name = card.name + String(repeating: " ", count: width - card.name.count)
            Console.print(isJSON ? members.line : "\(name)  \(verdict ?? "-")  \(card.summary)")
        }
        return .success
    }
}
