internal import Timestamps

/// Why a token was refused: a status for programs, and a line for the person who has to find out.
///
/// No text of it holds the token, its signature or the viewer's session GUID.
public struct Rejection: Error, Sendable, CustomStringConvertible {
    /// Indirect, so that a verdict is as small as a reference: most are no rejections.
    indirect enum Reason: Sendable {
        case format(FormatProblem)
        case signature(length: Int, keys: [VerificationKey])
        case keyOutsideValidity(name: String, ClosedRange<Timestamp>, now: Timestamp)
        case notYetValid(TimeWindow)
        case expired(TimeWindow)
        case requestor(signed: RequestorID, expected: [RequestorID])
        case resource(signed: ResourceID, expected: ResourceRule)
        case mvpd(field: String, signed: MVPDID, allowed: Set<MVPDID>, for: RequestorID)
        case alreadyUsed
        case predatesStore(issued: TokenDate, since: Timestamp)
    }

    let reason: Reason

    init(_ reason: Reason) {
        self.reason = reason
    }

    /// The status.
    public var code: VerdictStatus {
        switch reason {
        case .format: .invalidTokenFormat
        case .signature, .keyOutsideValidity: .invalidSignature
        case .notYetValid: .tokenNotYetValid
        case .expired: .tokenExpired
        case .requestor: .invalidRequestorID
        case .resource: .invalidResourceID
        case .mvpd: .invalidMVPDID
        case .alreadyUsed: .tokenAlreadyUsed
        case .predatesStore: .tokenPredatesStore
        }
    }

    /// The check that it failed.
    public var check: Check {
        switch reason {
        case .format: .format
        case .signature, .keyOutsideValidity: .signature
        case .notYetValid, .expired: .window
        case .requestor: .requestor
        case .resource: .resource
        case .mvpd: .mvpd
        case .alreadyUsed, .predatesStore: .replay
        }
    }

    /// Status and message in one line.
    public var description: String { "\(code.rawValue): \(message)" }
}
