internal import MediaToken

/// Opens a store: decides whether what lies in its directory can be believed, and where its fence is.
enum LMDBSession {
    static func begin(
        in directory: StoreDirectory, _ configuration: LMDBReplayCache.Configuration, at now: Timestamp
    ) throws(StoreFault) -> (buckets: LMDBBuckets, fence: Int64) {
        let boot = try currentBoot(configuration.bootIDFile)
        if try directory.join() {
            // Nobody else uses it, so whatever has to be put right can be.
            try prepare(
                directory, boot,
                fence: now.advanced(byMilliseconds: configuration.clockSkew.clampedMilliseconds).milliseconds)
        }
        guard let record = try directory.record(), record.boot == boot else {
            throw StoreFault("is in use under another boot of the kernel; is the directory shared between machines?")
        }
        let buckets = try LMDBBuckets(in: directory, sizeLimit: configuration.sizeLimit)
        try directory.share()
        return (buckets, record.fence)
    }

    /// Makes the record say what is true now, and discards data that a machine's crash may have damaged.
    private static func prepare(_ directory: StoreDirectory, _ boot: String, fence: Int64) throws(StoreFault) {
        switch try directory.record() {
        case nil:
            try directory.write(.init(boot: boot, isClosed: false, fence: fence))
        case let record? where record.boot == boot || record.isClosed:
            try directory.write(.init(boot: boot, isClosed: false, fence: record.fence))
        case .some:
            // The record first: if this is cut short, the next one finds an empty store behind the new fence.
            try directory.discardData()
            try directory.write(.init(boot: boot, isClosed: false, fence: fence))
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
