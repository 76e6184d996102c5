import Basics
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Files that are read")
struct FileBytesTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    @Test("a pipe is refused, also behind a link, and its writer not waited for; one that was handed over is read")
    func pipes() throws {
        let (pipe, link) = (directory.path + "/pipe", directory.path + "/link")
        try #require(mkfifo(pipe, 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: pipe)
        // A pipe in a folder that was handed over was put there by somebody.
        let folder = open(directory.path, O_RDONLY | O_DIRECTORY)
        defer { close(folder) }
        for path in [pipe, link, "/dev/zero", "/dev/fd/\(folder)/pipe"] {
            let error = #expect(throws: FileError.self) { try FileBytes.read(path, limit: 10) }
            #expect(error?.description == "is not a regular file")
            #expect(throws: FileError.self) { try FileBytes.withFile(path) { _ in } }
        }
        let handed = try Pipe(holding: "key")
        let path = "/dev/fd/\(handed.fileHandleForReading.fileDescriptor)"
        #expect(throws: FileError.self) { try FileBytes.read(path, limit: 10, onlyRegular: true) }
        #expect(try FileBytes.read(path, limit: 10) == Array("key".utf8))
        let file = try directory.write("a key", to: "key")
        #expect(try FileBytes.read(file, limit: 5, onlyRegular: true) == Array("a key".utf8))
        #expect(throws: FileError.self) { try FileBytes.read(file, limit: 4) }
    }

    @Test("a path has the system's reason, and is gone if it leads to no file for good")
    func reasons() throws {
        let file = try directory.write("a key", to: "key")
        symlink("loop", directory.path + "/loop")
        symlink("none", directory.path + "/dangling")
        for (path, isGone, reason) in [
            (directory.path + "/loop", true, "Too many levels of symbolic links"),
            (directory.path + "/dangling", true, "No such file or directory"),
            (file + "/x", true, "Not a directory"),
            (directory.path + "/" + String(repeating: "x", count: 256), false, "File name too long"),
        ] {
            #expect(FileBytes.isGone(path) == isGone)
            let opened = #expect(throws: FileError.self) { try FileBytes.isDirectory(path) }
            #expect(opened?.description == "cannot be opened: " + reason)
            let listed = #expect(throws: FileError.self) { try FileBytes.names(in: path) }
            #expect(listed?.description == "cannot be listed: " + reason)
        }
        #expect(try FileBytes.isDirectory(directory.path) && !FileBytes.isDirectory(file))
        #expect(FileBytes.isGone(directory.path) && !FileBytes.isGone(file))
        symlink("/dev/null", directory.path + "/masked")
        mkfifo(directory.path + "/pipe", 0o600)
        #expect(FileBytes.isGone(directory.path + "/masked") && !FileBytes.isGone(directory.path + "/pipe"))
        #expect(try FileBytes.names(in: directory.path).sorted() == ["dangling", "key", "loop", "masked", "pipe"])
    }
}

@Suite("Outsiders")
struct OutsiderTests {
    private let directory: TemporaryDirectory
    private let base: String

    init() throws {
        directory = try TemporaryDirectory()
        base = String(cString: try #require(realpath(directory.path, nil)))
        for folder in ["safe/in", "wide/in"] {
            try FileManager.default.createDirectory(atPath: "\(base)/\(folder)", withIntermediateDirectories: true)
            try directory.write("key", to: "\(folder)/file")
        }
        chmod("\(base)/wide", 0o777)
    }

    @Test("the way to a file is the kernel's: through links, and through what links lead through")
    func links() throws {
        func link(_ name: String, _ target: String) throws {
            try FileManager.default.createSymbolicLink(atPath: "\(base)/\(name)", withDestinationPath: target)
        }
        try link("folder", "\(base)/wide/in")
        try link("safe/relative", "../wide/in/file")
        try link("safe/there-and-back", "../wide/../safe/in/file")
        try link("safe/plain", "in/./file")
        try link("safe/twice", "relative")
        try link("safe/loop", "loop")
        for (path, expected) in [
            ("safe/in/file", []), ("safe/plain", []), ("wide/in/file", ["wide"]), ("folder/file", ["wide"]),
            ("folder", ["wide"]), ("safe/relative", ["wide"]), ("safe/twice", ["wide"]),
            ("safe/there-and-back", []), ("safe/../wide/in/file", ["wide"]), ("wide/none", ["wide"]),
            ("safe/loop", []), ("wide", ["wide"]),
        ] {
            let found = Outsider.all(on: "\(base)/\(path)")
            #expect(found.map(\.path) == expected.map { "\(base)/\($0)" }, "\(path)")
            #expect(found.allSatisfy { $0.isOnTheWay == (path != "wide") })
        }
        chmod("\(base)/wide", 0o1777)
        #expect(Outsider.all(on: "\(base)/wide/in/file").isEmpty)
        #expect(!Outsider.all(on: "\(base)/wide").isEmpty)
    }

    @Test(
        "who may do what with a file, by its owner, group and mode",
        arguments: [
            ("0:own", 0o644, false, nil), ("0:own", 0o664, false, nil), ("0:65534", 0o644, false, nil),
            ("0:65534", 0o664, false, "has mode 664, so that group 65534"),
            ("0:own", 0o646, false, "has mode 646, so that all users of this machine"),
            ("65534:own", 0o600, false, "belongs to user 65534, so that this user"),
            ("0:own", 0o640, true, nil), ("0:own", 0o660, true, nil), ("0:65534", 0o600, true, nil),
            ("0:65534", 0o640, true, "has mode 640, so that group 65534"),
            ("0:65534", 0o620, true, "has mode 620, so that group 65534"),
            ("0:own", 0o644, true, "has mode 644, so that all users of this machine"),
            ("65534:own", 0o600, true, "belongs to user 65534, so that this user"),
        ] as [(String, mode_t, Bool, String?)])
    func modes(owner: String, mode: mode_t, isSecret: Bool, expected: String?) throws {
        let file = "\(base)/safe/in/file"
        try Program.asRoot("chmod", String(mode, radix: 8), file)
        try Program.asRoot("chown", owner.replacing("own", with: "\(getegid())"), file)
        let found = Outsider.all(on: file, isSecret: isSecret)
        #expect(found.map { $0.reason(lets: "x") } == (expected.map { ["\($0) can x"] } ?? []))
    }
}
