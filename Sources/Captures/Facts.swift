internal import Basics

/// What one document says of its tokens, its errors and, as an entry of a HAR file, of its call: the values whose names
/// matter, by the object that they are in.
struct Facts {
    /// The path of an object in its document; empty for the document itself.
    typealias Object = ArraySlice<JSONWalker.Step>

    /// The objects that have such a value, in order, with the line of the first one.
    private(set) var objects: [(path: Object, line: Int)] = []
    /// The first value of each name of a subject, in this document and in those within it.
    private(set) var said: [String: String] = [:]
    private var values: [Object: [String: String]] = [:]
    /// The approximate number of bytes that all values take.
    private var size = 0

    private static let nameLimit = 40
    private static let subjectNames = Set(Subject.allCases.flatMap(\.names) + ["resources[1]"])
    private static let names = subjectNames.union(
        [
            "code", "status", "action", "message", "details", "detail", "authorized", "startedDateTime", "time",
            "method",
            "url", "name", "value", "text", "_error",
        ] + timeNames)
    /// The names that records of logs have for their time.
    static let timeNames = ["time", "timestamp", "@timestamp", "ts", "date"]
    /// The length of the longest value. No token is longer, so that none can be about such a value.
    private static let lengthLimit = 65_536
    private static let sizeLimit = 1 << 20
    /// What a call has beyond this, such as a million headers, is left out.
    private static let callLimit = 8 * sizeLimit
    private static let overhead = 64

    /// Keeps a value, if its name matters.
    mutating func add(_ value: [UInt8], at path: Object, line: Int) {
        let object = path.parent
        let steps = path[object.endIndex...]
        // No name that matters is longer, or is followed by more than one index.
        guard steps.count <= 2, case .name(let last)? = steps.first, last.text.utf8.count <= Self.nameLimit else {
            return
        }
        let name = steps.path
        guard Self.names.contains(name), value.count <= Self.lengthLimit, size <= Self.callLimit else { return }
        let (text, count) = (String(decoding: value, as: UTF8.self), values.count)
        values[object, default: [:]][name] = text
        if values.count > count { objects.append((object, line)) }
        if Self.subjectNames.contains(name) { said[name] = said[name] ?? text }
        size += value.count + Self.overhead
    }

    /// Takes what documents within this one say.
    mutating func add(_ said: [String: String]) { self.said.merge(said) { first, _ in first } }

    /// Whether objects should be dropped before the next value, which is in `object`. That loses least where a new item
    /// of an array begins.
    func isFull(before object: Object) -> Bool {
        guard size > Self.sizeLimit else { return false }
        if case .index? = object.last, values[object] == nil { return true }
        return size > 4 * Self.sizeLimit
    }

    /// Drops all objects but those for which `isKept` holds.
    mutating func drop(except isKept: (Object) -> Bool) {
        objects.removeAll { !isKept($0.path) }
        values = values.filter { isKept($0.key) }
        size = 0
    }

    subscript(object: Object) -> [String: String] { values[object] ?? [:] }

    /// The values of the object below these names.
    subscript(names: String...) -> [String: String] { self[names.map { .name(JSONName($0)) }[...]] }
}

extension Facts.Object {
    /// The path of the object around this one.
    var parent: Self { self[..<(lastIndex { if case .name = $0 { true } else { false } } ?? startIndex)] }
}

extension Stated {
    /// - Parameter sources: each returns the value of a name, or `nil` if there is none. The first that says a subject
    ///   counts.
    init(named sources: (String) -> String?...) {
        // A request for several resources is about no single one.
        let isAboutSeveral = sources.contains { $0("resources[1]") != nil }
        self.init { (subject: Subject) in
            if subject == .resource, isAboutSeveral { return nil }
            return sources.lazy.compactMap { subject.names.lazy.compactMap($0).first }.first
        }
    }
}
