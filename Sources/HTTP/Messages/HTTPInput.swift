internal import Basics

/// The bytes of a connection that have come and belong to no request that was handed out.
struct HTTPInput: Sendable {
    private var bytes: [UInt8] = []
    /// Where in `bytes` the request begins that is being read. All other places count from here.
    private var start = 0
    /// Where the line begins that is being read, which is behind all lines that were read.
    private(set) var line = 0
    /// The place up to which the line's end was looked for.
    private var searched = 0

    /// How many bytes there are.
    var count: Int { bytes.count - start }
    /// The bytes of memory that they take.
    var heldBytes: Int { bytes.capacity }

    mutating func append(_ more: UnsafeRawBufferPointer) {
        if start > 0 {
            bytes.removeFirst(start)
            start = 0
        }
        bytes.append(contentsOf: more)
    }

    /// The place of the next line, without the CR and LF at its end; `nil` if that end has not come.
    ///
    /// - Throws: a refusal of what is no line, and `tooLong` if the line ends beyond `limit`.
    mutating func nextLine(
        limit: Int, _ tooLong: @autoclosure () -> HTTPRefusal
    ) throws(HTTPRefusal) -> Range<Int>? {
        // What lies beyond the limit is not looked at: it may have come already, or not.
        let (from, end) = (start + searched, min(bytes.count, start + limit))
        let finding = bytes.withUnsafeBufferPointer {
            HTTPLine.end(in: UnsafeBufferPointer(rebasing: $0[..<end]), from: from)
        }
        switch finding {
        case .unfinished(let position):
            searched = position - start
            guard count <= limit else { throw tooLong() }
            return nil
        case .broken(let byte):
            let fault =
                switch byte {
                case 0x0A: "ends with LF alone; expected CR and LF"
                case 0x0D: "holds a CR without LF"
                default: "holds the control character \([byte].hexadecimal)"
                }
            throw .ambiguous("a line of the request \(fault)")
        case .ends(let position):
            let found = line..<(position - start)
            (line, searched) = (found.upperBound + 2, found.upperBound + 2)
            return found
        }
    }

    /// Calls `body` with the bytes at `place`.
    func with<Result>(
        _ place: Range<Int>, _ body: (UnsafeBufferPointer<UInt8>) throws(HTTPRefusal) -> Result
    ) throws(HTTPRefusal) -> Result {
        let (begin, end) = (start + place.lowerBound, start + place.upperBound)
        return try bytes.withUnsafeBufferPointer { (bytes) throws(HTTPRefusal) in
            try body(UnsafeBufferPointer(rebasing: bytes[begin..<end]))
        }
    }

    /// Hands out the first bytes, all of which were read. Places count from behind them from then on.
    mutating func take(_ count: Int) -> ArraySlice<UInt8> {
        let taken = bytes[start..<(start + count)]
        start += count
        (line, searched) = (0, 0)
        // The slice is the bytes' only owner then.
        if start == bytes.count { (bytes, start) = ([], 0) }
        return taken
    }
}
