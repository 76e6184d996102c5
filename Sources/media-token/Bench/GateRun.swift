internal import Basics
internal import CommandShell
internal import EventLoops
internal import HTTP
internal import LoadTest

/// Loads a gate, once or at one rate after the other, with everything that has to be ready before.
struct GateRun {
    private let invocation: BenchGateCommand.Invocation
    private let question: GateQuestion
    private let tokens: GateTokens?
    private let address: String
    private let metrics: GateProcessorTime?

    /// Looks the gate up, asks it a first question, and so waits until its store accepts new tokens.
    init(_ invocation: BenchGateCommand.Invocation) throws(CommandError) {
        self.invocation = invocation
        address = try HostAddress.look(up: invocation.load.address)
        metrics = try invocation.metrics.map { (url) throws(CommandError) in try GateProcessorTime(url) }
        let asked = invocation.asked.question
        tokens = asked.means == .nothing ? nil : try GateTokens(invocation.corpus)
        var settings = invocation.load
        settings.address = address
        question =
            if let tokens {
                try FirstAnswer(from: invocation.url, at: settings).prepare(asked, tokens)
            } else { asked }
    }

    var noAnswer: CommandError { CommandError("\(invocation.url): no answer; is a gate listening there?") }

    /// Asks at `rate`, or flat out if it is `nil`.
    ///
    /// - Parameter signsAhead: Whether all tokens are signed before, so that signing takes no processor from a gate on
    ///   this machine.
    func load(at rate: Double?, signsAhead: Bool = false) throws(CommandError) -> GateMeasurement {
        var settings = invocation.load
        (settings.address, settings.rate) = (address, rate)
        let plan = invocation.corpus.plan(rate: rate, seconds: settings.seconds, signsAhead: signsAhead)
        let queue = question.means == .token ? try tokens?.queue(plan) : nil
        defer { queue?.close() }
        let load: GateLoad
        do { load = try GateLoad(question, queue, settings) } catch {
            throw CommandError.noDescriptors
        }
        Interruption.note()
        var progress = ProgressBar(rate.map { "asking \(Figure.count($0)) a second" } ?? "asking", total: 100)
        let before = try metrics?.seconds()
        let figures = load.run(
            isCancelled: { Interruption.isRequested }, progress: { progress.update(Int($0 * 100)) })
        // A gate that ended, or was started again, has no processor time of this load.
        let after = figures.answers > 0 ? try metrics?.seconds() : nil
        let used = after.flatMap { after in before.flatMap { after > $0 ? after - $0 : nil } }
        return GateMeasurement(
            figures: figures, invocation: invocation, rate: rate, tokens: queue, gateProcessorSeconds: used)
    }
}

/// The processor time of a gate, from its metrics.
struct GateProcessorTime {
    private static let metric = "process_cpu_seconds_total"

    private let client: HTTPClient
    private let url: String
    private let path: String

    /// - Parameter url: The URL of the metrics, such as `http://127.0.0.1:8081/metrics`.
    init(_ url: ServerURL) throws(CommandError) {
        self.url = "http://\(url.host):\(url.port)\(url.path)"
        path = url.path.count < 2 ? "/metrics" : url.path
        do {
            client = HTTPClient(
                try EventLoop(), address: try HostAddress.look(up: url.host), port: url.port, bodyLimit: 1 << 20)
        } catch let error as CommandError { throw error } catch {
            throw CommandError.noDescriptors
        }
    }

    /// The processor time that the gate has used since its start, in seconds.
    func seconds() throws(CommandError) -> Double {
        guard let answer = client.ask(path), answer.status == 200 else {
            throw CommandError(
                "\(url): no metrics; expected the gate's --admin address, as in http://127.0.0.1:8081/metrics")
        }
        let line = String(decoding: answer.body, as: UTF8.self).split(separator: "\n")
            .first { $0.hasPrefix(Self.metric + " ") }
        let value = line?.split(separator: " ").last.flatMap { Double($0) }
        guard let value, (0..<1e12).contains(value) else {
            throw CommandError("\(url): no \(Self.metric) in it; expected the metrics of a gate")
        }
        return value
    }
}
