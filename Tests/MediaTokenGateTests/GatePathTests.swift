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
            "/live%00", "/live%0a", "/live%7f", "/live%", "/live%4", "/live%zz", "/live%ff", "/live%c0%af",
        ])
    func ambiguous(target: String) {
        #expect(GatePath(target) == nil)
    }

    @Test("escapes are decoded once, and a query does not count")
    func plain() throws {
        #expect(try #require(GatePath("/a/b%20c/%2525?x=/../y")).segments == ["a", "b c", "%25"])
        #expect(GatePath("/a/") == GatePath("/a"))
        #expect(try #require(GatePath("/")).segments.isEmpty)
        #expect(try #require(GatePath("/caf%C3%A9#x")).segments == ["café"])
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
}
