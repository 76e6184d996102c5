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

    /// How many bytes have to be added, left out or exchanged to make one text the other (Levenshtein).
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in right.indices {
                let exchanged = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(exchanged, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
