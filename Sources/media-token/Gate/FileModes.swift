internal import Basics
internal import CommandShell
internal import MediaTokenGate
internal import ReplayStores

/// Names the gate's files that somebody besides root and the gate's user can read or replace. It warns, and refuses
/// nothing.
enum FileModes {
    /// Prints a line, with what to do, for each of the files that `settings` name, and for the configuration file
    /// itself.
    static func warn(_ settings: GateSettings, file: String?) {
        var told: Set<String> = []
        for (outsider, action) in outsiders(settings, file: file) where told.insert(outsider.path).inserted {
            let path = printable(outsider.path, limit: 300)
            let action =
                outsider.isLink ? "lead it elsewhere" : outsider.isOnTheWay ? "replace what is below it" : action
            Console.printWarning("\(path): \(outsider.reason(lets: action)); run \(outsider.command(for: path))")
        }
    }

    /// The outsiders, each with what they can do with the file itself.
    private static func outsiders(_ settings: GateSettings, file: String?) -> [(Outsider, String)] {
        let secrets =
            (settings.replays.holdsPassword ? [file].compactMap(\.self) : []) + settings.replays.secretFiles
            + settings.files.filter { $0.role == .secret }.map(\.path)
        let trusted = settings.files.filter { $0.role == .trusted }
        // A user who can write to a key file, or add one to its folder, can sign tokens.
        let keys = trusted.flatMap { [$0.path] + $0.keyFiles } + settings.replays.trustedFiles
        // The store itself refuses its folder and files.
        let store = settings.replays.directory.map { Outsider.all(on: $0).filter { $0.isOnTheWay && !$0.isLink } } ?? []
        return secrets.flatMap { Outsider.all(on: $0, isSecret: true) }.map {
            ($0, $0.canRead ? "read the secret in it" : "change it")
        }
            + (file.map { Outsider.all(on: $0) } ?? []).map { ($0, "decide what opens a stream") }
            + keys.flatMap { Outsider.all(on: $0) }.map { ($0, "put other keys there") }
            + store.map { ($0, "change the store") }
    }
}
