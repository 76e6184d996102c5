import MediaToken

/// Verifies tokens in groups: those that arrive while a group is being verified make the next one. A lone token waits
/// for nobody.
actor TokenGroups {
    typealias Outcome = Result<Verdict, VerificationError>

    private let verifier: MediaTokenVerifier
    private var waiting: [(request: VerificationRequest, caller: CheckedContinuation<Outcome, Never>)] = []
    private var isVerifying = false
    /// The most tokens that were verified together.
    private(set) var largest = 0

    init(_ verifier: MediaTokenVerifier) { self.verifier = verifier }

    func verify(_ request: VerificationRequest) async -> Outcome {
        await withCheckedContinuation { caller in
            waiting.append((request, caller))
            guard !isVerifying else { return }
            isVerifying = true
            Task { await verifyAll() }
        }
    }

    private func verifyAll() async {
        while !waiting.isEmpty {
            let group = waiting
            waiting = []
            largest = max(largest, group.count)
            let outcomes = await verifier.verify(group.map(\.request))
            for (member, outcome) in zip(group, outcomes) { member.caller.resume(returning: outcome) }
        }
        isVerifying = false
    }
}
