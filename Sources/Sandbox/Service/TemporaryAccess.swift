internal import Basics

/// TempPass: access without a login, for a time, and in its promotional form for a number of resources.
///
/// An MVPD whose ID contains `TempPass` is one, as Adobe's are named; one that begins with `flexible` or `promotional`
/// is promotional.
struct TemporaryAccess: Sendable {
    let settings: SandboxSettings

    static func isTemporary(_ mvpd: String) -> Bool { mvpd.contains("TempPass") }

    private static func isPromotional(_ mvpd: String) -> Bool {
        mvpd.lowercased().hasPrefix("flexible") || mvpd.lowercased().hasPrefix("promotional")
    }

    /// The device, or for a promotional TempPass the viewer, whose use of the TempPass is counted.
    func holder(
        _ mvpd: String, _ call: PassCall, at identity: SandboxState.DeviceIdentity
    ) throws(EnhancedError) -> SandboxState.TemporaryHolder {
        let isPromotional = Self.isPromotional(mvpd)
        guard let holder = isPromotional ? call.temporaryIdentity : identity.device else { throw .temporaryIdentity }
        return SandboxState.TemporaryHolder(provider: identity.provider, mvpd: mvpd, holder: holder)
    }

    /// The end of the access, which starts with the first decision.
    func end(_ use: SandboxState.TemporaryUse) -> Timestamp {
        use.start.advanced(byMilliseconds: settings.temporarySeconds * 1000)
    }

    /// What a holder has used of the TempPass; one that was not used starts now.
    func use(
        of holder: SandboxState.TemporaryHolder, _ state: SandboxState, now: Timestamp
    ) -> SandboxState.TemporaryUse {
        state.temporaryUses.value(holder, at: now)?.value ?? SandboxState.TemporaryUse(start: now)
    }

    /// Fails if the access has run out, and counts the resource of an authorization.
    func check(
        _ resource: String, _ kind: Decisions.Kind, by holder: SandboxState.TemporaryHolder,
        _ state: inout SandboxState, now: Timestamp
    ) throws(EnhancedError) {
        var use = use(of: holder, state, now: now)
        guard now < end(use) else { throw .temporaryDuration }
        if Self.isPromotional(holder.mvpd), !use.resources.contains(resource) {
            guard use.resources.count < settings.temporaryResources else { throw .temporaryResources }
            use.resources.insert(resource)
        }
        if kind == .authorize { state.keep(use, of: holder, now: now) }
    }

    /// The resources that a promotional access still permits; `nil` for one without such a limit.
    func remaining(_ holder: SandboxState.TemporaryHolder, _ use: SandboxState.TemporaryUse) -> Int? {
        guard Self.isPromotional(holder.mvpd) else { return nil }
        return settings.temporaryResources - use.resources.count
    }
}
