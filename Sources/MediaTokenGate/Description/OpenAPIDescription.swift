internal import MediaToken

/// The description of the gate's HTTP API (OpenAPI 3.1), which the admin address serves as `/openapi.json`.
package enum OpenAPIDescription {
    /// The description, with every code that the gate has.
    ///
    /// - Parameter version: the version of the program.
    package static func document(version: String) -> String {
        let codes = VerdictCode.allCases.map(\.rawValue) + GateCode.allCases.map(\.rawValue) + ["VERIFIED"]
        let numbers = VerdictCode.allCases.map { "\($0.number) \($0.rawValue)" }
        return String(decoding: PackageResources.openapi_json, as: UTF8.self)
            .replacing("{version}", with: version)
            .replacing("{codes}", with: codes.joined(separator: "\", \""))
            .replacing("{numbers}", with: numbers.joined(separator: ", "))
    }
}
