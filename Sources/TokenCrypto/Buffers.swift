internal import COpenSSL

/// Runs one of libcrypto's `d2i_…` functions over all of `bytes`. `nil` if it fails or does not consume every byte,
/// since what follows a key in its file must not be ignored.
func decodeDER<Object>(
    _ bytes: [UInt8],
    with decode: (UnsafeMutablePointer<UnsafePointer<UInt8>?>, Int) -> Object?,
    discarding free: (Object) -> Void = { _ in }
) -> Object? {
    bytes.withUnsafeBufferPointer { buffer in
        var cursor = buffer.baseAddress
        guard let object = decode(&cursor, buffer.count) else { return nil }
        guard let cursor, let start = buffer.baseAddress, cursor - start == buffer.count else {
            free(object)
            return nil
        }
        return object
    }
}

/// Runs one of libcrypto's `i2d_…` functions, and returns its output.
func encodeDER(
    with encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>) -> Int32
) throws(KeyFileError) -> [UInt8] {
    var output: UnsafeMutablePointer<UInt8>?
    let length = encode(&output)
    guard length > 0, let output else { throw .libcrypto("cannot encode DER (\(CryptoError.drainQueue()))") }
    defer { CRYPTO_free(output, #file, Int32(#line)) }
    return Array(UnsafeBufferPointer(start: output, count: Int(length)))
}

/// Returns the text that `body` writes into a memory BIO.
func withMemoryBIO(_ body: (OpaquePointer) throws(CryptoError) -> Void) throws(CryptoError) -> String {
    guard let bio = BIO_new(BIO_s_mem()) else { throw .libcrypto("out of memory") }
    defer { BIO_free(bio) }
    try body(bio)
    var start: UnsafeMutablePointer<CChar>?
    let count = shim_BIO_get_mem_data(bio, &start)
    guard let start, count > 0 else { return "" }
    return String(decoding: UnsafeRawBufferPointer(start: start, count: count), as: UTF8.self)
}
