internal import MediaToken

/// A replay store to which each pass over a corpus has new tokens, so that a few thousand tokens act as millions.
struct PassReplays: ReplayStore {
    let store: any ReplayStore
    let pass: UInt64

    func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
        // The first pass uses the tokens' own replay keys.
        pass == 0 ? store.claim(group, at: now) : store.claim(group.map(renamed), at: now)
    }

    private func renamed(_ claim: ReplayClaim) -> ReplayClaim {
        let words = claim.key.words
        // Multiplied by this odd number (2^64 divided by the golden ratio), each pass has its own, well mixed product.
        let mark = pass &* 0x9E37_79B9_7F4A_7C15
        return ReplayClaim(
            key: ReplayKey(words: (words.0, words.1 ^ mark, words.2, words.3)), issued: claim.issued,
            until: claim.until)
    }
}
