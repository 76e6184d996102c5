internal import TokenXML

/// Why a token gets no further. What goes wrong with one token of a group stays with that token.
///
/// Indirect, so that a step which goes well moves no more than it made.
indirect enum Stop: Error, Sendable {
    /// It is refused.
    case rejected(Rejection)
    /// Nothing can be said about it.
    case cannotTell(CannotTell)

    /// A token that cannot be read for want of memory is not a malformed one.
    init(_ problem: FormatProblem) {
        switch problem {
        case .xml(.outOfMemory), .document(_, .xml(.outOfMemory)):
            self = .cannotTell(.outOfResources("libxml2: out of memory"))
        default: self = .rejected(Rejection(.format(problem)))
        }
    }

    /// What becomes of the token.
    var outcome: Result<Verdict, CannotTell> {
        switch self {
        case .rejected(let rejection): .success(.rejected(rejection))
        case .cannotTell(let error): .failure(error)
        }
    }
}

/// A token after a step of its way: what the step made of it, or why it goes no further.
typealias Step<Made> = Result<Made, Stop>
