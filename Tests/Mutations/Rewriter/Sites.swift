import SwiftParser
import SwiftSyntax

/// A kind of small change that some test must notice.
enum Kind: String {
    /// `<` for `<=`, and the like.
    case shifted
    /// A comparison or a condition that says the opposite.
    case turned
    /// A condition that always lets pass.
    case dropped
    /// `&&` for `||`.
    case joined
    /// One side of `&&` or `||` alone.
    case halved
    /// A number that is one more.
    case counted
    /// `+` for `-`, `min` for `max`.
    case reversed
    /// Two arguments in each other's place.
    case swapped
    /// A function that returns at once.
    case returned
    /// A statement that is not carried out.
    case skipped
    /// What `Tests/Mutations/exchanged` has.
    case exchanged
}

/// A place in a file, and what may stand there instead.
struct Site {
    /// What stands at the place. Of several at one place the former hold the latter.
    enum Form: Int {
        /// The beginning of a function's body.
        case entry
        /// Such a beginning, where the body is an `if` or `switch` that is the function's value.
        case value
        case statement
        case expression
        /// An expression that is `true` or `false`, which the compiler is told, to spare it a search.
        case condition
    }

    struct Alternative {
        let kind: Kind
        let text: String
    }

    let range: Range<Int>
    var form: Form
    let function: String
    let line: Int
    var alternatives: [Alternative] = []
}

/// Finds the places of a file at which something can be changed.
final class SiteFinder: SyntaxVisitor {
    private(set) var sites: [Site] = []
    /// The exchanges whose place is not found.
    private(set) var faults: [String] = []
    private var places: [[Int]: Int] = [:]
    private let lines: SourceLocationConverter

    /// - Parameter isDeciding: whether the file has places of every kind, and not only those of the exchanges.
    init(_ file: SourceFileSyntax, isDeciding: Bool, _ exchanges: [Exchange]) {
        lines = SourceLocationConverter(fileName: "", tree: file)
        super.init(viewMode: .sourceAccurate)
        if isDeciding { walk(file) }
        for exchange in exchanges {
            let finder = TextFinder(exchange.now)
            finder.walk(file)
            for node in finder.found { add(.exchanged, exchange.then, at: node, .expression) }
            if finder.found.isEmpty { faults.append("\(exchange.file) has no expression '\(exchange.now)'") }
        }
    }

    private func add(_ kind: Kind, _ text: String, at node: some SyntaxProtocol, _ form: Site.Form) {
        let range = node.positionAfterSkippingLeadingTrivia.utf8Offset..<node.endPositionBeforeTrailingTrivia.utf8Offset
        let key = [range.lowerBound, range.upperBound, min(form.rawValue, Site.Form.expression.rawValue)]
        let place = places[key] ?? sites.count
        if place == sites.count {
            places[key] = place
            let line = node.startLocation(converter: lines).line
            sites.append(Site(range: range, form: form, function: node.function, line: line))
        }
        if form == .condition { sites[place].form = form }
        guard !sites[place].alternatives.contains(where: { $0.text == text }) else { return }
        sites[place].alternatives.append(Site.Alternative(kind: kind, text: text))
    }

    // MARK: What is left alone

    override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: GenericArgumentClauseSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
    override func visit(_ node: ExpressionPatternSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

    // MARK: Functions

    override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
        addReturns(node.signature.returnClause?.type, node.signature.effectSpecifiers?.throwsClause != nil, node.body)
        return .visitChildren
    }

    override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
        if node.isMember, case .getter(let items)? = node.accessorBlock?.accessors {
            addReturns(node.typeAnnotation?.type, false, items)
        }
        return .visitChildren
    }

    private func addReturns(_ type: TypeSyntax?, _ isThrowing: Bool, _ body: CodeBlockSyntax?) {
        guard let body else { return }
        addReturns(type, isThrowing, body.statements)
    }

    private func addReturns(_ type: TypeSyntax?, _ isThrowing: Bool, _ items: CodeBlockItemListSyntax) {
        guard let first = items.first else { return }
        let values: [String]
        switch type?.trimmedDescription {
        case nil, "Void": values = isThrowing ? [""] : []
        case "Bool": values = ["true", "false"]
        case let type? where type.hasSuffix("?"): values = ["nil"]
        default: values = []
        }
        let expression = first.item.as(ExprSyntax.self) ?? first.item.as(ExpressionStmtSyntax.self)?.expression
        let only = items.count == 1 ? expression : nil
        for value in values {
            if let only, !value.isEmpty, !only.is(IfExprSyntax.self), !only.is(SwitchExprSyntax.self) {
                add(.returned, value, at: only, type?.trimmedDescription == "Bool" ? .condition : .expression)
            } else {
                let isValue = only != nil && !value.isEmpty && !ReturnFinder.finds(in: first)
                add(.returned, value.isEmpty ? "return" : "return \(value)", at: first, isValue ? .value : .entry)
            }
        }
    }

    // MARK: Conditions

    override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
        guard case .expression(let condition) = node.condition, let owner = node.parent?.parent else {
            return .visitChildren
        }
        if owner.is(GuardStmtSyntax.self) {
            add(.dropped, "true", at: condition, .condition)
        } else if owner.is(IfExprSyntax.self) {
            add(.dropped, "false", at: condition, .condition)
        } else {
            return .visitChildren
        }
        addTurn(of: condition)
        return .visitChildren
    }

    override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
        add(.dropped, "true", at: node.condition, .condition)
        addTurn(of: node.condition)
        return .visitChildren
    }

    override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
        addTurn(of: node.condition)
        return .visitChildren
    }

    /// Turns a condition around, unless it is a comparison or has parts, which are turned by themselves.
    private func addTurn(of condition: ExprSyntax) {
        guard !condition.is(InfixOperatorExprSyntax.self), !condition.is(PrefixOperatorExprSyntax.self) else { return }
        add(.turned, "!(\(condition.trimmedDescription))", at: condition, .condition)
    }

    // MARK: Expressions

    private static let shifts = ["<": "<=", "<=": "<", ">": ">=", ">=": ">"]
    private static let opposites = ["<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="]
    private static let reverses = ["+": "-", "-": "+", "&+": "&-", "&-": "&+", "*": "+"]

    override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        guard let sign = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return .visitChildren }
        let (left, right) = (node.leftOperand.trimmedDescription, node.rightOperand.trimmedDescription)
        let isOptional = node.rightOperand.is(NilLiteralExprSyntax.self)
        if let other = Self.shifts[sign] { add(.shifted, "\(left) \(other) \(right)", at: node, .condition) }
        if let other = Self.opposites[sign] {
            add(.turned, "\(left) \(other) \(right)", at: node, .condition)
        }
        if let other = Self.reverses[sign], !isOptional, !left.contains("\""), !right.contains("\"") {
            add(.reversed, "\(left) \(other) \(right)", at: node, .expression)
        }
        if sign == "&&" || sign == "||" {
            add(.joined, "(\(left)) \(sign == "&&" ? "||" : "&&") (\(right))", at: node, .condition)
            add(.halved, left, at: node, .condition)
            add(.halved, right, at: node, .condition)
        }
        return .visitChildren
    }

    override func visit(_ node: PrefixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
        if node.operator.text == "!" {
            add(.turned, node.expression.trimmedDescription, at: node, .condition)
        }
        return .visitChildren
    }

    override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        // A loop without end may be what a function returns from.
        guard node.parent?.is(ConditionElementSyntax.self) != true else { return .visitChildren }
        let other = node.literal.text == "true" ? "false" : "true"
        add(.turned, other, at: node, .condition)
        return .visitChildren
    }

    override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
        let text = node.literal.text
        let digits = text.filter { $0 != "_" }
        let number = digits.hasPrefix("0x") ? Int(digits.dropFirst(2), radix: 16) : Int(digits)
        guard let number, number < Int.max else { return .visitChildren }
        add(.counted, String(number + 1), at: node, .expression)
        return .visitChildren
    }

    override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
        let callee = node.calledExpression.trimmedDescription
        guard !onlySavesTime(callee) else { return .skipChildren }
        let arguments = Array(node.arguments)
        if callee == "min" || callee == "max" {
            let values = node.arguments.trimmedDescription
            add(.reversed, "\(callee == "min" ? "max" : "min")(\(values))", at: node, .expression)
        }
        if arguments.count == 2, node.trailingClosure == nil, callee != "min", callee != "max",
            arguments.allSatisfy({ isPlain($0.expression) })
        {
            func text(_ label: TokenSyntax?, _ value: ExprSyntax) -> String {
                (label.map { "\($0.text): " } ?? "") + value.trimmedDescription
            }
            let values =
                text(arguments[0].label, arguments[1].expression) + ", "
                + text(arguments[1].label, arguments[0].expression)
            add(.swapped, "\(callee)(\(values))", at: node, .expression)
        }
        return .visitChildren
    }

    /// Whether an argument is a name, so that another one may be of its type.
    private func isPlain(_ value: ExprSyntax) -> Bool {
        value.is(DeclReferenceExprSyntax.self)
            || value.is(MemberAccessExprSyntax.self)
                && value.as(MemberAccessExprSyntax.self)?.base != nil
    }

    // MARK: Statements

    override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
        guard case .expr(let expression) = node.item, isStatement(node), isEffect(expression),
            !node.function.hasSuffix("init")
        else {
            return .visitChildren
        }
        add(.skipped, "", at: node, .statement)
        return .visitChildren
    }

    /// Whether nothing is made of the value of an item.
    private func isStatement(_ node: CodeBlockItemSyntax) -> Bool {
        guard let list = node.parent?.as(CodeBlockItemListSyntax.self) else { return false }
        if list.count > 1 { return true }
        guard let block = list.parent?.as(CodeBlockSyntax.self) else { return false }
        guard let function = block.parent?.as(FunctionDeclSyntax.self) else {
            return block.parent?.is(IfExprSyntax.self) == true || block.parent?.is(ForStmtSyntax.self) == true
                || block.parent?.is(DeferStmtSyntax.self) == true
        }
        return function.signature.returnClause == nil
    }

    private func isEffect(_ expression: ExprSyntax) -> Bool {
        if let attempt = expression.as(TryExprSyntax.self) { return isEffect(attempt.expression) }
        if let infix = expression.as(InfixOperatorExprSyntax.self) {
            return infix.operator.is(AssignmentExprSyntax.self)
                || infix.operator.as(BinaryOperatorExprSyntax.self)?.operator.text.hasSuffix("=") == true
                    && Self.opposites[infix.operator.trimmedDescription] == nil
        }
        return expression.as(FunctionCallExprSyntax.self).map { !onlySavesTime($0.calledExpression.trimmedDescription) }
            ?? false
    }

    /// Whether a call makes room for what is to come: with another size, or none, nothing changes but the time.
    private func onlySavesTime(_ callee: String) -> Bool { callee.hasSuffix("reserveCapacity") }
}

/// A row of `Tests/Mutations/exchanged`: an expression, and another to put in its place.
struct Exchange {
    let file: String
    let now: String
    let then: String
}

/// Finds the expressions of a text, however their lines are broken.
private final class TextFinder: SyntaxAnyVisitor {
    private(set) var found: [Syntax] = []
    private let tokens: [String]

    init(_ text: String) {
        tokens = Self.tokens(of: Parser.parse(source: text))
        super.init(viewMode: .sourceAccurate)
    }

    private static func tokens(of node: some SyntaxProtocol) -> [String] {
        node.tokens(viewMode: .sourceAccurate).map(\.text).filter { !$0.isEmpty }
    }

    override func visitAny(_ node: Syntax) -> SyntaxVisitorContinueKind {
        guard node.is(ExprSyntax.self), Self.tokens(of: node) == tokens else { return .visitChildren }
        found.append(node)
        return .skipChildren
    }
}

/// Looks for a `return` outside of closures.
private final class ReturnFinder: SyntaxVisitor {
    private var isFound = false

    static func finds(in node: some SyntaxProtocol) -> Bool {
        let finder = ReturnFinder(viewMode: .sourceAccurate)
        finder.walk(node)
        return finder.isFound
    }

    override func visit(_ node: ReturnStmtSyntax) -> SyntaxVisitorContinueKind {
        isFound = true
        return .skipChildren
    }
    override func visit(_ node: ClosureExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
}

extension SyntaxProtocol {
    /// The types and the function or property that it is in.
    fileprivate var function: String {
        sequence(first: Syntax(self)) { $0.parent }.compactMap(\.declaredName).reversed().joined(separator: ".")
    }

    private var declaredName: String? {
        switch Syntax(self).as(SyntaxEnum.self) {
        case .structDecl(let node): node.name.text
        case .classDecl(let node): node.name.text
        case .enumDecl(let node): node.name.text
        case .actorDecl(let node): node.name.text
        case .extensionDecl(let node): node.extendedType.trimmedDescription
        case .functionDecl(let node): node.name.text
        case .initializerDecl: "init"
        case .subscriptDecl: "subscript"
        case .patternBinding(let node): node.isMember ? node.pattern.trimmedDescription : nil
        default: nil
        }
    }
}

extension PatternBindingSyntax {
    /// Whether a variable belongs to a type or a file, and not to a function.
    fileprivate var isMember: Bool {
        let owner = parent?.parent?.parent
        return owner?.is(MemberBlockItemSyntax.self) == true || owner?.parent?.parent?.is(SourceFileSyntax.self) == true
    }
}
