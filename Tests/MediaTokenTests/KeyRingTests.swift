import Foundation
import MediaToken
import MediaTokenTesting
import TestSupport
import Testing
import TokenCrypto

@Suite("Key ring")
struct KeyRingTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private static let keystores = Fixtures.vectors.appending(path: "keystores")

    private func publicPEM(_ key: RSASigningKey = TestKeys.standard) throws -> String {
        try key.publicKey.pemText()
    }

    private func message(_ body: () throws -> KeyRing) -> String {
        do {
            _ = try body()
            return "loaded"
        } catch {
            return "\(error)"
        }
    }

    @Test("a directory is read by file name; what is no key file in it is passed over")
    func directoryOfKeys() throws {
        try directory.write(try publicPEM(), to: "b.pem")
        try directory.write(try publicPEM(TestKeys.stranger), to: "a.pub")
        try directory.write(try publicPEM(), to: "again.pem")
        try directory.write("# Keys", to: "README.md")
        try directory.write("junk", to: ".hidden.pem")
        let ring = try KeyRing(loading: directory.path)
        #expect(ring.keys.map(\.name) == ["a.pub", "again.pem"])
        #expect(ring.refused.isEmpty)
    }

    @Test("in a directory, a bad file is left out and named; named itself, it is an error")
    func badFiles() throws {
        try directory.write(try publicPEM(), to: "good.pem")
        let bad = try directory.write("junk", to: "bad.pem")
        let ring = try KeyRing(loading: directory.path)
        #expect(ring.keys.map(\.name) == ["good.pem"])
        #expect(ring.refused.map(\.file) == [bad])
        #expect(message { try KeyRing(loading: [directory.path, bad]) }.contains("bad.pem"))
    }

    @Test("a key that nobody can compute with is left out of a directory, and named")
    func evenModulus() throws {
        var der = TestKeys.stranger.publicKey.derBytes
        let exponent: [UInt8] = [0x02, 0x03, 0x01, 0x00, 0x01]
        let end = try #require(der.indices.last { der[$0...].starts(with: exponent) })
        der[end - 1] &= 0xFE
        let bad = try directory.write(Data(der), to: "even.der")
        try directory.write(try publicPEM(), to: "good.pem")
        let ring = try KeyRing(loading: directory.path)
        #expect(ring.keys.map(\.name) == ["good.pem"])
        #expect(ring.refused.map(\.file) == [bad])
        #expect(message { try KeyRing(loading: bad) }.contains("modulus"))
    }

    @Test("each refusal names the file, what is wrong, and the setting or what to do")
    func refusals() throws {
        let short = try directory.write(try publicPEM(TestKeys.short), to: "short.pem")
        let secret = try directory.write(try TestKeys.standard.pemText(), to: "secret.pem")
        let empty = try directory.write("", to: "empty.pem")
        let exponent3 = try directory.write(
            try Program("openssl").succeed(["pkey", "-pubout"], input: Data(try exponentThreeKey().utf8)),
            to: "three.pem")
        var der = TestKeys.stranger.publicKey.derBytes
        let exponent = try #require(der.indices.last { der[$0...].starts(with: [2, 3, 1, 0, 1] as [UInt8]) })
        der[exponent + 4] = 2
        let even = try directory.write(Data(der), to: "even.der")
        let store = Self.keystores.appending(path: "trust.jks").path
        let absent = "\(directory.path)/absent.pem"
        let expected: [(String, [String])] = [
            (short, ["short.pem", "1024", "2048", "minimumRSABits", "--min-rsa-bits 1024"]),
            (secret, ["secret.pem", "private key", "openssl pkey -in \"\(secret)\" -pubout"]),
            (empty, ["empty.pem", "empty"]),
            (exponent3, ["three.pem", "exponent 3", "65537"]), (even, ["even.der", "exponent 65538", "odd"]),
            (store, ["trust.jks", "JKS", "--password"]),
            (absent, ["absent.pem", "cannot be opened: No such file"]),
        ]
        for (path, texts) in expected {
            let message = message { try KeyRing(loading: path) }
            for text in texts { #expect(message.contains(text), "\(message)") }
            #expect(!message.contains("\n"))
        }
        #expect(message { try KeyRing(loading: store, password: "secret123") }.contains("wrong password"))
        #expect(!message { try KeyRing(loading: store, password: "secret123") }.contains("secret123"))
    }

    private func exponentThreeKey() throws -> String {
        try Program("openssl").succeed(
            ["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-pkeyopt", "rsa_keygen_pubexp:3"])
    }

    @Test("bytes are loaded as their file would be, each with its own password, and refused under their name")
    func bytes() throws {
        let store = [UInt8](try Data(contentsOf: Self.keystores.appending(path: "trust.jks")))
        let pem = Array(try publicPEM(TestKeys.stranger).utf8)
        func ring(_ files: [KeyBytes]) throws -> KeyRing {
            try KeyRing(loading: [], and: files, unsafelyTrusting: nil, requirements: KeyRequirements())
        }
        let keys = try ring([
            KeyBytes(name: "a.jks", bytes: store, password: "123456"),
            KeyBytes(name: "b.pem", bytes: pem, password: nil),
        ]).keys
        #expect(keys.contains { $0.name == "b.pem" } && keys.contains { $0.file == "a.jks" })
        let own = try KeyRing(
            loading: [], unsafelyTrusting: TestKeys.short.publicKey, requirements: KeyRequirements())
        #expect(own.keys.map(\.bits) == [1024])
        let secret = Array(try TestKeys.standard.pemText().utf8)
        for (bytes, text) in [(store, "--password"), (secret, "private key"), (Array("junk".utf8), "c.pem")] {
            let message = message { try ring([KeyBytes(name: "c.pem", bytes: bytes, password: nil)]) }
            #expect(message.hasPrefix("c.pem: ") && message.contains(text), "\(message)")
        }
    }

    @Test("the issuer in a chain is no key, and named, unless asked for; a chain is good all the same")
    func issuers() throws {
        let made = try IssuedCertificate()
        let chain = try directory.write(made.certificate + made.authority, to: "chain.pem")
        let ring = try KeyRing(loading: chain)
        #expect(ring.keys.map(\.name) == ["CN=leaf"] && ring.refused.isEmpty)
        #expect(
            ring.leftOut.count == 1
                && ring.leftOut[0].description.contains("chain.pem: has the certificate 'CN=authority'"))
        let both = try KeyRing(loading: [chain], requirements: KeyRequirements(acceptingIssuers: true))
        #expect(Set(both.keys.map(\.name)) == ["CN=leaf", "CN=authority"] && both.leftOut.isEmpty)
        let apart = try directory.write(made.authority, to: "authority.pem")
        #expect(try KeyRing(loading: [chain, apart]).keys.count == 2)
    }

    @Test(
        "a key is withdrawn when its file has become a directory, a link to nothing or another key, and stays while it is a pipe or damaged",
        arguments: [false, true])
    func withdrawn(isNamed: Bool) throws {
        let file = try directory.write(try publicPEM(), to: "a.pem")
        let other = try directory.write(try publicPEM(TestKeys.stranger), to: "b.pem")
        let paths = isNamed ? [file, other] : [directory.path]
        let ring = try KeyRing(loading: paths)
        for (place, expected) in [
            ({ mkdir(file, 0o700) }, ["b.pem"]), ({ symlink("none", file) }, ["b.pem"]),
            ({ symlink("a.pem", file) }, ["b.pem"]), ({ mkfifo(file, 0o600) }, ["a.pem", "b.pem"]),
            ({ (try? directory.write("junk", to: "a.pem")) == file ? 0 : -1 }, ["a.pem", "b.pem"]),
            ({ link(other, file) }, ["b.pem"]),
            ({ (try? directory.write(publicPEM(TestKeys.short), to: "a.pem")) == file ? 0 : -1 }, ["b.pem"]),
        ] as [(() -> Int32, [String])] {
            remove(file)
            #expect(place() == 0)
            var status = stat()
            let pipes = stat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFIFO && isNamed ? [file] : []
            let left = ring.withdrawing(from: paths, except: pipes, password: nil, requirements: KeyRequirements())
            #expect(left.keys.map(\.name) == expected)
        }
    }

    @Test("a key that came by a pipe stays, and the pipe is not read again")
    func handedOver() throws {
        let (first, second) = (try Pipe(holding: publicPEM()), Pipe())
        let descriptor = first.fileHandleForReading.fileDescriptor
        let path = "/dev/fd/\(descriptor)"
        let ring = try KeyRing(loading: path)
        // Nobody writes to this pipe, and nobody closes it.
        dup2(second.fileHandleForReading.fileDescriptor, descriptor)
        let left = ring.withdrawing(from: [path], except: [path], password: nil, requirements: KeyRequirements())
        #expect(left.keys.count == 1)
    }

    @Test("a ring whose keys were all withdrawn verifies nothing, and says why")
    func empty() throws {
        let file = try directory.write(try publicPEM(), to: "a.pem")
        let ring = try KeyRing(loading: file)
        remove(file)
        let verifier = MediaTokenVerifier(keys: ring.withoutFilesGone(), replays: MemoryReplayStore.unfenced())
        let request = VerificationRequest(token: RawToken(try Mint.token()), expectation: Mint.expectation)
        for group in [[request], [request, request]] {
            for outcome in verifier.verify(group, at: Mint.now) {
                let verdict = try outcome.get()
                #expect(verdict.code == .invalidSignature && verdict.message == "no key is loaded: all were withdrawn")
            }
        }
    }

    @Test("a refused file is lost if it had a key before, and has none now")
    func lost() throws {
        let file = try directory.write(try publicPEM(), to: "a.pem")
        try directory.write(try publicPEM(TestKeys.stranger), to: "b.pem")
        try directory.write("junk", to: "c.pem")
        let before = try KeyRing(loading: directory.path)
        try directory.write("junk", to: "a.pem")
        try directory.write(publicPEM(TestKeys.stranger) + publicPEM(TestKeys.short), to: "b.pem")
        let after = try KeyRing(loading: directory.path)
        #expect(after.refused.count == 3 && after.refusals(ofFilesIn: before).map(\.file) == [file])
    }

    @Test("a directory without a key file is named beside keys, and a loop of links is called one")
    func places() throws {
        let folder = directory.path + "/keys"
        mkdir(folder, 0o700)
        let ring = try KeyRing(loading: [try directory.write(try publicPEM(), to: "a.pem"), folder])
        #expect(ring.leftOut.map(\.description) == ["\(folder): is a directory without a key file"])
        symlink("loop.pem", directory.path + "/loop.pem")
        let text = message { try KeyRing(loading: directory.path + "/loop.pem") }
        #expect(text == "\(directory.path)/loop.pem: cannot be opened: Too many levels of symbolic links")
    }

    @Test("an unreadable file and an empty directory are errors at once")
    func nothingToLoad() throws {
        #expect(message { try KeyRing(loading: directory.path) }.contains("no usable verification key"))
        #expect(message { try KeyRing(loading: []) }.contains("no usable verification key"))
        try directory.write("junk", to: "bad.pem")
        let text = message { try KeyRing(loading: directory.path) }
        #expect(text.contains("bad.pem") && text.contains("no usable verification key"))
    }

    @Test("a modulus has as many bits as are demanded, 1024 at the least and 8192 at the most")
    func bits() throws {
        for (bits, minimum, isLoaded) in [
            (512, 512, false), (1024, 1024, true), (1023, 1024, false), (2048, 2048, true), (2047, 2048, false),
            (8192, 2048, true),
            (8193, 2048, false), (8200, 2048, false),
        ] {
            let file = try directory.write(Data(TestKeys.publicDER(bits: bits)), to: "\(bits).der")
            let keys = try? KeyRing(loading: file, minimumRSABits: minimum).keys
            #expect(keys?.map(\.bits) == (isLoaded ? [bits] : nil), "\(bits)")
        }
    }

    @Test("a certificate's dates are reported, and enforced at load unless that is switched off")
    func certificateDates() throws {
        let file = Self.keystores.appending(path: "certificate.pem").path
        let inside = try #require(Timestamp(reading: "2030-01-01T00:00:00Z"))
        let ring = try KeyRing(loading: [file], at: inside)
        #expect(ring.keys.map(\.name) == ["CN=Media Token Test,O=Example"])
        #expect(ring.keys[0].validity?.lowerBound == Timestamp(reading: "2015-01-01T00:00:00Z"))
        for outside in ["2014-12-31T23:59:59Z", "2114-12-08T00:00:01Z"] {
            let time = try #require(Timestamp(reading: outside))
            let refusal = message { try KeyRing(loading: [file], at: time) }
            #expect(refusal.contains("--ignore-certificate-dates"), "\(refusal)")
            let lenient = KeyRequirements(unsafeIgnoringCertificateDates: true)
            #expect(try KeyRing(loading: [file], requirements: lenient, at: time).keys.count == 1)
        }
    }

    /// A certificate of the standard key that is valid from now on.
    private func makeCertificate(days: Int) throws -> String {
        let key = try directory.write(try TestKeys.standard.pemText(), to: "signing.key")
        let file = "\(directory.path)/days-\(days).crt"
        try Program("openssl").succeed([
            "req", "-x509", "-key", key, "-subj", "/CN=For \(days) days", "-days", "\(days)", "-out", file,
        ])
        return file
    }

    private func code(_ verifier: MediaTokenVerifier, at now: Timestamp, viewer: String) throws -> Verdict {
        let token = try Mint.token {
            $0 = TokenRecipe(issued: TokenDate(now))
            $0.sessionGUID = viewer
        }
        let examination = verifier.examine(RawToken(token), for: Mint.expectation, at: now)
        let verdict = try verifier.verify(token, at: now)
        #expect(examination.firstFailure?.code ?? .validToken == verdict.code)
        #expect(examination.firstFailure?.detail ?? "" == verdict.message)
        return verdict
    }

    @Test("a key verifies while its certificate is valid, and not a second before or after; the rejection says so")
    func certificateEndsWhileRunning() throws {
        let file = try makeCertificate(days: 10)
        let keys = try KeyRing(loading: [file])
        let validity = try #require(keys.keys[0].validity)
        let (begin, end) = (validity.lowerBound, validity.upperBound)
        let verifier = MediaTokenVerifier(keys: keys, replays: MemoryReplayStore.unfenced())
        for (viewer, now, isValid) in [
            // Forwards, as far as the store is asked: it forgets what has expired.
            ("a", begin, true), ("f", begin.advanced(byMilliseconds: 60_000), true), ("b", end, true),
            ("c", end.advanced(byMilliseconds: 1), false),
            ("d", begin.advanced(byMilliseconds: -1), false), ("e", end.advanced(byMilliseconds: 86_400_000), false),
        ] {
            let verdict = try code(verifier, at: now, viewer: viewer)
            #expect(verdict.code == (isValid ? .validToken : .invalidSignature), "\(viewer): \(verdict.message)")
            for text in ["signed by CN=For 10 days", "to \(TokenDate(end))"] {
                #expect(isValid || verdict.message.contains(text), "\(verdict.message)")
            }
        }
        // Another key is none the worse for it, and a strange signature is not put down to the date.
        try directory.write(try publicPEM(TestKeys.stranger), to: "other.pem")
        let two = try MediaTokenVerifier(keys: KeyRing(loading: directory.path), replays: MemoryReplayStore.unfenced())
        let later = end.advanced(byMilliseconds: 5000)
        let issued = TokenDate(later)
        #expect(try two.code(Mint.token(key: TestKeys.stranger) { $0.issued = issued }, at: later) == .validToken)
        let strange = try two.verify(Mint.token(key: TestKeys.short) { $0.issued = issued }, at: later)
        #expect(strange.code == .invalidSignature && !strange.message.contains("valid from"))
        let inspector = TokenInspector(keys: keys)
        var questions = TokenInspector.Questions()
        questions.time = .at(later)
        let token = RawToken(try Mint.token { $0.issued = issued })
        #expect(inspector.inspect(token, asking: questions).firstFailure?.check == .signature)
        questions.time = nil
        #expect(inspector.inspect(token, asking: questions).key == "CN=For 10 days")
    }

    @Test("a key that is loaded without regard to its certificate's dates verifies whatever they say")
    func ignoredDates() throws {
        let file = try makeCertificate(days: 1)
        let lenient = KeyRequirements(unsafeIgnoringCertificateDates: true)
        let keys = try KeyRing(loading: [file], requirements: lenient)
        let later = try #require(keys.keys[0].validity).upperBound.advanced(byMilliseconds: 86_400_000)
        let verifier = MediaTokenVerifier(keys: keys, replays: MemoryReplayStore.unfenced())
        #expect(try code(verifier, at: later, viewer: "a").code == .validToken)
    }

    @Test("a key of several certificates verifies until the last of them ends, and a bare one has no end")
    func renewedCertificate() throws {
        let files = try [20, 10, 30].map { try makeCertificate(days: $0) }
        let keys = try KeyRing(loading: files)
        #expect(keys.keys.map(\.name) == ["CN=For 20 days"])
        let end = try #require(keys.keys[0].validity).upperBound
        #expect(end > Timestamp.now.advanced(byMilliseconds: 29 * 86_400_000))
        let verifier = MediaTokenVerifier(keys: keys, replays: MemoryReplayStore.unfenced())
        #expect(try code(verifier, at: end, viewer: "a").code == .validToken)
        let later = end.advanced(byMilliseconds: 1)
        #expect(try code(verifier, at: later, viewer: "b").code == .invalidSignature)
        let begin = try #require(keys.keys[0].validity).lowerBound
        let earlier = begin.advanced(byMilliseconds: -86_400_000)
        let old = try Certificate(
            selfSignedBy: TestKeys.standard, name: "old", organization: "o",
            validity: earlier.milliseconds / 1000...end.milliseconds / 1000)
        try directory.write(Data(old.derBytes), to: "old.crt")
        let longer = try KeyRing(loading: files + [directory.path + "/old.crt"])
        #expect(longer.keys.count == 1 && longer.keys[0].validity?.lowerBound == earlier)
        let since = MediaTokenVerifier(keys: longer, replays: MemoryReplayStore.unfenced())
        #expect(try code(since, at: earlier, viewer: "d").code == .validToken)
        let bare = try KeyRing(loading: files + [directory.write(try publicPEM(), to: "bare.pem")])
        #expect(bare.keys.count == 1 && bare.keys[0].validity == nil)
        let endless = MediaTokenVerifier(keys: bare, replays: MemoryReplayStore.unfenced())
        #expect(try code(endless, at: later, viewer: "c").code == .validToken)
    }

    @Test("any of several keys verifies, and the verdict names it")
    func severalKeys() throws {
        let keys = [TestKeys.standard, TestKeys.short, TestKeys.stranger]
        let verifier = try Mint.verifier(keys: keys)
        for (number, key) in (keys + keys.reversed() + keys).enumerated() {
            let token = try Mint.token(key: key) { $0.sessionGUID = "viewer \(number)" }
            let verified = try #require(try verifier.verify(token).accepted)
            let index = try #require(keys.firstIndex { $0 === key })
            #expect(verified.key == "key-\(index).pem")
        }
    }

    @Test("a key of another algorithm beside a good one is left out, and the good one used")
    func mixedFile() throws {
        let other = try Program("openssl").succeed(["genpkey", "-algorithm", "ED25519"])
        let otherPublic = try Program("openssl").succeed(["pkey", "-pubout"], input: Data(other.utf8))
        let file = try directory.write(otherPublic + publicPEM(), to: "mixed.pem")
        let ring = try KeyRing(loading: directory.path)
        #expect(ring.keys.count == 1)
        #expect(ring.refused.map(\.description).joined().contains("ED25519"))
        #expect(message { try KeyRing(loading: file) }.contains("ED25519"))
    }
}
