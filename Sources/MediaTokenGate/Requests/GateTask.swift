package import MediaToken
internal import StreamPaths

/// What the gate has to do for a request.
package enum GateTask: Sendable {
    /// Send this answer; no token needs to be verified.
    case settled(GateReply)
    /// Verify a token, and answer with the verdict.
    case verify(VerificationTask)
    /// Examine a token without consuming it, and answer with the result of every check, or to a proxy with the first
    /// failure.
    case explain(ExplanationRequest)

    /// The task, with the route that it belongs to.
    func on(_ route: GateRoute, isForProxy: Bool = false) -> GateTask {
        let task: GateTask
        switch self {
        case .settled(var reply):
            reply.route = route.path.text
            task = .settled(reply)
        case .verify(var verification):
            verification.route = route.path.text
            task = .verify(verification)
        case .explain(var request):
            request.route = route.path.text
            task = .explain(request)
        }
        // Unreached: The properties' gates decide in earnest.
        return route.reportsOnly ? task.reportingOnly(isForProxy: isForProxy) : task
    }

    // Unreached: The properties' gates decide in earnest.
    /// The task of a gate that only reports what it would refuse.
    ///
    /// - Parameter isForProxy: Whether a proxy asks. Its request is allowed although nothing had to be verified; a
    ///   backend's that is not understood is refused all the same, since nothing was decided.
    func reportingOnly(isForProxy: Bool) -> GateTask {
        switch self {
        case .settled(let reply): return isForProxy ? .settled(AnswerFormat.subrequest.report(reply)) : self
        case .verify(var task):
            task.reportsOnly = true
            return .verify(task)
        case .explain(var request):
            request.reportsOnly = true
            return .explain(request)
        }
    }
}

extension AnswerFormat {
    /// The task that a request asks for, or the answer that says why it is not understood.
    func task(_ read: () throws(RequestError) -> GateTask) -> GateTask {
        do throws(RequestError) { return try read() } catch { return .settled(refuse(error)) }
    }
}

/// A token to examine, and as far as the caller says so, what it must be for.
package struct ExplanationRequest: Sendable {
    package let token: RawToken
    package let requestors: [RequestorID]?
    package let resource: ResourceRule?
    /// Whether a proxy asks, for a request that gets no media.
    var isForProxy = false
    /// The path of the route that the request is for, as it is configured; `nil` if it is for none.
    var route: String?
    /// Whether the gate only reports what it would refuse.
    var reportsOnly = false
}

/// A token to verify, and the form of the answer.
package struct VerificationTask: Sendable {
    package let request: VerificationRequest
    package let format: AnswerFormat
    /// The order for the grant to make if the token is accepted; `nil` if the request asks for no grant.
    package let order: GrantOrder?
    /// The path of the route that the request is for, as it is configured; `nil` if it is for none.
    var route: String?
    /// Whether the gate only reports what it would refuse.
    var reportsOnly = false

    init(_ request: VerificationRequest, _ format: AnswerFormat, order: GrantOrder? = nil) {
        (self.request, self.format, self.order) = (request, format, order)
    }
}
