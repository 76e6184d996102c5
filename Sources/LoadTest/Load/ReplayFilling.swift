package import MediaToken

/// Fills a replay store, so that it is as large as it would be on a busy evening.
package enum ReplayFilling {
    private static let group = 256

    /// Claims `count` random replay keys that no token has, with the expiry `until`.
    ///
    /// - Parameter progress: Called with the number of keys claimed so far.
    /// - Throws: `ReplayStoreError`.
    package static func fill(
        _ store: any ReplayStore, with count: Int, until: Timestamp, at now: Timestamp,
        progress: (Int) -> Void
    ) throws(ReplayStoreError) {
        var random = SystemRandomNumberGenerator()
        for done in stride(from: 0, to: count, by: group) {
            let claims = (0..<min(group, count - done)).map { _ in
                let key = ReplayKey(words: (random.next(), random.next(), random.next(), random.next()))
                return ReplayClaim(key: key, issued: until, until: until)
            }
            for answer in store.claim(claims, at: now) { _ = try answer.get() }
            progress(min(count, done + group))
        }
    }
}
