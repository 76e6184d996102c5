/// Looks into a token of any of the three kinds, with or without keys, and checks just what it is asked.
///
/// For people, not for a playback backend: whatever it says, only ``MediaTokenVerifier`` accepts a token.
public struct TokenInspector: Sendable {
    /// What to check. What is `nil` is not checked.
    public struct Questions: Sendable {
        /// The requestor that it should have been issued to.
        public var requestor: RequestorID?
        /// The resource that it should be for; AuthN tokens have none.
        public var resource: ResourceRule?
        /// The MVPDs of which one should have issued it.
        public var mvpds: Set<MVPDID>?
        /// The device that it should be bound to; media tokens are not bound.
        public var device: String?
        /// The moment at which it should be valid.
        public var time: Timestamp?
        /// Skew, default TTL and maximum TTL of media tokens.
        public var policy = VerificationPolicy()

        /// Asks nothing.
        public init() {}
    }

    private let examiner: TokenExaminer

    /// - Parameter keys: `nil` to look without verifying.
    public init(keys: KeyRing?) {
        examiner = TokenExaminer(keys: keys)
    }

    /// Reads the token and checks what is asked.
    public func inspect(_ token: RawToken, asking questions: Questions) -> Examination {
        switch examiner.open(token, choosing: questions.resource) {
        case .failure(let rejection): return TokenExaminer.unreadable(rejection)
        case .success(let parts):
            do {
                let subject = try InspectedClaims(parts.elements)
                let format = Examination.Report.passed(.format, "\(subject.kind.title), strictly read")
                let answers = subject.answers(to: questions)
                return parts.examination([format, parts.signature] + answers, issueTime: subject.media?.issueTime)
            } catch {
                return parts.examination([.failed(Rejection(.format(error))), parts.signature])
            }
        }
    }
}

/// The claims of a token of any kind, as far as an inspection compares them.
private struct InspectedClaims {
    let kind: TokenKind
    let media: MediaTokenClaims?
    let bound: DeviceBoundClaims?

    init(_ elements: TokenElements) throws(FormatProblem) {
        kind = elements.kind
        media = kind == .media ? try MediaTokenClaims(elements) : nil
        bound = kind == .media ? nil : try DeviceBoundClaims(elements)
    }

    private var requestor: RequestorID? { media?.requestor ?? bound?.requestor }
    private var resource: ResourceID? { media?.resource ?? bound?.resource }
    private var mvpd: MVPDID? { media?.mvpd ?? bound?.mvpd }

    func answers(to questions: TokenInspector.Questions) -> [Examination.Report] {
        [
            windowAnswer(questions),
            answer(.requestor, questions.requestor, requestor) { signed, expected in
                signed == expected ? nil : Rejection(.requestor(signed: signed, expected: [expected]))
            },
            answer(.resource, questions.resource, resource) { signed, expected in
                expected.matches(signed) ? nil : Rejection(.resource(signed: signed, expected: expected))
            },
            answer(.mvpd, questions.mvpds, mvpd) { signed, allowed in
                let refusal = Rejection(
                    .mvpd(field: "MVPD", signed: signed, allowed: allowed, for: requestor ?? RequestorID("")))
                return allowed.contains(signed) ? nil : refusal
            },
            answer(.device, questions.device, bound?.fingerprint) { signed, expected in
                signed == expected ? nil : Rejection(.device(signed: signed, expected: expected))
            },
        ]
    }

    /// Compares one signed value with the one that is asked for.
    private func answer<Signed, Expected>(
        _ check: Check, _ expected: Expected?, _ signed: Signed?, refusal: (Signed, Expected) -> Rejection?
    ) -> Examination.Report {
        guard let expected else {
            return .notChecked(check, signed.map { "'\($0)'; not asked for" } ?? "not asked for")
        }
        guard let signed else { return .failed(Rejection(.absent(check, kind))) }
        return refusal(signed, expected).map { .failed($0) } ?? .passed(check, "'\(signed)'")
    }

    private func windowAnswer(_ questions: TokenInspector.Questions) -> Examination.Report {
        let policy = questions.policy
        if let media {
            let window = TimeWindow(
                issued: media.issueTime, expiry: policy.expiry(of: media), skew: policy.clockSkewMilliseconds,
                now: questions.time ?? .now)
            guard let time = questions.time else {
                return .notChecked(.window, window.validMessage + "; not asked for")
            }
            return policy.windowRefusal(of: media, at: time).map { .failed($0) }
                ?? .passed(.window, window.validMessage)
        }
        return answer(.window, questions.time, bound?.expiry) { expiry, time in
            time > expiry.timestamp ? Rejection(.boundTokenExpired(expiry, now: time)) : nil
        }
    }
}
