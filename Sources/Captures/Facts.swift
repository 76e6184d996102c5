/// The short values of a capture's documents, by the object that they are in: what is said there of a token, and errors.
struct Facts {
    /// An object in a document.
    struct Object: Hashable {
        /// The way to the document.
        let way: [String]
        /// The path in the document, as one writes it: `decisions[0].token`; empty for the document itself.
        let path: String

        /// The object around this one.
        var parent: Object { Object(way: way, path: path.splittingLastName.path) }
    }

    /// The objects of this document, in order, with the line on which each begins.
    private(set) var own: [(object: Object, line: Int)] = []
    /// The objects of documents within this one.
    private var inner: [Object] = []
    private var values: [Object: [String: String]] = [:]
    private var count = 0

    private static let limit = 4096
    private static let lengthLimit = 2048

    /// Keeps a value, unless it is long or there are too many.
    mutating func add(_ value: [UInt8], _ name: String, in object: Object, line: Int) {
        guard value.count <= Self.lengthLimit, count < Self.limit else { return }
        count += 1
        if values[object] == nil { own.append((object, line)) }
        values[object, default: [:]][name] = String(decoding: value, as: UTF8.self)
    }

    /// Takes the values of a document within this one.
    mutating func add(_ document: Facts) {
        guard count + document.count <= Self.limit else { return }
        count += document.count
        inner += document.objects
        values.merge(document.values) { $1 }
    }

    /// All objects, also those of documents within this one.
    var objects: [Object] { own.map(\.object) + inner }

    subscript(object: Object) -> [String: String] { values[object] ?? [:] }

    /// The value at `path` in the document at `way`.
    func value(_ path: String, in way: [String]) -> String? {
        let (object, name) = path.splittingLastName
        return values[Object(way: way, path: object)]?[name]
    }
}

extension String {
    /// The path of a value, as the path of the object and the name in that: `token.notAfter` as `token` and `notAfter`.
    var splittingLastName: (path: String, name: String) {
        guard let dot = utf8.lastIndex(of: UInt8(ascii: ".")) else { return ("", self) }
        return (String(self[..<dot]), String(self[utf8.index(after: dot)...]))
    }
}

extension Stated {
    /// - Parameter named: returns the value of a name; `nil` if there is none.
    init(named: (String) -> String?) {
        self.init { (subject: Subject) in
            // A request for several resources is about no single one.
            subject == .resource && named("resources[1]") != nil ? nil : subject.names.lazy.compactMap(named).first
        }
    }
}
