public import ClaimsStage

/// What a token must have been issued for to be accepted here.
public struct Expectation: Sendable {
    /// The requestors that may have fetched the token. Empty means none.
    public let requestors: [RequestorID]
    /// The resource that it must open.
    public let resource: ResourceRule

    /// A token of any of `requestors`, for what `resource` says.
    public init(requestors: [RequestorID], resource: ResourceRule) {
        self.requestors = requestors
        self.resource = resource
    }

    /// A token of `requestor`, for exactly `resource`.
    public init(requestor: String, resource: String) {
        self.init(requestors: [RequestorID(requestor)], resource: .exactly(ResourceID(resource)))
    }

    /// A token of `requestor`, for what `resource` says.
    public init(requestor: String, resource: ResourceRule) {
        self.init(requestors: [RequestorID(requestor)], resource: resource)
    }
}
