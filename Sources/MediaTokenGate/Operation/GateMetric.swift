/// The metrics that the gate has at `/metrics`. What is declared here is in their `# HELP` lines, and on the page on
/// monitoring.
package enum GateMetric: String, CaseIterable {
    case verdicts = "media_token_verdicts_total"
    case wouldBe = "media_token_would_be_total"
    case verdictSeconds = "media_token_verdict_seconds"
    case grants = "media_token_grants_total"
    case groupTokens = "media_token_group_tokens"
    case storeSeconds = "media_token_store_seconds"
    case storeUp = "media_token_store_up"
    case serverUp = "media_token_store_server_up"
    case storeErrors = "media_token_store_errors_total"
    case fence = "media_token_store_fence_timestamp_seconds"
    case entries = "media_token_replay_entries"
    case statement = "media_token_replay_statement"
    case connections = "media_token_connections"
    case acceptPauses = "media_token_accept_pauses_total"
    case unfinishedClosed = "media_token_unfinished_closed_total"
    case logLost = "media_token_log_lost_total"
    case reloadSuccessful = "media_token_config_last_reload_successful"
    case reloadTime = "media_token_config_last_reload_success_timestamp_seconds"
    case keyExpiry = "media_token_key_expiry_timestamp_seconds"
    case keysRefused = "media_token_keys_refused"
    case certificateExpiry = "media_token_tls_certificate_expiry_timestamp_seconds"
    case build = "media_token_build_info"
    case processCPU = "process_cpu_seconds_total"
    case processMemory = "process_resident_memory_bytes"
    case processVirtualMemory = "process_virtual_memory_bytes"
    case processDescriptors = "process_open_fds"
    case processMostDescriptors = "process_max_fds"
    case processStart = "process_start_time_seconds"

    /// What is declared of a metric: its kind, its labels, to which a histogram adds `le`, and what its samples are, in
    /// one sentence.
    struct Declaration {
        let kind: MetricFamily.Kind
        let labels: [String]
        let help: String

        init(_ kind: MetricFamily.Kind, _ help: String, _ labels: [String] = []) {
            (self.kind, self.labels, self.help) = (kind, labels, help)
        }
    }

    var declaration: Declaration {
        switch self {
        case .verdicts:
            Declaration(.counter, "Answers, also those whose client had gone.", ["code", "requestor", "endpoint"])
        case .wouldBe:
            Declaration(
                .counter, "Requests that a gate which only reports has allowed, by the code that would refuse them.",
                ["would_be", "requestor", "endpoint"])
        case .verdictSeconds:
            Declaration(
                .histogram, "Time from the event-loop iteration that brought a request to its answer.", ["endpoint"])
        case .grants: Declaration(.counter, "Requests that a playback grant opened, by the ID of its key.", ["key"])
        case .groupTokens: Declaration(.histogram, "Tokens whose signatures were verified together.")
        case .storeSeconds:
            Declaration(.histogram, "Time that the replay store took to decide the claims of a group of tokens.")
        case .storeUp:
            Declaration(.gauge, "1 if the replay store answers now, 0 if it does not, so that no token is accepted.")
        case .serverUp:
            Declaration(
                .gauge, "1 if a server of a quorum can be relied on, 0 if it cannot; absent without a quorum.",
                ["server"])
        case .storeErrors: Declaration(.counter, "Requests left undecided because the replay store failed.")
        case .fence:
            Declaration(
                .gauge,
                "The time up to which the replay store rejects tokens, in seconds since 1970; absent without a fence.")
        case .entries: Declaration(.gauge, "Used tokens that the replay store remembers; absent for Redis.")
        case .statement:
            Declaration(
                .gauge, "Always 1: what the operator states about the replay store, which the store relies on.",
                ["statement"])
        case .connections: Declaration(.gauge, "Connections that are open.")
        case .acceptPauses:
            Declaration(.counter, "Times accepting connections paused for 0.5 s for lack of a file descriptor.")
        case .unfinishedClosed:
            Declaration(.counter, "Connections closed because unfinished requests exceeded max-unfinished-bytes.")
        case .logLost: Declaration(.counter, "Log lines dropped.")
        case .reloadSuccessful:
            Declaration(
                .gauge,
                "1 if the last reload by a signal (cause signal), or after a change of files (cause files), took effect, or there was none; 0 if it failed and changed nothing.",
                ["cause"])
        case .reloadTime: Declaration(.gauge, "When settings and files were last loaded, in seconds since 1970.")
        case .keyExpiry:
            Declaration(
                .gauge, "When each loaded key's certificate ends, in seconds since 1970; +Inf for a bare key.",
                ["key", "fingerprint"])
        case .keysRefused:
            Declaration(.gauge, "Key files that were left out when keys were last loaded; a warning has said why.")
        case .certificateExpiry:
            Declaration(.gauge, "When the gate's own certificate ends, in seconds since 1970; absent without TLS.")
        case .build:
            Declaration(
                .gauge,
                "Always 1: the version, what verifies signatures, a hash of settings and verification keys, the same on gates that are configured alike, and what the gate only reports on: none, routes or all.",
                ["version", "signatures", "configuration", "report_only"])
        case .processCPU: Declaration(.counter, "Processor time that the process used, in seconds.")
        case .processMemory: Declaration(.gauge, "Memory of the process that is in RAM, in bytes.")
        case .processVirtualMemory: Declaration(.gauge, "Address space of the process, in bytes.")
        case .processDescriptors: Declaration(.gauge, "File descriptors that are open.")
        case .processMostDescriptors: Declaration(.gauge, "File descriptors that the process may have open.")
        case .processStart: Declaration(.gauge, "When the gate started, in seconds since 1970.")
        }
    }

    /// The table of the page on monitoring, in Markdown.
    package static var page: String {
        let rows = allCases.map { metric in
            let declaration = metric.declaration
            let labels = declaration.labels.map { "`\($0)`" }.joined(separator: ", ")
            return "| `\(metric.rawValue)` | \(declaration.kind.rawValue) | \(labels) | \(declaration.help) |"
        }
        return (["| name | kind | labels | what it is |", "| --- | --- | --- | --- |"] + rows).joined(separator: "\n")
    }
}
