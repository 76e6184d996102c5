import Foundation
import FuzzProperties
import TestSupport
import Testing

@Suite("Seeds of the fuzzer, and what it has found")
struct SeedTests {
    /// The seeds that Tests/Fuzzing/coverage wants, one `TARGET/NAME` a line; all of them unless it is set.
    private static let wanted = ProcessInfo.processInfo.environment["SEEDS"].map { Set($0.split(separator: "\n")) }

    @Test("every property holds for them", arguments: FuzzTarget.allCases)
    func holds(target: FuzzTarget) throws {
        let property = try target.property()
        let folder = Fixtures.package.appending(path: "Tests/Fuzzing/Corpus/\(target.rawValue)")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files where Self.wanted?.contains("\(target.rawValue)/\(file.lastPathComponent)") ?? true {
            let input = Array(try Data(contentsOf: file))
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try property.check(input) }
        }
    }
}
