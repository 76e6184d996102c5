// A process that claims keys of a store, for the tests that need several processes, or one to kill.
//
//     replay-worker NOW race URL THREADS KEYS GROUP   claims keys 0..<KEYS on each thread, prints how many were first
//     replay-worker NOW starve URL OTHER              prints what becomes of claims, and of opening OTHER, without
//                                                     descriptors
//     replay-worker NOW minutes URL START             claims START, START+1, … for ever, each of another minute, prints
//                                                     each that was first, at once
//     replay-worker NOW ask URL                       answers each line `NUMBER ISSUED NOW` of its input, a claim
//
//     replay-worker contract …                        what the contract of replay stores asks of a worker
//
// NOW is when every claim is made, in milliseconds since 1970. Stores are opened an hour before, so that their fence is
// out of the way; but for `ask` they are opened at NOW.
internal import Foundation
internal import MediaToken
internal import ReplayStoreTesting
internal import ReplayStores

let arguments = CommandLine.arguments
if arguments[1] == "contract" {
    ReplayStoreWorker.run(
        arguments.dropFirst(2),
        open: { place, now in try ConfiguredReplayStore(opening: place, clockSkew: .zero, at: now) },
        close: { store in try store.close() })
}
let now = Timestamp(milliseconds: Int64(arguments[1]) ?? 0)
let hourBefore = Timestamp(milliseconds: now.milliseconds - 3_600_000)

func claim(_ number: UInt64) -> ReplayClaim { ReplayRace.claim(number, at: now) }

func starve(_ cache: any ReplayStore, other: String) {
    func tell(_ what: String, _ body: () throws -> Any) {
        do { print("\(what): \(try body())") } catch { print("\(what): \(error)") }
    }
    func otherMinute(_ number: UInt64) -> ReplayClaim {
        let until = Timestamp(milliseconds: now.milliseconds + 600_000)
        return ReplayClaim(key: claim(number).key, issued: now, until: until)
    }
    func openOther() throws -> String {
        try ConfiguredReplayStore(opening: other, clockSkew: .zero, at: hourBefore).close()
        return "opened"
    }
    tell("before") { try cache.claim(claim(0), at: now) }
    var taken: [Int32] = []
    while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
    tell("same minute") { try cache.claim(claim(1), at: now) }
    tell("new minute") { try cache.claim(otherMinute(2), at: now) }
    tell("other store", openOther)
    for descriptor in taken { close(descriptor) }
    tell("other store again", openOther)
}

/// Claims each key in the minute after the one before, and from the first again after 300. Ends with the first claim
/// that cannot be decided.
func loopOverMinutes(_ cache: any ReplayStore, from start: UInt64) -> Never {
    var number = start
    while true {
        let until = Timestamp(milliseconds: now.milliseconds + Int64(number % 300) * 60_000)
        let answer = try? cache.claim(ReplayClaim(key: claim(number).key, issued: now, until: until), at: now)
        guard let answer else { exit(1) }
        if answer == .first { FileHandle.standardOutput.write(Data("\(number)\n".utf8)) }
        number += 1
    }
}

func answer(_ cache: any ReplayStore) {
    FileHandle.standardOutput.write(Data("open\n".utf8))
    while let line = readLine() {
        let numbers = line.split(separator: " ").map { Int64($0) ?? 0 }
        let (issued, time) = (Timestamp(milliseconds: numbers[1]), Timestamp(milliseconds: numbers[2]))
        let answer = Result { try cache.claim(ReplayRace.claim(UInt64(numbers[0]), at: issued), at: time) }
        FileHandle.standardOutput.write(Data("\(answer)\n".utf8))
    }
}

let store = try ConfiguredReplayStore(
    opening: arguments[3], clockSkew: .zero, at: arguments[2] == "ask" ? now : hourBefore)
switch arguments[2] {
case "race":
    let (threads, keys, group) = (Int(arguments[4]) ?? 0, Int(arguments[5]) ?? 0, Int(arguments[6]) ?? 1)
    print(try ReplayRace.run(store, threads: threads, keys: keys, group: group, at: now))
    try store.close()
case "starve":
    starve(store, other: arguments[4])
    try store.close()
case "minutes":
    loopOverMinutes(store, from: UInt64(arguments[4]) ?? 0)
default:
    answer(store)
    try store.close()
}
