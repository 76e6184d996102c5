/// A strictly read document whose fields are elements with text: a token's signed XML, or a REST v1 `<play>`.
package struct FieldElements: Sendable {
    package let elements: XMLElements

    package init(
        reading bytes: ArraySlice<UInt8>, with reader: StrictXMLReader, allowsDeclaration: Bool = false
    ) throws(XMLError) {
        elements = try reader.read(bytes, allowsDeclaration: allowsDeclaration)
    }

    package var root: XMLElement { elements.root }

    package var rootName: String { elements.name(of: root) }

    package func isRootNamed(_ name: StaticString) -> Bool { elements.isNamed(name, root) }

    /// The text of the one element named `name` directly below the root, or of the one element `child` below that;
    /// `nil` if there is no such element.
    ///
    /// Elements deeper down never count, so an extra element cannot smuggle a field in.
    package func text(_ name: StaticString, child: StaticString? = nil) throws(XMLFieldError) -> String? {
        var found: XMLElement?
        var isInParent = false
        for element in elements.list {
            if element.depth == 1 { isInParent = elements.isNamed(name, element) }
            let matches =
                if let child { element.depth == 2 && isInParent && elements.isNamed(child, element) } else {
                    element.depth == 1 && isInParent
                }
            guard matches else { continue }
            guard found == nil else { throw XMLFieldError(child ?? name, .duplicate) }
            found = element
        }
        guard let found else { return nil }
        try check(found, named: child ?? name)
        return elements.text(of: found)
    }

    /// The text of a field that the document must have.
    package func requiredText(_ name: StaticString) throws(XMLFieldError) -> String {
        guard let text = try text(name) else { throw XMLFieldError(name, .missing) }
        return text
    }

    /// Checks that an element holds text and nothing else.
    package func check(_ element: XMLElement, named name: StaticString) throws(XMLFieldError) {
        if let decoration = elements.decoration(of: element) { throw XMLFieldError(name, .decorated(with: decoration)) }
        guard !element.hasChildren else { throw XMLFieldError(name, .nested) }
        guard !element.isEmpty else { throw XMLFieldError(name, .empty) }
    }

    /// The path below the root and the text of every element without children, for display. Elements directly below the
    /// root are left out if `known` has their name.
    package func texts(except known: [StaticString]) -> [(path: String, text: String)] {
        func isKnown(_ element: XMLElement) -> Bool {
            element.depth == 1 && known.contains { elements.isNamed($0, element) }
        }
        var path: [String] = []
        var texts: [(path: String, text: String)] = []
        for element in elements.list where element.depth > 0 {
            path.removeLast(max(0, path.count - element.depth + 1))
            path.append(elements.name(of: element))
            guard !element.hasChildren, !isKnown(element) else { continue }
            texts.append((path.joined(separator: "/"), elements.text(of: element)))
        }
        return texts
    }
}

/// Why a field of a document is not accepted.
package struct XMLFieldError: Error, Equatable, Sendable {
    package enum Reason: Equatable, Sendable {
        case missing, empty, blank, duplicate, nested
        /// The start tag has more than a plain name: this attribute, prefix or namespace.
        case decorated(with: String)
    }

    package let name: String
    package let reason: Reason

    package init(_ name: StaticString, _ reason: Reason) {
        self.name = "\(name)"
        self.reason = reason
    }

    /// One line that names the field and what is wrong with it.
    package var message: String {
        let what =
            switch reason {
            case .missing: "is missing"
            case .empty: "is empty"
            case .blank: "has white space only; expected text, or an empty element"
            case .duplicate: "is there more than once"
            case .nested: "has elements inside; expected text"
            case .decorated(let decoration): "has \(decoration); expected a plain name"
            }
        return "<\(name)> \(what)"
    }
}
