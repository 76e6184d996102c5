import MediaToken
import TestSupport
import Testing

/// One case of a vector file; its fields are explained in `Tests/Vectors/README.md`.
struct Vector: Decodable, Sendable, CustomTestStringConvertible {
    let id: Int
    let comment: String
    let flags: [String]
    let replace: String?
    let with: String?
    let withHex: String?
    let input: String?
    let inputHex: String?
    let root: String?
    let after: Int64?
    let message: String?
    let status: String

    var testDescription: String { "\(id): \(comment)" }

    /// `subject` with this case's change; `nil` where what is to be replaced is not there.
    func change(_ subject: String) -> [UInt8]? {
        if let input { return Array(input.utf8) }
        if let inputHex { return Self.bytes(inputHex) }
        guard let replace else { return Array(subject.utf8) }
        guard let range = subject.firstRange(of: replace) else { return nil }
        let replacement = with.map { Array($0.utf8) } ?? withHex.map(Self.bytes) ?? []
        return Array(subject[..<range.lowerBound].utf8) + replacement + Array(subject[range.upperBound...].utf8)
    }

    private static func bytes(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue).map { UInt8($0) }
        return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}

@Suite("Vectors")
struct VectorTests {
    private func check(_ vector: Vector, _ token: [UInt8]) throws {
        let now = Timestamp(milliseconds: Mint.issued.timestamp.milliseconds + (vector.after ?? 10_000))
        let verdict = try Mint.verifier().verify(RawToken(token), for: Mint.expectation, at: now)
        #expect(verdict.status.rawValue == vector.status, "\(verdict.message)")
        if let message = vector.message { #expect(verdict.message.contains(message), "\(verdict.message)") }
        #expect(!verdict.message.contains("\n"))
    }

    @Test("a payload, changed before it is signed", arguments: try Fixtures.load("payloads.json", as: Vector.self))
    func payload(vector: Vector) throws {
        var payload = Mint.payload()
        if let root = vector.root {
            payload = payload.replacing("authToken>", with: root + ">")
        }
        let changed = try #require(vector.change(payload), "nothing to replace")
        try check(vector, Mint.signed(changed))
    }

    @Test("a token, changed after it was signed", arguments: try Fixtures.load("tokens.json", as: Vector.self))
    func token(vector: Vector) throws {
        try check(vector, #require(vector.change(Mint.token()), "nothing to replace"))
    }

    @Test("every identifier is there once", arguments: ["payloads.json", "tokens.json"])
    func identifiers(file: String) throws {
        let identifiers = try Fixtures.load(file, as: Vector.self).map(\.id)
        #expect(Set(identifiers).count == identifiers.count)
    }
}
