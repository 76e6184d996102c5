extension VerificationPolicy {
    /// The token was issued to one of the requestors that are expected, byte for byte.
    func requestorRefusal(of claims: MediaTokenClaims, for expectation: Expectation) -> Rejection? {
        guard !expectation.requestors.contains(claims.requestor) else { return nil }
        return Rejection(.requestor(signed: claims.requestor, expected: expectation.requestors))
    }
}
