/// Why a document was refused. Says what and, from libxml2, where; never quotes the document.
package enum XMLRefusal: Error, Equatable, Sendable {
    case notUTF8
    /// A NUL byte, at which a C parser may take the document to end.
    case holdsNUL
    /// Does not begin with a start tag: a byte order mark, white space or text.
    case doesNotBeginWithTag
    case declaration
    case documentType
    case comment
    case processingInstruction
    case tooDeep(limit: Int)
    case tooManyElements(limit: Int)
    case tooManyAttributes(limit: Int)
    case tooManyNamespaces(limit: Int)
    /// In bytes.
    case tooLong(limit: Int)
    /// A namespace name that is no absolute URI. Such a document has no canonical form (Canonical XML 1.0, 1.3).
    case relativeNamespace
    /// libxml2's error number, and the line and column, in bytes, both from 1, where it stopped.
    case malformed(code: Int, line: Int, column: Int)
    case outOfMemory
}
