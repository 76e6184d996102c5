internal import CommandShell
internal import MediaToken
internal import MediaTokenTesting
internal import TokenCrypto

/// A temporary folder with a throwaway key and tokens signed with it.
struct DemoFolder {
    private let folder: TemporaryFolder
    /// The path of the public key, which a gate loads.
    let publicKey: String
    /// The path of the private key, for users who want more tokens.
    let signingKey: String
    private let signer: TokenSigner

    static let requestor = "MML"
    static let resource = "TNT"

    init() throws(CommandError) {
        folder = try TemporaryFolder("media-token-demo")
        let path = folder.path
        (publicKey, signingKey) = (path + "/demo.pem", path + "/demo.key")
        let (key, privateText, publicText) = try CommandError.wrap {
            let key = try RSASigningKey.generate(bits: 2048)
            return (key, try key.pemText(), try key.publicKey.pemText())
        }
        signer = TokenSigner(key: key)
        _ = try folder.write(publicText, to: "demo.pem", mode: 0o644)
        _ = try folder.write(privateText, to: "demo.key")
    }

    var path: String { folder.path }

    /// Writes a file into this folder.
    ///
    /// - Returns: the path of the file.
    func write(_ text: String, to name: String) throws(CommandError) -> String { try folder.write(text, to: name) }

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
        let clearText = try CommandError.wrap { try signer.sign(recipe.payload) }
        let text = TokenWrapping.base64.wrap(forge(clearText), recipe)
        return DemoToken(text: text, file: try write(text, to: "\(name).token"))
    }
}

/// A token, and the file that contains it.
struct DemoToken {
    let text: String
    let file: String
}
