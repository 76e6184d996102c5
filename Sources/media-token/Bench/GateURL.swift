internal import Basics
internal import CommandShell
internal import Glibc
internal import HTTP
internal import LoadTest

/// The URL of a gate: `http://HOST[:PORT][/PATH]`. Its path chooses what the gate is asked.
struct GateURL {
    let host: String
    let port: UInt16
    let endpoint: GateQuestion.Endpoint

    init(_ text: String) throws(UsageError) {
        let problem = UsageError(
            "'\(printable(text))' is no URL of a gate; expected http://HOST[:PORT][/PATH], for example http://127.0.0.1:8080"
        )
        guard let url = ServerURL(text) else { throw problem }
        (host, port) = (url.host, url.port)
        let path = url.path
        guard let endpoint = path.count < 2 ? .verify : GateQuestion.Endpoint(rawValue: path) else {
            let paths = GateQuestion.Endpoint.allCases.map(\.rawValue).joined(separator: ", ")
            throw UsageError("the path of the gate is '\(printable(path))'; expected one of \(paths)")
        }
        self.endpoint = endpoint
    }
}

/// Looks up a host's name. That may take long, so a command does it before it measures anything.
enum HostAddress {
    static func look(up host: String) throws(CommandError) -> String {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        let outcome = getaddrinfo(host, nil, &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard outcome == 0, let first = found?.pointee else {
            throw CommandError("\(printable(host)): \(String(cString: gai_strerror(outcome)))")
        }
        var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
        guard getnameinfo(first.ai_addr, first.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
        else {
            throw CommandError("\(printable(host)): its address cannot be written down")
        }
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
