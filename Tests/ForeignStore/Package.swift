// swift-tools-version: 6.2
import PackageDescription

let contract: Target.Dependency = .product(name: "ReplayStoreTesting", package: "media-token-verifier")

let package = Package(
    name: "foreign-store",
    dependencies: [.package(name: "media-token-verifier", path: "../..")],
    targets: [
        .target(
            name: "FileReplayStore", dependencies: [.product(name: "MediaToken", package: "media-token-verifier")]),
        .executableTarget(
            name: "dictionary-store-contract",
            dependencies: [.product(name: "MediaToken", package: "media-token-verifier"), contract]),
        .executableTarget(name: "file-store-worker", dependencies: ["FileReplayStore", contract]),
        .executableTarget(name: "file-store-contract", dependencies: ["FileReplayStore", contract]),
        .executableTarget(name: "broken-stores", dependencies: ["FileReplayStore", contract]),
    ]
)
