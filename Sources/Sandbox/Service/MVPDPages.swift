internal import Basics
internal import HTTP

/// The pages of the pretend MVPD, which a browser shows: login and logout.
///
/// Every name and password logs in, but for the password `wrong`.
struct MVPDPages: Sendable {
    static let wrongPassword = "wrong"
    /// What the picker offers to a session that names no MVPD.
    static let offered = ["Sandbox", "SandboxTwo"]

    /// The address of the login page. It is absolute, since some clients hand a redirection on as they got it.
    static func loginURL(_ code: String, of provider: String, _ call: PassCall) -> String {
        "\(call.origin)/mvpd/login?provider=\(PercentEncoding.encode(provider))&code=\(PercentEncoding.encode(code))"
    }

    /// The login page of a session.
    ///
    /// - Parameter problem: What was wrong with the last attempt.
    func login(_ code: String, _ session: SandboxState.Session, problem: String = "") -> SandboxAnswer {
        let mvpd = session.mvpd ?? Self.offered[0]
        let picker = Self.offered.map { "<option>\($0)</option>" }.joined()
        let choice = session.mvpd == nil ? "<label>TV provider <select name=\"mvpd\">\(picker)</select></label>" : ""
        let hidden = [("provider", session.identity.provider), ("code", code)].map { name, value in
            "<input type=\"hidden\" name=\"\(name)\" value=\"\(xmlEscaped(value))\">"
        }.joined()
        return page(
            200, "Sandbox: log in to \(mvpd)",
            """
            <p>This is a pretend TV provider. Any name and password log in; the password <kbd>\(Self.wrongPassword)</kbd> does not.</p>
            \(problem.isEmpty ? "" : "<p role=\"alert\">\(xmlEscaped(problem))</p>")
            <form method="post" action="/mvpd/login">
            \(hidden)
            \(choice)
            <label>Name <input name="user" autocomplete="username" required></label>
            <label>Password <input name="password" type="password" autocomplete="current-password"></label>
            <button>Log in</button>
            </form>
            <form method="post" action="/mvpd/login">
            \(hidden)
            <button name="cancel" value="yes">Cancel</button>
            </form>
            """)
    }

    /// A page with one sentence, for a browser that is not redirected.
    func message(_ status: Int, _ text: String) -> SandboxAnswer {
        page(status, "Sandbox", "<p>\(xmlEscaped(text))</p>")
    }

    private func page(_ status: Int, _ title: String, _ content: String) -> SandboxAnswer {
        .html(
            status,
            """
            <!doctype html>
            <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
            <title>\(xmlEscaped(title))</title>
            <style>
            :root { color-scheme: light dark } body { font: 1.1em/1.5 system-ui, sans-serif; max-width: 28em; margin: 3em auto; padding: 0 1em }
            label { display: block; margin: 1em 0 } input, select { font: inherit; width: 100%; box-sizing: border-box; padding: .4em }
            button { font: inherit; padding: .4em 1.2em; margin-right: .5em } [role=alert] { font-weight: bold }
            </style></head>
            <body><main><h1>\(xmlEscaped(title))</h1>
            \(content)
            </main></body></html>

            """)
    }
}
