package import Basics
package import Foundation

/// The files that tests read, found from this file's own place.
package enum Fixtures {
    /// The root of the package.
    package static let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    package static let vectors = package.appending(path: "Tests/Vectors")
    /// The directory with the public key of 2015–2021.
    package static let keys = package.appending(path: "Keys").path

    /// The token that Adobe Pass issued on 2016-03-17 to an anonymous temporary pass.
    package static let realTokenFile = vectors.appending(path: "media-token-2016-temppass.txt").path

    /// A page of the documentation: a path below `Sources`, without its ending.
    package static func page(_ page: String) throws -> String {
        try String(contentsOf: package.appending(path: "Sources/\(page).md"), encoding: .utf8)
    }

    /// The first block in `language` below a heading of a page.
    package static func snippet(_ language: String, under heading: String, of page: String) throws -> String {
        let text = try Self.page(page)
        guard let place = text.range(of: "\n## \(heading)\n"),
            let begin = text.range(of: "```\(language)\n", range: place.upperBound..<text.endIndex),
            let end = text.range(of: "\n```", range: begin.upperBound..<text.endIndex)
        else { throw Program.Failure(description: "\(page) has no \(language) under \(heading)") }
        return String(text[begin.upperBound..<end.lowerBound])
    }

    package static func realToken() throws -> String {
        try String(contentsOfFile: realTokenFile, encoding: .utf8)
    }

    package static func base64(_ token: String) -> String {
        Data(token.utf8).base64EncodedString()
    }

    /// Every byte but letters and digits escaped.
    package static func percentEncoded(_ token: String) -> String {
        token.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
    }

    /// Half a minute after it was issued.
    package static let realTokenTime = Timestamp(milliseconds: 1_458_252_120_000)
}

/// A directory that goes with the object.
package final class TemporaryDirectory: Sendable {
    package let path: String

    package init() throws {
        let url = FileManager.default.temporaryDirectory.appending(path: "media-token-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        path = url.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file and returns its path.
    @discardableResult
    package func write(_ content: Data, to name: String) throws -> String {
        let file = "\(path)/\(name)"
        try content.write(to: URL(filePath: file))
        return file
    }

    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        try write(Data(text.utf8), to: name)
    }
}
