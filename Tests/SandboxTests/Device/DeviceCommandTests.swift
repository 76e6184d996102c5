import Basics
import Foundation
import TestSupport
import Testing

@Suite("media-token-sandbox device")
struct DeviceCommandTests {
    private static let logIn = "setRequestor MML\nsetSelectedProvider Sandbox\ngetAuthentication\nlogin ann\n"

    private static func run(_ script: String, _ arguments: String...) throws -> Program.Outcome {
        try Program.sandbox.run(["device"] + arguments, input: Data(script.utf8))
    }

    /// The callbacks of an output, each with its arguments.
    private static func callbacks(_ outcome: Program.Outcome) -> [String] {
        outcome.output.split(separator: "\n").compactMap { $0.hasPrefix("callback  ") ? String($0.dropFirst(10)) : nil }
    }

    @Test("the transcripts of its page are what it prints")
    func transcripts() throws {
        let script = Fixtures.package.appending(path: "Tests/Sandbox/device-transcripts").path
        let page = Fixtures.package.appending(path: "Sources/MediaTokenGate/MediaTokenGate.docc/Device.md").path
        let programs = URL(filePath: Program.sandbox.executable).deletingLastPathComponent().path
        let ports = try FreePort.take(3).map { "\($0)" }
        let outcome = try Program("python3").run([script, page, programs] + ports)
        #expect(outcome.status == 0, "\(outcome.errors)")
        #expect(outcome.output.hasSuffix(" transcripts\n"))
    }

    @Test("apps of one device share its file, which nobody else can read")
    func storage() throws {
        let place = try TemporaryDirectory()
        let file = place.path + "/phone.json"
        let first = try Self.run(
            Self.logIn + "getAuthorization TNT\n", "--storage", file, "--app", "T1/com.x.AppA")
        #expect(first.status == 0, "\(first.errors)")
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        let asked = "setRequestor MML\ncheckAuthentication\ngetMetadata TTL_AUTHZ TNT\n"
        for (app, isLoggedIn) in [("T1/com.x.AppB", true), ("T1/com.x.AppA", true), ("T2/com.x.AppA", false)] {
            let callbacks = Self.callbacks(try Self.run(asked, "--storage", file, "--app", app))
            #expect(callbacks.count == 3)
            #expect(callbacks[1].hasPrefix("setAuthenticationStatus \(isLoggedIn ? 1 : 0)"), "\(app)")
            #expect(callbacks[2].contains("null") != isLoggedIn, "\(app)")
        }
    }

    @Test("a file that is none of a device is named, and left as it is")
    func otherFile() throws {
        let place = try TemporaryDirectory()
        let file = try place.write(Data(#"{"device": "x", "places": {"team T": {}}}"#.utf8), to: "other.json")
        let outcome = try Self.run("setRequestor MML\n", "--storage", file)
        #expect(outcome.status == 2)
        #expect(outcome.errors.contains("\(file): is no file of a device"))
        #expect(try String(contentsOfFile: file, encoding: .utf8).hasPrefix(#"{"device": "x""#))
    }

    @Test("as JSON each line is an object, and the media token whole")
    func json() throws {
        let outcome = try Self.run(Self.logIn + "getAuthorization TNT\n", "--json")
        let objects = try outcome.output.split(separator: "\n").map { line in
            try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        }
        let token = try #require(objects.first { $0["callback"] as? String == "setToken" }?["arguments"] as? [String])
        #expect(token[0].hasPrefix("<signatureInfo>") && token[0].hasSuffix("</authToken>") && token[1] == "TNT")
        #expect(objects.first?["line"] as? String == "setRequestor MML")
    }

    @Test("a device whose service is away says so for each request, and can go on")
    func noService() throws {
        let outcome = try Self.run("setRequestor MML\n", "--service", "http://127.0.0.1:1")
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("'no answer'"))
        #expect(Self.callbacks(outcome) == ["setRequestorComplete 0"])
    }

    @Test("a wrong password shows the page again, and a device's clock makes a login expire")
    func passwordAndClock() throws {
        let wrong = "setRequestor MML\nsetSelectedProvider Sandbox\ngetAuthentication\nlogin ann wrong\nlogin ann\n"
        let outcome = try Self.run(wrong + "clock +29d\ncheckAuthentication\nclock +2d\ncheckAuthentication\n")
        let status = Self.callbacks(outcome).filter { $0.hasPrefix("setAuthenticationStatus") }.map { $0.prefix(25) }
        #expect(status == ["setAuthenticationStatus 1", "setAuthenticationStatus 1", "setAuthenticationStatus 0"])
    }

    @Test("a script with the line ends of Windows is read as any other, and no password is shown")
    func lineEnds() throws {
        let place = try TemporaryDirectory()
        let lines = Self.logIn.replacing("login ann", with: "login ann s3cret") + "login ann s3cret more\n"
        let file = try place.write(lines.replacing("\n", with: "\r\n"), to: "script")
        let outcome = try Program.sandbox.run(["device", file])
        #expect(outcome.status == 64)
        #expect(Self.callbacks(outcome).contains("setAuthenticationStatus 1"))
        #expect(!outcome.output.contains("s3cret") && !outcome.errors.contains("s3cret"))
    }

    @Test(
        "a line that is none ends a script, with its number and what was expected",
        arguments: [
            ("getAuthorisation TNT", "'getAuthorisation' is no call and no act; did you mean getAuthorization?"),
            ("getAuthorization", "'getAuthorization'; expected getAuthorization ID"),
            ("clock 5", "'clock 5'; expected clock +5m"), ("launch x", "is 'x'; expected TEAM/BUNDLE[@SDK]"),
            ("upgrade x", "'upgrade x'; expected upgrade SDK|iOS10"), ("play x", "'play x'; expected play URL"),
            ("getMetadata TTL_AUTHZ", "'getMetadata TTL_AUTHZ'; expected getMetadata KEY [RESOURCE]"),
        ])
    func otherLine(line: String, message: String) throws {
        let outcome = try Self.run("# a comment\n\n\(line)\nsetRequestor MML\n")
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains("line 3: \(message)"), "\(outcome.errors)")
        #expect(Self.callbacks(outcome).isEmpty)
    }
}
