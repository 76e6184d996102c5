internal import Basics
internal import MediaToken

extension Collection<RedisReply> {
    /// The first error among the replies of the server at `address`, or `loss` if a reply was lost; `nil` if there is
    /// neither. A redirection is no error.
    func firstError(at address: RedisAddress, loss: ReplayStoreError) -> ReplayStoreError? {
        for case .error(let error) in self where error.redirection == nil { return error.storeError(at: address) }
        return contains(.lost) ? loss : nil
    }
}

extension RedisErrorReply {
    /// The error for the store's operator: what the server at `address` replied, and what to do about it.
    func storeError(at address: RedisAddress) -> ReplayStoreError {
        guard code != "OOM" else { return .full("\(address) has reached its maxmemory") }
        return .unavailable("\(address) answers '\(printable(line))'" + (advice.map { "; " + $0 } ?? ""))
    }

    /// The error for the reply to `AUTH`. It shows only the reply's first word, because some servers repeat the command
    /// in the reply, password included.
    func loginError(at address: RedisAddress) -> ReplayStoreError {
        .unavailable("\(address) refuses the login with \(printable(String(code)))" + (advice.map { "; " + $0 } ?? ""))
    }

    private var advice: String? {
        switch code {
        case "NOAUTH": "give user:password@ or :password@ in its URL, or password-file"
        case "WRONGPASS": "set the user and password in its URL, or its password-file, right"
        case "NOPERM":
            "its user needs the keys, +set +get +eval +info +time +config|get +select, in a cluster +asking +cluster +wait, "
                + "with wait= +wait, for stat +scan +pexpiretime"
        case "READONLY": "it is a replica: name the primary"
        case "LOADING": "it serves once it has loaded its data"
        case "CLUSTERDOWN": "it serves once a primary is there for each slot"
        case "MISCONF": "it cannot write to its disk"
        case "DENIED": "set a password there, or have it listen on the loopback alone"
        case "ERR" where line.contains("cluster support disabled"): "it is not a cluster: leave out cluster=true"
        case "ERR" where line.contains("max number of clients"): "it has as many clients as its maxclients allows"
        case "ERR" where line.contains("unknown command 'GET'"): "it is a Sentinel: name the primary that it watches"
        default: nil
        }
    }
}
