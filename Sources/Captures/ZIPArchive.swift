/// The files of a ZIP archive (PKWARE's APPNOTE, 4.3.7), as Fiddler and Charles save sessions.
struct ZIPArchive {
    static let name = "ZIP"
    static let magic: [UInt8] = [0x50, 0x4B, 3, 4]
    private static let headerSize = 30

    private(set) var files: [(name: String, text: [UInt8])] = []

    /// Unpacks the files of an archive that are neither encrypted nor packed in another way than DEFLATE.
    init(_ archive: ArraySlice<UInt8>) {
        var (rest, limit) = (archive, archive.count * Inflation.ratioLimit)
        while let start = rest.firstRange(of: Self.magic)?.lowerBound {
            rest = rest[start...]
            let header = Array(rest.prefix(Self.headerSize))
            guard header.count == Self.headerSize else { return }
            func number(at position: Int) -> Int { Int(header[position]) | Int(header[position + 1]) << 8 }
            let size = number(at: 18) | number(at: 20) << 16
            let name = rest.dropFirst(Self.headerSize).prefix(number(at: 26))
            rest = rest.dropFirst(Self.headerSize + number(at: 26) + number(at: 28))
            let isEncrypted = number(at: 6) & 1 == 1
            switch number(at: 8) {
            case 8 where !isEncrypted:
                let packed = Inflation(rest, isRaw: true, limit: limit)
                files.append((String(decoding: name, as: UTF8.self), packed.all()))
                (rest, limit) = (packed.packed, packed.limit)
            case 0 where !isEncrypted:
                files.append((String(decoding: name, as: UTF8.self), Array(rest.prefix(size))))
                fallthrough
            default: rest = rest.dropFirst(size)
            }
        }
    }
}
