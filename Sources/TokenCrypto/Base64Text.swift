internal import COpenSSL

extension [UInt8] {
    /// The letters of Base64 (RFC 4648, 4), with padding, by libcrypto.
    package var base64: [UInt8] {
        // A zero is written behind them.
        [UInt8](unsafeUninitializedCapacity: (count + 2) / 3 * 4 + 1) { letters, written in
            written = Int(EVP_EncodeBlock(letters.baseAddress, self, Int32(count)))
        }
    }
}
