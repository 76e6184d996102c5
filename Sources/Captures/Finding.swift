/// Something that a capture holds: a token, a text that may be a playback grant, or an error of Adobe Pass.
package struct Finding: Sendable {
    package enum Content: Sendable {
        /// A token of any kind. There are several readings if it is not certain what was put around or into it; the first that
        /// can be read, or the first of all, is the token.
        case token([Reading])
        /// A text that looks like a playback grant or a JWT.
        case grant(String)
        /// An answer of Adobe Pass without a token.
        case error(ServiceError)
    }

    /// One reading of a token.
    package struct Reading: Sendable {
        /// What was taken off at last, which is a part of the way to this reading only.
        package let layers: [String]
        /// The token's clear text, `<signatureInfo>…`.
        package let clearText: [UInt8]
    }

    package let content: Content
    /// The way to it, from the outside in: `HAR`, `entry 12`, `response.content.text`, `decisions[0].token.serializedToken`, `Base64`.
    package let way: [String]
    /// The line of the capture on which it begins, from 1.
    package let line: Int
    /// What the document around a token says of it.
    package internal(set) var stated = Stated.nothing

    /// The object in which it was found, of the document that is reported; `nil` in any other text.
    var object: Facts.Object?
    var origin: Origin

    /// The place in a document, by which ``Repetitions`` distinguishes a token that the document repeats from one that was sent again.
    struct Origin {
        /// The number of the value.
        private(set) var value = 0
        /// The path of the innermost item of an array that the value is in. If that array holds nothing but values, its name is left out:
        /// a search engine has such an array for each field of one record.
        private(set) var record: ArraySlice<JSONWalker.Step> = []

        init() {}

        init(value: Int, of steps: ArraySlice<JSONWalker.Step>) {
            func isIndex(_ step: JSONWalker.Step) -> Bool { if case .index = step { true } else { false } }
            let object = steps.parent
            let items = object.lastIndex(where: isIndex).map { object[...$0] } ?? []
            (self.value, record) = (value, items + steps[object.endIndex...].drop { !isIndex($0) })
        }
    }

    /// Creates a finding of a capture in which nothing was found, to say why it is no token.
    package init(unread capture: [UInt8]) {
        self.init(.token([Reading(layers: [], clearText: capture)]), way: [], line: 1)
    }

    /// How much of a token was found as it is.
    enum Extent {
        /// It ends before its last tag.
        case cut
        /// It has no signature: its beginning stands elsewhere, or nowhere.
        case headless
        /// Something may have been put into it, such as line breaks and what a logger begins each line with.
        case wrapped
        /// It is on one line, from the digits of its signature to its last tag.
        case plain
    }

    private let extent: Extent
    /// Whether a token was found up to its last tag.
    package var isWhole: Bool { extent != .cut }
    /// Whether the token needs no further unwrapping: complete, on one line, with a signature in Base64.
    var isPlain: Bool { extent == .plain }

    /// Whether a token is complete but for what may have been put into it.
    var isWrapped: Bool { extent == .wrapped }

    var isPlainToken: Bool {
        if case .token = content { isPlain } else { false }
    }

    init(
        _ content: Content, way: [String], line: Int, object: Facts.Object? = nil, origin: Origin = Origin(),
        extent: Extent = .plain
    ) {
        (self.content, self.way, self.line) = (content, way, line)
        (self.object, self.origin, self.extent) = (object, origin, extent)
    }

    /// Whether it is in what the client sent, and not in an answer; `nil` if that is not known.
    package var isSent: Bool? {
        let inside = way.drop { $0 != Self.archive }.dropFirst(2)
        return inside.first?.utf8.starts(with: "request".utf8)
    }

    static let archive = "HAR"

    /// Adds the readings of the same token from before a wrapping was removed from the whole capture. They come first if that token has
    /// its last tag: then what was removed may be a part of the token, as the line breaks of a resource are.
    func merging(_ other: Finding) -> Finding {
        let (own, others) = (wholeReadings, other.wholeReadings)
        var known = Set<[UInt8]>()
        let readings = (other.isWrapped ? others + own : own + others).filter { known.insert($0.clearText).inserted }
        return Finding(
            .token(Array(readings.prefix(Self.readingLimit))), way: [], line: other.line, extent: extent)
    }

    /// The maximum number of readings of one token, the likeliest first.
    private static let readingLimit = 40

    /// The readings of a token, with the whole way to each.
    private var wholeReadings: [Reading] {
        guard case .token(let readings) = content else { return [] }
        return readings.map { Reading(layers: way + $0.layers, clearText: $0.clearText) }
    }
}

/// What a token, or a request for one, is about.
package enum Subject: String, CaseIterable, Sendable {
    case requestor
    case resource
    case mvpd = "MVPD"
    case device

    /// The names that Adobe's services and programmers' backends have for it.
    var names: [String] {
        switch self {
        case .requestor: ["requestor", "requestorId", "requestor_id", "serviceProvider", "adobe_requestor_id"]
        case .resource: ["resource", "resourceId", "resource_id", "resourceID", "resources[0]"]
        case .mvpd: ["mvpd", "mvpdId", "mvpd_id", "mso_id", "msoId"]
        case .device: ["deviceId", "device_id", "ap-device-identifier"]
        }
    }
}

/// What a request, a token, or the document around a token says of each subject.
package struct Stated: Sendable, Equatable {
    private var values: [Subject: String] = [:]

    /// - Parameter value: returns what is said of a subject; `nil` if nothing is.
    package init(_ value: (Subject) -> String?) {
        for subject in Subject.allCases { values[subject] = value(subject) }
    }

    /// Statements about no subject.
    static let nothing = Stated { (_: Subject) in nil }

    package subscript(subject: Subject) -> String? { values[subject] }
}

/// An error that Adobe Pass answered with, at the top of an answer or within a decision.
package struct ServiceError: Sendable, Equatable {
    /// The code of an enhanced error, such as `authorization_denied_by_mvpd`, or the message of an older one.
    package let code: String
    /// What the client is to do: `authentication`, `retry`, `none`.
    package let action: String?
    package let message: String?
    /// The resource whose decision it is.
    package let resource: String?
    /// Whether other services answer in the same form, so that only an answer of Adobe Pass is known to be an error of it.
    let isOfAnyService: Bool
    /// Whether it stands in the place of an authorization.
    package let isDenial: Bool

    /// Creates an error, and cuts the long words of its texts, since a service's words may hold a token, which has some.
    init(
        code: String, action: String?, message: String?, resource: String?, isOfAnyService: Bool = false,
        isDenial: Bool = false
    ) {
        (self.code, self.action) = (Self.withoutLongWords(code), action.map(Self.withoutLongWords))
        self.message = message.map(Self.withoutLongWords)
        self.resource = resource.flatMap { ClearText.markers(in: Array($0.utf8)[...]).isEmpty ? $0 : nil }
        (self.isOfAnyService, self.isDenial) = (isOfAnyService, isDenial)
    }

    private static let longestWord = 80
    private static let shownOfLongWord = 20

    private static func withoutLongWords(_ text: String) -> String {
        guard text.utf8.count > longestWord else { return text }
        let words = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false).map { word in
            word.count > longestWord
                ? String(Substring(word).unicodeScalars.prefix(shownOfLongWord)) + "…" : String(Substring(word))
        }
        return words.joined(separator: " ")
    }
}
