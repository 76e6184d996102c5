internal import MediaToken
internal import PlaybackGrants
internal import TextEncodings

/// Reads the `grant` of a route's settings.
enum RouteGrantReader {
    /// The settings of every kind of grant, apart from `kind`.
    static let common = SettingsTable<RouteGrantSettings>(settings: [
        Setting(
            "key-file", "FILE", .texts(),
            "File with the grant key; this or key-env; for cat several: the first makes grants, each checks those that name it",
            example: "/etc/media-token/grants.key"
        ) { object, name, settings in settings.maker.keyFiles = object.texts(name) ?? [] },
        .text(
            "key-env", "NAME", "Environment variable with the grant key", example: "GRANT_KEY", \.maker.keyEnvironment),
        Setting(
            "scope", "PATH", .text(pattern: "/[^%*?;]*"),
            "Path prefix that a grant opens; the route's path if not given", example: "/live/tnt"
        ) {
            object, name, settings in settings.scope = object.text(name) ?? settings.scope
        },
        Setting(
            "origins", "ORIGIN", .texts(pattern: "https?://[^/]+"), "Origins whose URLs may be exchanged",
            example: ["https://stream.example"]
        ) { object, name, settings in settings.origins = object.origins(name) },
        .number(
            "validity", "S", "Seconds from a token's first acceptance to the end of its grant",
            1...Int(GrantPeriod.longest.components.seconds),
            default: Int(RouteGrantSettings.defaultValidity.components.seconds), \.validity, { .seconds($0) }
        ),
        Setting(
            "delivery", "HOW", .word(GrantDelivery.allCases.map(\.rawValue)),
            "How the player gets the grant; a Common Access Token as cookie, others in the query, if not given",
            example: .text(GrantDelivery.query.rawValue)
        ) { object, name, settings in
            let word = object.word(name, GrantDelivery.allCases.map(\.rawValue))
            settings.delivery = word.flatMap(GrantDelivery.init) ?? settings.delivery
        },
        Setting(
            "cookie-domain", "DOMAIN", .text(pattern: "[^;,\\s]+"), "Domain of the cookies; only with delivery cookie",
            example: "stream.example"
        ) { object, name, settings in
            guard let domain = object.text(name) else { return }
            settings.cookieDomain = domain
            guard domain.isEmpty || !domain.utf8.allSatisfy(\.isTokenCharacter) else { return }
            object.refuse(name, "is '\(printable(domain))'; expected the name of a host")
        },
        .flag(
            "partitioned",
            "Let players in a frame of another site have the cookies, which are then for that site; only with delivery cookie",
            \.isPartitioned),
        .number(
            "retry-window", "S", "Seconds within which a client may fetch its grant again with its Idempotency-Key",
            1...Int(RetryWindow.longestSpan.components.seconds), example: 30, \.retryWindow, { .seconds($0) }),
    ])

    /// Reads the settings. If there are problems, adds all of them to `route` and returns `nil`.
    static func read(_ grant: SettingsObject, path: String, _ route: inout SettingsObject) -> RouteGrantSettings? {
        var object = grant
        defer { route.takeOver(object) }
        if !object.has("kind") { object.refuse("kind", "is missing; expected \(GrantKind.names)") }
        guard let kind = object.word("kind", GrantKind.all.map(\.name)).flatMap(GrantKind.named) else { return nil }
        var settings = RouteGrantSettings(GrantSettings(kind), scope: path)
        for setting in kind.scheme.settings where setting.isInFile {
            object.read(setting, into: &settings.maker.values)
        }
        common.read(&object, into: &settings, alsoKnown: kind.scheme.settings.filter(\.isInFile).map(\.name))
        if object.wasTaken("key-file") == object.wasTaken("key-env") {
            object.refuse("key-file", "expected one of key-file and key-env")
        } else if object.wasRead("key-file"), settings.maker.keyFiles.isEmpty {
            object.refuse("key-file", "is an empty list; expected at least one")
        } else if let problem = settings.maker.keyProblem {
            object.refuse(problem.field, problem.reason)
        }
        if kind.scheme.needsOrigins, !object.wasTaken("origins") {
            let problem = RouteGrant.originsMissing
            object.refuse(problem.field, problem.reason)
        }
        for name in ["cookie-domain", "partitioned"] where object.wasTaken(name) && settings.delivery != .cookie {
            object.refuse(name, "is given, and the delivery is query; expected one or the other")
        }
        return object.problems.isEmpty ? settings : nil
    }

    /// The JSON Schema of a grant: one of those of its kinds.
    static let schema: JSONValue = ["oneOf": .list(GrantKind.all.map(schema))]

    private static func schema(of kind: GrantKind) -> JSONValue {
        var properties: [JSONName: JSONValue] = ["kind": ["const": .text(kind.name)]]
        for setting in common.settings { properties[JSONName(setting.name)] = setting.schema }
        if !kind.scheme.takesSeveralKeys {
            properties["key-file"] = .object(
                SettingForm.text().schema.merging(["description": "File with the grant key"]) { $1 })
        }
        var required = ["kind"] + (kind.scheme.needsOrigins ? ["origins"] : [])
        for setting in kind.scheme.settings where setting.isInFile {
            properties[JSONName(setting.name)] = .object(
                setting.form.schema.merging(["description": .text(setting.help)]) { $1 })
            if setting.isRequired { required.append(setting.name) }
        }
        let keys: JSONValue = [["required": ["key-file"]], ["required": ["key-env"]]]
        return [
            "type": "object", "properties": .object(properties), "additionalProperties": .boolean(false),
            "required": .list(required.map { .text($0) }), "oneOf": keys,
        ]
    }
}

extension GrantSetting {
    /// The form of the setting's value in the configuration file.
    var form: SettingForm {
        switch value {
        case .text, .secretFile: .text()
        case .word(let words): .word(words)
        case .flag: .flag
        case .list: .texts()
        case .seconds(let limit): .number(1...Int(limit.components.seconds))
        }
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
        case .seconds(let limit):
            values[setting.name] = number(setting.name, 1...Int(limit.components.seconds)).map { String($0) }
        case .list:
            guard let list = texts(setting.name) else { return }
            if list.isEmpty { refuse(setting.name, "is an empty list; expected at least one") }
            values.set(setting.name, to: list)
        }
        if let problem = values.all(setting.name).compactMap(setting.problem).first { refuse(setting.name, problem) }
    }
}
