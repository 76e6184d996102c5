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

        .target(name: "TextEncodings"),
        .target(name: "Timestamps"),
        .target(name: "Settings", dependencies: ["TextEncodings"]),
        .target(name: "Files", dependencies: ["Threading"]),
        .target(name: "StreamPaths", dependencies: ["TextEncodings"]),
        .target(name: "Threading"),
        .target(name: "CBatchRSA"),
        .target(name: "TokenCrypto", dependencies: ["CBatchRSA", "COpenSSL", "TextEncodings", "Threading"]),
        .target(name: "TokenXML", dependencies: ["CLibXML2", "TextEncodings"]),
        // The stages of a token's path, in order; each depends only on those before it.
        .target(
            name: "EnvelopeStage", dependencies: ["TextEncodings", "TokenXML"], path: "Sources/MediaToken/Envelope"),
        .target(
            name: "SignatureStage",
            dependencies: ["EnvelopeStage", "Files", "TextEncodings", "Timestamps", "TokenCrypto"],
            path: "Sources/MediaToken/Signature"),
        .target(
            name: "ClaimsStage",
            dependencies: ["SignatureStage", "TextEncodings", "Timestamps", "TokenCrypto", "TokenXML"],
            path: "Sources/MediaToken/Claims"),
        .target(
            name: "PolicyStage", dependencies: ["ClaimsStage", "TextEncodings", "Timestamps", "TokenXML"],
            path: "Sources/MediaToken/Policy"),
        .target(
            name: "ReplayStage",
            dependencies: ["ClaimsStage", "PolicyStage", "TextEncodings", "Threading", "Timestamps", "TokenCrypto"],
            path: "Sources/MediaToken/Replay"),
        .target(
            name: "MediaToken",
            dependencies: [
                "ClaimsStage", "EnvelopeStage", "PolicyStage", "ReplayStage", "SignatureStage", "TextEncodings",
                "Threading", "Timestamps", "TokenXML",
            ], exclude: ["Envelope", "Signature", "Claims", "Policy", "Replay"]),
        .target(
            name: "ReplayLMDB",
            dependencies: ["CLMDB", "Files", "MediaToken", "TextEncodings", "Threading", "Timestamps"]),
        .target(name: "EventLoops", dependencies: ["CLibEvent", "CLibSSL", "Files", "Threading"]),
        .target(
            name: "ReplayRedis",
            dependencies: [
                "CHiredis", "EventLoops", "Files", "MediaToken", "Settings", "TextEncodings", "Threading", "Timestamps",
            ]),
        .target(name: "HTTPMessages", dependencies: ["TextEncodings"]),
        .target(
            name: "HTTPServing", dependencies: ["EventLoops", "HTTPMessages", "TextEncodings", "Threading"]),
        .target(name: "HTTPCalling", dependencies: ["EventLoops", "HTTPMessages", "TextEncodings"]),
        .target(
            name: "PlaybackGrants",
            dependencies: [
                "CCBOR", "Settings", "StreamPaths", "TextEncodings", "Threading", "Timestamps", "TokenCrypto",
            ]),
        .target(
            name: "ReplayStores",
            dependencies: ["EventLoops", "MediaToken", "ReplayLMDB", "ReplayRedis", "TextEncodings", "Threading"]),
        .target(name: "ReplayStoreTesting", dependencies: ["MediaToken", "Threading", "Timestamps"]),
        .target(
            name: "MediaTokenGate",
            dependencies: [
                "EventLoops", "Files", "HTTPMessages", "HTTPServing", "MediaToken", "PlaybackGrants", "ReplayStores",
                "Settings", "StreamPaths", "TextEncodings", "Threading", "Timestamps", "TokenXML",
            ], resources: [.embedInCode("Description/openapi.json")]),
        .target(name: "TokenIssuer", dependencies: ["MediaToken", "TextEncodings", "TokenCrypto"]),
        .target(name: "CommandShell", dependencies: ["CProcess", "Files", "Settings", "TextEncodings", "Threading"]),
        .target(name: "Captures", dependencies: ["CZlib", "TextEncodings"]),
        .target(
            name: "LoadTest",
            dependencies: [
                "EventLoops", "Files", "HTTPCalling", "HTTPMessages", "MediaToken", "TextEncodings", "Threading",
                "TokenCrypto", "TokenIssuer",
            ]),
        .target(
            name: "Reports",
            dependencies: ["CommandShell", "EventLoops", "Files", "LoadTest", "TextEncodings", "Timestamps"],
            resources: [.embedInCode("style.css")]),
        .executableTarget(
            name: "media-token",
            dependencies: [
                "Captures", "CommandShell", "EventLoops", "Files", "HTTPCalling", "HTTPMessages", "HTTPServing",
                "LoadTest",
                "MediaToken", "MediaTokenGate", "PlaybackGrants", "ReplayStores", "Reports", "Settings",
                "TextEncodings",
                "Threading", "Timestamps", "TokenCrypto", "TokenIssuer",
            ], resources: [.embedInCode("Web/page.html")]),

        .target(
            name: "Sandbox",
            dependencies: [
                "HTTPMessages", "MediaToken", "TextEncodings", "Threading", "Timestamps", "TokenCrypto", "TokenIssuer",
            ]),
        .executableTarget(
            name: "media-token-sandbox",
            dependencies: [
                "CommandShell", "EventLoops", "Files", "HTTPCalling", "HTTPMessages", "HTTPServing", "LoadTest",
                "MediaToken", "Reports", "Sandbox", "Settings", "TextEncodings", "Threading", "Timestamps",
                "TokenCrypto",
                "TokenIssuer",
            ], resources: [.embedInCode("Demo/player.html"), .embedInCode("Demo/player.js")]),

        .target(
            name: "TestSupport",
            dependencies: ["MediaToken", "TextEncodings", "Threading", "Timestamps", "TokenCrypto", "TokenIssuer"],
            path: "Tests/TestSupport"),
        .target(name: "TestThreads", dependencies: ["Threading"], path: "Tests/TestThreads"),
        .target(
            name: "FuzzProperties",
            dependencies: [
                "Captures", "Files", "HTTPMessages", "MediaToken", "MediaTokenGate", "PlaybackGrants", "Settings",
                "StreamPaths", "TestSupport", "TextEncodings", "Timestamps", "TokenCrypto", "TokenIssuer", "TokenXML",
            ],
            path: "Tests/Fuzzing/Properties"),
        .testTarget(
            name: "FuzzingTests",
            dependencies: ["FuzzProperties", "TestSupport"],
            path: "Tests/Fuzzing/Tests"),
        .testTarget(
            name: "VectorTests",
            dependencies: [
                "EnvelopeStage", "HTTPMessages", "MediaToken", "MediaTokenGate", "PlaybackGrants", "Settings",
                "SignatureStage", "StreamPaths", "TestSupport", "TextEncodings", "Timestamps", "TokenCrypto",
                "TokenIssuer",
            ]),
        .testTarget(
            name: "HTTPTests",
            dependencies: [
                "CLibSSL", "EventLoops", "HTTPCalling", "HTTPMessages", "HTTPServing", "TestSupport", "TextEncodings",
            ]),
        .testTarget(name: "CapturesTests", dependencies: ["Captures", "TestSupport", "TextEncodings"]),
        .testTarget(name: "StreamPathsTests", dependencies: ["StreamPaths", "TestSupport"]),
        .testTarget(name: "TokenCryptoTests", dependencies: ["TestSupport", "TextEncodings", "TokenCrypto"]),
        .testTarget(name: "FilesTests", dependencies: ["Files", "TestSupport"]),
        .testTarget(name: "TokenXMLTests", dependencies: ["TokenXML"]),
        .testTarget(
            name: "MediaTokenTests",
            dependencies: [
                "EnvelopeStage", "MediaToken", "SignatureStage", "TestSupport", "TextEncodings", "Timestamps",
                "TokenCrypto", "TokenIssuer",
            ]),
        .target(
            name: "RedisSchedules", dependencies: ["MediaToken", "ReplayRedis", "Timestamps"],
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
            dependencies: ["EventLoops", "LoadTest", "MediaToken", "ReplayRedis", "ReplayStores", "Threading"],
            path: "Tests/Benchmarks/ReplayBenchmark"),
        .executableTarget(
            name: "verify-workload",
            dependencies: ["Files", "LoadTest", "MediaToken"],
            path: "Tests/Benchmarks/VerifyWorkload"),
        .executableTarget(
            name: "gate-workload",
            dependencies: ["HTTPMessages", "MediaToken", "MediaTokenGate"],
            path: "Tests/Benchmarks/GateWorkload"),
        .testTarget(
            name: "ReplayStoreTests",
            dependencies: [
                "EventLoops", "MediaToken", "RedisSchedules", "ReplayLMDB", "ReplayRedis",
                "ReplayStoreTesting", "ReplayStores", "TestSupport", "TestThreads", "Threading",
                "Timestamps", "media-token", "replay-worker",
            ]),
        .testTarget(
            name: "MediaTokenGateTests",
            dependencies: [
                "EventLoops", "HTTPMessages", "HTTPServing", "MediaToken", "MediaTokenGate", "PlaybackGrants",
                "Settings", "StreamPaths", "TestSupport", "TextEncodings", "Threading", "Timestamps", "TokenCrypto",
                "gate-workload",
            ]),
        .testTarget(
            name: "PlaybackGrantsTests",
            dependencies: ["PlaybackGrants", "StreamPaths", "TestSupport", "TokenCrypto"]),
        .testTarget(
            name: "LoadTestTests",
            dependencies: ["LoadTest", "MediaToken", "TestSupport", "TokenIssuer"]),
        .testTarget(
            name: "SandboxTests",
            dependencies: [
                "EventLoops", "HTTPMessages", "HTTPServing", "MediaToken", "Sandbox", "TestSupport", "TextEncodings",
                "Timestamps", "TokenCrypto", "TokenIssuer", "media-token", "media-token-sandbox",
            ]),
        .testTarget(
            name: "EndToEndTests",
            dependencies: [
                "MediaToken", "TestSupport", "TestThreads", "TokenCrypto", "TokenIssuer", "media-token",
                "media-token-sandbox",
            ],
            path: "Tests/EndToEnd"),
        .testTarget(
            name: "CommandLineTests",
            dependencies: ["TestSupport", "TokenCrypto", "TokenIssuer", "media-token", "media-token-sandbox"]),
    ]
)

// For Tests/Fuzzing/fuzz and Tests/Fuzzing/coverage, which need no other tests. The driver links only with libFuzzer, which brings its own `main`.
if Context.environment["FUZZ"] != nil {
    package.targets.removeAll { $0.type == .test && $0.name != "FuzzingTests" }
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: ["Files", "FuzzProperties"],
            path: "Tests/Fuzzing/Driver", swiftSettings: [.unsafeFlags(["-parse-as-library"])]))
}

for target in package.targets where target.type != .system && target.name != "CBatchRSA" {
    target.swiftSettings = strict + (target.swiftSettings ?? [])
}

// Sanitizers run the tests with optimised sources. Optimising the tests too would double the time of the build, and gain little.
for target in package.targets where target.type == .test {
    target.swiftSettings?.append(.unsafeFlags(["-Onone"], .when(configuration: .release)))
}
