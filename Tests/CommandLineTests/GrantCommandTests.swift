import Foundation
import TestSupport
import Testing
import TokenCrypto

@Suite("media-token grant")
struct GrantCommandTests {
    private let directory: TemporaryDirectory
    private let key, pem: String

    init() throws {
        directory = try TemporaryDirectory()
        key = try directory.write(String(repeating: "0f", count: 32) + "\n", to: "key")
        pem = try directory.write(try TestKeys.standard.pemText(), to: "key.pem")
    }

    private func run(
        _ arguments: [String], input: String = "", environment: [String: String] = [:]
    ) throws -> Program.Outcome {
        try Program.mediaToken.run(["grant"] + arguments, input: Data(input.utf8), environment: environment)
    }

    private static let at = ["--at", "2027-01-15T08:00:00Z"]

    /// The grant that `arguments` make then, without the line feed.
    private func output(of arguments: [String]) throws -> String {
        try run(arguments + Self.at).output.trimmingCharacters(in: .newlines)
    }

    /// What is said then of a grant on standard input.
    private func explain(_ grant: String, _ arguments: [String]) throws -> Program.Outcome {
        try run(["check", arguments[0], "-"] + arguments.dropFirst() + Self.at, input: grant)
    }

    @Test("what it makes it explains, by argument, file and standard input")
    func round() throws {
        let kinds: [(make: [String], ask: [String])] = [
            (["akamai", "--key-file", key, "--acl", "/live/*"], ["--url", "/live/1.ts"]),
            (
                ["cloudfront", "--key-file", pem, "--key-pair-id", "K1", "--url", "https://d/*"],
                ["--url", "https://d/1"]
            ),
            (["secure-link", "--key-file", key, "--path", "/a"], ["--url", "/a"]),
            (["cat", "--key-file", key, "--path-prefix", "/live/", "--issuer", "me"], ["--url", "/live/1"]),
        ]
        for (make, ask) in kinds {
            let made = try run(make + Self.at)
            #expect(made.status == 0 && made.errors.isEmpty, "\(made.errors)")
            let grant = made.output.trimmingCharacters(in: .newlines)
            let own = make.dropFirst().filter { !["--url", "https://d/*", "--path", "/a"].contains($0) } + ask
            let file = "@" + (try directory.write(made.output, to: "grant"))
            for (operand, input) in [(grant, ""), (file, ""), ("-", made.output)] {
                let told = try run(["check", make[0], operand] + own + Self.at, input: input)
                #expect(
                    told.status == 0 && told.output.hasPrefix("OPENS\n"), "\(make[0]): \(told.output)\(told.errors)")
            }
            let late = try run(["check", make[0], grant] + own + ["--at", "2027-01-15T09:00:01Z"])
            #expect(late.status == 1 && late.output.contains("✗ end"), "\(late.output)")
            let json = try run(["check", make[0], grant, "--json"] + own + Self.at)
            #expect(json.output.hasSuffix("\"opens\":true}\n"))
        }
    }

    @Test("a grant is shown without a key, as unverified, with the checks that need none")
    func withoutKey() throws {
        for (make, path, other) in [
            (["akamai", "--key-file", key, "--acl", "/live/*"], "/live/1", "/vod/1"),
            (
                ["cloudfront", "--key-file", pem, "--key-pair-id", "K1", "--url", "https://d/live/*"],
                "https://d/live/1", "https://d/vod/1"
            ),
            (["cloudfront", "--key-file", pem, "--key-pair-id", "K1", "--url", "https://d/live/1"], "https://d/", ""),
            (["secure-link", "--key-file", key, "--path", "/live/1"], "/live/1", ""),
            (["cat", "--key-file", key, "--path-prefix", "/live/"], "/live/1", "/vod/1"),
        ] {
            for form in ["query", "cookie"] {
                let made = try run(make + Self.at + ["--form", form]).output
                let shown = try explain(made, [make[0], "--url", path])
                #expect(shown.status == 0 && shown.output.hasPrefix("UNVERIFIED  no key"), "\(make): \(shown)")
                #expect(shown.output.contains("– key ") && shown.output.contains("✓ end        holds until 2027-01-15"))
                #expect(shown.output.contains("\n  Grant:\n    ") && !shown.output.contains("OPENS"))
                let late = try run(["check", make[0], "-", "--at", "2027-01-15T09:00:01Z"], input: made)
                #expect(late.status == 1 && late.output.hasPrefix("UNVERIFIED, and opens nothing  "), "\(late)")
                // Cookies with the names `md5` and `expires` may be anybody's.
                guard make[0] != "secure-link" || form == "query" else { continue }
                let found = try Program.mediaToken.run(
                    ["inspect", "-", "--at", "2027-01-15T09:00:01Z"], input: Data("HTTP/1.1 200 OK\n\(made)\n".utf8))
                #expect(found.status == 0 && found.output.contains("UNVERIFIED; expired 1 s ago"), "\(found)")
                guard !other.isEmpty else { continue }
                let elsewhere = try explain(made, [make[0], "--url", other])
                #expect(elsewhere.status == 1 && elsewhere.output.contains("✗ scope"), "\(make): \(elsewhere)")
            }
        }
    }

    @Test("a grant of another kind is named, with a key and without")
    func otherKind() throws {
        let made = try run(["cat", "--key-file", key, "--path-prefix", "/live/"] + Self.at).output
        for option in [[], ["--key-file", key]] {
            let told = try run(["check", "akamai", "-"] + option, input: made)
            #expect(told.status == 1 && told.output.contains("✗ format"), "\(told)")
            #expect(
                told.output.contains(
                    "→ recognised as Common Access Token (CTA-5007): ask with 'media-token grant check cat'")
            )
        }
        let jwt = try run(["check", "cat", "eyJhbGciOiJIUzI1NiJ9.e30.AAAA"])
        #expect(
            jwt.status == 1 && jwt.output.contains("→ recognised as JSON Web Token (JWT), which is not a kind"),
            "\(jwt)")
        let json = try explain(made, ["cat", "--json"])
        #expect(json.status == 0 && json.output.contains("\"opens\":false") && json.output.contains("\"kind\":\"cat\""))
        #expect(json.output.contains("{\"name\":\"catu\",\"text\":\"{3: {1: /live/}}\"}"), "\(json)")
        let nothing = try run(["check", "cat", "hello"])
        #expect(nothing.status == 1 && nothing.output.contains("does not have the form of a grant of kind cat"))
        let file = try run(["check", "cat", try directory.write(made, to: "grant")])
        #expect(file.status == 64 && file.errors.contains("is a file; expected @ before its name"), "\(file)")
    }

    @Test("each form that it makes it reads again, also among other cookies and parameters")
    func captured() throws {
        for kind in [
            ["akamai", "--key-file", key, "--name", "hdnea", "--url", "/live/1"],
            ["cloudfront", "--key-file", pem, "--key-pair-id", "K1", "--url", "https://d/live/*"],
            ["secure-link", "--key-file", key, "--path", "/live/1"],
            ["cat", "--key-file", key, "--path-prefix", "/live/", "--path", "/live/1"],
        ] {
            let isOne = ["akamai", "cat"].contains(kind[0])
            #expect(
                try run(kind + Self.at + ["--form", "header"]).status == (isOne ? 0 : 2), "no CDN reads several headers"
            )
            for form in ["query", "url", "cookie"] + (isOne ? ["header"] : []) {
                let made = try run(kind + Self.at + ["--form", form])
                #expect(made.status == 0, "\(made.errors)")
                let told = try explain(made.output, kind)
                #expect(told.status == 0, "\(kind[0]) \(form): \(told.output)\(told.errors)")
            }
            let query = try output(of: kind)
            let prefix = kind[0] == "cloudfront" ? "CloudFront-" : ""
            let cookies = "Cookie: a=b; \(prefix)\(query.replacing("&", with: "; \(prefix)")); c=d"
            let folded = "\(query.prefix(20))\r\n  \(query.dropFirst(20))"
            let name = query.prefix { $0 != "=" }
            let header = "\(name.lowercased()): \(query.dropFirst(name.count + 1))"
            let ofOne = isOne ? [header] : []
            for text in [cookies, "https://d/live/1?a=b&\(query)#t=10", "/live/1?\(query)&c=d", folded] + ofOne {
                let told = try run(["check", kind[0], text] + kind.dropFirst() + Self.at)
                #expect(told.status == 0, "\(text): \(told.output)\(told.errors)")
            }
        }
    }

    @Test("what a kind cannot say is not let pass: the grant would open more than was asked for")
    func foreignOptions() throws {
        for arguments in [
            ["cat", "--path-prefix", "/a", "--ip", "192.0.2.1"], ["cat", "--path-prefix", "/a", "--acl", "/b"],
            ["secure-link", "--path", "/a", "--starts", "2030-01-01T00:00:00Z"],
            ["akamai", "--acl", "/a", "--path-prefix", "/b"], ["akamai", "--acl", "/a", "--method", "GET"],
            ["check", "akamai", "x", "--url", "/a", "--path", "/b"],
            ["check", "cat", "x", "--method", "GET", "--method", "PUT"], ["check", "cat", "x", "--ip", "192.0.2.1"],
        ] {
            let outcome = try run(arguments + ["--key-file", key])
            #expect(outcome.status == 64 && outcome.output.isEmpty, "\(arguments): \(outcome.errors)")
        }
        let told = try run(["cat", "--path-prefix", "/a", "--ip", "x", "--key-file", key]).errors
        #expect(told.contains("--ip is not for cat; it is for akamai, cloudfront, secure-link"), "\(told)")
    }

    @Test("a Common Access Token is checked with the key that it names, of several in the order of their IDs")
    func severalKeys() throws {
        let new = try directory.write(String(repeating: "1f", count: 32), to: "new")
        let made = try run(["cat", "--key-file", key, "--key-id", "old", "--path-prefix", "/a"] + Self.at).output
        func check(_ options: String...) throws -> Program.Outcome {
            try explain(made, ["cat"] + options)
        }
        let both = ["--key-file", new, "--key-id", "new"]
        let known = try explain(made, ["cat"] + both + ["--key-file", key, "--key-id", "old"])
        #expect(known.status == 0 && known.output.contains("✓ key"), "\(known.output)\(known.errors)")
        let mixed = try check("--key-file", new, "--key-file", key, "--key-id", "old", "--key-id", "new")
        #expect(mixed.status == 1 && mixed.output.contains("✗ key        the MAC is not that"), "\(mixed.output)")
        let gone = try check("--key-file", new, "--key-id", "new")
        #expect(gone.status == 1 && gone.output.contains("✗ key        names the key 'old'"), "\(gone.output)")
        let unnamed = try check("--key-file", new, "--key-file", key)
        #expect(unnamed.status == 2 && unnamed.errors.contains("key-id: has 0 for 2 keys"), "\(unnamed.errors)")
        let twice = try check("--key-file", key, "--key-file", key, "--key-id", "old", "--key-id", "new")
        #expect(twice.status == 2 && twice.errors.contains("\(key), \(key) hold one key under two IDs"))
        let odd = try directory.write("abc", to: "odd")
        let fault = try check("--key-file", key, "--key-file", odd, "--key-id", "old", "--key-id", "new")
        #expect(fault.status == 2 && fault.errors.contains("key-file: \(odd) has 3 digits"), "\(fault.errors)")
        let edge = try run(["check", "akamai", "x", "--key-file", key, "--key-file", new])
        #expect(edge.status == 2 && edge.errors.contains("key-file: has 2 files; expected one"), "\(edge.errors)")
        let issue = try run(["cat", "--key-file", key, "--key-file", new, "--path-prefix", "/a"])
        #expect(issue.status == 64 && issue.errors.contains("--key-file is given twice"), "\(issue.errors)")
    }

    @Test("what stands where no CDN reads it opens nothing: fields of a path, headers that are no cookies, a cut query")
    func unread() throws {
        let link = ["secure-link", "--key-file", key, "--path", "/a"]
        let fields = try output(of: link)
        #expect(try explain("https://h/?\(fields)", link).status == 0)
        #expect(try explain("https://h/\(fields.replacing("&", with: "/"))/a", link).status != 0)
        let cloudFront = ["cloudfront", "--key-file", pem, "--key-pair-id", "K1", "--url", "https://d/a"]
        let cookies = try run(cloudFront + Self.at + ["--form", "cookie"]).output
        #expect(try explain(cookies, cloudFront).status == 0)
        let headers = cookies.split(separator: "\n").map { line in
            line.replacing("Set-Cookie: ", with: "").replacing("; Path", with: "\nX: y; Path").replacing(
                "=", with: ": ")
        }
        #expect(try explain(headers.joined(separator: "\n"), cloudFront).status != 0)
        let cut = ["akamai", "--key-file", key, "--acl", "/live/a&b/*"]
        #expect(try run(cut + Self.at).errors.contains("the grant has & or #"))
        #expect(try !run(cut + Self.at + ["--json"]).output.contains("\"query\""))
        let header = try run(cut + Self.at + ["--form", "header"]).output
        let asked = ["akamai", "--key-file", key, "--url", "/live/a&b/1"]
        #expect(try explain(header, asked).status == 0)
        #expect(try explain(header.replacing(": ", with: "="), asked).status != 0)
        let marked = try run(["secure-link", "--key-file", key, "--path", "/a?\u{301}b"] + Self.at)
        #expect(marked.status == 2 && marked.errors.contains("path: "), "\(marked)")
    }

    @Test("what was not asked is told beside the yes")
    func unasked() throws {
        let ampersand = ["akamai", "--key-file", key, "--acl", "/*", "--data", "a=1&b=2", "--form", "header"]
        let akamai = try run(ampersand + Self.at).output
        #expect(
            try explain(akamai, ["akamai", "--key-file", key, "--path", "/x"]).status == 0)
        let grant = try run(["cat", "--key-file", key, "--path-prefix", "/a", "--method", "GET"] + Self.at).output
        let told = try explain(grant, ["cat", "--key-file", key])
        #expect(
            told.status == 0 && told.output.hasPrefix("OPENS, as far as it was checked (not checked: method, scope)\n"))
    }

    @Test("a grant whose key nobody can tell, or whose end is none, opens nothing")
    func untold() throws {
        for (kind, grant, more) in [
            ("akamai", "exp=4000000000~hmac=00", []), ("secure-link", "md5=x&expires=9999999999", []),
            ("secure-link", "md5=x&expires=0", ["--path", "/a"]),
            ("secure-link", "md5=x&expires=99999999999999", ["--path", "/a"]),
        ] {
            let told = try run(["check", kind, grant, "--key-file", key] + more)
            let title = more.isEmpty ? "UNDECIDED (not checked: key)\n" : "OPENS NOTHING\n"
            #expect(told.status == 1 && told.output.hasPrefix(title), "\(told.output)\(told.errors)")
        }
        let made = try run(["akamai", "--key-file", key, "--acl", "/live/*"] + Self.at).output
        let told = try explain(made, ["akamai", "--key-file", key, "--url", "https://h/live/../x"])
        #expect(told.status == 1 && told.output.hasPrefix("UNDECIDED (not checked: scope)\n"), "\(told)")
        #expect(told.output.contains("name 2 of the path is a step up"), "\(told)")
    }

    @Test("a comma is made into every form but a cookie")
    func comma() throws {
        let make = ["akamai", "--key-file", key, "--acl", "/i/a,b,.csmil/*"] + Self.at
        let query = try run(make).output
        #expect(query.hasPrefix("hdnts=exp=1800003600~acl=/i/a,b,.csmil/*~hmac="))
        #expect(try run(make + ["--form", "header"]).output == "hdnts: \(query.dropFirst(6))")
        let json = try run(make + ["--json"])
        #expect(json.status == 0 && !json.output.contains("cookies"), "\(json)")
        let cookie = try run(make + ["--form", "cookie"])
        #expect(cookie.status == 2 && cookie.output.isEmpty && cookie.errors.contains("a comma, which a cookie cannot"))
        let told = try explain(query, ["akamai", "--key-file", key, "--url", "/i/a,b,.csmil/1"])
        #expect(told.status == 0 && told.output.hasPrefix("OPENS\n"), "\(told)")
    }

    @Test("an Akamai token is found under any name, and under another than the one asked for it opens nothing")
    func otherNames() throws {
        let made = try run(["akamai", "--key-file", key, "--acl", "/*", "--name", "akamai_token"] + Self.at).output
        for text in [made, "https://h/1?a=b&\(made)", "Cookie: a=b; \(made)"] {
            let check = ["check", "akamai", "-", "--key-file", key, "--url", "/1"] + Self.at
            let unnamed = try run(check, input: text)
            #expect(unnamed.output.hasPrefix("OPENS, as far as it was checked (not checked: format)\n"), "\(unnamed)")
            #expect(try run(check + ["--name", "akamai_token"], input: text).output.hasPrefix("OPENS\n"))
            for name in ["hdnts", "AKAMAI_TOKEN"] {
                let other = try run(check + ["--name", name], input: text)
                let cause = "✗ format     was sent as akamai_token; expected \(name)\n"
                #expect(other.status == 1 && other.output.contains(cause), "\(other)")
                let keyless = try explain(text, ["akamai", "--name", name])
                #expect(keyless.status == 1 && keyless.output.contains(cause), "\(keyless)")
            }
        }
        // Where the field that was asked for is there, no other is taken for it.
        let both = "Cookie: hdnts=exp=1~foo=2~hmac=00; \(made)"
        let told = try explain(both, ["akamai", "--key-file", key, "--name", "hdnts"])
        #expect(told.status == 1 && told.output.contains("has the field 'foo'"), "\(told)")
        let cat = try run(["cat", "--key-file", key, "--path-prefix", "/a"] + Self.at).output
        let query = "/a?token=" + cat.dropFirst("CTA-Common-Access-Token=".count)
        let renamed = try explain(query, ["cat", "--key-file", key, "--path", "/a"])
        #expect(renamed.output.contains("was sent as token; expected CTA-Common-Access-Token, unless"), "\(renamed)")
    }

    @Test("CloudFront's cookies are none in a query, and its parameters none in a cookie")
    func cloudFrontNames() throws {
        let make = ["cloudfront", "--key-file", pem, "--key-pair-id", "K1", "--url"]
        for url in ["https://d/*", "https://d/1"] {
            let query = try output(of: make + [url])
            let cookies = query.split(separator: "&").map { "CloudFront-" + $0 }
            let check = ["check", "cloudfront", "-", "--url", "https://d/1"] + make[1...4] + Self.at
            for text in [
                "https://d/1?a=b;c&\(query)", "Cookie: a=b&c; \(cookies.joined(separator: "; "))",
                "Cookie: " + cookies.joined(separator: ";"), "https://d/1?\(query)\nCookie: a=b; c=d",
            ] {
                let told = try run(check, input: text)
                #expect(told.output.hasPrefix("OPENS\n"), "\(text): \(told)")
            }
            for (text, cause) in [
                ("https://d/1?" + cookies.joined(separator: "&"), "has no Signature\n"),
                ("Cookie: " + query.replacing("&", with: "; "), "has no CloudFront-Signature\n"),
                (
                    "Cookie: Signature=x; \(cookies.dropFirst().joined(separator: "; "))",
                    "has neither CloudFront-Expires"
                ),
            ] {
                let told = try run(check, input: text)
                #expect(told.status == 1 && told.output.contains("✗ format     \(cause)"), "\(text): \(told)")
            }
        }
    }

    @Test("parameters beside an Akamai token are none of its fields, also in a query alone")
    func besides() throws {
        let make = ["akamai", "--key-file", key, "--acl", "/*"] + Self.at
        let made = try run(make).output.trimmingCharacters(in: .newlines)
        for text in ["\(made)&a=b", "a=b&\(made)", "a=b&\(made)&c", "https://h/1?\(made)&a=b"] {
            let told = try run(["check", "akamai", text, "--key-file", key, "--url", "/1"] + Self.at)
            #expect(told.output.hasPrefix("OPENS\n"), "\(text): \(told)")
        }
        for (text, cause) in [
            ("\(made.dropLast())&a=b", "HMAC sha256 of it has 64 digits, and the token's 63\n"),
            ("a=b&\(made.replacing("acl", with: "foo"))", "has the field 'foo'"),
            ("hdnts=exp=1&a=b", "has no hmac=… at its end"),
        ] {
            let told = try run(["check", "akamai", text, "--key-file", key, "--url", "/1"] + Self.at)
            #expect(told.status == 1 && told.output.contains(cause), "\(text): \(told)")
        }
        let found = try Program.mediaToken.run(
            ["inspect", "-", "--at", "2027-01-15T08:00:00Z"],
            input: Data("GET /1?x=\(made.replacing("=", with: "%3d")) HTTP/1.1\n".utf8))
        #expect(found.output.contains("Akamai Edge Authorization token"), "\(found)")
    }

    @Test("a field that another program may read in another way makes a grant undecided, or it opens nothing")
    func otherReadings() throws {
        for (make, ask, name) in [
            (["secure-link", "--key-file", key, "--path", "/a"], "/a", "md5"),
            (
                ["cloudfront", "--key-file", pem, "--key-pair-id", "K1", "--url", "https://d/a"], "https://d/a",
                "Signature"
            ),
            (["akamai", "--key-file", key, "--acl", "/*"], "https://d/a", "hdnts"),
            (["cat", "--key-file", key, "--path-prefix", "/"], "https://d/a", "CTA-Common-Access-Token"),
        ] {
            let query = try output(of: make)
            let own = make.dropFirst().filter { !["--url", "https://d/a", "--path", "/a"].contains($0) }
            let check = ["check", make[0], "-", "--url", ask] + own + Self.at
            #expect(try run(check, input: query).output.hasPrefix("OPENS\n"))
            let value = query.split(separator: "&").first { $0.hasPrefix(name + "=") }?.dropFirst(name.count + 1) ?? ""
            let escaped = "%" + String(name.utf8.first ?? 0, radix: 16) + name.dropFirst()
            for other in [name, name.uppercased(), name.lowercased(), escaped, "x=1;" + name, "x=1&%20" + name] {
                for text in ["\(other)=\(value)&\(query)", "\(query)&\(other)=\(value)"] {
                    for text in [text, "https://d/a?" + text] {
                        let told = try run(check, input: text)
                        #expect(told.status == 1 && told.output.contains(" format "), "\(text): \(told)")
                    }
                }
            }
        }
        let link = try output(of: ["secure-link", "--key-file", key, "--path", "/a"])
        let fillers = (0..<63).map { "x\($0)=" }.joined(separator: "&")
        for text in [
            link.replacing("&", with: ";"), "x=1;" + link, link + ";x", "x=; " + link.replacing("&", with: "; "),
            "Cookie: " + link, "X: " + link, "\(link)&\(fillers)",
        ] {
            for text in text.contains(":") ? [text] : [text, "/a?" + text] {
                let told = try explain(text, ["secure-link", "--key-file", key, "--url", "/a"])
                #expect(told.status == 1 && told.output.contains("format"), "\(text): \(told)")
            }
        }
        let both = try run(
            ["check", "secure-link", link, "--key-file", key, "--url", "/a?EXPIRES=1"] + Self.at)
        #expect(both.status == 1 && both.output.contains("the URL to check has a field 'expires'"), "\(both)")
    }

    @Test("a secure link is for the path as it is in the URL")
    func escapedPath() throws {
        let make = ["secure-link", "--key-file", key] + Self.at + ["--path"]
        let link = try run(make + ["/s/a%20b.mp4"]).output
        #expect(try link == run(make + ["/s/a b.mp4"]).output && link != run(make + ["/s/a%2520b.mp4"]).output)
        for path in ["/s/a%20b.mp4", "/s/%61%20b.mp4", "https://h/s/a%20b.mp4?x"] {
            let check = ["check", "secure-link", "-", "--key-file", key, "--url", path] + Self.at
            #expect(try run(check, input: link).output.hasPrefix("OPENS\n"), "\(path)")
        }
        for (path, reason) in [
            ("/a?b", "with ?; expected a path alone"), ("/a%", "has a % that two hexadecimal digits do not follow"),
            ("/a/../b", "is a step up, or nothing, for some servers"),
        ] {
            let refused = try run(make + [path])
            #expect(refused.status == 2 && refused.errors.contains(reason), "\(refused)")
        }
    }

    @Test("every form")
    func forms() throws {
        let make = ["akamai", "--key-file", key, "--url", "/a?b=c", "--name", "hdnea"] + Self.at
        let query = try run(make).output
        #expect(query.hasPrefix("hdnea=exp=1800003600~hmac="))
        #expect(try run(make + ["--form", "url"]).output == "/a?b=c&" + query)
        #expect(
            try run(make + ["--form", "cookie", "--cookie-path", "/a"]).output
                == "Set-Cookie: \(query.dropLast()); Path=/a; Max-Age=3600; Secure; HttpOnly; SameSite=None\n")
        #expect(try run(make + ["--form", "header"]).output == "hdnea: \(query.dropFirst(6))")
        #expect(try run(make + ["--json"]).output.contains("\"expires\":1800003600"))
        let byEnvironment = ["akamai", "--key-env", "EDGE_KEY"] + make[3...]
        let outcome = try run(byEnvironment, environment: ["EDGE_KEY": String(repeating: "0f", count: 32)])
        #expect(outcome.output == query)
    }

    @Test("what cannot be made is one line that names the field, and never shows the key")
    func problems() throws {
        let odd = try directory.write("abc", to: "odd")
        for (arguments, line) in [
            (["akamai", "--key-file", "/nowhere", "--acl", "/"], "key-file: /nowhere cannot be opened"),
            (["akamai", "--key-env", "NOT_SET_AT_ALL", "--acl", "/"], "key-env: 'NOT_SET_AT_ALL' is not set"),
            (["akamai", "--key-file", odd, "--acl", "/"], "key-file: \(odd) has 3 digits"),
            (["akamai", "--key-file", key], "acl: expected one of --acl and --url"),
            (["akamai", "--key-file", key, "--acl", "x"], "acl: is 'x'"),
            (["cat", "--key-file", odd], "key-file: \(odd) has 3 digits"),
            (["cat", "--key-file", key], "path-prefix: is missing"),
            (["cat", "--key-file", key, "--path-prefix", "/", "--method", ""], "method: is ''"),
            (["cloudfront", "--key-file", odd], "key-pair-id: is missing"),
            (["secure-link", "--key-file", key], "path: is missing; expected --path"),
            (
                ["secure-link", "--key-file", key, "--path", "/", "--ip", "192.0.2.1"],
                "ip: is given, and the expression"
            ),
            (["cat", "--key-file", key, "--path-prefix", "x"], "path-prefix: is 'x'"),
            (["cat", "--key-file", key, "--cti", "0"], "cti: has 1 digits"),
            (["cloudfront", "--key-file", key, "--key-pair-id", "K", "--url", "https://d/"], "key-file: \(key) "),
            (["secure-link", "--key-file", key, "--path", "x"], "path: is 'x'"),
            (["secure-link", "--key-file", key, "--path", "/", "--expression", "$uri"], "expression: is '$uri'"),
            (
                ["secure-link", "--key-file", key, "--path", "/", "--expression", "$secure_link_expires $secret"],
                "expression: has no $uri"
            ),
            (["akamai", "--key-file", key, "--acl", "/", "--at", "9999-12-31T00:00:00Z"], "clock: is 2"),
            (
                [
                    "akamai", "--key-file", key, "--acl", "/", "--starts", "2030-01-01T00:00:00Z", "--expires",
                    "2029-01-01T00:00:00Z",
                ],
                "starts: is "
            ),
        ] {
            let outcome = try run(arguments)
            #expect(outcome.status == 2 && outcome.output.isEmpty, "\(arguments)")
            #expect(outcome.errors.hasPrefix("media-token: \(line)"), "\(outcome.errors)")
            #expect(outcome.errors.split(separator: "\n").count == 1 && !outcome.errors.contains("0f0f"))
        }
        for arguments in [
            ["akamai", "--key-file", key, "--acl", "/", "--ip", ""],
            ["akamai", "--key-file", key, "--acl", "/", "--form", "cookie", "--cookie-path", "/\r\nX: y"],
            [], ["nothing"], ["akamai", "--key-file", key, "--acl", "/", "--form", "url"], ["akamai"],
            ["check", "cat"], ["akamai", "--key-file", key, "--validity", "0"],
            ["akamai", "--key-file", key, "--digest", "sha512"], ["cloudfront", "--key-file", key, "--digest", "md5"],
            ["akamai", "--key-file", key, "--form", "x"], ["akamai", "--key-file", key, "--key-env", "X"],
        ] {
            #expect(try run(arguments).status == 64, "\(arguments)")
        }
    }
}
