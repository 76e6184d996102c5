/// Rewrites Swift files so that each mutant waits behind a switch: `rewrite FROM TO FILE…`, files by their paths below
/// both. A file with a plus before its path has exchanges only.
///
/// Standard output has a line for each mutant: its number, file, function, kind and line, where it and all of its place
/// are in the file that is written, what stands there now, and what the mutant has, separated by tabs. Standard input
/// has the numbers of mutants that are left out, as they do not compile, and the exchanges: file, what stands there and
/// what the mutant has, separated by tabs.
import Foundation
import SwiftOperators
import SwiftParser
import SwiftSyntax

/// A file's text with its switches.
struct Schemata {
    struct Mutant {
        let number: Int
        let site: Site
        let alternative: Site.Alternative
        /// Where its text is in the file that is written.
        let place: Range<Int>
        /// Where all of its site is there.
        var sitePlace = 0..<0
    }

    let source: [UInt8]
    /// From outer to inner.
    private var sites: ArraySlice<Site>
    private(set) var next: Int
    private let excluded: Set<Int>
    private(set) var output = Array("internal import MutantSwitch\n".utf8)
    private(set) var mutants: [Mutant] = []

    init(_ source: [UInt8], _ sites: [Site], next: Int, excluded: Set<Int>) {
        func order(_ site: Site) -> (Int, Int, Int) { (site.range.lowerBound, -site.range.count, site.form.rawValue) }
        (self.source, self.next, self.excluded) = (source, next, excluded)
        self.sites = sites.sorted { order($0) < order($1) }[...]
        write(0..<source.count)
    }

    private mutating func write(_ range: Range<Int>) {
        var place = range.lowerBound
        while let site = sites.first, site.range.upperBound <= range.upperBound {
            sites.removeFirst()
            output += source[place..<site.range.lowerBound]
            write(site)
            place = site.range.upperBound
        }
        output += source[place..<range.upperBound]
    }

    private mutating func write(_ text: String) { output += text.utf8 }

    private mutating func write(_ site: Site) {
        var switches: [(number: Int, alternative: Site.Alternative)] = []
        for alternative in site.alternatives {
            if !excluded.contains(next) { switches.append((next, alternative)) }
            next += 1
        }
        guard !switches.isEmpty else { return write(site.range) }
        let (begin, first) = (output.count, mutants.count)
        let type = site.form == .condition ? " as Bool" : ""
        if site.form == .expression || site.form == .condition { write("(") }
        for (number, alternative) in switches {
            let start = output.count
            switch site.form {
            case .expression, .condition: write("mutant(\(number)) ? (\(alternative.text))\(type) : ")
            case .statement: write("if !mutant(\(number)) { ")
            case .entry, .value: write("if mutant(\(number)) { \(alternative.text) }; ")
            }
            mutants.append(Mutant(number: number, site: site, alternative: alternative, place: start..<output.count))
        }
        let last = mutants.count
        if site.form == .expression || site.form == .condition { write("(") }
        if site.form == .value { write("return ") }
        write(site.range)
        switch site.form {
        case .expression, .condition: write(")\(type))")
        case .statement: write(" }")
        case .entry, .value: break
        }
        for index in first..<last { mutants[index].sitePlace = begin..<output.count }
    }
}

let arguments = CommandLine.arguments
let (from, to) = (URL(filePath: arguments[1]), URL(filePath: arguments[2]))
var excluded: Set<Int> = []
var exchanges: [Exchange] = []
while let line = readLine() {
    let fields = line.split(separator: "\t").map(String.init)
    if let number = Int(line) {
        excluded.insert(number)
    } else {
        exchanges.append(Exchange(file: fields[0], now: fields[1], then: fields[2]))
    }
}
var next = 1
var faults: [String] = []
for argument in arguments.dropFirst(3) {
    let file = argument.hasPrefix("+") ? String(argument.dropFirst()) : argument
    let source = try String(contentsOf: from.appending(path: file), encoding: .utf8)
    let folded = OperatorTable.standardOperators.foldAll(Parser.parse(source: source)) { _ in }
    guard let tree = folded.as(SourceFileSyntax.self) else { fatalError("\(file) is no source file") }
    let finder = SiteFinder(tree, isDeciding: file == argument, exchanges.filter { $0.file == file })
    faults += finder.faults
    let schemata = Schemata(Array(source.utf8), finder.sites, next: next, excluded: excluded)
    try Data(schemata.output).write(to: to.appending(path: file))
    next = schemata.next
    for mutant in schemata.mutants {
        let now = String(decoding: schemata.source[mutant.site.range], as: UTF8.self)
        let (place, whole) = (mutant.place, mutant.sitePlace)
        let fields =
            [
                String(mutant.number), file, mutant.site.function, mutant.alternative.kind.rawValue,
                String(mutant.site.line),
            ]
            + [place.lowerBound, place.upperBound, whole.lowerBound, whole.upperBound].map { String($0) }
            + [now, mutant.alternative.text]
        print(fields.map { $0.split(whereSeparator: \.isWhitespace).joined(separator: " ") }.joined(separator: "\t"))
    }
}
guard faults.isEmpty else {
    try FileHandle.standardError.write(contentsOf: Data(faults.map { "exchanged: \($0)\n" }.joined().utf8))
    exit(1)
}
