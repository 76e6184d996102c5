internal import Glibc

/// A reply to `INFO`: lines of `name:value`.
///
/// It is some kilobytes long, comes with each group of claims, and only a few of its fields are wanted. So each is looked for
/// by its name, and nothing else of the reply is taken apart.
struct RedisInfo {
    /// With a line's end before each line.
    private let text: String

    init(_ text: String) {
        self.text = "\n" + text
    }

    /// The value of a field; `nil` where the server does not tell it.
    subscript(name: String) -> String? {
        let begin = "\n\(name):"
        return text.withCString { text in
            guard let line = strstr(text, begin) else { return nil }
            let value = line + begin.utf8.count
            return String(decoding: UnsafeRawBufferPointer(start: value, count: strcspn(value, "\r\n")), as: UTF8.self)
        }
    }
}
