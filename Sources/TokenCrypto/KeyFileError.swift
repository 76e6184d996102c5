internal import COpenSSL

/// Why a file's keys, or one of them, cannot be read. The text completes a line that begins with the file's name.
package enum KeyFileError: Error, Equatable, CustomStringConvertible {
    case empty
    /// The file has an unsupported format, or is damaged. The text says which and where.
    case malformed(String)
    case notRSA(found: String)
    case passwordMissing(KeyFile.Format)
    case passwordWrong(KeyFile.Format)
    case libcrypto(String)

    /// The refusal of another algorithm, by libcrypto's number for it.
    static func notRSA(_ algorithm: Int32) -> KeyFileError {
        let name = algorithm == NID_undef ? nil : OBJ_nid2sn(algorithm).map { String(cString: $0) }
        return .notRSA(found: name ?? "an unknown algorithm")
    }

    init(_ error: any Error) {
        switch error {
        case let error as KeyFileError: self = error
        case CryptoError.libcrypto(let what): self = .libcrypto(what)
        default: self = .libcrypto("\(error)")
        }
    }

    package var description: String {
        switch self {
        case .empty: "is empty; expected PEM, DER, PKCS#12 or JKS"
        case .malformed(let what): "holds \(what)"
        case .notRSA(let found): "holds a key for \(found); expected RSA (rsaEncryption)"
        case .passwordMissing(let format):
            "is a \(format.rawValue) and needs its password (--password or --password-file)"
        case .passwordWrong(let format): "does not open: wrong password for this \(format.rawValue), or it was altered"
        case .libcrypto(let what): "could not be read by libcrypto: \(what)"
        }
    }
}
