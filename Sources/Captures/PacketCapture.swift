internal import Basics

/// The connections of a capture of packets, as tcpdump and Wireshark write it (pcap, and pcapng as
/// draft-ietf-opsawg-pcapng has it): the bytes of TCP over IPv4 or IPv6, in the order in which they were sent.
struct PacketCapture {
    static let name = "packets"

    /// A text for each connection, in which what one side sent begins on a line of its own.
    private(set) var connections: [[UInt8]] = []
    private var numbers: [[UInt8]: Int] = [:]
    /// The next sequence number of each direction, by its ends.
    private var next: [[UInt8]: UInt32] = [:]
    /// The segments that came before their turn.
    private var early: [[UInt8]: [UInt32: ArraySlice<UInt8>]] = [:]
    /// Who sent last on each connection.
    private var last: [Int: [UInt8]] = [:]

    private static let mostEarly = 1000

    /// Whether a file begins as a capture of packets does.
    static func begins(_ head: ArraySlice<UInt8>) -> Bool {
        [[0xD4, 0xC3, 0xB2, 0xA1], [0x4D, 0x3C, 0xB2, 0xA1], [0x0A, 0x0D, 0x0D, 0x0A]].contains {
            head.starts(with: $0)
        }
    }

    /// Reads a file in the byte order of today's machines.
    init(_ file: ArraySlice<UInt8>) {
        if file.first == 0x0A { readBlocks(of: file) } else { readRecords(of: file) }
        for (direction, number) in numbers.sorted(by: { $0.value < $1.value }) where early[direction] != nil {
            while skipGap(direction) { takeNext(direction, number) }
        }
    }

    private mutating func readRecords(of file: ArraySlice<UInt8>) {
        guard let link = file.number(at: 20).map({ $0 & 0xFFFF }) else { return }
        var rest = file.dropFirst(24)
        while let length = rest.number(at: 8), rest.count > 16 {
            take(frame: rest.dropFirst(16).prefix(length), link: link)
            rest = rest.dropFirst(16 + length)
        }
    }

    private mutating func readBlocks(of file: ArraySlice<UInt8>) {
        var (rest, links) = (file, [Int]())
        while let kind = rest.number(at: 0), let length = rest.number(at: 4), length >= 12 {
            let block = rest.prefix(length)
            if kind == 0x0A0D_0D0A { links = [] }
            if kind == 1, let link = block.number(at: 8) { links.append(link & 0xFFFF) }
            if kind == 6, let interface = block.number(at: 8), let count = block.number(at: 20), interface < links.count
            {
                take(frame: block.dropFirst(28).prefix(count), link: links[interface])
            }
            rest = rest.dropFirst(length)
        }
    }

    /// - Parameter link: the kind of the link's frame (tcpdump.org, link-layer header types).
    private mutating func take(frame: ArraySlice<UInt8>, link: Int) {
        switch link {
        case 0: takePacket(frame.dropFirst(4))
        case 1:
            // Tags of virtual networks stand before the packet's kind.
            var kind = frame.dropFirst(12)
            while kind.starts(with: [0x81, 0]) || kind.starts(with: [0x88, 0xA8]) { kind = kind.dropFirst(4) }
            takePacket(kind.dropFirst(2))
        case 12, 101, 228, 229: takePacket(frame)
        case 113: takePacket(frame.dropFirst(16))
        case 276: takePacket(frame.dropFirst(20))
        default: break
        }
    }

    private mutating func takePacket(_ packet: ArraySlice<UInt8>) {
        guard let version = packet.first.map({ $0 >> 4 }), packet.count >= 40 else { return }
        let bytes = Array(packet)
        if version == 4, bytes[9] == 6 {
            let head = Int(bytes[0] & 15) * 4
            let length = Int(bytes[2]) << 8 | Int(bytes[3])
            // The length is 0 if the network card cuts what it sends into packets.
            takeSegment(
                bytes[..<(length > head ? min(length, bytes.count) : bytes.count)].dropFirst(head), bytes[12..<16],
                bytes[16..<20])
        } else if version == 6, bytes[6] == 6 {
            takeSegment(bytes.dropFirst(40), bytes[8..<24], bytes[24..<40])
        }
    }

    private mutating func takeSegment(
        _ segment: ArraySlice<UInt8>, _ source: ArraySlice<UInt8>, _ destination: ArraySlice<UInt8>
    ) {
        guard segment.count >= 20 else { return }
        let bytes = Array(segment)
        let (from, to) = (Array(source) + bytes[0..<2], Array(destination) + bytes[2..<4])
        let direction = from + to
        var sequence = bytes[4..<8].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
        let isFirst = bytes[13] & 2 != 0
        if isFirst {
            // Another connection between the same ports.
            if bytes[13] & 16 == 0 { (numbers[direction], numbers[to + from]) = (nil, nil) }
            (sequence, early[direction]) = (sequence &+ 1, [:])
        }
        if isFirst || next[direction] == nil { next[direction] = sequence }
        let number = numbers[direction] ?? numbers[to + from] ?? connections.count
        if number == connections.count { connections.append([]) }
        (numbers[direction], numbers[to + from]) = (number, number)
        // What was sent again is known.
        let known = max(0, Int(Int32(bitPattern: (next[direction] ?? sequence) &- sequence)))
        let part = segment.dropFirst(Int(bytes[12] >> 4) * 4).dropFirst(known)
        guard !part.isEmpty else { return }
        early[direction, default: [:]][sequence &+ UInt32(known)] = part
        takeNext(direction, number)
        if early[direction, default: [:]].count > Self.mostEarly, skipGap(direction) { takeNext(direction, number) }
    }

    /// Appends what was sent next in a direction, as far as it has come.
    private mutating func takeNext(_ direction: [UInt8], _ number: Int) {
        while let place = next[direction], let part = early[direction]?.removeValue(forKey: place) {
            next[direction] = place &+ UInt32(part.count)
            if last[number] != direction, !connections[number].isEmpty { connections[number].append(0x0A) }
            last[number] = direction
            connections[number] += part
        }
    }

    /// Goes on with the first segment that came early.
    ///
    /// - Returns: Whether there is one.
    private mutating func skipGap(_ direction: [UInt8]) -> Bool {
        guard let place = next[direction], let parts = early[direction] else { return false }
        let later = parts.keys.min { Int32(bitPattern: $0 &- place) < Int32(bitPattern: $1 &- place) }
        guard let later else { return false }
        (next[direction], last[numbers[direction] ?? 0]) = (later, nil)
        return true
    }
}

extension ArraySlice<UInt8> {
    /// The number of four bytes at a distance from the beginning, the lowest byte first; `nil` if the text ends before.
    fileprivate func number(at distance: Int) -> Int? {
        let bytes = dropFirst(distance).prefix(4)
        return bytes.count == 4 ? bytes.reversed().reduce(0) { $0 << 8 | Int($1) } : nil
    }
}
