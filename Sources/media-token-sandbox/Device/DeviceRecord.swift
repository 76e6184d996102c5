internal import Basics
internal import CommandShell
internal import MediaToken
internal import Sandbox

/// Something that happened to a device, as a line or as JSON.
struct DeviceRecord {
    private let kind: String
    private let name: String
    private let arguments: [JSONValue]

    init(_ kind: String, _ name: String, _ arguments: JSONValue...) { self.init(kind, name, arguments) }

    init(_ kind: String, _ name: String, _ arguments: [JSONValue]) {
        (self.kind, self.name, self.arguments) = (kind, name, arguments)
    }

    var json: JSONValue { [JSONName(kind): .text(name), "arguments": .list(arguments)] }

    /// The record for people. A media token is shown by its length.
    var line: String {
        guard kind != "line" else { return Style.faint("> ") + printable(name, limit: .max) }
        let name = printable(name, limit: .max)
        let shown = arguments.enumerated().map { place, value in
            if name == "setToken", place == 0, case .text(let token) = value { return "(\(token.utf8.count) bytes)" }
            return Self.shown(value)
        }
        let column = kind + String(repeating: " ", count: 10 - kind.count)
        return ([Style.faint(column) + (kind == "callback" ? Style.strong(name) : name)] + shown).joined(separator: " ")
    }

    /// The most items of a list that are shown; the sandbox has an MVPD for each test card.
    private static let shownItems = 8

    private static func shown(_ value: JSONValue) -> String {
        switch value {
        case .text(let text): text.contains(" ") || text.isEmpty ? "'\(printable(text))'" : printable(text, limit: 400)
        case .object(let members): shown(members["id"] ?? .null)
        case .list(let items):
            items.prefix(shownItems).map(shown).joined(separator: " ")
                + (items.count > shownItems ? " … (\(items.count))" : "")
        default: value.line
        }
    }

    init(_ happening: DeviceDriver.Happening) {
        switch happening {
        case .reached(let url): self.init("call", "handleExternalURL", .text(url))
        case .callback(let callback): self.init(callback)
        case .tracking(.mvpdSelection(let mvpd)): self.init("tracking", "mvpdSelection", .text(mvpd.text))
        case .tracking(.authenticationDetection(let isSuccess, let mvpd)):
            self.init("tracking", "authenticationDetection", .boolean(isSuccess), .optional(mvpd?.text))
        case .tracking(.authorizationDetection(let isSuccess, let mvpd, let error)):
            self.init(
                "tracking", "authorizationDetection", .boolean(isSuccess), .optional(mvpd?.text),
                .optional(error?.rawValue))
        case .answered(let call, let status):
            self.init("request", call.text, status.map { .number(Double($0)) } ?? "no answer")
        case .page(200): self.init("page", "shown")
        case .page(let status): self.init("page", "error", status.map { .number(Double($0)) } ?? "no answer")
        }
    }

    private init(_ callback: DeviceCallback) {
        let (name, arguments): (String, [JSONValue]) =
            switch callback {
            case .setRequestorComplete(let isSuccess): ("setRequestorComplete", [isSuccess ? 1 : 0])
            case .setAuthenticationStatus(let isLoggedIn, let error):
                ("setAuthenticationStatus", [isLoggedIn ? 1 : 0] + (error.map { [.text($0.rawValue)] } ?? []))
            case .displayProviderDialog(let providers):
                ("displayProviderDialog", [.list(providers.map(\.json))])
            case .presentTvProviderDialog: ("presentTvProviderDialog", [])
            case .dismissTvProviderDialog: ("dismissTvProviderDialog", [])
            case .navigateToUrl(let url): ("navigateToUrl", [.text(url)])
            case .status(.registrationCode(let code, let url)): ("status", [.text(code), .text(url)])
            case .status(.systemLogoutNeeded):
                ("status", [.text(DeviceStatus.systemLogoutID), "log out in the system's settings too"])
            case .preauthorizedResources(let resources):
                ("preauthorizedResources", [.list(resources.map { .text($0.text) })])
            case .setToken(let token, let resource): ("setToken", [.text(token), .text(resource.text)])
            case .tokenRequestFailed(let resource, let error, let description):
                ("tokenRequestFailed", [.text(resource.text), .text(error.rawValue), .text(description)])
            case .selectedProvider(let mvpd): ("selectedProvider", [.optional(mvpd?.text)])
            case .setMetadataStatus(let value, let key): ("setMetadataStatus", [.optional(value)] + key.words)
            }
        self.init("callback", name, arguments)
    }
}

extension MetadataKey {
    /// The key, and its argument if it has one.
    fileprivate var words: [JSONValue] {
        switch self {
        case .deviceID: ["DEVICE_ID"]
        case .authenticationExpiry: ["TTL_AUTHN"]
        case .authorizationExpiry(let resource): ["TTL_AUTHZ", .text(resource.text)]
        case .user(let name): [.text(name)]
        }
    }
}

extension JSONValue {
    fileprivate static func optional(_ text: String?) -> JSONValue { text.map { .text($0) } ?? .null }
}
