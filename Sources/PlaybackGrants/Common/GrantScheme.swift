package import Basics
package import Settings
package import StreamPaths

/// A kind of playback grants: those of one CDN, as the command line and the gate use them. To add a CDN, add a folder
/// with a type of such grants and its kind, and list the kind in `GrantKind.all`.
package struct GrantKind: Sendable, Equatable {
    /// Creates the grants of a kind from their settings and keys.
    typealias Opening = @Sendable (GrantValues) throws(GrantError) -> any GrantScheme

    /// The kind's name on the command line and in the configuration.
    package let name: String
    /// The summary of the kind in `--help`.
    package let summary: String
    /// The kind's settings, in addition to those that all kinds have.
    package let settings: [GrantSetting]
    /// The setting that names the file of a further secret, besides those of the keys; `nil` if the kind has none.
    package let secretFile: String?
    /// The usual name of a grant's only field; `nil` if a grant has several fields.
    package let usualName: String?
    /// How a route delivers its grants by default.
    package let defaultDelivery: GrantDelivery
    /// Whether the option `path` limits a grant. For other kinds it is the path of the request that a grant is checked
    /// for.
    package let limitsPath: Bool
    /// Whether a route must name the origins whose URLs it signs.
    package let needsOrigins: Bool
    /// Whether several keys can be given: the first makes the grants, and each checks those that name it. Where a grant
    /// names no key, one key makes and checks all.
    package let takesSeveralKeys: Bool
    /// Reads what a grant says without its key, from the value of its only field or all fields as a query; `nil` if the
    /// text has not the form of the kind.
    package let contents: @Sendable (_ grant: String) -> GrantContents?
    private let opening: Opening

    init(
        _ name: String, _ summary: String, _ settings: [GrantSetting], secretFile: String? = nil,
        usualName: String? = nil, defaultDelivery: GrantDelivery = .query, limitsPath: Bool = false,
        needsOrigins: Bool = false, takesSeveralKeys: Bool = false,
        contents: @escaping @Sendable (String) -> GrantContents?, _ opening: @escaping Opening
    ) {
        (self.name, self.summary, self.settings) = (name, summary, settings)
        (self.secretFile, self.usualName, self.defaultDelivery) = (secretFile, usualName, defaultDelivery)
        (self.limitsPath, self.needsOrigins) = (limitsPath, needsOrigins)
        self.takesSeveralKeys = takesSeveralKeys
        (self.contents, self.opening) = (contents, opening)
    }

    /// The grants of this kind.
    ///
    /// - Parameter values: The settings, including the key.
    package func scheme(_ values: GrantValues) throws(GrantError) -> any GrantScheme { try opening(values) }

    /// The settings that a route's configuration may have.
    package var fileSettings: SettingsTable<GrantValues> {
        SettingsTable(settings.filter { $0.source ?? .file == .file })
    }

    package var hasOneField: Bool { usualName != nil }

    package static func == (left: Self, right: Self) -> Bool { left.name.hasSameBytes(as: right.name) }
}

/// The grants of one kind with their keys: how they are made and checked.
package protocol GrantScheme: Sendable {
    /// Makes a grant from the options of the command line.
    func grant(_ values: GrantValues, _ period: GrantPeriod, at now: Timestamp) throws(GrantError) -> Grant

    /// Checks a grant as the CDN would.
    ///
    /// - Parameters:
    ///   - grant: The value of the only field, or all fields as a query.
    ///   - question: The request that the grant is checked for.
    /// - Throws: ``GrantError`` if the question cannot be asked; never for a fault of the grant.
    func check(_ grant: String, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck]

    /// Makes grants for one route of the gate.
    ///
    /// - Parameter values: The settings of the route's grant.
    func maker(for route: GrantTarget, _ values: GrantValues) throws(GrantError) -> RouteGrantMaker
}

/// How the gate delivers a grant to the player.
package enum GrantDelivery: String, Sendable, CaseIterable {
    /// In the query of the stream's URL.
    case query
    /// In `Set-Cookie` headers.
    case cookie
}

/// The streams that a route's grants open.
package struct GrantTarget: Sendable {
    /// The path prefix that the grants open. It ends with a slash.
    package let prefix: String
    /// The virtual hosts of the route; empty if it names none.
    package let hosts: [StreamHost]
    package let delivery: GrantDelivery

    package init(prefix: String, hosts: [StreamHost], delivery: GrantDelivery) {
        (self.prefix, self.hosts, self.delivery) = (prefix, hosts, delivery)
    }
}

/// What the gate checks a route's grants with. Each kind of grants that the gate can check has its own type.
package protocol RouteVerifier: Sendable {}

/// Makes the grants of one route.
package struct RouteGrantMaker: Sendable {
    /// Returns what a grant for a URL depends on; see ``subject(of:)``.
    typealias Subject = @Sendable (_ url: StreamURL) throws(GrantError) -> String?
    /// Makes a grant; see ``grant(for:_:issuedAt:identifier:)``.
    typealias Make =
        @Sendable (_ url: StreamURL, _ period: GrantPeriod, _ issuedAt: Int64, _ identifier: [UInt8]?)
        throws(GrantError) ->
        Grant

    /// Whether a grant opens everything below the route's prefix, instead of only one URL.
    package let opensPrefix: Bool
    /// Whether making a grant may take so long that an event loop must not wait for it.
    package let isCostly: Bool
    /// What the gate needs to check the grants itself, so that clients may send one to the gate instead of a media
    /// token; `nil` if only the CDN checks them.
    package let verifier: (any RouteVerifier)?
    private let subject: Subject
    private let make: Make

    init(
        opensPrefix: Bool, isCostly: Bool = false, verifier: (any RouteVerifier)? = nil,
        subject: @escaping Subject = { (_) throws(GrantError) in nil }, _ make: @escaping Make
    ) {
        (self.opensPrefix, self.isCostly, self.verifier) = (opensPrefix, isCostly, verifier)
        (self.subject, self.make) = (subject, make)
    }

    /// What a grant for `url` depends on, apart from its period: everybody who asks for the same gets the same grant.
    /// `nil` if each media token gets a grant of its own.
    ///
    /// - Throws: if no grant can be made for `url`. The caller learns this before it consumes a token.
    package func subject(of url: StreamURL) throws(GrantError) -> String? { try subject(url) }

    /// Makes a grant.
    ///
    /// - Parameters:
    ///   - issuedAt: The issue time in seconds since 1970.
    ///   - identifier: An ID of the media token that was exchanged for the grant; `nil` if the grant gets none.
    package func grant(
        for url: StreamURL, _ period: GrantPeriod, issuedAt: Int64, identifier: [UInt8]?
    ) throws(GrantError) -> Grant {
        try make(url, period, issuedAt, identifier)
    }
}
