internal import Glibc
internal import MediaToken

/// Opens a store: decides whether what lies in its directory can be believed, and where its fence is.
enum LMDBSession {
    /// - Parameter lost: the fence of the store that this process had open under the path and lost: whatever lies there now, this
    ///   process may have accepted tokens up to now that it does not know.
    static func open(
        _ path: String, _ configuration: LMDBReplayCache.Configuration, at now: Timestamp, lost: Timestamp?
    ) throws(StoreFault) -> LMDBBuckets {
        let boot = try currentBoot(configuration.bootIDFile)
        let directory = try StoreDirectory(path, makesNew: configuration.makesNew)
        try directory.enter()
        let skew = configuration.clockSkew.clampedMilliseconds
        return try directory.alone { (waited) throws(StoreFault) in
            let fence = max(now.advanced(byMilliseconds: waited).advanced(byMilliseconds: skew), lost ?? now)
                .milliseconds
            try directory.share()
            let old = try directory.read()
            if let buckets = try believe(old, in: directory, boot, configuration.sizeLimit) {
                try buckets.catalog.change(isSynced: true) {
                    ($0.boot, $0.isClosed) = (boot, false)
                    if lost != nil { $0.fence = max($0.fence, fence) }
                }
                return buckets
            }
            try directory.discard()
            let catalog = try StoreCatalog(
                beginningIn: directory, boot: boot, fence: max(fence, old?.record.fence ?? .min))
            return try LMDBBuckets(catalog, sizeLimit: configuration.sizeLimit)
        }
    }

    /// `nil` where data may be missing: after a crash of the machine, or where files were removed or replaced.
    private static func believe(
        _ file: RecordFile?, in directory: StoreDirectory, _ boot: String, _ sizeLimit: Int
    ) throws(StoreFault) -> LMDBBuckets? {
        guard let file, file.record.boot == boot || file.record.isClosed,
            let catalog = try StoreCatalog(of: directory, file)
        else { return nil }
        do throws(StoreFault) {
            return try LMDBBuckets(catalog, sizeLimit: sizeLimit)
        } catch {
            guard error.isLost else { throw error }
            return nil
        }
    }

    private static func currentBoot(_ file: String) throws(StoreFault) -> String {
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(file, limit: 128) } catch {
            throw StoreFault("cannot tell a restart of the machine: \(file) \(error)")
        }
        let boot = String(decoding: bytes.prefix { !$0.isASCIIWhiteSpace }, as: UTF8.self)
        guard !boot.isEmpty else { throw StoreFault("cannot tell a restart of the machine: \(file) is empty") }
        return boot
    }
}
