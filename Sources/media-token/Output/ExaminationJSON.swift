internal import MediaToken
internal import MediaTokenGate

/// Encodes an examination for programs: one JSON object on one line, its keys in alphabetical order.
enum ExaminationJSON {
    static func line(_ examination: Examination, status: String, code: Int?) -> String {
        JSONLine.encode(Object(examination, status: status, code: code))
    }

    private struct Object: Encodable {
        struct TokenObject: Encodable {
            let kind: String
            let issueTimeMilliseconds: Int64?
            let fields: FieldsObject
        }

        let status: String
        let code: Int?
        let key: String?
        let token: TokenObject?
        let checks: [CheckObject]

        init(_ examination: Examination, status: String, code: Int?) {
            self.status = status
            self.code = code
            key = examination.key
            token = examination.kind.map { kind in
                TokenObject(
                    kind: kind.rawValue, issueTimeMilliseconds: examination.issueTime?.timestamp.milliseconds,
                    fields: FieldsObject(fields: examination.fields))
            }
            checks = examination.reports.map(CheckObject.init)
        }
    }

    /// A token's fields by name. A name that occurs more than once, as only unknown elements may, has an array.
    private struct FieldsObject: Encodable {
        private struct Name: CodingKey {
            let stringValue: String
            var intValue: Int? { nil }
            init(_ name: String) { stringValue = name }
            init?(stringValue: String) { self.stringValue = stringValue }
            init?(intValue: Int) { return nil }
        }

        let fields: [TokenField]

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Name.self)
            for (name, group) in Dictionary(grouping: fields, by: \.name) {
                if group.count == 1 {
                    try container.encode(group[0].text, forKey: Name(name))
                } else {
                    try container.encode(group.map(\.text), forKey: Name(name))
                }
            }
        }
    }
}
