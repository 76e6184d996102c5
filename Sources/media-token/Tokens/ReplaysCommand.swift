internal import Basics
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import ReplayStores
internal import Settings

/// `media-token replays`: shows the contents of a replay store, deletes its expired buckets, or looks tokens up.
enum ReplaysCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token replays", operands: "stat|sweep|lookup URL [TOKEN | @FILE | -]",
        summary: "Show what a replay store holds, drop what has passed, or look a token up.",
        details: """
            Commands:
              stat       live tokens in each minute of expiry, size, oldest and newest, fence
              sweep      drop the minutes that have passed; a store in use does so by itself
              lookup     whether a token is used, also in a store in use; consumes nothing.
                         It needs no key, so what the token says is unverified

            URL is one of \(ReplayStoreLocation.forms); the store must exist.

            Exit status: 0 done, 2 the store cannot be used, 64 usage; of lookup: 0 not used, \
            1 used, or older than the store's records, 2 cannot tell.

            Examples:
              media-token bench verify --count 100 --seconds 1 --replays lmdb:replays
              media-token replays stat lmdb:replays
              media-token replays lookup lmdb:replays \\
                @Tests/Vectors/media-token-2016-temppass.txt
                # exit status 1: it is older than the store
            """)

    private struct Invocation: CommandValues {
        enum Task {
            case show(ReplayStoreLocation, sweepsFirst: Bool)
            case lookUp(ReplayLookup)
        }

        static let table = SettingsTable<Invocation>.group(
            "Output",
            [
                .flag("json", "Print one JSON object", \.isJSON)
            ])

        var isJSON = false
        var task: Task?

        mutating func take(_ operands: [String]) throws(UsageError) { task = try Self.task(operands) }

        private static func task(_ operands: [String]) throws(UsageError) -> Task {
            if operands.first == "lookup" { return .lookUp(try ReplayLookup(Array(operands.dropFirst()))) }
            if let name = operands.first, let nearest = Spelling.nearest(to: name, among: ["stat", "sweep", "lookup"]),
                nearest != name
            {
                throw UsageError("no command '\(printable(name, limit: 20))'; did you mean \(nearest)?")
            }
            guard operands.count == 2, ["stat", "sweep"].contains(operands[0]) else {
                throw UsageError("expected stat URL, sweep URL or lookup URL TOKEN")
            }
            return .show(try ReplayOptions.existing(operands[1]), sweepsFirst: operands[0] == "sweep")
        }
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        switch invocation.task {
        case nil: return .usage
        case .lookUp(let lookup)?: return try lookup.run(asJSON: invocation.isJSON)
        case .show(let location, let sweepsFirst)?:
            let store = try ReplayOptions.openExisting(location)
            let contents = try store.closed { () throws(CommandError) in
                try CommandError.wrap {
                    if sweepsFirst { try store.sweep(at: .now) }
                    return try store.contents()
                }
            }
            show(contents, store.statements, asJSON: invocation.isJSON)
            return .success
        }
    }

    private static func show(_ contents: ReplayStoreContents, _ statements: [String], asJSON: Bool) {
        guard !asJSON else { return Console.print(document(contents, statements).line) }
        Console.print("live tokens  \(contents.entries)")
        if let bytes = contents.bytes { Console.print("size         \(bytes) bytes") }
        if let fence = contents.fence { Console.print("fence        \(TokenDate(fence))") }
        if !statements.isEmpty {
            Console.print("relies on    \(statements.joined(separator: ", ")), which the URL states")
        }
        guard let oldest = contents.buckets.first, let newest = contents.buckets.last else { return }
        Console.print("expiring     from \(TokenDate(oldest.begin)) to \(TokenDate(newest.end))")
        for bucket in contents.buckets { Console.print("  \(TokenDate(bucket.begin))  \(bucket.entries)") }
    }

    private static func document(_ contents: ReplayStoreContents, _ statements: [String]) -> JSONValue {
        JSONValue([
            "entries": contents.entries, "bytes": contents.bytes, "fenceMilliseconds": contents.fence?.milliseconds,
            "statements": statements,
            "buckets": contents.buckets.map { bucket in
                JSONValue([
                    "beginMilliseconds": bucket.begin.milliseconds, "endMilliseconds": bucket.end.milliseconds,
                    "entries": bucket.entries,
                ])
            },
        ])
    }
}
