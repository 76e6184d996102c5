import Foundation
import Testing

@testable import MediaTokenGate

@Suite("JSON of answers and log lines")
struct FlatJSONTests {
    @Test("any text comes back as it was, to another reader of JSON")
    func roundTrip() throws {
        let texts = [
            "", "plain", "\"quoted\" \\ / ", "line\nbreak\r\ttab\u{0}\u{1F}\u{7F}", "é 𝄞 \u{2028}",
            "<rss a=\"1\">&amp;</rss>",
            "\\", "\"", String(repeating: "\"\u{1}x", count: 500),
        ]
        for text in texts {
            var json = FlatJSON(capacity: 16)
            json.open()
            json.add("before", 7)
            json.add("text", text)
            json.add("absent", String?.none)
            json.add("after", Int64?(-9_007_199_254_740_991))
            json.close()
            let line = json.bytes
            #expect(line.last == UInt8(ascii: "\n") && line.count { $0 == UInt8(ascii: "\n") } == 1)
            let object = try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any]
            #expect(object?["text"] as? String == text)
            #expect(object?["before"] as? Int == 7 && object?["after"] as? Int64 == -9_007_199_254_740_991)
            #expect(object?.count == 3)
        }
        var objects = FlatJSON()
        for _ in 0..<2 {
            objects.open()
            objects.add("a", "b")
            objects.close()
        }
        objects.open()
        objects.close()
        #expect(objects.bytes == Array("{\"a\":\"b\"}\n{\"a\":\"b\"}\n{}\n".utf8))
    }
}
