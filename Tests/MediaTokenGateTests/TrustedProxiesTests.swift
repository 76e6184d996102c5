import HTTP
import Testing

@testable import MediaTokenGate

@Suite("Trusted proxies")
struct TrustedProxiesTests {
    private func client(_ trusted: [String], from peer: String, _ forwarded: String...) -> String? {
        let proxies = TrustedProxies(trusted.compactMap { TrustedProxy($0) })
        let headers = forwarded.map { (name: "x-forwarded-for", value: $0) }
        return proxies.client(of: HTTPRequest(method: "GET", path: "/", headers: headers, peer: peer))
    }

    @Test("the client is the right-most address that is no trusted proxy")
    func rightMost() {
        let trusted = ["127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48"]
        #expect(client(trusted, from: "127.0.0.1", "203.0.113.7") == "203.0.113.7")
        #expect(client(trusted, from: "127.0.0.1", "198.51.100.1, 203.0.113.7,\t10.255.0.1") == "203.0.113.7")
        #expect(
            client(trusted, from: "10.1.2.3", "198.51.100.1", "203.0.113.7 , 10.0.0.1", "10.0.0.2") == "203.0.113.7")
        #expect(client(trusted, from: "2001:db8:1:ffff::9", "2001:db8:2::1, 2001:db8:1::1") == "2001:db8:2::1")
        // What stands before the client's address may be anything.
        #expect(client(trusted, from: "127.0.0.1", "<script>, 203.0.113.7") == "203.0.113.7")
    }

    @Test("an address may have a port, and one of IPv6 brackets, also that of a trusted proxy")
    func ports() {
        let trusted = ["127.0.0.1", "10.0.0.0/8", "2001:db8:1::/48"]
        for (forwarded, address) in [
            ("203.0.113.7:443", "203.0.113.7"), ("203.0.113.7:443, 10.0.0.1:8080", "203.0.113.7"),
            ("[2001:db8:2::1]:443, 10.0.0.1", "2001:db8:2::1"), ("[2001:db8:2::1],[2001:db8:1::1]:80", "2001:db8:2::1"),
            ("2001:db8:2::1:443", "2001:db8:2::1:443"),
        ] {
            #expect(client(trusted, from: "127.0.0.1", forwarded) == address, "\(forwarded)")
        }
    }

    @Test("without a trusted peer, or an address that can be read, there is no client")
    func none() {
        #expect(client([], from: "127.0.0.1", "203.0.113.7") == nil)
        #expect(client([], from: "", "203.0.113.7") == nil)
        #expect(client(["127.0.0.1"], from: "127.0.0.2", "203.0.113.7") == nil)
        #expect(client(["127.0.0.1"], from: "", "203.0.113.7") == nil)
        #expect(client(["127.0.0.1"], from: "127.0.0.1") == nil)
        for malformed in [
            "", "203.0.113.7, ", "203.0.113.7, unknown", "203.0.113.7:", "203.0.113.7:http", "2001:db8::1:x",
            "[2001:db8::1", "[203.0.113.7x]", "203.0.113",
            "203.0.113.7 x",
            "203.0.113.7,,127.0.0.1", "fe80::1%eth0", "203.0.113.7\0", "2001:db8::g", "_hidden",
        ] {
            #expect(client(["127.0.0.1"], from: "127.0.0.1", malformed) == nil, "\(malformed)")
        }
        #expect(client(["127.0.0.1"], from: "127.0.0.1", "127.0.0.1, 127.0.0.1") == nil)
    }

    @Test("unix stands for peers on Unix sockets only")
    func unix() {
        #expect(client(["unix"], from: "", "203.0.113.7") == "203.0.113.7")
        #expect(client(["unix"], from: "127.0.0.1", "203.0.113.7") == nil)
        #expect(client(["unix", "10.0.0.0/8"], from: "", "203.0.113.7, 10.0.0.1") == "203.0.113.7")
    }

    @Test(
        "a network has the addresses with the same first bits, IPv4 in the form of IPv6 as well",
        arguments: [
            ("0.0.0.0/0", "203.0.113.7", true), ("0.0.0.0/0", "2001:db8::1", false),
            ("192.0.2.128/25", "192.0.2.127", false), ("192.0.2.128/25", "192.0.2.255", true),
            ("192.0.2.4/30", "192.0.2.8", false),
            ("192.0.2.4/32", "192.0.2.4", true), ("192.0.2.4", "192.0.2.5", false),
            ("192.0.2.0/24", "::ffff:192.0.2.9", true), ("::ffff:192.0.2.0/120", "192.0.2.9", true),
            ("2001:db8::/65", "2001:db8:0:0:7fff::", true), ("2001:db8::/65", "2001:db8:0:0:8000::", false),
            ("2001:db8::/64", "2001:db8:0:1::", false), ("2001:db8::/63", "2001:db8:0:1::", true),
            ("2001:db8::1/128", "2001:db8::1", true), ("2001:db8::1/128", "2001:db8::2", false),
        ])
    func networks(network: String, peer: String, isTrusted: Bool) {
        #expect(client([network], from: peer, "2001:db8:9::9") == (isTrusted ? "2001:db8:9::9" : nil))
    }

    @Test(
        "what is no address and no network is refused",
        arguments: [
            "", "localhost", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/+8", "10.0.0.0/8/8", "/8",
            "10.0.0.0/256",
            "2001:db8::/129", "::1/64", "UNIX", "fe80::1%lo", "10.0.0.0 /8", "*",
        ])
    func refused(text: String) {
        #expect(TrustedProxy(text) == nil)
    }
}
