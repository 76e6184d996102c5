internal import CLibSSL

/// The library that connections over TLS use.
package enum TLSLibrary {
    /// The version of OpenSSL that the process runs with, as the library names it.
    package static var version: String { String(cString: OpenSSL_version(OPENSSL_VERSION)) }
}
