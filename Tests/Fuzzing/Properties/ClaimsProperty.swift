internal import Basics
internal import MediaToken
internal import MediaTokenTesting
internal import TokenCrypto

/// What is accepted says what another reader reads in it, is for nothing else, and is judged the same in any company.
struct ClaimsProperty: FuzzProperty {
    /// Short, as it signs each input; nobody but this process has it.
    private let key: RSASigningKey
    private let judge: GeneralVerifier
    private let verifier: MediaTokenVerifier
    /// Accepts MML's tokens from one MVPD alone.
    private let restricted: MediaTokenVerifier
    private let inspector: TokenInspector
    private let neighbour: RawToken

    private static let time = Timestamp(milliseconds: 1_700_000_010_000)
    private static let expectation = Expectation(requestor: "MML", resource: "TNT")

    init() throws {
        key = try RSASigningKey.generate(bits: 512)
        judge = try GeneralVerifier(key: key.publicKey)
        let ring = try KeyRing(loading: [], unsafelyTrusting: key.publicKey, requirements: KeyRequirements())
        verifier = MediaTokenVerifier(keys: ring, replays: EveryUseIsTheFirst())
        restricted = MediaTokenVerifier(
            keys: ring, policy: VerificationPolicy(allowedMVPDs: ["MML": ["TempPass"]]), replays: EveryUseIsTheFirst())
        inspector = TokenInspector(keys: ring)
        let recipe = TokenRecipe(issued: TokenDate(Timestamp(milliseconds: 1_700_000_000_000)))
        neighbour = RawToken(try TokenSigner(key: key).sign(recipe.payload))
    }

    /// - Parameter input: what is signed.
    func check(_ input: [UInt8]) throws {
        let signature = try key.sign(input)
        let token = RawToken(Array("<signatureInfo>\(Base64.encode(signature))<signatureInfo>".utf8) + input)
        let verdict = try verifier.verify(token, for: Self.expectation, at: Self.time)
        try checkCompany(token, verdict.code)
        let examination = verifier.examine(token, for: Self.expectation, at: Self.time)
        try demand(
            verdict.code == examination.firstFailure?.code ?? .validToken,
            "verified: \(verdict.code); examined: \(examination.firstFailure?.detail ?? "no failure")")
        switch verdict {
        case .accepted(let accepted): try checkAccepted(accepted, token, input, signature)
        case .rejected(let rejection): try checkMessage(rejection, input)
        }
        // Any resource is allowed, so that more is read of.
        if case .accepted(let any) = try verifier.verify(token, for: Self.anything, at: Self.time) {
            try checkAgainstSecondReader(any.claims, input)
        }
        try checkMVPDs(token, input)
        try checkInspection(token, verdict.code)
    }

    private static let anything = Expectation(requestors: ["MML", "", "ABC"], resource: .unsafeAnyResource)

    private func checkMVPDs(_ token: RawToken, _ input: [UInt8]) throws {
        let expectation = Expectation(
            requestors: ["MML"],
            resource: .anyOf(["TNT", "<rss><c>0123456789 0123456789 0123456789</c></rss>", "<a/>"]))
        switch try restricted.verify(token, for: expectation, at: Self.time) {
        case .accepted(let accepted):
            let mvpds = [accepted.claims.mvpd, accepted.claims.proxyMVPD].compactMap(\.self)
            try demand(mvpds.allSatisfy { $0 == "TempPass" }, "accepted from \(mvpds)")
        case .rejected(let rejection): try checkMessage(rejection, input)
        }
    }

    /// An inspection reads tokens that are bound to devices too, and passes a media token where it is accepted.
    private func checkInspection(_ token: RawToken, _ code: VerdictCode) throws {
        var questions = TokenInspector.Questions()
        (questions.requestor, questions.resource, questions.time) = ("MML", .exactly("TNT"), .at(Self.time))
        let failure = inspector.inspect(token, asking: questions).firstFailure
        if let failure { try demandOneLine(failure.detail) }
        try demand(
            code != .validToken || failure == nil, "accepted; inspected: \(failure?.detail ?? "no failure")")
        try demand(code != .invalidSignature || failure != nil, "not signed; inspected: no failure")
    }

    private func checkCompany(_ token: RawToken, _ code: VerdictCode) throws {
        let group = [neighbour, token, neighbour].map {
            VerificationRequest(token: $0, expectation: Self.expectation)
        }
        let codes = try verifier.verify(group, at: Self.time).map { try $0.get().code }
        try demand(codes == [.validToken, code, .validToken], "in a group: \(codes); alone: \(code)")
    }

    private func checkAccepted(
        _ accepted: VerifiedToken, _ token: RawToken, _ payload: [UInt8], _ signature: [UInt8]
    ) throws {
        let digest = try SHA256Hasher.digest(payload)
        try demand(
            accepted.replayKey.words == digest.words, "its replay identity is not the SHA-256 of what was signed")
        try demand(judge.isValid(signature, over: digest), "libcrypto's general interface does not verify it")
        let others = [Expectation(requestor: "MMM", resource: "TNT"), Expectation(requestor: "MML", resource: "TNT2")]
        for other in others {
            let code = try verifier.verify(token, for: other, at: Self.time).code
            try demand(code != .validToken, "accepted for another requestor or resource as well")
        }
        let issued = accepted.claims.issueTime.timestamp
        let life = min(accepted.claims.timeToLive?.clampedMilliseconds ?? 300_000, 900_000)
        for (milliseconds, expected) in [
            (-30_001, VerdictCode.tokenNotYetValid), (-30_000, .validToken), (life + 30_000, .validToken),
            (life + 30_001, .tokenExpired),
        ] {
            let time = Timestamp(milliseconds: issued.milliseconds + Int64(milliseconds))
            let code = try verifier.verify(token, for: Self.expectation, at: time).code
            try demand(code == expected, "\(milliseconds) ms after its issue: \(code); expected \(expected)")
        }
    }

    private func checkAgainstSecondReader(_ claims: MediaTokenClaims, _ payload: [UInt8]) throws {
        guard let text = String(validating: payload, as: UTF8.self) else {
            throw Violation(description: "accepted, and not UTF-8")
        }
        let elements = try PlainXMLReader(text).elements
        func field(_ name: String) throws -> String? {
            let found = elements.filter { $0.depth == 1 && $0.name == name }
            try demand(found.count < 2, "accepted, and \(name) is there \(found.count) times")
            return found.first?.text
        }
        for (name, read) in [
            ("sessionGUID", claims.sessionGUID.text), ("requestorID", claims.requestor.text),
            ("resourceID", claims.resource.text), ("mvpdId", claims.mvpd.text),
            ("proxyMvpdId", claims.proxyMVPD?.text), ("ttl", claims.ttlMilliseconds.map(String.init)),
        ] {
            // An optional field that is empty counts as absent.
            let second = try field(name).flatMap { $0.isEmpty && read == nil ? nil : $0 }
            try demand(
                second.map { Array($0.utf8) } == read.map { Array($0.utf8) },
                "\(name) is read as \(read.debugDescription); the second reader has \(second.debugDescription)")
        }
        let date = try field("issueTime")
        try demand(date.flatMap { TokenDate($0, form: .issueTime) } == claims.issueTime, "issueTime differs")
    }

    /// One line, and no trace of the viewer.
    private func checkMessage(_ rejection: Rejection, _ payload: [UInt8]) throws {
        try demandOneLine(rejection.message)
        let viewer = "0123456789abcdef0123456789abcdef"
        let text = String(decoding: payload, as: UTF8.self)
        guard text.hasPrefix("<authToken><sessionGUID>\(viewer)</sessionGUID>"),
            text.firstRange(of: viewer) == text.ranges(of: viewer).last
        else { return }
        try demand(!rejection.message.contains(viewer), "its message holds the session GUID")
    }
}
