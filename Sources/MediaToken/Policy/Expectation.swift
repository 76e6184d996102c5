public import ClaimsStage

/// The requestors and the resource that a token must have been issued for to be accepted.
public struct Expectation: Sendable {
    /// The requestors whose tokens are accepted. If the list is empty, every token is rejected.
    public let requestors: [RequestorID]
    /// The rule that the token's resource must meet.
    public let resource: ResourceRule

    /// Expects a token of any of `requestors`, for a resource that `resource` accepts.
    public init(requestors: [RequestorID], resource: ResourceRule) {
        self.requestors = requestors
        self.resource = resource
    }

    /// Expects a token of `requestor`, for exactly `resource`.
    public init(requestor: String, resource: String) {
        self.init(requestors: [RequestorID(requestor)], resource: .exactly(ResourceID(resource)))
    }

    /// Expects a token of `requestor`, for a resource that `resource` accepts.
    public init(requestor: String, resource: ResourceRule) {
        self.init(requestors: [RequestorID(requestor)], resource: resource)
    }
}
