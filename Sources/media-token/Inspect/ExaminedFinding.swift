internal import Basics
internal import Captures
internal import CommandShell
internal import MediaToken
internal import PlaybackGrants

/// A finding of a capture, with what an inspection makes of it.
struct ExaminedFinding {
    enum Result {
        case token(Examination, clearText: [UInt8])
        /// A grant, and the time from which the distance of its times is told.
        case grant(UnverifiedGrant, at: Timestamp)
        case error(ServiceError)
    }

    /// The number of the finding in the capture, from 1.
    let number: Int
    let finding: Finding
    let way: [String]
    private(set) var result: Result
    /// The code of the verdict on a token; `nil` if it was only inspected.
    var verdict: VerdictCode?
    /// What the input is and what to do with it, if nothing was found in it and it is no text.
    fileprivate(set) var format: String?

    /// What a strict reader says of the value that a request sent the token in, if it cannot read it.
    fileprivate(set) var damage: Rejected?

    /// A check that failed.
    struct Rejected {
        let code: VerdictCode
        let detail: String
    }

    init(number: Int, finding: Finding, way: [String], result: Result) {
        (self.number, self.finding, self.way, self.result) = (number, finding, way, result)
        if case .token(let examination, let text) = result { examine(text, as: examination) }
    }

    /// Takes what a verification makes of the token, and its verdict.
    mutating func examine(_ clearText: [UInt8], as examination: Examination, verdict: VerdictCode? = nil) {
        var shown = finding.isWhole ? examination : examination.saying(nil, advice: TokenEnvelope.cutAdvice)
        if !finding.repairs.isEmpty { shown = shown.saying(repaired: finding.repairs) }
        (result, self.verdict) = (.token(shown, clearText: clearText), verdict)
    }

    /// Whether the finding explains a play that failed: a token that fails a check, or an error.
    var isFailure: Bool {
        switch result {
        case .token(let examination, _):
            damage != nil || verdict.map { $0 != .validToken } ?? (examination.firstFailure != nil)
        case .grant: false
        case .error: true
        }
    }

    /// Where a token was cut, in words; `nil` if it has its last tag.
    var cut: String? {
        guard !finding.isWhole, case .token(_, let text) = result else { return nil }
        return TokenEnvelope.cutInWords(text[...], length: text.count)
    }

    /// Whether it is a JSON Web Token, as other services have on each call.
    var isForeign: Bool {
        if case .grant(let grant, _) = result { grant.kind == "jwt" } else { false }
    }

    /// The exit status of a command that shows the finding.
    var exitStatus: ExitStatus {
        if let failure = examination?.firstFailure { return failure.code == .errorUnknown ? .undecided : .rejected }
        return isFailure ? .rejected : .success
    }

    /// What was done to the token on the way to the backend, in words, with what a gate says to it; `nil` if it can be
    /// read as it was sent.
    var damageInWords: String? {
        guard let damage else { return nil }
        let steps = finding.way.drop { !$0.utf8.starts(with: "request".utf8) }.dropFirst()
        let known = Set(["Base64", "hex", "gzip"] + Finding.decoderNames)
        let sent = steps.filter(known.contains).map { $0 == "Base64" || $0 == "hex" ? "in \($0)" : "with \($0)" }
        let how = sent.isEmpty ? "" : "sent \(sent.joined(separator: ", "))"
        let isGood = examination.map { $0.firstFailure == nil } ?? false
        return [
            how, "a gate answers \(damage.code.rawValue): \(damage.detail)", isGood ? "the token in it is good" : "",
        ]
        .filter { !$0.isEmpty }.joined(separator: "; ")
    }

    /// The examination of a token; `nil` for any other finding.
    var examination: Examination? {
        if case .token(let examination, _) = result { examination } else { nil }
    }
}

/// Examines findings, and numbers them.
struct FindingInspector {
    private let inspector: TokenInspector
    private(set) var count = 0

    init(keys: KeyRing?) {
        inspector = TokenInspector(keys: keys)
    }

    /// Finds what can be examined.
    var finder: TokenFinder { TokenFinder { fit(of: $0) } }

    /// How well a text can be read as a token.
    private func fit(of text: ArraySlice<UInt8>) -> TokenFit {
        let examination = inspector.inspect(RawToken(text), asking: TokenInspector.Questions())
        let failed = examination.reports.filter { $0.outcome == .failed }.map(\.check)
        return failed.contains(.format) ? .none : failed.contains(.signature) ? .form : .good
    }

    /// Examines a finding; `nil` for a text that looks like a grant and is none.
    ///
    /// - Parameter known: the number of the same token, if it was found before.
    mutating func examine(
        _ finding: Finding, asking questions: TokenInspector.Questions, knownAs known: Int? = nil
    ) -> ExaminedFinding? {
        let (result, way): (ExaminedFinding.Result, [String])
        switch finding.content {
        case .token(let clearText):
            result = .token(inspector.inspect(RawToken(clearText), asking: questions), clearText: clearText)
            way = finding.way + ["clear"]
        case .grant(let text):
            guard let grant = UnverifiedGrant(recognizing: text) else { return nil }
            let time = if case .at(let time)? = questions.time { time } else { questions.now }
            (result, way) = (.grant(grant, at: time), finding.way)
        case .error(let error):
            (result, way) = (.error(error), finding.way)
        }
        if known == nil { count += 1 }
        var examined = ExaminedFinding(number: known ?? count, finding: finding, way: way, result: result)
        examined.damage = damage(of: finding, as: examined.examination)
        return examined
    }

    /// Why a gate would refuse the value in which a request sent a token that can be read otherwise; `nil` if it would
    /// not, or would refuse the token itself for the same reason.
    private func damage(of finding: Finding, as read: Examination?) -> ExaminedFinding.Rejected? {
        guard let sent = finding.sent, let read, finding.isSent == true else { return nil }
        let failure = inspector.inspect(RawToken(sent), asking: TokenInspector.Questions()).firstFailure
        guard let failure, let code = failure.code, code != read.firstFailure?.code else { return nil }
        return ExaminedFinding.Rejected(code: code, detail: failure.detail)
    }

    /// Examines what could not be found to be anything, as if it were a token, which says what is wrong with it.
    mutating func examine(
        unrecognized input: RawToken, asArgument: Bool = false, asking questions: TokenInspector.Questions
    ) -> ExaminedFinding {
        count += 1
        let bytes = Array(input.bytes)
        let examination = inspector.inspect(input, asking: questions).naming(input.bytes, asArgument: asArgument)
        var examined = ExaminedFinding(
            number: count, finding: Finding(unread: bytes), way: [], result: .token(examination, clearText: bytes))
        examined.format = BinaryFormat.description(ofFileBeginning: bytes)
        return examined
    }
}

extension CapturedCall {
    var startTime: Timestamp? { started.flatMap { Timestamp(reading: $0) } }
    /// The host that was asked.
    var host: String? { target.map { String($0.prefix { $0 != "/" }) } }
    /// The time by the client's clock, and by the server's.
    var answerTime: Timestamp? { answered.flatMap { Timestamp(reading: $0) } }
}

extension CaptureHistory.Token {
    init?(_ finding: ExaminedFinding) {
        guard let examination = finding.examination, let id = examination.id, let kind = examination.kind else {
            return nil
        }
        (self.id, self.kind, stated) = (id, kind, finding.finding.stated)
        isSent = finding.finding.isSent ?? false
        (issued, expires) = (examination.issueTime?.timestamp, examination.expires?.timestamp)
        claims = Stated { subject in
            examination.fields.first { subject.fields.contains($0.name) && !$0.text.isEmpty }?.text
        }
    }
}

extension Subject {
    /// The names of the fields of tokens that say it.
    fileprivate var fields: [String] {
        switch self {
        case .requestor: ["requestorID", "simpleTokenRequestorID"]
        case .resource: ["resourceID", "simpleTokenResourceID"]
        case .mvpd: ["mvpdId", "simpleTokenMsoID"]
        case .device: ["simpleTokenDeviceID/simpleTokenFingerprint"]
        }
    }
}
