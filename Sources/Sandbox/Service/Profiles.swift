internal import Basics

/// The logins of a device, as `GET /api/v2/{sp}/profiles` and its relatives show them.
struct Profiles: Sendable {
    let temporary: TemporaryAccess

    /// All logins, or those of one MVPD. A TempPass has a profile only if it is asked for by name.
    func show(
        _ call: PassCall, at identity: SandboxState.DeviceIdentity, mvpd: String?, _ state: SandboxState
    ) throws(EnhancedError) -> SandboxAnswer {
        if let mvpd, TemporaryAccess.isTemporary(mvpd) { return try temporary(mvpd, call, at: identity, state) }
        var shown: [JSONName: JSONValue] = [:]
        for (id, profile) in state.profiles(at: identity, now: call.now)
        where profile.end > call.now && (mvpd ?? id) == id {
            shown[JSONName(id)] = Self.json(
                profile.start, profile.end, issuer: id, type: "regular",
                ["userID": .text(profile.viewer), "upstreamUserID": .text(profile.viewer)])
        }
        return .json(200, ["profiles": .object(shown)])
    }

    /// Answers `GET /api/v2/{sp}/logout/{mvpd}`: ends the login with an MVPD, whose own logout page a browser must open
    /// next.
    func end(
        _ mvpd: String, _ call: PassCall, at identity: SandboxState.DeviceIdentity, _ state: inout SandboxState
    ) -> SandboxAnswer {
        var logout: [JSONName: JSONValue] = ["mvpd": .text(mvpd), "actionType": "none"]
        if state.setProfile(nil, of: mvpd, at: identity, now: call.now) {
            let back = PercentEncoding.encode(call.parameter("redirectUrl") ?? "")
            logout["actionName"] = "logout"
            logout["actionType"] = "interactive"
            logout["url"] = .text("/mvpd/logout?redirect_url=\(back)")
        } else {
            logout["actionName"] = TemporaryAccess.isTemporary(mvpd) ? "complete" : "invalid"
        }
        return .json(200, ["logouts": [JSONName(mvpd): .object(logout)]])
    }

    private func temporary(
        _ mvpd: String, _ call: PassCall, at identity: SandboxState.DeviceIdentity, _ state: SandboxState
    ) throws(EnhancedError) -> SandboxAnswer {
        let holder = try temporary.holder(mvpd, call, at: identity)
        let use = temporary.use(of: holder, state, now: call.now)
        let end = temporary.end(use)
        guard call.now < end else { throw .temporaryDuration }
        var attributes: [JSONName: JSONValue] = [
            "userID": "temppass_sandbox", "expiration_date": .number(end.milliseconds),
        ]
        if let remaining = temporary.remaining(holder, use) {
            guard remaining > 0 else { throw .temporaryResources }
            attributes["remaining_resources"] = .number(Double(remaining))
            attributes["used_assets"] = .texts(use.resources.sorted())
        }
        let profile = Self.json(use.start, end, issuer: "Adobe", type: "temporary", attributes)
        return .json(200, ["profiles": [JSONName(mvpd): profile]])
    }

    private static func json(
        _ start: Timestamp, _ end: Timestamp, issuer: String, type: String, _ attributes: [JSONName: JSONValue]
    ) -> JSONValue {
        [
            "notBefore": .number(start.milliseconds), "notAfter": .number(end.milliseconds), "issuer": .text(issuer),
            "type": .text(type),
            "attributes": .object(attributes.mapValues { ["value": $0, "state": "plain"] }),
        ]
    }
}
