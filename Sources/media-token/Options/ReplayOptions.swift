internal import MediaToken
internal import ReplayStores
internal import TextEncodings

/// The option that names the replay store.
struct ReplayOptions {
    static let group = OptionGroup(
        heading: "Single use:",
        options: [
            CommandOption(
                "replays", "URL",
                "Where used tokens are remembered: \(ReplayStoreLocation.forms) (default memory: for this run only)")
        ])

    private let url: String

    /// The kind of store, for a report: what is behind the colon may hold a password.
    var kind: String { printable(String(url.prefix { $0 != ":" })) }

    init(_ given: Arguments, time: TimeOptions) throws(UsageError) {
        url = try given.one("replays") ?? "memory"
        // A store forgets what has passed: asked about the future, it would forget what is alive for everybody else.
        guard url == "memory" || time.time == nil else {
            throw UsageError(
                "--at is given beside --replays \(printable(url)); a lasting store is asked as of now only")
        }
    }

    /// Opens the store, or makes it: then behind a fence that allows for clocks that are apart.
    func open(clockSkew: Duration) throws(CommandFailure) -> ReplayStore {
        do { return try ReplayStore(opening: url, clockSkew: clockSkew) } catch { throw CommandFailure("\(error)") }
    }

    /// Opens the store for a load test, whose tokens are issued after this: without an allowance for clocks, and where it is
    /// in memory, without a limit.
    func openToBeFilled() throws(CommandFailure) -> ReplayStore {
        url == "memory" ? .memory(MemoryReplayCache(capacity: .max)) : try open(clockSkew: .zero)
    }

    /// Opens a store that is there. Should it have to be put right after a crash of the machine, its fence allows for the
    /// largest skew, since who claims in it may allow that.
    static func openExisting(_ url: String) throws(CommandFailure) -> ReplayStore {
        do {
            return try ReplayStore(opening: url, makesNew: false, clockSkew: VerificationPolicy.largestClockSkew)
        } catch { throw CommandFailure("\(error)") }
    }
}
