internal import Basics
internal import MediaToken

/// What `GET /api/v2/{sp}/configuration` says: the provider, and the MVPDs that its picker shows.
enum Configuration {
    /// What a requestor's ID ends with if its MVPDs are in the dialog of the system's TV providers (Apple SSO).
    private static let systemSuffix = "_Apple"

    /// What a requestor's ID ends with if `SandboxTwo` is its only MVPD.
    private static let onlySuffix = "_Two"

    /// The MVPDs: two plain ones, two forms of TempPass, those with which a device goes another way, and one for each
    /// test card.
    private static let mvpds =
        [
            DeviceProvider(MVPDID("Sandbox"), displayName: "Sandbox TV"),
            DeviceProvider(MVPDID("SandboxTwo"), displayName: "Sandbox TV Two"),
            DeviceProvider(MVPDID("TempPass_Sandbox"), displayName: "Sandbox TempPass"),
            DeviceProvider(MVPDID("flexibleTempPass_Sandbox"), displayName: "Sandbox promotional TempPass"),
            DeviceProvider(
                MVPDID("SandboxPerRequestor"), displayName: "Sandbox, a login for each programmer",
                authenticatesPerRequestor: true),
            DeviceProvider(
                MVPDID("SandboxAsk"), displayName: "Sandbox, asked for at each login", canAuthenticate: false),
            DeviceProvider(
                MVPDID("SandboxPicker"), displayName: "Sandbox, in the system's picker", boarding: .picker),
            DeviceProvider(
                MVPDID("SandboxApple"), displayName: "Sandbox, with the system's login", boarding: .supported),
        ]
        + TestCard.all.map { DeviceProvider(MVPDID("Sandbox:\($0.name)"), displayName: "Sandbox, \($0.summary)") }

    /// What a requestor's configuration says of an MVPD; `nil` for one that it does not list.
    static func provider(_ mvpd: String, of requestor: String) -> DeviceProvider? {
        if requestor.hasSuffix(onlySuffix), mvpd != "SandboxTwo" { return nil }
        return mvpds.first { $0.id.text == mvpd }.map { requestor.hasSuffix(systemSuffix) ? $0 : $0.withoutSystem }
    }

    /// Whether a requestor has an MVPD. One that the sandbox does not know is everybody's.
    static func lists(_ mvpd: String, of requestor: String) -> Bool {
        provider(mvpd, of: requestor) != nil || !mvpds.contains { $0.id.text == mvpd }
    }

    /// Whether an MVPD wants a login for each requestor.
    static func authenticatesPerRequestor(_ mvpd: String) -> Bool {
        mvpds.first { $0.id.text == mvpd }?.authenticatesPerRequestor == true
    }

    /// The logo of each MVPD, in SVG.
    static let logo = """
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 112 33" role="img" aria-label="Sandbox TV">\
        <rect width="112" height="33" rx="6" fill="#0550ae"/><text x="56" y="22" text-anchor="middle" fill="#fff" \
        font-family="sans-serif" font-size="15">Sandbox TV</text></svg>

        """

    /// The answer to a call for the configuration of a requestor.
    ///
    /// - Parameter forSDK: Whether to leave out TempPass, which REST v2 alone limits.
    static func answer(_ requestor: String, _ call: PassCall, forSDK: Bool = false) -> SandboxAnswer {
        let listed = mvpds.compactMap { provider($0.id.text, of: requestor) }.compactMap { mvpd -> JSONValue? in
            let json = mvpd.json.with(["logoUrl": .text("\(call.origin)/sandbox/logo.svg")])
            guard TemporaryAccess.isTemporary(mvpd.id.text) else { return json }
            return forSDK ? nil : json.with(["isTempPass": .boolean(true)])
        }
        return .json(
            200,
            [
                "device": "sandbox", "clientType": "sandbox", "os": "sandbox", "time": .number(call.now.milliseconds),
                "requestor": [
                    "id": .text(requestor), "name": .text("Sandbox of \(requestor)"),
                    "domains": [["name": "sandbox.invalid", "mvpdInitiated": .boolean(false)]],
                    "mvpds": .list(listed),
                ],
            ])
    }
}
