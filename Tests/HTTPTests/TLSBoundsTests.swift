import CLibSSL
import EventLoops
import Foundation
import Glibc
import HTTP
import TestSupport
import Testing

/// What TLS allows, brings no data, and would keep libssl busy for as long as a peer sends it.
@Suite("TLS without data")
struct TLSBoundsTests {
    private let authority: TestAuthority
    private let certificate: TestAuthority.Certificate

    init() throws {
        authority = try TestAuthority()
        certificate = try authority.certificate("server")
    }

    private func server() throws -> TLSServer {
        try TLSServer(TLSServer.Files(certificate: certificate.file, key: certificate.key))
    }

    /// A client, and the server's end of its connection, after the handshake.
    private func connected(_ version: Int32) throws -> (client: TLSPeer, server: ServersEnd) {
        let sockets = try Self.socketPair()
        let client = try TLSPeer(sockets.1, version: version)
        let server = try ServersEnd(sockets.0, try server())
        while !client.advance() { #expect(server.read() == .waitsToRead) }
        // The client's last message of the handshake.
        #expect(server.read() == .waitsToRead)
        return (client, server)
    }

    private static func socketPair() throws -> (Int32, Int32) {
        var sockets: [Int32] = [0, 0]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &sockets) == 0)
        return (sockets[0], sockets[1])
    }

    @Test("one call reads a few records at most, however much has come")
    func fewRecords() throws {
        let sockets = try Self.socketPair()
        defer { close(sockets.1) }
        let server = try ServersEnd(sockets.0, try server())
        // The beginning of a ClientHello of 20,000 bytes, each in a record of its own.
        let hello: [UInt8] = [1, 0, 0x4E, 0x20, 3, 3] + Array(repeating: 0, count: 5000)
        var bytes: [UInt8] = []
        for byte in hello { bytes += [22, 3, 1, 0, 1, byte] }
        try #require(send(sockets.1, bytes, bytes.count, 0) == bytes.count)
        for call in 1...3 {
            #expect(server.read() == .waitsToRead)
            var left = [UInt8](repeating: 0, count: bytes.count)
            #expect(recv(sockets.0, &left, left.count, Int32(MSG_PEEK)) == bytes.count - call * 2 * 6)
        }
    }

    @Test("a client that changes its keys over and over is closed, and one that sends data in between is not")
    func keyUpdates() throws {
        let (client, server) = try connected(TLS1_3_VERSION)
        for _ in 0..<5 {
            for _ in 0..<20 { client.updateKeys() }
            client.write("x")
            for _ in 0..<20 { #expect(server.read() == .waitsToRead) }
            #expect(server.read() == .moved(1))
        }
        for _ in 0..<40 { client.updateKeys() }
        for _ in 0..<32 { #expect(server.read() == .waitsToRead) }
        #expect(server.read() == .failed(EPROTO))
    }

    @Test("a client that begins to renegotiate is closed")
    func renegotiation() throws {
        let (client, server) = try connected(TLS1_2_VERSION)
        client.write("x")
        #expect(server.read() == .moved(1))
        client.renegotiate()
        #expect(server.read() == .failed(EPROTO))
    }

    @Test("a server that changes its keys over and over, or renegotiates, loses its client", arguments: [true, false])
    func hostileServer(isRenegotiating: Bool) throws {
        let listener = try Listener()
        let loop = try EventLoop()
        var (received, ending) = ([UInt8](), StreamConnection.Ending?.none)
        let tls = TLSClient(authorities: authority.file, certificate: nil, key: nil, name: "localhost")
        let connection = try StreamConnection(
            to: "127.0.0.1", port: UInt16(listener.port), tls: tls, on: loop, received: { received += $0 },
            ended: { ending = $0 })
        let version = isRenegotiating ? TLS1_2_VERSION : TLS1_3_VERSION
        let server = try TLSPeer(try listener.accept(), version: version, showing: certificate)
        while !server.advance() { loop.turn(waits: false) }
        server.write("x")
        let (patience, timer) = (ContinuousClock.now + Program.patience, Ticking(loop))
        loop.run { received == [UInt8(ascii: "x")] || .now > patience }
        if isRenegotiating { server.renegotiate() } else { for _ in 0..<40 { server.updateKeys() } }
        loop.run { ending != nil || .now > patience }
        #expect(ending?.description.contains("Protocol error") == true)
        withExtendedLifetime((connection, timer)) {}
    }

    @Test(
        "clients that are no longer named are withdrawn, whatever else of the files cannot be read, and none is added")
    func withdrawnClients() throws {
        let (other, directory) = (try TestAuthority(), try TemporaryDirectory())
        let texts = try [authority, other].map { try String(contentsOfFile: $0.file, encoding: .utf8) }
        let file = try directory.write(texts.joined(), to: "authorities.pem")
        func files(_ names: [String], key: String? = nil) -> TLSServer.Files {
            var files = TLSServer.Files(
                certificate: certificate.file, key: key ?? certificate.key, clientAuthorities: file)
            files.clientNames = names
            return files
        }
        let tls = try TLSServer(files(["a", "b"]))
        #expect(tls.withdrawing(by: files(["b", "a", "c"])) === nil)
        _ = try directory.write(texts[0], to: "authorities.pem")
        let expected = try TLSServer(files(["b"])).clients
        #expect(tls.withdrawing(by: files(["b", "c"], key: "/nowhere"))?.clients == expected)
        _ = try directory.write("half", to: "authorities.pem")
        #expect(tls.withdrawing(by: files(["a", "b"])) === nil)
        let nobody = try #require(tls.withdrawing(by: files(["c"])))
        #expect(nobody.clients != tls.clients && nobody.withdrawing(by: files(["a", "b", "c"])) === nil)
        for place in [{ 0 }, { mkdir(file, 0o700) }, { symlink("authorities.pem", file) }] {
            remove(file)
            #expect(place() == 0)
            #expect(
                tls.withdrawing(by: files(["a", "b"]))?.clients
                    == TLSServer.Clients(authorities: [], names: ["a", "b"]))
        }
    }

    @Test("a connection whose client rules have changed ends with its next response, and no other does")
    func changedRules() throws {
        let server = try AnsweringServer("tls:127.0.0.1:0", tls: try server())
        let client = try TLSPeer(try Listener.connect(to: Int(server.ports[0])), version: TLS1_3_VERSION)
        while !client.advance() { usleep(1000) }
        let files = TLSServer.Files(
            certificate: certificate.file, key: certificate.key, clientAuthorities: authority.file)
        for (tls, ends) in [(try self.server(), false), (try TLSServer(files), true)] {
            server.server.replace(tls)
            client.write("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
            #expect(client.read().contains("Connection: close") == ends)
        }
    }

    @Test("a client that changes its keys without end is closed, and another one gets its answer")
    func flood() throws {
        let server = try AnsweringServer("tls:127.0.0.1:0", "127.0.0.1:0", tls: try server())
        let client = try TLSPeer(try Listener.connect(to: Int(server.ports[0])), version: TLS1_3_VERSION)
        while !client.advance() { usleep(1000) }
        var isClosed = false
        for _ in 0..<1_000_000 where !isClosed { isClosed = !client.updateKeys() }
        #expect(isClosed)
        let other = try RawConnection(port: Int(server.ports[1]))
        other.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
        #expect(other.answer()?.status == 204)
    }
}

/// The server's end of a connection.
private final class ServersEnd {
    private let stream: ByteStream

    init(_ socket: Int32, _ tls: TLSServer) throws {
        guard let stream = ByteStream(socket, accepting: tls) else { throw Program.Failure(description: "no memory") }
        self.stream = stream
    }

    func read() -> ByteStream.Outcome {
        withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { stream.read(into: $0) }
    }
}

/// Has a loop run its condition ten times a second, so that a test whose event never comes fails.
private final class Ticking {
    private let loop: EventLoop
    private var timer: LoopTimer?

    init(_ loop: EventLoop) {
        self.loop = loop
        tick()
    }

    private func tick() { timer = loop.timer(afterMilliseconds: 100) { [unowned self] in tick() } }
}

/// One side of TLS by libssl alone, on a socket that it closes with its own end.
private final class TLSPeer {
    private let session: OpaquePointer
    private let socket: Int32
    /// What libssl has written.
    private let written: OpaquePointer

    /// - Parameter certificate: that of a server; `nil` for a client, which accepts any.
    init(_ socket: Int32, version: Int32, showing certificate: TestAuthority.Certificate? = nil) throws {
        let context = try #require(SSL_CTX_new(certificate == nil ? TLS_client_method() : TLS_server_method()))
        defer { SSL_CTX_free(context) }
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, Int(version), nil)
        SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, Int(version), nil)
        if let certificate {
            SSL_CTX_use_certificate_chain_file(context, certificate.file)
            SSL_CTX_use_PrivateKey_file(context, certificate.key, SSL_FILETYPE_PEM)
        }
        (session, written) = (try #require(SSL_new(context)), try #require(BIO_new(BIO_s_mem())))
        self.socket = socket
        try #require(fcntl(socket, F_SETFL, O_NONBLOCK) == 0)
        SSL_set_rfd(session, socket)
        SSL_set0_wbio(session, written)
        if certificate == nil { SSL_set_connect_state(session) } else { SSL_set_accept_state(session) }
    }

    deinit {
        SSL_free(session)
        close(socket)
    }

    /// Goes on with the handshake; true if it is over.
    func advance() -> Bool {
        let result = SSL_do_handshake(session)
        return flush() && result == 1
    }

    func write(_ text: String) {
        SSL_write(session, text, Int32(text.utf8.count))
        _ = flush()
    }

    /// What comes next.
    func read() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = SSL_read(session, &bytes, Int32(bytes.count))
            if count > 0 { return String(decoding: bytes.prefix(Int(count)), as: UTF8.self) }
            guard SSL_get_error(session, count) == SSL_ERROR_WANT_READ else { return "" }
            var wanted = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard poll(&wanted, 1, 30_000) == 1 else { return "" }
        }
    }

    /// Sends a KeyUpdate; false if the connection has ended.
    @discardableResult
    func updateKeys() -> Bool {
        SSL_key_update(session, SSL_KEY_UPDATE_NOT_REQUESTED)
        return advance()
    }

    /// Sends a client's ClientHello, or a server's HelloRequest.
    func renegotiate() {
        SSL_renegotiate(session)
        _ = advance()
    }

    /// Sends what libssl has written; false if the connection has ended.
    private func flush() -> Bool {
        var bytes = [UInt8](repeating: 0, count: 16_384)
        while case let count = Int(BIO_read(written, &bytes, Int32(bytes.count))), count > 0 {
            var rest = bytes[..<count]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
                if sent > 0 { rest = rest.dropFirst(sent) }
                guard sent > 0 || errno == EAGAIN else { return false }
                var room = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
                _ = poll(&room, 1, 30_000)
            }
        }
        return true
    }
}
