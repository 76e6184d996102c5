internal import Basics
internal import HTTP
internal import MediaTokenGate
internal import TokenCrypto
internal import Settings

/// Settings that have no problem open what they say is open and nothing else; those that have one say so in one line
/// each.
struct ConfigurationProperty: FuzzProperty {
    func check(_ input: [UInt8]) throws {
        guard let object = try? StrictJSON.readObject(input[...], valueLimit: 1000) else { return }
        let reader = GateSettingsReader(SettingsObject(object.members))
        for problem in reader.problems { try demandOneLine("\(problem)") }
        guard reader.problems.isEmpty else { return }
        guard case .list(let routes)? = object.members["routes"] else {
            return try demand(reader.settings.routes.isEmpty, "routes that nobody has named")
        }
        try demand(
            routes.count == reader.settings.routes.count, "\(routes.count) routes are \(reader.settings.routes.count)")
        for case .object(let route) in routes {
            guard case .text(let path)? = route["path"] else { continue }
            var host: String?
            if case .list(let hosts)? = route["hosts"], case .text(let first)? = hosts.first { host = first }
            try check(path, on: host, isOpen: route["open"] == .boolean(true), reader.settings)
        }
        let namesAll = routes.contains { route in
            guard case .object(let route) = route, case .text(let path)? = route["path"] else { return false }
            return path.prefix { $0 != "?" } == "/"
        }
        // Named after the input, which cannot hold its own digest.
        let unnamed = try SHA256Hasher.digest(input).hexadecimal
        if !namesAll { try check("/\(unnamed)/x", on: nil, isOpen: false, reader.settings) }
    }

    private func check(_ path: String, on host: String?, isOpen: Bool, _ settings: GateSettings) throws {
        let headers = [("X-Forwarded-Uri", path)] + (host.map { [("X-Forwarded-Host", $0)] } ?? [])
        let request = HTTPRequest(method: "GET", path: "/v1/authz/forward-auth", headers: headers)
        guard case .settled(let reply) = settings.gate.task(request, at: Timestamp(milliseconds: 0)) else {
            throw Violation(description: "a token is found where none was sent")
        }
        try demand((reply.answer.status == 200) == isOpen, "\(path) is answered with \(reply.code)")
    }
}
