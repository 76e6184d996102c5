internal import Basics
internal import MediaToken
internal import PlaybackGrants
internal import Settings

/// Reads the `grant` of a route's settings.
enum RouteGrantReader {
    /// The settings of every kind of grant, apart from `kind`.
    static let common = SettingsTable<RouteGrantSettings>([
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
        .word(
            "delivery", "HOW",
            "How the player gets the grant; a Common Access Token as cookie, others in the query, if not given",
            \.delivery),
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

    /// All settings of a kind of grant, apart from `kind`.
    private static func table(_ kind: GrantKind) -> SettingsTable<RouteGrantSettings> {
        SettingsTable(common, kind.fileSettings.within(\.maker.values))
    }

    /// Reads the settings. If there are problems, adds all of them to `route` and returns `nil`.
    static func read(_ grant: SettingsObject, path: String, _ route: inout SettingsObject) -> RouteGrantSettings? {
        var object = grant
        defer { route.takeOver(object) }
        if !object.has("kind") { object.refuse("kind", "is missing; expected \(GrantKind.names)") }
        guard let kind = object.word("kind", GrantKind.all.map(\.name)).flatMap(GrantKind.named) else { return nil }
        var settings = RouteGrantSettings(GrantConfiguration(kind), scope: path)
        table(kind).read(&object, into: &settings)
        if object.wasTaken("key-file") == object.wasTaken("key-env") {
            object.refuse("key-file", "expected one of key-file and key-env")
        } else if object.wasRead("key-file"), settings.maker.keyFiles.isEmpty {
            object.refuse("key-file", "is an empty list; expected at least one")
        } else if let problem = settings.maker.keyProblem {
            object.refuse(problem.field, problem.reason)
        }
        if kind.needsOrigins, !object.wasTaken("origins") {
            let problem = RouteGrant.originsMissing
            object.refuse(problem.field, problem.reason)
        }
        if settings.delivery != .cookie {
            object.refuse(
                ["cookie-domain", "partitioned"], withoutEffect: "with delivery query; expected delivery cookie")
        }
        return object.problems.isEmpty ? settings : nil
    }

    /// The JSON Schema of a grant: one of those of its kinds.
    static let schema: JSONValue = ["oneOf": .list(GrantKind.all.map(schema))]

    private static func schema(of kind: GrantKind) -> JSONValue {
        var others: [JSONName: JSONValue] = ["kind": ["const": .text(kind.name)]]
        var table = table(kind)
        if !kind.takesSeveralKeys {
            table = SettingsTable(table.settings.filter { $0.name != "key-file" })
            others["key-file"] = .object(
                SettingForm.text().schema.merging(["description": "File with the grant key"]) { $1 })
        }
        let required =
            ["kind"] + (kind.needsOrigins ? ["origins"] : []) + table.settings.filter(\.isRequired).map(\.name)
        return table.schema(
            [
                "required": .list(required.map { .text($0) }),
                "oneOf": [["required": ["key-file"]], ["required": ["key-env"]]],
            ], alsoNaming: others)
    }
}
