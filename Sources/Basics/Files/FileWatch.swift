internal import Glibc

/// Tells whether the contents of files have changed, without reading them: by device, inode, size and times of each.
package struct FileMarks: Equatable {
    private let marks: [String: [Int]]

    package init(of paths: [String]) { marks = paths.reduce(into: [:]) { $0[$1] = Self.mark(of: $1) } }

    /// The files whose contents differ, in order of their names.
    package func differences(from other: FileMarks) -> [String] {
        Set(marks.keys).union(other.marks.keys).filter { marks[$0] != other.marks[$0] }.sorted()
    }

    /// Only the kind of anything but a regular file: a folder changes with files in it that are no keys, and a pipe
    /// with each writer.
    private static func mark(of path: String) -> [Int]? {
        var status = Glibc.stat()
        // A link is followed, so a swapped one shows another inode.
        guard stat(path, &status) == 0 else { return nil }
        guard status.st_mode & S_IFMT == S_IFREG else { return [Int(status.st_mode & S_IFMT)] }
        let times = [status.st_mtim, status.st_ctim].flatMap { [$0.tv_sec, $0.tv_nsec] }
        return [Int(bitPattern: UInt(status.st_dev)), Int(bitPattern: UInt(status.st_ino)), Int(status.st_size)] + times
    }
}

/// Decides at each look at files whether their reader is to read them again, also where Kubernetes replaces them by
/// swapping a symbolic link in their path.
package struct FileWatch {
    /// The marks that the watch saw at its last look at the files.
    private var seen: FileMarks?
    /// Whether the last attempt to read the files failed.
    private var hasFailed = false
    /// How many more looks to skip before the same contents are tried again.
    private var patience = 0
    /// How many looks found a change that had not settled.
    private var unsettled = 0
    /// A file that never settles must not keep the reader from what has changed beside it, such as a key that is gone.
    private static let mostUnsettled = 2

    package init() {}

    /// The files that have changed since their contents took effect; `nil` if nothing is to be read. After a failed
    /// attempt files are read again, even with the contents of before.
    ///
    /// Files that still change are not read at the first two looks, since they may be half written.
    ///
    /// - Parameters:
    ///   - applied: The marks of the files when the contents in effect were read.
    ///   - now: The marks of the files at this look.
    package mutating func changes(from applied: FileMarks, to now: FileMarks) -> [String]? {
        defer { seen = now }
        let isSettled = now == seen ?? applied
        if !isSettled { patience = 0 }
        guard hasFailed || now != applied else {
            unsettled = 0
            return nil
        }
        guard isSettled || unsettled == Self.mostUnsettled else {
            unsettled += 1
            return nil
        }
        guard patience == 0 else {
            patience -= 1
            return nil
        }
        unsettled = 0
        return now.differences(from: applied)
    }

    /// Records the outcome of an attempt to read the files. After a failure the same contents are tried again a minute
    /// later, since the reason may pass, such as too few descriptors.
    ///
    /// - Parameter interval: The seconds between two looks.
    package mutating func attempted(isSuccessful: Bool, interval: Int) {
        hasFailed = !isSuccessful
        patience = isSuccessful ? 0 : 60 / max(1, interval)
    }
}
