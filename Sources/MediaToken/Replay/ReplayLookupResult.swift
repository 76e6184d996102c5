package import Basics
package import ClaimsStage
internal import TokenCrypto

/// What identifies a token to a replay store that looks it up. It cannot be claimed, because no signature is verified.
package struct ReplayQuestion: Sendable {
    package let key: ReplayKey
    /// The token's issue time.
    package let issued: Timestamp
    /// The time until which the token would be remembered, as a claim has it.
    package let until: Timestamp

    package init(key: ReplayKey, issued: Timestamp, until: Timestamp) {
        (self.key, self.issued, self.until) = (key, issued, until)
    }

    /// - Parameters:
    ///   - claims: The claims of the token.
    ///   - payload: The bytes that the claims were read from.
    /// - Throws: ``ReplayStoreError/outOfResources(_:)`` if libcrypto fails.
    package init(on claims: MediaTokenClaims, of payload: ArraySlice<UInt8>) throws(ReplayStoreError) {
        let digest: SHA256Digest
        do { digest = try SHA256Hasher().digest(payload) } catch { throw .outOfResources("\(error)") }
        self.init(key: ReplayKey(digest), issued: claims.issueTime.timestamp, until: claims.replayExpiry)
    }
}

/// The result of looking a token up in a replay store. A lookup consumes nothing.
package struct ReplayLookupResult: Hashable, Sendable {
    /// Whether the token is used.
    package enum Use: Hashable, Sendable {
        /// The store has complete records for the token's issue time, and no use in them.
        case unused
        /// The token is used: at the time `since`, if the store knows it. A store keeps the time only if the first
        /// caller may retry.
        case used(since: Timestamp?)
        /// The store's records begin at the time `since`, and the token was not issued after that. A gate rejects it.
        case predatesStore(since: Timestamp)
        /// The token has expired, and the store keeps no record of that time any more. A gate rejects it as expired.
        case forgotten
    }

    /// Whether the token is used.
    package let use: Use
    /// The time until which the store keeps the record of a use.
    package let keptUntil: Timestamp

    package init(_ use: Use, keptUntil: Timestamp) {
        (self.use, self.keptUntil) = (use, keptUntil)
    }
}
