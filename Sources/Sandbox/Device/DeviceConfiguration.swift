package import MediaToken

/// A programmer's configuration, which a device asks Adobe Pass for in `setRequestor`.
package struct DeviceConfiguration: Sendable, Equatable {
    package let requestor: RequestorID
    /// The MVPDs with which the programmer's viewers may log in.
    package let providers: [DeviceProvider]

    package init(_ requestor: RequestorID, providers: [DeviceProvider]) {
        (self.requestor, self.providers) = (requestor, providers)
    }

    /// The configuration of a device that has none yet: it has no MVPD.
    static let none = DeviceConfiguration(RequestorID(""), providers: [])

    /// Whether the system's dialog of TV providers has one of the programmer's MVPDs.
    var hasSystemSignOn: Bool { providers.contains { $0.boarding != .none } }

    package func provider(_ id: MVPDID) -> DeviceProvider? { providers.first { $0.id == id } }

    /// Whether a token counts: it has not expired, and the MVPD of its login is among the programmer's.
    func allows(_ mvpd: MVPDID, until expiry: Timestamp, at now: Timestamp) -> Bool {
        now <= expiry && provider(mvpd) != nil
    }
}

/// What a programmer's configuration says of an MVPD.
package struct DeviceProvider: Sendable, Equatable {
    /// How far an MVPD takes part in the single sign-on of the system (Apple SSO), as Adobe's `boardingStatus` has it.
    package enum Boarding: String, Sendable {
        case none = "NONE"
        /// The system's dialog shows the MVPD, and the login is Adobe's.
        case picker = "PICKER"
        /// The viewer logs in with the system.
        case supported = "SUPPORTED"
    }

    package let id: MVPDID
    package let displayName: String
    package let logoURL: String?
    /// Whether a login may go on with this MVPD, without asking the viewer, because it is the cached one.
    package let canAuthenticate: Bool
    /// Whether each programmer needs an AuthN token of its own.
    package let authenticatesPerRequestor: Bool
    package let boarding: Boarding

    package init(
        _ id: MVPDID, displayName: String? = nil, logoURL: String? = nil, canAuthenticate: Bool = true,
        authenticatesPerRequestor: Bool = false, boarding: Boarding = .none
    ) {
        (self.id, self.displayName, self.logoURL, self.boarding) = (id, displayName ?? id.text, logoURL, boarding)
        (self.canAuthenticate, self.authenticatesPerRequestor) = (canAuthenticate, authenticatesPerRequestor)
    }

    /// The MVPD for a programmer who takes no part in the single sign-on of the system.
    var withoutSystem: DeviceProvider {
        DeviceProvider(
            id, displayName: displayName, canAuthenticate: canAuthenticate,
            authenticatesPerRequestor: authenticatesPerRequestor)
    }
}
