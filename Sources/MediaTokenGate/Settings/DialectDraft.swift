internal import StreamPaths
internal import TextEncodings

/// A dialect as the configuration file has it.
struct DialectDraft: Sendable {
    private var path: String?
    private var method = "POST"
    private var token: DialectPlace?
    private var requestor: DialectPlace?
    private var resource: DialectPlace?
    private var url: DialectPlace?
    private var route: String?
    private var accepted: DialectAnswers.Answer?
    private var rejected: DialectAnswers.Answer?
    private var undecided: DialectAnswers.Answer?

    private static let table = SettingsTable<DialectDraft>(settings: [
        Setting(
            "path", "PATH", .text(pattern: "/(?!v1(?:/|$))[^?*]*"), "Path of the gate at which apps ask",
            example: "/token"
        ) { object, name, draft in
            guard let path = object.text(name) else { return }
            draft.path = path
            let isOwn = path == "/v1" || path.hasPrefix("/v1/")
            guard isOwn || path.contains("*") || GateRoute.path(path) == nil else { return }
            object.refuse(
                name,
                "is '\(printable(path))'; expected a path from / on, without a query, and none of the gate's own /v1/…")
        }.required,
        Setting(
            "method", "METHOD", .word(["GET", "POST"]), "Method with which apps ask", default: "POST", example: "POST"
        ) { object, name, draft in draft.method = object.word(name, ["GET", "POST"]) ?? draft.method },
        place("token", "Where the token is", example: "json:token;base64", \.token).required,
        place(
            "requestor", "Where the requestor is; the route's if not given", example: "json:requestorId", \.requestor),
        place(
            "resource", "Where the resource is; the route's if not given", example: "json:resourceId;base64", \.resource
        ),
        place("url", "Where the stream's URL or path is; this or route", example: "json:url", \.url),
        .text(
            "route", "PATH", "Path of the route that the token and the grant are for, if requests have no URL",
            example: "/live/tnt", \.route),
        answer("accepted", "Answer to a token that is accepted", 200...299, #"{"tokenizedUrl": "{url}"}"#, \.accepted),
        answer(
            "rejected", "Answer to a token that is rejected, and to a request that is not understood", 200...499,
            #"{"error": "{code}", "message": "{detail}"}"#, \.rejected),
        answer(
            "undecided", "Answer if there is no decision; the token may count as used", 200...599,
            #"{"error": "{code}", "message": "{detail}"}"#, \.undecided),
    ])

    /// The JSON Schema of a dialect.
    static let schema = table.schema(["oneOf": [["required": ["url"]], ["required": ["route"]]]])

    /// A dialect whose requests have a URL.
    static let example = JSONValue.object(
        Dictionary(
            uniqueKeysWithValues: table.settings.filter { $0.name != "route" }.map { (JSONName($0.name), $0.example) }))

    /// The settings, for the page on settings.
    static var settings: [Setting<DialectDraft>] { table.settings }

    private static func place(
        _ name: String, _ help: String, example: String,
        _ path: any WritableKeyPath<DialectDraft, DialectPlace?> & Sendable
    ) -> Setting<DialectDraft> {
        Setting(
            name, "PLACE", .text(pattern: "(?:query|form|header|json):[^;]+(?:;base64)?"), help, example: .text(example)
        ) { object, name, draft in
            guard let text = object.text(name) else { return }
            draft[keyPath: path] = DialectPlace(text)
            if draft[keyPath: path] == nil {
                object.refuse(name, "is '\(printable(text))'; expected \(DialectPlace.forms)")
            }
        }
    }

    private static func answer(
        _ name: String, _ help: String, _ statuses: ClosedRange<Int>, _ example: String,
        _ path: any WritableKeyPath<DialectDraft, DialectAnswers.Answer?> & Sendable
    ) -> Setting<DialectDraft> {
        let table = AnswerDraft.table(statuses)
        return Setting(
            name, "ANSWER", .object(table.schema()), help,
            example: [
                "status": .number(Double(statuses.upperBound == 299 ? 200 : statuses.upperBound == 499 ? 403 : 503)),
                "type": "application/json", "body": .text(example),
            ]
        ) { object, name, draft in
            guard var answer = object.object(name) else { return }
            draft[keyPath: path] = AnswerDraft.answer(&answer, table)
            object.takeOver(answer)
        }.required
    }

    /// Reads a dialect; `nil` if it has problems, which are added to the object.
    static func dialect(_ object: inout SettingsObject) -> Dialect? {
        var draft = DialectDraft()
        table.read(&object, into: &draft)
        return draft.dialect(&object)
    }

    /// Checks what depends on several settings, and makes the dialect.
    private func dialect(_ object: inout SettingsObject) -> Dialect? {
        let named = [("token", token), ("requestor", requestor), ("resource", resource), ("url", url)]
        let places = named.compactMap { name, place in place.map { (name, $0) } }
        for (index, (name, place)) in places.enumerated() {
            if place.isInBody, method == "GET" {
                object.refuse(name, "is '\(printable(place.text))', and a GET has no body; expected query or header")
            }
            for (otherName, other) in places[..<index] {
                if place.meets(other) {
                    object.refuse(name, "is where \(otherName) is; expected another place")
                } else if place.isInBody, other.isInBody, place.isInForm != other.isInForm {
                    object.refuse(name, "is in another form of body than \(otherName); expected form or json for both")
                }
            }
        }
        if object.wasTaken("url") == object.wasTaken("route") {
            object.refuse("url", "expected one of url and route")
        }
        for (name, answer) in [("rejected", rejected), ("undecided", undecided)] where answer == accepted {
            if answer != nil {
                object.refuse(name, "is the same as accepted; expected an answer that apps can tell from it")
            }
        }
        guard object.problems.isEmpty, let path, let token, let accepted, let rejected, let undecided,
            let target = url.map(Dialect.Target.url) ?? route.map(Dialect.Target.route)
        else { return nil }
        return Dialect(
            at: object.place, path: path, method: method, token: token, requestor: requestor, resource: resource,
            target: target,
            answers: DialectAnswers(accepted: accepted, rejected: rejected, undecided: undecided))
    }
}

/// An answer of a dialect as the configuration file has it.
private struct AnswerDraft: Sendable {
    private var status = 0
    private var type = ""
    private var body = ""

    static func table(_ statuses: ClosedRange<Int>) -> SettingsTable<AnswerDraft> {
        SettingsTable(settings: [
            Setting.number("status", "N", "HTTP status", statuses, \.status, { $0 }).required,
            Setting("type", "TYPE", .text(), "Media type of the body", example: "application/json") {
                object, name, draft in draft.type = object.text(name) ?? ""
            }.required,
            Setting("body", "TEXT", .text(), "Body, with placeholders", example: "{}") {
                object, name, draft in draft.body = object.text(name) ?? ""
            }.required,
        ])
    }

    static func answer(_ object: inout SettingsObject, _ table: SettingsTable<AnswerDraft>) -> DialectAnswers.Answer? {
        var draft = AnswerDraft()
        table.read(&object, into: &draft)
        guard object.problems.isEmpty else { return nil }
        do throws(AnswerTemplateError) {
            return DialectAnswers.Answer(draft.status, try AnswerTemplate(draft.body, type: draft.type))
        } catch {
            object.refuse(error.setting, error.reason)
            return nil
        }
    }
}

extension SettingsObject {
    /// Reads the dialects. No two of them may be asked at one path with one method.
    mutating func dialects(_ name: String) -> [Dialect] {
        var dialects: [Dialect] = []
        for var object in objects(name) {
            if let dialect = DialectDraft.dialect(&object) {
                if dialects.contains(where: { $0.path.hasSameBytes(as: dialect.path) && $0.method == dialect.method }) {
                    object.refuse("path", "is that of another dialect with this method; expected each once")
                }
                dialects.append(dialect)
            }
            takeOver(object)
        }
        return dialects
    }
}
