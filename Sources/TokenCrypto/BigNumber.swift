internal import COpenSSL

/// One of libcrypto's large whole numbers, which are never negative here. It owns its memory and keeps it from use to
/// use.
final class BigNumber {
    let pointer: OpaquePointer

    init() throws(CryptoError) {
        guard let pointer = BN_new() else { throw .libcrypto("out of memory") }
        self.pointer = pointer
    }

    /// - Parameter bytes: the number, most significant byte first.
    convenience init(_ bytes: [UInt8]) throws(CryptoError) {
        try self.init()
        guard bytes.withUnsafeBytes(read) else { throw .libcrypto("out of memory") }
    }

    /// Takes ownership of `pointer`.
    init(takingOwnership pointer: OpaquePointer) {
        self.pointer = pointer
    }

    deinit {
        BN_free(pointer)
    }

    /// Sets this number from `bytes`, most significant byte first (OS2IP of RFC 8017, 4.2). `false` if that fails.
    func read(_ bytes: UnsafeRawBufferPointer) -> Bool {
        BN_bin2bn(bytes.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(bytes.count), pointer) != nil
    }

    /// Sets this number to the sum of `left` and `right`. `false` if that fails.
    func add(_ left: BigNumber, _ right: BigNumber) -> Bool {
        BN_uadd(pointer, left.pointer, right.pointer) == 1
    }

    static func == (left: BigNumber, right: BigNumber) -> Bool { BN_ucmp(left.pointer, right.pointer) == 0 }

    static func < (left: BigNumber, right: BigNumber) -> Bool { BN_ucmp(left.pointer, right.pointer) < 0 }
}

/// Multiplies modulo one odd number, for which libcrypto's Montgomery parameters are computed once.
///
/// It is not thread-safe: it serves one caller at a time.
final class ModularMultiplier {
    let modulus: BigNumber
    private let montgomery: OpaquePointer
    private let scratch: OpaquePointer

    init(modulus: BigNumber) throws(CryptoError) {
        guard let scratch = BN_CTX_new() else { throw .libcrypto("out of memory") }
        guard let montgomery = BN_MONT_CTX_new() else {
            BN_CTX_free(scratch)
            throw .libcrypto("out of memory")
        }
        guard BN_MONT_CTX_set(montgomery, modulus.pointer, scratch) == 1 else {
            BN_MONT_CTX_free(montgomery)
            BN_CTX_free(scratch)
            throw .libcrypto("cannot compute with an even modulus (\(CryptoError.drainQueue()))")
        }
        (self.modulus, self.montgomery, self.scratch) = (modulus, montgomery, scratch)
    }

    deinit {
        BN_MONT_CTX_free(montgomery)
        BN_CTX_free(scratch)
    }

    /// Sets `result` to the Montgomery form of `number`, which must be below the modulus. `false` if that fails.
    func toMontgomery(_ result: BigNumber, _ number: BigNumber) -> Bool {
        BN_to_montgomery(result.pointer, number.pointer, montgomery, scratch) == 1
    }

    /// Sets `result` to the product of two numbers below the modulus. The product has Montgomery form if both numbers
    /// have it, and is a plain number if only one has it. `false` if that fails.
    func multiply(_ left: BigNumber, by right: BigNumber, into result: BigNumber) -> Bool {
        BN_mod_mul_montgomery(result.pointer, left.pointer, right.pointer, montgomery, scratch) == 1
    }
}

/// Arithmetic that is done once for each key.
extension BigNumber {
    /// Creates the number 2^`bit`.
    convenience init(bit: Int) throws(CryptoError) {
        try self.init()
        guard BN_set_bit(pointer, Int32(bit)) == 1 else { throw .libcrypto("out of memory") }
    }

    func inverse(modulo modulus: BigNumber) throws(CryptoError) -> BigNumber {
        try Self.compute { BN_mod_inverse($0, pointer, modulus.pointer, $1) != nil }
    }

    func power(_ exponent: UInt64, modulo modulus: BigNumber) throws(CryptoError) -> BigNumber {
        let number = try BigNumber()
        guard BN_set_word(number.pointer, UInt(exponent)) == 1 else { throw .libcrypto("out of memory") }
        return try power(number, modulo: modulus)
    }

    func power(_ exponent: BigNumber, modulo modulus: BigNumber) throws(CryptoError) -> BigNumber {
        try Self.compute { BN_mod_exp($0, pointer, exponent.pointer, modulus.pointer, $1) == 1 }
    }

    func multiplied(by other: BigNumber, modulo modulus: BigNumber) throws(CryptoError) -> BigNumber {
        try Self.compute { BN_mod_mul($0, pointer, other.pointer, modulus.pointer, $1) == 1 }
    }

    /// The difference of this number and a smaller one.
    func subtracting(_ other: BigNumber) throws(CryptoError) -> BigNumber {
        try Self.compute { result, _ in BN_sub(result, pointer, other.pointer) == 1 }
    }

    /// The number's `count` bytes, most significant byte first (I2OSP of RFC 8017, 4.1).
    func bytes(_ count: Int) throws(CryptoError) -> [UInt8] {
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, used in
            used = max(0, Int(BN_bn2binpad(pointer, buffer.baseAddress, Int32(count))))
        }
        guard bytes.count == count else { throw .libcrypto("the number needs more than \(count) bytes") }
        return bytes
    }

    /// The number of bytes that the number needs.
    var byteCount: Int { (Int(BN_num_bits(pointer)) + 7) / 8 }

    private static func compute(_ body: (OpaquePointer, OpaquePointer) -> Bool) throws(CryptoError) -> BigNumber {
        guard let scratch = BN_CTX_new() else { throw .libcrypto("out of memory") }
        defer { BN_CTX_free(scratch) }
        let result = try BigNumber()
        guard body(result.pointer, scratch) else { throw .libcrypto("arithmetic failed (\(CryptoError.drainQueue()))") }
        return result
    }
}
