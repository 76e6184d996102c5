import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing

extension EndToEnd {
    /// The gate's clock is Debian's `faketime`, a library that is loaded before the C library. So it cannot be under a
    /// sanitizer, which has to be the first.
    @Suite("Gates whose clock steps", .enabled(if: !Program.isSanitized))
    struct GateClockTests {
        private let place: GateDestination
        private let clock: String

        init() throws {
            place = GateDestination()
            clock = place.directory.path + "/clock"
        }

        /// Steps the gate's clock to so many seconds from the right time.
        private func step(to seconds: Int64) throws {
            try Data("\(seconds < 0 ? "" : "+")\(seconds)\n".utf8).write(to: URL(filePath: clock), options: .atomic)
        }

        private func token(issued seconds: Int64, _ viewer: String) throws -> String {
            let issued = Timestamp(milliseconds: Timestamp.now.milliseconds + seconds * 1000)
            return try Mint.token {
                $0 = TokenRecipe(issued: TokenDate(issued))
                $0.sessionGUID = viewer
            }
        }

        private func verify(_ token: String, _ connection: RawConnection) -> Int? {
            connection.ask(GateProcess.verification(token))?.status
        }

        @Test("no token is accepted twice while the clock steps ahead and back", arguments: ["memory", "lmdb"])
        func steps(kind: String) throws {
            let library = try Program("sh").succeed(["-c", "printf %s /usr/lib/*/faketime/libfaketimeMT.so.1"])
            // A minute late, so that the fence is out of the way.
            try step(to: -60)
            // The library sets a variable where it is loaded first, which moves the environment; Swift would not find
            // its arguments there, so a second `env` comes in between.
            let gate = try GateProcess(
                in: place, replays: kind == "memory" ? kind : "lmdb:\(place.directory.path)/replays",
                GateDestination.strict,
                launcher: [
                    "env", "LD_PRELOAD=\(library)", "FAKETIME_TIMESTAMP_FILE=\(clock)", "FAKETIME_NO_CACHE=1",
                    "DONT_FAKE_MONOTONIC=1", "env",
                ])
            let connection = try RawConnection(port: gate.port)
            let hours: Int64 = 7200
            try step(to: 0)
            let early = try (0..<10).map { try token(issued: -1, "early \($0)") }
            for token in early { #expect(verify(token, connection) == 200) }
            for seconds in [3, -30, 0] as [Int64] {
                try step(to: seconds)
                for token in early { #expect(verify(token, connection) != 200) }
            }
            try step(to: hours)
            // Enough to meet a good part of the shards of a store in memory, which drop what they hold when they are
            // asked.
            let late = try (0..<200).map { try token(issued: hours - 1, "late \($0)") }
            for token in early { #expect(verify(token, connection) == 401) }
            for token in late { #expect(verify(token, connection) == 200) }
            for seconds in [-5, 0, hours, hours + 3, 0] as [Int64] {
                try step(to: seconds)
                for token in early + late[..<20] { #expect(verify(token, connection) != 200) }
            }
            if kind == "lmdb" {
                #expect(verify(try token(issued: 0, "unused"), connection) == 403)
                #expect(try gate.logged().contains("TOKEN_PREDATES_STORE"))
            }
        }
    }
}
