internal import Basics
public import ClaimsStage
internal import TokenXML

/// Decides which signed resources are accepted.
public struct ResourceRule: Sendable {
    package enum Comparison: Sendable {
        case exact, canonical, unchecked
    }

    private struct Candidate: Sendable {
        let resource: ResourceID
        let canonicalForm: [UInt8]?
    }

    package let comparison: Comparison
    private let candidates: [Candidate]

    /// Accepts a signed resource that has the same bytes as `resource`.
    public static func exactly(_ resource: ResourceID) -> ResourceRule {
        anyOf([resource])
    }

    /// Accepts a signed resource that has the same bytes as one of `resources`. An empty list accepts nothing.
    public static func anyOf(_ resources: [ResourceID]) -> ResourceRule {
        ResourceRule(.exact, resources)
    }

    /// Accepts a signed resource that has the same bytes as one of `resources` or, if both are XML, the same canonical
    /// form.
    ///
    /// The form is that of W3C Canonical XML 1.0 after CDATA has become text and white space between elements is
    /// dropped. Quote style, attribute order, CDATA or escapes, and white space between elements therefore make no
    /// difference.
    public static func canonically(_ resources: [ResourceID]) -> ResourceRule {
        ResourceRule(.canonical, resources)
    }

    /// Accepts any resource. The token then opens whatever the client asked Adobe Pass for, so the caller must check
    /// the verified token's resource before it serves anything.
    public static var unsafeAnyResource: ResourceRule { ResourceRule(.unchecked, []) }

    private init(_ comparison: Comparison, _ resources: [ResourceID]) {
        self.comparison = comparison
        candidates = resources.map { resource in
            Candidate(
                resource: resource,
                canonicalForm: comparison == .canonical ? resource.canonicalForm : nil)
        }
    }

    /// The resources that the rule names.
    public var resources: [ResourceID] { candidates.map(\.resource) }

    /// Whether `resource` is, byte for byte, the only one that the rule names.
    package func namesOnly(_ resource: ResourceID) -> Bool {
        candidates.count == 1 && candidates[0].resource == resource
    }

    /// Whether `text` is byte for byte a resource that the rule names; true for any text if the rule accepts every
    /// resource. Unsigned text is compared only in this way, never in canonical form.
    package func names(_ text: String) -> Bool {
        // Unreached: Chooses among several decisions; the rule of the property that has them accepts any resource.
        comparison == .unchecked || candidates.contains { $0.resource.text.hasSameBytes(as: text) }
    }

    /// Whether the rule accepts `signed`.
    public func matches(_ signed: ResourceID) -> Bool {
        switch comparison {
        case .unchecked: return true
        case .exact: return candidates.contains { $0.resource == signed }
        case .canonical:
            if candidates.contains(where: { $0.resource == signed }) { return true }
            guard candidates.contains(where: { $0.canonicalForm != nil }), let form = signed.canonicalForm else {
                return false
            }
            return candidates.contains { $0.canonicalForm == form }
        }
    }
}

extension ResourceID {
    /// The bytes of the canonical form; `nil` if the resource is not XML that has one.
    var canonicalForm: [UInt8]? {
        guard text.utf8.first == UInt8(ascii: "<") else { return nil }
        return try? Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(XMLError) in
            try CanonicalXML.form(of: bytes)
        }
    }
}
