internal import Glibc

/// Somebody besides root and this process's user that can change a file, or read one that is secret.
///
/// Every file that the program relies on is judged here: keys, secrets, settings, and those of a replay store. The
/// owner of a file has to be root or this process's user. Only this process's group may be allowed to write, and only a
/// group of this process to read a secret.
package struct Outsider: Sendable {
    /// The file, or the directory or link that leads to it.
    package let path: String
    /// Whether `path` is a directory above the file, or a link on the way to it.
    package let isOnTheWay: Bool
    /// Whether `path` is a link. Its owner decides where it leads.
    package let isLink: Bool
    /// Whether the outsider can read the file.
    package let canRead: Bool
    private let cause: String
    /// `nil` if the file belongs to somebody else.
    private let remedy: String?

    /// One clause, which completes a line that begins with the path: who it is, and what they can do.
    package func reason(lets action: String) -> String { "\(cause) can \(action)" }

    /// The command that shuts the outsider out.
    ///
    /// - Parameter owner: The user that the file should belong to.
    package func command(for path: String, owner: String = "root") -> String {
        "\(remedy ?? "chown \(isLink ? "-h " : "")\(owner)") \(path)"
    }

    /// The outsiders along the real path of a file: one for each directory and link on the way, and for the file.
    /// Directories that the path leads through have to be safe as well, since a user who can write to one can put
    /// another file in its place.
    ///
    /// - Parameters:
    ///   - isSecret: Whether outsiders must not even read the file.
    package static func all(on path: String, isSecret: Bool = false) -> [Outsider] {
        let (way, file) = RealPath.steps(of: path)
        return way.compactMap { Outsider($0.status, at: $0.path, isSecret: false, isOnTheWay: true) }
            + [file.flatMap { Outsider($0.status, at: $0.path, isSecret: isSecret, isOnTheWay: false) }].compactMap(
                \.self)
    }

    /// The outsider that can change an open file; `nil` if there is none.
    package init?(of descriptor: Int32, at path: String) {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        self.init(status, at: path, isSecret: false, isOnTheWay: false)
    }

    private init?(_ status: stat, at path: String, isSecret: Bool, isOnTheWay: Bool) {
        let (mode, kind) = (status.st_mode, status.st_mode & S_IFMT)
        (self.path, self.isOnTheWay, isLink) = (path, isOnTheWay, kind == S_IFLNK)
        // The sticky bit of a directory protects the files in it from all but their owners, and not a directory of
        // keys, to which a file can be added. The mode of a link means nothing.
        let isShared = kind == S_IFLNK || isOnTheWay && mode & S_ISVTX != 0
        let outside = (isShared ? 0 : mode_t(S_IWOTH)) | (isSecret ? mode_t(S_IROTH) : 0)
        let isOwnGroup = status.st_gid == getegid()
        let group =
            (isShared || isOwnGroup ? 0 : mode_t(S_IWGRP))
            | (isSecret && !Self.isGroupOfProcess(status.st_gid) ? mode_t(S_IRGRP) : 0)
        let octal = String(mode & 0o7777, radix: 8)
        if ![0, geteuid()].contains(status.st_uid) {
            canRead = true
            cause = "belongs to user \(status.st_uid), so that this user"
            remedy = nil
        } else if mode & outside != 0 {
            canRead = mode & S_IROTH != 0
            cause = "has mode \(octal), so that all users of this machine"
            remedy = "chmod " + (isSecret ? "640" : kind == S_IFDIR ? "755" : "644")
        } else if mode & group != 0 {
            canRead = mode & S_IRGRP != 0
            cause = "has mode \(octal), so that group \(status.st_gid)"
            remedy = "chmod " + (isSecret ? "600" : kind == S_IFDIR ? "755" : "644")
        } else {
            return nil
        }
    }

    /// Whether this process belongs to a group. Root's group has no other users.
    private static func isGroupOfProcess(_ group: gid_t) -> Bool {
        var groups = [gid_t](repeating: 0, count: Int(max(0, getgroups(0, nil))))
        let count = groups.withUnsafeMutableBufferPointer { getgroups(Int32($0.count), $0.baseAddress) }
        return [0, getegid()].contains(group) || groups.prefix(Int(max(0, count))).contains(group)
    }
}

/// The way that the kernel goes from the root directory to a file.
private enum RealPath {
    typealias Step = (path: String, status: stat)

    /// As many links as the kernel follows.
    private static let mostLinks = 40

    /// The directories and links on the way, with those that links lead through, and the file; `nil` if there is none.
    static func steps(of path: String) -> (way: [Step], file: Step?) {
        var rest = Array((path.hasPrefix("/") ? path : workingDirectory + "/" + path).split(separator: "/").reversed())
        var (way, file, links) = ([Step](), step("/"), 0)
        while let name = rest.popLast() {
            guard name != ".", let directory = file else { continue }
            guard name != ".." else {
                file = step("/" + directory.path.split(separator: "/").dropLast().joined(separator: "/"))
                continue
            }
            way.append(directory)
            file = step(directory.path == "/" ? "/\(name)" : "\(directory.path)/\(name)")
            guard let link = file, link.status.st_mode & S_IFMT == S_IFLNK else { continue }
            links += 1
            guard links <= mostLinks, let target = target(of: link.path) else { return (way, nil) }
            way.append(link)
            rest += target.split(separator: "/").reversed()
            file = target.hasPrefix("/") ? step("/") : directory
        }
        return (way, file)
    }

    private static func step(_ path: String) -> Step? {
        var status = stat()
        return lstat(path, &status) == 0 ? (path, status) : nil
    }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    private static var workingDirectory: String {
        guard let path = getcwd(nil, 0) else { return "" }
        defer { free(path) }
        return String(cString: path)
    }
}
