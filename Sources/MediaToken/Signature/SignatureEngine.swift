internal import TokenCrypto

/// Which way this process has chosen to verify the signatures of a group of tokens.
///
/// Keys of 1024, 2048, 3072 and 4096 bits with the exponent 65537 are verified so; libcrypto verifies the signatures of
/// others.
///
/// The process chooses it once, when the first group comes or this is first asked, and tests it, which takes some ten
/// milliseconds. A server asks when it starts, so that no group waits.
public enum SignatureEngine {
    /// `ifma` if eight RSA signatures are verified at once by the processor's AVX-512 IFMA instructions, `model` if by
    /// the same arithmetic in plain C, and `libcrypto` if one after the other. libcrypto verifies a token that comes
    /// alone, and decides whatever the other ways do not call valid.
    public static var name: String { BatchEngine.inUse.map { "\($0)" } ?? "libcrypto" }

    /// Whether the operator probably wants another way: the name in the environment is unknown, what was asked for is
    /// not available or failed its test, or it is the slow one.
    package static var isDoubtful: Bool { BatchEngine.isDoubtful }

    /// One line for the operator; it gives the reason if the processor's instructions are not used.
    public static var description: String { BatchEngine.description }
}
