internal import Foundation

/// An authority of a test, and the certificates that it has signed, as files of PEM.
package final class TestAuthority {
    package struct Certificate {
        package let file: String
        package let key: String
    }

    private let directory: TemporaryDirectory
    private let own: Certificate
    private var count = 0

    package init() throws {
        directory = try TemporaryDirectory()
        own = Certificate(file: directory.path + "/authority.pem", key: directory.path + "/authority.key")
        try Program("openssl").succeed(
            ["req", "-x509", "-subj", "/CN=authority", "-days", "1", "-out", own.file] + Self.newKey(own.key))
    }

    /// The file of the authority's own certificate.
    package var file: String { own.file }

    /// Makes a key and a certificate for it.
    ///
    /// - Parameters:
    ///   - names: the alternative names, such as `DNS:host` or `IP:127.0.0.1`; none without it.
    ///   - isExpired: whether the certificate ended yesterday.
    package func certificate(
        _ subject: String, names: String? = "DNS:localhost", isExpired: Bool = false
    ) throws -> Certificate {
        count += 1
        let place = "\(directory.path)/\(count)"
        try Program("openssl").succeed(
            ["req", "-new", "-subj", "/CN=\(subject)", "-out", place + ".csr"] + Self.newKey(place + ".key"))
        let extensions = try directory.write(
            names.map { "subjectAltName=\($0)" } ?? "basicConstraints=CA:FALSE", to: "\(count).ext")
        // OpenSSL 3.5 makes no certificate that ends before it begins.
        try Program("env").succeed(
            (isExpired ? ["faketime", "2 days ago"] : []) + [
                "openssl", "x509", "-req", "-in", place + ".csr", "-CA", own.file, "-CAkey", own.key, "-CAcreateserial",
                "-days", "1", "-extfile", extensions, "-out", place + ".pem",
            ])
        return Certificate(file: place + ".pem", key: place + ".key")
    }

    private static func newKey(_ file: String) -> [String] {
        ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", file]
    }
}
