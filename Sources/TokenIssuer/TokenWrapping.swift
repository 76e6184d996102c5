internal import Basics
internal import FoundationEssentials

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
        case .v1JSON: return Self.json(PlayAnswer(serialized, recipe))
        case .v2JSON: return Self.json(DecisionsAnswer(serialized, recipe))
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

    private static func json(_ answer: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Encoding strings, numbers and booleans cannot fail.
        let data = (try? encoder.encode(answer)) ?? Data()
        return String(decoding: data, as: UTF8.self)
    }
}

/// An answer of REST v1. Its `expires` is a number in a string.
private struct PlayAnswer: Encodable {
    let expires: String
    let mvpdId: String
    let requestor: String
    let resource: String
    let serializedToken: String
    let userId: String

    init(_ serialized: String, _ recipe: TokenRecipe) {
        expires = String(recipe.expiryMilliseconds)
        (mvpdId, requestor, resource) = (recipe.mvpd, recipe.requestor, recipe.resource)
        (serializedToken, userId) = (serialized, recipe.sessionGUID)
    }
}

/// An answer of REST v2 to a decision request.
private struct DecisionsAnswer: Encodable {
    struct Decision: Encodable {
        let resource: String
        let serviceProvider: String
        let mvpd: String
        let source = "mvpd"
        let authorized = true
        let token: Token
    }

    struct Token: Encodable {
        let notBefore: Int64
        let notAfter: Int64
        let serializedToken: String
    }

    let decisions: [Decision]

    init(_ serialized: String, _ recipe: TokenRecipe) {
        let token = Token(
            notBefore: recipe.issueMilliseconds, notAfter: recipe.expiryMilliseconds,
            serializedToken: serialized)
        decisions = [
            Decision(resource: recipe.resource, serviceProvider: recipe.requestor, mvpd: recipe.mvpd, token: token)
        ]
    }
}
