import Glibc
import MediaToken
import ReplayRedis
import Sockets

// A playback backend on bare Swift concurrency: task-server KEYS REDIS-URL. Each request is a task, which waits
// suspended while the replay store decides.
let arguments = CommandLine.arguments
guard arguments.count == 3 else { fatalError("usage: task-server KEYS REDIS-URL") }
var configuration = try RedisConfiguration(url: arguments[2])
configuration.clockSkew = .zero
let store = RedisReplayStore(configuration)
// A store that is new rejects the tokens from before its beginning, so it is to begin before the first request.
try store.open()
let verifier = MediaTokenVerifier(
    keys: try KeyRing(loading: arguments[1]), policy: .init(clockSkew: .zero), replays: store)

let server = try Server()
print("port \(server.port)")
fflush(nil)
await server.run { request in
    guard request.path == "/play" else { return Server.Answer(200, "alive") }
    do {
        switch try await verifier.verify(RawToken(request.body), for: .init(requestor: "MML", resource: "TNT")) {
        case .accepted(let token): return Server.Answer(200, "play for a viewer of \(token.claims.mvpd)")
        case .rejected(let rejection): return Server.Answer(403, "\(rejection)")
        }
    } catch {
        return Server.Answer(503, "\(VerdictCode.errorUnknown.rawValue): \(error)")
    }
}
