/// Why a document was rejected. It names the reason and, from libxml2, the place, and never quotes the document.
package enum XMLError: Error, Equatable, Sendable {
    case notUTF8
    /// The document has a NUL byte, which a C parser may take for the document's end.
    case holdsNUL
    /// The document does not begin with a start tag but with a byte order mark, white space or text.
    case doesNotBeginWithTag
    case declaration
    case documentType
    case comment
    case processingInstruction
    case tooDeep(limit: Int)
    case tooManyElements(limit: Int)
    case tooManyAttributes(limit: Int)
    case tooManyNamespaces(limit: Int)
    /// The document is too long; the limit is in bytes.
    case tooLong(limit: Int)
    /// A namespace name is no absolute URI. Such a document has no canonical form (Canonical XML 1.0, 1.3).
    case relativeNamespace
    /// The document is not well-formed: libxml2's error number, and the line and column where it stopped, the column in
    /// bytes, both counted from 1.
    case malformed(code: Int, line: Int, column: Int)
    case outOfMemory
}

extension XMLError {
    /// The reason as a predicate; the document is the subject of the sentence.
    package var message: String {
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
        case .outOfMemory: "could not be parsed: out of memory"
        }
    }
}
