internal import Basics
internal import Settings
internal import StreamPaths

/// A dialect as the configuration file has it.
struct DialectDraft: Sendable {
    private var path: String?
    private var method = Method.post
    private var places: [Dialect.Value: DialectField] = [:]
    private var route: String?
    private var accepted: DialectAnswers.Answer?
    private var rejected: DialectAnswers.Answer?
    private var undecided: DialectAnswers.Answer?

    private enum Method: String, CaseIterable {
        case get = "GET"
        case post = "POST"
    }

    static let table = SettingsTable<DialectDraft>([
        Setting(
            "path", "PATH", .text(pattern: "/(?!v1(?:/|$))[^?*]*"), "Path of the gate at which apps ask",
            example: "/token"
        ) { object, name, draft in
            draft.path = object.value(name, "a path without *, and none of the gate's own /v1/…") { path in
                path != "/v1" && !path.hasPrefix("/v1/") && !path.contains("*") ? path : nil
            }
            do throws(StreamPathError) { _ = try draft.path.map(GateRoute.path) } catch {
                object.refuse(name, "is '\(printable(draft.path ?? ""))'; \(error)")
            }
        }.required,
        .word("method", "METHOD", "Method with which apps ask", default: .post, \.method),
        place(.token, "Where the token is", example: "json:token;base64").required,
        place(.requestor, "Where the requestor is; the route's if not given", example: "json:requestorId"),
        place(.resource, "Where the resource is; the route's if not given", example: "json:resourceId;base64"),
        place(.url, "Where the stream's URL or path is; this or route", example: "json:url"),
        .text(
            "route", "PATH", "Path of the route that the token and the grant are for, if requests have no URL",
            example: "/live/tnt", \.route),
        answer("accepted", "Answer to a token that is accepted", .accepted, \.accepted),
        answer(
            "rejected", "Answer to a token that is rejected, and to a request that is not understood", .rejected,
            \.rejected),
        answer(
            "undecided", "Answer if there is no decision; the token may count as used", .undecided, \.undecided),
    ])

    /// The JSON Schema of a dialect.
    static let schema = table.schema(["oneOf": [["required": ["url"]], ["required": ["route"]]]])

    /// A dialect whose requests have a URL.
    static let example = JSONValue.object(
        Dictionary(
            uniqueKeysWithValues: table.settings.filter { $0.name != "route" }.map { (JSONName($0.name), $0.example) }))

    private static func place(_ value: Dialect.Value, _ help: String, example: String) -> Setting<DialectDraft> {
        Setting(
            value.rawValue, "PLACE", .text(pattern: "(?:query|form|header|json):[^;]+(?:;base64)?"), help,
            example: .text(example)
        ) { object, name, draft in
            draft.places[value] = object.value(name, DialectField.forms) { DialectField($0) }
        }
    }

    private static func answer(
        _ name: String, _ help: String, _ kind: AnswerDraft.Kind,
        _ path: any WritableKeyPath<DialectDraft, DialectAnswers.Answer?> & Sendable
    ) -> Setting<DialectDraft> {
        let table = AnswerDraft.table(kind)
        return Setting(
            name, "ANSWER", .object(table.schema()), help,
            example: [
                "status": .number(Double(kind.exampleStatus)), "type": "application/json",
                "body": .text(kind.exampleBody),
            ]
        ) { object, name, draft in
            guard var answer = object.object(name) else { return }
            draft[keyPath: path] = AnswerDraft.answer(&answer, kind, table)
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
        let named = Dialect.Value.allCases.compactMap { value in places[value].map { (value.rawValue, $0) } }
        for (index, (name, place)) in named.enumerated() {
            if place.isInBody, method == .get {
                object.refuse(name, "is '\(printable(place.text))', and a GET has no body; expected query or header")
            }
            for (otherName, other) in named[..<index] {
                if place.meets(other) {
                    object.refuse(name, "is where \(otherName) is; expected another place")
                } else if place.isInBody, other.isInBody, place.part != other.part {
                    object.refuse(name, "is in another form of body than \(otherName); expected form or json for both")
                }
            }
        }
        if object.wasTaken("url") == object.wasTaken("route") {
            let given = object.wasTaken("url") ? "and route are both given" : "is missing, and so is route"
            object.refuse("url", "\(given); expected one of them")
        }
        for (name, answer) in [("rejected", rejected), ("undecided", undecided)] {
            guard let answer, let accepted, answer.looksLike(accepted) else { continue }
            object.refuse(
                name,
                "has the status and the text of accepted, apart from values; expected an answer that apps can tell from it"
            )
        }
        guard object.problems.isEmpty, let path, let accepted, let rejected, let undecided else { return nil }
        return Dialect(
            at: object.place, path: path, method: method.rawValue, places, route: route,
            answers: DialectAnswers(accepted: accepted, rejected: rejected, undecided: undecided))
    }
}

/// An answer of a dialect as the configuration file has it.
private struct AnswerDraft: Sendable {
    struct Kind {
        let statuses: ClosedRange<Int>
        let values: Set<AnswerTemplate.Placeholder>
        let exampleStatus: Int
        let exampleBody: String

        static let accepted = Kind(
            statuses: 200...299, values: DialectAnswers.valuesOfAcceptance, exampleStatus: 200,
            exampleBody: #"{"tokenizedUrl": "{url}"}"#)
        static let rejected = denial(200...499, exampleStatus: 403)
        static let undecided = denial(200...599, exampleStatus: 503)

        private static func denial(_ statuses: ClosedRange<Int>, exampleStatus: Int) -> Kind {
            Kind(
                statuses: statuses, values: DialectAnswers.valuesOfDenial, exampleStatus: exampleStatus,
                exampleBody: #"{"error": "{code}", "message": "{detail}"}"#)
        }
    }

    private var status = 0
    private var type: String?
    private var body: String?

    static func table(_ kind: Kind) -> SettingsTable<AnswerDraft> {
        SettingsTable([
            Setting.number("status", "N", "HTTP status, of an answer that has a body", kind.statuses, \.status, { $0 })
                .required,
            .text("type", "TYPE", "Media type of the body", example: "application/json", \.type).required,
            .text("body", "TEXT", "Body, with placeholders", example: "{}", \.body).required,
        ])
    }

    static func answer(
        _ object: inout SettingsObject, _ kind: Kind, _ table: SettingsTable<AnswerDraft>
    ) -> DialectAnswers.Answer? {
        var draft = AnswerDraft()
        table.read(&object, into: &draft)
        guard object.problems.isEmpty, let type = draft.type, let body = draft.body else { return nil }
        // An answer with one of these ends after its header fields (RFC 9110, 15.3.5), or says to go elsewhere.
        guard ![204, 205].contains(draft.status), !(300...399).contains(draft.status) else {
            let fault = draft.status < 300 || draft.status == 304 ? "has no body" : "says to go elsewhere"
            object.refuse("status", "is \(draft.status), which \(fault); expected another status")
            return nil
        }
        do throws(AnswerTemplateError) {
            let template = try AnswerTemplate(body, type: type, filling: kind.values)
            return DialectAnswers.Answer(draft.status, template)
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
