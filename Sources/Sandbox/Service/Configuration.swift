internal import Basics

/// What `GET /api/v2/{sp}/configuration` says: the provider, and the MVPDs that its picker shows.
enum Configuration {
    /// The MVPDs: two plain ones, two forms of TempPass, and one for each test card.
    private static let mvpds: [(id: String, name: String, kind: JSONName?)] =
        [
            ("Sandbox", "Sandbox TV", nil), ("SandboxTwo", "Sandbox TV Two", nil),
            ("TempPass_Sandbox", "Sandbox TempPass", "isTempPass"),
            ("flexibleTempPass_Sandbox", "Sandbox promotional TempPass", "isTempPass"),
        ] + TestCard.all.map { ("Sandbox:\($0.name)", "Sandbox, \($0.summary)", nil) }

    static func answer(_ provider: String, now: Timestamp) -> SandboxAnswer {
        let listed: [JSONValue] = mvpds.map { id, name, kind in
            var members: [JSONName: JSONValue] = [
                "id": .text(id), "displayName": .text(name), "logoUrl": "https://sandbox.invalid/logo.png",
            ]
            if let kind { members[kind] = .boolean(true) }
            return .object(members)
        }
        return .json(
            200,
            [
                "device": "sandbox", "clientType": "sandbox", "os": "sandbox", "time": .number(now.milliseconds),
                "requestor": [
                    "id": .text(provider), "name": .text("Sandbox of \(provider)"),
                    "domains": [["name": "sandbox.invalid", "mvpdInitiated": .boolean(false)]],
                    "mvpds": .list(listed),
                ],
            ])
    }
}
