internal import Basics
internal import PlaybackGrants
internal import Settings

/// The file to start with, the example file, the JSON Schema and the page on settings, made from the tables of
/// settings.
package enum SettingsDocuments {
    /// A configuration file with every setting, for each kind of grant too.
    package static var example: String {
        var members = Dictionary(
            uniqueKeysWithValues: GateSettings.table.settings.map { (JSONName($0.name), $0.example) })
        members["listen"] = ["127.0.0.1:8080", "tls:127.0.0.1:8443"]
        members["routes"] = .list(GrantKind.all.map(route) + [RouteDraft.openExample])
        return JSONValue.object(members).document
    }

    /// A configuration file to begin with: what a gate needs, and every other setting as a comment below its help. Each
    /// setting but the last ends with a comma, so that a comment becomes a setting without a change elsewhere.
    package static var start: String {
        var lines = [
            "// Settings of media-token serve. A line that begins with // is a comment: without the slashes it is a setting.",
            "// 'media-token serve --config FILE --check' checks the file; SIGHUP has a gate read it again.", "{",
        ]
        for setting in GateSettings.table.settings where setting.name != "routes" {
            let isNeeded = ["keys", "replays"].contains(setting.name)
            let value = isNeeded ? setting.example : setting.defaultValue ?? setting.example
            let text = "\"\(setting.name)\": \(value.document),"
            lines.append("  // \(setting.fullHelp)\(setting.defaultValue == nil ? ". For example:" : "")")
            lines += text.split(separator: "\n").map { (isNeeded ? "  " : "  // ") + $0 } + [""]
        }
        lines += [
            "  // What a path and all below it demand; \"open\": true demands nothing. A request for any other path is denied.",
            "  \"routes\": [", "    // {\"path\": \"/live\", \"requestor\": \"MML\", \"resource\": \"TNT\"}", "  ]",
            "}",
        ]
        return lines.joined(separator: "\n")
    }

    /// The JSON Schema (draft 2020-12) of the configuration file.
    package static var schema: String {
        let together: [JSONName: JSONValue] = [
            "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Configuration of media-token serve",
            "dependentRequired": [
                "tls-certificate": ["tls-key"], "tls-key": ["tls-certificate"], "tls-client-ca": ["tls-certificate"],
                "tls-client-name": ["tls-client-ca"],
            ],
        ]
        return GateSettings.table.schema(together, alsoNaming: ["$schema": ["type": "string"]]).document
    }

    /// The tables of the page on settings, in Markdown, with what holds for several settings before them.
    package static var page: String {
        var lines = ["", introduction]
        var topic = ""
        for setting in GateSettings.table.settings {
            if setting.topic != topic {
                topic = setting.topic
                lines += ["", "### \(topic)", ""] + head
            }
            lines.append(row(setting))
        }
        lines += ["", "### A route", ""] + head + RouteDraft.table.settings.map(row)
        lines += ["", "### The grant of a route", ""] + head
        lines.append("| `kind` | string | \(GrantKind.names) | reload |")
        lines += RouteGrantReader.common.settings.map(row)
        for kind in GrantKind.all {
            lines += kind.fileSettings.settings.map {
                "| `\($0.name)` | \($0.form.name) | `\(kind.name)` only: \($0.help) | reload |"
            }
        }
        lines += ["", "### A dialect", ""] + head + DialectDraft.table.settings.map(row)
        return lines.dropFirst().joined(separator: "\n")
    }

    private static let introduction =
        "A relative path is relative to the working directory of the process, also in the configuration file. The URL of a "
        + "Redis store (`replays`) is described on the page of [the Redis store](../../ReplayRedis/ReplayRedis.docc/ReplayRedis.md)."

    private static let head = ["| name | JSON | what it is | new value |", "| --- | --- | --- | --- |"]

    private static func row(_ setting: Setting<some Sendable>) -> String {
        let effect = setting.waitsForRestart ? "restart" : "reload"
        return
            "| `\(setting.name)` | \(setting.form.name) | \(setting.fullHelp.replacing("|", with: "\\|")) | \(effect) |"
    }

    /// A route with a grant of a kind, with every setting of both.
    private static func route(_ kind: GrantKind) -> JSONValue {
        var grant = Dictionary(
            uniqueKeysWithValues: RouteGrantReader.common.settings.map { (JSONName($0.name), $0.example) })
        for setting in kind.fileSettings.settings { grant[JSONName(setting.name)] = setting.example }
        let path = "/live/\(kind.name)"
        grant["kind"] = .text(kind.name)
        grant["scope"] = .text(path)
        let files = ["\(kind.name).key"] + (kind.takesSeveralKeys ? ["\(kind.name)-old.key"] : [])
        let paths = files.map { JSONValue.text("/etc/media-token/\($0)") }
        grant["key-file"] = paths.count == 1 ? paths[0] : .list(paths)
        grant["key-env"] = nil
        grant["delivery"] = .text(kind.defaultDelivery.rawValue)
        if kind.defaultDelivery != .cookie { (grant["cookie-domain"], grant["partitioned"]) = (nil, nil) }
        guard case .object(var route) = RouteDraft.example else { return RouteDraft.example }
        route["path"] = .text(path)
        route["grant"] = .object(grant)
        return .object(route)
    }
}
