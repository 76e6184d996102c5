/// What is fuzzed, each with the property that must hold for any input whatever.
package enum FuzzTarget: String, CaseIterable, Sendable {
    /// Any bytes, as a token that arrived.
    case envelope
    /// A digest and a signature.
    case signature
    /// Any bytes, signed.
    case claims
    /// XML, strictly read and in canonical form.
    case xml
    case json
    /// Two resources, compared.
    case resource
    /// A key file.
    case keys
    /// A gate's configuration file.
    case configuration
    /// The grants that a CDN accepts.
    case grant
    /// A request to the gate.
    case gate
    /// The bytes of a connection.
    case http
    /// A capture of any form, in which tokens are found.
    case capture

    package func property() throws -> any FuzzProperty {
        switch self {
        case .envelope: try EnvelopeProperty()
        case .signature: try SignatureProperty()
        case .claims: try ClaimsProperty()
        case .xml: XMLProperty()
        case .json: JSONProperty()
        case .resource: ResourceProperty()
        case .keys: try KeyFileProperty()
        case .configuration: ConfigurationProperty()
        case .grant: try GrantProperty()
        case .gate: try GateProperty()
        case .http: HTTPProperty()
        case .capture: CaptureProperty()
        }
    }
}

/// Something that must hold for any input.
package protocol FuzzProperty {
    /// - Throws: ``Violation`` where it does not.
    func check(_ input: [UInt8]) throws
}

/// A property that does not hold.
package struct Violation: Error, CustomStringConvertible {
    package let description: String
}

/// - Throws: ``Violation`` where `holds` is false.
func demand(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    guard holds else { throw Violation(description: what()) }
}

/// - Throws: ``Violation`` where a message is empty, or could break a terminal or a log.
func demandOneLine(_ message: String) throws {
    try demand(
        !message.isEmpty && message.utf8.allSatisfy { $0 >= 0x20 },
        "a message is not one line: \(message.debugDescription)")
}
