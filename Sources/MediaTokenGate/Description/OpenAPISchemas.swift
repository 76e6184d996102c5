internal import MediaToken
internal import TextEncodings

/// The objects and header fields that the description of the API refers to.
enum OpenAPISchemas {
    /// The names for the token in a form or a JSON object.
    static let tokenNames = VerifyRequestBody.tokenFields

    static let all: [JSONName: JSONValue] = [
        "Answer": answer, "Explanation": explanation, "Check": check,
        "VerdictCode": [
            "enum": .list(VerdictCode.allCases.map { .text($0.rawValue) }),
            "description": .text(
                "The verdict. Numbers: "
                    + VerdictCode.allCases.map { "\($0.number) \($0.rawValue)" }.joined(separator: ", ")),
        ],
        "GateCode": [
            "enum": .list(GateCode.allCases.map { .text($0.rawValue) }),
            "description": "Why there is no verdict: no token was needed, or there was none to verify",
        ],
    ]

    private static let answer: JSONValue = [
        "type": "object", "required": ["code", "status"],
        "properties": .object(
            problem.merging([
                "key": text("The name of the key that verified the signature"),
                "requestor": text("The requestor that the token was issued to"),
                "resource": text("The resource that the token is for"),
                "mvpd": text("The viewer's TV provider"),
                "proxyMvpd": text("The proxy in front of that provider, if there is one"),
                "issueTime": text("The issue time as Adobe wrote it: yyyy-MM-dd HH:mm:ss Z"),
                "ttl": ["type": "integer", "description": "The signed TTL in milliseconds, if the token has one"],
                "expires": integer(
                    "Seconds since 1970: of /v1/play the end of the grant, otherwise the end of the token without clock skew; whenever a token is accepted"
                ),
                "url": text("The URL to play, with the grant in it if that is how it is delivered; only from /v1/play"),
            ]) { $1 }),
    ]

    /// The members that every answer may have.
    private static let problem: [JSONName: JSONValue] = [
        "code": [
            "anyOf": [
                ["$ref": "#/components/schemas/VerdictCode"], ["$ref": "#/components/schemas/GateCode"],
            ]
        ],
        "number": ["type": "integer", "description": "The number of the verdict; absent if there is none"],
        "status": ["type": "integer", "description": "The HTTP status (RFC 9457)"],
        "title": text("The code in words (RFC 9457); absent if the token is accepted"),
        "detail": text("One line that names the two values that differ; absent if the token is accepted"),
        "check": text("The check that the token failed"),
        "advice": text("What to do about it"),
    ]

    private static let explanation: JSONValue = [
        "type": "object", "required": ["code", "status", "checks", "fields"],
        "properties": .object(
            problem.filter { $0.key != "title" }.merging([
                "code": [
                    "anyOf": [["$ref": "#/components/schemas/VerdictCode"], ["const": "VERIFIED"]],
                    "description":
                        "The verdict of the first failed check; VERIFIED if none failed, which accepts nothing",
                ],
                "kind": ["enum": .list(TokenKind.allCases.map { .text($0.rawValue) })],
                "key": text("The name of the key that verified the signature; without one, no field is proven"),
                "issueTime": text("The issue time as Adobe wrote it"),
                "expires": integer("The end of the token without clock skew, in seconds since 1970"),
                "secondsLeft": integer("Whole seconds from the check to that end; negative if the token has expired"),
                "token": text(
                    "The short ID of the token, as the log has it: the first 16 hexadecimal digits of the SHA-256 digest of its signed bytes; absent if it could not be split into a signature and these"
                ),
                "fields": [
                    "type": "object", "additionalProperties": ["type": "string"],
                    "description": "The token's fields by name. They hold personal data",
                ],
                "checks": ["type": "array", "items": ["$ref": "#/components/schemas/Check"]],
            ]) { $1 }),
    ]

    private static let check: JSONValue = [
        "type": "object", "required": ["name", "result", "detail"],
        "properties": [
            "name": text("The check"), "result": ["enum": ["passed", "failed", "not checked"]],
            "detail": text("The values that were compared"), "advice": text("What to do, if it failed"),
        ],
    ]

    private static func text(_ description: String) -> JSONValue {
        ["type": "string", "description": .text(description)]
    }

    private static func integer(_ description: String) -> JSONValue {
        ["type": "integer", "description": .text(description)]
    }

    /// The header fields of answers, by their names.
    static let headers: [JSONName: JSONValue] = [
        "X-Media-Token-Code": header("The code of the answer"),
        "Cache-Control": header("no-store"),
        "X-Request-Id": header("The ID of the request, if it has one that was accepted"),
        "WWW-Authenticate": header("The challenge of a 401 (RFC 6750)"),
        "Retry-After": header("Seconds until a replay store that is new accepts new tokens; with TOKEN_PREDATES_STORE"),
        "Set-Cookie": header("A grant that is delivered or renewed by cookie"),
        "X-Media-Token-Detail": header("Why there is no route, or why a grant does not open the stream"),
        "X-Media-Token-Requestor": header("The requestor of an accepted token"),
        "X-Media-Token-Resource": header("The resource of an accepted token"),
        "X-Media-Token-Mvpd": header("The MVPD of an accepted token"),
        "X-Media-Token-Key": header("The key that verified an accepted token"),
        "X-Media-Token-Expires": header("The end of an accepted token, in seconds since 1970"),
    ]

    /// The header fields of an answer to a proxy, by the HTTP status: the reason, or the signed claims, which a proxy can pass
    /// on.
    static let proxyFields: [Int: [JSONName]] = [
        200: ["Set-Cookie"]
            + ["Requestor", "Resource", "Mvpd", "Key", "Expires"].map { JSONName("X-Media-Token-" + $0) },
        403: ["X-Media-Token-Detail", "Retry-After"],
    ]

    /// References to the header fields that an answer may have.
    ///
    /// - Parameters:
    ///   - status: The HTTP status; `nil` for any that is not described.
    ///   - others: The header fields that only this answer may have.
    static func headers(of status: Int?, _ others: [JSONName] = []) -> JSONValue {
        let challenge: [JSONName] = status == nil || status == 401 ? ["WWW-Authenticate"] : []
        // A request that is too long is refused before any of its fields is read.
        let ids: [JSONName] = status == 413 || status == 431 ? [] : ["X-Request-Id"]
        let names = ["X-Media-Token-Code", "Cache-Control"] + ids + challenge + others
        return .object(
            Dictionary(uniqueKeysWithValues: names.map { ($0, ["$ref": .text("#/components/headers/\($0.text)")]) }))
    }

    private static func header(_ description: String) -> JSONValue {
        ["description": .text(description), "schema": ["type": "string"]]
    }
}
