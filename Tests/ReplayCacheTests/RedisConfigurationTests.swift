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
        #expect(configuration.timeoutMilliseconds == 100)
        #expect(configuration.replicas == 1)
        #expect(!configuration.isCluster)
        #expect(configuration.assumesNoEviction)
    }

    @Test("has a default for all but the host")
    func short() throws {
        let configuration = try RedisConfiguration(url: "redis://[::1]")
        #expect(configuration.host == "::1")
        #expect(configuration.port == 6379)
        #expect(configuration.user == nil && configuration.password == nil)
        #expect(configuration.timeoutMilliseconds == 250)
        #expect(try RedisConfiguration(url: "redis://:secret@host").password == "secret")
        #expect(try RedisConfiguration(url: "redis://host?cluster=true").isCluster)
        #expect(try !RedisConfiguration(url: "redis://host?cluster=true").assumesNoEviction)
    }

    @Test(
        "what cannot be meant is refused, without showing a password",
        arguments: [
            ("redis://", "expected redis[s]://"), ("redis:host", "expected redis[s]://"),
            ("rediss://:secret@host", "expected redis[s]://"), ("redis://user@host", "user without a password"),
            ("redis://:secret@host:0", "port is 0"), ("redis://:secret@host:70000", "port is 70000"),
            ("redis://:secret@host/x", "database is 'x'"), ("redis://:secret@host/-1", "database is '-1'"),
            ("redis://:secret@host?cluster=yes", "true or false"), ("redis://:secret@host?prefix=", "printable ASCII"),
            ("redis://:secret@host?prefix=a%7Bb", "without braces"), ("redis://:secret@host?timeout=0", "from 1 to"),
            ("redis://:secret@host?wait=x", "from 0 to 100"), ("redis://:secret@host?timout=5", "setting 'timout'"),
            ("redis://:secret@host?eviction=false", "expected none"),
            ("redis://:secret@host?eviction", "expected none"),
            ("redis://:secret@host/1?cluster=true", "a cluster"), ("redis://gate:/secret@host", "%2F"),
            ("redis://gate:12/secret@host", "%2F"), ("redis://gate:12?secret@host", "%3F"),
        ])
    func refused(url: String, expected: String) {
        let error = #expect(throws: RedisConfiguration.URLError.self) { try RedisConfiguration(url: url) }
        let text = error?.description ?? ""
        #expect(text.contains(expected) && !text.contains("secret"), "\(url): \(text)")
        let opened = #expect(throws: (any Error).self) { try ReplayStore(opening: url) }
        #expect(!"\(String(describing: opened))".contains("secret"))
    }
}
