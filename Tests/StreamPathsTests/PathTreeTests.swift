import Testing

@testable import StreamPaths

@Suite("Nearest paths")
struct PathTreeTests {
    private static func tree(_ paths: String...) throws -> PathTree<String> {
        PathTree(try paths.map { (try #require(StreamPath($0)), $0) })
    }

    private static func nearest(_ tree: PathTree<String>, _ target: String) throws -> String? {
        tree.nearest(to: try #require(StreamPath(target)))
    }

    @Test("the longest path counts, by whole names")
    func longest() throws {
        let tree = try Self.tree("/live", "/live/tnt/hd", "/vod", "/live/hbo")
        for (target, expected) in [
            ("/live", "/live"), ("/live/", "/live"), ("/live/x/y", "/live"), ("/live/tnt", "/live"),
            ("/live/tnt/hd", "/live/tnt/hd"), ("/live/tnt/hd/1.ts", "/live/tnt/hd"), ("/live/tnt/sd", "/live"),
            ("/live/hbo/1", "/live/hbo"), ("/vod", "/vod"),
        ] {
            #expect(try Self.nearest(tree, target) == expected, "\(target)")
        }
        for none in ["/", "/lives", "/x/live"] { #expect(try Self.nearest(tree, none) == nil, "\(none)") }
        #expect(try Self.nearest(Self.tree("/", "/a"), "/b") == "/" && Self.nearest(Self.tree("/", "/a"), "/A") == nil)
        #expect(try Self.nearest(Self.tree("/"), "/a,b") == "/")
        let path = try #require(StreamPath("/a"))
        #expect(
            PathTree([(path, 1), (path, 2)]).nearest(to: path) == 1, "of two values for one path the first one stays")
    }

    @Test("what an origin may take for a path below a longer one has none")
    func lenientServers() throws {
        let tree = try Self.tree("/open", "/open/live", "/vod", "/vod/hbo/gold", "/a%20b", "/a%20b/c+d")
        for open in [
            "/open", "/open/trailer;v=2/1.ts", "/open/LIVELY", "/open/v1.", "/vod/HBO", "/vod/HBO/free", "/vod/x/gold",
            "/a%20b/x",
            "/vod/f%C3%BAtbol/free",
        ] {
            #expect(try Self.nearest(tree, open) != nil, "\(open)")
        }
        for shut in [
            "/open/LIVE/1.ts", "/open/live;x=1", "/open/live%3Fx", "/open/live%23", "/open/%6Cive%20", "/open/live.",
            "/open/live+",
            "/open/live::$DATA", "/OPEN/x", "/open/l%C4%B1ve", "/open/%EF%BD%8Cive", "/open/%20live", "/vod/hbo/GOLD",
            "/vod/HBO/gold/1", "/vod/f%C3%BAtbol/gold", "/vod/hb%C3%B6/GOLD/x",
            "/a%20b/C%20d", "/a%20b/c%20D/1",
        ] {
            #expect(try Self.nearest(tree, shut) == nil, "\(shut)")
        }
        #expect(try Self.nearest(tree, "/open/live/1.ts") == "/open/live")
    }

    @Test("a name that some servers drop, split, or read as a pattern or a prefix may be any other, and none")
    func unknownNames() throws {
        let tree = try Self.tree("/", "/free", "/free/members", "/live/hbo", "/vod/_definst_/hbo")
        for open in [
            "/free/a", "/free/12.30.ts", "/vod/_definst_/x", "/free/a%20b", "/free/a;b/members",
        ] {
            #expect(try Self.nearest(tree, open) != nil, "\(open)")
        }
        for shut in [
            "/free/(S(lit3py55t21z5v55vlm25s55))/members/x", "/free/mem(S(x))bers/x", "/vod/_definst_/mp4:hbo/x.mp4",
            "/live*/hbo/x", "/liv%3C%3C/hbo/x", "/free/m*", "/free/,members,x,", "/free/members%20x", "/free/members+x",
            "/%E4%B8%AD/live/hbo/x", "/%CE%B1/live/hbo/x", "/live/%E4%B8%AD/hbo/x", "/free/%E4%B8%AD/members/x",
            "/free/%EF%BC%88S%EF%BC%88x%EF%BC%89%EF%BC%89/members/x", "/free/%E2%9A%A1x/members/x",
            "/free/%E4%B8%AD%20/members/x", "/free/%E4%B8%AD./members/x", "/%E4%B8%AD/%E4%B8%AD/live/HBO/x",
        ] {
            #expect(try Self.nearest(tree, shut) == nil, "\(shut)")
        }
    }

    @Test("a list, a prefix or a wildcard may be any number of names")
    func spanningNames() throws {
        let tree = try Self.tree("/vod", "/vod/premium/hd", "/free")
        for open in [
            "/vod/a/b/1.mp4", "/vod/premium/sd/1", "/vod/a/b,c", "/free/,a/b,premium/hd/1,.mp4.urlset/x",
            "/free/mp4:a/b", "/vod/a_b/premium/hd/1",
        ] {
            #expect(try Self.nearest(tree, open) != nil, "\(open)")
        }
        for shut in [
            "/vod/,a/b/c,premium/hd/1,.mp4.urlset/master.m3u8", "/vod/mp4:/premium/hd/1.mp4/playlist.m3u8",
            "/vod/a/b/mp4:premium/hd/1.mp4", "/vod/**/premium/hd/1", "/vod/premium,/x/hd/1", "/vod/premium/h*",
            "/vod/a/mp4:premium/hd/1.mp4", "/vod/a,b/mp4:x", "/vod/_definst_/premium/hd/1.mp4",
            "/vod/premium/_DEFINST_/hd/1.mp4", "/vod/%2C/x",
        ] {
            #expect(try Self.nearest(tree, shut) == nil, "\(shut)")
        }
        #expect(try Self.nearest(tree, "/vod/premium/hd/,1,2,.mp4.urlset/x") == "/vod/premium/hd")
        let own = try Self.tree("/t,railers", "/live/hbo")
        #expect(try Self.nearest(own, "/t,railers/x") == "/t,railers")
        let root = try Self.tree("/", "/live/hbo")
        #expect(try Self.nearest(root, "/vod/mp4:live/hbo") == "/", "another application's")
        #expect(try Self.nearest(root, "/live/x/mp4:hbo") == nil)
    }

    @Test("a name that some servers drop is looked over, wherever it stands")
    func droppedNames() throws {
        let tree = try Self.tree("/", "/live/tnt/hd")
        for open in ["/%E4%B8%AD/x", "/live/%E4%B8%AD/x"] { #expect(try Self.nearest(tree, open) == "/", "\(open)") }
        for shut in [
            "/%E4%B8%AD/live/tnt/hd", "/live/%E4%B8%AD/tnt/hd/1", "/%E4%B8%AD/live/(x)/tnt/HD",
            "/%E4%B8%AD/%E4%B8%AD/live/tnt/hd",
        ] {
            #expect(try Self.nearest(tree, shut) == nil, "\(shut)")
        }
    }

    @Test("a name beyond ASCII may be any other, in a request and in what an operator has configured")
    func beyondASCII() throws {
        let tree = try Self.tree("/caf%C3%A9", "/caf%C3%A9/x", "/vod", "/vod/a/b")
        for open in ["/caf%C3%A9/y", "/vod/y", "/vod/a/c"] { #expect(try Self.nearest(tree, open) != nil, "\(open)") }
        for shut in [
            "/caf%C3%A9/X", "/cafe%CC%81/y", "/cafe%CC%81/x", "/vod/x", "/vod/X/1", "/vod/%C3%A1/b", "/vod/%C3%A1/B/1",
        ] {
            #expect(try Self.nearest(tree, shut) == nil, "\(shut)")
        }
    }

    @Test("of children that a name may be taken for the one with the longest path counts, and no other")
    func order() throws {
        #expect(try Self.nearest(Self.tree("/b", "/B/secret"), "/b/SECRET") == nil)
        for paths in [["/caf%C3%A9", "/vod/x"], ["/vod/x", "/caf%C3%A9"]] {
            let tree = PathTree(try paths.map { (try #require(StreamPath($0)), $0) })
            #expect(try Self.nearest(tree, "/caf%C3%A9/x") == nil)
            #expect(try Self.nearest(tree, "/caf%C3%A9/y") == "/caf%C3%A9")
        }
        let many = ["/caf%C3%A9", "/vod/x"] + (0..<100).map { "/\($0)" }
        let tree = PathTree(try many.map { (try #require(StreamPath($0)), $0) })
        #expect(try Self.nearest(tree, "/caf%C3%A9/y") == "/caf%C3%A9")
        #expect(try Self.nearest(tree, "/caf%C3%A9/X") == nil)
        let shallow = (0..<70).map { "/\($0)%C3%A9" } + ["/free/x", "/%C3%A9/x/y"]
        let unknown = PathTree(try shallow.map { (try #require(StreamPath($0)), $0) })
        #expect(try Self.nearest(unknown, "/free/x/z") == "/free/x" && Self.nearest(unknown, "/free/x/y") == nil)
    }

    @Test("a name that may be any of more longer paths than are looked at is refused")
    func manyCandidates() throws {
        func nearest(to target: String, among count: Int) throws -> String? {
            let paths =
                ["/open"] + (0..<count).map { "/open/\($0)/members" } + (0..<count).map { "/open/\($0)ñ/members" }
            return try Self.nearest(
                PathTree(paths.map { (try #require(StreamPath($0.replacing("ñ", with: "%C3%B1"))), $0) }), target)
        }
        for count in [1, 10, 31] { #expect(try nearest(to: "/open/%C3%B1/free", among: count) == "/open") }
        for count in [1, 32, 100, 1000] { #expect(try nearest(to: "/open/%C3%B1/Members", among: count) == nil) }
        for count in [65, 1000] { #expect(try nearest(to: "/open/%C3%B1/free", among: count) == nil) }
        let ends = try (0..<64).map { (try #require(StreamPath("/open/\($0)%C3%B1/x\($0)")), "\($0)") }
        let tree = PathTree([(try #require(StreamPath("/open")), "open")] + ends)
        for end in 0..<64 { #expect(try Self.nearest(tree, "/open/a/X\(end)") == nil, "\(end)") }
        #expect(try Self.nearest(tree, "/open/a/x") == "open")
        // The reading in which the name is dropped is one of them.
        for (count, expected) in [(63, "/open"), (64, nil)] as [(Int, String?)] {
            let paths = ["/open"] + (0..<count).map { "/open/\($0)/members" }
            let tree = PathTree(try paths.map { (try #require(StreamPath($0)), $0) })
            #expect(try Self.nearest(tree, "/open/%C3%B1/free") == expected, "\(count)")
        }
    }
}
