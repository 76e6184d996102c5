internal import Foundation

/// A certificate that an authority has issued, as PEM, made by openssl.
package struct IssuedCertificate {
    package let directory: TemporaryDirectory
    package let key, certificate, authority: String

    package init() throws {
        directory = try TemporaryDirectory()
        let folder = directory.path
        let openssl = Program("openssl")
        func request(_ name: String, _ more: [String]) throws {
            try openssl.succeed(
                ["req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=\(name)", "-keyout", "\(folder)/\(name).key"]
                    + more)
        }
        try request("authority", ["-x509", "-days", "2", "-out", folder + "/authority.pem"])
        try request("leaf", ["-out", folder + "/request"])
        try openssl.succeed([
            "x509", "-req", "-in", folder + "/request", "-CA", folder + "/authority.pem", "-CAkey",
            folder + "/authority.key", "-set_serial", "7", "-days", "2", "-out", folder + "/leaf.pem",
        ])
        key = folder + "/leaf.key"
        certificate = try String(contentsOfFile: folder + "/leaf.pem", encoding: .utf8)
        authority = try String(contentsOfFile: folder + "/authority.pem", encoding: .utf8)
    }
}
