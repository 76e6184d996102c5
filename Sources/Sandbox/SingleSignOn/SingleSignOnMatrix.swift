extension SingleSignOn {
    /// Which apps share a login, row by row; the first row that fits two apps decides. `media-token-sandbox sso
    /// --table` prints it.
    ///
    /// Apps from a simulator, from Xcode or from an ad-hoc distribution may behave otherwise. No row is about MVPDs
    /// that authenticate per requestor: SDKs before 1.7 share no login of theirs, and later ones get one for each
    /// programmer without asking the viewer.
    package static let matrix = [
        SingleSignOnRow(
            name: "different systems", sameSystem: false,
            result: row(.impossible, false, nil, "two apps on one device run on the same version of its system")),
        SingleSignOnRow(
            name: "iOS 6 or older, SDK from 1.9.4", platform: .iOS, versions: 0...6, anySDK: .withoutIOS6 ..< .never,
            result: row(.impossible, false, nil, "SDK 1.9.4 and later need iOS 7")),
        SingleSignOnRow(
            name: "tvOS", platform: .tvOS,
            result: row(.separate, false, nil, "on tvOS the tokens are in the user defaults of each app")),
        SingleSignOnRow(
            name: "iOS, storage before 1.7 and from 1.7", sameLayout: false,
            result: row(
                .separate, false, nil,
                "SDKs before 1.7 keep their tokens elsewhere; a later SDK only takes over what it finds there")),
        SingleSignOnRow(
            name: "iOS 6 or older", versions: 0...6,
            result: row(
                .shared, true, true,
                "all apps share the pasteboard, and the device ID comes from the MAC address, whatever team and bundle ID"
            )),
        SingleSignOnRow(
            name: "iOS 7 or later, other team", sameTeam: false,
            result: row(.separate, false, nil, "only apps of one team share a pasteboard")),
        SingleSignOnRow(
            name: "iOS 7 or later, same team, same prefix", samePrefix: true,
            result: row(
                .shared, true, true,
                "apps of one team share the pasteboard, and those with one bundle-ID prefix have one device ID (IDFV)")),
        SingleSignOnRow(
            name: "iOS 7 or later, same team, other prefix, storage before 1.7", layout: .oneSlot,
            result: row(
                .erased, true, false, "the device IDs (IDFV) differ, and the pasteboard has one slot for both logins")),
        SingleSignOnRow(
            name: "iOS 7 or later, same team, other prefix, SDK 1.7.5 to 1.8", anySDK: .sanitizing ..< .sparing,
            result: row(
                .erased, true, false,
                "the device IDs (IDFV) differ, and the sanitizer of the SDK removes the logins of another device ID")),
        SingleSignOnRow(
            name: "iOS 7 or later, same team, other prefix",
            result: row(
                .separate, true, false,
                "the device IDs (IDFV) differ, and the pasteboard has a place for the login of each")),
    ]

    private static func row(
        _ outcome: Outcome, _ sharesStorage: Bool, _ sharesDeviceID: Bool?, _ reason: String
    ) -> SingleSignOn {
        SingleSignOn(outcome: outcome, sharesStorage: sharesStorage, sharesDeviceID: sharesDeviceID, reason: reason)
    }
}
