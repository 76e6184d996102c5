/// The description of the gate's HTTP API (OpenAPI 3.1), which the admin address serves as `/openapi.json`.
package enum OpenAPIDescription {
    /// - Parameter version: the version of the program.
    package static func document(version: String) -> String {
        String(decoding: PackageResources.openapi_json, as: UTF8.self)
            .replacing("{version}", with: version, maxReplacements: 1)
    }
}
