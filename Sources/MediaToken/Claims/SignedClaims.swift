internal import TokenXML

/// Claims that were read from signed bytes: only ``read(from:with:)`` makes them, and only from an ``AuthenticPayload``.
struct SignedClaims: Sendable {
    let claims: MediaTokenClaims
    let payload: AuthenticPayload

    private init(claims: MediaTokenClaims, payload: AuthenticPayload) {
        self.claims = claims
        self.payload = payload
    }

    static func read(from payload: AuthenticPayload, with reader: StrictXMLReader) -> Step<SignedClaims> {
        do {
            let claims = try MediaTokenClaims(TokenElements(reading: payload.bytes, with: reader))
            return .success(SignedClaims(claims: claims, payload: payload))
        } catch {
            return .failure(Stop(error))
        }
    }
}
