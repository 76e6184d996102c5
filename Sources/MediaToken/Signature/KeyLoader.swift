internal import Files
internal import FoundationEssentials
internal import Timestamps
internal import TokenCrypto

/// Reads key files and sorts their keys into accepted and refused.
struct KeyLoader {
    let password: String?
    let requirements: KeyRequirements
    let now: Timestamp

    private(set) var accepted: [VerificationKey] = []
    private(set) var refused: [RefusedKey] = []

    init(password: String?, requirements: KeyRequirements, now: Timestamp) {
        self.password = password
        self.requirements = requirements
        self.now = now
    }

    /// Loads a file, all of whose keys must be acceptable, or the acceptable keys of a directory.
    mutating func load(_ path: String) throws(KeyRingError) {
        var isDirectory = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            throw .unreadable(path: path, reason: "there is no such file or directory")
        }
        guard !isDirectory else {
            for file in try KeyRing.keyFiles(in: path) { refused += loadFile(file, onlyRegular: true) }
            return
        }
        let problems = loadFile(path, onlyRegular: false)
        guard problems.isEmpty else { throw .refused(problems) }
    }

    /// Accepts a key of this process without checking any requirement.
    mutating func unsafelyTrust(_ own: RSAPublicKey) {
        accepted.append(VerificationKey(own, file: "own key"))
    }

    /// Accepts the acceptable keys of a file, and returns the others.
    ///
    /// - Parameter onlyRegular: Whether pipes and devices are refused, of which somebody may put one into a folder.
    private mutating func loadFile(_ path: String, onlyRegular: Bool) -> [RefusedKey] {
        let file: KeyFile
        do {
            file = try KeyFile(
                reading: FileBytes.read(path, limit: KeyFile.sizeLimit, onlyRegular: onlyRegular), password: password)
        } catch {
            return [RefusedKey(file: path, reason: .unreadable("\(error)"))]
        }
        guard !file.holdsPrivateKey else { return [RefusedKey(file: path, reason: .holdsPrivateKey)] }
        return file.entries.compactMap { entry in
            switch entry {
            case .key(let key): accept(VerificationKey(key, file: path))
            case .certificate(let certificate):
                accept(
                    VerificationKey(certificate, file: path, ignoresDates: requirements.ignoresCertificateDates))
            case .unusable(let error): RefusedKey(file: path, reason: .unreadable("\(error)"))
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
        do {
            names = try FileManager.default.contentsOfDirectory(atPath: directory)
        } catch {
            throw .unreadable(path: directory, reason: "cannot be listed; check its permissions")
        }
        let isKeyFile = { (name: String) in
            KeyRing.fileExtensions.contains { !name.hasPrefix(".") && name.lowercased().hasSuffix("." + $0) }
        }
        return names.filter(isKeyFile).sorted().map { directory.hasSuffix("/") ? directory + $0 : "\(directory)/\($0)" }
    }
}
