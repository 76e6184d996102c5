internal import MediaToken
internal import TextEncodings

/// The description of the gate's HTTP API (OpenAPI 3.1), which the admin address serves as `/openapi.json`.
package enum OpenAPIDescription {
    /// - Parameter version: The version of the program.
    package static func document(version: String) -> String {
        let description: JSONValue = [
            "openapi": "3.1.0",
            "info": [
                "title": "media-token gate", "version": .text(version),
                "summary": "Verifies Adobe Pass short media tokens for playback backends and proxies.",
                "description": .text(introduction),
            ],
            "servers": [["url": "http://127.0.0.1:8080", "description": "Where the gate listens (setting listen)"]],
            "paths": .object(
                backendPaths.merging(proxyPaths) { $1 }.merging(adminPaths) { $1 }),
            "components": [
                "schemas": .object(OpenAPISchemas.all),
                "headers": .object(OpenAPISchemas.headers),
            ],
        ]
        return description.document
    }

    private static let introduction =
        "Every answer of /v1/verify and /v1/play is one object: `code` names the verdict, `number` is its number, and "
        + "`status` is the HTTP status. A token is accepted only by 200 with the code VALID_TOKEN. An answer without a verdict "
        + "has a code of its own and no number. Members may be added."

    private typealias Members = [JSONName: JSONValue]

    // MARK: What backends ask

    private static let backendPaths: Members = [
        "/v1/verify": [
            "post": operation(
                "verify", "Verify a token for a requestor and a resource, and consume it",
                parameters: wanted + [requestID],
                body: tokenBody(form: []),
                answers: answers("The token is accepted, and consumed", "Answer"))
        ],
        "/v1/play": [
            "post": operation(
                "play", "Verify a token for a stream's route, consume it, and make the route's playback grant",
                parameters: wanted + [named("url"), requestID, idempotencyKey],
                body: tokenBody(form: ["url", "path"]),
                answers: answers(
                    "The token is accepted, and consumed; url and the cookies are the grant", "Answer",
                    fields: ["Set-Cookie"]))
        ],
        "/v1/explain": [
            "post": operation(
                "explain", "Report on every check of a token, and consume nothing; requestor and resource are optional",
                parameters: wanted + [requestID],
                body: tokenBody(form: []),
                answers: answers(
                    "The token is explained, whatever was found", "Explanation", failures: [400, 413, 415, 431]))
        ],
    ]

    private static func operation(
        _ name: String, _ summary: String, parameters: [JSONValue], body: JSONValue? = nil, answers: JSONValue
    ) -> JSONValue {
        var operation: Members = [
            "operationId": .text(name), "summary": .text(summary), "parameters": .list(parameters),
            "responses": answers,
        ]
        operation["requestBody"] = body
        return .object(operation)
    }

    private static let examples: Members = [
        "requestor": "MML", "resource": "TNT", "url": "/live/tnt/index.m3u8", "path": "/live/tnt/index.m3u8",
    ]

    private static func named(_ name: String) -> JSONValue {
        parameter(
            name, in: "query", "The \(name), if it is not in the body", example: examples[JSONName(name)] ?? .null)
    }

    /// The token's header field, and what the token must be for. A parameter without an example is an alternative to
    /// another one, or to the body.
    private static let wanted: [JSONValue] = [
        named("requestor"), named("resource"),
        parameter(
            "requestorId", in: "query", "Another name for requestor; only one of them may be given, here or in the body"
        ),
        parameter(
            "resourceId", in: "query", "Another name for resource; only one of them may be given, here or in the body"),
        parameter(
            "X-Adobe-Primetime-MediaToken", in: "header",
            "The token, in clear text or Base64, if it is not in the body; a token in both places is refused"),
        parameter(
            "X-Requestor-Id", in: "header", "The requestor, if it is neither in the query nor in the body",
            example: "MML"),
        parameter(
            "X-Resource-Id", in: "header", "The resource, if it is neither in the query nor in the body", example: "TNT"
        ),
    ]

    private static let requestID = parameter(
        "X-Request-Id", in: "header",
        "An ID of the request, for the gate's log and its answer: 1 to 64 letters, digits and + - . / : = @ _. Without it, the trace ID of a valid traceparent (W3C Trace Context) is the ID",
        example: "r-1")

    private static let idempotencyKey = parameter(
        "Idempotency-Key", in: "header",
        "16 to 255 visible characters, made at random for each play. Within the route's retry-window the same key gets the same grant again",
        example: "0123456789abcdef0123456789abcdef")

    private static func parameter(
        _ name: String, in place: String, _ description: String, example: JSONValue? = nil, isRequired: Bool = false
    ) -> JSONValue {
        var parameter: Members = [
            "name": .text(name), "in": .text(place), "description": .text(description),
            "required": .boolean(isRequired), "schema": ["type": "string"],
        ]
        parameter["example"] = example
        return .object(parameter)
    }

    /// The body of a request with a token.
    ///
    /// - Parameter form: The fields that a form, or an object with a token, may have besides the token, the requestor and the
    ///   resource.
    private static func tokenBody(form names: [String]) -> JSONValue {
        let tokens = OpenAPISchemas.tokenNames + ["serializedToken"]
        let pairs = [["requestor", "requestorId"], ["resource", "resourceId"]]
        var fields: Members = [:]
        for name in tokens + pairs.joined() + names { fields[JSONName(name)] = ["type": "string"] }
        let named = tokens.map { JSONValue.object(["required": [.text($0)]]) }
        let own: JSONValue = [
            "type": "object", "properties": .object(fields),
            "description": "The token by one of its names, or none if the header has it",
            "oneOf": .list(named + [["not": ["anyOf": .list(named)]]]),
            "not": ["anyOf": .list(pairs.map { ["required": .list($0.map { .text($0) })] })],
        ]
        let answer: JSONValue = [
            "type": "object", "description": "An answer of Adobe's as a whole: REST v2", "required": ["decisions"],
        ]
        let text: JSONValue = [
            "schema": ["type": "string", "description": "The token, or an answer of Adobe's as a whole"]
        ]
        return [
            "required": .boolean(false), "description": "Required unless the header has the token",
            "content": [
                "text/plain": text, "application/xml": text, "text/xml": text, "application/octet-stream": text,
                "application/x-www-form-urlencoded": ["schema": own],
                "application/json": ["schema": ["anyOf": [own, answer]]],
            ],
        ]
    }

    /// The answers of an endpoint for backends.
    ///
    /// - Parameters:
    ///   - success: What 200 means.
    ///   - fields: Header fields that only the answer with 200 may have.
    private static func answers(
        _ success: String, _ schema: String, fields: [JSONName] = [],
        failures: [Int] = [400, 401, 403, 413, 415, 431, 503]
    ) -> JSONValue {
        var answers: Members = [:]
        answers["200"] = answer(200, success, "application/json", schema, fields)
        // `default` stands for an unknown path or method, a request that the server refuses to read, and an overloaded server.
        answers["default"] = answer(nil, "Any other status", "application/problem+json", "Answer")
        for status in failures {
            let retry: [JSONName] = status == 403 ? ["Retry-After"] : []
            answers[JSONName("\(status)")] = answer(
                status, reasons[status] ?? "", "application/problem+json", "Answer", retry)
        }
        return .object(answers)
    }

    private static let reasons = [
        400: "The request cannot be understood", 401: "The token is rejected: fetch a new one",
        403: "The token is rejected for this requestor, resource or MVPD, was used, or no route names the URL",
        413: "The body is too long",
        415: "The body's media type is not supported", 431: "The head of the request is too long",
        503: "No decision was possible; reject the token, which may count as used: the app fetches a new one",
    ]

    private static func answer(
        _ status: Int?, _ description: String, _ type: String, _ schema: String, _ fields: [JSONName] = []
    ) -> JSONValue {
        [
            "description": .text(description),
            "headers": OpenAPISchemas.headers(of: status, fields),
            "content": [JSONName(type): ["schema": ["$ref": .text("#/components/schemas/\(schema)")]]],
        ]
    }

    // MARK: What proxies ask

    private static let proxyPaths: Members = [
        "/v1/authz/auth-request": [
            "get": question(
                "authRequest", "Ask about a client's request, as nginx's auth_request does",
                [
                    parameter(
                        "X-Original-URI", in: "header", "The client's target, without X-Original-URL",
                        example: "/live/tnt/1.ts"),
                    parameter(
                        "X-Original-URL", in: "header", "The client's URL, in place of target and host"),
                    parameter("X-Original-Method", in: "header", "The client's method", example: "GET"),
                    parameter("X-Original-Host", in: "header", "The client's host", example: "stream.example"),
                    parameter(
                        "X-Media-Token-Attempt", in: "header",
                        "The proxy's ID of the client's request: 32 hexadecimal digits",
                        example: "00112233445566778899aabbccddeeff"),
                ])
        ],
        "/v1/authz/forward-auth": [
            "get": question(
                "forwardAuth", "Ask about a client's request, as Caddy and Traefik do",
                [
                    parameter(
                        "X-Forwarded-Uri", in: "header", "The client's target", example: "/live/tnt/1.ts",
                        isRequired: true),
                    parameter("X-Forwarded-Method", in: "header", "The client's method", example: "GET"),
                    parameter("X-Forwarded-Host", in: "header", "The client's host", example: "stream.example"),
                ])
        ],
        "/v1/authz/ext-authz/{target}": [
            "get": question(
                "extAuthz", "Ask about a client's request, as Envoy does: with the client's target after the prefix",
                [
                    parameter(
                        "target", in: "path", "The client's target, with its slashes", example: "live/tnt/1.ts",
                        isRequired: true)
                ])
        ],
    ]

    private static func question(_ name: String, _ summary: String, _ parameters: [JSONValue]) -> JSONValue {
        let token = parameter(
            "X-Media-Token", in: "header", "The token, if it is in no other of the places that the settings name",
            example: "TOKEN")
        var answers: Members = [:]
        for (status, description) in [
            200: "Serve the request", 401: "Deny the request: no token, or one that is rejected",
            403: "Deny the request",
            503: "Deny the request: no decision was possible",
        ] {
            answers[JSONName("\(status)")] = [
                "description": .text(description),
                "headers": OpenAPISchemas.headers(of: status, OpenAPISchemas.proxyFields[status] ?? []),
            ]
        }
        return operation(name, summary, parameters: parameters + [token, requestID], answers: .object(answers))
    }

    // MARK: What operators ask

    private static let adminPaths: Members = [
        "/healthz": admin("health", "Whether the process serves", ["200": "It does"]),
        "/readyz": admin(
            "readiness", "Whether the replay store can be asked, and no longer is too new to accept a token",
            [
                "200": "It can",
                "503": "It cannot, is too new, or the gate stops; the text says why, or for how many seconds",
            ]),
        "/metrics": admin("metrics", "Metrics in Prometheus's text format 0.0.4", ["200": "The metrics"]),
        "/openapi.json": admin("description", "This description", ["200": "It"], type: "application/json"),
    ]

    private static func admin(
        _ name: String, _ summary: String, _ answers: [JSONName: String], type: JSONName = "text/plain"
    ) -> JSONValue {
        let responses = answers.mapValues { description -> JSONValue in
            ["description": .text(description), "content": .object([type: .object([:])])]
        }
        return [
            "servers": [["url": "http://127.0.0.1:8081", "description": "The admin address (setting admin)"]],
            "get": operation(name, summary, parameters: [], answers: .object(responses)),
        ]
    }
}
