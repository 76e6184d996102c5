import Basics
import MediaToken
import Testing

@Suite("Spans in words")
struct SpanTests {
    @Test(
        "years and months are those of the calendar, and the two largest units are told",
        arguments: [
            ("2016-03-17T22:08:31Z", "2026-11-26T01:23:45Z", "10 years 8 months"),
            ("2024-01-15T00:00:00Z", "2025-01-15T00:00:00Z", "1 year"),
            ("2024-01-15T00:00:00Z", "2025-01-14T23:59:59.999Z", "11 months 30 days"),
            ("2024-01-15T00:00:00Z", "2025-02-14T23:59:59Z", "1 year"),
            ("2024-01-15T00:00:00Z", "2025-02-15T00:00:00Z", "1 year 1 month"),
            // 2024 has a 29 February, and 2025 has none.
            ("2024-02-29T00:00:00Z", "2025-02-28T23:59:59Z", "11 months 30 days"),
            ("2024-02-29T00:00:00Z", "2025-03-01T00:00:00Z", "1 year"),
            ("2024-02-29T00:00:00Z", "2028-02-29T00:00:00Z", "4 years"),
            ("2024-01-31T00:00:00Z", "2024-02-29T00:00:00Z", "29 days"),
            ("2024-01-31T00:00:00Z", "2024-03-01T00:00:00Z", "1 month 1 day"),
            ("2023-12-31T23:59:59Z", "2024-01-01T00:00:00Z", "1 s"),
            ("2024-01-01T00:00:00Z", "2024-01-02T01:59:00Z", "1 day 1 h"),
            ("2024-01-01T00:00:00Z", "2024-01-02T00:59:00Z", "1 day"),
            ("2024-01-01T00:00:00Z", "2024-01-01T00:04:10.999Z", "4 min 10 s"),
            ("2024-01-01T00:00:00Z", "2024-01-01T00:00:59.999Z", "59 s"),
            ("2024-01-01T00:00:00Z", "2024-01-01T00:01:00.000Z", "1 min"),
            ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00.999Z", "999 ms"),
            ("2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "0 s"),
            ("1970-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "8029 years 11 months"),
        ])
    func calendar(from: String, to: String, words: String) throws {
        let (one, other) = (try #require(Timestamp(reading: from)), try #require(Timestamp(reading: to)))
        #expect("\(Span(between: one, and: other))" == words)
        #expect("\(Span(between: other, and: one))" == words)
    }

    @Test("no two times are too far apart")
    func extremes() {
        let times = [Int64.min, -1, 0, 253_402_300_800_000, .max].map(Timestamp.init(milliseconds:))
        for one in times {
            for other in times { #expect(!"\(Span(between: one, and: other))".contains("-")) }
        }
        #expect("\(Span(milliseconds: .max))" == "106751991167 days 7 h")
        #expect("\(Span(milliseconds: -420_000))" == "7 min")
        #expect("\(Span(milliseconds: 31_536_000_000))" == "365 days")
    }

    @Test("an expiry is to come until its last millisecond", arguments: [(-10, true), (0, true), (1, false)])
    func expiry(milliseconds: Int64, isToCome: Bool) {
        let now = Timestamp(milliseconds: 1_700_000_000_000 + milliseconds)
        let words = Timestamp(milliseconds: 1_700_000_000_000).expiryInWords(at: now)
        #expect(words.hasPrefix(isToCome ? "expires in " : "expired "), "\(words)")
        #expect(words.hasSuffix(" ago") == !isToCome, "\(words)")
    }
}
