import Glibc
import MediaToken

// As a programmer's own server uses the library: verify a token that the client sent, then play or refuse.
let arguments = CommandLine.arguments
guard arguments.count == 4, let now = Timestamp(reading: arguments[3]) else {
    print("usage: client KEYS TOKEN TIME")
    exit(64)
}
let keys = try KeyRing(loading: arguments[1], minimumRSABits: 1024)
let verifier = MediaTokenVerifier(
    keys: keys, policy: .init(clockSkew: .seconds(30)), replays: MemoryReplayStore.unfenced())

for attempt in 1...2 {
    switch try verifier.verify(RawToken(arguments[2]), for: .init(requestor: "MML", resource: "TNT"), at: now) {
    case .accepted(let token): print("attempt \(attempt): play for a viewer of \(token.claims.mvpd)")
    case .rejected(let rejection): print("attempt \(attempt): \(rejection.code.rawValue)")
    }
}
