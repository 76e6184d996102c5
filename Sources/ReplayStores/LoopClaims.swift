internal import Basics
internal import EventLoops
internal import MediaToken
internal import ReplayLMDB

/// Decides the claims of one event loop on an LMDB store. Another thread decides a group that has to wait, for a thread
/// or for another process.
final class LoopClaims {
    typealias Answers = [Result<ReplayAnswer, ReplayStoreError>]

    private let store: LMDBReplayStore
    private var waiting: [Int: (Answers) -> Void] = [:]
    private var count = 0
    private var decided: LoopMailbox<(number: Int, answers: Answers)>?

    init(_ store: LMDBReplayStore, on loop: EventLoop) throws(EventLoopError) {
        self.store = store
        decided = try LoopMailbox(loop) { [unowned self] number, answers in
            waiting.removeValue(forKey: number)?(answers)
        }
    }

    /// Decides the claims of a group; see `ReplayClaimer`.
    func claim(_ group: [ReplayClaim], at now: Timestamp, _ completion: @escaping (Answers) -> Void) {
        if let answers = store.claimAtOnce(group, at: now) { return completion(answers) }
        count += 1
        waiting[count] = completion
        BlockingCalls.start { [store, number = count, begin = ContinuousClock.now, slot = decided?.slot] in
            slot?.put((number, store.claim(group, at: now, since: begin)))
        }
    }
}
