import TestSupport
import Testing

@Suite("media-token-sandbox sso")
struct SSOCommandTests {
    private static func run(_ arguments: String...) throws -> Program.Outcome {
        try Program.sandbox.run(["sso"] + arguments)
    }

    @Test("two apps that share a login: status 0, the outcome and why")
    func shared() throws {
        let outcome = try Self.run("--os", "12", "--app", "T/com.example.one", "--app", "T/com.example.two@1.8")
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("single sign-on; "))
        #expect(outcome.output.contains("have one device ID (IDFV)"))
    }

    @Test("two apps that do not: status 1, as JSON too")
    func separate() throws {
        let outcome = try Self.run("--json", "--os=tvOS12", "--app", "T/com.example.one", "--app", "T/com.example.two")
        #expect(outcome.status == 1)
        #expect(
            outcome.output == """
                {
                  "outcome": "one login for each app",
                  "reason": "on tvOS the tokens are in the user defaults of each app",
                  "sharesDeviceID": null,
                  "sharesLogin": false,
                  "sharesStorage": false
                }

                """)
    }

    @Test("the table has a line for each row of the matrix")
    func table() throws {
        let lines = try Self.run("--table").output.split(separator: "\n")
        #expect(lines.count == 11)
        #expect(lines.contains { $0.hasPrefix("iOS 6 or older: single sign-on; ") })
    }

    @Test(
        "an invalid command line ends with status 64, and names the value",
        arguments: [
            (["--app", "T/a", "--app", "T/b"], "--os is missing"), (["--os", "x"], "--os is 'x'"),
            (["--os", "0", "--app", "T/a", "--app", "T/b"], "--os is '0'"),
            (["--os", "12", "--app", "T/a"], "--app is given 1 times"),
            (["--os", "12", "--app", "a", "--app", "T/b"], "--app is 'a'; expected TEAM/BUNDLE[@SDK]"),
            (["--os", "12", "--app", "T/a@1.x", "--app", "T/b"], "--app has the SDK '1.x'"),
            (["--table", "--os", "12"], "--os has no effect with --table"), (["x"], "expected options only"),
        ])
    func usage(arguments: [String], message: String) throws {
        let outcome = try Program.sandbox.run(["sso"] + arguments)
        #expect(outcome.status == 64)
        #expect(outcome.errors.contains(message), "\(outcome.errors)")
    }
}
