internal import Glibc
internal import RedisSchedules

// Runs schedules of clients and servers against the rounds of the Redis store:
//
//     redis-schedules [COUNT [FIRST-SEED]]
//
// Each seed is one schedule. Prints the first one that goes wrong, in as few choices as were found, and exits with 1.

let arguments = CommandLine.arguments.dropFirst().compactMap { UInt64($0) }
let (count, first) = (arguments.first ?? 1_000_000, arguments.dropFirst().first ?? 0)
let start = ContinuousClock.now
for seed in first..<(first + count) {
    do throws(Schedule.Failure) { try Schedule.run(seed: seed) } catch {
        print("seed \(seed), after \(seed - first) schedules: \(error.description)")
        do throws(Schedule.Failure) { try Schedule.run(Schedule.shrink(error.choices), journal: true) } catch {
            print(error.description)
        }
        exit(1)
    }
}
print("\(count) schedules from seed \(first) in \(ContinuousClock.now - start): no token was accepted twice")
