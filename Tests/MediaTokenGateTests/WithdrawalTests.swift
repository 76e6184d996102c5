import Basics
import Foundation
import TestSupport
import Testing

@testable import MediaTokenGate

@Suite("Grant keys that are taken away")
struct WithdrawalTests {
    private let directory: TemporaryDirectory
    private let named: [GateRoute]

    init() throws {
        let directory = try TemporaryDirectory()
        self.directory = directory
        let keys = try [1, 2].map { try directory.write(String(repeating: "0\($0)", count: 32) + "\n", to: "\($0)") }
        named = try Self.routes(#""kind": "cat", "key-id": ["new", "old"], "key-file": \#(keys)"#)
    }

    /// The settings of a route with a grant.
    private static func routes(_ grant: String) throws -> [GateRoute] {
        let text = #"""
            {"keys": ["x"], "routes": [{"path": "/live", "requestor": "MML", "resource": "TNT", "grant": {\#(grant)}}]}
            """#
        return try GateSettingsReader(reading: text).settings.routes
    }

    private func loaded() throws -> GateRoute { try #require(named.first).withGrant(among: named) }

    @Test("a key is gone with its file, stays while its file cannot be read, and the others go on")
    func files() throws {
        let route = try loaded()
        #expect(route.withdrawing(by: named)?.route === nil)
        try FileManager.default.removeItem(atPath: directory.path + "/2")
        let fewer = try #require(route.withdrawing(by: named)?.route)
        #expect(fewer.keysGone(since: [route]) == ["old"] && fewer.grant !== nil)
        #expect(fewer.withdrawing(by: named)?.route === nil)
        unlink(directory.path + "/1")
        mkfifo(directory.path + "/1", 0o600)
        #expect(fewer.withdrawing(by: named)?.route === nil)
        unlink(directory.path + "/1")
        let none = try #require(fewer.withdrawing(by: named)?.route)
        #expect(none.grant === nil && none.withdrawing(by: named)?.route === nil)
    }

    @Test("a key whose file has another content is gone, and the other one is not taken over")
    func contents() throws {
        let route = try loaded()
        _ = try directory.write(String(repeating: "03", count: 32), to: "1")
        let fewer = try #require(route.withdrawing(by: named)?.route)
        #expect(fewer.keysGone(since: [route]) == ["new"])
        #expect(route.keysGone(since: [fewer]) == [])
    }

    @Test("the keys of a route that the settings no longer name are gone, and so is one of the environment")
    func names() throws {
        #expect(try #require(try loaded().withdrawing(by: [])?.route).grant === nil)
        // A variable that is there already: to set one moves those that threads of other tests read.
        let named = try Self.routes(#""kind": "secure-link", "key-env": "PATH""#)
        let route = try #require(named.first).withGrant(among: named)
        #expect(route.withdrawing(by: named)?.route === nil)
        let renamed = try Self.routes(#""kind": "secure-link", "key-env": "PATH_OF_ANOTHER""#)
        #expect(try #require(route.withdrawing(by: renamed)?.route).grant === nil)
    }

    @Test("a route is the same by its path and its hosts")
    func hosts() throws {
        for (gone, expected) in [("1", "old"), ("2", "new")] {
            let keys = try [1, 2].map { try directory.write(String(repeating: "0\($0)", count: 32), to: "\($0)") }
            func route(_ path: String, _ host: String, _ number: Int) -> String {
                #"""
                {"path": "\#(path)", "hosts": ["\#(host)"], "requestor": "MML", "resource": "TNT", "grant":
                  {"kind": "cat", "key-id": ["\#(["old", "new"][number])"], "key-file": ["\#(keys[number])"]}}
                """#
            }
            let text =
                #"{"keys": ["x"], "routes": [\#(route("/a", "one.example", 0)), \#(route("/a", "two.example", 1))]}"#
            let named = try GateSettingsReader(reading: text).settings.routes
            let routes = try named.map { try $0.withGrant(among: named) }
            unlink(directory.path + "/" + gone)
            let left = routes.map { $0.withdrawing(by: named)?.route }
            #expect(left.map { $0 != nil } == [gone == "1", gone == "2"], "\(expected)")
            #expect(try #require(left.compactMap(\.self).first).grant === nil)
            // Each is compared with itself, whatever the other one has.
            #expect(routes.allSatisfy { $0.keysGone(since: routes.reversed()) == [] })
        }
    }

    @Test("a grant goes with its key and with its salt, whichever is gone")
    func salt() throws {
        for gone in ["/1", "/salt"] {
            _ = try directory.write(String(repeating: "01", count: 32), to: "1")
            _ = try directory.write("salt", to: "salt")
            let named = try Self.routes(
                #""kind": "akamai", "key-file": "\#(directory.path)/1", "salt-file": "\#(directory.path)/salt""#)
            let route = try #require(named.first).withGrant(among: named)
            #expect(route.withdrawing(by: named)?.route === nil)
            unlink(directory.path + gone)
            #expect(try #require(route.withdrawing(by: named)?.route).grant === nil)
        }
    }

    @Test("a key that came by a pipe stays, since the pipe cannot be read again")
    func handedOver() throws {
        let pipe = try Pipe(holding: String(repeating: "0f", count: 32))
        let path = "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)"
        let named = try Self.routes(#""kind": "akamai", "key-file": "\#(path)""#)
        #expect(try #require(named.first).withGrant(among: named).withdrawing(by: named)?.route === nil)
    }
}
