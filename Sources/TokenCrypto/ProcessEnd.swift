internal import COpenSSL

/// What libcrypto does when the process ends.
package enum ProcessEnd {
    /// Has libcrypto keep its state to the end of the process. Otherwise it frees it at exit, and a thread that is
    /// still inside of it, as one that reads keys again is, ends the process by SIGSEGV. Call this before anything else
    /// of libcrypto is used (OPENSSL_init_crypto(3), `OPENSSL_INIT_NO_ATEXIT`).
    package static func keepLibcrypto() { OPENSSL_init_crypto(UInt64(OPENSSL_INIT_NO_ATEXIT), nil) }
}
