internal import Basics

/// A figure of a load test. It is said once: the lines for a terminal, the JSON, the page and the comparison with an
/// earlier run are made from it.
package struct ReportFigure: Sendable {
    package enum Unit: Sendable {
        case count, nanoseconds, bytes
        /// Yes if it is not 0.
        case flag
        /// A part of a whole, from 0 to 1, that people read in percent.
        case part
        /// A number with so many digits after the decimal point.
        case decimal(Int)
    }

    /// The direction in which a figure becomes better.
    package enum Better: Sendable { case higher, lower }

    /// Its words for people, with `#` in the place of the value.
    let words: String
    /// What it is called among others; `nil` for its label and its words.
    private let name: String?
    /// Its place in the JSON.
    let key: [String]
    let value: Double
    let unit: Unit
    /// The direction in which it becomes better; `nil` if two runs are not compared by it.
    let better: Better?

    /// Whether people see it, and not only programs.
    let isShown: Bool

    /// Creates a figure; `nil` if there is no value.
    package init?(
        _ words: String, _ key: [String], _ value: Double?, _ unit: Unit = .count, better: Better? = nil,
        named name: String? = nil, isShown: Bool = true
    ) {
        guard let value else { return nil }
        (self.words, self.key, self.value, self.unit, self.better) = (words, key, value, unit, better)
        (self.name, self.isShown) = (name, isShown)
    }

    /// Creates a figure from a whole number.
    package init?(
        _ words: String, _ key: [String], _ value: (some BinaryInteger)?, _ unit: Unit = .count,
        better: Better? = nil, named name: String? = nil, isShown: Bool = true
    ) {
        self.init(words, key, value.map { Double($0) }, unit, better: better, named: name, isShown: isShown)
    }

    /// A value of this figure, for people.
    func shown(_ value: Double) -> String {
        switch unit {
        case .count: Figure.count(value)
        case .flag: value == 0 ? "no" : "yes"
        case .nanoseconds: Figure.time(nanoseconds: value)
        case .bytes: Figure.mebibytes(value)
        case .part: Figure.decimal(value * 100, places: 1) + " %"
        case .decimal(let places): Figure.decimal(value, places: places)
        }
    }

    var json: JSONValue { if case .flag = unit { .boolean(value != 0) } else { .number(value) } }

    var text: String {
        // The words may begin with a name that others have chosen.
        guard let place = words.lastIndex(of: "#") else { return words }
        return words[..<place] + shown(value) + words[words.index(after: place)...]
    }

    /// What the figure is called below `label`.
    func name(below label: String) -> String {
        if let name { return name }
        let words = words.split(separator: " ").filter { $0 != "#" }
        return ([label[...]] + words).joined(separator: " ")
    }
}

extension [ReportFigure?] {
    /// The quantiles of a latency.
    package static func latency(_ histogram: LatencyHistogram, _ key: String...) -> Self {
        let values = Quantile.allCases.map { ($0.rawValue, histogram.quantile($0)) } + [("max", histogram.maximum)]
        return values.map { ReportFigure("\($0) #", key + [$0], $1, .nanoseconds, better: .lower) }
    }

    /// How a rate differed from turn to turn, which a busy machine shows first; none of fewer than ten turns.
    package static func spread(ofTurns rates: [Double]) -> Self {
        guard rates.count >= 10 else { return [] }
        let sorted = rates.sorted()
        func rate(_ part: Double) -> Double { sorted[Int((part * Double(sorted.count - 1)).rounded())] }
        return [
            ReportFigure("median # a second", ["turns", "median"], rate(0.5), better: .higher),
            ReportFigure("a tenth below #", ["turns", "p10"], rate(0.1), better: .higher),
            ReportFigure("a tenth above #", ["turns", "p90"], rate(0.9), better: .higher),
            ReportFigure("# turns", ["turns", "count"], sorted.count),
        ]
    }
}
