internal import Basics
internal import CommandShell
internal import Glibc
internal import HTTP
internal import Sandbox
internal import Settings

/// `media-token-sandbox device`: an app with Adobe's SDK, driven line by line.
enum DeviceCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token-sandbox device", operands: "[SCRIPT|-]",
        summary: "Drive an app with Adobe's SDK: calls in, callbacks and requests out.",
        details: """
            Reads a line for each call of the app, and for what its viewer and its device do, and prints what follows: the calls, the \
            SDK's requests and their answers, its callbacks, and its events for the programmer's analytics. Without SCRIPT it reads \
            standard input. Lines:
            \(DeviceVerb.all.map { "  \($0.form): \($0.help)" }.joined(separator: "\n"))

            The web view follows redirects by itself, up to the MVPD's login page, or to the app's URL, which it hands to \
            handleExternalURL. Apps of one device share a file: give the same --storage to each, one after the other, and the same \
            --service, since a sandbox of its own knows no login of an earlier run. What stands between single quotes is one word, and \
            a line that begins with # a comment.

            Exit status: 0 done, 2 cannot, 64 usage, or a line that is none of these.

            Example:
              printf '%s\\n' 'setRequestor MML' getAuthentication \\
                'setSelectedProvider Sandbox' 'login ann' 'getAuthorization TNT' |
                media-token-sandbox device
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            .group(
                "Service",
                [
                    Setting("service", "URL", .text(), "Use this sandbox (default one of its own)") {
                        given, name, values in
                        values.service = given.value(name, "an http:// URL without query", ServerURL.init)
                    }
                ]),
            .group(
                "Device and app",
                [
                    .text(
                        "storage", "FILE", "Keep what the device's apps store in this file, for other apps too",
                        \.storage),
                    .text("name", "NAME", "Name of the device, from which its IDs are made", default: "device", \.name),
                    DeviceSystem.setting(default: "17", \.system),
                    .text("team", "TEAM", "Team of the app's provisioning profile", default: "TEAM", \.team),
                    .text("bundle", "ID", "Bundle ID of the app", default: "tv.example.one", \.bundleID),
                    Setting(
                        "sdk", "VERSION", .text(), "Version of the app's AccessEnabler",
                        default: .text("\(SDKVersion.latest)")
                    ) { given, name, values in
                        values.sdk = given.value(name, "a version, such as 1.7.5", SDKVersion.init) ?? values.sdk
                    },
                    .text("app", "TEAM/BUNDLE[@SDK]", "The app: its team, bundle ID and SDK", \.app),
                    .text(
                        "redirect", "URL", "URL of the app at the end of a web view",
                        default: Device.usualRedirectURL, \.redirect),
                ]),
            .group("Output", [.flag("json", "Print a JSON object a line", \.isJSON)]),
            SandboxOptions.table.within(\.options))

        var service: ServerURL?
        var storage: String?
        var name: String?
        var system: DeviceSystem?
        private var team: String?
        private var bundleID: String?
        private var sdk = SDKVersion.latest
        private var app: String?
        private var redirect: String?
        var redirectURL: String { redirect ?? Device.usualRedirectURL }
        var isJSON = false
        var options = SandboxOptions()
        private(set) var script: String?
        private(set) var installation = AppInstallation(on: DeviceSystem(.iOS, 17), team: "", bundleID: "")

        mutating func take(_ operands: [String]) throws(UsageError) {
            guard operands.count < 2 else { throw UsageError("\(operands.count) scripts are given; expected one") }
            script = operands.first
        }

        mutating func check(_ given: inout SettingsObject) {
            let system = system ?? DeviceSystem(.iOS, 17)
            installation = AppInstallation(
                on: system, team: team ?? "TEAM", bundleID: bundleID ?? "tv.example.one", sdk: sdk)
            if let app {
                given.refuse(["team", "bundle", "sdk"], withoutEffect: "with --app")
                do throws(UsageError) { installation = try AppInstallation(app, on: system) } catch {
                    given.refuse("app", error.message)
                }
            }
            if let problem = installation.impossibility { given.refuse(nil, "there is no such app: \(problem)") }
        }
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let isAtTerminal = [nil, "-"].contains(invocation.script) && isatty(STDIN_FILENO) == 1
        var own: SandboxServer?
        if invocation.service == nil {
            own = try SandboxServer(
                invocation.options, on: [HTTPListener(.tcp(host: "127.0.0.1", port: 0))], workers: 1
            ) { _, _ in }
        }
        defer { own?.stop() }
        guard let service = invocation.service ?? own.flatMap({ ServerURL("http://\($0.listeners[0])") }) else {
            throw CommandError("the sandbox has no address")
        }
        let show = { (record: DeviceRecord) in Console.print(invocation.isJSON ? record.json.line : record.line) }
        let session = try DeviceSession(
            invocation.installation, named: invocation.name, at: service, redirectURL: invocation.redirectURL,
            storage: invocation.storage, show: show)
        var number = 0
        let next = try lines(of: invocation.script, prompts: isAtTerminal)
        while let line = next() {
            number += 1
            let act: DeviceVerb.Act?
            do throws(UsageError) { act = try session.act(of: line) } catch {
                Console.printError("line \(number): \(error.message)")
                // A person goes on; what follows in a script may depend on the line.
                guard isAtTerminal else { return .usage }
                continue
            }
            guard let act else { continue }
            // A terminal has shown the line already.
            if !isAtTerminal || invocation.isJSON { show(DeviceRecord("line", DeviceVerb.shown(line))) }
            try session.run(act)
            Console.flush()
        }
        return .success
    }

    /// The lines of a script, or of standard input as they come.
    private static func lines(of script: String?, prompts: Bool) throws(CommandError) -> () -> String? {
        guard let script, script != "-" else {
            return {
                if prompts { Console.writeProgress("> ") }
                return readLine()
            }
        }
        let bytes = try CommandError.wrap(at: script) { try FileBytes.read(script, limit: 1 << 20) }
        let text = String(decoding: bytes, as: UTF8.self)
        var lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)[...]
        return { lines.popFirst().map(String.init) }
    }
}
