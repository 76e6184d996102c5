internal import Glibc

/// A reply to `INFO`: lines of `name:value`.
///
/// A reply is some kilobytes long, comes with each group of claims, and only a few of its fields are needed. So each of
/// these is searched for by its name, and the rest of the reply is not taken apart.
struct RedisInfo {
    private let text: String

    init(_ text: String) {
        self.text = text
    }

    /// The value of a field; `nil` if the server does not report it.
    subscript(name: StaticString) -> String? {
        let length = name.utf8CodeUnitCount
        return text.withCString { text in
            var rest = text
            while let found = strstr(rest, UnsafeRawPointer(name.utf8Start).assumingMemoryBound(to: CChar.self)) {
                rest = UnsafePointer(found) + length
                guard found == text || found[-1] == CChar(0x0A), rest[0] == CChar(UInt8(ascii: ":")) else { continue }
                let value = UnsafeRawBufferPointer(start: rest + 1, count: strcspn(rest + 1, "\r\n"))
                return String(decoding: value, as: UTF8.self)
            }
            return nil
        }
    }
}
