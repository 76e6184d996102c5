internal import Basics
internal import CommandShell
internal import Sandbox
internal import Settings

/// `media-token-sandbox sso`: tells whether two apps on a device share a login.
enum SSOCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token-sandbox sso", operands: "",
        summary: "Tell whether two apps on one device share a login, and why.",
        details: """
            TEAM is the team of the app's provisioning profile, and SDK the version of its AccessEnabler, \
            \(SDKVersion.latest) if none is given. The login of an MVPD that authenticates per requestor is shared only from \
            SDK 1.7 on. Apps from a simulator, from Xcode or from an ad-hoc distribution may behave otherwise.

            Exit status: 0 they share a login, or the table is printed; 1 they do not; 64 usage.

            Examples:
              media-token-sandbox sso --table
              media-token-sandbox sso --os 12 --app T1/com.example.one@1.9 \\
                --app T1/com.example.two@1.9
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>(
            .group(
                "Apps",
                [
                    DeviceSystem.setting(\.system),
                    .texts("app", "TEAM/BUNDLE[@SDK]", "An app; give two", \.apps),
                ]),
            .group(
                "Output",
                [
                    .flag("json", "Print a JSON object", \.isJSON),
                    .flag("table", "Print all cases; the first that fits two apps decides", \.isTable),
                ]))

        var system: DeviceSystem?
        private var apps: [String] = []
        private(set) var installations: [AppInstallation] = []
        var isJSON = false
        var isTable = false

        mutating func check(_ given: inout SettingsObject) {
            guard !isTable else { return given.refuse(["os", "app", "json"], withoutEffect: "with --table") }
            if !given.wasTaken("os") { given.refuse("os", "is missing; expected a version of iOS, such as 12") }
            if apps.count != 2 { given.refuse("app", "is given \(apps.count) times; expected twice") }
            guard let system else { return }
            installations = apps.compactMap { text in
                do throws(UsageError) { return try AppInstallation(text, on: system) } catch {
                    given.refuse("app", error.message)
                    return nil
                }
            }
        }
    }

    @Sendable private static func run(_ invocation: Invocation) -> ExitStatus {
        guard !invocation.isTable else {
            for row in SingleSignOn.matrix {
                Console.print("\(row.name): \(row.outcome.rawValue); \(row.reason)", hanging: 2)
            }
            return .success
        }
        let apps = invocation.installations
        let result = SingleSignOn.between(apps[0], and: apps[1])
        Console.print(
            invocation.isJSON ? json(result).document : "\(result.outcome.rawValue); \(result.reason)")
        return result.sharesLogin ? .success : .rejected
    }

    private static func json(_ result: SingleSignOn) -> JSONValue {
        [
            "sharesLogin": .boolean(result.sharesLogin), "outcome": .text(result.outcome.rawValue),
            "sharesStorage": .boolean(result.sharesStorage),
            "sharesDeviceID": result.sharesDeviceID.map { .boolean($0) } ?? .null, "reason": .text(result.reason),
        ]
    }
}
