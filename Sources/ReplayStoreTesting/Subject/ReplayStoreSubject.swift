public import MediaToken

/// A replay store under test, as its author describes it to the contract.
///
/// The contract makes a new place for each clause that it checks, opens stores there, and starts workers that open the
/// same place. Opening and closing may block.
public protocol ReplayStoreSubject: Sendable {
    /// The type of the store.
    associatedtype Store: ReplayStore

    /// Makes a place that no store has used, and names it: a path, a URL, a prefix of keys.
    func makePlace() throws -> String

    /// Opens the store at a place; the first time, a new one that begins at `now`, with its fence there.
    func open(_ place: String, at now: Timestamp) throws -> Store

    /// Closes a store that the contract has opened. By default that is left to the store's deinitializer.
    func close(_ store: Store) throws

    /// Who can use a place, which decides which clauses apply.
    var sharing: ReplayStoreSharing { get }

    /// The number of tokens that the store remembers, those included that have expired and are not deleted yet; by
    /// default `nil`, for a store that cannot tell.
    func entries(of store: Store) throws -> Int?

    /// The number of claims in a group of the races; by default 1. A store that asks a server, or syncs a disk, takes
    /// 40 or more, so that the races end in time.
    var claimsInGroup: Int { get }
}

extension ReplayStoreSubject {
    /// Leaves it to the store's deinitializer to close it.
    public func close(_ store: Store) throws {}

    /// States no number.
    public func entries(of store: Store) throws -> Int? { nil }

    /// One claim.
    public var claimsInGroup: Int { 1 }
}

/// Who can use the place of a replay store, and when.
public enum ReplayStoreSharing: Sendable {
    /// One store in memory, whose records end with it.
    case memory
    /// One process at a time. The records stay at the place when the store is closed.
    case oneProcess
    /// Any number of processes at once. The records stay at the place when all of them have ended.
    ///
    /// - Parameters:
    ///   - worker: the program that the contract starts for a further process.
    ///   - deadline: the time within which every claim is answered, if need be with an error: what the store states,
    ///     and what a busy machine may add to it. It is `nil` for a store that states none, which then breaks the
    ///     contract of `ReplayStore` wherever a process can be stopped.
    case processes(worker: ReplayStoreWorker.Command, deadline: Duration?)
}
