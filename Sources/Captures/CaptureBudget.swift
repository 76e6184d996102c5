/// What the search of one capture may cost, however the capture is packed and written. All that is made of it by unpacking,
/// decoding and rewriting is paid for in bytes, in whatever archive or layer, so that the time stays in proportion to the
/// capture's length.
final class CaptureBudget {
    /// The price of a start to unpack, or of a file in an archive, even if nothing comes of it.
    static let attempt = 1 << 13
    /// What the shortest capture may cost. A text of 128 KiB is rewritten in some two hundred ways.
    private static let least = 1 << 26
    private static let most = 1 << 31
    /// What each byte of a capture adds. Captures pack by 10 to 20, logs that repeat a line by 100.
    private static let perByte = 100

    private(set) var allowed = least
    private(set) var spent = 0
    /// Whether something was left out since it would have cost too much.
    private(set) var isExceeded = false

    private var left: Int { allowed - spent }

    /// Notes bytes of the capture that were read.
    func add(read count: Int) { allowed = min(allowed + Self.perByte * count, Self.most) }

    /// Pays for as many bytes.
    ///
    /// - Returns: Whether so many were left. If not, they must not be made or searched.
    func pay(_ count: Int) -> Bool {
        guard count <= left else {
            isExceeded = true
            return false
        }
        spent += count
        return true
    }
}
