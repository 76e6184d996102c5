import Basics
import Foundation
import Glibc
import TestSupport
import Testing

@Suite("Watch of files")
struct FileWatchTests {
    private let directory: TemporaryDirectory
    private let file: String
    private let applied: FileMarks
    private var now: FileMarks { FileMarks(of: [file]) }

    init() throws {
        directory = try TemporaryDirectory()
        file = try directory.write("a key", to: "key.pem")
        applied = FileMarks(of: [file])
    }

    @Test("a file that is still being written is not read; settled, it is read at the next look")
    func halfWritten() throws {
        var watch = FileWatch()
        #expect(watch.changes(from: applied, to: now) == nil)
        for text in ["anot", "another k"] {
            try directory.write(text, to: "key.pem")
            #expect(watch.changes(from: applied, to: now) == nil)
        }
        #expect(watch.changes(from: applied, to: now) == [file])
        watch.attempted(isSuccessful: true, interval: 5)
        #expect(watch.changes(from: now, to: now) == nil)
    }

    @Test("a file that changes at every look is read at the third")
    func restless() throws {
        var watch = FileWatch()
        // Each size is another one, since writes in the same tick of the clock have the same times.
        let looks = try (11...16).map { count in
            try directory.write(String(repeating: "x", count: count), to: "key.pem")
            return watch.changes(from: applied, to: now) != nil
        }
        #expect(looks == [false, false, true, false, false, true])
    }

    @Test("contents that failed are tried again a minute later; other ones, and those of before, once settled")
    func failure() throws {
        var watch = FileWatch()
        func look() -> Bool { watch.changes(from: applied, to: now) != nil }
        try directory.write("damaged", to: "key.pem")
        #expect([look(), look()] == [false, true])
        watch.attempted(isSuccessful: false, interval: 20)
        #expect((1...4).map { _ in look() } == [false, false, false, true])
        watch.attempted(isSuccessful: false, interval: 20)
        try directory.write("damaged, too", to: "key.pem")
        #expect([look(), look()] == [false, true])
        watch.attempted(isSuccessful: false, interval: 20)
        let before = watch.changes(from: applied, to: applied)
        #expect(before == nil)
        #expect(watch.changes(from: applied, to: applied) == [])
    }

    @Test("a swapped link is a change, a missing file or pipe another, and a folder or a pipe none by itself")
    func links() throws {
        let link = "\(directory.path)/link.pem"
        symlink(file, link)
        let before = FileMarks(of: [link])
        let other = try directory.write("a key", to: "other.pem")
        unlink(link)
        let without = FileMarks(of: [link])
        symlink(other, link)
        #expect(FileMarks(of: [link]).differences(from: before) == [link])
        #expect(without.differences(from: before) == [link])
        let (pipe, folder) = ("\(directory.path)/pipe", directory.path)
        mkfifo(pipe, 0o600)
        let marks = FileMarks(of: [pipe, folder])
        try directory.write("new", to: "new.pem")
        #expect(FileMarks(of: [pipe, folder]) == marks)
        unlink(pipe)
        #expect(FileMarks(of: [pipe, folder]).differences(from: marks) == [pipe])
    }
}
