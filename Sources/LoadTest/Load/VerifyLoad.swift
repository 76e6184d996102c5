internal import Basics
package import MediaToken

/// Verifies a corpus repeatedly on several threads, alternating with the bare RSA operations alone.
///
/// The two alternate five times per second (200 times at most, 4 at least), so that other load on the machine slows
/// both alike and their ratio stays meaningful.
package struct VerifyLoad: Sendable {
    package struct Settings: Sendable {
        package var threads = 1
        package var seconds = 5.0
        /// The number of tokens verified in one call.
        package var group = 1
        /// The time for which tokens are verified; `nil` to read the clock once per call.
        package var time: Timestamp?

        package init() {}
    }

    private let corpus: TokenCorpus
    private let keys: KeyRing
    private let policy: VerificationPolicy
    private let replays: any ReplayStore
    private let settings: Settings

    package init(
        _ corpus: TokenCorpus, keys: KeyRing, policy: VerificationPolicy, replays: any ReplayStore, settings: Settings
    ) {
        (self.corpus, self.keys, self.policy) = (corpus, keys, policy)
        (self.replays, self.settings) = (replays, settings)
    }

    /// Runs until time is up or `isCancelled` is true.
    ///
    /// - Parameter progress: Called on the caller's thread with the elapsed part of the time, from 0 to 1.
    package func run(
        isCancelled: @escaping @Sendable () -> Bool, progress: (Double) -> Void
    ) throws -> VerifyFigures {
        let verifiers = PassVerifiers(keys: keys, policy: policy, replays: replays)
        let shares = shares()
        let bare = BareSignatures(
            of: corpus.items.prefix(64).map(\.token), verifier: verifiers.verifier(of: 0), at: settings.time ?? .now)
        let begin = MonotonicTime.nanoseconds
        let turns = Turns(beginning: begin, seconds: settings.seconds)
        let before = ProcessMemory.now
        let parts = try Workers.run(
            settings.threads, progress: { progress(turns.part(at: MonotonicTime.nanoseconds)) }
        ) { thread in
            var worker = try VerifyWorker(
                shares[thread], verifiers: verifiers, time: settings.time, bare: bare)
            worker.run(turns, isCancelled: isCancelled)
            return worker.figures
        }
        let seconds = Double(MonotonicTime.nanoseconds - begin) / 1e9
        return VerifyFigures(of: parts, seconds: seconds, before: before, after: .now)
    }

    /// Distributes the tokens to the threads in groups, so that nothing has to be prepared while time is measured.
    private func shares() -> [[[VerificationRequest]]] {
        var shares = [[[VerificationRequest]]](repeating: [], count: settings.threads)
        for (number, group) in corpus.groups(of: settings.group).enumerated() {
            shares[number % settings.threads].append(group)
        }
        return shares
    }
}

/// Provides a verifier for each pass over the corpus, to which all tokens are new. All threads share it, as the threads
/// of a backend share one verifier.
package final class PassVerifiers: Sendable {
    private let first: MediaTokenVerifier
    private let replays: any ReplayStore
    private let latest: Guarded<(pass: UInt64, verifier: MediaTokenVerifier)>

    package init(keys: KeyRing, policy: VerificationPolicy, replays: any ReplayStore) {
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

/// The schedule by which verification and bare RSA operations alternate.
struct Turns: Sendable {
    /// The part of each turn for verification; the remaining quarter is for the bare RSA operations.
    private static let verifiedPart = 0.75

    let count: Int
    private let begin: UInt64
    private let length: Double

    init(beginning begin: UInt64, seconds: Double) {
        count = min(200, max(4, Int(seconds * 5)))
        length = seconds * 1e9 / Double(count)
        self.begin = begin
    }

    /// The times at which a turn's verifications and its bare RSA operations end.
    func ends(of turn: Int) -> (verification: UInt64, bare: UInt64) {
        let start = Double(turn) * length
        return (begin + UInt64(start + length * Self.verifiedPart), begin + UInt64(start + length))
    }

    func part(at moment: UInt64) -> Double {
        moment < begin ? 0 : min(1, Double(moment - begin) / (length * Double(count)))
    }
}
