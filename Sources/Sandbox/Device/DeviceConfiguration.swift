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

    package func provider(_ id: MVPDID) -> DeviceProvider? { providers.first { $0.id == id } }

    /// Whether a token counts: it has not expired, and the MVPD of its login is among the programmer's.
    func allows(_ mvpd: MVPDID, until expiry: Timestamp, at now: Timestamp) -> Bool {
        now <= expiry && provider(mvpd) != nil
    }
}

/// What a programmer's configuration says of an MVPD.
package struct DeviceProvider: Sendable, Equatable {
    package let id: MVPDID
    package let displayName: String
    /// Whether a login may go on with this MVPD, without asking the viewer, because it is the cached one.
    package let canAuthenticate: Bool
    /// Whether each programmer needs an AuthN token of its own.
    package let authenticatesPerRequestor: Bool

    package init(
        _ id: MVPDID, displayName: String? = nil, canAuthenticate: Bool = true, authenticatesPerRequestor: Bool = false
    ) {
        (self.id, self.displayName) = (id, displayName ?? id.text)
        (self.canAuthenticate, self.authenticatesPerRequestor) = (canAuthenticate, authenticatesPerRequestor)
    }
}
