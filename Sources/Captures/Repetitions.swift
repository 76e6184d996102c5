/// Distinguishes a token that a document repeats from one that was sent again.
///
/// An archive has a parameter in the URL and in a list, and a record of a log may have a token in its message and in a field of its
/// own. So a token counts once for each record, or as often as one value of the record has it.
struct Repetitions {
    /// Whether the items of arrays are records, which happened one after the other; if not, the whole document is one.
    private let hasRecords: Bool
    private var tokens: [Token: Int] = [:]
    /// How often one value has a token.
    private var inValue: [Value: Int] = [:]
    /// How often a token was new in a record.
    private var inRecord: [Record: Int] = [:]
    /// How often a token was new in a record, or in one that is within it.
    private var within: [Record: Int] = [:]
    private var grants: Set<ArraySlice<UInt8>> = []
    /// The grants without the name before their first equals sign.
    private var unnamedGrants: Set<ArraySlice<UInt8>> = []

    private struct Token: Hashable {
        let clearText: [UInt8]
        let isSent: Bool
    }

    private struct Value: Hashable {
        let token: Int
        let value: Int
    }

    private struct Record: Hashable {
        let token: Int
        let path: ArraySlice<JSONWalker.Step>
    }

    init(hasRecords: Bool) { self.hasRecords = hasRecords }

    /// Whether a finding happened, and does not only say again what an earlier one said. The caller asks about each finding once, in
    /// order.
    mutating func isNew(_ finding: Finding) -> Bool {
        switch finding.content {
        case .token(let readings):
            return isNew(Token(clearText: readings.first?.clearText ?? [], isSent: finding.isSent == true), in: finding)
        case .grant(let text):
            // A list of parameters has the value alone, without the name that it has in the URL.
            let grant = Array(text.utf8)[...]
            let unnamed = grant.drop { $0 != UInt8(ascii: "=") }.dropFirst()
            let isKnown = grants.contains(grant) || grants.contains(unnamed) || unnamedGrants.contains(grant)
            grants.insert(grant)
            unnamedGrants.insert(unnamed)
            return !isKnown
        case .error: return true
        }
    }

    private mutating func isNew(_ token: Token, in finding: Finding) -> Bool {
        let number = tokens[token, default: tokens.count]
        tokens[token] = number
        let value = Value(token: number, value: finding.origin.value)
        let count = inValue[value, default: 0] + 1
        inValue[value] = count
        let paths = hasRecords ? Self.records(of: finding.origin.record) : [[]]
        let records = paths.map { Record(token: number, path: $0) }
        let known = max(records.map { inRecord[$0] ?? 0 }.max() ?? 0, records.last.flatMap { within[$0] } ?? 0)
        guard count > known else { return false }
        for record in records { within[record] = max(within[record] ?? 0, count) }
        if let own = records.last { inRecord[own] = count }
        return true
    }

    /// The path of a record with the paths of all records around it, the whole document first.
    private static func records(of record: ArraySlice<JSONWalker.Step>) -> [ArraySlice<JSONWalker.Step>] {
        [[]]
            + record.indices.compactMap { index in
                if case .index = record[index] { record[...index] } else { nil }
            }
    }
}
