internal import Basics
package import HTTP
package import MediaToken
package import EventLoops
package import ReplayStores
internal import Settings
internal import StreamPaths
internal import TokenCrypto

/// The settings of a gate, named like the options of `media-token serve` and of its configuration file.
package struct GateSettings: Sendable {
    package var listen = [HTTPListener(.tcp(host: "127.0.0.1", port: 8080))]
    package var admin = [HTTPListener(.tcp(host: "127.0.0.1", port: 8081))]
    /// The permissions of Unix sockets.
    package var unixMode: UInt32 = 0o660
    /// The files for TLS as they are configured; ``tls`` is made of them.
    var tlsFiles = TLSFiles()
    /// The certificate files of the listeners that use TLS.
    package internal(set) var tls: TLSServer.Files?
    package var workers = 2
    /// The verification key files, and directories of such files.
    package var keys: [String] = []
    package var passwordFile: String?
    package var minimumRSABits = 2048
    /// The seconds between two looks at the files of keys, certificates and secrets; 0 for none.
    package var watchSeconds = 5
    package var clockSkew = VerificationPolicy.defaultClockSkew
    package var defaultTTL = Duration.seconds(300)
    package var maximumTTL = Duration.seconds(900)
    package var comparesCanonically = false
    package var mvpds: [RequestorID: Set<MVPDID>] = [:]
    package var replays = ReplayStoreLocation.lmdb(path: "/var/lib/media-token/replays")
    package var routes: [GateRoute] = []
    package var dialects: [Dialect] = []
    package var sources = TokenSources()
    package var corsOrigins = CORSOrigins()
    package var limits = HTTPLimits()
    /// One in so many answers that allow a request is logged; 0 logs none.
    package var logEvery = 1
    /// One in so many of the other answers is logged; 0 logs none.
    package var logRefusedEvery = 1
    /// The file with the secret of the viewers' pseudonyms; `nil` if the log has none.
    package var viewerKeyFile: String?
    /// Makes the viewers' pseudonyms, from what ``viewerKeyFile`` had.
    package var pseudonyms: ViewerPseudonyms?
    /// The time for which a proxy may keep an answer that needs no token; zero if it must not.
    var decisionMaxAge = Duration.zero
    /// The proxies whose `X-Forwarded-For` the log goes by.
    var trustedProxies = TrustedProxies()
    /// Whether the gate only reports what it would refuse, whatever the request is for.
    package var reportsOnly = false
    /// Whether a gate or a route that only reports makes playback grants for tokens that it would refuse.
    package var reportsWithGrants = false
    package var stopMilliseconds = 10_000
    /// Whether the gate is ready although its replay store is new and rejects every token.
    package var isReadyWhileFenced = false
    /// The values of the settings as they are configured.
    var configured: [JSONName: JSONValue] = [:]

    package init() {}

    /// The names of the settings that are configured otherwise than in `other`, sorted.
    package func names(thatDifferFrom other: GateSettings) -> [String] {
        let names = Set(configured.keys).union(other.configured.keys)
        return names.filter { configured[$0] != other.configured[$0] }.map(\.text).sorted()
    }

    /// The names of the settings that differ from those at the process's start and take effect only after a restart.
    package func namesThatWait(since start: GateSettings) -> [String] {
        Self.table.settings.filter { $0.differs?(self, start) ?? false }.map(\.name)
    }

    /// What the gate only reports on.
    package var reportOnly: ReportOnly {
        ReportOnly(
            isForAll: reportsOnly, routes: routes.filter(\.reportsOnly).map(\.path.text),
            makesGrants: reportsWithGrants)
    }

    /// The requestors that routes name.
    var requestorsOfRoutes: Set<RequestorID> {
        routes.reduce(into: []) { known, route in
            if case .token(let expectation) = route.access { known.formUnion(expectation.requestors) }
        }
    }

    /// The requestors that routes and MVPD lists name.
    package var requestors: Set<RequestorID> { requestorsOfRoutes.union(mvpds.keys) }

    /// A short hash of what decides the gate's answers: two gates with the same one are configured alike. It has
    /// neither the gate's own addresses nor any secret in it, since one that can be guessed could be found out by it.
    func hash(with keys: KeyRing) -> String {
        var values = configured.filter { !["listen", "admin"].contains($0.key.text) }
        if case .text(let url)? = values["replays"], let mark = url.lastIndex(of: "@") {
            values["replays"] = .text(String(url.prefix { $0 != ":" }) + url[mark...])
        }
        let text = JSONValue.object(values).line + keys.keys.map(\.fingerprint).sorted().joined()
        let digest = try? DigestAlgorithm.sha256.digest(Array(text.utf8))
        return digest.map { String($0.hexadecimal.prefix(12)) } ?? ""
    }

    package var policy: VerificationPolicy {
        VerificationPolicy(
            clockSkew: clockSkew, defaultTTL: defaultTTL, maximumTTL: maximumTTL, allowedMVPDs: mvpds)
    }
}

/// The files for TLS as they are configured.
struct TLSFiles: Sendable {
    var certificate: String?
    var key: String?
    var authorities: String?
    var names: [String]?
}
