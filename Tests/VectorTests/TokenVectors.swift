import MediaToken
import TestSupport
import Testing

/// Cases that end in a verdict.
enum TokenVectors {
    /// The payload is changed before it is signed: what is tested is what comes behind a good signature.
    static func verify(payloadOf vector: Vector) throws -> VectorOutcome {
        var payload = Mint.payload()
        if let root = vector.root { payload = payload.replacing("authToken>", with: root + ">") }
        let changed = try #require(vector.change(Array(payload.utf8)), "nothing to replace")
        return try verify(Mint.signed(changed), vector)
    }

    /// The token is changed after it was signed.
    static func verify(tokenOf vector: Vector) throws -> VectorOutcome {
        try verify(#require(vector.change(Array(Mint.token().utf8)), "nothing to replace"), vector)
    }

    /// Verifies, and sees whether an examination says the same.
    static func verify(_ token: [UInt8], _ vector: Vector) throws
        -> VectorOutcome
    {
        let now = Timestamp(milliseconds: Mint.issued.timestamp.milliseconds + (vector.after ?? 10_000))
        let resource = ResourceID(vector.resource ?? "TNT")
        let requestor = RequestorID(vector.requestor ?? "MML")
        let expectation = Expectation(
            requestors: [requestor],
            resource: vector.canonical == true ? .canonically([resource]) : .exactly(resource))
        let allowed = vector.mvpds.map { [requestor: Set($0.map { MVPDID($0) })] } ?? [:]
        let verifier = try Mint.verifier(policy: VerificationPolicy(allowedMVPDs: allowed))
        let examination = verifier.examine(RawToken(token), for: expectation, at: now)
        let verdict = try verifier.verify(RawToken(token), for: expectation, at: now)
        #expect(examination.firstFailure?.code ?? .validToken == verdict.code)
        try EngineVectors.check(token, at: now)
        return VectorOutcome(code: verdict.code.rawValue, message: verdict.message)
    }
}
