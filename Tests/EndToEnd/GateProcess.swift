import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import TokenCrypto

/// A running `media-token serve`, with keys of its own test.
final class GateProcess {
    let port: Int
    let adminPort: Int
    private let daemon: Daemon

    /// - Parameters:
    ///   - place: has the key, and takes the log.
    ///   - options: beside where it listens and which key it has.
    ///   - launcher: a program and its arguments that start it.
    ///   - program: the file of `media-token`.
    ///   - ports: those of the gate's listeners; free ones without it.
    ///   - keys: whether it has the key of the place; `options` have others without.
    init(
        in place: GateDestination, replays: String = "memory", _ options: [String] = [], launcher: [String] = [],
        program: String = Program.mediaToken.executable, ports: (service: Int, admin: Int)? = nil, keys: Bool = true
    ) throws {
        (port, adminPort) = try ports ?? (FreePort.take(1)[0], FreePort.take(1)[0])
        let log = place.directory.path + "/gate-\(port).log"
        let fixed =
            [
                "serve", "--replays", replays, "--listen", "127.0.0.1:\(port)", "--admin", "127.0.0.1:\(adminPort)",
            ] + (keys ? ["--keys", place.key] : [])
        let command = launcher + [program] + fixed + options
        daemon = try Daemon(command[0], Array(command.dropFirst()), log: log)
        try daemon.wait { try logged().contains("administered on") }
    }

    deinit { end() }

    /// What it has logged and said.
    func logged() throws -> String { try daemon.printed() }

    func wait(until isTrue: () throws -> Bool) throws { try daemon.wait(until: isTrue) }

    func end(_ signal: Int32 = SIGTERM) { daemon.end(signal) }

    func signal(_ number: Int32) { daemon.signal(number) }

    func signal(_ number: Int32, afterMilliseconds milliseconds: Int) {
        daemon.signal(number, afterMilliseconds: milliseconds)
    }

    /// Once it has logged so many accepted tokens, sends the signals, from a thread of its own and with a pause between
    /// them.
    func signal(_ numbers: Int32..., afterAccepting count: Int, pauseMilliseconds pause: UInt32 = 0) {
        let (log, identifier) = (daemon.log, daemon.identifier)
        Thread.detachNewThread {
            _ = try? Program.wait {
                try String(contentsOfFile: log, encoding: .utf8).components(separatedBy: "\"VALID_TOKEN\"").count
                    > count
            }
            for number in numbers {
                kill(identifier, number)
                usleep(pause * 1000)
            }
        }
    }

    /// The status of its answer to a request, on a connection that is new.
    func status(_ request: String) throws -> Int? { try RawConnection(port: port).ask(request)?.status }

    /// The status of its answer to a token for the standard requestor and resource.
    func verify(_ token: String) throws -> Int? { try status(Self.verification(token)) }

    /// What `curl` gets of a path at `place`, and what it says where it gets nothing.
    static func fetch(_ place: String, _ options: [String] = []) throws -> (code: String, error: String) {
        let outcome = try Program("curl").run(
            ["-sS", "-o", "/dev/null", "-m", "10", "-w", "%{http_code}"] + options + [place])
        return (outcome.output, outcome.errors)
    }

    /// What `curl` gets of the admin listener.
    func admin(_ path: String) throws -> String {
        try Program("curl").run(["-s", "-w", "%{http_code}", "http://127.0.0.1:\(adminPort)\(path)"]).output
    }

    /// Connections that it has open, by its own count.
    func connections() throws -> Int {
        let line = try admin("/metrics").split(separator: "\n").first { $0.hasPrefix("media_token_connections ") }
        return line.flatMap { Int($0.split(separator: " ")[1]) } ?? 0
    }

    /// The user who may read the process's memory.
    func memoryOwner() throws -> Int? {
        try FileManager.default.attributesOfItem(atPath: "/proc/\(daemon.identifier)/mem")[.ownerAccountID] as? Int
    }

    /// The processor time that all its threads have taken, which other work of the machine does not lengthen.
    func processorTime() throws -> Duration {
        let threads = "/proc/\(daemon.identifier)/task"
        return try FileManager.default.contentsOfDirectory(atPath: threads).reduce(.zero) { time, thread in
            let times = try String(contentsOfFile: "\(threads)/\(thread)/schedstat", encoding: .utf8).split(
                separator: " ")
            return time + .nanoseconds(Int64(times[0]) ?? 0)
        }
    }

    func residentMegabytes() throws -> Int {
        let status = try String(contentsOfFile: "/proc/\(daemon.identifier)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
        return (line.flatMap { Int($0.split(whereSeparator: \.isWhitespace)[1]) } ?? 0) / 1024
    }

    /// A request to `/v1/verify` with a token for the standard requestor and resource.
    static func verification(_ token: String) -> String {
        "POST /v1/verify?requestor=MML&resource=TNT HTTP/1.1\r\nHost: gate\r\nContent-Type: text/plain\r\n"
            + "Content-Length: \(token.utf8.count)\r\n\r\n\(token)"
    }
}

/// A folder with a verification key, and the tokens that it verifies.
struct GateDestination {
    let directory: TemporaryDirectory
    let key: String

    /// Ends the tests where no file can be written.
    init() {
        do {
            directory = try TemporaryDirectory()
            key = try directory.write(try TestKeys.standard.publicKey.pemText(), to: "key.pem")
        } catch { preconditionFailure("\(error)") }
    }

    /// Distinct tokens, issued in the next second, which has begun when this returns. So after the beginning of a store
    /// that was there before, if no skew is allowed: gates are to be started with ``strict``, and first.
    func tokens(_ count: Int) throws -> [String] {
        let issued = Timestamp(milliseconds: (Timestamp.now.milliseconds / 1000 + 1) * 1000)
        let tokens = try (0..<count).map { number in
            try Mint.token {
                $0 = TokenRecipe(issued: TokenDate(issued))
                $0.sessionGUID = "viewer-\(number)"
            }
        }
        while Timestamp.now < issued { usleep(10_000) }
        return tokens
    }

    static let strict = ["--skew", "0"]

    /// Options for a gate that is strict and has these settings.
    func options(_ settings: String) throws -> [String] {
        Self.strict + ["--config", try directory.write(settings, to: "gate.json")]
    }

    /// Options for a gate that is strict and exchanges tokens for Common Access Tokens.
    ///
    /// - Parameters:
    ///   - paths: of its routes.
    ///   - grant: further members of each route's grant.
    func exchange(_ paths: [String] = ["/live"], grant: String = #""validity": 600"#) throws -> [String] {
        let routes = try paths.map { try route($0, grant) }
        return try options(#"{"routes": [\#(routes.joined(separator: ", "))]}"#)
    }

    /// A route whose grant is a Common Access Token, as JSON.
    func route(_ path: String, _ grant: String = #""validity": 600"#) throws -> String {
        #"{"path": "\#(path)", "requestor": "MML", "resource": "TNT", "#
            + #""grant": {"kind": "cat", "key-file": "\#(try grantKey())", \#(grant)}}"#
    }

    /// A grant that the command line makes for `/live/`, with the key of these routes.
    func grant(_ options: [String] = []) throws -> String {
        let make = ["grant", "cat", "--key-file", try grantKey(), "--path-prefix", "/live/"]
        return try Program.mediaToken.succeed(make + options).trimmingCharacters(in: .newlines)
    }

    /// The file of the key for grants.
    func grantKey() throws -> String { try directory.write(String(repeating: "0f", count: 32), to: "grant.key") }

    /// Makes `FILE.pem`, a certificate that signs itself, and its key, `FILE.key`.
    static func makeCertificate(_ file: String, days: Int = 2) throws {
        try Program("openssl").succeed([
            "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "\(days)", "-subj", "/CN=gate", "-addext",
            "subjectAltName=IP:127.0.0.1", "-keyout", file + ".key", "-out", file + ".pem",
        ])
    }
}
