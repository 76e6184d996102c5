internal import Basics
internal import HTTP
internal import MediaTokenTesting
internal import TokenCrypto

/// Decisions on resources: `POST /api/v2/{sp}/decisions/preauthorize/{mvpd}` and `…/authorize/{mvpd}`.
struct Decisions: Sendable {
    enum Kind: String { case preauthorize, authorize }

    /// What was decided about one resource.
    struct Decision {
        let resource: String
        let viewer: String
        /// The time until which the decision counts: at most until the login or the TempPass ends.
        let end: Timestamp
        let card: TestCard?
        /// Why the viewer may not; `nil` if the viewer may.
        var denial: EnhancedError?
    }

    let settings: SandboxSettings
    let temporary: TemporaryAccess
    let tokens: MediaTokens

    /// The resources that the call asks for.
    func resources(_ call: PassCall) throws(EnhancedError) -> [String] {
        let body = try? StrictJSON.readObject(call.request.body)
        guard case .list(let items)? = body?.members["resources"], !items.isEmpty else { throw .resources }
        var resources: [String] = []
        for item in items {
            guard case .text(let text) = item, let resource = PassCall.checked(text), !resource.isEmpty else {
                throw .resources
            }
            resources.append(resource)
        }
        guard resources.count <= settings.resourceLimit else { throw .tooManyResources }
        return resources
    }

    /// Decides whether the viewer may watch each resource, and counts the use of a TempPass.
    func decide(
        _ kind: Kind, _ resources: [String], mvpd: String, at identity: SandboxState.DeviceIdentity, _ call: PassCall,
        _ state: inout SandboxState
    ) throws(EnhancedError) -> [Decision] {
        let isTemporary = TemporaryAccess.isTemporary(mvpd)
        let profile = isTemporary ? nil : try profile(mvpd, at: identity, state, now: call.now)
        var holder: SandboxState.TemporaryHolder?
        if isTemporary {
            do { holder = try temporary.holder(mvpd, call, at: identity) } catch {
                // Adobe's pages demand the identity of a promotional TempPass for an authorization alone.
                if kind == .authorize { throw error }
            }
        }
        let accessEnd = profile?.end ?? holder.map { temporary.end(temporary.use(of: $0, state, now: call.now)) }
        let end = self.end(at: call.now, within: accessEnd)
        return resources.map { resource in
            let card = TestCard.chosen(for: resource, mvpd: mvpd)
            var decision = Decision(
                resource: resource, viewer: profile?.viewer ?? identity.device, end: end, card: card)
            do throws(EnhancedError) {
                if case .deny(let error)? = card?.effect {
                    throw kind == .authorize ? error : .preauthorization(denied: error)
                }
                if let holder { try temporary.check(resource, kind, by: holder, &state, now: call.now) }
            } catch { decision.denial = error }
            return decision
        }
    }

    /// The end of a decision that is made now, on the ground of an access that ends.
    func end(at now: Timestamp, within access: Timestamp?) -> Timestamp {
        let own = now.advanced(byMilliseconds: settings.decisionSeconds * 1000)
        return access.map { min($0, own) } ?? own
    }

    /// The login of the device with this MVPD.
    func profile(
        _ mvpd: String, at identity: SandboxState.DeviceIdentity, _ state: SandboxState, now: Timestamp
    ) throws(EnhancedError) -> SandboxState.Profile {
        guard let profile = state.profiles(at: identity, now: now)[mvpd] else { throw .profileMissing }
        guard profile.end > now else { throw .profileExpired }
        return profile
    }

    /// The answer to the call, with a token for each resource that is permitted.
    ///
    /// - Parameter traces: Makes the identifier of each error.
    func answer(
        _ kind: Kind, _ decisions: [Decision], mvpd: String, at identity: SandboxState.DeviceIdentity, now: Timestamp,
        traces: () -> String
    ) throws(CryptoError) -> SandboxAnswer {
        var items: [JSONValue] = []
        for decision in decisions {
            var item: [JSONName: JSONValue] = [
                "resource": .text(decision.resource), "serviceProvider": .text(identity.provider), "mvpd": .text(mvpd),
                "source": .text(source(decision, mvpd)),
            ]
            item["authorized"] = .boolean(decision.denial == nil)
            if let denial = decision.denial {
                item["error"] = denial.json(trace: traces())
            } else if kind == .authorize {
                let token = try tokens.media(
                    decision.resource, at: identity, mvpd: mvpd, viewer: decision.viewer, decision.card, now: now)
                item["token"] = [
                    "notBefore": .number(token.recipe.issueMilliseconds),
                    "notAfter": .number(token.recipe.expiryMilliseconds),
                    "serializedToken": .text(Base64.encode(Array(token.clearText.utf8))),
                ]
                item["notBefore"] = .number(now.milliseconds)
                item["notAfter"] = .number(decision.end.milliseconds)
            }
            items.append(.object(item))
        }
        return .json(200, ["decisions": .list(items)])
    }

    private func source(_ decision: Decision, _ mvpd: String) -> String {
        if decision.denial?.code == "authorization_denied_by_degradation_rule" { return "degradation" }
        return TemporaryAccess.isTemporary(mvpd) ? "temppass" : "mvpd"
    }
}

extension EnhancedError {
    /// The error of a preauthorization where an authorization would have `error`.
    fileprivate static func preauthorization(denied error: EnhancedError) -> EnhancedError {
        guard error.code == "authorization_denied_by_mvpd" else { return error }
        return EnhancedError(
            "preauthorization_denied_by_mvpd", 403, .none, error.message, details: error.details)
    }
}
