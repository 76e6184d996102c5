/// Numbers as bytes, the highest first.
package enum BigEndian {
    package static func sum(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var (digits, carry): ([UInt8], Int) = ([], 0)
        for place in 0...max(left.count, right.count) {
            let digit = at(place, left) + at(place, right) + carry
            digits.append(UInt8(digit & 0xFF))
            carry = digit >> 8
        }
        return digits.reversed()
    }

    /// As long as `left`, which is the larger one.
    package static func difference(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        var (digits, borrow): ([UInt8], Int) = ([], 0)
        for place in left.indices {
            let digit = at(place, left) - at(place, right) - borrow
            digits.append(UInt8(digit & 0xFF))
            borrow = digit < 0 ? 1 : 0
        }
        return digits.reversed()
    }

    private static func at(_ place: Int, _ number: [UInt8]) -> Int {
        place < number.count ? Int(number[number.count - 1 - place]) : 0
    }
}
