internal import Basics

/// Reads the JSON answers of Adobe's REST services: v1 has `serializedToken` at the top, v2 has `decisions`.
enum EntitlementAnswer {
    static func serializedToken(
        inJSON text: ArraySlice<UInt8>, choosing isWanted: (String) -> Bool
    ) throws(EnvelopeError) -> ArraySlice<UInt8> {
        let answer: (token: String?, decisions: [Decision]?)
        do {
            let object = try StrictJSON.readObject(text)
            answer.token = try object.text("serializedToken")
            answer.decisions = try object.objects("decisions")?.map(Decision.init)
        } catch {
            throw .document("JSON", .json(error))
        }
        switch answer {
        case (let token?, nil):
            return Array(token.utf8)[...]
        case (nil, let decisions?):
            return try Array(choose(from: decisions, isWanted).grantedToken().utf8)[...]
        case (nil, nil):
            throw .document("JSON", .unexpected("neither 'serializedToken' (REST v1) nor 'decisions' (REST v2)"))
        case (.some, .some):
            throw .document("JSON", .unexpected("both 'serializedToken' and 'decisions'"))
        }
    }

    private static let decisionLimit = 16

    /// The only decision, or the only one whose resource is wanted.
    private static func choose(
        from decisions: [Decision], _ isWanted: (String) -> Bool
    ) throws(EnvelopeError) -> Decision {
        if decisions.count == 1 { return decisions[0] }
        guard decisions.count <= decisionLimit else {
            throw .document("a REST v2 answer", .unexpected("\(decisions.count) decisions, more than \(decisionLimit)"))
        }
        let matching = decisions.filter { $0.resource.map(isWanted) ?? false }
        guard matching.count == 1 else {
            throw .document(
                "a REST v2 answer",
                .unexpected(
                    "\(decisions.count) decisions, \(matching.count) of them for the resource asked for, byte for byte")
            )
        }
        return matching[0]
    }

    private struct Decision {
        let resource: String?
        private let isAuthorized: Bool
        private let token: String?
        private let errorCode: String?

        init(_ object: JSONObject) throws(JSONError) {
            resource = try object.text("resource")
            isAuthorized = try object.requiredFlag("authorized")
            token = try object.object("token")?.requiredText("serializedToken")
            errorCode = try object.object("error")?.text("code")
        }

        func grantedToken() throws(EnvelopeError) -> String {
            guard isAuthorized else { throw .denied(code: errorCode) }
            guard let token else {
                throw .document("a REST v2 answer", .unexpected("an authorized decision, no token"))
            }
            return token
        }
    }
}
