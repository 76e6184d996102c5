internal import Basics
internal import EventLoops
internal import MediaToken

/// A Redis client on a thread of its own, which decides the claims of all suspended callers of a store.
final class RedisClientThread: Sendable {
    typealias Answers = [Result<ReplayAnswer, ReplayStoreError>]

    private struct Call: Sendable {
        let group: [ReplayClaim]
        let now: Timestamp
        let answer: @Sendable (Answers) -> Void
    }

    /// What the callers' threads share with the loop's thread, which holds nothing else of this object and so does not
    /// keep it alive.
    private struct State {
        var calls: [Call] = []
        var isEnded = false
    }

    private let state = Guarded(State())
    private let signal: LoopWaker.Signal

    /// Starts the thread.
    init(_ configuration: RedisConfiguration) throws(ReplayStoreError) {
        let failure = ReplayStoreError.unavailable(
            "no event loop for \(configuration.address): out of file descriptors, threads or memory")
        let waker: LoopWaker
        // The loop and its waker are made here and used by the new thread only: nothing of them is kept, but for the
        // signal.
        nonisolated(unsafe) let run: () -> Void
        do {
            let loop = try EventLoop()
            let quorum = RedisQuorum(configuration, on: loop)
            waker = try LoopWaker(loop) { [state] in
                let calls = state.withLock { state in
                    defer { state.calls = [] }
                    return state.calls
                }
                for call in calls { quorum.claim(call.group, at: call.now) { call.answer($0) } }
            }
            run = { [state] in
                withExtendedLifetime(waker) { while !state.withLock({ $0.isEnded }) { loop.turn() } }
            }
        } catch {
            throw failure
        }
        signal = waker.signal
        guard let thread = ServiceThread({ run() }) else { throw failure }
        thread.detach()
    }

    deinit {
        state.withLock { $0.isEnded = true }
        signal.wake()
    }

    /// Decides the claims of a group, in order, within the configuration's deadline; see ``ReplayStore``.
    func claim(_ group: [ReplayClaim], at now: Timestamp) async -> Answers {
        await handover { answer in
            let isFirst = state.withLock { state in
                state.calls.append(Call(group: group, now: now, answer: answer))
                return state.calls.count == 1
            }
            if isFirst { signal.wake() }
        }
    }
}
