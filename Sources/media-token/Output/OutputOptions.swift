internal import MediaToken
internal import MediaTokenGate

/// The options for how a command shows what it found out about a token.
struct OutputOptions {
    static let group = OptionGroup(
        heading: "Output:",
        options: [
            CommandOption("json", nil, "Print one JSON object a line for each token"),
            CommandOption("quiet", nil, "Print nothing; the exit status tells"),
        ])

    let isQuiet: Bool
    private let isJSON: Bool

    init(_ given: Arguments) throws(UsageError) {
        isQuiet = given.has("quiet")
        isJSON = given.has("json")
        guard !(isQuiet && isJSON) else { throw UsageError("--json and --quiet are given; expected one of them") }
    }

    /// - Parameters:
    ///   - verdict: the code of the verdict; `nil` if the token was only inspected.
    ///   - showsFields: whether the list for people contains the token's fields. JSON always contains them.
    func show(_ examination: Examination, verdict: VerdictCode? = nil, showsFields: Bool = false) {
        if isQuiet { return }
        if isJSON {
            Console.print(JSONLine.encode(ExaminationDocument(examination, verdict: verdict)))
        } else {
            CheckList.print(examination, code: verdict?.rawValue ?? examination.code, showsFields: showsFields)
        }
    }
}
