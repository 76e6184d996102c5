internal import Basics
internal import CommandShell
internal import MediaToken
internal import ReplayStores
internal import Settings

/// The option that names the replay store.
struct ReplayOptions {
    static let table = SettingsTable<ReplayOptions>.group(
        "Single use",
        [
            Setting(
                "replays", "URL", .text(),
                "Record used tokens in this replay store: \(ReplayStoreLocation.forms) (default memory, for this run only)"
            ) { object, name, options in
                guard let url = object.text(name) else { return }
                do throws(ReplayStoreURLError) { options.location = try ReplayStoreLocation(url) } catch {
                    object.refuse(name, "\(error)")
                }
            }
        ])

    private var location = ReplayStoreLocation.memory

    /// The kind of store, for a report.
    var kind: String { location.kind }

    func check(_ given: inout SettingsObject, _ time: TimeOptions) {
        // A store deletes expired tokens. Given a future time, it would delete tokens that are live for other users.
        guard location != .memory, time.time != nil else { return }
        given.refuse(
            nil, "--at cannot go with a lasting --replays store, which is only asked as of now")
    }

    /// Warns that the command consumes tokens, if a gate may use the store. Call it before the store is opened.
    func warnOfUse() {
        guard location.mayBeInUse else { return }
        Console.printWarning(
            "an accepted token is consumed in this \(kind) store: a gate that shares it will reject the viewer's play; "
                + "to look only, run 'media-token replays lookup'")
    }

    /// Opens the store, or creates it. A new LMDB or Redis store gets a fence that allows for clock skew.
    func open(clockSkew: Duration) throws(CommandError) -> ConfiguredReplayStore {
        try CommandError.wrap { try ConfiguredReplayStore(at: location, isService: false, clockSkew: clockSkew) }
    }

    /// Opens the store for a load test, which issues its tokens afterwards. A new fence allows for no clock skew, and a
    /// memory store has no size limit.
    func openToBeFilled() throws(CommandError) -> ConfiguredReplayStore {
        location == .memory ? .memory(MemoryReplayStore.unfenced(capacity: .max)) : try open(clockSkew: .zero)
    }

    /// The location of a store that exists when this command begins.
    static func existing(_ url: String) throws(UsageError) -> ReplayStoreLocation {
        let location: ReplayStoreLocation
        do throws(ReplayStoreURLError) { location = try ReplayStoreLocation(url) } catch {
            throw UsageError("\(error)")
        }
        guard location != .memory else {
            throw UsageError("a memory store is known to its own process only; expected lmdb:PATH or a Redis URL")
        }
        return location
    }

    /// Opens an existing store. If the store must be recovered after a crash of the machine, its fence is moved by the
    /// largest clock skew, because any of its users may allow that much.
    static func openExisting(_ location: ReplayStoreLocation) throws(CommandError) -> ConfiguredReplayStore {
        try CommandError.wrap {
            try ConfiguredReplayStore(
                at: location, makesNew: false, isService: false, clockSkew: VerificationPolicy.largestClockSkew)
        }
    }
}

extension ConfiguredReplayStore {
    /// Runs `body`, and closes the store, whatever comes of it: a store that nobody closes counts as crashed when the
    /// machine starts again.
    func closed<Value>(after body: () throws(CommandError) -> Value) throws(CommandError) -> Value {
        let value: Value
        do throws(CommandError) { value = try body() } catch {
            try? close()
            throw error
        }
        try CommandError.wrap { try close() }
        return value
    }
}
