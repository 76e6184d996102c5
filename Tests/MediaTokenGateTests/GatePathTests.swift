import MediaToken
import Testing

@testable import MediaTokenGate

@Suite("Paths of streams")
struct GatePathTests {
    @Test(
        "a path that two programs could read in two ways is none",
        arguments: [
            "", "live", "*", "http://host/live", "//live", "/open//live", "/open/../live", "/open/./live", "/open/..",
            "/..",
            "/open/%2e%2e/live", "/open/%2E./live", "/open%2flive", "/open/%2Flive", "/open%5clive", "/open\\live",
            "/open/%252e%252e/live", "/open%252flive", "/%2525", "/open/..;/live", "/open/..;x=1/live", "/open/;/live",
            "/open/.../live", "/open/.. /live", "/open/%20/live", "/open#/live", "/open#", "/open/\u{FFFD}",
            "/open/%EF%BF%BD", "/open/. ;a/live",
            "/live%00", "/live%0a", "/live%7f", "/live%", "/live%4", "/live%zz", "/live%ff", "/live%c0%af",
        ])
    func ambiguous(target: String) {
        #expect(GatePath(target) == nil)
    }

    @Test("escapes are decoded once, and a query does not count")
    func plain() throws {
        #expect(try #require(GatePath("/a/b%20c/100%25?x=/../y")).segments == ["a", "b c", "100%"])
        #expect(GatePath("/a/")?.segments == ["a"])
        #expect(try #require(GatePath("/")).segments.isEmpty)
        #expect(try #require(GatePath("/caf%C3%A9/a%23")).segments == ["café", "a#"])
    }

    @Test("a route holds for its path and what lies below, by whole parts and their bytes")
    func within() throws {
        let live = try #require(GatePath("/live/tnt"))
        for inside in ["/live/tnt", "/live/tnt/", "/live/tnt/1/seg.ts", "/live/%74nt/x"] {
            #expect(try #require(GatePath(inside)).isWithin(live), "\(inside)")
        }
        for outside in ["/live", "/live/tntx", "/live/TNT", "/", "/x/live/tnt"] {
            #expect(try #require(GatePath(outside)).isWithin(live) == false, "\(outside)")
        }
        let composed = try #require(GatePath("/caf%C3%A9"))
        #expect(try #require(GatePath("/cafe%CC%81")).isWithin(composed) == false)
    }

    @Test("what the server behind might take for a path of another route, no route opens")
    func lenientServers() throws {
        let expectation = Expectation(requestor: "MML", resource: "TNT")
        let routes = GateRoutes(
            [
                GateRoute(path: "/open", access: .open), GateRoute(path: "/open/live", access: .token(expectation)),
                GateRoute(path: "/caf%C3%A9", access: .open),
                GateRoute(path: "/caf%C3%A9/x", access: .token(expectation)),
            ].compactMap(\.self))
        func isOpen(_ target: String) throws -> Bool {
            if case .open? = routes.route(to: try #require(GatePath(target)))?.access { true } else { false }
        }
        for open in ["/open", "/open/trailer;v=2/1.ts", "/open/LIVELY", "/open/v1.", "/caf%C3%A9/y"] {
            #expect(try isOpen(open), "\(open)")
        }
        for shut in [
            "/open/live", "/open/LIVE/1.ts", "/open/live;x=1", "/open/live%3Fx", "/open/live%23", "/open/%6Cive%20",
            "/open/live.", "/OPEN/x",
            "/caf%C3%A9/X", "/cafe%CC%81/y", "/cafe%CC%81/x", "/open/liv%CD%BEx", "/open/l%C4%B1ve", "/open/li%C2%ADve",
            "/open/%EF%BD%8Cive", "/open/%20live",
        ] {
            #expect(try isOpen(shut) == false, "\(shut)")
        }
    }
}
