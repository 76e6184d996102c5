import Basics
import Testing

@testable import MediaTokenGate

@Suite("The gate's own certificate")
struct CertificateWatchTests {
    private static let end: Int64 = 1_800_000_000
    private static let day: Int64 = 86_400

    private func lines(_ watch: inout CertificateWatch, end: Int64 = end, after seconds: Int64...) -> [String?] {
        seconds.map { watch.warning("c.pem", ending: end, at: Timestamp(milliseconds: (Self.end + $0) * 1000)) }
    }

    @Test("its end is told from 14 days before on, and when it has come")
    func tells() {
        for (seconds, text) in [
            (-15 * Self.day, nil), (-14 * Self.day - 1, nil), (-14 * Self.day, "c.pem: expires"),
            (-1, "in 0 days"), (0, "c.pem: expires"), (1, "c.pem: expired"), (400 * Self.day, "c.pem: expired"),
        ] {
            var watch = CertificateWatch()
            let line = lines(&watch, after: seconds)[0]
            #expect(text.map { line?.contains($0) == true } ?? (line == nil), "\(seconds): \(line ?? "nothing")")
        }
        var watch = CertificateWatch()
        #expect(watch.warning(nil, at: .now) == nil)
    }

    @Test("it is told once a day, and at once of another certificate")
    func onceADay() {
        var watch = CertificateWatch()
        let hours = lines(&watch, after: -7200, -3600, 0, 3600, 79_199, 79_200, 82_800)
        #expect(hours.map { $0 != nil } == [true, false, false, false, false, true, false])
        #expect(lines(&watch, end: Self.end + 60, after: 82_801)[0] != nil)
    }
}
