internal import Basics

/// Reads the files of a ZIP archive one after the other (PKWARE's APPNOTE, 4.3.7), as Fiddler and Charles save
/// sessions.
final class ZIPArchive {
    static let name = "ZIP"
    static let magic: [UInt8] = [0x50, 0x4B, 3, 4]
    private static let sizeMagic: [UInt8] = [0x50, 0x4B, 7, 8]
    private static let headerSize = 30

    private let read: () -> [UInt8]
    private var packed: ArraySlice<UInt8> = []
    private let budget: CaptureBudget

    /// - Parameter read: returns the next bytes of the archive, and none at its end.
    init(_ budget: CaptureBudget, _ read: @escaping () -> [UInt8]) {
        (self.budget, self.read) = (budget, read)
    }

    /// Unpacks the files.
    ///
    /// - Parameters:
    ///   - use: takes a file's name, and what returns its next bytes.
    ///   - skip: takes the name of a file that cannot be unpacked, and why.
    func unpack(_ use: (String, @escaping () -> [UInt8]) -> Void, skip: (String, String) -> Void) {
        while budget.pay(CaptureBudget.attempt), findHeader() {
            let header = Array(packed.prefix(Self.headerSize))
            func number(at position: Int) -> Int { Int(header[position]) | Int(header[position + 1]) << 8 }
            let (flags, method, nameLength) = (number(at: 6), number(at: 8), number(at: 26))
            fill(Self.headerSize + nameLength + number(at: 28))
            let bytes = packed.dropFirst(Self.headerSize).prefix(nameLength)
            let name =
                bytes.isEmpty ? "a file without a name" : printable(String(decoding: bytes, as: UTF8.self), limit: 80)
            packed = packed.dropFirst(Self.headerSize + nameLength + number(at: 28))
            let isSizeBehind = flags & 8 != 0
            let size = isSizeBehind ? distanceToSize(isNeeded: method == 0) : number(at: 18) | number(at: 20) << 16
            switch method {
            case _ where flags & 1 == 1:
                skip(name, "it is encrypted")
                drop(size)
            case 0:
                var left = size
                use(name) {
                    let part = self.take(left)
                    left -= part.count
                    return part
                }
            case 8:
                let inflation = Inflation(packed, isRaw: true, budget, then: read)
                use(name) { inflation.next() ?? [] }
                while inflation.next() != nil {}
                if !inflation.isComplete { skip(name, inflation.isCut ? "it is too long" : "it is damaged") }
                packed = inflation.packed
            default:
                skip(name, "it is packed by method \(method)")
                drop(size)
            }
        }
    }

    /// The length of a file that is stored without packing and whose size follows it: only that size shows where the
    /// file ends.
    private func distanceToSize(isNeeded: Bool) -> Int {
        guard isNeeded else { return 0 }
        var searched = 0
        while true {
            let end = packed.dropFirst(searched).firstRange(of: Self.sizeMagic)?.lowerBound
            if let end { return end - packed.startIndex }
            searched = max(0, packed.count - Self.sizeMagic.count + 1)
            guard fill(packed.count + 1) else { return packed.count }
        }
    }

    /// Reads on until at least `count` bytes are there.
    ///
    /// - Returns: Whether there are so many.
    @discardableResult
    private func fill(_ count: Int) -> Bool {
        while packed.count < count {
            let more = read()
            guard !more.isEmpty else { return false }
            packed += more
        }
        return true
    }

    /// Skips what is before the next file, as the sizes of the file before or a program that unpacks itself.
    private func findHeader() -> Bool {
        while fill(Self.headerSize) {
            if let start = packed.firstRange(of: Self.magic)?.lowerBound {
                packed = packed[start...]
                if fill(Self.headerSize) { return true }
            }
            packed = packed.suffix(Self.magic.count - 1)
        }
        return false
    }

    /// The next bytes, `limit` at most.
    private func take(_ limit: Int) -> [UInt8] {
        guard limit > 0, fill(1) else { return [] }
        defer { packed = packed.dropFirst(limit) }
        return Array(packed.prefix(limit))
    }

    private func drop(_ count: Int) {
        var left = count
        while left > 0, fill(1) {
            let length = min(left, packed.count)
            (packed, left) = (packed.dropFirst(length), left - length)
        }
    }
}
