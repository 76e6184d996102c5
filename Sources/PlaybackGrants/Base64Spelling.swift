internal import MediaToken
internal import TokenCrypto

/// Base64 with other letters in the place of `+`, `/` and `=`.
struct Base64Spelling: Sendable {
    /// For URLs, without padding (RFC 4648, 5).
    static let url = Base64Spelling("+/", as: "-_", isPadded: false)
    /// As CloudFront has it in URLs and cookies.
    static let cloudFront = Base64Spelling("+/=", as: "-~_", isPadded: true)

    /// For each letter of Base64, the one in its place.
    private let spelled: [UInt8]
    /// For each byte, the letter of Base64 that it stands for; a zero for those that have others in their place.
    private let plain: [UInt8]
    private let isPadded: Bool

    private init(_ usual: String, as other: String, isPadded: Bool) {
        var (spelled, plain) = (Array(UInt8.min...UInt8.max), Array(UInt8.min...UInt8.max))
        for letter in "+/=".utf8 { plain[Int(letter)] = 0 }
        for (usual, other) in zip(usual.utf8, other.utf8) {
            (spelled[Int(usual)], plain[Int(other)]) = (other, usual)
        }
        (self.spelled, self.plain, self.isPadded) = (spelled, plain, isPadded)
    }

    func text(of bytes: [UInt8]) -> String {
        var letters = bytes.base64
        while !isPadded, letters.last == UInt8(ascii: "=") { letters.removeLast() }
        for index in letters.indices { letters[index] = spelled[Int(letters[index])] }
        return String(decoding: letters, as: UTF8.self)
    }

    /// The bytes of what ``text(of:)`` writes, and of nothing else: each byte string has one spelling.
    func bytes(of text: String) -> [UInt8]? {
        let letters = text.utf8.map { plain[Int($0)] }
        return try? Base64.decode(letters[...], alphabet: .standard, padding: isPadded ? .required : .optional)
    }
}
