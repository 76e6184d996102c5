/// Maps each path, and everything below it, to a value. The cost of a lookup does not grow with the number of paths.
package struct PathTree<Value: Sendable>: Sendable {
    private let values: [Value]
    private let index: PathIndex

    /// Creates a tree of these values. If a path occurs twice, its first value is kept.
    package init(_ values: [(path: StreamPath, value: Value)]) {
        self.values = values.map(\.value)
        index = PathIndex(values.map(\.path))
    }

    /// The value of the longest path in the tree that equals `path` or contains it.
    ///
    /// The result is `nil` if there is no such path, and if a lenient server may read `path` as a path below a longer
    /// one that has a value: `/open/LIVE` has no value if `/open/live` has one.
    package func nearest(to path: StreamPath) -> Value? { index.nearest(to: path).map { values[$0] } }

    /// Whether a path in the tree equals `path` or contains it.
    package func names(_ path: StreamPath) -> Bool { index.longest(path) != nil }
}

/// A tree of paths. Each is known by its position in the list that the tree was made of.
private struct PathIndex: Sendable {
    private struct Node: Sendable {
        var value: Int?
        /// The number of names from the root to this node.
        let depth: Int
        /// The number of names in the longest path with a value at or below this node.
        var deepest = 0
        var children: [Name: Int] = [:]
        /// Children whose names are known (see `PathName.isKnown`), by the name as a case-insensitive server keeps it,
        /// with the longest paths first.
        var folded: [[UInt8]: [Int]] = [:]
        /// Children whose names are not known. Those with the longest paths come first.
        var unknown: [Int] = []
        /// All children. Those with the longest paths come first.
        var all: [Int] = []
    }

    /// A name that is compared and hashed by its bytes, because comparing long runs of accents as characters takes a
    /// second.
    private struct Name: Hashable, Sendable {
        let text: String

        static func == (left: Self, right: Self) -> Bool { left.text.utf8.elementsEqual(right.text.utf8) }

        func hash(into hasher: inout Hasher) {
            var text = text
            text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// The maximum number of readings of a path that are followed at one depth. A path with more readings has no value.
    private static var candidateLimit: Int { 64 }

    private var nodes = [Node(depth: 0)]

    init(_ paths: [StreamPath]) {
        for (value, path) in paths.enumerated() { insert(value, at: path) }
        for index in nodes.indices { sortChildren(of: index) }
    }

    private mutating func insert(_ value: Int, at path: StreamPath) {
        var node = 0
        nodes[0].deepest = max(nodes[0].deepest, path.names.count)
        for name in path.names {
            node = child(of: node, named: name)
            nodes[node].deepest = max(nodes[node].deepest, path.names.count)
        }
        nodes[node].value = nodes[node].value ?? value
    }

    private mutating func child(of node: Int, named name: String) -> Int {
        if let child = nodes[node].children[Name(text: name)] { return child }
        let child = nodes.count
        nodes.append(Node(depth: nodes[node].depth + 1))
        nodes[node].children[Name(text: name)] = child
        nodes[node].all.append(child)
        if PathName.isKnown(name) {
            nodes[node].folded[PathName.folded(name), default: []].append(child)
        } else {
            nodes[node].unknown.append(child)
        }
        return child
    }

    private mutating func sortChildren(of node: Int) {
        let byDepth = { [nodes] (left: Int, right: Int) in nodes[left].deepest > nodes[right].deepest }
        nodes[node].all.sort(by: byDepth)
        nodes[node].unknown.sort(by: byDepth)
        for name in nodes[node].folded.keys { nodes[node].folded[name]?.sort(by: byDepth) }
    }

    /// The longest path in the tree that equals `path` or contains it; `nil` as ``PathTree/nearest(to:)`` has it.
    func nearest(to path: StreamPath) -> Int? {
        guard let (nearest, depth) = longest(path), !mayLead(path, deeperThan: depth) else { return nil }
        return nearest
    }

    /// The longest path in the tree that equals `path` or contains it, and the number of its names.
    func longest(_ path: StreamPath) -> (value: Int, depth: Int)? {
        var (node, nearest, depth) = (0, nodes[0].value, 0)
        for (position, name) in path.names.enumerated() {
            guard let child = nodes[node].children[Name(text: name)] else { break }
            node = child
            if let value = nodes[node].value { (nearest, depth) = (value, position + 1) }
        }
        return nearest.map { ($0, depth) }
    }

    /// Whether a lenient server may read the path as one that has a value and more than `depth` names.
    private func mayLead(_ path: StreamPath, deeperThan depth: Int) -> Bool {
        guard nodes[0].deepest > depth else { return false }
        // Each node that is reached leads deeper.
        var (reached, application) = ([0], [Int]())
        for (position, name) in path.names.enumerated() {
            if position == max(depth, 1) { application = reached }
            // In a name that the operator has configured, characters such as `:` and `,` are ordinary.
            let spans = position >= depth && PathName.maySpan(name)
            // Unreached: A prefix behind an instance; the tests of nearest paths have it.
            let begins = spans ? reached + (PathName.hasPrefix(name) ? application : []) : []
            if !begins.isEmpty { return true }
            // If a server drops this name, the path still leads to the nodes that it reached before.
            var next = PathName.mayVanish(name) ? reached : []
            for node in reached {
                for child in candidates(for: name, below: node) {
                    // The children are sorted, so the remaining ones have no longer paths either.
                    guard nodes[child].deepest > depth else { break }
                    if nodes[child].depth > depth, nodes[child].value != nil { return true }
                    next.append(child)
                    if next.count > Self.candidateLimit { return true }
                }
            }
            reached = next
        }
        return false
    }

    /// The children whose names a server may read `name` as. If either name is not known, a server may confuse the two.
    private func candidates(for name: String, below node: Int) -> [Int] {
        guard PathName.isKnown(name) else { return nodes[node].all }
        let alike = nodes[node].folded[PathName.folded(name)] ?? []
        if nodes[node].unknown.isEmpty { return alike }
        // The caller stops at the first child that leads no deeper, so the children must be sorted.
        return (alike + nodes[node].unknown.prefix(Self.candidateLimit + 1)).sorted {
            nodes[$0].deepest > nodes[$1].deepest
        }
    }
}
