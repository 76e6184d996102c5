// A process that claims keys of a store, for the tests that need several processes, or one to kill.
//
//     replay-worker race URL THREADS KEYS   claims keys 0..<KEYS on each thread, prints how many were first
//     replay-worker loop URL START          claims START, START+1, … for ever, prints each that was first, at once
//     replay-worker starve URL OTHER        prints what becomes of claims, and of opening OTHER, without file descriptors
internal import Foundation
internal import MediaToken
internal import ReplayStores
internal import Synchronization

/// When every claim is made; stores are opened a day before, so that their fence is out of the way.
let now = Timestamp(milliseconds: 1_700_000_000_000)
let dayBefore = Timestamp(milliseconds: now.milliseconds - 86_400_000)

func claim(_ number: UInt64) -> ReplayClaim {
    let word = number &* 0x9E37_79B9_7F4A_7C15
    let until = Timestamp(milliseconds: now.milliseconds + 420_000)
    return ReplayClaim(key: ReplayKey(words: (word, word &+ 1, number, ~word)), issued: now, until: until)
}

func race(_ cache: any ReplayCache, threads: Int, keys: UInt64) throws -> Int {
    let firsts = Atomic<Int>(0)
    let faults = Atomic<Int>(0)
    DispatchQueue.concurrentPerform(iterations: threads) { thread in
        for position in 0..<keys {
            switch Result(catching: { try cache.claim(claim((position + UInt64(thread) * 157) % keys), at: now) }) {
            case .success(.first): firsts.add(1, ordering: .relaxed)
            case .success: break
            case .failure: faults.add(1, ordering: .relaxed)
            }
        }
    }
    guard faults.load(ordering: .relaxed) == 0 else { throw ReplayCacheError.unavailable("some claims failed") }
    return firsts.load(ordering: .relaxed)
}

func loop(_ cache: any ReplayCache, from start: UInt64) throws -> Never {
    var number = start
    while true {
        if try cache.claim(claim(number), at: now) == .first {
            FileHandle.standardOutput.write(Data("\(number)\n".utf8))
        }
        number += 1
    }
}

func starve(_ cache: any ReplayCache, other: String) {
    func tell(_ what: String, _ body: () throws -> Any) {
        do { print("\(what): \(try body())") } catch { print("\(what): \(error)") }
    }
    func otherMinute(_ number: UInt64) -> ReplayClaim {
        let until = Timestamp(milliseconds: now.milliseconds + 600_000)
        return ReplayClaim(key: claim(number).key, issued: now, until: until)
    }
    func openOther() throws -> String {
        try ReplayStore(opening: other, at: dayBefore).close()
        return "opened"
    }
    tell("before") { try cache.claim(claim(0), at: now) }
    var taken: [Int32] = []
    while case let descriptor = dup(0), descriptor >= 0 { taken.append(descriptor) }
    tell("known minute") { try cache.claim(claim(1), at: now) }
    tell("new minute") { try cache.claim(otherMinute(2), at: now) }
    tell("other store", openOther)
    for descriptor in taken { close(descriptor) }
    tell("new minute again") { try cache.claim(otherMinute(2), at: now) }
    tell("other store again", openOther)
}

let arguments = CommandLine.arguments
let store = try ReplayStore(opening: arguments[2], at: dayBefore)
switch arguments[1] {
case "race":
    print(try race(store.cache, threads: Int(arguments[3]) ?? 0, keys: UInt64(arguments[4]) ?? 0))
    try store.close()
case "starve":
    starve(store.cache, other: arguments[3])
    try store.close()
default:
    try loop(store.cache, from: UInt64(arguments[3]) ?? 0)
}
