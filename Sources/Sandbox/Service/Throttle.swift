internal import Basics

/// Adobe's throttle: a client address may make one call per second, and ten more at first. It answers the calls of the
/// example on Adobe's page "Throttling mechanism" as that page does.
struct Throttle {
    /// The calls that an address may make at once: that of the first second, and ten more.
    private static let capacity = 11.0
    private static let callsPerSecond = 1.0

    /// Counts a call, and tells whether it is one too many.
    static func refuses(_ call: PassCall, _ state: inout SandboxState) -> Bool {
        var calls = capacity
        if let last = state.allowances.value(call.address, at: call.now)?.value {
            let seconds = Double(call.now.milliseconds(since: last.at)) / 1000
            calls = min(capacity, last.calls + max(0, seconds) * callsPerSecond)
        }
        let isRefused = calls < 1
        // After this time the bucket is full again, and need not be remembered.
        let end = call.now.advanced(byMilliseconds: Int64(capacity / callsPerSecond * 1000))
        state.allowances.set(call.address, (isRefused ? calls : calls - 1, call.now), until: end, at: call.now)
        return isRefused
    }

    /// The answer to a call too many: HTML, where everything else is JSON.
    static var answer: SandboxAnswer { .html(429, "<html><body><h1>429 Too Many Requests</h1>Sandbox</body></html>\n") }
}
