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
        .executable(name: "media-token", targets: ["media-token"]),
    ],
    targets: [
        .systemLibrary(name: "COpenSSL", pkgConfig: "libssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibXML2", pkgConfig: "libxml-2.0", providers: [.apt(["libxml2-dev"])]),
        .systemLibrary(name: "CArgp"),

        .target(name: "TokenCrypto", dependencies: ["COpenSSL"], swiftSettings: strict),
        .target(name: "TokenXML", dependencies: ["CLibXML2"], swiftSettings: strict),
        .target(name: "MediaToken", dependencies: ["TokenCrypto", "TokenXML"], swiftSettings: strict),
        .target(name: "TokenIssuer", dependencies: ["MediaToken", "TokenCrypto"], swiftSettings: strict),
        .executableTarget(
            name: "media-token",
            dependencies: ["MediaToken", "TokenCrypto", "TokenIssuer", "CArgp"],
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
        .testTarget(name: "ReplayCacheTests", dependencies: ["MediaToken", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "CommandLineTests",
            dependencies: ["media-token", "TestSupport", "TokenCrypto", "TokenIssuer"],
            swiftSettings: strict),
    ]
)
