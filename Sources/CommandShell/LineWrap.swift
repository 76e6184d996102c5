/// Breaks a line at its blanks, so that it fits into a number of columns.
package struct LineWrap {
    private let width: Int
    private let column: Int

    /// - Parameter column: How many blanks each further line begins with. A terminal with fewer than 20 columns to the
    ///   right of them gets the line as it is.
    package init(width: Int, hanging column: Int) { (self.width, self.column) = (width, column) }

    /// The line with line breaks. A word that is longer than a line is not broken.
    package func wrapped(_ line: String) -> String {
        guard width >= column + 20 else { return line }
        var (result, used) = ("", 0)
        for (number, word) in line.split(separator: " ", omittingEmptySubsequences: false).enumerated() {
            let length = Self.columns(of: word)
            if number > 0, used + 1 + length > width, used > column {
                result += "\n" + String(repeating: " ", count: column) + word
                used = column + length
            } else {
                result += (number > 0 ? " " : "") + word
                used += (number > 0 ? 1 : 0) + length
            }
        }
        return result
    }

    /// The columns that a word takes on a terminal, without its styles.
    private static func columns(of word: Substring) -> Int {
        word.split(separator: "\u{1B}[").enumerated().reduce(0) { sum, part in
            let isStyled = part.offset > 0 || word.hasPrefix("\u{1B}[")
            return sum + (isStyled ? part.element.drop { $0 != "m" }.dropFirst() : part.element).count
        }
    }
}
