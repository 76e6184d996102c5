internal import CZlib

/// Unpacks what DEFLATE (RFC 1951) packed, piece by piece: gzip (RFC 1952), also several members in a row as the
/// rotation of logs leaves them, zlib (RFC 1950), and the files of ZIP archives.
final class Inflation {
    static let name = "gzip"
    static let gzipMagic: [UInt8] = [0x1F, 0x8B, 0x08]
    // 78 5E is left out: it is the text `x^`.
    private static let magics: [[UInt8]] = [gzipMagic, [0x78, 0x9C], [0x78, 0xDA], [0x78, 0x01]]
    private static let outputSize = 1 << 18
    /// The length up to which a text within a capture, which is held in memory, is unpacked.
    private static let textLimit = 1 << 25

    private let read: () -> [UInt8]
    private let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
    private let isRaw: Bool
    private var isOpen: Bool
    /// Whether the end of what was packed was reached.
    private(set) var isComplete = false
    /// The packed bytes that were read and not used.
    private(set) var packed: ArraySlice<UInt8>
    private let budget: CaptureBudget
    /// Whether more could have been unpacked, and would have cost too much.
    private(set) var isCut: Bool

    /// - Parameters:
    ///   - packed: the first packed bytes.
    ///   - isRaw: whether they have no header, as in a ZIP archive.
    ///   - read: returns the next packed bytes, and none at their end.
    init(
        _ packed: ArraySlice<UInt8>, isRaw: Bool = false, _ budget: CaptureBudget,
        then read: @escaping () -> [UInt8] = { [] }
    ) {
        (self.packed, self.isRaw, self.budget, self.read) = (packed, isRaw, budget, read)
        stream.initialize(to: z_stream())
        let window = isRaw ? -MAX_WBITS : MAX_WBITS + 32
        isCut = !budget.pay(CaptureBudget.attempt)
        isOpen =
            !isCut && inflateInit2_(stream, window, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Whether bytes begin as gzip or zlib does.
    static func unpacks(_ bytes: ArraySlice<UInt8>) -> Bool { magics.contains { bytes.starts(with: $0) } }

    /// All unpacked bytes of a text within a capture.
    func all() -> [UInt8] {
        var text: [UInt8] = []
        while text.count < Self.textLimit, let more = next() { text += more }
        isCut = isCut || isOpen && text.count >= Self.textLimit
        return text
    }

    /// The next unpacked bytes; `nil` at the end, and where the rest cannot be unpacked.
    func next() -> [UInt8]? {
        while isOpen {
            if packed.isEmpty { packed = read()[...] }
            guard !packed.isEmpty else { return nil }
            let text = [UInt8](unsafeUninitializedCapacity: Self.outputSize) { inflate(into: $0, &$1) }
            guard budget.pay(text.count) else {
                (isCut, isOpen) = (true, false)
                return nil
            }
            if !text.isEmpty { return text }
        }
        return nil
    }

    private func inflate(into output: UnsafeMutableBufferPointer<UInt8>, _ count: inout Int) {
        let status = packed.withUnsafeBufferPointer { input in
            (stream.pointee.next_in, stream.pointee.avail_in) = (input.baseAddress, UInt32(input.count))
            (stream.pointee.next_out, stream.pointee.avail_out) = (output.baseAddress, UInt32(output.count))
            return CZlib.inflate(stream, Z_NO_FLUSH)
        }
        packed = packed.suffix(Int(stream.pointee.avail_in))
        count = output.count - Int(stream.pointee.avail_out)
        isComplete = status == Z_STREAM_END
        isOpen = status == Z_OK || status == Z_STREAM_END && !isRaw && inflateReset(stream) == Z_OK
    }
}
