import Foundation
import TestSupport
import Testing

/// One case of a file of vectors; `Tests/Vectors/README.md` explains the fields.
struct Vector: Decodable, Sendable {
    let id: Int
    let comment: String
    let flags: [String]
    let code: String
    /// What the message must hold.
    let message: String?

    let replace: String?
    let with: String?
    let withHex: String?
    let input: String?
    let inputHex: String?
    let root: String?
    let after: Int64?

    let requestor: String?
    let resource: String?
    let canonical: Bool?
    /// The MVPDs that the requestor allows; `nil` if it allows all.
    let mvpds: [String]?

    let signature: [String]?
    let encodedMessage: [String]?
    let openssl: [String]?

    let file: String?
    let base64: String?
    let length: Int?
    let password: String?

    let method: String?
    let path: String?
    let headers: [[String]]?

    /// `subject` with this case's change; `nil` where what is to be replaced is not there.
    func change(_ subject: [UInt8]) -> [UInt8]? {
        if let input { return Array(input.utf8) }
        if let inputHex { return [UInt8](hexadecimal: inputHex) }
        guard let replace else { return subject }
        guard let range = subject.firstRange(of: Array(replace.utf8)) else { return nil }
        let replacement = with.map { Array($0.utf8) } ?? withHex.map([UInt8].init(hexadecimal:)) ?? []
        return subject[..<range.lowerBound] + replacement + subject[range.upperBound...]
    }
}

/// What the cases of a file change, or are.
enum VectorSubject: String, Decodable, Sendable {
    case payload, token, signature, document, keyFile, request, path, dialect, dialects
}

/// A case and where it is from.
struct NamedVector: Sendable, CustomTestStringConvertible {
    let file: String
    let subject: VectorSubject
    let vector: Vector

    var testDescription: String { "\(file) \(vector.id): \(vector.comment)" }

    /// All that there are.
    static func loadAll() throws -> [NamedVector] {
        struct File: Decodable {
            let subject: VectorSubject
            let cases: [Vector]
        }
        let files = try FileManager.default.contentsOfDirectory(at: Fixtures.vectors, includingPropertiesForKeys: nil)
        return try files.filter { $0.pathExtension == "json" }.sorted { $0.path < $1.path }.flatMap { url in
            let file = try JSONDecoder().decode(File.self, from: Data(contentsOf: url))
            return file.cases.map {
                NamedVector(file: url.lastPathComponent, subject: file.subject, vector: $0)
            }
        }
    }
}
