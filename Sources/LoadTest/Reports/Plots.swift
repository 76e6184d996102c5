internal import Basics
internal import Glibc

/// The elements of a plot. Positions are parts of its area, from 0 to 1, and lengths are in CSS pixels: a plot gets as
/// wide as the page, and its labels keep their size.
private enum Element {
    static func plot(_ style: String = "", _ content: [String]) -> String {
        "<svg class=\"plot \(style)\" role=\"img\">\(content.joined())</svg>"
    }

    static func percent(_ part: Double) -> String { Figure.decimal(part * 100, places: 3) + "%" }

    static func text(
        _ text: String, x: Double, y: String, dx: Int = 0, dy: Int = 0, anchor: String = "middle", style: String = ""
    ) -> String {
        "<text x=\"\(percent(x))\" y=\"\(y)\" dx=\"\(dx)\" dy=\"\(dy)\" text-anchor=\"\(anchor)\" class=\"\(style)\">"
            + "\(xmlEscaped(text))</text>"
    }

    static func bar(x: Double, width: Double, height: Double, style: String, title: String) -> String {
        "<rect x=\"\(percent(x))\" y=\"\(percent(1 - height))\" width=\"\(percent(width))\" "
            + "height=\"\(percent(height))\" class=\"\(style)\"><title>\(xmlEscaped(title))</title></rect>"
    }
}

/// The vertical scale of a plot, which ends at a round number.
struct PlotScale {
    private let top: Double
    private let label: (Double) -> String

    init(to highest: Double, _ label: @escaping (Double) -> String) {
        (top, self.label) = (Self.round(max(highest, 1)), label)
    }

    /// The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `number`.
    static func round(_ number: Double) -> Double {
        let power = pow(10, floor(log10(number)))
        return ([1, 2, 2.5, 5].first { $0 * power >= number } ?? 10) * power
    }

    func part(_ value: Double) -> Double { value / top }

    /// Three horizontal lines with their values: zero, half of the highest value, and the highest value.
    fileprivate var lines: [String] {
        [0, 0.5, 1].flatMap { part in
            let y = Element.percent(1 - part)
            return [
                "<line x1=\"0\" y1=\"\(y)\" x2=\"100%\" y2=\"\(y)\" class=\"axis\"/>",
                Element.text(label(top * part), x: 0, y: y, dx: -6, dy: 4, anchor: "end"),
            ]
        }
    }
}

/// A plot of counts by duration, on a logarithmic scale.
struct HistogramPlot {
    private static let bars = 72

    private let histogram: LatencyHistogram
    private let noun: String
    /// The powers of ten at which the scale begins and ends: halves, so that it ends near the measured values.
    private let lowest: Double
    private let highest: Double

    /// - Parameter noun: What has the durations, in the singular.
    init(_ histogram: LatencyHistogram, of noun: String) {
        (self.histogram, self.noun) = (histogram, noun)
        lowest = (Self.power(histogram.quantile(0)) * 2).rounded(.down) / 2
        highest = max(lowest + 0.5, (Self.power(histogram.maximum) * 2).rounded(.up) / 2)
    }

    /// The position of a duration on the scale, from 0 to 1.
    private func part(_ nanoseconds: UInt64) -> Double {
        min(1, max(0, (Self.power(nanoseconds) - lowest) / (highest - lowest)))
    }

    private static func power(_ nanoseconds: UInt64) -> Double { log10(Double(max(nanoseconds, 1))) }

    var svg: String {
        var counts = [UInt64](repeating: 0, count: Self.bars)
        for one in histogram.classes {
            counts[min(Self.bars - 1, Int(part(one.upTo) * Double(Self.bars)))] += one.count
        }
        let scale = PlotScale(to: Double(counts.max() ?? 1)) { Figure.axis($0) }
        let bars = counts.enumerated().filter { $0.element > 0 }.map { index, count in
            // Rare durations matter most, so a bar is never too low to be seen.
            Element.bar(
                x: Double(index) / Double(Self.bars), width: 0.9 / Double(Self.bars),
                height: max(0.01, scale.part(Double(count))), style: "c0", title: Figure.count(Int(count), noun))
        }
        return Element.plot("marked", scale.lines + bars + ticks + quantiles)
    }

    private var ticks: [String] {
        (0...11).filter { (lowest...highest).contains(Double($0)) }.map { power in
            let x = (Double(power) - lowest) / (highest - lowest)
            return Element.text(Figure.shortTime(nanoseconds: pow(10, Double(power))), x: x, y: "100%", dy: 18)
        }
    }

    /// The quantiles as lines, and their labels above the bars, one below the other.
    private var quantiles: [String] {
        let quantiles = [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)].enumerated().map { index, quantile in
            let value = histogram.quantile(quantile.1)
            let (x, y) = (part(value), -38 + index * 15)
            let (end, isRight) = (Element.percent(x), x > 0.6)
            return (
                line: "<line x1=\"\(end)\" y1=\"\(y - 10)\" x2=\"\(end)\" y2=\"100%\" class=\"mark\"/>",
                label: Element.text(
                    "\(quantile.0) \(Figure.time(nanoseconds: value))", x: x, y: "\(y)", dx: isRight ? -4 : 4,
                    anchor: isRight ? "end" : "start", style: "label")
            )
        }
        // Labels come last, since the line of another quantile may lie below one.
        return quantiles.map(\.line) + quantiles.map(\.label)
    }
}

/// A plot of several series over time.
package struct LinePlot {
    /// A series with a value for each turn; `nil` where nothing was measured.
    package typealias Series = (name: String, values: [Double?])

    let series: [Series]
    private let turnSeconds: Double
    private let label: (Double) -> String

    /// - Parameters:
    ///   - turnSeconds: The length of a turn in seconds.
    ///   - label: The text for a value at the vertical scale.
    package init(series: [Series], turnSeconds: Double, _ label: @escaping (Double) -> String) {
        (self.series, self.turnSeconds, self.label) = (series, turnSeconds, label)
    }

    private var seconds: Double { Double(series.map(\.values.count).max() ?? 1) * turnSeconds }

    var svg: String {
        let scale = PlotScale(to: series.flatMap(\.values).compactMap(\.self).max() ?? 1, label)
        let lines = series.enumerated().map { index, series in
            let title = "<title>\(xmlEscaped(series.name))</title>"
            return "<path d=\"\(path(series.values, scale))\" class=\"line l\(index)\">\(title)</path>"
        }
        let area = "<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" width=\"100%\" height=\"100%\">"
        return Element.plot("", scale.lines + [area] + lines + ["</svg>"] + ticks)
    }

    /// The line through the middle of each turn, interrupted where a turn has no value.
    private func path(_ values: [Double?], _ scale: PlotScale) -> String {
        let width = 1000 * turnSeconds / seconds
        return values.indices.compactMap { index in
            values[index].map { value in
                let (x, y) = ((Double(index) + 0.5) * width, Figure.decimal(1000 * (1 - scale.part(value)), places: 1))
                func at(_ x: Double) -> String { "\(Figure.decimal(x, places: 1)) \(y)" }
                let hasBefore = index > 0 && values[index - 1] != nil
                let hasAfter = index + 1 < values.count && values[index + 1] != nil
                // A turn without neighbours is a line as long as the turn.
                if !hasBefore, !hasAfter { return "M\(at(x - width / 2))L\(at(x + width / 2))" }
                return (hasBefore ? "L" : "M") + at(x)
            }
        }.joined()
    }

    private var ticks: [String] {
        let step = PlotScale.round(seconds / 4)
        return stride(from: 0, through: seconds * 1.001, by: step).map { time in
            Element.text(Figure.shortTime(nanoseconds: time * 1e9), x: time / seconds, y: "100%", dy: 18)
        }
    }
}

/// A plot of the parts of a whole, as one bar.
struct PartsPlot {
    let parts: [(name: String, value: Double)]
    let names: [String]

    var svg: String {
        let total = max(parts.reduce(0) { $0 + $1.value }, .leastNormalMagnitude)
        var x = 0.0
        let bars = parts.enumerated().map { index, part in
            let width = part.value / total
            defer { x += width }
            return Element.bar(x: x, width: max(0, width - 0.002), height: 1, style: "c\(index)", title: names[index])
        }
        return Element.plot("parts", bars)
    }
}
