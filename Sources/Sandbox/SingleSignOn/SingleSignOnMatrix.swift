extension SingleSignOn {
    /// Which apps share a login, row by row; the first row that fits two apps decides. `media-token-sandbox sso
    /// --table` prints it.
    ///
    /// No row is about MVPDs that authenticate per requestor: SDKs before 1.7 share no login of theirs, and later ones
    /// get one for each programmer without asking the viewer.
    package static let matrix = [
        SingleSignOnRow(
            name: "different systems", sameSystem: false, outcome: .impossible,
            reason: "two apps on one device run on the same version of its system"),
        SingleSignOnRow(
            name: "iOS 6 or older, SDK from 1.9.4", platform: .iOS, versions: 0...6, anySDK: .withoutIOS6 ..< .never,
            outcome: .impossible, reason: "SDK 1.9.4 and later need iOS 7"),
        SingleSignOnRow(
            name: "tvOS", platform: .tvOS, outcome: .separate,
            reason: "on tvOS the tokens are in the user defaults of each app"),
        SingleSignOnRow(
            name: "iOS 7 or later, other team", sharesStorage: false, outcome: .separate,
            reason: "only apps of one team share a pasteboard"),
        SingleSignOnRow(
            name: "storage before 1.7 and from 1.7, same device ID", sharesDeviceID: true, sameLayout: false,
            outcome: .imported,
            reason:
                "the importer of the later SDK copies a login when its app starts; a login in its app stays there"),
        SingleSignOnRow(
            name: "storage before 1.7 and from 1.7, other device ID", sameLayout: false, outcome: .separate,
            reason: "the importer of the later SDK copies the login, but the device IDs differ, so it is worth nothing"),
        SingleSignOnRow(
            name: "iOS 6 or older", versions: 0...6, outcome: .shared,
            reason:
                "all apps share the pasteboard, and the device ID comes from the MAC address, whatever team and bundle ID"
        ),
        SingleSignOnRow(
            name: "iOS 7 or later, same team, same prefix or both SDK 1.7.5", sharesDeviceID: true, outcome: .shared,
            reason:
                "apps of one team share the pasteboard, and those with one bundle-ID prefix have one device ID (IDFV), as have those with SDK 1.7.5 (IDFA)"
        ),
        SingleSignOnRow(
            name: "iOS 7 or later, same team, other prefix, storage before 1.7", layout: .oneSlot, outcome: .erased,
            reason: "the device IDs (IDFV) differ, and the pasteboard has one slot for both logins"),
        SingleSignOnRow(
            name: "iOS 7 or later, same team, other device ID, SDK 1.7.5 to 1.8", anySDK: .sanitizing ..< .sparing,
            outcome: .erased,
            reason: "the device IDs differ, and the sanitizer of the SDK removes the logins of another device ID"),
        SingleSignOnRow(
            name: "iOS 7 or later, same team, other prefix", outcome: .separate,
            reason: "the device IDs (IDFV) differ, and the pasteboard has a place for the login of each"),
    ]
}
