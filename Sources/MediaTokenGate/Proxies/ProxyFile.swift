internal import Basics
internal import HTTP
internal import PlaybackGrants
internal import StreamPaths

/// A proxy's whole configuration file for one gate, made from the gate's settings.
package enum ProxyFile: String, CaseIterable {
    case nginx, caddy, haproxy, haproxyScript = "haproxy-lua", envoy, traefik

    private var template: [UInt8] {
        switch self {
        case .nginx: PackageResources.nginx_conf
        case .caddy: PackageResources.Caddyfile
        case .haproxy: PackageResources.haproxy_cfg
        case .haproxyScript: PackageResources.haproxy_lua
        case .envoy: PackageResources.envoy_yaml
        case .traefik: PackageResources.traefik_yaml
        }
    }

    /// Why the gate prints no file.
    package enum Problem: Error, CustomStringConvertible {
        case noAddress
        case path(String)

        package var description: String {
            switch self {
            case .noAddress: "listen has no address with a port and without TLS; expected one for the proxy to ask"
            case .path(let path):
                "the dialect's path '\(printable(path))' has characters that proxies' files give a meaning; expected letters, digits and any of /._~-"
            }
        }
    }

    /// The file for a gate.
    ///
    /// In a template, a line that begins with `?own` or `?renew` is for gates that have paths of their own to be passed
    /// on, or that renew grants. A word in braces is replaced, unless it is none of these.
    package func text(for settings: GateSettings) throws(Problem) -> String {
        guard let gate = Self.address(of: settings) else { throw .noAddress }
        let own = settings.ownPaths
        if let path = own.first(where: { !$0.utf8.allSatisfy { $0.isLetterOrDigit || "/._~-".utf8.contains($0) } }) {
            throw .path(path)
        }
        let hosts = Set(settings.routes.flatMap(\.hosts).map(\.name)).sorted()
        let isRenewing = settings.routes.contains { $0.grantSettings?.maker.values["renew"] != nil }
        let values = [
            "gate": gate.text, "gate-host": gate.host, "gate-port": "\(gate.port)",
            "hosts": hosts.isEmpty ? "_" : hosts.joined(separator: " "),
            "http-sites": sites(hosts, "http", port: 80), "https-sites": sites(hosts, "https", port: 443),
            "domains": hosts.isEmpty ? "\"*\"" : hosts.map { "\"\($0)\"" }.joined(separator: ", "),
            "host-rule": hosts.isEmpty ? "PathPrefix(`/`)" : hosts.map { "Host(`\($0)`)" }.joined(separator: " || "),
            "own": own.map(spelled).joined(separator: self == .nginx || self == .envoy ? "|" : " "),
            "path-rule": own.map { "Path(`\($0)`)" }.joined(separator: " || "),
            "fields": settings.sources.fields.map { "\"\($0)\"" }.joined(separator: ", "),
            "patterns": settings.sources.fields.map { "{exact: \($0)}" }.joined(separator: ", "),
            "unless-own": own.isEmpty ? "" : " unless own", "not-own": own.isEmpty ? "" : " !own",
            "or-own": own.isEmpty ? "" : " own ||",
        ]
        let kept = ["?own ": !own.isEmpty, "?renew ": isRenewing]
        let lines = String(decoding: template, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.compactMap { line -> String? in
            guard let mark = kept.first(where: { line.hasPrefix($0.key) }) else { return String(line) }
            return mark.value ? String(line.dropFirst(mark.key.count)) : nil
        }.map { line in values.reduce(line) { $0.replacing("{\($1.key)}", with: $1.value) } }
            .joined(separator: "\n").trimmingLastNewline
    }

    /// The addresses of Caddy's sites for these hosts; those of this host if there are none.
    private func sites(_ hosts: [String], _ scheme: String, port: Int) -> String {
        (hosts.isEmpty ? ["127.0.0.1"] : hosts).map { "\(scheme)://\($0):\(port)" }.joined(separator: ", ")
    }

    /// A path as an alternative of a regular expression, where the proxy takes one.
    private func spelled(_ path: String) -> String {
        self == .nginx || self == .envoy ? path.replacing(".", with: self == .envoy ? "\\\\." : "\\.") : path
    }

    /// The first address that is served in clear text; a wildcard is this host's own address.
    private static func address(of settings: GateSettings) -> (text: String, host: String, port: UInt16)? {
        for listener in settings.listen where !listener.isTLS {
            guard case .tcp(let host, let port) = listener.socketOfThisHost else { continue }
            return (HTTPListener(.tcp(host: host, port: port)).description, host, port)
        }
        return nil
    }
}

extension GateSettings {
    /// The paths at which apps ask the gate itself, so that a proxy passes them on.
    fileprivate var ownPaths: [String] {
        let exchanges = routes.contains { $0.grantSettings != nil }
        return (exchanges ? [GateEndpoint.play.path.description] : []) + Set(dialects.map(\.path)).sorted()
    }
}

extension TokenSources {
    /// The header fields of a client's request that the gate has to get, in lower case.
    fileprivate var fields: [String] {
        [
            header, bearer ? GateField.authorization.description : nil, GateField.cookie.description,
            GateField.grant.description,
        ].compactMap { $0?.lowercased() }
    }
}

extension String {
    fileprivate var trimmingLastNewline: String { hasSuffix("\n") ? String(dropLast()) : self }
}
