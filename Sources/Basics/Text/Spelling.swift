/// Finds the name that somebody who misspelt one probably meant.
package enum Spelling {
    /// The known name that is nearest to `name`; `nil` if none is near.
    package static func nearest(to name: String, among known: [String]) -> String? {
        // Comparing takes time in proportion to both lengths.
        guard name.utf8.count <= 40 else { return nil }
        let distances = known.map { ($0, distance(Array(name.utf8), Array($0.utf8))) }
        guard let (nearest, distance) = distances.min(by: { $0.1 < $1.1 }) else { return nil }
        return distance <= max(1, name.utf8.count / 3) ? nearest : nil
    }

    /// The end of a message about an unknown name: the known name that is nearest to it, or all of them if none is
    /// near.
    package static func hint(for name: String, among known: [String]) -> String {
        nearest(to: name, among: known).map { "; did you mean \($0)?" } ?? "; expected \(known.joined(separator: ", "))"
    }

    /// How many bytes have to be added, left out or exchanged, or how many neighbours swapped, to make one text the
    /// other (Damerau–Levenshtein, with optimal string alignment).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var rows = [Array(0...right.count)]
        for (index, byte) in left.enumerated() {
            let above = rows[index]
            var row = [index + 1]
            for (column, other) in right.enumerated() {
                var least = min(above[column] + (byte == other ? 0 : 1), above[column + 1] + 1, row[column] + 1)
                if index > 0, column > 0, byte == right[column - 1], other == left[index - 1] {
                    least = min(least, rows[index - 1][column - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[left.count][right.count]
    }
}
