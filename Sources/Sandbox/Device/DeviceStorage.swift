package import MediaToken

/// The tokens on a device, which outlive the apps that store them.
///
/// Apps that share storage are given one value: on iOS all apps of a team, up to iOS 6 all apps. On tvOS each app has
/// its own.
package struct DeviceStorage: Sendable, Equatable {
    /// The logins on all shelves; the latest is the last.
    package private(set) var logins: [StoredLogin] = []
    /// The MVPD of each programmer's latest login.
    package internal(set) var cachedProviders: [RequestorID: CachedProvider] = [:]
    /// The MVPD with which the viewer has logged in in the system's settings.
    package internal(set) var systemProvider: MVPDID?

    package init() {}

    /// Creates the storage that a device had at an earlier time.
    package init(
        logins: [StoredLogin], cachedProviders: [RequestorID: CachedProvider], systemProvider: MVPDID?
    ) {
        (self.logins, self.cachedProviders, self.systemProvider) = (logins, cachedProviders, systemProvider)
    }

    /// Erases the pasteboard, if the upgrade is from a version before iOS 10 to iOS 10 or later.
    package mutating func upgradeSystem(from old: DeviceSystem, to new: DeviceSystem) {
        if new.platform == .iOS, old.major < 10, new.major >= 10 { erase(for: nil) }
    }

    /// Erases what apps share, and what the app of this bundle ID has stored alone. The files of other apps stay, and
    /// so does the login in the system's settings.
    mutating func erase(for bundleID: String?) {
        logins.removeAll { $0.shelf != .privateSlot || $0.bundleID == bundleID }
        cachedProviders = [:]
    }

    /// The logins that an app of this bundle ID reads, if its SDK has this layout.
    func logins(_ layout: SDKVersion.Layout, seenBy bundleID: String) -> [StoredLogin] {
        logins.filter { login in
            (login.shelf == .map) == (layout == .nestedMap)
                && (login.shelf != .privateSlot || login.bundleID == bundleID)
        }
    }

    /// Stores a login, which replaces the one in its place.
    mutating func store(_ login: StoredLogin) {
        let token = login.authentication
        logins.removeAll { other in
            switch login.shelf {
            case .map:
                other.shelf == .map && other.hasPlace(of: token)
            case .slot: other.shelf == .slot || other.shelf == .privateSlot && other.bundleID == login.bundleID
            case .privateSlot: other.shelf == .privateSlot && other.bundleID == login.bundleID
            }
        }
        logins.append(login)
    }

    /// Changes each login that has this AuthN token.
    mutating func update(_ authentication: AuthenticationToken, _ change: (inout StoredLogin) -> Void) {
        for index in logins.indices where logins[index].authentication == authentication { change(&logins[index]) }
    }

    /// The importer of SDKs from 1.7 on: copies unexpired logins of older SDKs to where `app` reads them, unless a
    /// valid login is in the same place. Apps with an older SDK stay logged in. The app does not know the MVPDs of
    /// other programmers, so it takes their logins as valid until they expire.
    mutating func importOlder(for app: AppInstallation, _ configuration: DeviceConfiguration, at now: Timestamp) {
        guard app.sdk.layout == .nestedMap else { return }
        for login in logins(.oneSlot, seenBy: app.bundleID) {
            let token = login.authentication
            let isTaken = logins.contains { other in
                let expiry = other.authentication.expiry
                return other.shelf == .map && other.hasPlace(of: token)
                    && (token.requestor == configuration.requestor
                        ? configuration.allows(token.mvpd, until: expiry, at: now) : now <= expiry)
            }
            guard now <= token.expiry, !isTaken else { continue }
            var copy = login
            copy.shelf = .map
            store(copy)
        }
    }

    /// The sanitizer of SDKs from 1.7.5 on: removes logins whose device ID is not `deviceID`.
    ///
    /// Up to 1.8, it removes those of other apps too, whose device ID differs if their bundle ID has another prefix.
    /// From 1.9 on, it removes only what `app` stored itself, under a device ID that it had earlier.
    mutating func sanitize(for app: AppInstallation, deviceID: String) {
        guard app.sdk >= .sanitizing else { return }
        logins.removeAll { login in
            login.shelf == .map && login.authentication.deviceID != deviceID
                && (app.sdk < .sparing || login.bundleID == app.bundleID)
        }
    }
}
