import Basics
import MediaToken
import Foundation
import Testing

@Suite("Times")
struct TimestampTests {
    @Test(
        "the forms that people type",
        arguments: [
            "2016-03-17T22:02:00Z", "2016-03-17T15:02:00-07:00", "2016-03-17 15:02:00 -0700", "1458252120",
            "2016-03-17T22:02Z", "2016-03-17T22:02:00.000Z", "2016-03-18T03:32:00+05:30", "2016-03-17 22:02:00Z",
            "2016-03-17T22:02:00", "2016-03-17 22:02", "1458252120000",
            // journalctl -o short-iso, short-iso-precise, short-full, short-unix
            "2016-03-17T22:02:00+0000", "2016-03-18T00:02:00.000000+0200", "Thu 2016-03-17 22:02:00 UTC",
            "1458252120.000000",
            // an HTTP Date, a mail's, nginx's $time_local and $msec, an error log of nginx in UTC
            "Thu, 17 Mar 2016 22:02:00 GMT", "Thu, 17 Mar 2016 15:02:00 -0700", "17/Mar/2016:22:02:00 +0000",
            "17/Mar/2016:15:02:00 -0700", "1458252120.000", "2016/03/17 22:02:00",
            // Adobe's, in AuthN and AuthZ tokens
            "2016/03/17 22:02:00 GMT +0000", "2016/03/18 00:02:00 GMT +0200",
            // date and systemd
            "@1458252120", "2016-03-17 22:02:00 UTC", "2016-03-17 22:02:00 GMT", "2016-03-17T22:02:00+00:00",
            "Fri 2016-03-18 00:02:00 +0200",
        ])
    func read(text: String) {
        #expect(Timestamp(reading: text)?.milliseconds == 1_458_252_120_000)
    }

    @Test(
        "a fraction is read to the millisecond",
        arguments: [("1.5", 1500), ("1.123999", 1123), ("@0.007", 7), ("1970-01-01T00:00:01.1Z", 1100)])
    func fraction(text: String, milliseconds: Int64) {
        #expect(Timestamp(reading: text)?.milliseconds == milliseconds)
    }

    @Test(
        "anything else is not guessed at",
        arguments: [
            "", "yesterday", "2016-03-17", "2016-03-17T22:02:00 ", "2016-03-17T22:02:00+0700Z", "17/03/2016", "-1",
            "1e9",
            "2016-02-30T00:00:00Z", "2016-03-17T22:02:00.Z", "99999999999999", " 1458252120", "01458252120000", "-",
            "-m", "5m", "-5", "-5w", "--5m", "-5 m", "-1.5h", "-99999d",
            "+9999999999d", "issued", "-٣m", "Fri, 17 Mar 2016 22:02:00 GMT", "Fri 2016-03-17 22:02:00 UTC",
            "17 Mar 2016", "Mar 17 22:02:00", "17/03/2016:22:02:00 +0000", "17/Mar/2016 22:02:00 +0000",
            "17/Mar 2016:22:02:00", "2016-03-17 22:02:00 CET", "2016-03-17 22:02:00 GMT ",
            "2016-03-17 22:02:00 UTC GMT",
            "1.", ".5", "1.-5", "1.5.5", "@", "@now", "2016-03/17 22:02:00", "32 Mar 2016 22:02:00 GMT",
            "Thu, 17 Mär 2016 22:02:00 GMT", "Thursday, 17 Mar 2016 22:02:00",
        ])
    func refuse(text: String) {
        #expect(Timestamp(reading: text) == nil)
    }

    @Test(
        "a distance from now, and the token's own issue time for those who can know it",
        arguments: [
            ("-90s", -90), ("-5m", -300), ("+5m", 300), ("-2h", -7200), ("-3d", -259_200), ("-0s", 0), ("now", 0),
        ])
    func distance(text: String, seconds: Int64) {
        let now = Timestamp(milliseconds: 1_458_252_120_007)
        let expected = Timestamp(milliseconds: now.milliseconds + seconds * 1000)
        #expect(Timestamp(reading: text, asOf: now) == expected)
        #expect(CheckTime(reading: text, asOf: now) == .at(expected))
        #expect(CheckTime(reading: "issued", asOf: now) == .issued && CheckTime(reading: "Issued") == nil)
    }

    @Test("writing a date and reading it again gives the same moment, as Foundation has it")
    func roundTrip() throws {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd HH:mm:ss Z"
        var seconds: Int64 = 0
        var step: Int64 = 86_399
        while seconds < 253_402_300_800 {
            for offset in [-840, -570, 0, 345, 840] where seconds + Int64(offset) * 60 >= 0 {
                let date = TokenDate(Timestamp(milliseconds: seconds * 1000), offset: offset)
                guard seconds + Int64(offset) * 60 < 253_402_300_800 else { continue }
                #expect(TokenDate(date.description) == date)
                formatter.timeZone = TimeZone(secondsFromGMT: offset * 60)
                #expect(formatter.string(from: Date(timeIntervalSince1970: Double(seconds))) == date.description)
            }
            seconds += step
            step += step / 3 + 7
        }
    }

    @Test("both forms of a token's dates are kept apart")
    func forms() {
        let date = TokenDate("2011/03/19 02:29:34 GMT +0200", form: .expiry)
        #expect(date?.timestamp.milliseconds == 1_300_494_574_000)
        #expect(date?.written(as: .expiry) == "2011/03/19 02:29:34 GMT +0200")
        #expect(TokenDate("2011/03/19 02:29:34 GMT +0200", form: .issueTime) == nil)
        #expect(TokenDate("2011-03-19 02:29:34 +0200", form: .expiry) == nil)
    }

    @Test(
        "times of the Internet have milliseconds; what no date of four digits can say is the nearest that one can",
        arguments: [
            (1_458_252_091_007, "2016-03-17T22:01:31.007Z"), (0, "1970-01-01T00:00:00.000Z"),
            // From March to February, the last day of four centuries and the first of the next, the last day of four
            // years, and the first one behind a century.
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (951_868_800_000, "2000-03-01T00:00:00.000Z"),
            (1_078_012_800_000, "2004-02-29T00:00:00.000Z"), (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
            (999, "1970-01-01T00:00:00.999Z"), (-1, "1970-01-01T00:00:00.000Z"),
            (Int64.min, "1970-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
            (253_402_300_800_000, "9999-12-31T23:59:59.999Z"), (Int64.max, "9999-12-31T23:59:59.999Z"),
        ])
    func internet(milliseconds: Int64, text: String) {
        #expect(Timestamp(milliseconds: milliseconds).internetText == text)
    }

    @Test("a date at the end of the year 9999 has four digits in every zone")
    func lastYear() {
        let last = Timestamp(milliseconds: 253_402_300_799_000)
        #expect("\(TokenDate(last, offset: 840))" == "9999-12-31 23:59:59 +1400")
        #expect("\(TokenDate(last, offset: -840))" == "9999-12-31 09:59:59 -1400")
        #expect("\(TokenDate(Timestamp(milliseconds: 0), offset: -1))" == "1969-12-31 23:59:00 -0001")
        let next = CivilTime(year: 10_000, month: 1, day: 1, hour: 0, minute: 0, second: 0, offset: 0)
        #expect(next.timestamp == nil)
    }

    @Test("a time of a zone has milliseconds too")
    func zone() {
        let time = Timestamp(milliseconds: 1_458_252_091_007)
        #expect(time.text(offset: -420) == "2016-03-17 15:01:31.007 -0700")
        #expect(time.utcText == "2016-03-17 22:01:31 +0000")
    }

    @Test("sums, distances and durations end where Int64 does, and whole seconds are rounded down")
    func ends() {
        let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        #expect(first.advanced(byMilliseconds: -1) == first && last.advanced(byMilliseconds: 1) == last)
        #expect(first.milliseconds(since: Timestamp(milliseconds: 1)) == .min)
        #expect(last.milliseconds(since: Timestamp(milliseconds: -1)) == .max)
        #expect(Duration.seconds(Int64.min).clampedMilliseconds == .min)
        #expect(Duration.seconds(Int64.max).clampedMilliseconds == .max)
        #expect(Duration.milliseconds(-1001).clampedMilliseconds == -1001)
        let seconds = [-1001, -1000, -1, 0, 999, 1000].map { Timestamp(milliseconds: $0).wholeSeconds }
        #expect(seconds == [-2, -1, -1, 0, 0, 1])
    }

    @Test("now is the time of the system's clock")
    func now() {
        let (before, now, after) = (Date(), Timestamp.now, Date())
        let milliseconds = [before, after].map { Int64($0.timeIntervalSince1970 * 1000) }
        #expect((milliseconds[0] - 1...milliseconds[1] + 1).contains(now.milliseconds))
    }
}
