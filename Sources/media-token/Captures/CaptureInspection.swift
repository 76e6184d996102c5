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
                guard let examined = examine(finding, at: nil, knownAs: known) else { continue }
                if let clearText = finding.clearText { numbers[clearText] = examined.number }
                if known == nil { output.show(examined) } else { output.showAgain(examined) }
            }
        case .unread(let reason):
            output.remark(reason)
            status = max(status, .undecided)
        case .call(let call):
            calls += 1
            guard !call.isPreflight else { return }
            let time = history.time(of: CaptureHistory.Call(call, []))
            var sound: Set<[UInt8]> = []
            let findings = call.findings.compactMap { examine($0, at: time) }.filter { finding in
                // A call that has a token in two fields has one token, unless one of them is damaged.
                guard finding.damage == nil, let clearText = finding.finding.clearText else { return true }
                return sound.insert(clearText + [finding.finding.isSent == true ? 1 : 0]).inserted
            }
            guard call.isService || findings.contains(where: { !$0.isForeign }) else { return }
            let compared = CaptureHistory.Call(call, findings)
            let changes = history.add(compared)
            // The call itself may have told how far apart the clocks are.
            let begin = history.time(of: compared)
            let notes = changes + CaptureHistory.Note.notes(on: call, at: begin, findings)
            output.show(call, CallRow(call, compared, at: begin, findings), findings, notes)
        }
    }

    /// Shows what is left. A capture in which nothing was found is examined as if it were a token, which says why it is none.
    ///
    /// - Parameter head: the first bytes of the capture, which may be an argument of the command.
    mutating func finish(of head: RawToken, asArgument: Bool = false) -> ExitStatus {
        if inspector.count == 0, !output.hasCalls, calls > 0 {
            output.remark(
                "a HAR file of \(calls) call\(calls == 1 ? "" : "s"), none to Adobe Pass and none with a token")
            status = .undecided
        } else if inspector.count == 0, !output.hasCalls {
            let examined = inspector.examine(unrecognized: head, asArgument: asArgument, asking: questions)
            status = max(status, examined.exitStatus)
            output.showNothing(but: examined)
        }
        output.finish()
        return output.isMissingEntry ? .undecided : status
    }

    /// - Parameter time: the time at which a token is checked, unless another one was asked for.
    private mutating func examine(
        _ finding: Finding, at time: Timestamp?, knownAs known: Int? = nil
    ) -> ExaminedFinding? {
        var questions = questions
        questions.time = questions.time ?? time.map { .at($0) }
        guard let examined = inspector.examine(finding, asking: questions, knownAs: known) else { return nil }
        status = max(status, examined.exitStatus)
        return examined
    }
}
