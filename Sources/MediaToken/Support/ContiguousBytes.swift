extension ArraySlice<UInt8> {
    /// The bytes in place. A slice of an array is always contiguous.
    func withContiguousBytes<Result, Failure: Error>(
        _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let outcome = withUnsafeBufferPointer { (buffer) -> Swift.Result<Result, Failure> in
            do throws(Failure) { return .success(try body(buffer)) } catch { return .failure(error) }
        }
        return try outcome.get()
    }
}
