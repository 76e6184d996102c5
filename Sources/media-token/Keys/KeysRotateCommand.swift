internal import Basics
internal import CommandShell
internal import Glibc
internal import MediaTokenGate
internal import PlaybackGrants
internal import Settings

/// `media-token keys rotate`: puts a key of playback grants into a gate's settings, or takes it out.
enum KeysRotateCommand {
    static let command = Command(syntax, Invocation.self, run: run)

    private static let syntax = CommandSyntax(
        name: "media-token keys rotate", operands: "",
        summary: "Put a key of playback grants into a gate's settings, or take it out.",
        details: """
            A grant of kind cat has a list of keys in FILE: the first makes grants, and each checks those that name it. \
            rotate puts the key ID first. If the list has no such key, its file is ID.key beside that of the first key, \
            and is made if it is not there. With several gates, give each of them that file and run rotate --last, so \
            that all check grants of the new key before one makes them; then run it again without --last. Once the \
            last grant of an old key has expired, rotate --remove takes the key out of the list; its file stays.

            rotate changes FILE only if all settings and files that it names are right afterwards. Comments stay, but for \
            those inside of the lists key-file and key-id. Then reload the gate: systemctl reload media-token.

            Exit status: 0 done, 2 a file cannot be read or written, 64 usage, or the settings have to be repaired first.

            Examples:
              media-token keys generate --to dev
              media-token keys generate --grant --to grant.key
              echo '{"keys": ["dev/development.pem"], "replays": "memory", "routes": [
                {"path": "/live", "requestor": "MML", "resource": "TNT",
                 "grant": {"kind": "cat", "key-file": "grant.key"}}]}' > gate.json
              media-token keys rotate --config gate.json --id 2027-01
            """)

    private struct Invocation: CommandValues {
        static let table = SettingsTable<Invocation>([
            .text("config", "FILE", "Change the gate's settings in FILE", \.file).required,
            .text("id", "ID", "The ID of the key, which grants name", \.keyID).required,
            .text("route", "PATH", "Change the grant of this route only; if not given, of all routes", \.route),
            .flag("last", "Put the key last, so that it checks grants and makes none", \.isLast),
            .flag("remove", "Take the key out", \.isRemoved),
        ])

        var file: String?
        var keyID: String?
        var route: String?
        var isLast = false
        var isRemoved = false

        func check(_ given: inout SettingsObject) {
            if isRemoved { given.refuse(["last"], withoutEffect: "with --remove") }
            // The ID becomes the name of a file.
            guard let keyID else { return }
            let isName = keyID.utf8.allSatisfy { $0.isLetterOrDigit || ".-_".utf8.contains($0) }
            guard !isName || keyID.hasPrefix(".") || !(1...64).contains(keyID.utf8.count) else { return }
            given.refuse(
                "id", "is '\(printable(keyID))'; expected 1 to 64 letters, digits, '.', '-' and '_', no '.' first")
        }
    }

    @Sendable private static func run(_ invocation: Invocation) throws(CommandError) -> ExitStatus {
        let (file, keyID) = (invocation.file ?? "", invocation.keyID ?? "")
        let content = try GateOptions.content(of: file, onlyRegular: true)
        var options = GateOptions()
        let reader = try options.read(content, of: file)
        guard options.show(reader.problems) else { return .usage }
        let places = try places(of: invocation, in: reader.settings, file)
        guard var keys = places.first?.keys else { return .usage }

        let known = keys.firstIndex { $0.id.hasSameBytes(as: keyID) }.map { keys.remove(at: $0) }
        if invocation.isRemoved {
            guard known != nil else { throw CommandError("\(file): has no key '\(keyID)'; expected one to take out") }
            guard places[0].keys[0].id != keyID else {
                throw CommandError("\(file): '\(keyID)' makes grants; put another key first, then take it out")
            }
        } else {
            let key = known ?? (file: folder(of: places[0].keys[0].file) + keyID + ".key", id: keyID)
            keys.insert(key, at: invocation.isLast ? keys.endIndex : 0)
            if access(key.file, F_OK) != 0 { try KeysGenerateCommand.writeSecret(to: key.file) }
        }

        let changed = edited(content, options.text, at: places.map(\.place), to: keys)
        let after = try options.read(changed, of: file)
        let problems = after.problems + GateFiles.problems(after.settings, areWhole: after.problems.isEmpty)
        guard options.show(problems) else { return .usage }
        try NewFile.replace(file, with: changed)
        for (position, key) in keys.enumerated() {
            Console.print("\(key.id)  \(key.file)  \(position == 0 ? "makes and checks grants" : "checks grants")")
        }
        return .success
    }

    private typealias Key = (file: String, id: String)

    /// The places of the grants to change, each with its keys, which are the same for all.
    private static func places(
        of invocation: Invocation, in settings: GateSettings, _ file: String
    ) throws(CommandError) -> [(place: String, keys: [Key])] {
        var places: [(place: String, keys: [Key])] = []
        for route in settings.routes where invocation.route.map(route.isFor) ?? true {
            guard let maker = route.grantSettings?.maker, maker.kind.takesSeveralKeys, !maker.keyFiles.isEmpty,
                !places.contains(where: { $0.place == route.place + ".grant" })
            else { continue }
            places.append(
                (route.place + ".grant", Array(zip(maker.keyFiles, CommonAccessToken.keyIDs(of: maker.values)))))
        }
        guard let first = places.first else {
            let route = invocation.route.map { "route \(printable($0))" } ?? "route"
            throw CommandError(
                "\(file): expected a \(route) with a grant of kind cat that has a key-file; there is none")
        }
        if let other = places.first(where: { !$0.keys.elementsEqual(first.keys, by: ==) }) {
            throw CommandError(
                "\(file): \(first.place) and \(other.place) have different keys; expected --route, one route after another"
            )
        }
        return places
    }

    /// The folder of a file, with the slash at its end; empty for a file of the working directory.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? ""
    }

    /// The content of a file of settings with other lists of keys.
    ///
    /// - Parameter text: The content without its comments, byte for byte at the same place.
    private static func edited(_ content: [UInt8], _ text: [UInt8], at places: [String], to keys: [Key]) -> [UInt8] {
        func list(_ name: String, _ values: [String]) -> String {
            "\"\(name)\": [\(values.map { JSONValue.text($0).line }.joined(separator: ", "))]"
        }
        let (files, ids) = (list("key-file", keys.map(\.file)), list("key-id", keys.map(\.id)))
        let members = StrictJSON.places(in: text, valueLimit: GateOptions.valueLimit)
        let changes = places.flatMap { place -> [(Range<Int>, String)] in
            guard let file = members[place + ".key-file"] else { return [] }
            guard let id = members[place + ".key-id"] else { return [(file, files + ", " + ids)] }
            return [(file, files), (id, ids)]
        }
        var changed = content
        // From the end, so that the places before stay as they are.
        for (range, member) in changes.sorted(by: { $0.0.lowerBound > $1.0.lowerBound }) {
            changed.replaceSubrange(range, with: member.utf8)
        }
        return changed
    }
}
