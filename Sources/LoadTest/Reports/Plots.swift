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

/// The vertical scale of a plot. A linear one begins at zero and ends at a round number, a logarithmic one begins and
/// ends at powers of ten.
struct PlotScale {
    /// The powers of ten at the ends of a logarithmic scale; `nil` for a linear one.
    private let powers: ClosedRange<Double>?
    private let top: Double
    private let label: (Double) -> String

    init(to highest: Double, _ label: @escaping (Double) -> String) {
        (powers, top, self.label) = (nil, Self.round(max(highest, 1)), label)
    }

    /// A logarithmic scale for values from `lowest` to `highest`.
    init(from lowest: Double, to highest: Double, _ label: @escaping (Double) -> String) {
        let first = floor(log10(max(lowest, 1)))
        (top, self.label) = (highest, label)
        powers = first...max(first + 1, ceil(log10(max(highest, 1))))
    }

    /// The smallest of 1, 2, 2.5 and 5 times a power of ten that is not below `number`.
    static func round(_ number: Double) -> Double {
        let power = pow(10, floor(log10(number)))
        return ([1, 2, 2.5, 5].first { $0 * power >= number } ?? 10) * power
    }

    /// The height of a value, from 0 to 1.
    func part(_ value: Double) -> Double {
        guard let powers else { return value / top }
        return max(0, log10(max(value, 1)) - powers.lowerBound) / (powers.upperBound - powers.lowerBound)
    }

    /// The values at horizontal lines: each power of ten, or zero, half of the highest value, and the highest value.
    private var marks: [Double] {
        guard let powers else { return [0, top / 2, top] }
        return stride(from: powers.lowerBound, through: powers.upperBound, by: 1).map { pow(10, $0) }
    }

    /// Horizontal lines with their values.
    fileprivate var lines: [String] {
        marks.flatMap { value in
            let y = Element.percent(1 - part(value))
            return [
                "<line x1=\"0\" y1=\"\(y)\" x2=\"100%\" y2=\"\(y)\" class=\"axis\"/>",
                Element.text(label(value), x: 0, y: y, dx: -6, dy: 4, anchor: "end"),
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
        let quantiles = [Quantile.p50, .p99, .p999].enumerated().map { index, quantile in
            let value = histogram.quantile(quantile)
            let (x, y) = (part(value), -38 + index * 15)
            let (end, isRight) = (Element.percent(x), x > 0.6)
            return (
                line: "<line x1=\"\(end)\" y1=\"\(y - 10)\" x2=\"\(end)\" y2=\"100%\" class=\"mark\"/>",
                label: Element.text(
                    "\(quantile.rawValue) \(Figure.time(nanoseconds: value))", x: x, y: "\(y)", dx: isRight ? -4 : 4,
                    anchor: isRight ? "end" : "start", style: "label")
            )
        }
        // Labels come last, since the line of another quantile may lie below one.
        return quantiles.map(\.line) + quantiles.map(\.label)
    }
}

/// A plot of several series over time, or over something else that grows.
struct LinePlot {
    /// A series with a value for each place on the horizontal scale; `nil` where nothing was measured.
    typealias Series = (name: String, values: [Double?])

    let series: [Series]
    let scale: PlotScale
    /// The positions of the values on the horizontal scale, and half the distance between two of them.
    let positions: [Double]
    let halfStep: Double
    /// The labels of the horizontal scale.
    let ticks: [(at: Double, label: String)]

    /// A plot over time.
    ///
    /// - Parameter turnSeconds: The length of a turn, for each of which a series has a value, in seconds.
    init(_ series: [Series], scale: PlotScale, turnSeconds: Double) {
        let count = series.map(\.values.count).max() ?? 1
        let seconds = Double(max(1, count)) * turnSeconds
        (self.series, self.scale, halfStep) = (series, scale, 0.5 * turnSeconds / seconds)
        positions = (0..<count).map { (Double($0) + 0.5) * turnSeconds / seconds }
        ticks = stride(from: 0, through: seconds * 1.001, by: PlotScale.round(seconds / 4)).map { time in
            (time / seconds, Figure.shortTime(nanoseconds: time * 1e9))
        }
    }

    /// A plot over rates, on a linear scale from zero.
    init(_ series: [Series], scale: PlotScale, over rates: [Double]) {
        let highest = PlotScale.round(rates.max() ?? 1)
        (self.series, self.scale, halfStep) = (series, scale, 0.01)
        positions = rates.map { $0 / highest }
        ticks = [0, 0.25, 0.5, 0.75, 1].map { ($0, Figure.axis(highest * $0)) }
    }

    var svg: String {
        let lines = series.enumerated().map { index, series in
            let title = "<title>\(xmlEscaped(series.name))</title>"
            return "<path d=\"\(path(series.values))\" class=\"line l\(index)\">\(title)</path>"
        }
        let area = "<svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" width=\"100%\" height=\"100%\">"
        let labels = ticks.map { Element.text($0.label, x: $0.at, y: "100%", dy: 18) }
        return Element.plot("", scale.lines + [area] + lines + ["</svg>"] + labels)
    }

    /// The line through the values, interrupted where there is none.
    private func path(_ values: [Double?]) -> String {
        values.indices.compactMap { index in
            values[index].map { value in
                let (x, y) = (positions[index], Figure.decimal(1000 * (1 - scale.part(value)), places: 1))
                func at(_ x: Double) -> String { "\(Figure.decimal(1000 * x, places: 1)) \(y)" }
                let hasBefore = index > 0 && values[index - 1] != nil
                let hasAfter = index + 1 < values.count && values[index + 1] != nil
                // A value without neighbours is a short line.
                if !hasBefore, !hasAfter { return "M\(at(x - halfStep))L\(at(x + halfStep))" }
                return (hasBefore ? "L" : "M") + at(x)
            }
        }.joined()
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

extension LoadReport {
    /// Adds a plot of how often each duration occurred.
    ///
    /// - Parameter noun: What takes the time, in the singular.
    package mutating func add(latency: LatencyHistogram, of noun: String, title: String) {
        add(
            plot: HistogramPlot(latency, of: noun).svg, heading: title,
            note: "Number of \(noun)s by their duration, on a logarithmic scale of time.")
    }

    /// Adds a plot of values by turn.
    package mutating func add(
        _ series: [(name: String, values: [Double?])], turnSeconds: Double, title: String,
        _ label: @escaping (Double) -> String = Figure.axis
    ) {
        let scale = PlotScale(to: series.flatMap(\.values).compactMap(\.self).max() ?? 1, label)
        let plot = LinePlot(series, scale: scale, turnSeconds: turnSeconds)
        add(plot: plot.svg, heading: title, note: Self.legend(series.map(\.name)))
    }

    /// Adds a plot of the latency of each turn in which there was one.
    package mutating func add(latencies: [LatencyHistogram], turnSeconds: Double) {
        let series = Self.quantiles(of: latencies)
        let plot = LinePlot(series, scale: Self.scale(series), turnSeconds: turnSeconds)
        add(plot: plot.svg, heading: "Latency over time", note: Self.legend(series.map(\.name)))
    }

    /// Adds a plot of the latency at each of some rates.
    package mutating func add(latencies: [LatencyHistogram], atRates rates: [Double]) {
        let series = Self.quantiles(of: latencies)
        let plot = LinePlot(series, scale: Self.scale(series), over: rates)
        add(plot: plot.svg, heading: "Latency by requests a second", note: Self.legend(series.map(\.name)))
    }

    private static func quantiles(of latencies: [LatencyHistogram]) -> [LinePlot.Series] {
        [Quantile.p50, .p99, .p999].map { quantile in
            (quantile.rawValue, latencies.map { $0.count == 0 ? nil : Double($0.quantile(quantile)) })
        }
    }

    /// The scale for latencies is logarithmic, since one that is rare and a hundred times as long counts most.
    private static func scale(_ series: [LinePlot.Series]) -> PlotScale {
        let values = series.flatMap(\.values).compactMap(\.self)
        return PlotScale(from: values.min() ?? 1, to: values.max() ?? 1) { Figure.shortTime(nanoseconds: $0) }
    }

    /// Adds a plot of the parts of a whole.
    package mutating func add(parts: [(name: String, value: Double)], title: String) {
        let total = max(parts.reduce(0) { $0 + $1.value }, .leastNormalMagnitude)
        let names = parts.map { part in
            "\(part.name) \(Figure.time(nanoseconds: part.value)) (\(Figure.decimal(part.value / total * 100, places: 1)) %)"
        }
        add(plot: PartsPlot(parts: parts, names: names).svg, heading: title, note: Self.legend(names))
    }

    private static func legend(_ names: [String]) -> String {
        names.enumerated().map { "<span class=\"key\"><i class=\"c\($0)\"></i>\(xmlEscaped($1))</span>" }.joined(
            separator: " ")
    }
}
