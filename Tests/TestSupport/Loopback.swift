package import Foundation

/// Calls `body` with the address of a port of the loopback.
package func loopback(_ port: Int, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = in_port_t(UInt16(port)).bigEndian
    return withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
    }
}

extension Pipe {
    /// A pipe that holds a text, and that nobody writes to any more.
    package convenience init(holding text: String) throws {
        self.init()
        try fileHandleForWriting.write(contentsOf: Data(text.utf8))
        try fileHandleForWriting.close()
    }
}
