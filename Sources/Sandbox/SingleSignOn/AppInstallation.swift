/// An app on a device, with what decides whose logins it sees.
package struct AppInstallation: Sendable, Equatable {
    package let system: DeviceSystem
    /// The team of the app's provisioning profile.
    package let team: String
    package let bundleID: String
    package let sdk: SDKVersion

    package init(on system: DeviceSystem, team: String, bundleID: String, sdk: SDKVersion = .latest) {
        (self.system, self.team, self.bundleID, self.sdk) = (system, team, bundleID, sdk)
    }

    /// The part of the bundle ID that decides about the device ID: all but its last component, or the whole if it has
    /// only one.
    package var bundlePrefix: Substring {
        bundleID.lastIndex(of: ".").map { bundleID[..<$0] } ?? bundleID[...]
    }
}

/// The operating system of a device.
package struct DeviceSystem: Sendable, Hashable, CustomStringConvertible {
    package enum Platform: String, Sendable {
        case iOS, tvOS
    }

    package let platform: Platform
    package let major: Int

    package init(_ platform: Platform, _ major: Int) { (self.platform, self.major) = (platform, major) }

    package var description: String { "\(platform.rawValue) \(major)" }
}
