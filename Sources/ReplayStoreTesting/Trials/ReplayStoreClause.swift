internal import Basics
internal import MediaToken

/// A clause of the contract of replay stores, which can be checked alone.
public struct ReplayStoreClause: Sendable, CustomStringConvertible {
    /// What the subject must allow for the clause to apply.
    enum Need: Sendable {
        case nothing, reopening, processes, deadline
    }

    private enum Body: Sendable {
        case blocking(@Sendable (Trial) throws -> Void)
        case suspending(@Sendable (Trial) async throws -> Void)
    }

    /// The promise that the clause checks, in words; no other clause has the same.
    public let name: String
    private let need: Need
    private let body: Body

    init(_ name: String, needs need: Need = .nothing, _ body: @escaping @Sendable (Trial) throws -> Void) {
        (self.name, self.need, self.body) = (name, need, .blocking(body))
    }

    init(_ name: String, suspending body: @escaping @Sendable (Trial) async throws -> Void) {
        (self.name, need, self.body) = (name, .nothing, .suspending(body))
    }

    /// The clause's ``name``.
    public var description: String { name }

    /// Why the clause does not apply to a subject; `nil` if it applies.
    public func exemption(of subject: some ReplayStoreSubject) -> String? {
        switch (need, subject.sharing) {
        case (.nothing, _), (.reopening, .oneProcess), (.reopening, .processes), (.processes, .processes): nil
        case (.deadline, .processes(_, let deadline)): deadline == nil ? "the store states no deadline" : nil
        case (.reopening, .memory): "the store's records end with it"
        case (.processes, _), (.deadline, _): "one process uses the store"
        }
    }

    /// Checks the clause at a new place of the subject. No thread of Swift's cooperative pool is blocked, except by the
    /// form of the store that must not block.
    ///
    /// - Throws: ``ReplayStoreViolation`` if the store breaks the clause, cannot be opened, or is exempt from it.
    public func check(_ subject: some ReplayStoreSubject) async throws(ReplayStoreViolation) {
        if let exemption = exemption(of: subject) {
            throw ReplayStoreViolation(expected: "a store to which the clause applies", found: exemption)
        }
        let body = body
        do {
            let trial = try await Trial(of: subject)
            switch body {
            case .blocking(let check): try await BlockingCalls.perform(throwing: { try check(trial) })
            case .suspending(let check): try await check(trial)
            }
        } catch let violation as ReplayStoreViolation {
            throw violation
        } catch {
            throw ReplayStoreViolation(expected: "no error", found: "\(error)")
        }
    }

    /// Checks the clause, if it applies, and returns what came of it.
    public func outcome(for subject: some ReplayStoreSubject) async -> ReplayStoreOutcome {
        if let exemption = exemption(of: subject) { return .notApplicable(exemption) }
        do throws(ReplayStoreViolation) {
            try await check(subject)
            return .passed
        } catch {
            return .failed(error)
        }
    }
}

/// What came of a clause.
public enum ReplayStoreOutcome: Sendable, CustomStringConvertible {
    /// The store keeps the clause.
    case passed
    /// The store breaks the clause.
    case failed(ReplayStoreViolation)
    /// The clause is about something that the store does not offer, as the reason says.
    case notApplicable(String)

    /// The outcome in one line.
    public var description: String {
        switch self {
        case .passed: "passed"
        case .failed(let violation): "FAILED: \(violation)"
        case .notApplicable(let reason): "not applicable: \(reason)"
        }
    }
}
