/// What an SDK computes the ID of its device from.
package enum DeviceIdentifier: Hashable, Sendable {
    /// The address of the network card, up to iOS 6.
    case macAddress
    /// Apple's identifier for advertisers (IDFA), one for the device, in SDK 1.7.5 from iOS 7 on.
    case advertisers
    /// Apple's identifier for vendors (IDFV), one for the apps of a team whose bundle IDs have the same prefix.
    case vendor(team: String, prefix: String)

    /// The ID of a device of this name. A real one is a hash; this one can be read.
    package func id(of device: String) -> String {
        switch self {
        case .macAddress: "\(device)~MAC"
        case .advertisers: "\(device)~IDFA"
        case .vendor(let team, let prefix): "\(device)~IDFV~\(team)~\(prefix)"
        }
    }
}

extension AppInstallation {
    /// The place that all apps share up to iOS 6.
    static let commonPlace = "all apps"

    /// What the app's SDK computes the device ID from.
    package var deviceIdentifier: DeviceIdentifier {
        if system.platform == .iOS, system.major <= 6 { return .macAddress }
        if system.platform == .iOS, sdk == .sanitizing { return .advertisers }
        return .vendor(team: team, prefix: String(bundlePrefix))
    }

    /// Why there is no such app; `nil` if there may be.
    package var impossibility: String? {
        system.platform == .iOS && system.major <= 6 && sdk >= .withoutIOS6
            ? "SDK \(SDKVersion.withoutIOS6) and later need iOS 7" : nil
    }

    /// The place of the storage that the app reads and writes. Apps with one place share what they store.
    package var storagePlace: String {
        switch system.platform {
        case .tvOS: "app \(team)/\(bundleID)"
        case .iOS: system.major <= 6 ? Self.commonPlace : "team \(team)"
        }
    }
}
