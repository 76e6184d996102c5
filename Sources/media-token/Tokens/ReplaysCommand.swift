internal import MediaToken
internal import MediaTokenGate
internal import ReplayStores

/// `media-token replays`: shows the contents of a replay store, or deletes its expired buckets.
enum ReplaysCommand {
    private static let syntax = CommandSyntax(
        name: "media-token replays", operands: "stat|sweep URL",
        summary: "Show what a replay store holds, or drop what has passed.",
        details: """
            Commands:
              stat       live tokens in each minute of expiry, size, oldest and newest, fence
              sweep      drop the minutes that have passed; a store in use does so by itself

            URL is one of \(ReplayStoreLocation.forms); the store must exist.

            Exit status: 0 done, 2 the store cannot be used, 64 usage.

            Example:
              media-token replays stat lmdb:/var/lib/media-token/replays
            """,
        groups: [
            OptionGroup(heading: "Output:", options: [CommandOption("json", nil, "Print one JSON object")])
        ])

    private struct Invocation {
        let sweeps: Bool
        let url: String
        let isJSON: Bool

        init(_ given: Arguments) throws(UsageError) {
            guard given.operands.count == 2, ["stat", "sweep"].contains(given.operands[0]) else {
                throw UsageError("expected stat URL or sweep URL")
            }
            (sweeps, url, isJSON) = (given.operands[0] == "sweep", given.operands[1], given.has("json"))
        }
    }

    @Sendable static func run(_ arguments: [String]) -> ExitStatus {
        let invocation = ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in try Invocation(given) }
        return CommandError.report { () throws(CommandError) in
            let store = try ReplayOptions.openExisting(invocation.url)
            do throws(ReplayCacheError) {
                if invocation.sweeps { try store.sweep(at: .now) }
                let status = try store.status()
                try store.close()
                show(status, store.statements, asJSON: invocation.isJSON)
            } catch {
                throw CommandError("\(error)")
            }
            return .success
        }
    }

    private static func show(_ status: ReplayStoreStatus, _ statements: [String], asJSON: Bool) {
        guard !asJSON else { return Console.print(JSONLine.encode(StatusObject(status, statements))) }
        Console.print("live tokens  \(status.entries)")
        if let bytes = status.bytes { Console.print("size         \(bytes) bytes") }
        if let fence = status.fence { Console.print("fence        \(TokenDate(fence))") }
        if !statements.isEmpty {
            Console.print("relies on    \(statements.joined(separator: ", ")), which the URL states")
        }
        guard let oldest = status.buckets.first, let newest = status.buckets.last else { return }
        Console.print("expiring     from \(TokenDate(oldest.begin)) to \(TokenDate(newest.end))")
        for bucket in status.buckets { Console.print("  \(TokenDate(bucket.begin))  \(bucket.entries)") }
    }

    private struct StatusObject: Encodable {
        struct BucketObject: Encodable {
            let beginMilliseconds: Int64
            let endMilliseconds: Int64
            let entries: Int
        }

        let entries: Int
        let bytes: Int?
        let fenceMilliseconds: Int64?
        let statements: [String]
        let buckets: [BucketObject]

        init(_ status: ReplayStoreStatus, _ statements: [String]) {
            self.statements = statements
            (entries, bytes) = (status.entries, status.bytes)
            fenceMilliseconds = status.fence?.milliseconds
            buckets = status.buckets.map {
                BucketObject(
                    beginMilliseconds: $0.begin.milliseconds, endMilliseconds: $0.end.milliseconds, entries: $0.entries)
            }
        }
    }
}
