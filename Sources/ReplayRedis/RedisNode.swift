internal import EventLoops
internal import MediaToken

/// One server: a connection to it, made when it is needed and made again when it was lost.
///
/// After a failure it is left alone for a while, and who asks meanwhile is told so at once: nobody waits for a server that is
/// known to be away, and none is flooded by those who do.
final class RedisNode {
    typealias Answer = (Result<RedisServerFacts, ReplayCacheError>) -> Void

    let address: RedisAddress
    private let configuration: RedisConfiguration
    private let loop: EventLoop
    private var connection: RedisConnection?
    /// What the server last reported on this connection.
    private var facts: RedisServerFacts?
    /// What a server at this address last reported, on this connection or on one before.
    private var lastFacts: RedisServerFacts?
    private var waiting: [Answer] = []
    private var handshakeTimer: LoopTimer?
    private var failure: (error: ReplayCacheError, retryAt: ContinuousClock.Instant)?
    private var pause = RedisNode.shortestPause

    private static let shortestPause = Duration.milliseconds(10)
    /// Well within the second in which claims have to work again after a server's return.
    private static let longestPause = Duration.milliseconds(320)

    init(_ address: RedisAddress, _ configuration: RedisConfiguration, on loop: EventLoop) {
        self.address = address
        self.configuration = configuration
        self.loop = loop
    }

    /// Calls `body` once there is a connection, with what its server last reported, or once none could be made. It is called
    /// at once if either is known.
    func whenConnected(_ body: @escaping Answer) {
        if let facts, connection?.isOpen == true { return body(.success(facts)) }
        if let failure, failure.retryAt > .now { return body(.failure(failure.error)) }
        waiting.append(body)
        if handshakeTimer == nil { connect() }
    }

    /// Sends commands on the connection that there is; see ``RedisConnection/send(_:_:)``.
    ///
    /// - Parameter isAsking: whether they are about a slot that is on its way to this node, which must be said each time.
    func send(_ commands: [RedisCommand], asking isAsking: Bool = false, _ completion: @escaping ([RedisReply]) -> Void)
    {
        guard let connection else { return completion(commands.map { _ in .lost }) }
        guard isAsking else { return connection.send(commands, completion) }
        connection.send(commands.flatMap { [["ASKING"], $0] }) { replies in
            completion(stride(from: 1, to: replies.count, by: 2).map { replies[$0] })
        }
    }

    /// Reads the server's replies to ``RedisServerFacts/commands``, and remembers them, so that the next ones show whether
    /// counts were set back. The caller decides whether the server is fit for claims.
    func facts(
        in replies: ArraySlice<RedisReply>, askedAt: ContinuousClock.Instant
    ) -> Result<RedisServerFacts, ReplayCacheError> {
        switch replies.first {
        case .error(let error): return .failure(error.fault(of: address))
        case .lost, nil: return .failure(.unavailable(lossReason))
        default: break
        }
        guard let told = RedisServerFacts(replies, askedAt: askedAt, after: lastFacts, configuration) else {
            return .failure(.unavailable("\(address) does not answer INFO as Redis does"))
        }
        lastFacts = told
        // If there are none, the connection was given up; the greeting of the next one reads its own.
        if facts != nil { facts = told }
        return .success(told)
    }

    /// Gives a connection up that does not do what it should.
    func drop(_ reason: String) {
        let given = connection
        fail(.unavailable("\(address) \(reason)"))
        given?.close(reason)
    }

    /// Why replies were lost.
    var lossReason: String { "\(address) \(connection?.reason ?? "closed the connection")" }

    private func connect() {
        facts = nil
        let connection = RedisConnection(to: address, on: loop)
        self.connection = connection
        handshakeTimer = loop.timer(afterMilliseconds: configuration.timeoutMilliseconds) { [weak self] in
            guard let self else { return }
            self.drop("did not answer within \(self.configuration.timeoutMilliseconds) ms")
        }
        let (greeting, askedAt) = (RedisGreeting(configuration), ContinuousClock.now)
        connection.send(greeting.commands) { [weak self, weak connection] replies in
            // A connection that was given up answers no more, but what it left behind is still told here.
            guard let self, let connection, self.connection === connection, self.handshakeTimer != nil else { return }
            switch greeting.facts(replies, askedAt: askedAt, after: self.lastFacts, of: self.address) {
            case .success(let facts): self.succeed(facts)
            case .failure(let error):
                guard connection.isOpen else { return self.fail(.unavailable(self.lossReason)) }
                self.fail(error)
                connection.close("was given up")
            }
        }
    }

    private func succeed(_ facts: RedisServerFacts) {
        handshakeTimer = nil
        failure = nil
        pause = Self.shortestPause
        (self.facts, lastFacts) = (facts, facts)
        answerAll(.success(facts))
    }

    private func fail(_ error: ReplayCacheError) {
        handshakeTimer = nil
        facts = nil
        failure = (error, .now + pause)
        pause = min(pause * 2, Self.longestPause)
        answerAll(.failure(error))
    }

    private func answerAll(_ outcome: Result<RedisServerFacts, ReplayCacheError>) {
        let answers = waiting
        waiting = []
        for answer in answers { answer(outcome) }
    }
}

/// What is said first on a connection.
private struct RedisGreeting {
    private let configuration: RedisConfiguration
    private let login: [RedisCommand]

    init(_ configuration: RedisConfiguration) {
        self.configuration = configuration
        var login: [RedisCommand] = []
        if let password = configuration.password {
            login.append(["AUTH"] + (configuration.user.map { [$0] } ?? []) + [password])
        }
        if configuration.database != 0 { login.append(["SELECT", String(configuration.database)]) }
        self.login = login
    }

    var commands: [RedisCommand] { login + RedisServerFacts.greeting }

    func facts(
        _ replies: [RedisReply], askedAt: ContinuousClock.Instant, after last: RedisServerFacts?,
        of address: RedisAddress
    ) -> Result<RedisServerFacts, ReplayCacheError> {
        if configuration.password != nil, case .error(let error) = replies[0] {
            return .failure(error.loginFault(of: address))
        }
        for case .error(let error) in replies.prefix(login.count + 1) { return .failure(error.fault(of: address)) }
        guard
            let facts = RedisServerFacts(
                replies.dropFirst(login.count), askedAt: askedAt, after: last, configuration)
        else {
            return .failure(.unavailable("\(address) does not answer INFO as Redis does"))
        }
        if let problem = facts.problem { return .failure(.unavailable("\(address) \(problem)")) }
        return .success(facts)
    }
}
