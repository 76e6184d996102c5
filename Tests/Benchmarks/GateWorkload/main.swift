// Asks a gate about one target again and again, for tools that count what that takes.
//
//     gate-workload ROUTES QUESTIONS <TARGET
//
// The gate opens /open to all, and ROUTES paths below it to tokens: /open/1/members, /open/2/members and so on.
internal import Foundation
internal import HTTP
internal import MediaTokenGate
internal import MediaToken

struct Failure: Error {
    let message: String
}

let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
guard numbers.count == 2, let target = readLine() else { throw Failure(message: "expected ROUTES QUESTIONS <TARGET") }
let expectation = Expectation(requestor: "MML", resource: "TNT")
let open = GateRoute(path: "/open", access: .open)
let shut = (0..<numbers[0]).map { GateRoute(path: "/open/\($0)/members", access: .token(expectation)) }
let gate = Gate(routes: ([open] + shut).compactMap(\.self))
let request = HTTPRequest(method: "GET", path: "/v1/authz/forward-auth", headers: [("X-Forwarded-Uri", target)])
let clock = ContinuousClock()
var codes: Set<String> = []
let time = clock.measure {
    for _ in 0..<numbers[1] {
        if case .settled(let reply) = gate.task(request, at: .now) { codes.insert(reply.code) }
    }
}
print("\(codes.sorted().joined(separator: " ")) \(time / .nanoseconds(max(1, numbers[1]))) ns a question")
