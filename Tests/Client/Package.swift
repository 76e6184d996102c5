// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "client",
    dependencies: [.package(name: "media-token-verifier", path: "../..")],
    targets: [
        .executableTarget(
            name: "client", dependencies: [.product(name: "MediaToken", package: "media-token-verifier")])
    ]
)
