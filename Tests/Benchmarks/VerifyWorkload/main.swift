// Verifies a fixed corpus again and again, for tools that count what that takes: instructions, memory, allocations.
//
//     swift build -c release --product verify-workload
//     valgrind --tool=callgrind .build/release/verify-workload KEY.pem TOKENS ISSUE-TIME PASSES [GROUP]
//
// Tests/Benchmarks/instruction-count runs it, and says what a token costs.
internal import Basics
internal import LoadTest
internal import MediaToken

struct Failure: Error {
    let message: String
}

let arguments = CommandLine.arguments.dropFirst()
guard arguments.count >= 4, let time = Timestamp(reading: arguments[3]), let passes = UInt64(arguments[4]) else {
    throw Failure(message: "expected KEY.pem TOKENS ISSUE-TIME PASSES [GROUP]")
}
let group = max(1, arguments.count > 4 ? Int(arguments[5]) ?? 1 : 1)
let text = try FileBytes.read(arguments[2], limit: 1 << 24)
let corpus = TokenCorpus(captured: text.split(separator: UInt8(ascii: "\n")).map { RawToken(Array($0)) })
let keys = try KeyRing(loading: arguments[1], minimumRSABits: 1024)
let groups = corpus.groups(of: group)
let verifiers = PassVerifiers(keys: keys, policy: VerificationPolicy(), replays: MemoryReplayStore.unfenced())
for pass in 0..<passes {
    let verifier = verifiers.verifier(of: pass)
    for group in groups {
        for outcome in verifier.verify(group, at: time) {
            guard case .success(.accepted) = outcome else { throw Failure(message: "a token came to \(outcome)") }
        }
    }
}
print("\(corpus.items.count) tokens")
