internal import Captures
internal import CommandShell
internal import MediaToken
internal import PlaybackGrants
internal import TextEncodings
internal import Timestamps

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

    /// What to do about a token that was cut: the checks of what is left of it tell nothing more.
    static let cutAdvice = "a cut token cannot be verified: get the whole of it"

    init(number: Int, finding: Finding, way: [String], result: Result) {
        (self.number, self.finding, self.way, self.result) = (number, finding, way, result)
        if case .token(let examination, let text) = result { examine(text, as: examination) }
    }

    /// Takes what a verification makes of the token, and its verdict.
    mutating func examine(_ clearText: [UInt8], as examination: Examination, verdict: VerdictCode? = nil) {
        let shown = finding.isWhole ? examination : examination.saying(nil, advice: Self.cutAdvice)
        (result, self.verdict) = (.token(shown, clearText: clearText), verdict)
    }

    /// Whether the finding explains a play that failed: a token that fails a check, or an error.
    var isFailure: Bool {
        switch result {
        case .token(let examination, _): verdict.map { $0 != .validToken } ?? (examination.firstFailure != nil)
        case .grant: false
        case .error: true
        }
    }

    /// Where a token was cut, in words; `nil` if it has its last tag.
    var cut: String? {
        guard !finding.isWhole, case .token(_, let text) = result else { return nil }
        let end = text.lastIndex(of: UInt8(ascii: "<")).map { text[$0...].dropFirst() } ?? []
        let tag = printable(String(decoding: end.prefix { $0 != UInt8(ascii: ">") }, as: UTF8.self), limit: 40)
        return "it ends after \(text.count) bytes, at '\(tag)'; its last tag is missing"
    }

    /// The exit status of a command that shows the finding.
    var exitStatus: ExitStatus {
        if let failure = examination?.firstFailure { return failure.code == .errorUnknown ? .undecided : .rejected }
        return isFailure ? .rejected : .success
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

    /// Examines a finding; `nil` for a text that looks like a grant and is none.
    mutating func examine(_ finding: Finding, asking questions: TokenInspector.Questions) -> ExaminedFinding? {
        let (result, way): (ExaminedFinding.Result, [String])
        switch finding.content {
        case .token(let readings):
            let (reading, examination) = read(readings, asking: questions)
            result = .token(examination, clearText: reading.clearText)
            way = finding.way + reading.layers + ["clear"]
        case .grant(let text):
            guard let grant = UnverifiedGrant(recognizing: text) else { return nil }
            let time = if case .at(let time)? = questions.time { time } else { questions.now }
            (result, way) = (.grant(grant, at: time), finding.way)
        case .error(let error):
            (result, way) = (.error(error), finding.way)
        }
        count += 1
        return ExaminedFinding(number: count, finding: finding, way: way, result: result)
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

    /// The reading that is a token, so that its signature or, without keys, its form fits; else the first whose form fits, or
    /// the first of all.
    private func read(
        _ readings: [Finding.Reading], asking questions: TokenInspector.Questions
    ) -> (Finding.Reading, Examination) {
        var rated: [(fit: Int, reading: Finding.Reading, examination: Examination)] = []
        for reading in readings {
            let examination = inspector.inspect(RawToken(reading.clearText), asking: questions)
            let failed = examination.reports.filter { $0.outcome == .failed }.map(\.check)
            let fit = failed.contains(.format) ? 0 : failed.contains(.signature) ? 1 : 2
            if fit == 2 { return (reading, examination) }
            rated.append((fit, reading, examination))
        }
        let best = rated.first { $0.fit == 1 } ?? rated[0]
        return (best.reading, best.examination)
    }
}

extension CaptureHistory.Call {
    init(_ call: CapturedCall, _ findings: [ExaminedFinding]) {
        (number, stated, status, duration) = (call.number, call.stated, call.status, call.milliseconds)
        (started, answered, isDecided) = (call.startTime, call.answerTime, call.isDecided)
        host = call.target.map { String($0.prefix { $0 != "/" }) }
        tokens = findings.compactMap(CaptureHistory.Token.init)
    }
}

extension CapturedCall {
    fileprivate var startTime: Timestamp? { started.flatMap { Timestamp(reading: $0) } }
    fileprivate var answerTime: Timestamp? { answered.flatMap { Timestamp(reading: $0) } }
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
