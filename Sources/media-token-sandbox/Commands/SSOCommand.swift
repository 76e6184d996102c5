internal import CommandShell
internal import Sandbox
internal import TextEncodings

/// `media-token-sandbox sso`: tells whether two apps on a device share a login.
enum SSOCommand {
    static let command = Command(syntax, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token-sandbox sso", operands: "",
        summary: "Tell whether two apps on one device share a login, and why.",
        details: """
            TEAM is the team of the app's provisioning profile, and SDK the version of its AccessEnabler, \
            \(SDKVersion.latest) if none is given. The login of an MVPD that authenticates per requestor is shared only from \
            SDK 1.7 on.

            Exit status: 0 they share a login, or the table is printed; 1 they do not; 64 usage.

            Examples:
              media-token-sandbox sso --table
              media-token-sandbox sso --os 12 --app T1/com.example.one@1.9 \\
                --app T1/com.example.two@1.9
            """,
        groups: [
            OptionGroup(
                heading: "Apps:",
                options: [
                    CommandOption("os", "MAJOR", "Version of iOS, such as 12; tvOS12 for tvOS"),
                    CommandOption("app", "TEAM/BUNDLE[@SDK]", "An app; give two"),
                ]),
            OptionGroup(
                heading: "Output:",
                options: [
                    CommandOption("json", nil, "Print a JSON object"),
                    CommandOption("table", nil, "Print all cases; the first that fits two apps decides"),
                ]),
        ])

    @Sendable private static func run(_ arguments: [String]) -> ExitStatus {
        ArgumentParser.parse(syntax, arguments) { (given) throws(UsageError) in
            guard given.operands.isEmpty else { throw UsageError("expected options only") }
            if given.has("table") {
                guard given.values.count == 1 else { throw UsageError("--table is given with other options") }
                SingleSignOn.matrix.forEach { Console.print("\($0.name): \(words($0.result))", hanging: 2) }
                return .success
            }
            let system = try system(given)
            let apps = try given.all("app").map { (text) throws(UsageError) in try app(text, on: system) }
            guard apps.count == 2 else { throw UsageError("--app is given \(apps.count) times; expected twice") }
            let result = SingleSignOn.between(apps[0], and: apps[1])
            Console.print(given.has("json") ? json(result).document : words(result))
            return result.outcome == .shared ? .success : .rejected
        }
    }

    private static func words(_ result: SingleSignOn) -> String { "\(result.outcome.rawValue); \(result.reason)" }

    private static func json(_ result: SingleSignOn) -> JSONValue {
        [
            "sharesLogin": .boolean(result.outcome == .shared), "outcome": .text(result.outcome.rawValue),
            "sharesStorage": .boolean(result.sharesStorage),
            "sharesDeviceID": result.sharesDeviceID.map { .boolean($0) } ?? .null, "reason": .text(result.reason),
        ]
    }

    private static func system(_ given: Arguments) throws(UsageError) -> DeviceSystem {
        let expected = "the major version of iOS, such as 12, or of tvOS, such as tvOS12"
        guard let text = try given.one("os") else { throw UsageError("--os is missing; expected \(expected)") }
        let platform = [DeviceSystem.Platform.tvOS, .iOS].first { text.hasPrefix($0.rawValue) }
        let digits = text.dropFirst(platform?.rawValue.count ?? 0)
        guard let major = Int(digits), (1...999).contains(major) else {
            throw UsageError("--os is '\(printable(text, limit: 20))'; expected \(expected)")
        }
        return DeviceSystem(platform ?? .iOS, major)
    }

    private static func app(_ text: String, on system: DeviceSystem) throws(UsageError) -> AppInstallation {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty }) else {
            throw UsageError("--app is '\(printable(text, limit: 80))'; expected TEAM/BUNDLE[@SDK]")
        }
        let version = parts.count > 1 ? SDKVersion(String(parts[1])) : .latest
        guard let version else {
            let given = printable(String(parts[1]), limit: 20)
            throw UsageError("--app has the SDK '\(given)'; expected a version, such as 1.7.5")
        }
        return AppInstallation(on: system, team: String(names[0]), bundleID: String(names[1]), sdk: version)
    }
}
