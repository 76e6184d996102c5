internal import COpenSSL

/// libcrypto could not do what it was asked. Never says whether a signature is good: a bad one is not an error.
package enum CryptoError: Error, Equatable, CustomStringConvertible {
    case libcrypto(String)

    package var description: String {
        switch self {
        case .libcrypto(let what): "libcrypto: \(what)"
        }
    }

    /// Empties this thread's error queue after a failure that was expected.
    static func discardQueue() {
        ERR_clear_error()
    }

    /// The reason that libcrypto queued last on this thread, and an empty queue.
    ///
    /// An entry left behind would be read as the reason of whatever fails next.
    package static func drainQueue() -> String {
        defer { discardQueue() }
        let code = ERR_peek_last_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return "no reason given" }
        return String(cString: reason)
    }
}
