internal import Basics

/// Header fields as they are sent, each with its line break.
package struct HTTPFields: Sendable, Equatable {
    private(set) var bytes: [UInt8] = []

    package init() {}

    /// Adds a header field, unless the value holds a control character, such as a line break.
    package mutating func add(_ name: StaticString, _ value: String) {
        var value = value
        value.withUTF8 { value in
            guard HTTPLine.firstControl(in: value, from: 0) == nil else { return }
            add(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount), value)
        }
    }

    /// Adds all of `other`.
    package mutating func add(_ other: HTTPFields) { bytes += other.bytes }

    private mutating func add(_ name: UnsafeBufferPointer<UInt8>, _ value: UnsafeBufferPointer<UInt8>) {
        bytes.reserveCapacity(bytes.count + name.count + value.count + 4)
        bytes.append(contentsOf: name)
        bytes.append(": ")
        bytes.append(contentsOf: value)
        bytes.append("\r\n")
    }

    /// The names and values, in the order in which they were added.
    var list: [(name: String, value: String)] {
        String(decoding: bytes, as: UTF8.self).split(separator: "\r\n").map { line in
            let name = line.prefix { $0 != ":" }
            return (String(name), String(line.dropFirst(name.count + 2)))
        }
    }
}
