internal import CommandShell
internal import EventLoops
internal import Glibc
internal import HTTP
internal import MediaToken
internal import MediaTokenGate
internal import MediaTokenTesting
internal import ReplayStores
internal import Settings

/// `media-token demo`: starts a gate on this machine, and shows how it answers requests.
enum DemoCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token demo", operands: "",
        summary: "See a token open a stream once, and be rejected the second time.",
        details: """
            Makes a throwaway key and a replay store in a temporary folder, verifies a token that Adobe Pass issued in \
            2016, starts a gate on the loopback, and asks it what proxies and backends ask. Each request is shown as a \
            line for a shell. The gate stays until Ctrl-C, for requests of your own; then the folder is removed.

            Exit status: 0 each answer was the right one, 1 one was not, 2 the gate cannot be started, 64 usage.

            Example:
              media-token demo --once
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>([
            .flag("once", "End after the tour", \.endsAfterTour),
            .number("port", "N", "Port of the gate (default any that is free)", 1...65_535, \.port) { UInt16($0) },
        ])

        var endsAfterTour = false
        var port: UInt16 = 0
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let process = ServiceProcess()
        let folder = try DemoFolder()
        let isRealRight = try verifyRealToken(folder)
        let gate = try RunningGate(settings(folder, port: invocation.port))
        let (client, address) = try connect(to: gate)
        let isTourRight = try tour(of: address, by: client, with: folder)
        let isRight = isRealRight && isTourRight
        Console.print("")
        Console.print(
            isRight
                ? "One token, one play. \(Style.good("Every answer was the right one."))"
                : Style.bad("At least one answer was not the right one."))
        if !invocation.endsAfterTour {
            var keys = KeyOptions()
            keys.operands = [folder.publicKey]
            let web = try WebSession(port: 0, shortestKey: keys.shortestKey, InspectCommand.engine(keys))
            try invite(to: gate, at: address, with: folder, page: web.url)
            while process.nextSignal(withinSeconds: 3600) == nil {}
            web.stop()
        }
        try gate.stop()
        return isRight ? .success : .rejected
    }

    private static func settings(_ folder: DemoFolder, port: UInt16) -> GateSettings {
        var settings = GateSettings()
        settings.listen = [HTTPListener(.tcp(host: "127.0.0.1", port: port))]
        settings.admin = [HTTPListener(.tcp(host: "127.0.0.1", port: 0))]
        settings.keys = [folder.publicKey]
        settings.replays = .lmdb(path: "\(folder.path)/replays")
        // Tokens and gate share a clock. With a clock skew, tokens of the first half minute would predate the store.
        settings.clockSkew = .zero
        settings.routes = [
            GateRoute(path: "/trailers", access: .open),
            GateRoute(
                path: "/live",
                access: .token(
                    Expectation(requestor: DemoFolder.requestor, resource: DemoFolder.resource))),
        ].compactMap { $0 }
        (settings.logEvery, settings.logRefusedEvery) = (0, 0)
        return settings
    }

    /// Verifies a real token with the library alone, offline, as of a time at which the token was valid.
    private static func verifyRealToken(_ folder: DemoFolder) throws(CommandError) -> Bool {
        let key = try folder.write(RealToken.publicKey, to: "adobe-pass-2015-2021.pem")
        let file = try folder.write(RealToken.clearText, to: "real-2016.token")
        Console.print(Style.strong("1. A token that Adobe Pass issued in 2016, offline, at its own time"))
        Console.print(
            Style.faint(
                "   \(program) verify --key \(key) --min-rsa-bits 1024 --requestor \(RealToken.requestor) "
                    + "--resource \(RealToken.resource) --at '\(RealToken.moment)' @\(file)"))
        return try CommandError.wrap {
            let verifier = MediaTokenVerifier(
                keys: try KeyRing(loading: key, minimumRSABits: 1024), policy: VerificationPolicy(),
                replays: MemoryReplayStore.unfenced())
            let expectation = Expectation(requestor: RealToken.requestor, resource: RealToken.resource)
            guard let moment = Timestamp(reading: RealToken.moment) else { return false }
            let verdict = try verifier.verify(RawToken(RealToken.clearText), for: expectation, at: moment)
            guard case .accepted(let token) = verdict else {
                Console.print("   \(Style.bad("✗")) \(verdict.code.rawValue)")
                return false
            }
            Console.print("   \(Style.good("✓")) \(verdict.code.rawValue), MVPD \(token.claims.mvpd)")
            return true
        }
    }

    private static func tour(of address: String, by client: HTTPClient, with folder: DemoFolder) throws(CommandError)
        -> Bool
    {
        Console.print(
            """

            A gate on http://\(address): /trailers is open, /live wants a token for requestor \(DemoFolder.requestor)
            and resource \(DemoFolder.resource), and nothing else is served. A proxy asks it about each request.
            """)
        let now = Timestamp.nextSecond()
        let fresh = try folder.token("fresh", issued: now)
        let stops = [
            DemoStop.path("An open route, without a token", "/trailers/1.m3u8", expecting: 200, "TOKEN_NOT_REQUIRED"),
            .path("A protected route, without a token", "/live/index.m3u8", expecting: 401, "TOKEN_MISSING"),
            .path(
                "The same with a fresh token: the stream opens", "/live/index.m3u8", token: fresh, expecting: 200,
                "VALID_TOKEN"),
            .path(
                "The same token again: it stays shut", "/live/index.m3u8", token: fresh, expecting: 403,
                "TOKEN_ALREADY_USED"),
            .path("A path that no route names", "/elsewhere", expecting: 403, "ROUTE_UNKNOWN"),
            .verify(
                "A forged token: another resource than was signed. Now as a backend asks",
                token: try folder.token(
                    "forged", issued: now, { $0.resource = "HBO" }, forging: { $0.replacing("HBO", with: "TNT") }),
                expecting: 401, "INVALID_SIGNATURE"),
            .verify(
                "An expired token",
                token: try folder.token("expired", issued: now.advanced(byMilliseconds: -3_600_000)),
                expecting: 401, "TOKEN_EXPIRED"),
            .verify(
                "A token for another resource",
                token: try folder.token("other-resource", issued: now, { $0.resource = "HBO" }),
                expecting: 403, "INVALID_RESOURCE_ID"),
        ]
        // All requests are sent, even if an earlier answer was wrong.
        return stops.enumerated().map { $1.visit(number: $0 + 2, with: client, at: address) }.allSatisfy { $0 }
    }

    private static func connect(to gate: RunningGate) throws(CommandError) -> (HTTPClient, address: String) {
        guard case .tcp(_, let port)? = gate.listeners.first?.socket else {
            throw CommandError("the gate listens nowhere")
        }
        do {
            return (HTTPClient(try EventLoop(), port: port), "127.0.0.1:\(port)")
        } catch {
            throw CommandError("no file descriptors left")
        }
    }

    private static func invite(
        to gate: RunningGate, at address: String, with folder: DemoFolder, page: String
    ) throws(CommandError) {
        let unused = try folder.token("unused", issued: Timestamp.now)
        let stop = DemoStop.path("", "/live/index.m3u8", token: unused, expecting: 200, "VALID_TOKEN")
        Console.print(
            """

            The gate stays until Ctrl-C. This token lives for seven minutes and has not been used; ask twice:
               \(stop.curl(address))
            More of them:
               \(program) issue --signing-key \(folder.signingKey) --requestor \(DemoFolder.requestor) \
            --resource \(DemoFolder.resource) --format base64
            """)
        Console.print("Inspect tokens in a browser of this machine:\n   \(page)")
        for listener in gate.adminListeners {
            Console.print("What it has counted:\n   curl http://\(listener)/metrics")
        }
        Console.flush()
    }

    /// The program's name as the user typed it.
    private static var program: String { CommandLine.arguments.first ?? "media-token" }
}

extension Timestamp {
    /// The start of the next second, which has come when this function returns. Issue times are whole seconds, so a
    /// token issued now may predate a store created now.
    fileprivate static func nextSecond() -> Timestamp {
        let next = Timestamp(milliseconds: (Timestamp.now.milliseconds / 1000 + 1) * 1000)
        while Timestamp.now < next { usleep(10_000) }
        return next
    }
}
