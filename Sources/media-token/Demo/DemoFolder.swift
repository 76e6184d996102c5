internal import CommandShell
internal import FoundationEssentials
internal import Glibc
internal import MediaToken
internal import TokenCrypto
internal import TokenIssuer

/// A temporary folder with a throwaway key and tokens signed with it. The folder is removed when this object is freed,
/// and at the latest when the program exits, as it does when its output can no longer be written.
final class DemoFolder {
    let path: String
    /// The path of the public key, which a gate loads.
    let publicKey: String
    /// The path of the private key, for users who want more tokens.
    let signingKey: String
    private let signer: TokenSigner

    static let requestor = "MML"
    static let resource = "TNT"

    init() throws(CommandError) {
        var template = Array((Self.parent + "/media-token-demo-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw CommandError("\(Self.parent): cannot make a folder: \(String(cString: strerror(errno)))")
        }
        path = template.withUnsafeBufferPointer { $0.baseAddress.map { String(cString: $0) } ?? "" }
        Self.made = path
        atexit { DemoFolder.remove() }
        (publicKey, signingKey) = (path + "/demo.pem", path + "/demo.key")
        let (privateText, publicText): (String, String)
        do {
            let key = try RSASigningKey.generate(bits: 2048)
            (privateText, publicText) = (try key.pemText(), try key.publicKey.pemText())
            signer = TokenSigner(key: key)
        } catch {
            throw CommandError("\(error)")
        }
        try NewFile.write(publicText, to: publicKey, mode: 0o644)
        try NewFile.write(privateText, to: signingKey, mode: 0o600)
    }

    deinit { Self.remove() }

    // Used by the main thread only.
    private nonisolated(unsafe) static var made: String?

    private static func remove() {
        if let made { try? FileManager.default.removeItem(atPath: made) }
        made = nil
    }

    private static var parent: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    /// Writes a file into this folder.
    ///
    /// - Returns: the path of the file.
    func write(_ text: String, to name: String) throws(CommandError) -> String {
        try NewFile.write(text, to: "\(path)/\(name)", mode: 0o600)
        return "\(path)/\(name)"
    }

    /// Signs a token, and writes it to a file in Base64, as an entitlement answer carries it.
    ///
    /// - Parameter change: changes the recipe of a token for the demo's requestor and resource.
    func token(
        _ name: String, issued: Timestamp, _ change: (inout TokenRecipe) -> Void = { _ in },
        forging forge: (String) -> String = { $0 }
    ) throws(CommandError) -> DemoToken {
        var recipe = TokenRecipe(issued: TokenDate(issued))
        (recipe.requestor, recipe.resource) = (Self.requestor, Self.resource)
        recipe.sessionGUID = TokenRecipe.freshSessionGUID()
        change(&recipe)
        let clearText: String
        do { clearText = try signer.sign(recipe.payload) } catch { throw CommandError("\(error)") }
        let text = TokenWrapping.base64.wrap(forge(clearText), recipe)
        return DemoToken(text: text, file: try write(text, to: "\(name).token"))
    }
}

/// A token, and the file that contains it.
struct DemoToken {
    let text: String
    let file: String
}
