import Foundation
import TestSupport
import Testing
import TextEncodings

@testable import MediaTokenGate

@Suite("Grant keys that are taken away")
struct WithdrawalTests {
    private let directory: TemporaryDirectory
    private let named: [GateRoute]

    init() throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        let keys = try [1, 2].map { try directory.write(String(repeating: "0\($0)", count: 32), to: "\($0)") }
        let text = """
            {"keys": ["x"], "routes": [{"path": "/live", "requestor": "MML", "resource": "TNT",
              "grant": {"kind": "cat", "key-id": ["new", "old"], "key-file": \(keys)}}]}
            """
        named = try GateSettingsReader(reading: text).settings.routes
    }

    private func loaded() throws -> GateRoute { try #require(named.first).withGrant(among: named) }

    @Test("a key is gone with its file, stays while its file cannot be read, and the others go on")
    func files() throws {
        let route = try loaded()
        #expect(route.withdrawing(by: named) === nil)
        try FileManager.default.removeItem(atPath: directory.path + "/2")
        let fewer = try #require(route.withdrawing(by: named))
        #expect(fewer.keysGone(since: [route]) == ["old"] && fewer.grant !== nil)
        #expect(fewer.withdrawing(by: named) === nil)
        unlink(directory.path + "/1")
        mkfifo(directory.path + "/1", 0o600)
        #expect(fewer.withdrawing(by: named) === nil)
        unlink(directory.path + "/1")
        let none = try #require(fewer.withdrawing(by: named))
        #expect(none.grant === nil && none.withdrawing(by: named) === nil)
    }

    @Test("a key whose file has another content is gone, and the other one is not taken over")
    func contents() throws {
        let route = try loaded()
        _ = try directory.write(String(repeating: "03", count: 32), to: "1")
        let fewer = try #require(route.withdrawing(by: named))
        #expect(fewer.keysGone(since: [route]) == ["new"])
        #expect(route.keysGone(since: [fewer]) == [])
    }

    @Test("the keys of a route that the settings no longer name are gone")
    func names() throws {
        #expect(try #require(try loaded().withdrawing(by: [])).grant === nil)
    }
}
