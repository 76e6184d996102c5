import Basics
import EnvelopeStage
import SignatureStage
import TestSupport
import Testing
import TokenCrypto

/// Each token also in a group: the engine must come to what libcrypto alone comes to, for it and for its neighbours.
enum EngineVectors {
    /// The processor's instructions, or the model of them where it has none.
    private static let engine = BatchVerifier.Engine.available.last
    private static let keys = Result { try Mint.keyRing() }
    private static let neighbour = Result { open(Array(try Mint.token().utf8)) }

    static func check(_ token: [UInt8], at now: Timestamp) throws {
        let envelope = open(token)
        // What holds no signature never comes to an engine.
        guard case .success = envelope else { return }
        let neighbour = try neighbour.get()
        let alone = try authenticate([envelope], with: nil, at: now)
        let group = try authenticate([neighbour, envelope, neighbour], with: engine, at: now)
        let beside = try authenticate([neighbour], with: nil, at: now)
        #expect(group == beside + alone + beside)
    }

    private static func open(_ token: [UInt8]) -> Result<TokenEnvelope, EnvelopeError> {
        Result { () throws(EnvelopeError) in try TokenEnvelope(opening: RawToken(token)) { _ in false } }
    }

    private static func authenticate(
        _ group: [Result<TokenEnvelope, EnvelopeError>], with engine: BatchVerifier.Engine?, at now: Timestamp
    ) throws -> [String] {
        try SignatureWorkspace(keys: keys.get(), engine: engine).authenticate(group, at: now).map {
            switch $0 {
            case .success(let payload)?: "\(payload.key.fingerprint) \(payload.digest.hexadecimal)"
            case .failure(let error)?: error.message
            case nil: "no envelope"
            }
        }
    }
}
