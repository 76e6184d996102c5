extension VerificationPolicy {
    /// The token opens the resource that is asked for, by the comparison that the caller chose.
    func resourceRefusal(of claims: MediaTokenClaims, for expectation: Expectation) -> Rejection? {
        guard !expectation.resource.matches(claims.resource) else { return nil }
        return Rejection(.resource(signed: claims.resource, expected: expectation.resource))
    }
}
