import Foundation
import Testing

@testable import StreamPaths

@Suite("Paths of streams")
struct StreamPathTests {
    @Test("a path has 8,192 bytes at most, escapes counted as they are sent and the query not counted")
    func longest() {
        let name = "/" + String(repeating: "a", count: 255)
        let longest = String(repeating: name, count: 32)
        #expect(longest.utf8.count == 8192)
        #expect(StreamPath(longest)?.names.count == 32)
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
        #expect(try #require(StreamPath("/live/tnt/x")).isSame(as: live) == false)
    }

    /// The path in the compatibility form of Unicode, as object stores and some file systems compare it, made by Foundation.
    private static func folded(_ text: String) -> String.UnicodeScalarView {
        text.precomposedStringWithCompatibilityMapping
            .folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
            .decomposedStringWithCompatibilityMapping.unicodeScalars
    }

    @Test(
        "folding turns no character that passes into a sign that separates or steps up, and leaves each letter something"
    )
    func folding() {
        var passed = 0
        for scalar in (0x80...0x10FFFF).lazy.compactMap(Unicode.Scalar.init) {
            let fate = FoldedCharacters.fate(of: scalar)
            if case .unknown = fate { continue }
            passed += 1
            for form in [String(scalar), String(scalar).uppercased(), String(scalar).lowercased()] {
                let folded = Self.folded(form)
                // The space that some letters give is why they must follow one that stays.
                let others = folded.filter { !Self.isHarmless($0) && $0 != " " }
                #expect(others.isEmpty, "U+\(String(scalar.value, radix: 16)) folds to \(others.debugDescription)")
                guard case .stays = fate else { continue }
                let letters = folded.filter { $0.properties.isAlphabetic || $0.properties.numericType == .decimal }
                #expect(!letters.isEmpty && !folded.contains(" "), "U+\(String(scalar.value, radix: 16)) may vanish")
            }
        }
        #expect(passed > 100_000)
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .decimalNumber,
            .nonspacingMark, .spacingMark, .enclosingMark:
            true
        // A middle dot, of the Catalan letter that has one, and an apostrophe, of the Afrikaans one.
        default: scalar == "\u{B7}" || scalar == "\u{2BC}"
        }
    }
}
