/// The reason why a server cannot start, in one line for the operator.
package struct HTTPServerError: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }
}
