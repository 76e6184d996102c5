internal import Basics
internal import HTTP
internal import MediaToken
internal import Settings
internal import StreamPaths

extension SettingsObject {
    /// Reads a list of listeners; `nil` if there is none.
    mutating func listeners(_ name: String, mayBeEmpty: Bool) -> [HTTPListener]? {
        let before = problems.count
        let listeners = values(name, HTTPListener.forms) { HTTPListener($0) }
        if listeners == [], problems.count == before, !mayBeEmpty {
            refuse(name, "names no address; expected at least one")
        }
        return listeners
    }

    /// Reads the MVPDs of each requestor: `{"REQUESTOR": ["ID", …]}`, or strings `REQUESTOR=ID`.
    mutating func allowLists(_ name: String) -> [RequestorID: Set<MVPDID>] {
        var allowed: [RequestorID: Set<MVPDID>] = [:]
        if hasTexts(name), let pairs = texts(name) {
            if pairs.isEmpty { refuse(name, Self.noRestriction) }
            for pair in pairs {
                guard let mark = pair.firstIndex(of: "="), mark != pair.startIndex,
                    pair.index(after: mark) != pair.endIndex
                else {
                    refuse(name, "is '\(printable(pair))'; expected REQUESTOR=ID")
                    continue
                }
                allowed[RequestorID(String(pair[..<mark])), default: []].insert(
                    MVPDID(String(pair[mark...].dropFirst())))
            }
            return allowed
        }
        guard var lists = object(name) else { return allowed }
        if lists.names.isEmpty { refuse(name, Self.noRestriction) }
        for requestor in lists.names {
            guard let identifiers = lists.texts(requestor) else { continue }
            allowed[RequestorID(requestor)] = Set(identifiers.map { MVPDID($0) })
            if identifiers.isEmpty { lists.refuse(requestor, "is an empty list, and would refuse every token") }
            if identifiers.contains("") { lists.refuse(requestor, "holds an empty string; expected the ID of an MVPD") }
        }
        takeOver(lists)
        return allowed
    }

    private static let noRestriction = "is empty, and would restrict no requestor; leave it out"

    /// Reads a list of hosts; empty if there is none.
    mutating func hosts(_ name: String) -> [StreamHost] {
        several(name, "the name of a host, without a scheme and a port") { StreamHost(withoutPort: $0) }
    }

    /// Reads a list of origins; empty if there is none.
    mutating func origins(_ name: String) -> [StreamOrigin] {
        several(name, "https://HOST[:PORT] or http://HOST[:PORT]") { StreamOrigin($0) }
    }

    /// Reads a list that, if it is given, is not empty.
    private mutating func several<Value>(_ name: String, _ expected: String, _ read: (String) -> Value?) -> [Value] {
        let before = problems.count
        guard let values = values(name, expected, read) else { return [] }
        if values.isEmpty, problems.count == before { refuse(name, "is an empty list; expected \(expected)") }
        return values
    }
}
