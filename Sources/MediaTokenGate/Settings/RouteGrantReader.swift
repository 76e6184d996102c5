internal import PlaybackGrants
internal import MediaToken
internal import TextEncodings

/// Reads the `grant` of a route's settings.
enum RouteGrantReader {
    /// `nil` once every problem has been told in `route`.
    static func read(_ grant: SettingsObject, path: String, _ route: inout SettingsObject) -> RouteGrantSettings? {
        var object = grant
        defer { route.refuse(with: object) }
        let kinds = GrantKind.allCases.map(\.rawValue)
        guard let kind = object.required("kind", { $0.word("kind", kinds) }).flatMap(GrantKind.init) else { return nil }
        var maker = GrantSettings(kind)
        (maker.keyFile, maker.keyEnvironment) = (object.text("key-file"), object.text("key-env"))
        if (maker.keyFile == nil) == (maker.keyEnvironment == nil) {
            object.refuse("key-file", "expected one of key-file and key-env")
        }
        switch kind {
        case .akamai:
            (maker.name, maker.saltFile) = (object.text("name"), object.text("salt-file"))
            if let name = maker.name,
                name.isEmpty || !name.utf8.allSatisfy({ $0.isLetterOrDigit || $0 == UInt8(ascii: "_") })
            {
                object.refuse("name", "is '\(printable(name))'; expected letters and digits")
            }
            maker.escapesEarly = object.flag("escape-early") ?? false
        case .cloudfront: maker.keyPairID = object.required("key-pair-id") { $0.text("key-pair-id") }
        case .secureLink: maker.expression = object.text("expression")
        case .cat: maker.keyID = object.text("key-id")
        }
        if let digest = object.word("digest", GrantSettings.digests(kind)) { maker.digest = digest }

        var settings = RouteGrantSettings(maker, scope: object.text("scope") ?? path)
        if kind == .cloudfront, !object.has("origins") {
            let problem = RouteGrant.originsMissing
            object.refuse(problem.field, problem.reason)
        }
        settings.origins = object.origins("origins")
        if let seconds = object.number("validity", 1...Int(GrantPeriod.longestSeconds)) {
            settings.validity = Int64(seconds)
        }
        let deliveries = RouteGrantSettings.Delivery.allCases.map(\.rawValue)
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
        if kind == .cat {
            (settings.issuer, settings.methods) = (object.text("issuer"), object.texts("methods"))
            settings.renewal = object.renewal("renew")
            if let methods = settings.methods, methods.isEmpty || !methods.allSatisfy(\.isMethod) {
                object.refuse("methods", "is '\(printable(methods.joined(separator: ", ")))'; expected GET, HEAD, …")
            }
        }
        let longest = Int(RetryWindow.longestSpan.components.seconds)
        settings.retryWindow = object.number("retry-window", 1...longest).map { .seconds($0) }
        object.refuseRest()
        return object.problems.isEmpty ? settings : nil
    }
}

extension String {
    /// Whether it is written as HTTP's methods are: in capitals.
    package var isMethod: Bool {
        !isEmpty && utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }
}

extension SettingsObject {
    fileprivate mutating func renewal(_ name: String) -> CATRenewal? {
        guard let text = text(name) else { return nil }
        do throws(GrantProblem) {
            return try CATRenewal(text: text)
        } catch {
            refuse(name, error.reason)
            return nil
        }
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
