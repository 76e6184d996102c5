internal import Files
internal import HTTPServing
internal import ReplayStores
internal import TextEncodings

/// One option of `serve`, which is also a setting of its configuration file.
struct GateOption {
    enum Kind {
        case text, texts, number, flag
        /// A flag that sets its setting to false.
        case noFlag
        case routes, mvpds
    }

    let name: String
    let setting: String
    let value: String?
    let kind: Kind
    let help: String

    init(_ name: String, _ value: String?, _ kind: Kind, _ help: String, setting: String? = nil) {
        (self.name, self.value, self.kind, self.help, self.setting) = (name, value, kind, help, setting ?? name)
    }

    static let all = [
        GateOption("listen", "PLACE", .texts, "\(HTTPListener.forms) (repeatable; default 127.0.0.1:8080)"),
        GateOption("admin", "PLACE", .texts, "Health, readiness and metrics (repeatable; default 127.0.0.1:8081)"),
        GateOption("unix-mode", "MODE", .text, "Permissions of Unix sockets (default 660)"),
        GateOption("tls-certificate", "FILE", .text, "Certificate as PEM, with those up to its authority"),
        GateOption("tls-key", "FILE", .text, "Its private key as PEM, without a password"),
        GateOption(
            "tls-client-ca", "FILE", .text, "Serve over TLS only clients with a certificate of these authorities"),
        GateOption(
            "tls-client-name", "NAME", .texts,
            "Serve only TLS clients whose certificate has this DNS name, or this common name if it has no DNS name (repeatable)"
        ),
        GateOption("workers", "N", .number, "Threads (default 2)"),
        GateOption("keys", "PATH", .texts, "Key file, or a directory of them (repeatable)"),
        GateOption("password-file", "FILE", .text, "Password of a PKCS#12 or JKS, on the file's first line"),
        GateOption("min-rsa-bits", "N", .number, "Accept keys from N bits up (default 2048, lowest 1024)"),
        GateOption(
            "replays", "URL", .text,
            "Replay store: \(ReplayStoreLocation.forms) (default lmdb:/var/lib/media-token/replays)"),
        GateOption("skew", "S", .number, "Seconds that clocks may be apart (default 30, highest 300)"),
        GateOption("max-ttl", "S", .number, "Longest life of a token in seconds (default 900)"),
        GateOption("canonical-resource", nil, .flag, "/v1/verify compares MRSS by its canonical XML"),
        GateOption("mvpd", "REQUESTOR=ID", .mvpds, "MVPD that its tokens may come from (repeatable)", setting: "mvpds"),
        GateOption(
            "route", "PATH=REQUESTOR:RESOURCE", .routes,
            "What a path and all below it demand (repeatable); PATH=open: nothing",
            setting: "routes"),
        GateOption("token-header", "NAME", .text, "Header that holds the token (default X-Media-Token; empty: none)"),
        GateOption(
            "no-token-bearer", nil, .noFlag, "Take no token from Authorization: Bearer", setting: "token-bearer"),
        GateOption("token-cookie", "NAME", .text, "Cookie that holds it (default media_token; empty: none)"),
        GateOption(
            "token-parameter", "NAME", .text, "Query parameter that holds it (default media_token; empty: none)"),
        GateOption("max-header-bytes", "N", .number, "Longest request line and headers (default 32768)"),
        GateOption("max-body-bytes", "N", .number, "Longest body (default 262144)"),
        GateOption("arrival-timeout", "S", .number, "Seconds for a request to arrive (default 10)"),
        GateOption("idle-timeout", "S", .number, "Seconds that a connection may be idle (default 75)"),
        GateOption("max-connections", "N", .number, "Connections at a time (default 20000)"),
        GateOption("max-connections-per-peer", "N", .number, "The same from one address (default 20000)"),
        GateOption(
            "max-unfinished-bytes", "N", .number,
            "Total bytes of unfinished requests; above it, connections with the most are closed. As many again may wait for answers; above that, requests of more than 8 KiB get 503 (default 67108864)"
        ),
        GateOption("log-every", "N", .number, "Log one verdict in N (default 1; 0: none)"),
        GateOption("stop-timeout", "S", .number, "Seconds to finish in-flight requests on shutdown (default 10)"),
    ]

    func read(_ given: Arguments) throws(UsageError) -> JSONValue {
        switch kind {
        case .text: return .text(try given.one(name) ?? "")
        case .texts: return .list(given.all(name).map { .text($0) })
        case .number:
            let text = try given.one(name) ?? ""
            guard let number = Int(text) else { throw UsageError("--\(name) is '\(text)'; expected a whole number") }
            return .number(Double(number))
        case .flag: return .boolean(true)
        case .noFlag: return .boolean(false)
        case .routes: return .list(try given.all(name).map { (text) throws(UsageError) in try Self.route(text) })
        case .mvpds: return .object(try Self.mvpds(given.all(name)))
        }
    }

    private static func route(_ text: String) throws(UsageError) -> JSONValue {
        guard let mark = text.firstIndex(of: "=") else {
            throw UsageError("--route is '\(text)'; expected PATH=REQUESTOR:RESOURCE")
        }
        let (path, rest) = (String(text[..<mark]), text[text.index(after: mark)...])
        if rest == "open" { return .object(["path": .text(path), "open": .boolean(true)]) }
        guard let colon = rest.firstIndex(of: ":") else {
            throw UsageError("--route is '\(text)'; expected PATH=REQUESTOR:RESOURCE or PATH=open")
        }
        return .object([
            "path": .text(path), "requestor": .text(String(rest[..<colon])),
            "resource": .text(String(rest[rest.index(after: colon)...])),
        ])
    }

    private static func mvpds(_ texts: [String]) throws(UsageError) -> [JSONName: JSONValue] {
        var lists: [JSONName: [JSONValue]] = [:]
        for text in texts {
            guard let mark = text.firstIndex(of: "=") else {
                throw UsageError("--mvpd is '\(text)'; expected REQUESTOR=ID")
            }
            lists[JSONName(String(text[..<mark])), default: []].append(.text(String(text[text.index(after: mark)...])))
        }
        return lists.mapValues { .list($0) }
    }

    /// The limit of values in a configuration file; that of a large programmer has some thousand routes.
    private static let valueLimit = 100_000

    /// Reads a configuration file.
    static func read(file: String) throws(CommandError) -> [JSONName: JSONValue] {
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(file, limit: 1 << 20) } catch { throw CommandError("\(file): \(error)") }
        do {
            return try StrictJSON.readObject(bytes[...], valueLimit: valueLimit).members
        } catch {
            throw CommandError("\(file): \(error.reason)")
        }
    }
}
