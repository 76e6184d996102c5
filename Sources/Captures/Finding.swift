/// Something that a capture holds: a token, a text that may be a playback grant, or an error of Adobe Pass.
package struct Finding: Sendable {
    package enum Content: Sendable {
        /// The clear text of a token of any kind, `<signatureInfo>…`.
        case token([UInt8])
        /// A text that looks like a playback grant or a JWT.
        case grant(String)
        /// A response of Adobe Pass without a token.
        case error(ServiceError)
    }

    package let content: Content
    /// The way to it, from the outside in: `HAR`, `entry 12`, `response.content.text`,
    /// `decisions[0].token.serializedToken`, `Base64`.
    package internal(set) var way: [String] = []
    /// The line of the capture on which it begins, from 1.
    package internal(set) var line = 0
    /// Whether it is in what the client of a call sent, and not in the response; `nil` outside of calls.
    package internal(set) var isSent: Bool?
    /// When it was written, as the line or the document around it says; `nil` if that is not known, or in a call.
    package internal(set) var time: LineTime?
    /// What damage was undone to read a token. A gate undoes none of it.
    package internal(set) var repairs: [String] = []
    /// What the document around a token says of it.
    package internal(set) var stated = Stated.nothing
    /// The value that a request sent a token in, as it was sent; `nil` if that is not known.
    package internal(set) var sent: [UInt8]?
    /// Whether a token was found up to its last tag.
    package let isWhole: Bool
    /// How well a token could be read.
    let fit: TokenFit

    /// The object in which it was found, of the document that is reported; `nil` in any other text.
    var object: Facts.Object?

    init(_ content: Content, isWhole: Bool = true, fit: TokenFit = .good) {
        (self.content, self.isWhole, self.fit) = (content, isWhole, fit)
    }

    /// Creates a finding of a capture in which nothing was found, to say why it is no token.
    package init(unread capture: [UInt8]) {
        self.init(.token(capture))
        line = 1
    }

    /// The clear text of a token; `nil` for anything else.
    package var clearText: [UInt8]? {
        if case .token(let clearText) = content { clearText } else { nil }
    }

    var isGrant: Bool {
        if case .grant = content { true } else { false }
    }

    /// What tells a token from others, and from the same one elsewhere: one in a call has no line, since an archive
    /// repeats what was sent.
    struct Key: Hashable {
        private let clearText: [UInt8]
        private let sent: [UInt8]?
        private let isSent: Bool?
        private let line: Int

        init?(_ finding: Finding) {
            guard let clearText = finding.clearText else { return nil }
            (self.clearText, sent, isSent) = (clearText, finding.sent, finding.isSent)
            line = isSent == nil ? finding.line : 0
        }
    }

    /// Whether it is a token from which nothing more has to be taken off: all is well with it, or nothing in it is like
    /// an escape or like damage, and it has been signed with another key or altered.
    var isSettled: Bool {
        guard let clearText, isWhole, fit != .none else { return false }
        return fit == .good || !ClearText.isDoubtful(clearText[...])
    }

    /// Whether it is the end of a token, whose beginning stands elsewhere or nowhere.
    var isHeadless: Bool { clearText.map { ClearText.identity(of: $0[...]).isEmpty } ?? false }

    /// Whether another finding of the same token says more of it.
    func isWorse(than other: Finding) -> Bool {
        clearText != nil && (isWhole ? 1 : 0, fit) < (other.isWhole ? 1 : 0, other.fit)
    }

    static let archive = "HAR"

    /// What a way may name that was taken off all of a text.
    package static let decoderNames = Decoder.all.map(\.name)
}

/// How well a text can be read as a token.
package enum TokenFit: Int, Sendable, Comparable {
    /// It does not have the form of a token.
    case none
    /// It has the form, and no key verifies its signature.
    case form
    /// It has the form and, if there are keys, one of them verifies its signature.
    case good

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
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

/// An error that Adobe Pass answered with, at the top of a response or within a decision.
package struct ServiceError: Sendable, Equatable {
    /// The code of an enhanced error, such as `authorization_denied_by_mvpd`, or the message of an older one.
    package let code: String
    /// What the client is to do: `authentication`, `retry`, `none`.
    package let action: String?
    package let message: String?
    /// The resource whose decision it is.
    package let resource: String?
    /// Whether other services answer in the same form, so that only a response of Adobe Pass is known to be an error of
    /// it.
    let isOfAnyService: Bool
    /// Whether it stands in the place of an authorization.
    package let isDenial: Bool

    /// Creates an error, and cuts the long words of its texts, since a service's words may hold a token, which has
    /// some.
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
