internal import Basics
internal import TokenCrypto

/// The bytes of a key file that is not on this machine's disk, and their password.
package struct KeyBytes: Sendable {
    package let name: String
    package let bytes: [UInt8]
    package let password: String?

    /// - Parameters:
    ///   - name: the name of the file, which the key gets if it has no better one.
    ///   - password: the password of a PKCS#12 or JKS file; `nil` for the password of the other files.
    package init(name: String, bytes: [UInt8], password: String?) {
        (self.name, self.bytes, self.password) = (name, bytes, password)
    }
}

/// Reads key files and sorts their keys into accepted and refused.
struct KeyLoader {
    let password: String?
    let requirements: KeyRequirements
    let now: Timestamp

    private(set) var accepted: [VerificationKey] = []
    private(set) var refused: [RefusedKey] = []
    /// What accepted files have besides keys that may sign tokens.
    private(set) var leftOut: [RefusedKey] = []

    init(password: String?, requirements: KeyRequirements, now: Timestamp) {
        self.password = password
        self.requirements = requirements
        self.now = now
    }

    /// Loads a file, all of whose keys must be acceptable, or the acceptable keys of a directory.
    mutating func load(_ path: String) throws(KeyRingError) {
        let isDirectory: Bool
        do { isDirectory = try FileBytes.isDirectory(path) } catch {
            throw .unreadable(path: path, reason: "\(error)")
        }
        guard !isDirectory else {
            let files = try KeyRing.keyFiles(in: path)
            if files.isEmpty {
                leftOut.append(RefusedKey(file: path, reason: .leftOut("is a directory without a key file")))
            }
            for file in files { refused += loadFile(file) }
            return
        }
        try Self.requireNone(loadFile(path))
    }

    /// Counts keys as refused.
    mutating func refuse(_ keys: [RefusedKey]) { refused += keys }

    /// Accepts a key of this process without checking any requirement.
    mutating func unsafelyTrust(_ own: RSAPublicKey) {
        accepted.append(VerificationKey(own, file: "own key"))
    }

    /// Loads the bytes of a key file, all of whose keys must be acceptable.
    mutating func load(_ bytes: KeyBytes) throws(KeyRingError) {
        let file = Result { try read(bytes.bytes, bytes.password ?? password) }
        try Self.requireNone(accept(file, named: bytes.name))
    }

    /// Refuses a file of which a key was refused.
    private static func requireNone(_ problems: [RefusedKey]) throws(KeyRingError) {
        guard problems.isEmpty else { throw .refused(problems) }
    }

    /// Accepts the acceptable keys of a file, and returns the others.
    private mutating func loadFile(_ path: String) -> [RefusedKey] {
        accept(Result { try read(FileBytes.read(path, limit: KeyFile.sizeLimit), password) }, named: path)
    }

    private func read(_ bytes: [UInt8], _ password: String?) throws(KeyFileError) -> KeyFile {
        try KeyFile(reading: bytes, password: password, withIssuers: requirements.acceptsIssuers)
    }

    /// Accepts the acceptable keys of a file that was read, and returns the others.
    private mutating func accept(_ read: Result<KeyFile, any Error>, named name: String) -> [RefusedKey] {
        let file: KeyFile
        do { file = try read.get() } catch { return [RefusedKey(file: name, reason: .unreadable("\(error)"))] }
        guard !file.holdsPrivateKey else { return [RefusedKey(file: name, reason: .holdsPrivateKey(file))] }
        leftOut += file.leftOut.map { RefusedKey(file: name, reason: .leftOut($0)) }
        return file.entries.compactMap { entry in
            switch entry {
            case .key(let key): accept(VerificationKey(key, file: name))
            case .certificate(let certificate):
                accept(
                    VerificationKey(certificate, file: name, ignoresDates: requirements.ignoresCertificateDates))
            case .unusable(let error): RefusedKey(file: name, reason: .unreadable("\(error)"))
            }
        }
    }

    /// Accepts `key` if it meets the requirements, and returns the reason if it does not. A key that occurs twice is
    /// kept once.
    private mutating func accept(_ key: VerificationKey) -> RefusedKey? {
        if let refusal = requirements.refusal(of: key, at: now) { return refusal }
        if let known = accepted.firstIndex(where: { $0.publicKey.fingerprint == key.publicKey.fingerprint }) {
            accepted[known] = accepted[known].joined(with: key)
        } else {
            accepted.append(key)
        }
        return nil
    }
}

extension KeyRing {
    /// The key files of a directory, recognised by their extension, in order of their names.
    package static func keyFiles(in directory: String) throws(KeyRingError) -> [String] {
        let names: [String]
        do { names = try FileBytes.names(in: directory) } catch {
            throw .unreadable(path: directory, reason: "\(error)")
        }
        let isKeyFile = { (name: String) in
            KeyRing.fileExtensions.contains { !name.hasPrefix(".") && name.lowercased().hasSuffix("." + $0) }
        }
        return names.filter(isKeyFile).sorted().map { directory.hasSuffix("/") ? directory + $0 : "\(directory)/\($0)" }
    }
}
