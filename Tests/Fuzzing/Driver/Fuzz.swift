internal import Basics
internal import FuzzProperties
internal import Glibc

/// The property that this process checks; named by `--target=NAME` on its command line.
private nonisolated(unsafe) var property: (any FuzzProperty)?

/// Called by libFuzzer once, before it begins.
@_cdecl("LLVMFuzzerInitialize")
public func initialize(
    _ count: UnsafeMutablePointer<Int32>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>
) -> Int32 {
    let option = "--target="
    let given = (0..<Int(count.pointee)).compactMap { arguments.pointee[$0].map { String(cString: $0) } }
    let name = given.first { $0.hasPrefix(option) }.map { String($0.dropFirst(option.count)) }
    guard let target = name.flatMap(FuzzTarget.init) else {
        let names = FuzzTarget.allCases.map(\.rawValue).joined(separator: ", ")
        stop("expected \(option)NAME, one of \(names)")
    }
    do { property = try target.property() } catch { stop("\(target.rawValue): cannot begin: \(error)") }
    return 0
}

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func test(_ start: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
    do {
        try property?.check(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
        // libFuzzer keeps the input of a process that aborts.
        say("does not hold: \(error)")
        abort()
    }
    return 0
}

private func stop(_ message: String) -> Never {
    say("fuzz: \(message)")
    exit(64)
}

private func say(_ line: String) {
    _ = FileBytes.write(Array("\(line)\n".utf8), to: STDERR_FILENO)
}
