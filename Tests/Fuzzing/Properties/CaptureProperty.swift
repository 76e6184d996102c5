internal import Captures

/// What is found in a capture has a way and a line, and begins as a token does or is what a request sent; a capture
/// that is searched in small pieces gives nothing else than the capture as a whole.
struct CaptureProperty: FuzzProperty {
    /// How many times longer what is packed may become: DEFLATE by 1,032, and by 100 what is packed in that.
    private static let expansion = 1032 * 100

    func check(_ input: [UInt8]) throws {
        var count = 0
        for pieceSize in [8 << 20, 4096] {
            var problem: Violation?
            TokenFinder(pieceSize: pieceSize) { $0.count.isMultiple(of: 2) ? .good : .form }.search(input) { part in
                count += part.findings.count
                for finding in part.findings {
                    do { try check(finding, in: input) } catch { problem = error as? Violation }
                }
            }
            if let problem { throw problem }
        }
        try demand(count <= 2 * Self.expansion * input.count, "\(count) findings in \(input.count) bytes")
    }

    private func check(_ finding: Finding, in input: [UInt8]) throws {
        let isUnpacked = finding.way.contains("gzip") || finding.way.contains("ZIP")
        // A packed file has lines of its own.
        let lines = isUnpacked ? Int.max : input.count { $0 == UInt8(ascii: "\n") } + 1
        try demand((1...lines).contains(finding.line), "line \(finding.line) of \(lines)")
        try demand(finding.way.count <= 40, "a way of \(finding.way.count) steps")
        for step in finding.way { try demandOneLine(step) }
        switch finding.content {
        case .token(let clearText):
            // What a request sent and cannot be read is a finding as it was sent.
            let isAsSent = finding.sent == clearText
            try demand(clearText.first == UInt8(ascii: "<") || isAsSent, "a token that begins with no tag")
            let limit = (isUnpacked ? Self.expansion : 1) * 2 * input.count
            try demand(clearText.count <= limit, "a token of \(clearText.count) bytes")
        case .grant(let text): try demand(!text.isEmpty, "a grant without a text")
        case .error(let error): try demand(!error.code.isEmpty || input.count > 8, "an error without a code")
        }
    }
}
