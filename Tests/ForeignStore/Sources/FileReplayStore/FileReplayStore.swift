public import MediaToken

/// A replay store in a directory that the processes of a host share. It survives the death of any of them.
public final class FileReplayStore: ReplayStore {
    private let directory: SharedDirectory

    /// Opens the store in an existing directory; a new store begins at `now`, with its fence there.
    public init(directory path: String, at now: Timestamp) throws(ReplayStoreError) {
        directory = try SharedDirectory(path, at: now)
    }

    /// Decides the claims of a group. It waits for other processes for ``SharedDirectory/patience`` at most.
    public func claim(_ group: [ReplayClaim], at now: Timestamp) -> [Result<ReplayAnswer, ReplayStoreError>] {
        do throws(ReplayStoreError) {
            return try directory.withLock { (uses) throws(ReplayStoreError) in
                try uses.drop(through: ReplayBucket(lastPassedAt: now))
                let answers = group.map { claim in
                    let answer = uses.answer(to: claim)
                    if answer == .first { uses.add(claim, at: now) }
                    return answer
                }
                try uses.write()
                return answers.map { .success($0) }
            }
        } catch {
            return group.map { _ in .failure(error) }
        }
    }
}
