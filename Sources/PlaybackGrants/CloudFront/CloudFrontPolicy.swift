internal import TextEncodings

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

    /// Reads a policy. The result is `nil` if it has another form.
    init?(_ text: String) {
        guard let document = try? StrictJSON.readObject(Array(text.utf8)[...]),
            let top = Self.members(.object(document.members), ["Statement"]),
            case .list(let statements)? = top["Statement"], statements.count == 1,
            let statement = Self.members(statements[0], ["Resource", "Condition"]),
            case .text(let resource)? = statement["Resource"],
            let conditions = Self.members(
                statement["Condition"], ["DateLessThan", "DateGreaterThan", "IpAddress"]),
            case .number(let end)? = Self.value(of: conditions["DateLessThan"], "AWS:EpochTime"),
            let end = Int64(exactly: end)
        else { return nil }
        (self.resource, self.end) = (resource, end)
        switch Self.value(of: conditions["DateGreaterThan"], "AWS:EpochTime") {
        case .number(let number)?: begin = Int64(exactly: number)
        default: begin = nil
        }
        switch Self.value(of: conditions["IpAddress"], "AWS:SourceIp") {
        case .text(let text)?: ip = text
        default: ip = nil
        }
        guard (begin != nil) == (conditions["DateGreaterThan"] != nil), (ip != nil) == (conditions["IpAddress"] != nil)
        else { return nil }
    }

    /// The members of an object; `nil` if the value is not an object or has a member that is not in `known`.
    private static func members(_ value: JSONValue?, _ known: [JSONName]) -> [JSONName: JSONValue]? {
        guard case .object(let members)? = value, members.keys.allSatisfy(known.contains) else { return nil }
        return members
    }

    private static func value(of condition: JSONValue?, _ name: JSONName) -> JSONValue? {
        members(condition, [name])?[name]
    }
}
