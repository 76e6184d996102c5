internal import EventLoops

/// The examinations that clients of one event loop have asked for. Each takes as long as many verifications, so the
/// loop does one in an iteration, and plays that arrive in the meantime overtake the others.
final class LoopExaminations {
    private let loop: EventLoop
    private var waiting: [() -> Void] = []
    private var timer: LoopTimer?

    init(on loop: EventLoop) { self.loop = loop }

    /// Has the loop do an examination after those that wait.
    func add(_ examination: @escaping () -> Void) {
        waiting.append(examination)
        if timer == nil { doNext() }
    }

    private func doNext() {
        timer = loop.timer(afterMilliseconds: 0) { [unowned self] in
            waiting.removeFirst()()
            if waiting.isEmpty { timer = nil } else { doNext() }
        }
    }
}
