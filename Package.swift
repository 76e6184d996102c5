// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
    name: "media-token-verifier",
    products: [
        .library(name: "MediaToken", targets: ["MediaToken"]),
        .library(name: "MediaTokenTesting", targets: ["MediaTokenTesting"]),
        .library(name: "ReplayLMDB", targets: ["ReplayLMDB"]),
        .library(name: "ReplayRedis", targets: ["ReplayRedis"]),
        .library(name: "ReplayStoreTesting", targets: ["ReplayStoreTesting"]),
        .library(name: "PlaybackGrants", targets: ["PlaybackGrants"]),
        .executable(name: "media-token", targets: ["media-token"]),
        .executable(name: "media-token-sandbox", targets: ["media-token-sandbox"]),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CProcess"),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        // Not by pkg-config, which for hiredis names a flag that the package manager prohibits.
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .systemLibrary(name: "CCBOR", providers: [.apt(["libcbor-dev"])]),
        .systemLibrary(name: "CLibEvent", pkgConfig: "libevent", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(name: "CLibSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),

        .target(name: "Basics"),
        .target(name: "Settings", dependencies: ["Basics"]),
        .target(name: "StreamPaths", dependencies: ["Basics"]),
        .target(name: "CBatchRSA"),
        .target(name: "TokenCrypto", dependencies: ["Basics", "CBatchRSA", "COpenSSL"]),
        .target(name: "TokenXML", dependencies: ["Basics", "CLibXML2"]),
        // The stages of a token's path, in order; each depends only on those before it.
        .target(
            name: "EnvelopeStage", dependencies: ["Basics", "TokenXML"], path: "Sources/MediaToken/Envelope"),
        .target(
            name: "SignatureStage",
            dependencies: ["Basics", "EnvelopeStage", "TokenCrypto"],
            path: "Sources/MediaToken/Signature"),
        .target(
            name: "ClaimsStage",
            dependencies: ["Basics", "SignatureStage", "TokenCrypto", "TokenXML"],
            path: "Sources/MediaToken/Claims"),
        .target(
            name: "PolicyStage", dependencies: ["Basics", "ClaimsStage", "TokenXML"],
            path: "Sources/MediaToken/Policy"),
        .target(
            name: "ReplayStage",
            dependencies: ["Basics", "ClaimsStage", "PolicyStage", "TokenCrypto"],
            path: "Sources/MediaToken/Replay"),
        .target(
            name: "MediaToken",
            dependencies: [
                "Basics", "ClaimsStage", "EnvelopeStage", "PolicyStage", "ReplayStage", "SignatureStage", "TokenXML",
            ], exclude: ["Envelope", "Signature", "Claims", "Policy", "Replay"]),
        .target(
            name: "ReplayLMDB",
            dependencies: ["Basics", "CLMDB", "MediaToken"]),
        .target(name: "EventLoops", dependencies: ["Basics", "CLibEvent", "CLibSSL"]),
        .target(
            name: "ReplayRedis",
            dependencies: ["Basics", "CHiredis", "EventLoops", "MediaToken", "Settings"]),
        .target(name: "HTTP", dependencies: ["Basics", "EventLoops"]),
        .target(
            name: "PlaybackGrants",
            dependencies: ["Basics", "CCBOR", "Settings", "StreamPaths", "TokenCrypto"]),
        .target(
            name: "ReplayStores",
            dependencies: ["Basics", "EventLoops", "MediaToken", "ReplayLMDB", "ReplayRedis"]),
        .target(name: "ReplayStoreTesting", dependencies: ["Basics", "MediaToken"]),
        .target(
            name: "MediaTokenGate",
            dependencies: [
                "Basics", "EventLoops", "HTTP", "MediaToken", "PlaybackGrants", "ReplayStores", "Settings",
                "StreamPaths", "TokenCrypto", "TokenXML",
            ],
            resources: [.embedInCode("Description/openapi.json")]
                + ["nginx.conf", "Caddyfile", "haproxy.cfg", "haproxy.lua", "envoy.yaml", "traefik.yaml"].map {
                    .embedInCode("Proxies/\($0)")
                }),
        .target(name: "MediaTokenTesting", dependencies: ["Basics", "MediaToken", "TokenCrypto"]),
        .target(
            name: "CommandShell", dependencies: ["Basics", "CProcess", "Settings"],
            resources: [.embedInCode("style.css")]),
        .target(name: "Captures", dependencies: ["Basics", "CZlib"]),
        .target(
            name: "LoadTest",
            dependencies: [
                "Basics", "CommandShell", "EventLoops", "HTTP", "MediaToken", "MediaTokenTesting", "TokenCrypto",
            ]),
        .executableTarget(
            name: "media-token",
            dependencies: [
                "Basics", "Captures", "CommandShell", "EventLoops", "HTTP", "LoadTest", "MediaToken",
                "MediaTokenGate", "MediaTokenTesting", "PlaybackGrants", "ReplayStores", "Settings", "TokenCrypto",
            ], resources: [.embedInCode("Web/page.html")]),

        .target(
            name: "Sandbox",
            dependencies: ["Basics", "HTTP", "MediaToken", "MediaTokenTesting", "TokenCrypto"]),
        .executableTarget(
            name: "media-token-sandbox",
            dependencies: [
                "Basics", "CommandShell", "EventLoops", "HTTP", "LoadTest", "MediaToken", "MediaTokenTesting",
                "Sandbox", "Settings", "TokenCrypto",
            ], resources: [.embedInCode("Demo/player.html"), .embedInCode("Demo/player.js")]),

        .target(
            name: "TestSupport",
            dependencies: ["Basics", "MediaToken", "MediaTokenTesting", "TokenCrypto"],
            path: "Tests/TestSupport"),
        .target(name: "TestThreads", dependencies: ["Basics"], path: "Tests/TestThreads"),
        .target(
            name: "FuzzProperties",
            dependencies: [
                "Basics", "Captures", "HTTP", "MediaToken", "MediaTokenGate", "MediaTokenTesting", "PlaybackGrants",
                "Settings", "StreamPaths", "TestSupport", "TokenCrypto", "TokenXML",
            ],
            path: "Tests/Fuzzing/Properties"),
        .testTarget(
            name: "FuzzingTests",
            dependencies: ["FuzzProperties", "TestSupport"],
            path: "Tests/Fuzzing/Tests"),
        .testTarget(
            name: "VectorTests",
            dependencies: [
                "Basics", "EnvelopeStage", "HTTP", "MediaToken", "MediaTokenGate", "MediaTokenTesting",
                "PlaybackGrants", "Settings", "SignatureStage", "StreamPaths", "TestSupport", "TokenCrypto",
            ]),
        .testTarget(
            name: "HTTPTests",
            dependencies: ["Basics", "CLibSSL", "EventLoops", "HTTP", "TestSupport"]),
        .testTarget(name: "CapturesTests", dependencies: ["Basics", "Captures", "TestSupport"]),
        .testTarget(name: "StreamPathsTests", dependencies: ["StreamPaths", "TestSupport"]),
        .testTarget(name: "TokenCryptoTests", dependencies: ["Basics", "TestSupport", "TokenCrypto"]),
        .testTarget(name: "FilesTests", dependencies: ["Basics", "TestSupport"]),
        .testTarget(name: "TokenXMLTests", dependencies: ["TokenXML"]),
        .testTarget(
            name: "MediaTokenTests",
            dependencies: [
                "Basics", "EnvelopeStage", "MediaToken", "MediaTokenTesting", "SignatureStage", "TestSupport",
                "TokenCrypto",
            ]),
        .target(
            name: "RedisSchedules", dependencies: ["Basics", "MediaToken", "ReplayRedis"],
            path: "Tests/RedisSchedules/Model"),
        .executableTarget(
            name: "redis-schedules", dependencies: ["RedisSchedules"], path: "Tests/RedisSchedules/Run"),
        .executableTarget(
            name: "signature-trials", dependencies: ["TestSupport", "TokenCrypto"], path: "Tests/SignatureTrials"),
        .executableTarget(
            name: "replay-worker",
            dependencies: ["MediaToken", "ReplayStoreTesting", "ReplayStores"],
            path: "Tests/ReplayWorker"),
        .executableTarget(
            name: "replay-benchmark",
            dependencies: ["Basics", "EventLoops", "LoadTest", "MediaToken", "ReplayRedis", "ReplayStores"],
            path: "Tests/Benchmarks/ReplayBenchmark"),
        .executableTarget(
            name: "verify-workload",
            dependencies: ["Basics", "LoadTest", "MediaToken"],
            path: "Tests/Benchmarks/VerifyWorkload"),
        .executableTarget(
            name: "gate-workload",
            dependencies: ["HTTP", "MediaToken", "MediaTokenGate"],
            path: "Tests/Benchmarks/GateWorkload"),
        .testTarget(
            name: "ReplayStoreTests",
            dependencies: [
                "Basics", "EventLoops", "MediaToken", "RedisSchedules", "ReplayLMDB", "ReplayRedis",
                "ReplayStoreTesting", "ReplayStores", "TestSupport", "TestThreads", "media-token", "replay-worker",
            ]),
        .testTarget(
            name: "MediaTokenGateTests",
            dependencies: [
                "Basics", "EventLoops", "HTTP", "MediaToken", "MediaTokenGate", "PlaybackGrants", "Settings",
                "StreamPaths", "TestSupport", "TokenCrypto", "gate-workload",
            ]),
        .testTarget(
            name: "PlaybackGrantsTests",
            dependencies: ["PlaybackGrants", "StreamPaths", "TestSupport", "TokenCrypto"]),
        .testTarget(
            name: "LoadTestTests",
            dependencies: ["LoadTest", "MediaToken", "MediaTokenTesting", "TestSupport"]),
        .testTarget(
            name: "SandboxTests",
            dependencies: [
                "Basics", "EventLoops", "HTTP", "MediaToken", "MediaTokenTesting", "Sandbox", "TestSupport",
                "TokenCrypto", "media-token", "media-token-sandbox",
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "MediaToken", "MediaTokenTesting", "TestSupport", "TestThreads", "TokenCrypto", "media-token",
                "media-token-sandbox",
            ],
            path: "Tests/EndToEnd"),
        .testTarget(
            name: "CommandLineTests",
            dependencies: ["MediaTokenTesting", "TestSupport", "TokenCrypto", "media-token", "media-token-sandbox"]),
    ]
)

// For Tests/Fuzzing/fuzz and Tests/Fuzzing/coverage, which need no other tests. The driver links only with libFuzzer,
// which brings its own `main`.
if Context.environment["FUZZ"] != nil {
    package.targets.removeAll { $0.type == .test && $0.name != "FuzzingTests" }
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: ["Basics", "FuzzProperties"],
            path: "Tests/Fuzzing/Driver", swiftSettings: [.unsafeFlags(["-parse-as-library"])]))
}

for target in package.targets where target.type != .system && target.name != "CBatchRSA" {
    target.swiftSettings = strict + (target.swiftSettings ?? [])
}

// Sanitizers run the tests with optimised sources. Optimising the tests too would double the time of the build, and
// gain little.
for target in package.targets where target.type == .test {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
}
