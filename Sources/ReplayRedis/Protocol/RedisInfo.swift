internal import Glibc

/// A reply to `INFO`: lines of `name:value`.
///
/// A reply is some kilobytes long, comes with each group of claims, and only a few of its fields are needed. So each of these
/// is searched for by its name, and the rest of the reply is not taken apart.
struct RedisInfo {
    /// The reply, with a line end before its first line too.
    private let text: String

    init(_ text: String) {
        self.text = "\n" + text
    }

    /// The value of a field; `nil` if the server does not report it.
    subscript(name: String) -> String? {
        let begin = "\n\(name):"
        return text.withCString { text in
            guard let line = strstr(text, begin) else { return nil }
            let value = line + begin.utf8.count
            return String(decoding: UnsafeRawBufferPointer(start: value, count: strcspn(value, "\r\n")), as: UTF8.self)
        }
    }
}
