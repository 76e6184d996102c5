internal import PlaybackGrants
internal import MediaToken
internal import TextEncodings

/// Reads the `grant` of a route's settings.
enum RouteGrantReader {
    /// Reads the settings. If there are problems, adds all of them to `route` and returns `nil`.
    static func read(_ grant: SettingsObject, path: String, _ route: inout SettingsObject) -> RouteGrantSettings? {
        var object = grant
        defer { route.refuse(with: object) }
        let name = object.required("kind") { $0.word("kind", GrantKind.all.map(\.name)) }
        guard let kind = name.flatMap(GrantKind.named) else { return nil }
        var maker = GrantSettings(kind)
        (maker.keyFile, maker.keyEnvironment) = (object.text("key-file"), object.text("key-env"))
        if (maker.keyFile == nil) == (maker.keyEnvironment == nil) {
            object.refuse("key-file", "expected one of key-file and key-env")
        }
        for setting in kind.scheme.settings where setting.isInFile { object.read(setting, into: &maker.values) }

        var settings = RouteGrantSettings(maker, scope: object.text("scope") ?? path)
        if kind.scheme.needsOrigins, !object.has("origins") {
            let problem = RouteGrant.originsMissing
            object.refuse(problem.field, problem.reason)
        }
        settings.origins = object.origins("origins")
        if let seconds = object.number("validity", 1...Int(GrantPeriod.longestSeconds)) {
            settings.validity = Int64(seconds)
        }
        let deliveries = GrantDelivery.allCases.map(\.rawValue)
        if let word = object.word("delivery", deliveries) {
            settings.delivery = .init(rawValue: word) ?? settings.delivery
        }
        if let domain = object.text("cookie-domain") {
            settings.cookieDomain = domain
            if domain.isEmpty || !domain.utf8.allSatisfy(\.isTokenCharacter) {
                object.refuse("cookie-domain", "is '\(printable(domain))'; expected the name of a host")
            }
            if settings.delivery != .cookie {
                object.refuse("cookie-domain", "is given, and the delivery is query; expected one or the other")
            }
        }
        let longest = Int(RetryWindow.longestSpan.components.seconds)
        settings.retryWindow = object.number("retry-window", 1...longest).map { .seconds($0) }
        object.refuseRest()
        return object.problems.isEmpty ? settings : nil
    }
}

extension SettingsObject {
    /// Reads a setting that is specific to the kind of grant.
    fileprivate mutating func read(_ setting: GrantSetting, into values: inout GrantValues) {
        if setting.isRequired, !has(setting.name) { refuse(setting.name, "is missing") }
        switch setting.value {
        case .text, .secretFile: values[setting.name] = text(setting.name)
        case .word(let words): values[setting.name] = word(setting.name, words)
        case .flag: values[setting.name] = flag(setting.name) == true ? "" : nil
        case .list:
            guard let list = texts(setting.name) else { return }
            if list.isEmpty { refuse(setting.name, "is an empty list; expected at least one") }
            values.set(setting.name, to: list)
        }
        if let problem = values.all(setting.name).compactMap(setting.problem).first { refuse(setting.name, problem) }
    }

    fileprivate mutating func word(_ name: String, _ words: [String]) -> String? {
        guard let text = text(name) else { return nil }
        guard words.contains(text) else {
            refuse(name, "is '\(printable(text))'; expected \(words.joined(separator: ", "))")
            return nil
        }
        return text
    }
}
