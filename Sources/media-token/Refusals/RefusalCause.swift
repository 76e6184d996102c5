internal import Basics
internal import LoadTest
internal import MediaToken
internal import MediaTokenGate

/// Why a token is likely to have been refused, as far as a gate's log shows it.
enum RefusalCause: Hashable {
    /// The app sends a token again that it has used before.
    case cached(app: String?)
    /// The app first sends its tokens when they have expired.
    case late(app: String?)
    /// A list of MVPDs lacks one.
    case mvpdNotListed(requestor: String, mvpd: String)
    /// The code alone says what is wrong.
    case code(String)

    /// Uses of one token within so many seconds may be one play, sent again.
    private static let onePlay = 10

    /// The cause of a refusal.
    ///
    /// - Parameter earlier: the seconds since the token was first used; `nil` if it was not.
    init(of code: String, _ entry: LogEntry, secondsSinceFirstUse earlier: Int?) {
        switch VerdictCode(rawValue: code) {
        case .tokenAlreadyUsed: self = .cached(app: entry.app)
        case .tokenExpired: self = earlier == nil ? .late(app: entry.app) : .cached(app: entry.app)
        case .invalidMVPDID:
            self = .mvpdNotListed(requestor: entry.requestor ?? "", mvpd: entry.mvpd ?? "")
        default: self = .code(code)
        }
    }

    /// The name of the cause, for programs.
    var name: String {
        switch self {
        case .cached: "cached-token"
        case .late: "late-token"
        case .mvpdNotListed: "mvpd-not-listed"
        case .code: "code"
        }
    }

    /// Whether the token was used before, so that the delay is counted from its first use.
    var isOfRepeatedUse: Bool { if case .cached = self { true } else { false } }

    /// The code that has this cause; `nil` if several have.
    var code: String? { if case .code(let code) = self { code } else { nil } }

    var app: String? {
        switch self {
        case .cached(let app), .late(let app): app
        case .mvpdNotListed, .code: nil
        }
    }

    var mvpd: String? { if case .mvpdNotListed(_, let mvpd) = self { mvpd } else { nil } }

    /// What happened, in a clause.
    ///
    /// - Parameter delay: the seconds after which tokens were refused, from their first use if they are cached, and
    ///   otherwise from their issue; `nil` if they are not known.
    func sentence(after delay: ClosedRange<Int>?) -> String {
        let app = app.map { printable($0) } ?? "an app without a User-Agent"
        let seconds = delay.map { delay in
            delay.lowerBound == delay.upperBound
                ? "\(delay.lowerBound)" : "\(delay.lowerBound) to \(delay.upperBound)"
        }
        func after(_ event: String) -> String { seconds.map { ", \($0) s after \(event)" } ?? "" }
        return switch self {
        case .cached: "\(app) caches tokens: it sends one again\(after("its first use"))"
        case .late: "\(app) first sends tokens that have expired\(after("they were issued"))"
        case .mvpdNotListed(let requestor, let mvpd):
            "the MVPD \(printable(mvpd)) is not in the list of requestor \(printable(requestor))"
        case .code(let code): VerdictCode(rawValue: code).map { "\(code): \($0.title)" } ?? printable(code)
        }
    }

    /// What to do, in a sentence.
    ///
    /// - Parameter delay: the seconds after which tokens were refused, as for the clause.
    func advice(after delay: ClosedRange<Int>?) -> String {
        switch self {
        case .cached:
            "Fetch a new token for each play, and keep none."
                + (delay.map { $0.upperBound <= Self.onePlay } == true
                    ? " If one play sends its token twice, stop the second request; only /v1/play, with an Idempotency-Key, and a proxy, with attempt-window, may ask again."
                    : "")
        case .late:
            "Compare the clocks of the app, of the gate's host and of whatever keeps tokens: one that is behind keeps a token too long. Otherwise the app waits too long before it plays."
        case .mvpdNotListed:
            "Add the MVPD, or its proxy if 'detail' names that, to mvpd, if its viewers may play."
        case .code(let code): Self.advice[code] ?? "Look the code up on the page on troubleshooting."
        }
    }

    private static let advice: [String: String] = [
        VerdictCode.invalidTokenFormat.rawValue:
            "The app or the backend changes the token on its way, or sends something else: 'detail' in the log shows how it begins.",
        VerdictCode.invalidSignature.rawValue:
            "Load the key of the environment that issued the tokens; if only a few are refused, they are forged or changed on their way.",
        VerdictCode.tokenNotYetValid.rawValue: "Set the clock of the gate's host: it is behind Adobe's.",
        VerdictCode.invalidRequestorID.rawValue:
            "The app gets its tokens for another requestor than the backend or the route expects.",
        VerdictCode.invalidResourceID.rawValue:
            "The app gets its tokens for another resource than the backend or the route expects.",
        VerdictCode.tokenPredatesStore.rawValue:
            "The replay store was new, or had lost its records; this ends by itself.",
        VerdictCode.errorUnknown.rawValue: "The replay store was down, or too slow: see the gate's own messages.",
        GateCode.tokenMissing.rawValue:
            "The player sends neither a token nor a playback grant: exchange the token for a grant, which it sends with each segment.",
        GateCode.grantRefused.rawValue:
            "The grant has expired or is for another path; the app must exchange a new token.",
        GateCode.routeUnknown.rawValue: "Add a route for these paths, or an open one.",
        GateCode.requestInvalid.rawValue: "Repair the caller: 'detail' in the log says what the gate expected.",
    ]
}
