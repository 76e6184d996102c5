internal import TokenXML

/// Which signed resources are the one that is asked for.
public struct ResourceRule: Sendable {
    enum Comparison: Sendable {
        case exact, canonical, unchecked
    }

    private struct Candidate: Sendable {
        let resource: ResourceID
        let canonicalForm: [UInt8]?
    }

    let comparison: Comparison
    private let candidates: [Candidate]

    /// The signed resource has the same bytes.
    public static func exactly(_ resource: ResourceID) -> ResourceRule {
        anyOf([resource])
    }

    /// The signed resource has the same bytes as one of these. An empty list matches nothing.
    public static func anyOf(_ resources: [ResourceID]) -> ResourceRule {
        ResourceRule(.exact, resources)
    }

    /// The signed resource has the same bytes as one of these or, where both are XML, the same canonical form
    /// (W3C Canonical XML 1.0 after CDATA has become text and white space between elements is dropped). So quote style,
    /// attribute order, CDATA or escapes, and white space between elements make no difference.
    public static func canonically(_ resources: [ResourceID]) -> ResourceRule {
        ResourceRule(.canonical, resources)
    }

    /// Any resource. The token then opens whatever the client asked Adobe Pass for, so the caller must look at the
    /// verified token's resource before it serves anything.
    public static var unsafeAnyResource: ResourceRule { ResourceRule(.unchecked, []) }

    private init(_ comparison: Comparison, _ resources: [ResourceID]) {
        self.comparison = comparison
        candidates = resources.map { resource in
            Candidate(
                resource: resource,
                canonicalForm: comparison == .canonical ? resource.canonicalForm : nil)
        }
    }

    /// The resources asked for.
    public var resources: [ResourceID] { candidates.map(\.resource) }

    /// Whether `signed` is what is asked for.
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
    /// The canonical form's bytes; `nil` where the resource is not XML that can be compared so.
    var canonicalForm: [UInt8]? {
        guard text.utf8.first == UInt8(ascii: "<") else { return nil }
        return try? Array(text.utf8).withUnsafeBufferPointer { (bytes) throws(XMLRefusal) in
            try CanonicalXML.form(of: bytes)
        }
    }
}
