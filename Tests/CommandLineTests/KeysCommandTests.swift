import Foundation
import TestSupport
import Testing

@Suite("media-token keys")
struct KeysCommandTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func run(_ arguments: [String], input: String = "") throws -> Program.Outcome {
        try Program.mediaToken.run(arguments, input: Data(input.utf8))
    }

    @Test("a signing key has mode 0600 and is not replaced; its folder is made for the user alone, but no parents")
    func generate() throws {
        func generate(_ folder: String) throws -> Program.Outcome { try run(["keys", "generate", "--to", folder]) }
        func mode(_ path: String) throws -> Int? {
            (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
        }
        let folder = directory.path + "/dev"
        #expect(try generate(folder).status == 0)
        #expect(try mode(folder) == 0o700 && mode(folder + "/development.key") == 0o600)
        let again = try generate(folder)
        #expect(again.status == 2 && again.errors.contains("already exists"))
        let deep = try generate(directory.path + "/a/b")
        #expect(deep.status == 2 && deep.errors.contains("/a/b: its directory does not exist"), "\(deep.errors)")
    }

    @Test("rotate changes the lists of keys and nothing else of a file, and leaves one alone that would not be right")
    func rotate() throws {
        let (key, keys) = (directory.path + "/a.key", directory.path + "/dev")
        try Program.mediaToken.succeed(["keys", "generate", "--to", keys])
        try Program.mediaToken.succeed(["keys", "generate", "--grant", "--to", key])
        func settings(_ lists: String, keys: String = keys, further: String = "") -> String {
            """
            // Über the keys
            {"keys": ["\(keys)/development.pem"], "replays": "memory", "routes": [
              {"path": "/a", "requestor": "MML", "resource": "TNT", "grant": {"kind": "akamai", "key-file": "\(key)"}},
              // "key-file": no setting
              {"path": "/b", "requestor": "MML", "resource": "TNT", "grant": {\(lists), "kind": "cat"}}\(further)
            ]}
            """
        }
        func files(_ names: String...) -> String {
            names.map { "\"\(directory.path)/\($0).key\"" }.joined(separator: ", ")
        }
        let file = try directory.write(settings("\"key-file\" : [\(files("a"))\n]"), to: "gate.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        func rotate(_ options: String...) throws -> Program.Outcome {
            try run(["keys", "rotate", "--config", file, "--id"] + options)
        }
        func expect(_ lists: String) throws {
            #expect(try String(contentsOfFile: file, encoding: .utf8) == settings(lists))
        }
        #expect(
            try rotate("b").output == "b  \(directory.path)/b.key  makes and checks grants\n"
                + "media-token  \(key)  checks grants\n")
        try expect(#""key-file": [\#(files("b", "a"))], "key-id": ["b", "media-token"]"#)
        #expect(try rotate("c", "--last").status == 0 && rotate("media-token", "--remove").status == 0)
        try expect(#""key-file": [\#(files("b", "c"))], "key-id": ["b", "c"]"#)
        #expect(try rotate("c").status == 0 && rotate("b", "--last", "--route", "/%62/").status == 0)
        let before = #""key-file": [\#(files("c", "b"))], "key-id": ["c", "b"]"#
        try expect(before)
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o640)

        for (options, status, said) in [
            (["c", "--remove"], 2, "makes grants"), (["x", "--remove"], 2, "has no key 'x'"),
            (["x", "--route", "/a"], 2, "expected a route /a with a grant of kind cat"),
            (["../x"], 64, "--id is '../x'"),
            ([".x"], 64, "no '.' first"), (["b", "--remove", "--last"], 64, "--last has no effect with --remove"),
        ] {
            let outcome = try run(["keys", "rotate", "--config", file, "--id"] + options)
            #expect(outcome.status == status && outcome.errors.contains(said), "\(outcome.errors)")
        }
        // A file that is there is taken as it is, and not for a key if it is none.
        _ = try directory.write("short", to: "d.key")
        let short = try rotate("d")
        #expect(
            short.status == 64 && short.errors.contains("gate.json:5:") && short.errors.contains("d.key"),
            "\(short.errors)")
        try expect(before)
        _ = try directory.write(settings(before, keys: "/none"), to: "gate.json")
        #expect(try rotate("b").status == 64)
        let other =
            #",{"path": "/c", "requestor": "MML", "resource": "TNT", "grant": {"kind": "cat", "key-file": "\#(key)"}}"#
        _ = try directory.write(settings(before, further: other), to: "gate.json")
        #expect(try rotate("b").errors.contains("routes[1].grant and routes[2].grant have different keys"))
        #expect(try rotate("b", "--route", "/b").status == 0)
    }

    @Test("keys list shows refused keys, each once, and ends with 2 if none is usable")
    func refusedKeys() throws {
        let folder = directory.path + "/keys"
        let none = try run(["keys", "list", Fixtures.keys])
        #expect(
            none.status == 2 && none.output.contains("2021.pem\n  refused: is RSA with 1024 bits;"), "\(none.output)")
        #expect(none.errors.split(separator: "\n").count == 1 && !none.errors.contains("1024 bits"), "\(none.errors)")

        try Program.mediaToken.succeed(["keys", "generate", "--to", folder])
        try FileManager.default.copyItem(
            atPath: Fixtures.keys + "/adobe-pass-2015-2021.pem", toPath: folder + "/adobe.pem")
        let some = try run(["keys", "list", folder])
        #expect(some.status == 0 && some.errors.isEmpty, "\(some.errors)")
        #expect(some.output.contains("fingerprint") && some.output.contains("adobe.pem\n  refused: is RSA with 1024"))

        // A file that is named is listed like one of a folder.
        let json = try run(["keys", "list", "--json", folder + "/adobe.pem", folder + "/development.pem"])
        #expect(json.status == 0)
        let objects = try json.output.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        #expect(objects.count == 2 && objects[0]["bits"] as? Int == 2048 && objects[0]["refused"] == nil)
        #expect(objects[1]["file"] as? String == folder + "/adobe.pem")
        #expect((objects[1]["refused"] as? String)?.hasPrefix("is RSA with 1024 bits") == true)
        #expect(try run(["keys", "list", folder + "/none"]).errors.contains("/none: cannot be opened: No such file"))
    }

    @Test("a keystore is imported, and listed with the same fingerprint", arguments: ["trust.jks", "trust.p12"])
    func importKeys(store: String) throws {
        let file = Fixtures.vectors.appending(path: "keystores/\(store)").path
        let password = try directory.write("123456\n", to: "password")
        let imported = try run(["keys", "import", file, "--password-file", password, "--to", directory.path])
        #expect(imported.status == 0, "\(imported.errors)")
        let listed = try run(["keys", "list", "--json", directory.path])
        let object = try #require(
            try JSONSerialization.jsonObject(with: Data(listed.output.utf8)) as? [String: Any])
        let fingerprint = try #require(object["fingerprint"] as? String)
        #expect(imported.output.contains(fingerprint))
        #expect(object["name"] as? String == "CN=Media Token Test,O=Example")
        #expect(object["bits"] as? Int == 2048)
    }

    @Test("what a keystore has besides its certificates is named, and so is the issuer of one")
    func leftOut() throws {
        let made = try IssuedCertificate()
        let (folder, store) = (made.directory.path, made.directory.path + "/store.p12")
        try Program("openssl").succeed([
            "pkcs12", "-export", "-inkey", made.key, "-in", folder + "/leaf.pem", "-certfile",
            folder + "/authority.pem",
            "-passout", "pass:123456", "-out", store,
        ])
        let options = ["keys", "import", store, "--password", "123456", "--to", directory.path]
        let imported = try run(options)
        #expect(imported.status == 0 && imported.output.contains("/store.pem  2048 bits"), "\(imported.output)")
        #expect(imported.errors.contains("'CN=authority', which was left out: it is the issuer"))
        #expect(imported.errors.contains("holds a private key, which was not imported"))
        #expect(try run(options + ["--with-issuers"]).output.contains("/store-2.pem  2048 bits"))
        let chain = try made.directory.write(made.certificate + made.authority, to: "chain.pem")
        let listed = try run(["keys", "list", chain])
        #expect(listed.status == 0 && listed.output.contains("CN=leaf\n"))
        #expect(listed.output.contains("'CN=authority', which was left out"))
        let lines = try run(["keys", "list", "--json", chain]).output.split(separator: "\n")
        #expect(lines.count == 2 && lines[1].contains(#""leftOut":"has the certificate 'CN=authority'"#))
        #expect(try run(["keys", "list", "--json", "--with-issuers", chain]).output.contains("CN=authority\","))
    }

    @Test(
        "the command that is advised about a private key takes the public key out",
        arguments: ["leaf.key", "both keys.pem", "store.p12", "alone.p12", "key.der"])
    func privateKeyAdvice(name: String) throws {
        let made = try IssuedCertificate()
        let folder = made.directory.path
        let key = try String(contentsOfFile: made.key, encoding: .utf8)
        try made.directory.write(key + made.certificate, to: "both keys.pem")
        let export = ["pkcs12", "-export", "-inkey", made.key, "-passout", "pass:123456"]
        try Program("openssl").succeed(export + ["-in", folder + "/leaf.pem", "-out", folder + "/store.p12"])
        try Program("openssl").succeed(export + ["-nocerts", "-out", folder + "/alone.p12"])
        try Program("openssl").succeed(["rsa", "-in", made.key, "-outform", "DER", "-out", folder + "/key.der"])
        let password = try made.directory.write("123456\n", to: "password")
        let refused = try run(["keys", "list", "\(folder)/\(name)", "--password-file", password])
        #expect(refused.status == 2)
        let text = refused.output.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.joined(
            separator: " ")
        let quoted = text.split(separator: "'", omittingEmptySubsequences: false)
        let command = try #require(quoted.count == 3 ? String(quoted[1]) : nil, "\(text)")
        let program = Program.mediaToken.executable
        let ran = command.replacing("media-token ", with: "\(program) ").replacing(" FILE ", with: " \(password) ")
            .replacing("pkcs12 ", with: "pkcs12 -passin file:\(password) ")
        try Program("sh").succeed(["-c", "cd \(folder) && \(ran)"])
        let written = try FileManager.default.subpathsOfDirectory(atPath: folder).filter { $0.contains("public") }
        let file = try #require(written.first { $0.hasSuffix(".pem") })
        #expect(try run(["keys", "list", "\(folder)/\(file)"]).status == 0)
    }

    @Test("a wrong password is said, not shown")
    func wrongPassword() throws {
        let file = Fixtures.vectors.appending(path: "keystores/trust.jks").path
        let outcome = try run(["keys", "list", "--password", "hunter2", file])
        #expect(outcome.status == 2)
        #expect(outcome.output.contains("wrong password") && !(outcome.output + outcome.errors).contains("hunter2"))
    }
}
