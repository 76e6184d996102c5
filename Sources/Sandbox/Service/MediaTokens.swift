internal import Basics
internal import MediaToken
internal import MediaTokenTesting
internal import TokenCrypto

/// A signed token, with the recipe for changed ones.
struct MintedToken: Sendable {
    let clearText: String
    let recipe: TokenRecipe
}

/// Signs tokens of all three kinds in the form of Adobe's, and changes them as test cards say.
struct MediaTokens: Sendable {
    private let keys: SandboxKeys
    private let settings: SandboxSettings
    /// The key of the code (HMAC) over MVPD and viewer that is the session GUID: a viewer has the same one at each
    /// play.
    private let viewers: HMACKey

    init(_ keys: SandboxKeys, _ settings: SandboxSettings, secret: [UInt8]) throws(CryptoError) {
        (self.keys, self.settings, viewers) = (keys, settings, try HMACKey(.sha256, key: secret))
    }

    /// What binds a token to a device: a hash of its ID, as Adobe's SDK overview has it.
    static func fingerprint(of device: String) throws(CryptoError) -> String {
        try SHA256Hasher().digest(Array(device.utf8)[...]).hexadecimal
    }

    /// The media token for one play.
    func media(
        _ resource: String, at identity: SandboxState.DeviceIdentity, mvpd: String, viewer: String, _ card: TestCard?,
        now: Timestamp
    ) throws(CryptoError) -> MintedToken {
        var recipe = try recipe(identity, mvpd: mvpd, viewer: viewer, now: now)
        recipe.resource = resource
        switch card?.effect {
        case .token(let change): change(&recipe)
        case .key(.unpublished): return try sign(recipe, keys.unpublished)
        case .key(.rotating):
            return try sign(recipe, now.wholeSeconds / 60 % 2 == 0 ? keys.first : keys.second)
        case .forge(let forge):
            return MintedToken(clearText: forge(try sign(recipe, keys.first).clearText), recipe: recipe)
        case .deny, .refuse, .disturb, nil: break
        }
        return try sign(recipe, keys.first)
    }

    /// The AuthN token of a login.
    func authentication(
        at identity: SandboxState.DeviceIdentity, mvpd: String, _ profile: SandboxState.Profile
    ) throws(CryptoError) -> MintedToken {
        var recipe = try recipe(identity, mvpd: mvpd, viewer: profile.viewer, now: profile.start)
        (recipe.kind, recipe.device) = (.authentication, try Self.fingerprint(of: identity.device))
        recipe.timeToLive = profile.end.milliseconds(since: profile.start)
        return try sign(recipe, keys.first)
    }

    /// Whether the fields of an AuthN token are those of this login, and not of an earlier one: its viewer's, with its
    /// end.
    func isAuthentication(_ fields: [String: String], of profile: SandboxState.Profile, mvpd: String) -> Bool {
        guard let guid = try? sessionGUID(mvpd, profile.viewer) else { return false }
        return fields["simpleTokenAuthenticationGuid"] == guid
            && fields["simpleTokenExpires"] == TokenDate(profile.end).written(as: .expiry)
    }

    /// The AuthZ token for a resource, which expires with the decision.
    func authorization(
        _ resource: String, at identity: SandboxState.DeviceIdentity, mvpd: String, viewer: String,
        until end: Timestamp,
        now: Timestamp
    ) throws(CryptoError) -> MintedToken {
        var recipe = try recipe(identity, mvpd: mvpd, viewer: viewer, now: now)
        (recipe.kind, recipe.resource) = (.authorization, resource)
        recipe.device = try Self.fingerprint(of: identity.device)
        recipe.timeToLive = end.milliseconds(since: now)
        return try sign(recipe, keys.first)
    }

    private func recipe(
        _ identity: SandboxState.DeviceIdentity, mvpd: String, viewer: String, now: Timestamp
    ) throws(CryptoError) -> TokenRecipe {
        var recipe = TokenRecipe(issued: TokenDate(now))
        (recipe.requestor, recipe.mvpd) = (identity.provider, mvpd)
        recipe.sessionGUID = try sessionGUID(mvpd, viewer)
        recipe.timeToLive = settings.tokenMilliseconds
        return recipe
    }

    private func sessionGUID(_ mvpd: String, _ viewer: String) throws(CryptoError) -> String {
        String(try viewers.code(of: Array("viewer \(mvpd) \(viewer)".utf8)).hexadecimal.prefix(32))
    }

    private func sign(_ recipe: TokenRecipe, _ key: RSASigningKey) throws(CryptoError) -> MintedToken {
        MintedToken(clearText: try TokenSigner(key: key).sign(recipe.payload), recipe: recipe)
    }
}
