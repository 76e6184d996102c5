internal import CommandShell
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

    /// The options of a command that decides about tokens.
    static let verdictGroup = OptionGroup(
        heading: group.heading,
        options: group.options + [CommandOption("status", nil, "Print nothing but one code for each token")])

    /// Whether only the codes are shown.
    let isStatus: Bool
    private let isQuiet: Bool
    let isJSON: Bool
    /// Whether the checks of a token are shown.
    var showsChecks: Bool { !isQuiet && !isStatus }

    /// JSON, whatever was asked for.
    static let json = OutputOptions()

    private init() { (isStatus, isQuiet, isJSON) = (false, false, true) }

    init(_ given: Arguments) throws(UsageError) {
        isStatus = given.has("status")
        isQuiet = given.has("quiet")
        isJSON = given.has("json")
        let forms = ["json", "quiet", "status"].filter(given.has)
        guard forms.count <= 1 else {
            throw UsageError("--\(forms[0]) and --\(forms[1]) are given; expected one of them")
        }
    }

    /// - Parameters:
    ///   - verdict: the code of the verdict; `nil` if the token was only inspected.
    ///   - showsFields: whether the list for people contains the token's fields. JSON always contains them.
    func show(_ examination: Examination, verdict: VerdictCode? = nil, showsFields: Bool = false) {
        guard showsChecks else { return }
        if isJSON {
            Console.print(JSONLine.encode(ExaminationDocument(examination, verdict: verdict)))
        } else {
            CheckList.print(examination, code: verdict?.rawValue ?? examination.code, showsFields: showsFields)
        }
    }
}
