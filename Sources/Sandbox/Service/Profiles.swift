internal import TextEncodings
internal import Timestamps

/// The logins of a device, as `GET /api/v2/{sp}/profiles` and its relatives show them.
struct Profiles: Sendable {
    let temporary: TemporaryAccess

    /// All logins, or those of one MVPD. A TempPass has a profile only if it is asked for by name.
    func show(
        _ call: PassCall, at place: SandboxState.Place, mvpd: String?, _ state: SandboxState, now: Timestamp
    ) throws(EnhancedError) -> SandboxAnswer {
        if let mvpd, TemporaryAccess.isTemporary(mvpd) { return try temporary(mvpd, call, at: place, state, now: now) }
        var shown: [JSONName: JSONValue] = [:]
        for (id, profile) in state.profiles(at: place, now: now) where profile.end > now && (mvpd ?? id) == id {
            shown[JSONName(id)] = Self.json(
                profile.start, profile.end, issuer: id, type: "regular",
                ["userID": .text(profile.viewer), "upstreamUserID": .text(profile.viewer)])
        }
        return .json(200, ["profiles": .object(shown)])
    }

    private func temporary(
        _ mvpd: String, _ call: PassCall, at place: SandboxState.Place, _ state: SandboxState, now: Timestamp
    ) throws(EnhancedError) -> SandboxAnswer {
        let holder = try temporary.holder(mvpd, call, at: place)
        let use = state.temporaryUses.value(holder, at: now)?.value
        let end = temporary.end(use ?? SandboxState.TemporaryUse(start: now))
        guard now < end else { throw .temporaryDuration }
        var attributes: [JSONName: JSONValue] = [
            "userID": "temppass_sandbox", "expiration_date": .number(end.milliseconds),
        ]
        if let remaining = temporary.remaining(holder, use) {
            guard remaining > 0 else { throw .temporaryResources }
            attributes["remaining_resources"] = .number(Double(remaining))
            attributes["used_assets"] = .texts((use?.resources ?? []).sorted())
        }
        let profile = Self.json(use?.start ?? now, end, issuer: "Adobe", type: "temporary", attributes)
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
