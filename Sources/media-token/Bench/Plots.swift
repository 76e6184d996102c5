internal import Glibc
internal import LoadTest

/// The area of a plot, in the units of its SVG.
private enum Area {
    static let width = 800.0
    static let height = 240.0
    static let left = 60.0
    static let bottom = 24.0
    static let top = 16.0
    /// The margin for the label below the last point.
    static let right = 30.0

    /// The x coordinate of a position from 0 (left) to 1 (right).
    static func x(of part: Double) -> Double { left + part * (width - left - right) }

    static func svg(height: Double = Area.height, _ content: [String]) -> String {
        let size = "0 0 \(Figure.decimal(width, places: 0)) \(Figure.decimal(height, places: 0))"
        return "<svg viewBox=\"\(size)\" role=\"img\">\(content.joined())</svg>"
    }

    static func line(
        from start: (x: Double, y: Double), to end: (x: Double, y: Double), style: String
    ) -> String {
        "<line x1=\"\(n(start.x))\" y1=\"\(n(start.y))\" x2=\"\(n(end.x))\" y2=\"\(n(end.y))\" class=\"\(style)\"/>"
    }

    static func text(
        _ text: String, x: Double, y: Double, anchor: String = "middle", style: String = ""
    ) -> String {
        "<text x=\"\(n(x))\" y=\"\(n(y))\" text-anchor=\"\(anchor)\" class=\"\(style)\">\(ReportPage.escaped(text))</text>"
    }

    static func box(
        x: Double, y: Double, width: Double, height: Double, style: String, title: String
    ) -> String {
        "<rect x=\"\(n(x))\" y=\"\(n(y))\" width=\"\(n(width))\" height=\"\(n(height))\" class=\"\(style)\">"
            + "<title>\(ReportPage.escaped(title))</title></rect>"
    }

    static func n(_ number: Double) -> String { Figure.decimal(number, places: 2) }

    /// Three horizontal lines with their values: zero, half of the highest value, and the highest value.
    static func heights(_ highest: Double) -> [String] {
        [0, 0.5, 1].flatMap { part in
            let y = y(of: part)
            return [
                line(from: (left, y), to: (width, y), style: "axis"),
                text(Figure.count(highest * part), x: left - 6, y: y + 4, anchor: "end"),
            ]
        }
    }

    static func y(of part: Double) -> Double { height - bottom - part * (height - bottom - top) }
}

/// A plot of counts by duration, on a logarithmic scale.
struct HistogramPlot {
    private static let bars = 72

    private let histogram: LatencyHistogram
    /// The powers of ten at which the scale begins and ends: halves, so that it ends near the measured values.
    private let lowest: Double
    private let highest: Double

    init(_ histogram: LatencyHistogram) {
        self.histogram = histogram
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
        let most = Double(max(1, counts.max() ?? 1))
        let width = Area.x(of: 1 / Double(Self.bars)) - Area.x(of: 0)
        let bars = counts.enumerated().filter { $0.element > 0 }.map { index, count in
            // Rare durations matter most, so a bar is never too low to be seen.
            let height = max(1.5, Double(count) / most * (Area.y(of: 0) - Area.top))
            let x = Area.x(of: Double(index) / Double(Self.bars))
            return Area.box(
                x: x, y: Area.y(of: 0) - height, width: width - 1, height: height, style: "c0",
                title: "\(Figure.count(Double(count))) calls")
        }
        return Area.svg(Area.heights(most) + bars + ticks + quantiles)
    }

    private var ticks: [String] {
        var decades: [UInt64] = [1]
        while let last = decades.last, last < 100_000_000_000 { decades.append(last * 10) }
        return decades.filter { (lowest...highest).contains(Self.power($0)) }.map {
            Area.text(Figure.time(nanoseconds: $0), x: Area.x(of: part($0)), y: Area.height - 6)
        }
    }

    private var quantiles: [String] {
        [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999)].enumerated().flatMap { index, quantile in
            let value = histogram.quantile(quantile.1)
            let x = Area.x(of: part(value))
            let label = "\(quantile.0) \(Figure.time(nanoseconds: value))"
            return [
                Area.line(from: (x, Area.top), to: (x, Area.y(of: 0)), style: "mark"),
                Area.text(label, x: x + 4, y: Area.top + 10 + Double(index) * 14, anchor: "start", style: "label"),
            ]
        }
    }
}

/// A plot of several series over time.
struct LinePlot {
    private let series: [(name: String, values: [Double])]
    private let seconds: Double

    init(_ series: [(name: String, values: [Double])], seconds: Double) {
        (self.series, self.seconds) = (series, seconds)
    }

    var svg: String {
        let highest = max(1, series.flatMap(\.values).max() ?? 1)
        let lines = series.enumerated().map { index, series in
            let last = Double(max(1, series.values.count - 1))
            let points = series.values.enumerated().map { position, value in
                let x = Area.x(of: Double(position) / last)
                return "\(Area.n(x)),\(Area.n(Area.y(of: value / highest)))"
            }
            let title = "<title>\(ReportPage.escaped(series.name))</title>"
            return "<polyline points=\"\(points.joined(separator: " "))\" class=\"line l\(index)\">\(title)</polyline>"
        }
        let ticks = [0, 0.5, 1].map { part in
            Area.text(Figure.decimal(seconds * part, places: 1) + " s", x: Area.x(of: part), y: Area.height - 6)
        }
        return Area.svg(Area.heights(highest) + lines + ticks)
    }
}

/// A plot of the parts of a whole, as one bar.
struct PartsPlot {
    private static let height = 40.0

    private let parts: [(name: String, value: Double)]
    private let names: [String]

    init(_ parts: [(name: String, value: Double)], names: [String]) {
        (self.parts, self.names) = (parts, names)
    }

    var svg: String {
        let total = max(parts.reduce(0) { $0 + $1.value }, .leastNormalMagnitude)
        var x = 0.0
        let boxes = parts.enumerated().map { index, part in
            let width = part.value / total * Area.width
            defer { x += width }
            return Area.box(
                x: x, y: 0, width: max(0, width - 1), height: Self.height, style: "c\(index)", title: names[index])
        }
        return Area.svg(height: Self.height, boxes)
    }
}
