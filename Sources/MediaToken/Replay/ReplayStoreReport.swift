package import Basics

/// The state of a replay store that can be relied on.
package struct ReplayStoreReport: Hashable, Sendable {
    /// A server that the store can do without.
    package struct Server: Hashable, Sendable {
        /// The server's URL, without user and password.
        package let name: String
        /// Why the server cannot be relied on; `nil` if it can.
        package let problem: ReplayStoreError?

        package init(name: String, problem: ReplayStoreError?) {
            (self.name, self.problem) = (name, problem)
        }
    }

    /// The store's fence; `nil` if it has none. Tokens issued up to this time are rejected.
    package let fence: Timestamp?
    /// The servers of a quorum; none of another store, which cannot do without any.
    package let servers: [Server]

    package init(fence: Timestamp?, servers: [Server] = []) {
        (self.fence, self.servers) = (fence, servers)
    }
}
