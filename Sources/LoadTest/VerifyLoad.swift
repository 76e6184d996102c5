package import MediaToken
internal import Threading
package import Timestamps

/// Verifies a corpus over and over for a while, on several threads, and in between does the bare RSA operations alone.
///
/// The two take turns several times a second, so that what else the machine does meanwhile slows both alike and their
/// ratio means something.
package struct VerifyLoad: Sendable {
    package struct Settings: Sendable {
        package var threads = 1
        package var seconds = 5.0
        /// Tokens that are verified in one call.
        package var group = 1
        /// As of when; `nil` for the clock, which is then read once a call.
        package var time: Timestamp?

        package init() {}
    }

    private let corpus: TokenCorpus
    private let keys: KeyRing
    private let policy: VerificationPolicy
    private let replays: any ReplayCache
    private let settings: Settings

    package init(
        _ corpus: TokenCorpus, keys: KeyRing, policy: VerificationPolicy, replays: any ReplayCache, settings: Settings
    ) {
        (self.corpus, self.keys, self.policy) = (corpus, keys, policy)
        (self.replays, self.settings) = (replays, settings)
    }

    /// Runs until the time is over, or `isCancelled`.
    ///
    /// - Parameter progress: called on the caller's thread with the part that is done, from 0 to 1.
    package func run(
        isCancelled: @escaping @Sendable () -> Bool, progress: (Double) -> Void
    ) throws -> VerifyFigures {
        let verifiers = PassVerifiers(keys: keys, policy: policy, replays: replays)
        let shares = shares()
        let ceiling = BareSignatures(
            of: corpus.items.prefix(64).map(\.token), verifier: verifiers.verifier(of: 0), at: settings.time ?? .now)
        let begin = MonotonicTime.nanoseconds
        let turns = Turns(beginning: begin, seconds: settings.seconds)
        let before = ProcessMemory.now
        let parts = try Workers.run(
            settings.threads, progress: { progress(turns.part(at: MonotonicTime.nanoseconds)) }
        ) { thread in
            var worker = try VerifyWorker(
                shares[thread], verifiers: verifiers, time: settings.time, ceiling: ceiling)
            worker.run(turns, isCancelled: isCancelled)
            return worker.figures
        }
        let seconds = Double(MonotonicTime.nanoseconds - begin) / 1e9
        return VerifyFigures(of: parts, seconds: seconds, before: before, after: .now)
    }

    /// Each thread's tokens, in groups: nothing is prepared while time is measured.
    private func shares() -> [[[VerificationRequest]]] {
        var shares = [[[VerificationRequest]]](repeating: [], count: settings.threads)
        for (number, group) in corpus.groups(of: settings.group).enumerated() {
            shares[number % settings.threads].append(group)
        }
        return shares
    }
}

/// The verifier of each pass over the corpus, for each of which its tokens are new. All threads share them, as those of a
/// service share one.
package final class PassVerifiers: Sendable {
    private let first: MediaTokenVerifier
    private let replays: any ReplayCache
    private let latest: Guarded<(pass: UInt64, verifier: MediaTokenVerifier)>

    package init(keys: KeyRing, policy: VerificationPolicy, replays: any ReplayCache) {
        self.replays = replays
        first = MediaTokenVerifier(keys: keys, policy: policy, replays: replays)
        latest = Guarded((0, first))
    }

    package func verifier(of pass: UInt64) -> MediaTokenVerifier {
        latest.withLock { latest in
            if latest.pass != pass {
                latest = (pass, MediaTokenVerifier(first, replays: PassReplays(store: replays, pass: pass)))
            }
            return latest.verifier
        }
    }
}

/// When verification and ceiling take their turns.
struct Turns: Sendable {
    /// A quarter of the time is the ceiling's.
    private static let verifiedPart = 0.75

    let count: Int
    private let begin: UInt64
    private let length: Double

    init(beginning begin: UInt64, seconds: Double) {
        count = min(200, max(4, Int(seconds * 5)))
        length = seconds * 1e9 / Double(count)
        self.begin = begin
    }

    /// When the verifications of a turn end, and when the ceiling's part of it does.
    func ends(of turn: Int) -> (verification: UInt64, ceiling: UInt64) {
        let start = Double(turn) * length
        return (begin + UInt64(start + length * Self.verifiedPart), begin + UInt64(start + length))
    }

    func part(at moment: UInt64) -> Double {
        moment < begin ? 0 : min(1, Double(moment - begin) / (length * Double(count)))
    }
}
