/// What the search of one capture may cost, however the capture is packed and written. All that is made of it by
/// unpacking, decoding and rewriting is paid for in bytes, in whatever archive or layer, so that the time stays in
/// proportion to the capture's length.
final class CaptureBudget {
    /// The price of a start to unpack, or of a file in an archive, even if nothing comes of it.
    static let attempt = 1 << 13
    /// What the shortest capture may cost. A text of 128 KiB is rewritten in some two hundred ways.
    private static let least = 1 << 26
    /// What each byte of a capture adds, as far as it may be packed. Captures pack by 10 to 20, logs that repeat a line
    /// by 100.
    private static let perByte = 100
    private static let mostPacked = 1 << 29
    /// What each byte adds in any case: each layer of a capture that is not packed is smaller than the one around it.
    private static let perPlainByte = 4

    private var read = 0
    private(set) var spent = 0
    /// Whether something was left out since it would have cost too much.
    private(set) var isExceeded = false
    /// The place of the first text that was left out.
    private var leftOut: String?
    /// The place of what is searched, for messages.
    var place: () -> String = { "" }
    /// What it may cost to take off a text what shows nowhere at a token, which is the same for each capture: each of
    /// such texts is read many times, and an archive may hold thousands.
    private(set) lazy var ofGuesses: CaptureBudget = CaptureBudget()

    var allowed: Int { Self.least + max(min(Self.perByte * read, Self.mostPacked), Self.perPlainByte * read) }
    private var left: Int { allowed - spent }

    /// Notes bytes of the capture that were read.
    func add(read count: Int) { read += count }

    /// Why not all of the capture was searched, and where that began; `nil` if it was.
    var excess: String? {
        guard isExceeded else { return nil }
        let place = leftOut.flatMap { $0.isEmpty ? nil : "; the first text left out is at line \($0)" }
        return "what is unpacked and decoded of it comes to more than \(allowed) bytes" + (place ?? "")
    }

    /// Pays for as many bytes.
    ///
    /// - Returns: Whether so many were left. If not, they must not be made or searched.
    func pay(_ count: Int) -> Bool {
        guard count <= left else {
            (isExceeded, leftOut) = (true, leftOut ?? place())
            return false
        }
        spent += count
        return true
    }
}
