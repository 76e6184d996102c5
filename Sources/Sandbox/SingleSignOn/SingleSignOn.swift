/// What two apps on one device share, and what that means for their logins.
package struct SingleSignOn: Sendable, Equatable {
    package enum Outcome: String, Sendable {
        /// A login in one app counts in the other.
        case shared = "single sign-on"
        /// The viewer logs in once in each app, and stays logged in.
        case separate = "one login for each app"
        /// The app with the later SDK takes a login in the other over, which stays logged in.
        case imported = "the later SDK takes the login over"
        /// The viewer logs in again after switching between the apps.
        case erased = "switching apps ends a login"
        /// There is no such pair of apps.
        case impossible = "not on one device"
    }

    package let outcome: Outcome
    package let sharesStorage: Bool
    /// Whether both apps have one device ID; `nil` if it does not matter, because they share no storage.
    package let sharesDeviceID: Bool?
    /// Why, as a sentence.
    package let reason: String

    /// Whether a login in one app, the one with the earlier SDK if it matters, saves the viewer one in the other.
    package var sharesLogin: Bool { outcome == .shared || outcome == .imported }

    /// What holds for two apps, by the first row of the ``matrix`` that fits them. The order of the apps makes no
    /// difference.
    package static func between(_ one: AppInstallation, and other: AppInstallation) -> SingleSignOn {
        // The last row fits every pair.
        let row = matrix.first { $0.fits(one, other) } ?? matrix[matrix.count - 1]
        let sharesStorage = row.outcome != .impossible && one.storagePlace == other.storagePlace
        return SingleSignOn(
            outcome: row.outcome, sharesStorage: sharesStorage,
            sharesDeviceID: sharesStorage ? one.deviceIdentifier == other.deviceIdentifier : nil, reason: row.reason)
    }
}

/// One row of the matrix: conditions on two apps, and what holds if all are met. A condition that is `nil` is always
/// met.
package struct SingleSignOnRow: Sendable {
    /// The conditions in words.
    package let name: String
    var sameSystem: Bool?
    var platform: DeviceSystem.Platform?
    /// The major versions of the operating system.
    var versions: ClosedRange<Int>?
    var sharesStorage: Bool?
    var sharesDeviceID: Bool?
    var sameLayout: Bool?
    /// The layout of the tokens in both apps.
    var layout: SDKVersion.Layout?
    /// The range in which the version of at least one of the two SDKs must be.
    var anySDK: Range<SDKVersion>?
    package let outcome: SingleSignOn.Outcome
    package let reason: String

    func fits(_ one: AppInstallation, _ other: AppInstallation) -> Bool {
        let sharedLayout = one.sdk.layout == other.sdk.layout ? one.sdk.layout : nil
        return [
            sameSystem.map { $0 == (one.system == other.system) },
            platform.map { $0 == one.system.platform },
            versions.map { $0.contains(one.system.major) },
            sharesStorage.map { $0 == (one.storagePlace == other.storagePlace) },
            sharesDeviceID.map { $0 == (one.deviceIdentifier == other.deviceIdentifier) },
            sameLayout.map { $0 == (sharedLayout != nil) },
            layout.map { $0 == sharedLayout },
            anySDK.map { $0.contains(one.sdk) || $0.contains(other.sdk) },
        ].allSatisfy { $0 ?? true }
    }
}
