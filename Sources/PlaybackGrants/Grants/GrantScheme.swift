package import StreamPaths
package import Timestamps

/// The grants of one CDN, as the command line and the gate use them: their settings, how they are made, and how they are
/// checked. To add a CDN, add a folder with a type that conforms, and list the type in `GrantKind.all`.
package protocol GrantScheme: Sendable {
    /// The name on the command line and in the configuration.
    static var kind: String { get }
    /// What `--help` says of it.
    static var summary: String { get }
    /// The settings beyond those that all kinds have.
    static var settings: [GrantSetting] { get }
    /// How a route delivers the grant unless its settings say so.
    static var usualDelivery: GrantDelivery { get }
    /// Whether a route must name the origins whose URLs it signs.
    static var needsOrigins: Bool { get }

    /// - Parameter values: the settings, with the key.
    init(_ values: GrantValues) throws(GrantProblem)

    /// Makes a grant from the options of the command line.
    func grant(_ values: GrantValues, _ period: GrantPeriod, at now: Timestamp) throws(GrantProblem) -> Grant

    /// The name of the one field that a grant consists of; `nil` if it has several fields.
    var fieldName: String? { get }

    /// Checks a grant as the CDN would.
    ///
    /// - Parameters:
    ///   - grant: the value of the field ``fieldName``, or all fields as a query.
    ///   - question: the request that the grant is checked for.
    /// - Throws: ``GrantProblem`` if the question cannot be asked; never for what is wrong with the grant.
    func check(_ grant: String, _ question: GrantQuestion) throws(GrantProblem) -> [GrantCheck]

    /// Makes grants for one route of the gate.
    ///
    /// - Parameter values: the settings of the route's grant.
    func grants(for route: GrantRoute, _ values: GrantValues) throws(GrantProblem) -> any RouteGrants
}

extension GrantScheme {
    package static var usualDelivery: GrantDelivery { .query }
    package static var needsOrigins: Bool { false }
}

/// How a grant gets to the player.
package enum GrantDelivery: String, Sendable, CaseIterable {
    /// In the query of the stream's URL.
    case query
    /// By `Set-Cookie`.
    case cookie
}

/// The part of the streams that a route's grants open.
package struct GrantRoute: Sendable {
    /// Paths that begin with this are opened; it ends with a slash.
    package let prefix: String
    /// The virtual hosts of the route; empty if it names none.
    package let hosts: [StreamHost]
    package let delivery: GrantDelivery

    package init(prefix: String, hosts: [StreamHost], delivery: GrantDelivery) {
        (self.prefix, self.hosts, self.delivery) = (prefix, hosts, delivery)
    }
}

/// Makes the grants of one route.
package protocol RouteGrants: Sendable {
    /// Whether a grant opens everything below the route's prefix, and not one URL only.
    var opensPrefix: Bool { get }

    /// Throws if no grant can be made for `url`, so that this is known before a token is consumed.
    func demandGrantable(_ url: StreamURL, _ period: GrantPeriod) throws(GrantProblem)

    /// Makes a grant.
    ///
    /// - Parameters:
    ///   - issuedAt: seconds since 1970.
    ///   - identifier: tells the token that was exchanged for it.
    func grant(
        for url: StreamURL, _ period: GrantPeriod, issuedAt: Int64, identifier: [UInt8]?
    ) throws(GrantProblem) -> Grant
}

extension RouteGrants {
    package func demandGrantable(_ url: StreamURL, _ period: GrantPeriod) throws(GrantProblem) {}
}
