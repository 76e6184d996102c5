internal import Basics
internal import Glibc

/// Opens a store: decides whether the files in its directory can be trusted, and where its fence is.
enum LMDBSession {
    /// - Parameter lost: the fence of the store that this process lost, if it lost one. The process may have accepted
    ///   tokens that no file records, so the fence then moves to now plus the clock skew.
    static func open(
        _ path: String, _ configuration: LMDBReplayStore.Configuration, at now: Timestamp, lost: Timestamp?
    ) throws(LMDBError) -> LMDBStore {
        let boot = try currentBoot(configuration.bootIDFile)
        let directory = try StoreDirectory(path, makesNew: configuration.makesNew)
        let begin = ContinuousClock.now
        let store = try directory.alone { () throws(LMDBError) in
            try directory.share()
            let old = try directory.read()
            // Other processes may have accepted tokens while this one waited for the lock; those that use a store of
            // this boot do so until it is discarded.
            let (isInUse, locked) = (lost != nil || old?.record.boot == boot, ContinuousClock.now)
            let fence = {
                let elapsed = (isInUse ? ContinuousClock.now : locked) - begin
                let time = now.advanced(by: elapsed).advanced(by: configuration.clockSkew)
                return max(time, lost ?? time).milliseconds
            }
            let cause: FenceCause
            switch try believe(old, in: directory, boot: boot, sizeLimit: configuration.sizeLimit) {
            case .success(let store):
                try store.catalog.change {
                    ($0.boot, $0.isClosed) = (boot, false)
                    if lost != nil, configuration.replacesLost {
                        ($0.fence, $0.cause) = (max($0.fence, fence()), .inUse)
                    }
                }
                return store
            case .failure(let error): cause = lost == nil ? error.loss ?? .new : .inUse
            }
            guard configuration.replacesLost else {
                throw LMDBError(
                    "may have lost records, so the next gate that opens it begins it again with a new fence")
            }
            try directory.discard()
            return try LMDBStore(
                StoreCatalog(
                    beginningIn: directory,
                    StoreRecord(boot: boot, fence: max(fence(), old?.record.fence ?? .min), cause: cause),
                    sizeLimit: configuration.sizeLimit))
        }
        try store.load()
        return store
    }

    /// Opens the store's files.
    ///
    /// - Returns: The loss if data may be missing: the machine crashed, or files were removed or replaced.
    private static func believe(
        _ file: RecordFile?, in directory: StoreDirectory, boot: String, sizeLimit: Int
    ) throws(LMDBError) -> Result<LMDBStore, LMDBError> {
        guard let file else { return .failure(.lost(.new)) }
        guard file.record.boot == boot || file.record.isClosed else { return .failure(.lost(.boot)) }
        do throws(LMDBError) {
            return .success(try LMDBStore(StoreCatalog(of: directory, file, sizeLimit: sizeLimit)))
        } catch {
            guard error.loss != nil else { throw error }
            return .failure(error)
        }
    }

    private static func currentBoot(_ file: String) throws(LMDBError) -> String {
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(file, limit: 128) } catch {
            throw LMDBError("cannot tell a restart of the machine: \(file) \(error)")
        }
        let boot = String(decoding: bytes.prefix { !$0.isASCIIWhiteSpace }, as: UTF8.self)
        guard !boot.isEmpty else { throw LMDBError("cannot tell a restart of the machine: \(file) is empty") }
        return boot
    }
}
