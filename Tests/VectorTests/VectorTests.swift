import TestSupport
import Testing

@Suite("Vectors")
struct VectorTests {
    @Test("comes out as it must", arguments: try NamedVector.loadAll())
    func outcome(named: NamedVector) throws {
        let vector = named.vector
        let outcome =
            switch named.subject {
            case .payload: try TokenVectors.verify(payloadOf: vector)
            case .token: try TokenVectors.verify(tokenOf: vector)
            case .signature: try SignatureVectors.verify(vector)
            case .document: try DocumentVectors.verify(vector)
            case .keyFile: try KeyFileVectors.load(vector)
            case .request: try RequestVectors.ask(vector)
            case .path: try PathVectors.read(vector)
            case .dialect: try DialectVectors.ask(vector)
            case .dialects: try DialectVectors.check(vector)
            }
        #expect(outcome.code == vector.code, "\(outcome.message)")
        let isYes = ["VALID_TOKEN", "TOKEN_NOT_REQUIRED", "LOADED", "ONE_READING", "SERVED"].contains(outcome.code)
        #expect(!isYes || vector.flags.contains("Good"), "a hostile case comes through")
        if let message = vector.message { #expect(outcome.message.contains(message), "\(outcome.message)") }
        #expect(!outcome.message.contains("\n"))
    }

    @Test("there are some hundreds, each with an identifier of its own in its file")
    func identifiers() throws {
        let vectors = try NamedVector.loadAll()
        #expect(Set(vectors.map { "\($0.file) \($0.vector.id)" }).count == vectors.count)
        #expect(vectors.count >= 300)
    }
}

/// What became of a case.
struct VectorOutcome {
    let code: String
    let message: String
}
