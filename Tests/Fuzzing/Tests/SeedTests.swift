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
        // Tests/Fuzzing/coverage leaves classes of seeds out.
        let leftOut = ProcessInfo.processInfo.environment["SEEDS_LEFT_OUT"] ?? ""
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).filter {
            fnmatch(leftOut, "\(target.rawValue)/\($0.lastPathComponent)", 0) != 0
        }
        #expect(!files.isEmpty)
        for file in files {
            let input = Array(try Data(contentsOf: file))
            #expect(throws: Never.self, "\(file.lastPathComponent)") { try property.check(input) }
        }
    }
}
