/// What a client may take of a server's memory with one request.
package struct HTTPMessageLimits: Sendable, Equatable {
    /// The most bytes of a request's line and fields together. A longer head is refused with 431.
    package var headBytes: Int
    /// The most bytes of a request's content. Longer content is refused with 413.
    package var contentBytes: Int

    package init(headBytes: Int, contentBytes: Int) {
        (self.headBytes, self.contentBytes) = (headBytes, contentBytes)
    }

    /// The most fields of a request. A request with more is refused with 431.
    package static let fields = 512
}
