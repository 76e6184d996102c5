import StreamPaths
import Testing

@Suite("Hosts and origins")
struct StreamOriginTests {
    @Test("one origin has one form")
    func oneForm() throws {
        for (text, expected) in [
            ("https://cdn.example", "https://cdn.example"), ("https://CDN.Example.:443", "https://cdn.example"),
            ("http://cdn.example:80", "http://cdn.example"), ("https://cdn.example:80", "https://cdn.example:80"),
            ("http://192.0.2.1:8080", "http://192.0.2.1:8080"),
            ("https://[2001:DB8::1]:8443", "https://[2001:db8::1]:8443"),
            ("https://my_cdn-1.example:1", "https://my_cdn-1.example:1"),
        ] {
            #expect(StreamOrigin(text)?.text == expected)
        }
    }

    @Test(
        "what is no origin is none",
        arguments: [
            "cdn.example", "//cdn.example", "ftp://cdn.example", "https://", "https://cdn.example/",
            "https://cdn.example?x",
            "https://user@cdn.example", "https://user:443@cdn.example", "https://cdn..example", "https://.example",
            "https://*.example",
            "https://cdn.example:", "https://cdn.example:+80", "https://[::1]x80", "https://cdn.example:0",
            "https://cdn.example:65536", "https://cdn.example:443:1",
            "https://[::1", "https://[abc", "https://[::1%25eth0]",
            "https://[::1]x", "https://[]", "https://cdn%2eexample", "https://cdn.example\\", "https://ex\u{430}mple",
            "https://a.example..",
            "https://cdn.example#x", "HTTPS://cdn.example",
        ])
    func noOrigin(text: String) {
        #expect(StreamOrigin(text) == nil)
    }

    @Test("a Host header is compared without its case, its port and the dot at its end")
    func hosts() {
        let host = StreamHost("a.example")
        for same in ["A.Example", "a.example:8080", "a.example.", "a.example.:80"] { #expect(StreamHost(same) == host) }
        for other in ["b.example", "a.example.b"] { #expect(StreamHost(other) != host) }
        for none in [
            "", ".", "a.example:x", "a.example, b.example", "a example", "a/b", "a.example\u{0}", "x@a.example",
            "\u{212A}.example",
        ] {
            #expect(StreamHost(none) == nil, "\(none)")
        }
        #expect(StreamHost(withoutPort: "A.Example.") == host && StreamHost(withoutPort: "a.example:80") == nil)
        let longest = String(repeating: "a", count: 251) + ".b"
        #expect(StreamHost(longest)?.name == longest && StreamHost("a" + longest) == nil)
    }
}

extension StreamHost {
    fileprivate init?(_ header: String) { self.init(Array(header.utf8)[...]) }
}
