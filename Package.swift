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
        .library(name: "PlaybackGrants", targets: ["PlaybackGrants"]),
        .executable(name: "media-token", targets: ["media-token"]),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CArgp"),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),
        // Not by pkg-config, which for hiredis names a flag that the package manager prohibits.
        .systemLibrary(name: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .systemLibrary(name: "CCBOR", providers: [.apt(["libcbor-dev"])]),
        .systemLibrary(name: "CLibEvent", pkgConfig: "libevent", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(name: "CLibEventHTTP", pkgConfig: "libevent", providers: [.apt(["libevent-dev"])]),
        .systemLibrary(
            name: "CLibEventTLS", pkgConfig: "libevent_openssl", providers: [.apt(["libevent-dev", "libssl-dev"])]),

        .target(name: "StreamPaths", swiftSettings: strict),
        .target(name: "Threading", swiftSettings: strict),
        .target(name: "TokenCrypto", dependencies: ["COpenSSL"], swiftSettings: strict),
        .target(name: "TokenXML", dependencies: ["CLibXML2"], swiftSettings: strict),
        .target(
            name: "MediaToken", dependencies: ["Threading", "TokenCrypto", "TokenXML"], swiftSettings: strict),
        .target(name: "ReplayLMDB", dependencies: ["MediaToken", "Threading", "CLMDB"], swiftSettings: strict),
        .target(name: "EventLoop", dependencies: ["CLibEvent"], swiftSettings: strict),
        .target(
            name: "ReplayRedis", dependencies: ["MediaToken", "EventLoop", "Threading", "TokenCrypto", "CHiredis"],
            swiftSettings: strict),
        .target(
            name: "HTTPServer", dependencies: ["EventLoop", "Threading", "CLibEventHTTP", "CLibEventTLS"],
            swiftSettings: strict),
        .target(
            name: "HTTPClient", dependencies: ["EventLoop", "CLibEventHTTP"], swiftSettings: strict),
        .target(
            name: "PlaybackGrants", dependencies: ["MediaToken", "StreamPaths", "TokenCrypto", "CCBOR"],
            swiftSettings: strict),
        .target(
            name: "ReplayStores", dependencies: ["MediaToken", "ReplayLMDB", "ReplayRedis"], swiftSettings: strict),
        .target(
            name: "MediaTokenGate",
            dependencies: [
                "EventLoop", "HTTPServer", "MediaToken", "PlaybackGrants", "ReplayRedis", "ReplayStores", "StreamPaths",
                "Threading",
            ],
            swiftSettings: strict),
        .target(name: "TokenIssuer", dependencies: ["MediaToken", "TokenCrypto"], swiftSettings: strict),
        .target(
            name: "LoadTest",
            dependencies: ["EventLoop", "HTTPClient", "MediaToken", "Threading", "TokenCrypto", "TokenIssuer"],
            swiftSettings: strict),
        .executableTarget(
            name: "media-token",
            dependencies: [
                "EventLoop", "HTTPClient", "HTTPServer", "LoadTest", "MediaToken", "MediaTokenGate", "PlaybackGrants",
                "ReplayStores", "TokenCrypto", "TokenIssuer", "CArgp",
            ],
            swiftSettings: strict),

        .target(
            name: "TestSupport",
            dependencies: ["MediaToken", "Threading", "TokenCrypto", "TokenIssuer"],
            path: "Tests/TestSupport",
            swiftSettings: strict),
        .target(
            name: "FuzzProperties",
            dependencies: [
                "HTTPServer", "MediaToken", "MediaTokenGate", "PlaybackGrants", "StreamPaths", "TestSupport",
                "TokenCrypto",
                "TokenIssuer", "TokenXML",
            ],
            path: "Tests/Fuzzing/Properties",
            swiftSettings: strict),
        .testTarget(
            name: "FuzzingTests",
            dependencies: ["FuzzProperties", "TestSupport"],
            path: "Tests/Fuzzing/Tests",
            swiftSettings: strict),
        .testTarget(
            name: "VectorTests",
            dependencies: [
                "HTTPServer", "MediaToken", "MediaTokenGate", "PlaybackGrants", "StreamPaths", "TestSupport",
                "TokenCrypto",
                "TokenIssuer",
            ],
            swiftSettings: strict),
        .testTarget(name: "StreamPathsTests", dependencies: ["StreamPaths", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "TokenCryptoTests", dependencies: ["TokenCrypto", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "TokenXMLTests", dependencies: ["TokenXML", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "MediaTokenTests",
            dependencies: ["MediaToken", "TokenCrypto", "TokenIssuer", "TestSupport"],
            swiftSettings: strict),
        .executableTarget(
            name: "replay-worker",
            dependencies: ["MediaToken", "ReplayStores", "TestSupport"],
            path: "Tests/ReplayWorker",
            swiftSettings: strict),
        .executableTarget(
            name: "replay-benchmark",
            dependencies: ["EventLoop", "LoadTest", "MediaToken", "ReplayRedis", "ReplayStores"],
            path: "Tests/Benchmarks/ReplayBenchmark",
            swiftSettings: strict),
        .executableTarget(
            name: "verify-workload",
            dependencies: ["LoadTest", "MediaToken"],
            path: "Tests/Benchmarks/VerifyWorkload",
            swiftSettings: strict),
        .executableTarget(
            name: "gate-workload",
            dependencies: ["HTTPServer", "MediaToken", "MediaTokenGate"],
            path: "Tests/Benchmarks/GateWorkload",
            swiftSettings: strict),
        .testTarget(
            name: "ReplayCacheTests",
            dependencies: [
                "EventLoop", "MediaToken", "ReplayLMDB", "ReplayRedis", "ReplayStores", "TestSupport", "replay-worker",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "MediaTokenGateTests",
            dependencies: [
                "HTTPServer", "MediaToken", "MediaTokenGate", "PlaybackGrants", "StreamPaths", "TestSupport",
                "gate-workload",
            ],
            swiftSettings: strict),
        .testTarget(
            name: "PlaybackGrantsTests",
            dependencies: ["MediaToken", "PlaybackGrants", "TestSupport", "TokenCrypto"],
            swiftSettings: strict),
        .testTarget(
            name: "LoadTestTests",
            dependencies: ["LoadTest", "MediaToken", "TestSupport", "TokenIssuer"],
            swiftSettings: strict),
        .testTarget(
            name: "EndToEndTests",
            dependencies: ["MediaToken", "TestSupport", "TokenCrypto", "TokenIssuer", "media-token"],
            path: "Tests/EndToEnd",
            swiftSettings: strict),
        .testTarget(
            name: "CommandLineTests",
            dependencies: ["media-token", "TestSupport", "TokenCrypto", "TokenIssuer"],
            swiftSettings: strict),
    ]
)

// Links only with libFuzzer, which brings its own `main`: Tests/Fuzzing/fuzz builds it.
if Context.environment["FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "fuzz",
            dependencies: ["FuzzProperties", "MediaToken"],
            path: "Tests/Fuzzing/Driver",
            swiftSettings: strict + [.unsafeFlags(["-parse-as-library"])]))
}
