internal import Files
internal import Glibc
internal import PlaybackGrants
internal import TextEncodings

/// The kinds of grants, by their names on the command line and in the configuration.
package enum GrantKind: String, Sendable, CaseIterable {
    case akamai, cloudfront
    case secureLink = "secure-link"
    case cat
}

/// What makes a grant, as it is configured: names of files, not yet what is in them.
package struct GrantSettings: Sendable, Equatable {
    package var kind: GrantKind
    /// One of the two: where the key is.
    package var keyFile: String?
    package var keyEnvironment: String?
    package var keyID: String?
    package var keyPairID: String?
    package var saltFile: String?
    package var name: String?
    package var digest = "sha256"
    package var escapesEarly = false
    package var expression: String?
    package var ip: String?
    package var id: String?
    package var data: String?

    package init(_ kind: GrantKind) { self.kind = kind }

    /// The digests that a kind knows.
    package static func digests(_ kind: GrantKind) -> [String] {
        switch kind {
        case .akamai: AkamaiToken.Digest.allCases.map(\.rawValue)
        case .cloudfront: CloudFrontGrant.Digest.allCases.map(\.rawValue)
        case .secureLink, .cat: ["sha256"]
        }
    }

    func key() throws(GrantProblem) -> [UInt8] {
        if let keyFile { return try Self.line(ofFile: keyFile, "key-file") }
        let name = keyEnvironment ?? ""
        guard let value = getenv(name) else { throw GrantProblem("key-env", "'\(printable(name))' is not set") }
        return UnsafeBufferPointer(start: value, count: strlen(value)).map(UInt8.init(bitPattern:))
    }

    func salt() throws(GrantProblem) -> GrantSecret? {
        guard let saltFile else { return nil }
        let salt = try Self.line(ofFile: saltFile, "salt-file")
        guard !salt.isEmpty else { throw GrantProblem("salt-file", "\(saltFile) is empty; expected a salt") }
        return try GrantSecret(salt)
    }

    /// Without one line break at the end, which editors add.
    private static func line(ofFile path: String, _ field: String) throws(GrantProblem) -> [UInt8] {
        do {
            var bytes = try FileBytes.read(path == "-" ? "/dev/stdin" : path, limit: 65_536)
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            return bytes
        } catch {
            throw GrantProblem(field, "\(path) \(error)")
        }
    }
}
