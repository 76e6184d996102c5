/// Formats figures for people.
package enum Figure {
    /// The number rounded to a whole one, its digits in groups of three.
    package static func count(_ number: Double) -> String {
        guard abs(number) < 1e15 else { return "\(number)" }
        let digits = Array(String(Int(number.rounded())))
        return String(
            digits.enumerated().flatMap { index, digit in
                index > 0 && (digits.count - index) % 3 == 0 && digits[index - 1] != "-" ? [",", digit] : [digit]
            })
    }

    package static func count(_ number: Int) -> String { count(Double(number)) }

    /// The number of things of a kind whose name is `noun` in the singular.
    package static func count(_ number: Int, _ noun: String) -> String {
        "\(count(number)) \(noun)\(number == 1 ? "" : "s")"
    }

    /// The number as a label of an axis.
    package static func axis(_ number: Double) -> String {
        number == number.rounded() ? count(number) : decimal(number, places: 2)
    }

    /// The number with `places` digits after the decimal point.
    package static func decimal(_ number: Double, places: Int) -> String {
        let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
        guard abs(number) * scale < 1e15 else { return "\(number)" }
        let scaled = Int((abs(number) * scale).rounded())
        let (whole, rest) = scaled.quotientAndRemainder(dividingBy: Int(scale))
        let digits = String(rest)
        let sign = number < 0 && scaled > 0 ? "-" : ""
        return places == 0
            ? "\(sign)\(whole)" : "\(sign)\(whole)." + String(repeating: "0", count: places - digits.count) + digits
    }

    /// The duration in the unit that suits its length.
    package static func time(nanoseconds: Double) -> String {
        switch nanoseconds {
        case ..<1e3: decimal(nanoseconds, places: 0) + " ns"
        case ..<1e6: decimal(nanoseconds / 1e3, places: nanoseconds < 1e5 ? 2 : 0) + " µs"
        case ..<1e9: decimal(nanoseconds / 1e6, places: nanoseconds < 1e8 ? 2 : 0) + " ms"
        default: decimal(nanoseconds / 1e9, places: 2) + " s"
        }
    }

    package static func time(nanoseconds: UInt64) -> String { time(nanoseconds: Double(nanoseconds)) }

    /// The duration as a label of an axis, without zeros after the decimal point.
    package static func shortTime(nanoseconds: Double) -> String {
        let parts = time(nanoseconds: nanoseconds).split(separator: " ")
        let number = Double(parts[0]) ?? 0
        let short = number == number.rounded() ? decimal(number, places: 0) : "\(number)"
        return "\(short) \(nanoseconds == 0 ? "s" : parts[1])"
    }

    package static func mebibytes(_ bytes: Double) -> String { decimal(bytes / 1_048_576, places: 1) + " MiB" }
}
