/// Matches patterns in which `*` stands for any number of bytes, and `?` for one byte.
enum Wildcards {
    static func match(_ text: String, _ pattern: String) -> Bool {
        match(Array(text.utf8)[...], Array(pattern.utf8)[...])
    }

    /// Backtracks only to the last `*`, so that the time is at most proportional to the product of both lengths.
    private static func match(_ text: ArraySlice<UInt8>, _ pattern: ArraySlice<UInt8>) -> Bool {
        var (text, pattern) = (text, pattern)
        // The pattern after the last `*`, and the text where that was last tried.
        var retry: (pattern: ArraySlice<UInt8>, text: ArraySlice<UInt8>)?
        while !text.isEmpty || !pattern.isEmpty {
            if pattern.first == UInt8(ascii: "*") {
                pattern = pattern.dropFirst()
                retry = (pattern, text)
            } else if let byte = text.first, let wanted = pattern.first, wanted == byte || wanted == UInt8(ascii: "?") {
                (text, pattern) = (text.dropFirst(), pattern.dropFirst())
            } else if let last = retry, !last.text.isEmpty {
                (pattern, text) = (last.pattern, last.text.dropFirst())
                retry = (pattern, text)
            } else {
                return false
            }
        }
        return true
    }
}
