package import MediaToken

/// A call of an app to AccessEnabler.
package enum DeviceCall: Sendable, Equatable {
    /// Names the programmer. The other calls wait until it has succeeded. On tvOS it needs credentials.
    case setRequestor(RequestorID, endpoints: [String] = [], credentials: DeviceCredentials? = nil)
    /// Sets the ID of the viewer in the programmer's analytics (`setOptions` with a `visitorID`).
    case setVisitorID(String?)
    case checkAuthentication
    case getAuthentication
    /// Names the MVPD that the viewer has chosen; `nil` cancels the login in progress.
    case setSelectedProvider(MVPDID?)
    /// Tells that the web view has reached this URL.
    case handleExternalURL(String)
    case checkPreauthorizedResources([ResourceID])
    case checkAuthorization(ResourceID)
    case getAuthorization(ResourceID)
    case getSelectedProvider
    case getMetadata(MetadataKey)
    case logout

    /// What an app calls when the viewer selects a media item; `nil` if it plays the item at once.
    ///
    /// After `setToken`, the app plays only if its server accepts the media token.
    package static func view(_ resource: ResourceID, isProtected: Bool) -> DeviceCall? {
        isProtected ? .getAuthorization(resource) : nil
    }
}

/// The key pair that a tvOS app has from Adobe.
package struct DeviceCredentials: Sendable, Equatable {
    package let publicKey: String
    package let secret: String

    package init(publicKey: String, secret: String) { (self.publicKey, self.secret) = (publicKey, secret) }
}

/// What an app asks for with `getMetadata`; an argument is part of its key.
package enum MetadataKey: Sendable, Equatable {
    case deviceID
    /// The expiry of the AuthN token.
    case authenticationExpiry
    /// The expiry of the cached AuthZ token for a resource.
    case authorizationExpiry(ResourceID)
    /// What the MVPD says about the viewer under this name.
    case user(String)
}

/// A call of AccessEnabler to its delegate in the app.
package enum DeviceCallback: Sendable, Equatable {
    case setRequestorComplete(Bool)
    /// Tells whether the viewer is logged in (status 1) or not (status 0, with an error code).
    case setAuthenticationStatus(Bool, AuthenticationError? = nil)
    case displayProviderDialog([DeviceProvider])
    case presentTvProviderDialog
    case dismissTvProviderDialog
    /// Has the app open a page of Adobe Pass in a web view, which leads to the MVPD and then to the redirect URL.
    case navigateToUrl(String)
    case status(DeviceStatus)
    case preauthorizedResources([ResourceID])
    case setToken(String, ResourceID)
    case tokenRequestFailed(ResourceID, TokenError, String)
    case selectedProvider(MVPDID?)
    case setMetadataStatus(String?, MetadataKey)
}

/// The error codes of `setAuthenticationStatus`.
package enum AuthenticationError: String, Sendable {
    case notAuthenticated = "User Not Authenticated Error"
    case providerNotSelected = "Provider not Selected Error"
    case providerNotAvailable = "Provider not Available Error"
    case other = "Generic Authentication Error"
}

/// The error codes of `tokenRequestFailed`.
package enum TokenError: String, Sendable {
    /// The viewer must log in again.
    case notAuthenticated = "User Not Authenticated Error"
    /// The MVPD does not allow the resource.
    case notAuthorized = "User Not Authorized Error"
    /// There is no decision, because of the network for example.
    case other = "Generic Authorization Error"
}

/// What the `status` callback tells.
package enum DeviceStatus: Sendable, Equatable {
    /// The code that the viewer enters on a second screen, and the page to enter it on.
    case registrationCode(String, url: String)
    /// The viewer must also log out in the system's settings, or is logged in again when the app is relaunched.
    case systemLogoutNeeded

    /// Adobe's ID of the status that tells of the system's settings.
    package static let systemLogoutID = "VSA203"
}

/// An event for the programmer's analytics, which AccessEnabler hands over with `sendTrackingData`.
package enum TrackingEvent: Sendable, Equatable {
    case mvpdSelection(MVPDID)
    case authenticationDetection(Bool, MVPDID?)
    case authorizationDetection(Bool, MVPDID?, TokenError?)
}
