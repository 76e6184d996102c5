import Foundation
import TestSupport
import Testing

/// Instructions are counted by valgrind, so that the machine's speed and its load make no difference.
@Suite("What a path costs", .enabled(if: !Program.isSanitized))
struct PathCostTests {
    /// Instructions for a gate's answer about `target`: the difference of two runs, each of which starts the program.
    /// Seeds of hash tables are the same in both.
    private static func instructions(about target: String, routes: Int) throws -> Int {
        let totals = try [2, 6].map { questions in
            let outcome = try Program.beside("gate-workload").underValgrind(
                ["--tool=callgrind", "--callgrind-out-file=/dev/null"], ["\(routes)", "\(questions)"],
                input: Data(target.utf8), environment: ["SWIFT_DETERMINISTIC_HASHING": "1"])
            let total = outcome.errors.firstMatch(of: /Collected : ([0-9]+)/).flatMap { Int($0.1) }
            return try #require(total, "\(outcome.errors.suffix(1000))")
        }
        return (totals[1] - totals[0]) / 4
    }

    /// Names of more bytes than a name may have, and as many names as a path may have, all of what is expensive to
    /// compare as text.
    private static let names = [
        String(repeating: "%CC%81%CC%96", count: 660), "a" + String(repeating: "%CC%81%CC%96", count: 660),
        Array(repeating: "a" + String(repeating: "%CC%81%CC%96", count: 31), count: 21).joined(separator: "/"),
    ]

    /// A path of some 8 KB, as long as one may be, with a long name at one place and ordinary ones elsewhere.
    private static func target(_ name: String, at place: Double) -> String {
        let others = max(0, 8_000 - name.utf8.count) / 201
        let before = Int(Double(others) * place)
        func ordinary(_ count: Int) -> String {
            String(repeating: "/" + String(repeating: "a", count: 200), count: count)
        }
        return "/open" + ordinary(before) + "/" + name + ordinary(others - before)
    }

    @Test(
        "does not grow with the number of routes", arguments: ["/open/a/b.ts", "/open/caf%C3%A9/b.ts", "/open/7/b.ts"])
    func routes(target: String) throws {
        let (few, many) = try (
            Self.instructions(about: target, routes: 10), Self.instructions(about: target, routes: 200)
        )
        #expect(many < few + few / 10, "\(few) instructions with 10 routes, \(many) with 200")
    }

    @Test("grows with the length of a path, and not with what is in it", arguments: zip([10, 200], [1.0, 0.0]))
    func runs(routes: Int, place: Double) throws {
        let escaped = String(repeating: "/%61" + String(repeating: "a", count: 200), count: 8_000 / 204)
        let ordinary = try Self.instructions(about: "/open" + escaped, routes: routes)
        for name in Self.names {
            let hostile = try Self.instructions(about: Self.target(name, at: place), routes: routes)
            #expect(
                hostile < 4 * ordinary, "\(hostile) instructions, and \(ordinary) for an ordinary path of that length")
        }
    }
}
