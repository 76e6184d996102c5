internal import Basics
internal import CommandShell
internal import Sandbox
internal import Settings

extension AppInstallation {
    /// Reads `TEAM/BUNDLE[@SDK]`.
    init(_ text: String, on system: DeviceSystem) throws(UsageError) {
        let parts = text.split(separator: "@", maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts[0].split(separator: "/", omittingEmptySubsequences: false)
        guard names.count == 2, names.allSatisfy({ !$0.isEmpty }) else {
            throw UsageError("is '\(printable(text, limit: 80))'; expected TEAM/BUNDLE[@SDK]")
        }
        guard let version = parts.count > 1 ? SDKVersion(String(parts[1])) : .latest else {
            let given = printable(String(parts[1]), limit: 20)
            throw UsageError("has the SDK '\(given)'; expected a version, such as 1.7.5")
        }
        self.init(on: system, team: String(names[0]), bundleID: String(names[1]), sdk: version)
    }
}

extension DeviceSystem {
    /// The setting of the system that a device runs.
    static func setting<Values>(
        default usual: String? = nil, _ path: any WritableKeyPath<Values, DeviceSystem?> & Sendable
    ) -> Setting<Values> {
        Setting("os", "MAJOR", .text(), "Version of iOS, such as 12; tvOS12 for tvOS", default: usual.map { .text($0) })
        {
            given, name, values in
            values[keyPath: path] = given.value(
                name, "the major version of iOS, such as 12, or of tvOS, such as tvOS12", DeviceSystem.init)
        }
    }

    /// Reads the major version of iOS, or of tvOS after its name.
    init?(_ text: String) {
        let platform = [Platform.tvOS, .iOS].first { text.hasPrefix($0.rawValue) }
        guard let major = Int(text.dropFirst(platform?.rawValue.count ?? 0)), (1...999).contains(major) else {
            return nil
        }
        self.init(platform ?? .iOS, major)
    }
}
