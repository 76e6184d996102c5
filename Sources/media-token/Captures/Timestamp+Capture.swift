internal import MediaToken
internal import Timestamps

extension Timestamp {
    /// Reads the time of an entry of a HAR file, whose fraction of a second may have any number of digits.
    init?(archived text: String) {
        let begin = text.prefix { $0 != "." }
        let fraction = text[begin.endIndex...].dropFirst().prefix(while: \.isNumber)
        guard !fraction.isEmpty else {
            self.init(reading: text)
            return
        }
        let rest = text[fraction.endIndex...]
        self.init(
            reading: begin + "." + fraction.prefix(3) + String(repeating: "0", count: max(0, 3 - fraction.count)) + rest
        )
    }

    /// Reads the date of an HTTP header (RFC 9110, 5.6.7): `Thu, 17 Mar 2016 22:01:32 GMT`.
    init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard parts.count == 6, parts[5] == "GMT", let month = months.firstIndex(of: String(parts[2])) else {
            return nil
        }
        let day = parts[1].count == 1 ? "0" + parts[1] : parts[1]
        self.init(reading: "\(parts[3])-\(month < 9 ? "0" : "")\(month + 1)-\(day)T\(parts[4])Z")
    }
}
