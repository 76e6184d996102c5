// Three stores that break the contract, each for a reason of its own: broken-stores DIRECTORY
//
// Prints which clauses each of them breaks, and ends with 0 only if these are the expected ones and no others.
import Glibc
import MediaToken
import ReplayStoreTesting

let arguments = CommandLine.arguments
guard arguments.count > 1 else {
    print("usage: broken-stores DIRECTORY")
    exit(64)
}
if let worker = Fault(rawValue: arguments[1]) {
    ReplayStoreWorker.run(arguments.dropFirst(2)) { place, now in try worker.open(place, at: now) }
}

var isAsExpected = true
for fault in Fault.allCases {
    print("\(fault.rawValue):")
    let subject = BrokenStoreSubject(fault: fault, directory: arguments[1])
    var notSeen = fault.brokenClauses
    for clause in ReplayStoreContract.clauses {
        let outcome = await clause.outcome(for: subject)
        let breaks = notSeen.remove(clause.name) != nil
        switch outcome {
        case .passed where !breaks: break
        case .failed where breaks: print("  breaks: \(clause)")
        default:
            isAsExpected = false
            print("  UNEXPECTED: \(clause): \(outcome)")
        }
        fflush(nil)
    }
    for name in notSeen {
        isAsExpected = false
        print("  UNEXPECTED: the contract has no clause '\(name)'")
    }
}
exit(isAsExpected ? 0 : 1)
