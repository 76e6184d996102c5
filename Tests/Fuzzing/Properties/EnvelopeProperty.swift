internal import Foundation
internal import MediaToken

/// Nothing is accepted but what was signed, however it is wrapped; and how it is wrapped changes nothing.
struct EnvelopeProperty: FuzzProperty {
    private let known: SignedTokens

    init() throws {
        known = try SignedTokens()
    }

    func check(_ input: [UInt8]) throws {
        for batch in known.batches {
            let verdict = try verify(input, batch)
            let token = RawToken(input)
            let examination = batch.verifier.examine(token, for: batch.expectation, at: batch.time)
            try demand(
                verdict.code == examination.firstFailure?.code ?? .validToken,
                "verified: \(verdict.code); examined: \(examination.firstFailure?.detail ?? "no failure")")
            try demand(
                try verifyTogether(input, batch) == [verdict.code, .validToken],
                "verified alone: \(verdict.code); otherwise in a group")
            let inspection = TokenInspector(keys: nil).inspect(token, asking: TokenInspector.Questions())
            if let failure = inspection.firstFailure { try demandOneLine(failure.detail) }
            guard input.starts(with: Array("<signatureInfo>".utf8)), input.count < RawToken.sizeLimit / 8 else {
                continue
            }
            // One of them each time; another input gets another.
            let wrapping = Wrapping.allCases[input.reduce(0) { $0 + Int($1) } % Wrapping.allCases.count]
            let again = try verify(wrapping.wrap(input), batch)
            try demand(
                again.code == verdict.code && again.message == verdict.message,
                "\(wrapping): \(again.code) \(again.message); as it is: \(verdict.code) \(verdict.message)")
        }
    }

    /// Verifies an input and a known token in one group.
    private func verifyTogether(_ input: [UInt8], _ batch: SignedTokens.Batch) throws -> [VerdictCode] {
        let group = [RawToken(input), batch.token].map {
            VerificationRequest(token: $0, expectation: batch.expectation)
        }
        return try batch.verifier.verify(group, at: batch.time).map { try $0.get().code }
    }

    private func verify(_ input: [UInt8], _ batch: SignedTokens.Batch) throws -> (
        code: VerdictCode, message: String
    ) {
        let verdict = try batch.verifier.verify(RawToken(input), for: batch.expectation, at: batch.time)
        switch verdict {
        case .accepted(let accepted):
            try demand(batch.isSigned(accepted.replayKey), "accepted, and nobody has signed it")
            return (verdict.code, "")
        case .rejected(let rejection):
            try demandOneLine(rejection.message)
            return (verdict.code, rejection.message)
        }
    }
}

/// The forms in which a clear text may arrive.
private enum Wrapping: CaseIterable {
    case base64, urlSafe, spaced, escapedBase64, escaped, v1XML, v1JSON, v2JSON

    func wrap(_ clearText: [UInt8]) -> [UInt8] {
        let base64 = Data(clearText).base64EncodedString()
        let wrapped =
            switch self {
            case .base64: base64
            case .urlSafe: String(base64.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }.filter { $0 != "=" })
            case .spaced: " \(base64)\r\n"
            case .escapedBase64: base64.replacing("+", with: "%2B")
            case .escaped: clearText.map { ($0 < 16 ? "%0" : "%") + String($0, radix: 16) }.joined()
            case .v1XML: "<play><a>b</a><serializedToken>\(base64)</serializedToken></play>"
            case .v1JSON: "{\"expires\":\"1\",\"serializedToken\":\"\(base64)\"}"
            case .v2JSON: "{\"decisions\":[{\"authorized\":true,\"token\":{\"serializedToken\":\"\(base64)\"}}]}"
            }
        return Array(wrapped.utf8)
    }
}
