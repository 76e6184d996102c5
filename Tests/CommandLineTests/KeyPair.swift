import TestSupport
import TokenCrypto

/// The standard key in a folder: the file of its private half, and that of its public one.
struct KeyPair {
    let directory: TemporaryDirectory
    let secret, open: String

    /// Ends the tests where no file can be written.
    init() {
        do {
            directory = try TemporaryDirectory()
            secret = try directory.write(try TestKeys.standard.pemText(), to: "signing.key")
            open = try directory.write(try TestKeys.standard.publicKey.pemText(), to: "key.pem")
        } catch { preconditionFailure("\(error)") }
    }
}
