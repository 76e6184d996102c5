internal import Basics

/// The forms in which tokens reach a backend.
package enum TokenWrapping: String, CaseIterable, Sendable {
    case clear
    case base64
    case percent
    case v1XML = "v1-xml"
    case v1JSON = "v1-json"
    case v2JSON = "v2-json"

    /// Wraps a token's clear text as this form carries it.
    package func wrap(_ clearText: String, _ recipe: TokenRecipe) -> String {
        let serialized = Base64.encode(Array(clearText.utf8))
        switch self {
        case .clear: return clearText
        case .base64: return serialized
        case .percent: return PercentEncoding.encode(clearText)
        case .v1XML: return Self.playDocument(serialized, recipe)
        case .v1JSON: return Self.playAnswer(serialized, recipe).line
        case .v2JSON: return Self.decisions(serialized, recipe).line
        }
    }

    private static func playDocument(_ serialized: String, _ recipe: TokenRecipe) -> String {
        """
        <?xml version="1.0" encoding="UTF-8" standalone="yes"?>\
        <play><expires>\(recipe.expiryMilliseconds)</expires><mvpdId>\(xmlEscaped(recipe.mvpd))</mvpdId>\
        <requestor>\(xmlEscaped(recipe.requestor))</requestor><resource>\(xmlEscaped(recipe.resource))</resource>\
        <serializedToken>\(serialized)</serializedToken><userId>\(recipe.sessionGUID)</userId></play>
        """
    }

    /// An answer of REST v1. Its `expires` is a number in a string.
    private static func playAnswer(_ serialized: String, _ recipe: TokenRecipe) -> JSONValue {
        JSONValue([
            "expires": String(recipe.expiryMilliseconds), "mvpdId": recipe.mvpd, "requestor": recipe.requestor,
            "resource": recipe.resource, "serializedToken": serialized, "userId": recipe.sessionGUID,
        ])
    }

    /// An answer of REST v2 to a decision request.
    private static func decisions(_ serialized: String, _ recipe: TokenRecipe) -> JSONValue {
        let token = JSONValue([
            "notBefore": recipe.issueMilliseconds, "notAfter": recipe.expiryMilliseconds, "serializedToken": serialized,
        ])
        let decision = JSONValue([
            "resource": recipe.resource, "serviceProvider": recipe.requestor, "mvpd": recipe.mvpd, "source": "mvpd",
            "authorized": true, "token": token,
        ])
        return JSONValue(["decisions": [decision]])
    }
}
