/// Why a store has begun with an empty log, so that it is fenced. The store's record keeps the word.
enum FenceCause: String {
    case new
    /// A version before 0.2.0 wrote the record, and did not say.
    case unknown
    case boot
    case moved
    case access
    case missing
    case copied
    case inUse = "in-use"

    /// One clause for the operator.
    var text: String {
        switch self {
        case .new: "the replay store is new"
        case .unknown: "the replay store was new, or had lost records"
        case .boot: "the machine stopped before the replay store was closed, and may have lost records"
        case .moved: "the replay store's directory was moved, or given other modes or another owner"
        case .access: "files of the replay store were moved, or given other modes or another owner"
        case .missing: "files of the replay store were missing"
        case .copied: "files of the replay store were copied back, or restored"
        case .inUse: "the replay store was replaced while a gate used it"
        }
    }
}
