internal import Glibc
internal import MediaToken

/// Opens a store: decides whether what lies in its directory can be believed, and where its fence is.
enum LMDBSession {
    static func begin(
        in directory: StoreDirectory, _ configuration: LMDBReplayCache.Configuration, at now: Timestamp
    ) throws(StoreFault) -> (buckets: LMDBBuckets, fence: Int64) {
        let boot = try currentBoot(configuration.bootIDFile)
        let fence = now.advanced(byMilliseconds: configuration.clockSkew.clampedMilliseconds).milliseconds
        for _ in 0..<attempts {
            if try directory.join() {
                // Nobody else uses it, so whatever has to be put right can be.
                try prepare(directory, boot, fence: fence)
                try directory.share()
            }
            // Nobody closes it, or discards its data, while we share it. But somebody may have just before.
            if let record = try directory.record(), record.boot == boot, !record.isClosed {
                return (try LMDBBuckets(in: directory, sizeLimit: configuration.sizeLimit), record.fence)
            }
            directory.leave()
            // Not in step with others who found the same, so that one of them has it alone.
            usleep(.random(in: 1000...5000))
        }
        throw StoreFault("is not put right by whoever opened it first; is the directory shared between machines?")
    }

    private static let attempts = 2000

    /// Makes the record say what is true now, and discards data that a machine's crash may have damaged.
    private static func prepare(_ directory: StoreDirectory, _ boot: String, fence: Int64) throws(StoreFault) {
        switch try directory.record() {
        case nil:
            try directory.write(.init(boot: boot, isClosed: false, fence: fence))
        case let record? where record.boot == boot || record.isClosed:
            try directory.write(.init(boot: boot, isClosed: false, fence: record.fence))
        case .some:
            // The data first: with the record first, being cut short between the two would leave data to be believed.
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
