// Checks a store of a dictionary by the contract: dictionary-store-contract
import Glibc
import MediaToken
import ReplayStoreTesting

struct DictionaryStoreSubject: ReplayStoreSubject {
    let sharing = ReplayStoreSharing.memory

    func makePlace() -> String { "memory" }

    func open(_ place: String, at now: Timestamp) -> DictionaryReplayStore {
        DictionaryReplayStore(fencedAt: now)
    }
}

let keepsAll = await ReplayStoreContract.run(DictionaryStoreSubject())
exit(keepsAll ? 0 : 1)
