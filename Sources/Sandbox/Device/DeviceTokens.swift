package import MediaToken

/// An AuthN token, the long-lived proof that the viewer has logged in.
package struct AuthenticationToken: Sendable, Hashable {
    package let requestor: RequestorID
    package let mvpd: MVPDID
    /// The device ID that Adobe Pass signed into the token, and compares with the sender's on every use.
    package let deviceID: String
    package let expiry: Timestamp
    /// The signed token, as it travels.
    package let text: String
    /// What the MVPD says about the viewer, by its keys.
    package let metadata: [String: String]

    package init(
        requestor: RequestorID, mvpd: MVPDID, deviceID: String, expiry: Timestamp, text: String,
        metadata: [String: String] = [:]
    ) {
        (self.requestor, self.mvpd, self.deviceID) = (requestor, mvpd, deviceID)
        (self.expiry, self.text, self.metadata) = (expiry, text, metadata)
    }
}

/// An AuthZ token, the decision of an MVPD that the viewer may play one resource.
package struct AuthorizationToken: Sendable, Hashable {
    package let requestor: RequestorID
    package let resource: ResourceID
    package let mvpd: MVPDID
    package let expiry: Timestamp
    /// The signed token, as it travels.
    package let text: String

    package init(requestor: RequestorID, resource: ResourceID, mvpd: MVPDID, expiry: Timestamp, text: String) {
        (self.requestor, self.resource, self.mvpd) = (requestor, resource, mvpd)
        (self.expiry, self.text) = (expiry, text)
    }
}

/// The MVPD of a programmer's latest login, which the next one takes in the same way.
package struct CachedProvider: Sendable, Equatable {
    package let mvpd: MVPDID
    package let isFromSystem: Bool

    package init(_ mvpd: MVPDID, isFromSystem: Bool = false) { (self.mvpd, self.isFromSystem) = (mvpd, isFromSystem) }
}

/// A login in the storage of a device: an AuthN token, and the AuthZ tokens that were obtained with it.
package struct StoredLogin: Sendable, Equatable {
    package enum Shelf: String, Sendable {
        /// A place for each programmer, MVPD and device ID, of SDKs from 1.7 on.
        case map
        /// The only place that apps share, of SDKs up to 1.6.
        case slot
        /// The file of one app, of SDKs up to 1.6, for MVPDs that authenticate per requestor.
        case privateSlot = "private"
    }

    package let authentication: AuthenticationToken
    package internal(set) var shelf: Shelf
    /// The app that stored the login.
    package let bundleID: String
    /// Whether the viewer logged in by the TV provider of the system's settings.
    package let isFromSystem: Bool
    /// The AuthZ tokens, at most one for each programmer and resource.
    package internal(set) var authorizations: [AuthorizationToken] = []

    package init(
        _ authentication: AuthenticationToken, on shelf: Shelf, of bundleID: String, isFromSystem: Bool,
        authorizations: [AuthorizationToken] = []
    ) {
        (self.authentication, self.shelf) = (authentication, shelf)
        (self.bundleID, self.isFromSystem) = (bundleID, isFromSystem)
        self.authorizations = authorizations
    }

    /// Whether the login is of the token's programmer, MVPD and device ID.
    func hasPlace(of token: AuthenticationToken) -> Bool {
        authentication.requestor == token.requestor && authentication.mvpd == token.mvpd
            && authentication.deviceID == token.deviceID
    }

    /// Adds `token`, which replaces an earlier one for its resource.
    mutating func add(_ token: AuthorizationToken) {
        authorizations.removeAll { $0.resource == token.resource && $0.requestor == token.requestor }
        authorizations.append(token)
    }
}
