// Claims a second and bytes an entry of each replay store, by threads and live entries; and the slowest claims.
//
//     swift run -c release replay-benchmark [DIRECTORY] [LARGEST] [REDIS-URL…]
//
// DIRECTORY holds the stores that live on a disk (default: a temporary one); LARGEST is the largest number of live
// entries (default 10000000). A REDIS-URL names a server, a cluster with all its primaries, or a quorum that may be
// filled. Compare figures of one run only: machines differ, and so do their hours.
//
//     swift run -c release replay-benchmark factors REDIS-URL…
//
// prints what a claim costs the gate and the servers that the URL names, by the number of claims that go together: the
// factors of the page on sizing.
internal import Basics
internal import EventLoops
internal import Foundation
internal import LoadTest
internal import ReplayRedis
internal import MediaToken
internal import ReplayStores

/// Issued at the same moment, with lives that end in one of eight minutes, as those of seven-minute tokens do.
struct Workload {
    /// An hour from now, since it stands still for as long as a benchmark takes, and no server's clock may be far ahead
    /// of it.
    static let now = Timestamp(milliseconds: Timestamp.now.milliseconds + 3_600_000)

    /// The key of `number` is spread as a digest is. It expires in the minute that is asked for, or in any.
    static func claim(_ number: UInt64, minute: UInt64? = nil) -> ReplayClaim {
        var state = number &+ 0x9E37_79B9_7F4A_7C15
        func next() -> UInt64 {
            state = state &+ 0x9E37_79B9_7F4A_7C15
            var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
        let key = ReplayKey(words: (next(), next(), next(), next()))
        let until = Timestamp(milliseconds: now.milliseconds + 60_000 * Int64((minute ?? number % 8) + 1))
        return ReplayClaim(key: key, issued: now, until: until)
    }

    /// Seconds that it takes to claim the keys of `range`, shared between threads, in groups of `group`.
    static func time(
        _ cache: any ReplayStore, _ range: Range<UInt64>, threads count: Int, group: Int, minute: UInt64? = nil
    ) -> Double {
        let share = UInt64(range.count / count)
        let threads = (0..<UInt64(count)).map { thread in
            Thread {
                let own = (range.lowerBound + thread * share)..<(range.lowerBound + (thread + 1) * share)
                for number in stride(from: own.lowerBound, to: own.upperBound, by: group) {
                    let claims = (number..<min(number + UInt64(group), own.upperBound)).map {
                        claim($0, minute: minute)
                    }
                    for answer in cache.claim(claims, at: now) {
                        guard case .success(.first) = answer else {
                            fatalError("a new key was answered with \(answer)")
                        }
                    }
                }
            }
        }
        return seconds {
            threads.forEach { $0.start() }
            while threads.contains(where: { !$0.isFinished }) { usleep(50) }
        }
    }
}

func seconds(_ body: () -> Void) -> Double {
    let duration = ContinuousClock().measure(body).components
    return Double(duration.seconds) + Double(duration.attoseconds) / 1e18
}

func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
}

func row(_ cells: [String]) {
    print(zip(cells, [8, 10, 10, 8, 6, 12, 10, 12]).map(padded).joined(separator: "  "))
}

/// Fills a store to `live` entries, then measures with each number of threads.
///
/// A claim meets "any" of the minutes, or "one" of them as when tokens are used soon after their issue and so expire in
/// the same minute.
func measure(_ name: String, _ url: String, live: UInt64) throws {
    let store = try ConfiguredReplayStore(opening: url, clockSkew: .zero)
    func taken() throws -> Int { name == "memory" ? ProcessMemory.now.resident : try store.contents().bytes ?? 0 }
    let before = try taken()
    _ = Workload.time(store, 0..<live, threads: 1, group: 64)
    let bytes = (try taken() - before) / Int(live)
    var next = live
    for (threads, group, minute) in [
        (1, 1, nil), (2, 1, nil), (8, 1, nil), (1, 8, nil), (1, 32, nil), (1, 1, 7), (1, 8, 7),
    ] as [(Int, Int, UInt64?)] {
        // Few beside what is there, so that the number of live entries stays what the row says. The best of five, since
        // the machine has other things to do too.
        let count = UInt64(max(2048, min(name == "redis" ? 4096 : 160_000, live / 50)) / 256 * 256)
        let seconds =
            (0..<5).map { _ in
                defer { next += count }
                return Workload.time(
                    store, next..<(next + count), threads: threads, group: group, minute: minute)
            }.min() ?? .infinity
        row([
            name, String(live), minute == nil ? "any" : "one", String(threads), String(group),
            String(Int(Double(count) / seconds)), String(format: "%.2f", seconds / Double(count) * 1e6), String(bytes),
        ])
    }
    try store.close()
}

/// One thread, one connection to each server, `inFlight` groups on their way at any time.
///
/// - Returns: the seconds that it took.
func claimPipelined(_ url: String, claims: Int, inFlight: Int, group: Int) throws -> Double {
    let loop = try EventLoop()
    var configuration = try RedisConfiguration(url: url)
    configuration.prefix = UUID().uuidString
    configuration.timeout = .milliseconds(10_000)
    configuration.clockSkew = .zero
    try RedisReplayStore(configuration).open()
    let client = RedisQuorum(configuration, on: loop)
    var (begun, done) = (0, 0)
    func next() {
        guard begun < claims else { return }
        let range = UInt64(begun)..<UInt64(begun + group)
        begun += group
        client.claim(range.map { Workload.claim($0) }, at: Workload.now) { answers in
            for answer in answers {
                guard case .success(.first) = answer else { fatalError("a new key was answered with \(answer)") }
            }
            done += group
            next()
        }
    }
    return seconds {
        for _ in 0..<inFlight { next() }
        loop.run { done >= claims }
    }
}

func measurePipelined(_ url: String, claims: Int, inFlight: Int, group: Int) throws {
    let seconds = try claimPipelined(url, claims: claims, inFlight: inFlight, group: group)
    row([
        "redis", "pipelined", "any", "1", String(group), String(Int(Double(claims) / seconds)),
        String(format: "%.2f", seconds / Double(claims) * 1e6), "-",
    ])
}

/// What some Redis servers have used since they started, all together.
struct ServerUse {
    var processorSeconds = 0.0
    var bytesIn = 0.0
    var bytesOut = 0.0
    var memory = 0.0

    init(of configuration: RedisConfiguration) throws {
        let first = RedisConfiguration.Host(name: configuration.host, port: configuration.port)
        for host in [first] + configuration.otherHosts {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            process.arguments = ["redis-cli", "-h", host.name, "-p", "\(host.port)", "info"]
            process.standardOutput = output
            try process.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            let fields = Dictionary(
                text.split(whereSeparator: \.isNewline).map { line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    return (parts[0], parts.last.flatMap { Double($0) } ?? 0)
                }, uniquingKeysWith: { first, _ in first })
            processorSeconds += (fields["used_cpu_sys"] ?? 0) + (fields["used_cpu_user"] ?? 0)
            bytesIn += fields["total_net_input_bytes"] ?? 0
            bytesOut += fields["total_net_output_bytes"] ?? 0
            memory += fields["used_memory"] ?? 0
        }
    }
}

/// Prints what a claim costs this process and all servers of a store, by the number of claims that go together.
func printFactors(_ url: String) throws {
    let configuration = try RedisConfiguration(url: url)
    print("\(configuration): of one claim, at all servers together")
    print("   group  gate µs  servers µs  bytes to  bytes from  memory")
    for group in [1, 2, 4, 8, 16, 32, 128] {
        let claims = 12_800 * min(group, 8)
        let (before, own) = (try ServerUse(of: configuration), ProcessorTime.now)
        _ = try claimPipelined(url, claims: claims, inFlight: 256, group: group)
        let (after, spent) = (try ServerUse(of: configuration), ProcessorTime.now - own)
        func each(_ total: Double) -> String { String(format: "%.1f", total / Double(claims)) }
        let cells = [
            "\(group)", each(spent * 1e6), each((after.processorSeconds - before.processorSeconds) * 1e6),
            each(after.bytesIn - before.bytesIn), each(after.bytesOut - before.bytesOut),
            each(after.memory - before.memory),
        ]
        print(zip(cells, [8, 7, 10, 8, 10, 6]).map(padded).joined(separator: "  "))
    }
}

/// The processor time of this process in seconds.
enum ProcessorTime {
    static var now: Double { Double(clock()) / Double(CLOCKS_PER_SEC) }
}

/// What single claims take while time passes: 100,000 in each of 40 minutes of expiry, so that buckets begin, expire
/// and are deleted, and tables and files grow. Between them, as many turns of a loop that only reads the clock for as
/// long as the median claim takes: what the machine does to any program.
func measureTail(_ name: String, _ url: String) throws {
    let store = try ConfiguredReplayStore(opening: url, clockSkew: .zero)
    var (claims, turns) = (LatencyHistogram(), LatencyHistogram())
    var median: UInt64 = 0
    for number in 0..<4_000_000 as Range<UInt64> {
        let now = Timestamp(milliseconds: Workload.now.milliseconds + Int64(number / 100_000) * 60_000)
        let until = Timestamp(milliseconds: now.milliseconds + 420_000)
        let claim = ReplayClaim(key: Workload.claim(number).key, issued: now, until: until)
        let begin = MonotonicTime.nanoseconds
        _ = try store.claim(claim, at: now)
        let end = MonotonicTime.nanoseconds
        claims.record(end - begin)
        if number % 4096 == 4095 { median = claims.quantile(0.5) }
        var last = end
        while last < end + median { last = MonotonicTime.nanoseconds }
        turns.record(last - end)
    }
    try store.close()
    for (what, figures) in [("claims", claims), ("bare clock", turns)] {
        let quantiles = [0.5, 0.99, 0.999, 0.9999].map { String(format: "%8.1f", Double(figures.quantile($0)) / 1000) }
        let longest = String(format: "%8.1f", Double(figures.maximum) / 1000)
        print(
            "\(padded(name, 8))  \(padded(what, 10))  µs: p50 \(quantiles[0])  p99 \(quantiles[1])  p99.9 \(quantiles[2])  p99.99 \(quantiles[3])  longest \(longest)"
        )
    }
}

if CommandLine.arguments.dropFirst().first == "factors" {
    for url in CommandLine.arguments.dropFirst(2) { try printFactors(url) }
    exit(0)
}

let directory = CommandLine.arguments.dropFirst().first ?? NSTemporaryDirectory()
let largest = CommandLine.arguments.dropFirst(2).first.flatMap(UInt64.init) ?? 10_000_000
row(["store", "live", "minute", "threads", "group", "claims/s", "µs/claim", "bytes/entry"])
for live in [10_000, 100_000, 1_000_000, 10_000_000] as [UInt64] where live <= largest {
    try measure("memory", "memory", live: live)
    let path = "\(directory)/replay-benchmark-\(ProcessInfo.processInfo.processIdentifier)"
    defer { try? FileManager.default.removeItem(atPath: path) }
    try measure("lmdb", "lmdb:\(path)", live: live)
    for url in CommandLine.arguments.dropFirst(3) {
        let mark = url.contains("?") ? "&" : "?"
        try measure("redis", "\(url)\(mark)timeout=10000&prefix=\(UUID().uuidString)", live: live)
    }
}
for url in CommandLine.arguments.dropFirst(3) {
    for group in [1, 8, 32] { try measurePipelined(url, claims: 320_000, inFlight: 512 / group, group: group) }
}

let tailPath = "\(directory)/replay-benchmark-tail-\(ProcessInfo.processInfo.processIdentifier)"
defer { try? FileManager.default.removeItem(atPath: tailPath) }
for (name, url) in [("memory", "memory"), ("lmdb", "lmdb:\(tailPath)")] { try measureTail(name, url) }
