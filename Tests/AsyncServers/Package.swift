// swift-tools-version: 6.2
import PackageDescription

let products: [Target.Dependency] = [
    "Sockets", .product(name: "MediaToken", package: "media-token-verifier"),
    .product(name: "ReplayLMDB", package: "media-token-verifier"),
    .product(name: "ReplayRedis", package: "media-token-verifier"),
]

// Two playback backends on Swift concurrency, which use the public API alone.
let package = Package(
    name: "async-servers",
    dependencies: [.package(name: "media-token-verifier", path: "../..")],
    targets: [
        .target(name: "Sockets"),
        .executableTarget(name: "task-server", dependencies: products),
        .executableTarget(name: "group-server", dependencies: products),
    ]
)
