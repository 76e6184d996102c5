public import Basics
package import TokenCrypto

/// The keys that tokens may be signed with. They are loaded and checked once, at start.
///
/// A key ring is not empty when it was loaded. It is if all of its keys were withdrawn, and then verifies nothing.
public struct KeyRing: Sendable {
    /// The extensions by which key files in a directory are recognised; other files in it are ignored.
    public static let fileExtensions = ["pem", "der", "crt", "cer", "pub", "p12", "pfx", "jks"]

    /// The loaded keys, without duplicates.
    public private(set) var keys: [VerificationKey]
    /// Keys that were found in a directory but not loaded, each with the reason. Show them as a warning.
    public let refused: [RefusedKey]
    /// What loaded files have besides keys, each with the reason why it was left out: an issuer's certificate above
    /// all. Show them as a warning.
    public let leftOut: [RefusedKey]
    private let requirements: KeyRequirements

    /// Loads the keys of a file or of a directory.
    ///
    /// - Parameters:
    ///   - path: a file, or a directory whose key files are recognised by their extension (``fileExtensions``).
    ///   - minimumRSABits: the shortest modulus accepted, in bits.
    ///   - password: the password of PKCS#12 and JKS files.
    /// - Throws: ``KeyRingError``, above all if no key is usable.
    public init(
        loading path: String, minimumRSABits: Int = 2048, password: String? = nil
    ) throws(KeyRingError) {
        try self.init(
            loading: [path], password: password, requirements: KeyRequirements(minimumRSABits: minimumRSABits))
    }

    /// Loads the keys of several files and directories.
    ///
    /// A file named in `paths` must be acceptable as a whole. In a directory, unacceptable keys are left out and listed
    /// in ``refused``.
    ///
    /// - Parameters:
    ///   - paths: files, and directories whose key files are recognised by their extension (``fileExtensions``).
    ///   - password: the password of all PKCS#12 and JKS files.
    ///   - requirements: the requirements that each key must meet.
    ///   - now: the time at which certificates must be valid.
    /// - Throws: ``KeyRingError``, above all if no key is usable.
    public init(
        loading paths: [String], password: String? = nil, requirements: KeyRequirements = KeyRequirements(),
        at now: Timestamp = .now
    ) throws(KeyRingError) {
        try self.init(loading: paths, unsafelyTrusting: nil, password: password, requirements: requirements, at: now)
    }

    /// Loads keys as the public initializer does, and those of `files`; adds `own` without checking any requirement: a
    /// load test signs its own tokens.
    package init(
        loading paths: [String], and files: [KeyBytes] = [], unsafelyTrusting own: RSAPublicKey?,
        password: String? = nil, requirements: KeyRequirements, at now: Timestamp = .now
    ) throws(KeyRingError) {
        var loader = KeyLoader(password: password, requirements: requirements, now: now)
        if let own { loader.unsafelyTrust(own) }
        for file in files { try loader.load(file) }
        for path in paths { try loader.load(path) }
        guard !loader.accepted.isEmpty else {
            throw .noKeys(places: paths, refused: loader.refused + loader.leftOut)
        }
        (keys, refused, leftOut) = (loader.accepted, loader.refused, loader.leftOut)
        self.requirements = requirements
        do {
            _ = try SignatureWorkspace(keys: self)
        } catch {
            throw .libcrypto(error.message)
        }
    }
}

extension KeyRing {
    /// The usable and the refused keys of several files and directories, also if none is usable, and what was left out.
    ///
    /// - Throws: ``KeyRingError`` if a path cannot be opened.
    package static func survey(
        _ paths: [String], password: String?, requirements: KeyRequirements, at now: Timestamp = .now
    ) throws(KeyRingError) -> (usable: [VerificationKey], refused: [RefusedKey], leftOut: [RefusedKey]) {
        var (loader, refused) = (KeyLoader(password: password, requirements: requirements, now: now), [RefusedKey]())
        for path in paths {
            do throws(KeyRingError) { try loader.load(path) } catch .refused(let keys) { refused += keys }
        }
        return (loader.accepted, loader.refused + refused, loader.leftOut)
    }

    /// This ring without the keys that are gone. A key stays if a file has it, and if its own file is there and cannot
    /// be read, as while somebody writes it.
    ///
    /// - Parameters:
    ///   - paths: the files and directories that keys are loaded from now.
    ///   - unread: those of them that must not be opened, such as pipes.
    package func withdrawing(
        from paths: [String], except unread: [String], password: String?, requirements: KeyRequirements,
        at now: Timestamp = .now
    ) -> KeyRing {
        var (found, unreadable) = (Set<String>(), Set(unread))
        for path in paths where !unreadable.contains(path) {
            var loader = KeyLoader(password: password, requirements: requirements, now: now)
            do throws(KeyRingError) { try loader.load(path) } catch {
                if case .refused(let refused) = error { loader.refuse(refused) } else { unreadable.insert(path) }
            }
            found.formUnion(loader.accepted.map(\.fingerprint))
            unreadable.formUnion(loader.refused.filter(\.isUnreadable).map(\.file))
        }
        let kept = keys.filter { key in
            if found.contains(key.fingerprint) { return true }
            let folder = key.file.lastIndex(of: "/").map { String(key.file[..<$0]) } ?? ""
            let isUnread = [key.file, folder, folder + "/"].contains(where: unreadable.contains)
            return isUnread && !FileBytes.isGone(key.file)
        }
        return keeping(kept)
    }

    /// This ring without the keys whose files are gone, wherever else they may be.
    package func withoutFilesGone() -> KeyRing { keeping(keys.filter { !FileBytes.isGone($0.file) }) }

    private func keeping(_ kept: [VerificationKey]) -> KeyRing {
        var ring = self
        ring.keys = kept
        return ring
    }

    /// The refused files that `earlier` has a key of and this ring has none of: each was damaged, or replaced by
    /// mistake.
    ///
    /// A key of `earlier` does not count if this ring would refuse it too, as that of a certificate that has expired
    /// since.
    package func refusals(ofFilesIn earlier: KeyRing, at now: Timestamp = .now) -> [RefusedKey] {
        let before = Set(earlier.keys.filter { requirements.refusal(of: $0, at: now) == nil }.map(\.file))
        let loaded = Set(keys.map(\.file))
        return refused.filter { before.contains($0.file) && !loaded.contains($0.file) }
    }
}
