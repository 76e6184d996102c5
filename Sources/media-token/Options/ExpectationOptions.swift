internal import CommandShell
internal import Files
internal import MediaToken

/// The options that say what a token must be for: requestor, resource and MVPD.
struct ExpectationOptions {
    static let group = OptionGroup(
        heading: "What the token must be for:",
        options: [
            CommandOption("requestor", "ID", "Requestor (service provider) that it was issued to (repeatable)"),
            CommandOption("resource", "ID", "Resource that it must open (repeatable: any of them)"),
            CommandOption("resource-file", "F", "The same from a file, without its last line break (repeatable)"),
            CommandOption("any-resource", nil, "Do not check the resource (unsafe)"),
            CommandOption("canonical-resource", nil, "Compare MRSS by its canonical XML, not byte by byte"),
            CommandOption("mvpd", "ID", "MVPD, and proxy MVPD, that it may come from (repeatable)"),
        ])

    let requestors: [RequestorID]
    let mvpds: Set<MVPDID>?
    private let resources: [String]
    private let resourceFiles: [String]
    private let isAnyResource: Bool
    private let isCanonical: Bool

    init(_ given: Arguments) throws(UsageError) {
        requestors = given.all("requestor").map { RequestorID($0) }
        mvpds = given.has("mvpd") ? Set(given.all("mvpd").map { MVPDID($0) }) : nil
        resources = given.all("resource")
        resourceFiles = given.all("resource-file")
        isAnyResource = given.has("any-resource")
        isCanonical = given.has("canonical-resource")
        guard !isAnyResource || (resources + resourceFiles).isEmpty && !isCanonical else {
            throw UsageError("--any-resource is given beside another resource option; expected one or the other")
        }
    }

    /// Whether the command line names a resource, or allows any.
    var namesResource: Bool { isAnyResource || !(resources + resourceFiles).isEmpty }

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
        let bytes: [UInt8]
        do { bytes = try FileBytes.read(path, limit: RawToken.sizeLimit) } catch {
            throw CommandError("\(path): \(error)")
        }
        guard var text = String(validating: bytes, as: UTF8.self) else {
            throw CommandError("\(path): is not UTF-8; expected a resource ID")
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        return text
    }
}
