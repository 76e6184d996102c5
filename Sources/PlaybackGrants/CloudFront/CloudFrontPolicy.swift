internal import Basics

/// The contents of a custom policy (Amazon CloudFront Developer Guide, "Create a policy statement for a signed URL that
/// uses a custom policy"). It must have one statement and no unknown member, because that might be a further
/// restriction.
struct CloudFrontPolicy {
    let resource: String
    /// The start in seconds since 1970; `nil` if the policy has none.
    let begin: Int64?
    /// The expiry in seconds since 1970.
    let end: Int64
    let ip: String?

    /// Reads a policy.
    ///
    /// - Throws: ``GrantError`` for the field `scope`, with what is different.
    init(_ text: String) throws(GrantError) {
        guard let document = try? StrictJSON.readObject(Array(text.utf8)[...]) else {
            throw .form("is not a JSON object")
        }
        let top = try Self.members(.object(document.members), "the policy", ["Statement"])
        guard case .list(let statements)? = top["Statement"], statements.count == 1 else {
            throw .form("has not one Statement in a list")
        }
        let statement = try Self.members(statements[0], "Statement", ["Resource", "Condition"])
        guard case .text(let resource)? = statement["Resource"] else { throw .form("has no Resource that is a string") }
        let conditions = try Self.members(
            statement["Condition"], "Condition", ["DateLessThan", "DateGreaterThan", "IpAddress"])
        guard let end = try Self.time(conditions, "DateLessThan") else { throw .form("has no DateLessThan") }
        (self.resource, self.end) = (resource, end)
        begin = try Self.time(conditions, "DateGreaterThan")
        switch try Self.value(conditions, "IpAddress", "AWS:SourceIp") {
        case .text(let text)?: ip = text
        case nil: ip = nil
        default: throw .form("has in IpAddress a AWS:SourceIp that is no string")
        }
    }

    /// The members of an object. Throws if the value is not an object, or has a member that is not in `known`.
    private static func members(
        _ value: JSONValue?, _ name: String, _ known: [JSONName]
    ) throws(GrantError) -> [JSONName: JSONValue] {
        guard case .object(let members)? = value else { throw .form("has a \(name) that is no object") }
        if let other = members.keys.map(\.text).sorted().first(where: { !known.map(\.text).contains($0) }) {
            throw .form(
                "has '\(printable(other, limit: 40))' in \(name); expected \(known.map(\.text).joined(separator: ", "))"
            )
        }
        return members
    }

    /// The only member of a condition; `nil` if the condition is not given.
    private static func value(
        _ conditions: [JSONName: JSONValue], _ condition: JSONName, _ name: JSONName
    ) throws(GrantError) -> JSONValue? {
        guard let object = conditions[condition] else { return nil }
        guard let value = try members(object, condition.text, [name])[name] else {
            throw .form("has no \(name.text) in \(condition.text)")
        }
        return value
    }

    private static func time(
        _ conditions: [JSONName: JSONValue], _ condition: JSONName
    ) throws(GrantError) -> Int64? {
        guard let value = try value(conditions, condition, "AWS:EpochTime") else { return nil }
        guard case .number(let number) = value, let time = Int64(exactly: number) else {
            throw .form(
                "has the AWS:EpochTime \(printable(value.document, limit: 40)) in \(condition.text); expected a whole number"
            )
        }
        return time
    }
}

extension GrantError {
    fileprivate static func form(_ reason: String) -> Self { Self("scope", reason) }
}
