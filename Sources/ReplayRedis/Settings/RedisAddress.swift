/// The address of a server.
package struct RedisAddress: Hashable, Sendable, CustomStringConvertible {
    let host: String
    package let port: Int32
    let isTLS: Bool

    package var description: String {
        "\(isTLS ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
