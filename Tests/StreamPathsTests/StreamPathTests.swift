import Foundation
import TestSupport
import Testing

@testable import StreamPaths

@Suite("Paths of streams")
struct StreamPathTests {
    @Test("a path has 8,192 bytes at most, escapes counted as they are sent and the query not counted")
    func longest() {
        let name = "/" + String(repeating: "a", count: 255)
        let longest = String(repeating: name, count: 32)
        #expect(longest.utf8.count == 8192)
        #expect(StreamPath(longest)?.names.count == 32 && StreamURL(longest) != nil)
        #expect(StreamPath(longest + "?" + longest) != nil && StreamURL("https://a.example" + longest) == nil)
        #expect(StreamPath(longest + "/") == nil && StreamPath(longest.dropLast() + "%61") == nil)
    }

    @Test("escapes are decoded once, and a query does not count")
    func plain() throws {
        #expect(try #require(StreamPath("/a/b%20c/100%25?x=/../y")).names == ["a", "b c", "100%"])
        #expect(StreamPath("/a/")?.names == ["a"])
        #expect(try #require(StreamPath("/")).names.isEmpty)
        #expect(try #require(StreamPath("/caf%C3%A9/a%23")).names == ["café", "a#"])
        for path in ["/", "/a", "/a/", "/caf%C3%A9/b"] {
            #expect(StreamPath(path)?.uri == path.removingPercentEncoding)
        }
        #expect(StreamPath("/")?.text == "/" && StreamPath("/a/")?.text == "/a")
    }

    @Test("a path holds what lies below it, by whole names and their bytes")
    func within() throws {
        let live = try #require(StreamPath("/live/tnt"))
        for inside in ["/live/tnt", "/live/tnt/", "/live/tnt/1/seg.ts", "/live/%74nt/x"] {
            #expect(try #require(StreamPath(inside)).isWithin(live), "\(inside)")
        }
        for outside in ["/live", "/live/tntx", "/live/TNT", "/", "/x/live/tnt"] {
            #expect(try #require(StreamPath(outside)).isWithin(live) == false, "\(outside)")
        }
        let composed = try #require(StreamPath("/caf%C3%A9"))
        #expect(try #require(StreamPath("/cafe%CC%81")).isWithin(composed) == false)
        #expect(try #require(StreamPath("/live/tnt/")).isSame(as: live))
        for other in ["/live/tnt/x", "/live/hbo"] { #expect(StreamPath(other)?.isSame(as: live) == false, "\(other)") }
    }

    /// The path in the compatibility form of Unicode, as object stores and some file systems compare it, made by
    /// Foundation.
    private static func folded(_ text: String) -> String.UnicodeScalarView {
        text.precomposedStringWithCompatibilityMapping
            .folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            .decomposedStringWithCompatibilityMapping.unicodeScalars
    }

    @Test("folding turns no character that passes into a sign of a path, and leaves each that stays something")
    func folding() {
        let signs = Set("./\\%;?#:*".unicodeScalars)
        var passed = 0
        for scalar in (0x80...0x10FFFF).lazy.compactMap(Unicode.Scalar.init) {
            let fate = FoldedCharacters.fate(of: scalar)
            guard fate != .unknown, fate != .becomesSign else { continue }
            passed += 1
            for form in [String(scalar), String(scalar).uppercased(), String(scalar).lowercased()] {
                let folded = Self.folded(form)
                #expect(signs.isDisjoint(with: folded), "U+\(String(scalar.value, radix: 16)) folds to a sign")
                guard fate == .stays else { continue }
                let rest = folded.filter { !$0.properties.isGraphemeExtend && $0 != " " && $0 != "+" }
                #expect(rest.count > 0 && !folded.contains(" "), "U+\(String(scalar.value, radix: 16)) may vanish")
            }
        }
        #expect(passed > 100_000)
    }

    @Test("what becomes a sign or a space by public data is what is rejected, or must follow a letter")
    func publicData() throws {
        let script = Fixtures.package.appending(path: "Tests/StreamPaths/signs.py").path
        var kinds: [UInt32: Substring] = [:]
        for line in try Program("python3").succeed([script]).split(separator: "\n") {
            let words = line.split(separator: " ")
            kinds[try #require(UInt32(words[1]))] = words[0]
        }
        #expect(kinds.count > 150)
        for scalar in (0x80...0x10FFFF).lazy.compactMap(Unicode.Scalar.init) {
            let fate = FoldedCharacters.fate(of: scalar)
            let code = "U+\(String(scalar.value, radix: 16)) is \(fate)"
            switch kinds[scalar.value] {
            case "sign"?: #expect(fate == .becomesSign, "\(code)")
            case "plus"?: #expect(fate == .space, "\(code)")
            case "space"?: #expect(fate == .mayVanish, "\(code)")
            default: #expect(fate != .becomesSign, "\(code)")
            }
        }
    }

    @Test(
        "typography, symbols and emoji pass, also those that transliteration alone makes a sign of a path",
        arguments: [
            "Grey’s Show", "S01 – E01 — “fin”", "¿Qué pasa", "«titre»", "10 €", "Show™", "🎬", "❤️", "👍🏽", "👩‍👩‍👧", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "1️⃣",
            "☃", "№ 5 ©", "²③Ⅳ", "映画（字幕）「」・", "Disney＋", "Straße", "3 × 4 ± 1", "ː⧣።₤", "a\u{A0}b", "モー　娘", "§ 1 ♪",
        ])
    func typography(name: String) throws {
        let path = try #require(name.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed))
        #expect(try StreamPath(reading: "/trailers/" + path).names == ["trailers", name])
    }

    @Test("the reason names the byte or the character, and never shows the path")
    func reasons() {
        for (target, reason) in [
            ("", "the path is empty"), ("live/secret", "does not begin with a slash"), ("/live/secret#", "byte 13"),
            ("/live/\u{e9}", "0xC3"), ("/" + String(repeating: "a/", count: 4096), "8193 bytes"),
            ("/" + String(repeating: "a/", count: 257), "more than 256 names"),
            ("/live//secret", "name 2 of the path is empty"), ("/live/%zz", "a % that two hexadecimal digits"),
            ("/live/\(String(repeating: "a", count: 256))", "more than 255 bytes"),
            ("/secret/a%2fb", "name 2 of the path has U+002F (SOLIDUS)"), ("/a%5cb", "U+005C (REVERSE SOLIDUS)"),
            ("/a%00", "has U+0000"), ("/%252e", "an escape again"),
            ("/live/..;secret", "name 2 of the path is a step up"),
            ("/live/%ff", "not UTF-8"), ("/live/x%E2%81%84y", "U+2044 (FRACTION SLASH), which some servers turn into"),
            ("/5%C2%A5", "U+00A5 (YEN SIGN)"), ("/5%E2%82%A9", "U+20A9 (WON SIGN)"),
            ("/a%E2%80%8Bb", "U+200B (ZERO WIDTH SPACE)"), ("/a.%CC%81", "U+0301 (COMBINING ACUTE ACCENT)"),
            ("/a\u{7f}", "byte 3"), ("/%zz\(String(repeating: "a", count: 763))", "more than 255 bytes"),
            ("/a%25%80", "an escape again"),
            ("/a%EE%80%80", "U+E000"), ("/%E2%80%8Da", "U+200D"), ("/a%EF%B8%8F", "U+FE0F"),
        ] {
            #expect {
                try StreamPath(reading: target)
            } throws: {
                "\($0)".contains(reason) && !"\($0)".contains("secret")
            }
        }
        #expect(throws: StreamPathError.wildcard) { try StreamURL(reading: "https://a.example/live/*") }
        // Counted from the start of the path.
        #expect(throws: StreamPathError.byte(0x23, position: 6)) { try StreamURL(reading: "https://a.example/live#") }
    }
}
