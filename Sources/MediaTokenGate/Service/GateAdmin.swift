package import EventLoops
internal import HTTPMessages
package import HTTPServing
internal import MediaToken
package import ReplayStores
internal import Synchronization
internal import TextEncodings

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

    /// Answers synchronously, and may block until the store's deadline: the admin event loop serves no other requests.
    package func handle(_ exchanges: [HTTPExchange]) {
        for exchange in exchanges {
            switch exchange.request.path {
            case let path where path.isSame(as: "/healthz"): exchange.answer(text(200, "alive\n"))
            case let path where path.isSame(as: "/readyz"): exchange.answer(readiness)
            case let path where path.isSame(as: "/metrics"): exchange.answer(text(200, metricsText))
            case let path where path.isSame(as: "/openapi.json"):
                exchange.answer(HTTPAnswer(200, type: "application/json", body: description))
            default: exchange.answer(text(404, "expected /healthz, /readyz, /metrics or /openapi.json\n"))
            }
        }
    }

    private var readiness: HTTPAnswer {
        guard !ready.isStopping else { return text(503, "stopping\n") }
        let report = Result { () throws(ReplayStoreError) in try store.probe(at: .now) }
        switch ready.answer(to: report, at: .now) {
        case .ready: return text(200, "ready\n")
        case .failed(let error): return text(503, "\(error)\n")
        case .fenced(let seconds):
            var answer = text(
                503,
                "fenced, \(seconds) s left: until then the new replay store rejects every token as TOKEN_PREDATES_STORE\n"
            )
            answer.addRetry(after: seconds)
            return answer
        }
    }

    private var metricsText: String {
        var families =
            metrics.families + [
                MetricFamily("media_token_connections", .gauge, "Connections that are open.", connections()),
                MetricFamily(
                    "media_token_accept_pauses_total", .counter,
                    "Times accepting connections paused for 0.5 s for lack of a file descriptor.",
                    HTTPServer.acceptPauses.load(ordering: .relaxed)),
                MetricFamily(
                    "media_token_unfinished_closed_total", .counter,
                    "Connections closed because unfinished requests exceeded max-unfinished-bytes.",
                    HTTPServer.unfinishedClosed.load(ordering: .relaxed)),
                MetricFamily(
                    "media_token_log_lost_total", .counter, "Log lines dropped.",
                    service.lostLogLines),
                keys,
            ]
        if let tls = tls() {
            var family = MetricFamily(
                "media_token_tls_certificate_expiry_seconds", .gauge,
                "When the gate's own certificate ends, in seconds since 1970.")
            family.add(tls.end)
            families.append(family)
        }
        if let fence = ready.fence {
            var family = MetricFamily(
                "media_token_store_fence_timestamp_seconds", .gauge,
                "The time up to which the replay store rejects tokens, in seconds since 1970, as /readyz last saw it.")
            family.add(Double(fence.milliseconds) / 1000)
            families.append(family)
        }
        if let entries = store.entries {
            families.append(
                MetricFamily(
                    "media_token_replay_entries", .gauge, "Used tokens that the replay store remembers.", entries))
        }
        if !store.statements.isEmpty {
            var family = MetricFamily(
                "media_token_replay_statement", .gauge,
                "Always 1: what the operator states about the replay store, which the store relies on.")
            for statement in store.statements { family.add(1, ["statement": statement]) }
            families.append(family)
        }
        var build = MetricFamily("media_token_build_info", .gauge, "Always 1.")
        build.add(1, ["version": version, "signatures": SignatureEngine.name])
        return (families + [build]).map(\.text).joined()
    }

    private var keys: MetricFamily {
        var family = MetricFamily(
            "media_token_key_expiry_seconds", .gauge,
            "When each loaded key's certificate ends, in seconds since 1970; +Inf for a bare key.")
        for key in service.keys.keys {
            let end = key.validity.map { "\($0.upperBound.wholeSeconds)" } ?? "+Inf"
            family.add(end, ["key": key.name, "fingerprint": key.fingerprint])
        }
        return family
    }

    private func text(_ status: Int, _ body: String) -> HTTPAnswer {
        HTTPAnswer(status, type: "text/plain; version=0.0.4; charset=utf-8", body: Array(body.utf8))
    }
}
