internal import TextEncodings
internal import TokenXML

extension FormatProblem {
    /// One line: what was expected, what came, where.
    var message: String {
        switch self {
        case .empty: "the input is empty; expected a media token"
        case .tooLarge(let count): "the input has \(count) bytes; at most \(RawToken.sizeLimit) are accepted"
        case .unrecognised(let bytes): Self.unrecognised(bytes)
        case .wrappedTwice(let layer):
            "it is wrapped twice in a layer of the kind \(layer.rawValue); expected at most one"
        case .percentEncoding(let offset):
            "an incomplete percent-escape at byte \(offset); expected % and two hex digits"
        case .wrapperBase64(let problem): "the Base64 around the token: \(problem.message)"
        case .document(let kind, let problem): "\(kind) that cannot be read: \(problem.message)"
        case .denied(let code):
            "Adobe Pass denied authorization, there is no token: error.code is \(code.map { printable($0) } ?? "absent")"
        case .envelope(let problem): problem.message
        case .xml(let refusal): "the signed XML \(refusal.message)"
        case .unknownRoot(let name):
            "the signed XML is <\(printable(name, limit: 40))>; expected <authToken> or <shortAuthorizationToken>"
        case .decoratedRoot: "the root element has an attribute, a prefix or a namespace; expected a plain name"
        case .strayText: "text between the fields of the token; expected elements only"
        case .otherKind(let kind): "this is \(kind.title); expected a short media token"
        case .field(let name, let problem): "<\(name)> \(problem.message)"
        }
    }

    private static func unrecognised(_ bytes: [UInt8]) -> String {
        let hint =
            switch (bytes.first, bytes.dropFirst().first) {
            case (0xEF, 0xBB): " (a UTF-8 byte order mark: strip it)"
            case (0xFE, 0xFF), (0xFF, 0xFE), (0, _), (_, 0): " (UTF-16? send UTF-8)"
            default: ""
            }
        let shown = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined(separator: " ")
        return "it begins with the bytes \(shown)\(hint); expected <signatureInfo>, that in Base64 or percent-encoded, "
            + "a REST v1 <play>, or REST JSON"
    }
}

extension FormatProblem.Document {
    fileprivate var message: String {
        switch self {
        case .xml(let refusal): "it \(refusal.message)"
        case .json(let problem): problem.reason
        case .unexpected(let what): "it has \(what)"
        }
    }
}

extension FormatProblem.Envelope {
    fileprivate var message: String {
        switch self {
        case .noSecondTag:
            "no second <signatureInfo> within \(TokenEnvelope.longestSignature) characters behind the first, which is what the "
                + "longest signature takes: the token is cut short or altered"
        case .noPayload: "nothing that is signed follows the second <signatureInfo>; expected <authToken>"
        case .noSignature: "no signature between the two <signatureInfo> tags: the token is unsigned"
        case .secondSignature: "a second signature follows the first; expected <authToken>"
        case .signatureBase64(let problem): "the signature's Base64: \(problem.message)"
        }
    }
}

extension FormatProblem.Field {
    fileprivate var message: String {
        switch self {
        case .missing: "is missing"
        case .empty: "is empty"
        case .duplicate: "is there more than once"
        case .nested: "has elements inside; expected text"
        case .decorated: "has an attribute, a prefix or a namespace; expected a plain name"
        case .otherCase: "is there in other upper and lower case; expected the name as it stands here"
        case .timeToLive: "is not a whole number of milliseconds from 1 to 9223372036854775807"
        case .date(let form): "is not a date of the form '\(form)'"
        case .overflowingExpiry: "puts the expiry beyond the year 9999"
        }
    }
}

extension Base64.Problem {
    fileprivate var message: String {
        switch self {
        case .strayByte(let offset):
            "a byte outside of the alphabet at \(offset) (a space there was a '+': percent-encode it as %2B)"
        case .wrongLength(let count): "its length of \(count) is not that of padded Base64"
        case .nonZeroPadBits: "its unused last bits are not zero"
        }
    }
}

extension XMLRefusal {
    /// Completes a sentence that begins with the document.
    fileprivate var message: String {
        switch self {
        case .notUTF8: "is not UTF-8"
        case .holdsNUL: "holds a NUL byte"
        case .doesNotBeginWithTag: "does not begin with a start tag"
        case .declaration: "has an XML declaration; expected the root element first"
        case .documentType: "has a DOCTYPE, which is never accepted"
        case .comment: "has a comment, which is never accepted"
        case .processingInstruction: "has a processing instruction, which is never accepted"
        case .tooDeep(let limit): "is nested deeper than \(limit) elements"
        case .tooManyElements(let limit): "has more than \(limit) elements"
        case .malformed(let code, let line, let column):
            "is not well-formed at line \(line), column \(column) (libxml2 error \(code))"
        case .tooManyAttributes(let limit): "has more than \(limit) attributes"
        case .tooLong(let limit): "is longer than \(limit) bytes"
        case .tooManyNamespaces(let limit): "declares more than \(limit) namespaces"
        case .relativeNamespace: "has a namespace name that is no absolute URI"
        case .outOfMemory: "could not be parsed for want of memory"
        }
    }
}
