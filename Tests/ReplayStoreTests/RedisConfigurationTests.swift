import ReplayRedis
import ReplayStores
import Testing

@Suite("URL of a Redis store")
struct RedisConfigurationTests {
    @Test("names server, login, database and settings")
    func whole() throws {
        let url = "redis://gate:p%40ss%3Aword@redis.example:6390/3?prefix=live&timeout=100&wait=1&eviction=none"
        let configuration = try RedisConfiguration(url: url)
        #expect(configuration.host == "redis.example")
        #expect(configuration.port == 6390)
        #expect(configuration.user == "gate")
        #expect(configuration.password == "p@ss:word")
        #expect(configuration.database == 3)
        #expect(configuration.prefix == "live")
        #expect(configuration.timeout == .milliseconds(100))
        #expect(configuration.replicas == 1)
        #expect(!configuration.isCluster)
        #expect(configuration.assumesNoEviction)
    }

    @Test("names what TLS shows and demands, a password's file, and what the operator states")
    func tls() throws {
        let url = "rediss://gate@host?password-file=/etc/p&durable=server&eviction=none&tls-ca=/a&tls-certificate=/c"
        let configuration = try RedisConfiguration(url: url + "&tls-key=/k&tls-name=redis.internal")
        #expect(configuration.user == "gate" && configuration.password == nil)
        #expect(configuration.passwordFile == "/etc/p")
        #expect(configuration.assumesDurability && configuration.statements == ["eviction=none", "durable=server"])
        #expect(configuration.tls?.authorities == "/a" && configuration.tls?.certificate == "/c")
        #expect(configuration.tls?.key == "/k" && configuration.tls?.name == "redis.internal")
        #expect(try RedisConfiguration(url: "rediss://host").tls == RedisConfiguration.TLS())
        #expect(try RedisConfiguration(url: "redis://host").tls == nil)
        #expect(try RedisConfiguration(url: "redis://host").statements.isEmpty)
        let region = try RedisConfiguration(url: "redis://host?cluster=true&wait=0&scope=region")
        #expect(region.statements == ["scope=region", "wait=0"] && region.warnings.count == 2)
        #expect(
            try RedisConfiguration(url: "redis://host?scope=region").warnings.first?.contains("another region") == true)
    }

    @Test("names several hosts, of a quorum or of one cluster, whatever commas a password has")
    func hosts() throws {
        let quorum = try RedisConfiguration(url: "redis://gate:a,b@eu:1,[::1]:2,ap/1?quorum=true&prefix=p")
        #expect(quorum.password == "a,b" && quorum.database == 1 && quorum.isQuorum)
        #expect(quorum.host == "eu" && quorum.port == 1)
        #expect(quorum.otherHosts == [.init(name: "::1", port: 2), .init(name: "ap")])
        #expect(quorum.timeout == .seconds(1))
        #expect(quorum.members.map(\.host) == ["eu", "::1", "ap"])
        let seeds = try RedisConfiguration(url: "redis://a,b:7?cluster=true&timeout=300")
        #expect(seeds.isCluster && seeds.members == [seeds] && seeds.timeout == .milliseconds(300))
        #expect("\(seeds)" == "redis://a:6379,redis://b:7")
    }

    @Test("shows no password, however it is printed")
    func withheld() throws {
        let configuration = try RedisConfiguration(url: "redis://gate:secret@host")
        var dumped = ""
        dump(configuration, to: &dumped)
        for text in ["\(configuration)", String(reflecting: configuration), dumped] {
            #expect(!text.contains("secret") && !text.isEmpty)
        }
    }

    @Test("has a default for all but the host")
    func short() throws {
        let configuration = try RedisConfiguration(url: "redis://[::1]")
        #expect(configuration.host == "::1")
        #expect(configuration.port == 6379)
        #expect(configuration.user == nil && configuration.password == nil)
        #expect(configuration.timeout == .milliseconds(250))
        #expect(try RedisConfiguration(url: "redis://:secret@host").password == "secret")
        #expect(try RedisConfiguration(url: "redis://host?cluster=true").isCluster)
        #expect(try !RedisConfiguration(url: "redis://host?cluster=true").assumesNoEviction)
    }

    @Test(
        "what cannot be meant is refused, without showing a password",
        arguments: [
            ("redis://", "expected redis[s]://"), ("redis:host", "expected redis[s]://"),
            ("redist://:secret@host", "expected redis[s]://"), ("redis://user@host", "user without a password"),
            ("rediss://:secret@host?password-file=f", "one of them"),
            ("redis://:secret@host?password-file=", "path of a file"),
            ("redis://:secret@host?durable=yes", "expected server"),
            ("redis://:secret@host?tls-ca=ca.pem", "expected rediss://"),
            ("rediss://:secret@host?tls-key=key.pem", "expected both"),
            ("rediss://:secret@host?tls-name=", "name of a host"), ("rediss://:secret@host?tls-ca=", "path of a file"),
            ("redis://:secret@host:0", "port is 0"), ("redis://:secret@host:70000", "port is 70000"),
            ("redis://:secret@host/x", "database is 'x'"), ("redis://:secret@host/-1", "database is '-1'"),
            ("redis://:secret@host?cluster=yes", "true or false"), ("redis://:secret@host?prefix=", "printable ASCII"),
            ("redis://:secret@host?prefix=a%7Bb", "without braces"), ("redis://:secret@host?timeout=0", "from 1 to"),
            ("redis://:secret@host?wait=x", "from 0 to 100"),
            ("redis://:secret@host?timout=5", "timout is not a setting of this URL; did you mean timeout?"),
            ("redis://:secret@host?eviction=false", "expected none"),
            ("redis://:secret@host?eviction", "expected none"),
            ("redis://:secret@host/1?cluster=true", "a cluster"), ("redis://:secret@a,b,c", "quorum=true"),
            ("redis://:secret@a,b?quorum=true", "3, 5 or 7"), ("redis://:secret@a,b,c,d?quorum=true", "3, 5 or 7"),
            ("redis://:secret@a,b,A:6379?quorum=true", "that differ"), ("redis://:secret@a?quorum=true", "1 hosts"),
            ("redis://:secret@a,b,c,d,e,f,g,h,i?quorum=true", "3, 5 or 7"),
            ("redis://:secret@a,,c?quorum=true", "expected NAME"), ("redis://:x,secret#z@a,b,c?quorum=true", "%23"),
            ("redis://a,u:secret@b,c,d?quorum=true", "further host"), ("redis://a,b,c?quorum=true#secret", "%23"),
            ("redis://u:secret@a,u:secret@b,u:secret@c?quorum=true", "further host"),
            ("redis://:secret@a,b%202,c?quorum=true", "expected NAME"),
            ("redis://:secret@a,b,c:0?quorum=true", "port is 0"),
            ("redis://gate:/secret@host", "%2F"),
            ("redis://gate:12/secret@host", "%2F"), ("redis://gate:12?secret@host", "%3F"),
        ])
    func refused(url: String, expected: String) {
        let error = #expect(throws: RedisConfiguration.URLError.self) { try RedisConfiguration(url: url) }
        let text = error?.description ?? ""
        #expect(text.contains(expected) && !text.contains("secret"), "\(url): \(text)")
        let opened = #expect(throws: (any Error).self) { try ConfiguredReplayStore(opening: url, clockSkew: .zero) }
        #expect(!"\(String(describing: opened))".contains("secret"))
    }
}
