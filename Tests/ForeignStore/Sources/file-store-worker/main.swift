import FileReplayStore
import ReplayStoreTesting

ReplayStoreWorker.run(CommandLine.arguments.dropFirst()) { place, now in
    try FileReplayStore(directory: place, at: now)
}
