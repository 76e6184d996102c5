internal import Basics
internal import Captures
internal import CommandShell
internal import MediaToken

/// Examines all that a capture holds, and shows it as it comes.
struct CaptureInspection {
    private let questions: TokenInspector.Questions
    private var inspector: FindingInspector
    private var history: CaptureHistory
    private var output: FindingsOutput
    private var status = ExitStatus.success
    private var calls = 0
    /// The numbers of the tokens outside of calls.
    private var numbers: [[UInt8]: Int] = [:]

    init(keys: KeyRing?, asking questions: TokenInspector.Questions, _ output: FindingsOutput) {
        (self.questions, self.output) = (questions, output)
        inspector = FindingInspector(keys: keys)
        history = CaptureHistory(skew: questions.policy.clockSkew)
    }

    /// Finds the parts that this inspection takes.
    var finder: TokenFinder { inspector.finder }

    mutating func take(_ part: TokenFinder.Part) {
        switch part {
        case .findings(let findings):
            for finding in findings {
                let known = finding.clearText.flatMap { numbers[$0] }
                let time = part.time(of: finding)
                if questions.time == .line, time == nil, finding.clearText != nil { lack(finding.missingTime) }
                let isSure = finding.time?.hasZone ?? false
                guard let examined = examine(finding, at: time, isSure: isSure, knownAs: known) else { continue }
                let shownTime = isSure || questions.time == .line ? time : nil
                if let clearText = finding.clearText { numbers[clearText] = examined.number }
                if known == nil {
                    output.show(examined, at: shownTime)
                } else {
                    output.showAgain(examined, at: shownTime)
                }
            }
        case .unread(let reason): lack(reason)
        case .call(let call):
            calls += 1
            guard !call.isPreflight || call.findings.contains(where: { $0.isSent == false }) else { return }
            let time = history.time(of: CaptureHistory.Call(made: call, tokens: []))
            if questions.time == .line, time == nil, let finding = call.findings.first(where: { $0.clearText != nil }) {
                lack(finding.missingTime)
            }
            var sound: Set<[UInt8]> = []
            let findings = call.findings.compactMap { examine($0, at: time) }.filter { finding in
                // A call that has a token in two fields has one token, unless one of them is damaged.
                guard finding.damage == nil, let clearText = finding.finding.clearText else { return true }
                return sound.insert(clearText + [finding.finding.isSent == true ? 1 : 0]).inserted
            }
            guard call.isService || findings.contains(where: { !$0.isForeign }) else { return }
            let compared = CaptureHistory.Call(made: call, tokens: findings.compactMap(CaptureHistory.Token.init))
            let changes = history.add(compared)
            // The call itself may have told how far apart the clocks are.
            let begin = history.time(of: compared)
            let notes = changes + CaptureHistory.Note.notes(on: call, at: begin, findings)
            output.show(call, CaptureRow(call, compared, at: begin, findings, notes), findings, notes)
        }
    }

    /// Says what could not be searched or checked.
    private mutating func lack(_ reason: String) {
        output.remark(reason)
        status = max(status, .undecided)
    }

    /// Shows what is left. A capture in which nothing was found is examined as if it were a token, which says why it is
    /// none.
    ///
    /// - Parameter head: the first bytes of the capture, which may be an argument of the command.
    mutating func finish(of head: RawToken, asArgument: Bool = false) -> ExitStatus {
        if inspector.count == 0, !output.hasCalls, calls > 0 {
            output.remark(
                "none of the \(calls) call\(calls == 1 ? "" : "s") goes to Adobe Pass or has a token")
            status = .undecided
        } else if inspector.count == 0, !output.hasCalls {
            let examined = inspector.examine(unrecognized: head, asArgument: asArgument, asking: questions)
            status = max(status, examined.exitStatus)
            output.showNothing(but: examined)
        }
        output.finish()
        return output.isMissingEntry ? .undecided : status
    }

    /// - Parameters:
    ///   - time: the time of the line or the call.
    ///   - isSure: whether the token is checked as of that time if no other one was asked for.
    private mutating func examine(
        _ finding: Finding, at time: Timestamp?, isSure: Bool = true, knownAs known: Int? = nil
    ) -> ExaminedFinding? {
        var questions = questions
        if questions.time == .line || questions.time == nil && isSure { questions.time = time.map { .at($0) } }
        guard let examined = inspector.examine(finding, asking: questions, knownAs: known) else { return nil }
        status = max(status, examined.exitStatus)
        return examined
    }
}

extension TokenFinder.Part {
    /// The time of the line, or of the call, in which the capture has a finding of this part; `nil` if it does not say
    /// it.
    func time(of finding: Finding) -> Timestamp? {
        switch self {
        case .findings: finding.time.flatMap { Timestamp(reading: $0.text) }
        case .call(let call): call.answerTime ?? call.startTime
        case .unread: nil
        }
    }
}

extension Finding {
    /// What is said of a token whose line has no time, if that was asked for.
    var missingTime: String { "line \(line) has no time, so its token was not checked as of it; give --at TIME" }
}
