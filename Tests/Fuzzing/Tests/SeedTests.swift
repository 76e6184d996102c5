import Foundation
import FuzzProperties
import TestSupport
import Testing

@Suite("Seeds of the fuzzer, and what it has found")
struct SeedTests {
    @Test("every property holds for them", arguments: FuzzTarget.allCases)
    func holds(target: FuzzTarget) throws {
        let property = try target.property()
        let folder = Fixtures.package.appending(path: "Tests/Fuzzing/Corpus/\(target.rawValue)")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty)
        for file in files {
            let input = Array(try Data(contentsOf: file))
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try property.check(input) }
        }
    }
}
