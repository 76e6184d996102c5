package import Foundation

/// Reads every answer of a gate, and every line of `media-token verify --json`, as one type.
package struct GateAnswer: Decodable {
    package struct Check: Decodable {
        package let name: String
        package let result: String
        package let detail: String
        package let advice: String?
    }

    package let code: String
    package let number: Int?
    package let status: Int?
    package let title, detail, check, advice: String?
    package let key, requestor, resource, mvpd, proxyMvpd, issueTime: String?
    package let ttl, expires: Int?
    package let url: String?
    package let kind: String?
    package let fields: [String: String]?
    package let checks: [Check]?

    package var isAccepted: Bool { code == "VALID_TOKEN" }

    package static func read(_ json: Data) throws -> GateAnswer { try JSONDecoder().decode(Self.self, from: json) }
}
