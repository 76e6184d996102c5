enum BenchGateCommand {
    static func run(_ arguments: [String]) -> ExitStatus { .success }
}
