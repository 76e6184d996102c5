/// What can be a member of a JSON object, so that objects are made of plain values.
package protocol JSONRepresentable {
    var json: JSONValue { get }
}

extension JSONValue: JSONRepresentable {
    package var json: JSONValue { self }

    /// Creates an object; members without a value are left out.
    package init(_ members: KeyValuePairs<String, (any JSONRepresentable)?>) {
        self = .object(
            members.reduce(into: [:]) { object, member in
                if let value = member.value { object[JSONName(member.key)] = value.json }
            })
    }

    /// The object with the members of another one too, which come first where both have one.
    package func with(_ other: JSONValue) -> JSONValue {
        guard case .object(let own) = self, case .object(let others) = other else { return self }
        return .object(own.merging(others) { $1 })
    }
}

extension String: JSONRepresentable { package var json: JSONValue { .text(self) } }
extension Bool: JSONRepresentable { package var json: JSONValue { .boolean(self) } }
extension Double: JSONRepresentable { package var json: JSONValue { .number(self) } }
extension Int: JSONRepresentable { package var json: JSONValue { .number(Double(self)) } }
extension Int64: JSONRepresentable { package var json: JSONValue { .number(Double(self)) } }
extension Array: JSONRepresentable where Element: JSONRepresentable {
    package var json: JSONValue { .list(map(\.json)) }
}
extension Dictionary: JSONRepresentable where Key == String, Value: JSONRepresentable {
    package var json: JSONValue { .object(reduce(into: [:]) { $0[JSONName($1.key)] = $1.value.json }) }
}
