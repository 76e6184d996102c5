internal import Basics
internal import Glibc
package import PlaybackGrants

/// The configured settings of a playback grant. They only name the secrets; ``load()`` reads them.
package struct GrantConfiguration: Sendable, Equatable {
    package var kind: GrantKind
    /// The files with the grant keys, of which the first makes grants. They are empty if ``keyEnvironment`` is set.
    package var keyFiles: [String] = []
    /// The environment variable with the grant key.
    package var keyEnvironment: String?
    /// The settings that are specific to the kind of grant.
    package var values = GrantValues()

    package init(_ kind: GrantKind) { self.kind = kind }

    /// The files with the grant keys and the other secrets.
    package var secretFiles: [String] { keyFiles + otherSecrets.map(\.path) }

    /// What rules out the number of keys or of their IDs; `nil` if nothing does.
    package var keyProblem: GrantError? {
        let takesSeveral = kind.takesSeveralKeys
        guard takesSeveral || keyFiles.count < 2 else {
            return GrantError(
                "key-file",
                "has \(keyFiles.count) files; expected one, as a grant of the kind \(kind.name) names no key, and only the "
                    + "first would be used")
        }
        let (keys, names) = (max(1, keyFiles.count), values.all("key-id").count)
        guard takesSeveral, names != keys, names > 0 || keys > 1 else { return nil }
        return GrantError(
            "key-id",
            "has \(names) for \(keys) keys; expected one for each, in the order of key-file, and media-token for a key that had none"
        )
    }

    /// These settings with those of their key files alone that still have the secrets that were read from them; `nil`
    /// if no key is left, or another secret is gone. A file that is there and cannot be read has them.
    ///
    /// - Parameters:
    ///   - named: The settings of the grant now.
    ///   - secrets: What was read from each file.
    func withdrawing(by named: GrantConfiguration?, _ secrets: [String: [UInt8]]) -> GrantConfiguration? {
        func isThere(_ path: String) -> Bool {
            guard named?.secretFiles.contains(path) == true, !FileBytes.isGone(path) else { return false }
            guard let bytes = try? FileBytes.read(path, limit: 65_536, onlyRegular: true) else { return true }
            return FileBytes.withoutLastLineBreak(bytes) == secrets[path]
        }
        var left = self
        let kept = keyFiles.indices.filter { isThere(keyFiles[$0]) }
        left.keyFiles = kept.map { keyFiles[$0] }
        let names = values.all("key-id")
        if names.count == keyFiles.count, !names.isEmpty { left.values.set("key-id", to: kept.map { names[$0] }) }
        let hasKey = keyFiles.isEmpty ? named?.keyEnvironment == keyEnvironment : !kept.isEmpty
        return hasKey && otherSecrets.allSatisfy({ isThere($0.path) }) ? left : nil
    }

    /// The name of the setting that refers to a further secret file, with the path of this file, if it is given.
    private var otherSecrets: [(name: String, path: String)] {
        kind.secretFile.flatMap { name in values[name].map { [(name, $0)] } } ?? []
    }

    /// Reads the grant keys and the other secrets.
    ///
    /// - Parameter read: Reads the secret in a file, which a setting names.
    package func load(
        _ read: (_ path: String, _ setting: String) throws(GrantError) -> [UInt8] = GrantConfiguration.line
    ) throws(GrantError) -> any GrantScheme {
        if let keyProblem { throw keyProblem }
        var values = values
        for (name, path) in otherSecrets { values.setSecret(name, to: try read(path, name)) }
        guard !keyFiles.isEmpty else {
            let name = keyEnvironment ?? ""
            return try scheme(values, with: [try Self.key(ofEnvironment: name)], "key-env", name)
        }
        let keys = try keyFiles.map { (path) throws(GrantError) in try read(path, "key-file") }
        // First each key alone, so that a fault is reported with the file that has it.
        for (position, key) in keys.enumerated() where keys.count > 1 {
            var one = values
            one.set("key-id", to: [values.all("key-id")[position]])
            _ = try scheme(one, with: [key], "key-file", keyFiles[position])
        }
        return try scheme(values, with: keys, "key-file", keyFiles.joined(separator: ", "))
    }

    /// - Parameters:
    ///   - setting: The setting that names the keys.
    ///   - place: The file or environment variable that has the keys.
    private func scheme(
        _ values: GrantValues, with keys: [[UInt8]], _ setting: String, _ place: String
    ) throws(GrantError) -> any GrantScheme {
        var values = values
        values.keys = keys
        do throws(GrantError) { return try kind.scheme(values) } catch {
            guard error.field == "key" else { throw error }
            throw GrantError(setting, "\(printable(place, limit: 300)) \(error.reason)")
        }
    }

    private static func key(ofEnvironment name: String) throws(GrantError) -> [UInt8] {
        guard let value = getenv(name) else { throw GrantError("key-env", "'\(printable(name))' is not set") }
        return UnsafeBufferPointer(start: value, count: strlen(value)).map(UInt8.init(bitPattern:))
    }

    /// The content of a file, without the final line break that editors add.
    package static func line(ofFile path: String, _ field: String) throws(GrantError) -> [UInt8] {
        do {
            return FileBytes.withoutLastLineBreak(try FileBytes.read(path == "-" ? "/dev/stdin" : path, limit: 65_536))
        } catch {
            throw GrantError(field, "\(path) \(error)")
        }
    }
}
