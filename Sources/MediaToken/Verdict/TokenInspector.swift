package import Basics
internal import ClaimsStage
internal import PolicyStage
internal import TokenXML

/// Inspects a token of any of the three kinds, with or without keys, and makes only the checks that the caller
/// requests.
///
/// An inspection is for people, not for a playback backend: only ``MediaTokenVerifier`` accepts a token.
package struct TokenInspector: Sendable {
    /// The checks to make. A check is made only if its question is not `nil`.
    package struct Questions: Sendable {
        /// The requestor that the token should have been issued to.
        package var requestor: RequestorID?
        /// The resource that the token should be for; AuthN tokens have none.
        package var resource: ResourceRule?
        /// The MVPDs, one of which should have issued the token. A proxy MVPD of a media token must be among them too.
        package var mvpds: Set<MVPDID>?
        /// The device that the token should be bound to; media tokens are not bound to one.
        package var device: String?
        /// The time at which the token should be valid.
        package var time: CheckTime?
        /// The current time, from which the distance of the token's dates is told if no time is asked about.
        package var now: Timestamp
        /// The policy whose clock skew, default TTL and maximum TTL apply to media tokens.
        package var policy = VerificationPolicy()

        /// Creates questions that request no check.
        package init(now: Timestamp = .now) { self.now = now }
    }

    private let keys: KeyRing?

    /// - Parameter keys: the keys to verify the signature with; `nil` to leave the signature unchecked.
    package init(keys: KeyRing?) {
        self.keys = keys
    }

    /// Reads the token and makes the requested checks.
    ///
    /// - Parameters:
    ///   - token: the token as it arrived.
    ///   - questions: the checks to make.
    package func inspect(_ token: RawToken, asking questions: Questions) -> Examination {
        let envelope = TokenPath.open(token, for: questions.resource)
        let time =
            switch questions.time {
            case .at(let time)?: time
            case .issued?: UnverifiedToken.issueTime(of: token, for: questions.resource) ?? questions.now
            // A command that reads a capture replaces it by the time of the line.
            case .line?, nil: questions.now
            }
        let examiner = TokenExaminer(
            envelope: envelope, payload: keys.flatMap { authenticate(envelope, with: $0, at: time) },
            unread: [.window, .requestor, .resource, .mvpd, .device].map(CheckReport.unread), time: time,
            seeksCause: true)
        return examiner.examination { (elements) throws(ClaimsError) in
            guard elements.kind == .media else {
                let bound = try InspectedBinding(elements)
                return (bound.answers(to: questions, at: time), nil, bound.claims.expiry)
            }
            let claims = try MediaTokenClaims(elements)
            return (
                questions.answers(on: claims, at: time), claims.issueTime, questions.policy.expiryDate(of: claims)
            )
        }
    }

    private func authenticate(
        _ envelope: Result<TokenEnvelope, EnvelopeError>, with keys: KeyRing, at now: Timestamp
    ) -> Result<AuthenticPayload, SignatureError>? {
        do {
            return try TokenPath(keys: keys, policy: VerificationPolicy()).authenticate([envelope], at: now)[0]
        } catch {
            return .failure(.outOfResources("\(error)"))
        }
    }
}

extension TokenInspector.Questions {
    /// The checks of a media token: those of a verification, as far as they are asked for.
    fileprivate func answers(on claims: MediaTokenClaims, at time: Timestamp) -> [CheckReport] {
        let policy = VerificationPolicy(
            clockSkew: policy.clockSkew, defaultTTL: policy.defaultTTL, maximumTTL: policy.maximumTTL,
            allowedMVPDs: mvpds.map { [claims.requestor: $0] } ?? [:])
        let expectation = Expectation(
            requestors: requestor.map { [$0] } ?? [], resource: resource ?? .unsafeAnyResource)
        let reports = PolicyCheck.inOrder.map { check in
            check.report(isAsked: asks(for: check.name), policy, claims, expectation, time)
        }
        return reports + [.answer(.device, device, String?.none, TokenKind.media) { _, _ in nil }]
    }

    /// Whether a check of the policy is asked for; those that no question is for always are.
    private func asks(for check: Check) -> Bool {
        switch check {
        case .window: time != nil
        case .requestor: requestor != nil
        case .resource: resource != nil
        case .mvpd: mvpds != nil
        case .device: device != nil
        default: true
        }
    }
}

extension CheckReport {
    /// Compares what a token says with what is expected.
    fileprivate static func answer<Signed, Expected>(
        _ check: Check, _ expected: Expected?, _ signed: Signed?, _ kind: TokenKind,
        failure: (Signed, Expected) -> CheckReport?
    ) -> CheckReport {
        let shown = signed.map { "'\(printable("\($0)"))'" }
        guard let expected else { return .notAsked(check, shown) }
        guard let signed else {
            let other = kind == .media ? "" : "; if a media token was meant, \(Rejection.mediaTokenAdvice)"
            let advice = "leave the question out for this kind of token\(other)"
            return .failed(check, "\(kind.title) says nothing about it", advice: advice)
        }
        return failure(signed, expected) ?? .passed(check, shown ?? "")
    }
}

/// The claims of an AuthN or AuthZ token, as far as an inspection compares them.
private struct InspectedBinding {
    let claims: DeviceBoundClaims
    private let kind: TokenKind
    /// The lifetime of an AuthN token, whose `ttl` is in seconds; `nil` if it has none, or one that is no such number.
    private let lifetime: Span?

    init(_ elements: TokenElements) throws(ClaimsError) {
        kind = elements.kind
        claims = try DeviceBoundClaims(elements)
        let timeToLive = kind == .authentication ? try? elements.fields.text("ttl") : nil
        lifetime = timeToLive.flatMap { UInt32($0) }.map { Span(milliseconds: Int64($0) * 1000) }
    }

    func answers(to questions: TokenInspector.Questions, at time: Timestamp) -> [CheckReport] {
        [
            windowAnswer(questions.time, at: time),
            answer(.requestor, questions.requestor, claims.requestor) { signed, expected in
                signed == expected
                    ? nil : .failed(Rejection(.policy(.requestor(signed: signed, expected: [expected]), of: nil)))
            },
            answer(.resource, questions.resource, claims.resource) { signed, expected in
                expected.matches(signed)
                    ? nil : .failed(Rejection(.policy(.resource(signed: signed, expected: expected), of: nil)))
            },
            answer(.mvpd, questions.mvpds, claims.mvpd) { signed, allowed in
                let list = allowed.map { "'\($0)'" }.sorted().joined(separator: ", ")
                let detail = "simpleTokenMsoID is '\(signed)'; expected one of \(list)"
                return allowed.contains(signed)
                    ? nil
                    : .failed(.mvpd, detail, advice: "ask for the MVPD that the viewer chose", code: .invalidMVPDID)
            },
            answer(.device, questions.device, claims.fingerprint) { signed, expected in
                let detail = "bound to device '\(printable(signed))'; expected '\(printable(expected))'"
                let advice = "a token is good on the device only that it was issued to"
                return signed.hasSameBytes(as: expected) ? nil : .failed(.device, detail, advice: advice)
            },
        ]
    }

    private func answer<Signed, Expected>(
        _ check: Check, _ expected: Expected?, _ signed: Signed?, failure: (Signed, Expected) -> CheckReport?
    ) -> CheckReport {
        .answer(check, expected, signed, kind, failure: failure)
    }

    private func windowAnswer(_ asked: CheckTime?, at time: Timestamp) -> CheckReport {
        guard asked != .issued else {
            return .failed(.window, "\(kind.title) has no issue time", advice: "name a time in the place of issued")
        }
        guard let expiry = claims.expiry else { return answer(.window, asked, TokenDate?.none) { _, _ in nil } }
        let isPast = time > expiry.timestamp
        let lived = lifetime.flatMap { isPast ? "; lived \($0)" : nil } ?? ""
        let summary = "\(expiry.timestamp.expiryInWords(at: time))\(lived) (expires \(expiry))"
        guard asked != nil else { return .notAsked(.window, summary) }
        let detail = "\(summary); checked \(TokenDate(time, offset: expiry.offset))"
        return isPast
            ? .failed(.window, detail, advice: "log in, or authorize, again", code: .tokenExpired)
            : .passed(.window, detail)
    }
}
