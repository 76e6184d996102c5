internal import COpenSSL

/// A failure of libcrypto itself. It never says whether a signature is valid: an invalid signature is not an error.
package enum CryptoError: Error, Equatable, CustomStringConvertible {
    case libcrypto(String)

    package var description: String {
        switch self {
        case .libcrypto(let what): "libcrypto: \(what)"
        }
    }

    /// Empties this thread's libcrypto error queue after a failure that was expected.
    static func discardQueue() {
        ERR_clear_error()
    }

    /// Returns the reason that libcrypto queued last on this thread, and empties the queue.
    ///
    /// An entry left in the queue would be read as the reason of the next failure.
    package static func drainQueue() -> String {
        defer { discardQueue() }
        let code = ERR_peek_last_error()
        guard code != 0, let reason = ERR_reason_error_string(code) else { return "no reason given" }
        return String(cString: reason)
    }
}
