internal import StreamPaths

/// What a grant is to open.
enum WantedStream {
    case one(StreamURL)
    /// All below a path, which ends with a slash.
    case allBelow(StreamURL)
    /// All of a route.
    case allOf(path: String, hosts: [StreamHost])

    /// What a retry must ask for again to get the same grant. No URL has a zero byte, so no two are alike.
    var identity: String {
        switch self {
        case .one(let url): url.text
        case .allBelow(let url): "prefix\0\(url.text)"
        // Unreached: A route with hosts; the routes of the properties' dialects have none.
        case .allOf(let path, let hosts): (["route", path] + hosts.map(\.name)).joined(separator: "\0")
        }
    }
}
