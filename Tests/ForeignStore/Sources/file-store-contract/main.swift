// Checks the store in a file by the contract: file-store-contract DIRECTORY
import FileReplayStore
import Glibc
import MediaToken
import ReplayStoreTesting

struct FileStoreSubject: ReplayStoreSubject {
    let directory: String

    func makePlace() throws -> String {
        var path = Array("\(directory)/store-XXXXXX".utf8CString)
        guard mkdtemp(&path) != nil else { throw ReplayStoreError.unavailable("\(directory) takes no directory") }
        return String(decoding: path.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    func open(_ place: String, at now: Timestamp) throws -> FileReplayStore {
        try FileReplayStore(directory: place, at: now)
    }

    // The store waits a quarter of a second for other processes; the rest is left to a busy machine.
    var sharing: ReplayStoreSharing {
        .processes(worker: ReplayStoreWorker.Command(beside: "file-store-worker"), deadline: .seconds(2))
    }

    // A group is one transaction of the file.
    var claimsInGroup: Int { 40 }
}

guard CommandLine.arguments.count == 2 else {
    print("usage: file-store-contract DIRECTORY")
    exit(64)
}
let keepsAll = await ReplayStoreContract.run(FileStoreSubject(directory: CommandLine.arguments[1]))
exit(keepsAll ? 0 : 1)
