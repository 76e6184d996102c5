internal import Files
internal import Glibc
package import PlaybackGrants
internal import TextEncodings

/// The configured settings of a playback grant. They only name the secrets; ``load()`` reads them.
package struct GrantSettings: Sendable, Equatable {
    package var kind: GrantKind
    /// The file with the grant key. Exactly one of this and ``keyEnvironment`` is set.
    package var keyFile: String?
    /// The environment variable with the grant key.
    package var keyEnvironment: String?
    /// The settings that are specific to the kind of grant.
    package var values = GrantValues()

    package init(_ kind: GrantKind) { self.kind = kind }

    /// The files with the grant key and the other secrets.
    package var secretFiles: [String] { [keyFile].compactMap(\.self) + otherSecrets.map(\.path) }

    /// The names of the settings that refer to other secret files, with the paths of these files.
    private var otherSecrets: [(name: String, path: String)] {
        kind.scheme.settings.compactMap { setting in
            guard case .secretFile = setting.value else { return nil }
            return values[setting.name].map { (setting.name, $0) }
        }
    }

    /// Reads the grant key and the other secrets.
    package func load() throws(GrantError) -> any GrantScheme {
        var values = values
        values.key = try key()
        for (name, path) in otherSecrets { values.setSecret(name, to: try Self.line(ofFile: path, name)) }
        do throws(GrantError) { return try kind.scheme.init(values) } catch {
            guard error.field == "key" else { throw error }
            throw GrantError(
                keyFile == nil ? "key-env" : "key-file", "\(printable(keyFile ?? keyEnvironment ?? "")) \(error.reason)"
            )
        }
    }

    private func key() throws(GrantError) -> [UInt8] {
        if let keyFile { return try Self.line(ofFile: keyFile, "key-file") }
        let name = keyEnvironment ?? ""
        guard let value = getenv(name) else { throw GrantError("key-env", "'\(printable(name))' is not set") }
        return UnsafeBufferPointer(start: value, count: strlen(value)).map(UInt8.init(bitPattern:))
    }

    /// The content of a file, without the final line break that editors add.
    private static func line(ofFile path: String, _ field: String) throws(GrantError) -> [UInt8] {
        do {
            var bytes = try FileBytes.read(path == "-" ? "/dev/stdin" : path, limit: 65_536)
            if bytes.last == UInt8(ascii: "\n") { bytes.removeLast() }
            return bytes
        } catch {
            throw GrantError(field, "\(path) \(error)")
        }
    }
}
