internal import Basics
internal import CommandShell
internal import MediaToken
internal import Settings

/// The options that say what a token must be for: requestor, resource and MVPD.
struct ExpectationOptions {
    static let table = SettingsTable<ExpectationOptions>.group(
        "What the token must be for",
        [
            .texts(
                "requestor", "ID", "Require that it was issued to this requestor (service provider)", \.requestorNames),
            .texts("resource", "ID", "Require that it opens this resource; of several, any", \.resources),
            .texts(
                "resource-file", "FILE", "Read the resource from FILE, without its last line break", \.resourceFiles),
            .flag("any-resource", "Do not check the resource (unsafe)", \.isAnyResource),
            .flag("canonical-resource", "Compare MRSS by its canonical XML, not byte by byte", \.isCanonical),
            .texts("mvpd", "ID", "Accept it only from this MVPD, or proxy MVPD", \.mvpdNames),
        ])

    private var requestorNames: [String] = []
    private var mvpdNames: [String] = []
    private var resources: [String] = []
    private var resourceFiles: [String] = []
    private var isAnyResource = false
    private var isCanonical = false

    var requestors: [RequestorID] { requestorNames.map { RequestorID($0) } }
    var mvpds: Set<MVPDID>? { mvpdNames.isEmpty ? nil : Set(mvpdNames.map { MVPDID($0) }) }

    /// Whether the command line names a resource, or allows any.
    var namesResource: Bool { isAnyResource || !(resources + resourceFiles).isEmpty }

    func check(_ given: inout SettingsObject) {
        if isAnyResource {
            given.refuse(["resource", "resource-file", "canonical-resource"], withoutEffect: "with --any-resource")
        } else if !namesResource {
            given.refuse(["canonical-resource"], withoutEffect: "without a resource")
        }
    }

    /// The resource rule of the command line; `nil` if no resource is named.
    func resourceRule() throws(CommandError) -> ResourceRule? {
        guard namesResource else { return nil }
        guard !isAnyResource else { return .unsafeAnyResource }
        var named = resources
        for file in resourceFiles { named.append(try ResourceFile.read(file)) }
        let identifiers = named.map { ResourceID($0) }
        return isCanonical ? .canonically(identifiers) : .anyOf(identifiers)
    }

    /// The MVPDs that each expected requestor allows; they are the same for all.
    var allowedMVPDs: [RequestorID: Set<MVPDID>] {
        guard let mvpds else { return [:] }
        return Dictionary(requestors.map { ($0, mvpds) }, uniquingKeysWith: { first, _ in first })
    }
}

/// A resource in a file, as an MRSS document usually is.
enum ResourceFile {
    /// Reads the resource, without one line break at the end, which editors add.
    static func read(_ path: String) throws(CommandError) -> String {
        let bytes = try CommandError.wrap(at: path) { try FileBytes.read(path, limit: RawToken.sizeLimit) }
        guard let text = String(validating: FileBytes.withoutLastLineBreak(bytes), as: UTF8.self) else {
            throw CommandError("\(path): is not UTF-8; expected a resource ID")
        }
        return text
    }
}
