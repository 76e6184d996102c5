internal import MediaToken

/// A search for the owners of a cluster's slots: one server after the other is asked until one tells.
struct RedisSlotSearch {
    /// The caller that waits for the end of the search.
    enum Client {
        case group(Int)
        case errand(Int)
    }

    /// A question that a server was asked, and the time by which it must be answered.
    struct Question {
        let node: Int
        let number: Int
        let deadline: ContinuousClock.Instant
    }

    /// The servers that are still to be asked.
    var candidates: [Int]
    var clients: [Client]
    /// The question that is under way.
    var question: Question?
    /// The error of the first server that did not tell.
    var firstError: ReplayStoreError?
}
