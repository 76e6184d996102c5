internal import Basics
internal import CommandShell
internal import HTTP
internal import MediaToken
internal import Sandbox

/// A kind of line in a device's script: a call of the app, or something that its viewer or its device does.
struct DeviceVerb {
    typealias Act = (DeviceSession) throws(CommandError) -> Void

    /// The verb, and the words that follow it.
    let form: String
    let help: String
    private let counts: ClosedRange<Int>
    /// What the words after the verb ask for, for the app that runs; `nil` if they are not those of the form.
    private let read: @Sendable ([String], AppInstallation) throws(UsageError) -> Act?

    /// The verbs in the order of a viewer's evening.
    static let all = [
        DeviceVerb("setRequestor ID [URL...]", "name the programmer", 1...99) { words, app in
            // tvOS sends a key pair of the app, and the sandbox lets in every app.
            let credentials = DeviceCredentials(publicKey: "sandbox", secret: "sandbox")
            return call(
                .setRequestor(
                    RequestorID(words[0]), endpoints: Array(words.dropFirst()),
                    credentials: app.system.platform == .tvOS ? credentials : nil))
        },
        DeviceVerb("setOptions visitorID=ID", "send the viewer's ID of the analytics along", 1...1) { words, _ in
            let name = "visitorID="
            return words[0].hasPrefix(name) ? call(.setVisitorID(String(words[0].dropFirst(name.count)))) : nil
        },
        DeviceVerb("checkAuthentication", "ask whether the viewer is logged in") { _, _ in call(.checkAuthentication) },
        DeviceVerb("getAuthentication", "begin a login, unless the viewer is logged in") { _, _ in
            call(.getAuthentication)
        },
        DeviceVerb("setSelectedProvider ID|-", "choose an MVPD; - cancels", 1...1) { words, _ in
            call(.setSelectedProvider(words[0] == "-" ? nil : MVPDID(words[0])))
        },
        DeviceVerb("login NAME [PASSWORD]", "fill in the login page, on a second screen too", 1...2) { words, _ in
            { session in session.logIn(words[0], password: words.count > 1 ? words[1] : "right") }
        },
        DeviceVerb("handleExternalURL URL", "tell that the web view has reached a URL", 1...1) { words, _ in
            call(.handleExternalURL(words[0]))
        },
        DeviceVerb("systemDialog ID|other|-", "choose in the system's dialog; - closes it", 1...1) { words, _ in
            let choice: DeviceEvent.SystemChoice =
                words[0] == "-" ? .closed : words[0] == "other" ? .other : .provider(MVPDID(words[0]))
            return { session in session.driver.receive(.systemDialog(choice)) }
        },
        DeviceVerb("systemLogout", "log out in the system's settings") { _, _ in
            { session in session.driver.receive(.systemLogout) }
        },
        DeviceVerb("poll", "ask again whether the second screen has logged in") { _, _ in { session in session.poll() }
        },
        DeviceVerb("checkPreauthorizedResources ID...", "ask which resources may be played", 1...99) { words, _ in
            call(.checkPreauthorizedResources(words.map { ResourceID($0) }))
        },
        DeviceVerb("checkAuthorization ID", "ask for a media token", 1...1) { words, _ in
            call(.checkAuthorization(ResourceID(words[0])))
        },
        DeviceVerb("getAuthorization ID", "ask for a media token", 1...1) { words, _ in
            call(.getAuthorization(ResourceID(words[0])))
        },
        DeviceVerb("play URL", "post the media token to the gate of this stream", 1...1) { words, _ in
            ServerURL(words[0]).map { stream in { session in session.play(stream) } }
        },
        DeviceVerb("getSelectedProvider", "ask for the MVPD") { _, _ in call(.getSelectedProvider) },
        DeviceVerb("getMetadata KEY [RESOURCE]", "TTL_AUTHN, TTL_AUTHZ, DEVICE_ID, or as userID", 1...2) { words, _ in
            MetadataKey(words).map { call(.getMetadata($0)) }
        },
        DeviceVerb("logout", "log out of all programmers and MVPDs") { _, _ in call(.logout) },
        DeviceVerb("relaunch", "start the app anew") { _, app in { session in session.launch(app) } },
        DeviceVerb("launch TEAM/BUNDLE[@SDK]", "start another app of the device", 1...1) {
            (words, app) throws(UsageError) in
            try launch(AppInstallation(words[0], on: app.system))
        },
        DeviceVerb("upgrade SDK|iOS10", "start with another SDK, such as 1.7, or system", 1...1) {
            (words, app) throws(UsageError) in
            let number = Int(words[0]) == nil ? words[0] : "\(app.system.platform.rawValue)\(words[0])"
            let (sdk, system) = (SDKVersion(words[0]), DeviceSystem(number))
            guard sdk != nil || system != nil else { return nil }
            return try launch(
                AppInstallation(
                    on: system ?? app.system, team: app.team, bundleID: app.bundleID, sdk: sdk ?? app.sdk))
        },
        DeviceVerb("clock +5m", "put the device's clock forward, or back: s, m, h, d", 1...1) { words, _ in
            milliseconds(words[0]).map { milliseconds in
                { session in session.driver.hardware.clockMilliseconds += milliseconds }
            }
        },
    ]

    private init(
        _ form: String, _ help: String, _ counts: ClosedRange<Int> = 0...0,
        _ read: @escaping @Sendable ([String], AppInstallation) throws(UsageError) -> Act?
    ) {
        (self.form, self.help, self.counts, self.read) = (form, help, counts, read)
    }

    private var name: String { String(form.prefix { $0 != " " }) }

    /// Reads a line; `nil` for one that is empty or a comment.
    static func act(of line: String, for app: AppInstallation) throws(UsageError) -> Act? {
        let words = words(of: line)
        guard let first = words.first, !first.hasPrefix("#") else { return nil }
        guard let verb = all.first(where: { $0.name == first }) else {
            throw UsageError(
                "'\(printable(first, limit: 40))' is no call and no act"
                    + Spelling.hint(for: first, among: all.map(\.name)))
        }
        let rest = Array(words.dropFirst())
        guard verb.counts.contains(rest.count), let act = try verb.read(rest, app) else {
            throw UsageError("'\(printable(shown(line), limit: 80))'; expected \(verb.form)")
        }
        return act
    }

    /// The words of a line. What stands between single quotes is one word, as an MRSS resource is.
    private static func words(of line: String) -> [String] {
        let parts = line.split(separator: "'", omittingEmptySubsequences: false).enumerated()
        return parts.flatMap { number, part in
            number % 2 == 1 ? [String(part)] : part.split(whereSeparator: \.isWhitespace).map(String.init)
        }
    }

    /// The line as it is shown: without a password.
    static func shown(_ line: String) -> String {
        let words = words(of: line)
        return words.count > 2 && words[0] == "login" ? "login \(words[1]) …" : line
    }

    private static func launch(_ app: AppInstallation) throws(UsageError) -> Act {
        if let problem = app.impossibility { throw UsageError("there is no such app: \(problem)") }
        return { session in session.launch(app) }
    }

    private static func call(_ call: DeviceCall) -> Act { { session in session.driver.call(call) } }

    /// Reads a distance such as `+5m`.
    private static func milliseconds(_ text: String) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
        let digits = text.dropFirst().dropLast()
        guard let sign = text.first, "+-".contains(sign), let unit = text.last.flatMap({ units[$0] }),
            digits.utf8.allSatisfy(\.isDigit), let count = UInt16(digits)
        else { return nil }
        return (sign == "-" ? -1 : 1) * Int64(count) * unit * 1000
    }
}

extension MetadataKey {
    /// Reads a key by Adobe's name, and the resource that belongs to one of them.
    fileprivate init?(_ words: [String]) {
        switch (words[0], words.count) {
        case ("TTL_AUTHN", 1): self = .authenticationExpiry
        case ("TTL_AUTHZ", 2): self = .authorizationExpiry(ResourceID(words[1]))
        case ("DEVICE_ID", 1): self = .deviceID
        case (let name, 1) where name != "TTL_AUTHZ": self = .user(name)
        default: return nil
        }
    }
}
