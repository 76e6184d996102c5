internal import FoundationEssentials
internal import TokenCrypto

extension String {
    /// Whether it may be a part of a cookie's value (RFC 6265, 4.1.1) and of a query.
    var isSendable: Bool {
        utf8.allSatisfy { (0x21...0x7E).contains($0) && !"\",;\\".utf8.contains($0) }
    }
}

extension UInt8 {
    package var isLetterOrDigit: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension [UInt8] {
    /// Two digits a byte, in lower case.
    var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    var base64: String { Data(self).base64EncodedString() }

    /// RFC 4648, 5, without padding.
    var base64URL: String {
        String(decoding: base64.utf8.filter { $0 != UInt8(ascii: "=") }.map(\.urlSafe), as: UTF8.self)
    }

    /// What ``base64URL`` writes, and nothing else: there is one spelling of each byte string.
    init?(base64URL text: String) {
        var digits = text.utf8.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while digits.count % 4 != 0 { digits.append(UInt8(ascii: "=")) }
        guard let data = Data(base64Encoded: Data(digits)), Array(data).base64URL.utf8.elementsEqual(text.utf8) else {
            return nil
        }
        self = Array(data)
    }
}

extension UInt8 {
    fileprivate var urlSafe: UInt8 {
        switch self {
        case UInt8(ascii: "+"): UInt8(ascii: "-")
        case UInt8(ascii: "/"): UInt8(ascii: "_")
        default: self
        }
    }
}

extension DigestAlgorithm {
    /// HMAC under a secret.
    func code(of message: [UInt8], _ key: GrantSecret) throws(GrantProblem) -> [UInt8] {
        do {
            return try authenticationCode(of: message, key: key.bytes)
        } catch {
            throw GrantProblem("key", "cannot be used (\(error))")
        }
    }
}
