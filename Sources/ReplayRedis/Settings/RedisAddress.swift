/// The address of a server.
struct RedisAddress: Hashable, CustomStringConvertible {
    let host: String
    let port: Int32
    let isTLS: Bool

    var description: String {
        "\(isTLS ? "rediss" : "redis")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
