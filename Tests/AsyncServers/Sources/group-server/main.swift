import Glibc
import MediaToken
import ReplayLMDB
import Sockets

// A playback backend that verifies the tokens of concurrent requests together, eight signatures in the time of one
// where the processor can: group-server KEYS DIRECTORY.
let arguments = CommandLine.arguments
guard arguments.count == 3 else { fatalError("usage: group-server KEYS DIRECTORY") }
let groups = TokenGroups(
    MediaTokenVerifier(
        keys: try KeyRing(loading: arguments[1]), policy: .init(clockSkew: .zero),
        replays: try LMDBReplayStore(path: arguments[2], configuration: .init(clockSkew: .zero))))

let server = try Server()
print("port \(server.port)")
fflush(nil)
await server.run { request in
    guard request.path == "/play" else { return Server.Answer(200, "largest group: \(await groups.largest)") }
    let expected = Expectation(requestor: "MML", resource: "TNT")
    switch await groups.verify(VerificationRequest(token: RawToken(request.body), expectation: expected)) {
    case .success(.accepted(let token)): return Server.Answer(200, "play for a viewer of \(token.claims.mvpd)")
    case .success(.rejected(let rejection)): return Server.Answer(403, "\(rejection)")
    case .failure(let error): return Server.Answer(503, "\(VerdictCode.errorUnknown.rawValue): \(error)")
    }
}
