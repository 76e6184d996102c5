internal import Basics
package import EventLoops
package import HTTP
internal import MediaToken
package import ReplayStores
internal import Synchronization

/// Answers operators' requests for health, readiness, metrics and the description of the API, on a separate listener.
package struct GateAdmin: Sendable {
    private let service: GateService
    private let store: ConfiguredReplayStore
    private let ready: StoreReadiness
    private let metrics: GateMetrics
    private let connections: @Sendable () -> Int
    private let tls: @Sendable () -> TLSServer?
    private let version: String
    /// The description of the API.
    private let description: [UInt8]

    package init(
        _ service: GateService, store: ConfiguredReplayStore, ready: StoreReadiness, metrics: GateMetrics,
        version: String,
        connections: @escaping @Sendable () -> Int, tls: @escaping @Sendable () -> TLSServer?
    ) {
        (self.service, self.store, self.ready) = (service, store, ready)
        (self.metrics, self.version) = (metrics, version)
        (self.connections, self.tls) = (connections, tls)
        description = Array(OpenAPIDescription.document(version: version).utf8)
    }

    /// The paths that it serves.
    static let paths: [StaticString] = ["/healthz", "/readyz", "/readyz/streams", "/metrics", "/openapi.json"]

    /// Answers synchronously, and may block until the store's deadline: the admin event loop serves no other requests.
    package func handle(_ exchanges: [HTTPExchange]) {
        for exchange in exchanges {
            switch exchange.request.path {
            case let path where path.isSame(as: "/healthz"): exchange.answer(Self.text(200, "alive\n"))
            case let path where path.isSame(as: "/readyz"): exchange.answer(readiness)
            // Grants and open routes need no store.
            case let path where path.isSame(as: "/readyz/streams"):
                exchange.answer(ready.isStopping ? Self.stopping : Self.text(200, "ready\n"))
            case let path where path.isSame(as: "/metrics"): exchange.answer(Self.text(200, metricsText))
            case let path where path.isSame(as: "/openapi.json"):
                exchange.answer(HTTPAnswer(200, type: "application/json", body: description))
            default:
                exchange.answer(
                    Self.text(404, "expected one of \(Self.paths.map(\.description).joined(separator: ", "))\n"))
            }
        }
    }

    private var readiness: HTTPAnswer {
        guard !ready.isStopping else { return Self.stopping }
        let reportOnly = service.reportOnly
        let warnings = (store.warnings + reportOnly.warnings).map { "warning: \($0)\n" }.joined()
        switch ready.ask(store) {
        case .ready:
            let servers = ready.servers.compactMap(\.problem).map { "warning: \($0)\n" }.joined()
            return Self.text(200, "ready\n" + servers + warnings)
        // A gate that only reports allows the requests that it cannot decide.
        case .failed(let error) where reportOnly.isForAll:
            return Self.text(200, "ready\n\(warnings)warning: \(error)\n")
        case .failed(let error): return Self.text(503, "\(error)\n")
        case .fenced(let seconds):
            var answer = Self.text(
                503,
                "fenced, \(seconds) s left: until then the gate rejects every token as TOKEN_PREDATES_STORE, because "
                    + "\(store.fenceCause)\n")
            answer.addRetry(after: seconds)
            return answer
        }
    }

    private var metricsText: String {
        let isStoreUp = if case .failed = ready.ask(store) { false } else { true }
        var families =
            metrics.families + [
                MetricFamily(.storeUp, isStoreUp ? 1 : 0),
                MetricFamily(.connections, connections()),
                MetricFamily(.acceptPauses, HTTPServer.acceptPauses.load(ordering: .relaxed)),
                MetricFamily(.unfinishedClosed, HTTPServer.unfinishedClosed.load(ordering: .relaxed)),
                MetricFamily(.logLost, service.lostLogLines), keys,
                MetricFamily(.keysRefused, service.keys.refused.count),
            ]
        if let tls = tls() { families.append(MetricFamily(.certificateExpiry, tls.end)) }
        if let fence = ready.fence { families.append(MetricFamily(.fence, fence.seconds)) }
        if let entries = store.entries { families.append(MetricFamily(.entries, entries)) }
        if isStoreUp, !ready.servers.isEmpty {
            var family = MetricFamily(.serverUp)
            for server in ready.servers { family.add(server.problem == nil ? 1 : 0, [server.name]) }
            families.append(family)
        }
        if !store.statements.isEmpty {
            var family = MetricFamily(.statement)
            for statement in store.statements { family.add(1, [statement]) }
            families.append(family)
        }
        var build = MetricFamily(.build)
        build.add(1, [version, SignatureEngine.name, service.configurationHash, service.reportOnly.label])
        return (families + [build] + ProcessMetrics.families).map(\.text).joined()
    }

    private var keys: MetricFamily {
        var family = MetricFamily(.keyExpiry)
        for key in service.keys.keys {
            let end = key.validity.map { "\($0.upperBound.wholeSeconds)" } ?? "+Inf"
            family.add(end, [key.name, key.fingerprint])
        }
        return family
    }

    private static let stopping = text(503, "stopping\n")

    private static func text(_ status: Int, _ body: String) -> HTTPAnswer {
        HTTPAnswer(status, type: "text/plain; version=0.0.4; charset=utf-8", body: Array(body.utf8))
    }
}
