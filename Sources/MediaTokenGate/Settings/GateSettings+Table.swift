internal import Basics
internal import EventLoops
internal import HTTP
internal import MediaToken
internal import ReplayStores
package import Settings
internal import StreamPaths

extension GateSettings {
    /// Every setting of the gate, in the order in which `--help` lists them.
    package static let table = SettingsTable<GateSettings>(
        .group("Where it listens", listening), .group("Keys and replay store", trust),
        .group("What a token must be for", policy), .group("Where a proxied request has its token", sources),
        .group("Limits", limits), .group("Operation", operation))

    /// The default of every setting.
    private static let defaults = GateSettings()

    private static let listening: [Setting<GateSettings>] = [
        listeners(
            "listen", "Serve backends and proxies at ADDRESS: \(HTTPListener.forms)", mayBeEmpty: false, \.listen),
        listeners(
            "admin", "Serve health, readiness, metrics and the API's description at ADDRESS", mayBeEmpty: true, \.admin),
        Setting(
            "unix-mode", "MODE", .text(pattern: "0?[0-7]{1,3}"), "Create Unix sockets with these permissions",
            default: "660",
            example: "660"
        ) { object, name, settings in
            guard let text = object.text(name) else { return }
            guard let mode = UInt32(text, radix: 8), mode <= 0o777, text.utf8.allSatisfy(\.isDigit) else {
                return object.refuse(name, "is '\(printable(text))'; expected permissions such as 660")
            }
            settings.unixMode = mode
        }.afterRestart(\.unixMode),
        .text(
            "tls-certificate", "FILE", "Present this certificate: PEM, followed by those up to its authority",
            example: "/etc/media-token/tls.pem", \.tlsFiles.certificate),
        .text(
            "tls-key", "FILE", "Use this private key of the certificate: PEM, without a password",
            example: "/etc/media-token/tls.key",
            \.tlsFiles.key),
        .text(
            "tls-client-ca", "FILE", "Serve only TLS clients with a certificate of these authorities",
            example: "/etc/media-token/clients.pem", \.tlsFiles.authorities),
        Setting(
            "tls-client-name", "NAME", .texts(pattern: "(?!\\.)[^*]+"),
            "Serve only TLS clients whose certificate has this DNS name, or this common name if it has no DNS name",
            example: ["backend.example"]
        ) { object, name, settings in
            settings.tlsFiles.names = object.values(name, "a whole name, without * and without a dot at its beginning")
            {
                TLSServer.Files.isClientName($0) ? $0 : nil
            }
        },
        Setting(
            "cors-origin", "ORIGIN", .texts(pattern: "\\*|https?://[^/]+", mayBeEmpty: true),
            "Let pages of this origin call /v1/verify, /v1/play, /v1/explain and dialects; * for any, without cookies",
            example: ["https://player.example"]
        ) { object, name, settings in
            settings.corsOrigins = CORSOrigins(object.values(name, CORSOrigin.forms) { CORSOrigin($0) } ?? [])
        },
        fixedNumber("workers", "N", "Serve requests with N threads", 1...256, \.workers),
    ]

    private static let trust: [Setting<GateSettings>] = [
        Setting(
            "keys", "PATH", .texts(), "Load a key file, or those of a directory",
            example: ["/etc/media-token/keys"]
        ) { object, name, settings in
            guard let paths = object.texts(name) else { return }
            settings.keys = paths
            if paths.isEmpty { object.refuse(name, "none is named; expected key files, or directories of them") }
        }.required,
        .text(
            "password-file", "FILE", "Read the password of a PKCS#12 or JKS from the first line of FILE",
            example: "/etc/media-token/keystore-password", \.passwordFile),
        number(
            "min-rsa-bits", "N", "Accept RSA keys of at least N bits", KeyRequirements.lowestMinimumRSABits...8192,
            \.minimumRSABits),
        number(
            "watch", "S",
            "Check the files of keys, certificates and secrets every S seconds, and read a changed file again once it is stable; 0: only on SIGHUP",
            0...3600, \.watchSeconds),
        Setting(
            "replays", "URL", .text(pattern: "memory|lmdb:.+|rediss?:.+"),
            "Record used tokens in this replay store: \(ReplayStoreLocation.forms)",
            default: "lmdb:/var/lib/media-token/replays", example: "lmdb:/var/lib/media-token/replays"
        ) { object, name, settings in
            guard let url = object.text(name) else { return }
            do { settings.replays = try ReplayStoreLocation(url) } catch { object.refuse(name, "\(error)") }
        }.afterRestart(\.replays),
    ]

    private static let policy: [Setting<GateSettings>] = [
        seconds(
            "skew", "Allow this host's clock and Adobe's to differ by S seconds",
            0...Int(VerificationPolicy.largestClockSkew.components.seconds), \.clockSkew
        )
        .afterRestart(\.clockSkew),
        seconds(
            "default-ttl", "Give a token without a TTL one of S seconds",
            1...Int(VerificationPolicy.longestDefaultTTL.components.seconds), \.defaultTTL),
        seconds("max-ttl", "Cut a longer TTL to S seconds", 1...86_400, \.maximumTTL),
        .flag(
            "canonical-resource", "Compare MRSS by its canonical XML at /v1/verify and /v1/play", \.comparesCanonically),
        Setting(
            "mvpd", "REQUESTOR=ID", .lists, "Accept tokens of REQUESTOR only from this MVPD, or proxy MVPD",
            example: ["MML": ["Comcast", "TempPass"]]
        ) { object, name, settings in settings.mvpds = object.allowLists(name) }
        .formerly("mvpds"),
        Setting(
            "routes", "PATH=REQUESTOR:RESOURCE", .objects(RouteDraft.schema),
            "Demand a token for PATH and all paths below it; PATH=open demands none",
            example: .list([RouteDraft.example, RouteDraft.openExample])
        ) { object, name, settings in settings.routes = object.routes(name) }
        .asOption("route", item: route),
        Setting(
            "dialects", "DIALECT", .objects(DialectDraft.schema),
            "Paths at which apps ask as they asked another service, and get its answers",
            example: .list([DialectDraft.example])
        ) { object, name, settings in settings.dialects = object.dialects(name) }.only(in: .file),
    ]

    /// A route of the command line: `PATH=REQUESTOR:RESOURCE`, or `PATH=open`.
    private static func route(_ text: String) -> JSONValue? {
        guard let mark = text.firstIndex(of: "=") else { return nil }
        let (path, rest) = (String(text[..<mark]), text[text.index(after: mark)...])
        if rest == "open" { return ["path": .text(path), "open": .boolean(true)] }
        guard let colon = rest.firstIndex(of: ":") else { return nil }
        return [
            "path": .text(path), "requestor": .text(String(rest[..<colon])),
            "resource": .text(String(rest[rest.index(after: colon)...])),
        ]
    }

    private static let sources: [Setting<GateSettings>] = [
        source(
            "token-header", "Take the token from this header; empty for none", pattern: nameInHTTP, \.sources.header),
        .flag("token-bearer", "Take a token from Authorization: Bearer", default: true, \.sources.bearer),
        source(
            "token-cookie", "Take the token from this cookie; empty for none", pattern: nameInHTTP, \.sources.cookie),
        source(
            "token-parameter", "Take the token from this query parameter; empty for none", pattern: nil,
            \.sources.parameter),
    ]

    private static let limits: [Setting<GateSettings>] = [
        fixedNumber(
            "max-header-bytes", "N", "Refuse a request whose line and headers have more than N bytes", 1024...1_048_576,
            \.limits.headerBytes),
        fixedNumber(
            "max-body-bytes", "N", "Refuse a request whose body has more than N bytes", 1024...16_777_216,
            \.limits.bodyBytes),
        fixedNumber(
            "arrival-timeout", "S", "Close a connection if a request takes more than S seconds to arrive", 1...3600,
            \.limits.arrivalMilliseconds,
            unit: 1000),
        fixedNumber(
            "idle-timeout", "S", "Close a connection that has been idle for S seconds", 1...86_400,
            \.limits.idleMilliseconds,
            unit: 1000),
        fixedNumber(
            "max-connections", "N", "Serve at most N connections at a time", 1...1_000_000, \.limits.connections),
        fixedNumber(
            "max-connections-per-peer", "N", "Serve at most N connections at a time from one address", 1...1_000_000,
            \.limits.connectionsPerPeer),
        fixedNumber(
            "max-unfinished-bytes", "N",
            "Close the connections with the most bytes of unfinished requests if these exceed N in total. As many again may wait for responses; above that, requests of more than 8 KiB get 503",
            1_048_576...17_179_869_184, \.limits.unfinishedBytes),
    ]

    private static let operation: [Setting<GateSettings>] = [
        fixedNumber(
            "log-every", "N", "Log one in N of the answers that allow a request; 0 for none", 0...1_000_000, \.logEvery),
        fixedNumber(
            "log-refused-every", "N", "Log one in N of the answers that refuse a request; 0 for none", 0...1_000_000,
            \.logRefusedEvery),
        .text(
            "viewer-key-file", "FILE",
            "Log a pseudonym of each viewer, made with the secret in FILE: 32 bytes or more, the same on all gates",
            example: "/etc/media-token/viewer.key", \.viewerKeyFile),
        seconds(
            "decision-max-age",
            "Let a proxy keep an answer for S seconds where a grant or an open route allows the request; never one for a token",
            0...60, \.decisionMaxAge),
        Setting(
            "trusted-proxy", "ADDRESS", .texts(pattern: "unix|[0-9A-Fa-f.:]+(?:/[0-9]+)?", mayBeEmpty: true),
            "Log the client's address from the X-Forwarded-For of this proxy: an address, a network, or unix",
            example: ["10.0.0.0/8", "unix"]
        ) { object, name, settings in
            settings.trustedProxies = TrustedProxies(
                object.values(name, TrustedProxy.forms) { TrustedProxy($0) } ?? [])
        },
        .flag(
            "report-only",
            "Report what the gate would refuse, and allow it: for the weeks before it decides in earnest",
            \.reportsOnly),
        .flag(
            "report-only-grants", "Make playback grants also for tokens that report-only allows", \.reportsWithGrants),
        fixedNumber(
            "stop-timeout", "S", "Wait up to S seconds for requests in flight when stopping", 0...3600,
            \.stopMilliseconds,
            unit: 1000),
        .flag(
            "ready-while-fenced", "Report ready even while a new replay store still rejects every token",
            \.isReadyWhileFenced
        )
        .afterRestart(\.isReadyWhileFenced),
    ]

    /// A name that is a token in HTTP's sense (RFC 9110, 5.6.2), or empty.
    private static let nameInHTTP = "[!#$%&'*+.^_`|~0-9A-Za-z-]*"

    private static func listeners(
        _ name: String, _ help: String, mayBeEmpty: Bool,
        _ path: any WritableKeyPath<GateSettings, [HTTPListener]> & Sendable
    ) -> Setting<GateSettings> {
        let pattern = "(?:tls:)?(?:unix:.+|systemd(?::.+)?|[^:]*:[0-9]+|\\[.*\\]:[0-9]+)"
        let defaultValue = JSONValue.list(Self.defaults[keyPath: path].map { .text($0.description) })
        return Setting(
            name, "ADDRESS", .texts(pattern: pattern, mayBeEmpty: mayBeEmpty), help, default: defaultValue,
            example: defaultValue
        ) { object, name, settings in
            guard let listeners = object.listeners(name, mayBeEmpty: mayBeEmpty) else { return }
            settings[keyPath: path] = listeners
        }
        .afterRestart(path)
    }

    private static func number(
        _ name: String, _ placeholder: String, _ help: String, _ range: ClosedRange<Int>,
        _ path: any WritableKeyPath<GateSettings, Int> & Sendable, unit: Int = 1
    ) -> Setting<GateSettings> {
        .number(name, placeholder, help, range, default: defaults[keyPath: path] / unit, path) { $0 * unit }
    }

    /// A number that is fixed when the process starts.
    private static func fixedNumber(
        _ name: String, _ placeholder: String, _ help: String, _ range: ClosedRange<Int>,
        _ path: any WritableKeyPath<GateSettings, Int> & Sendable, unit: Int = 1
    ) -> Setting<GateSettings> {
        number(name, placeholder, help, range, path, unit: unit).afterRestart(path)
    }

    private static func seconds(
        _ name: String, _ help: String, _ range: ClosedRange<Int>,
        _ path: any WritableKeyPath<GateSettings, Duration> & Sendable
    ) -> Setting<GateSettings> {
        .number(name, "S", help, range, default: Int(defaults[keyPath: path].components.seconds), path) { .seconds($0) }
    }

    /// A setting whose empty value turns it off.
    private static func source(
        _ name: String, _ help: String, pattern: String?, _ path: any WritableKeyPath<GateSettings, String?> & Sendable
    ) -> Setting<GateSettings> {
        let defaultValue = defaults[keyPath: path] ?? ""
        return Setting(
            name, "NAME", .text(pattern: pattern), help, default: .text(defaultValue), example: .text(defaultValue)
        ) { object, name, settings in
            guard let text = object.text(name) else { return }
            guard pattern == nil || text.utf8.allSatisfy(\.isTokenCharacter) else {
                return object.refuse(name, "is '\(printable(text))'; expected a name without separators")
            }
            settings[keyPath: path] = text.isEmpty ? nil : text
        }
    }
}
