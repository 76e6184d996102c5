internal import Basics
internal import MediaToken

/// A question of the page: what was pasted or dropped, the options of `media-token inspect`, and the keys that were
/// dropped.
struct WebQuestion: Sendable {
    let input: [UInt8]
    /// The values of each option.
    let options: [String: [String]]
    let keys: [KeyBytes]

    /// The options that a page may give. Those that name files are not among them: a page must not read this machine's
    /// disk.
    private static let optionNames = [
        "requestor", "resource", "any-resource", "canonical-resource", "mvpd", "device", "at", "skew", "default-ttl",
        "max-ttl", "min-rsa-bits", "ignore-certificate-dates",
    ]
    /// The flags among the options.
    private static let flags: Set = ["any-resource", "canonical-resource", "ignore-certificate-dates"]

    /// Reads the JSON of a request.
    init(_ json: ArraySlice<UInt8>) throws(WebRefusal) {
        do throws(JSONError) {
            let object = try StrictJSON.readObject(json)
            let text = try object.text("input") ?? ""
            input = try object.flag("base64") == true ? try Self.bytes(text, "input") : Array(text.utf8)
            options = try Self.options(try object.object("options"))
            keys = try (try object.objects("keys") ?? []).map { (key) throws(JSONError) in
                KeyBytes(
                    name: try key.requiredText("name"), bytes: try Self.bytes(try key.requiredText("base64"), "keys"),
                    password: try key.text("password"))
            }
        } catch { throw WebRefusal("the page's question: \(error.reason)") }
    }

    private static func bytes(_ text: String, _ place: String) throws(JSONError) -> [UInt8] {
        do { return try Base64.decode(Array(text.utf8)[...], alphabet: .standard, padding: .required) } catch {
            throw .otherType(place: place, expected: "Base64")
        }
    }

    private static func options(_ object: JSONObject?) throws(JSONError) -> [String: [String]] {
        var values: [String: [String]] = [:]
        for name in optionNames {
            switch object?.members[JSONName(name)] {
            case nil, .null, .boolean(false): continue
            case .boolean(true) where flags.contains(name): values[name] = [""]
            case .text(let text) where !flags.contains(name): values[name] = [text]
            case .number(let number) where !flags.contains(name):
                values[name] = [Int(exactly: number).map { "\($0)" } ?? "\(number)"]
            case .list(let items) where !flags.contains(name):
                values[name] = items.compactMap { if case .text(let text) = $0 { text } else { nil } }
                if values[name]?.isEmpty == true { values[name] = nil }
            default: throw .otherType(place: "options.\(name)", expected: "what the command line takes")
            }
        }
        return values
    }
}

/// Why a question of the page has no answer, in one line for its user.
struct WebRefusal: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// What answers the questions of the page, each with lines of JSON.
struct WebEngine: Sendable {
    /// Answers with the lines that `media-token inspect --json` prints.
    let inspect: @Sendable (WebQuestion) -> Result<[String], WebRefusal>
    /// Answers with the lines that `media-token keys list --json` prints.
    let keys: @Sendable (WebQuestion) -> Result<[String], WebRefusal>
}
