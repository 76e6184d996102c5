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
        .executable(name: "media-token", targets: ["media-token"]),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CArgp"),
        .systemLibrary(name: "CLMDB", pkgConfig: "lmdb", providers: [.apt(["liblmdb-dev"])]),

        .target(name: "TokenCrypto", dependencies: ["COpenSSL"], swiftSettings: strict),
        .target(name: "TokenXML", dependencies: ["CLibXML2"], swiftSettings: strict),
        .target(name: "MediaToken", dependencies: ["TokenCrypto", "TokenXML"], swiftSettings: strict),
        .target(name: "ReplayLMDB", dependencies: ["MediaToken", "CLMDB"], swiftSettings: strict),
        .target(name: "ReplayStores", dependencies: ["MediaToken", "ReplayLMDB"], swiftSettings: strict),
        .target(name: "TokenIssuer", dependencies: ["MediaToken", "TokenCrypto"], swiftSettings: strict),
        .executableTarget(
            name: "media-token",
            dependencies: ["MediaToken", "ReplayStores", "TokenCrypto", "TokenIssuer", "CArgp"],
            swiftSettings: strict),

        .target(
            name: "TestSupport",
            dependencies: ["MediaToken", "TokenCrypto", "TokenIssuer"],
            path: "Tests/TestSupport",
            swiftSettings: strict),
        .testTarget(name: "TokenCryptoTests", dependencies: ["TokenCrypto", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "TokenXMLTests", dependencies: ["TokenXML", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "MediaTokenTests",
            dependencies: ["MediaToken", "TokenCrypto", "TokenIssuer", "TestSupport"],
            swiftSettings: strict),
        .executableTarget(
            name: "replay-worker",
            dependencies: ["MediaToken", "ReplayStores"],
            path: "Tests/ReplayWorker",
            swiftSettings: strict),
        .executableTarget(
            name: "replay-benchmark",
            dependencies: ["MediaToken", "ReplayStores"],
            path: "Tests/Benchmarks/ReplayBenchmark",
            swiftSettings: strict),
        .testTarget(
            name: "ReplayCacheTests",
            dependencies: ["MediaToken", "ReplayLMDB", "ReplayStores", "TestSupport", "replay-worker"],
            swiftSettings: strict),
        .testTarget(
            name: "CommandLineTests",
            dependencies: ["media-token", "TestSupport", "TokenCrypto", "TokenIssuer"],
            swiftSettings: strict),
    ]
)
