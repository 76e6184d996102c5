internal import Basics
internal import CommandShell
internal import MediaToken
internal import MediaTokenGate
internal import Settings

/// The options for how a command shows what it found out about a token.
struct OutputOptions {
    static let table = SettingsTable<OutputOptions>.group(
        "Output",
        [
            .flag("json", "Print one JSON object per line for each token", \.isJSON),
            .flag("quiet", "Print nothing, and report by the exit status alone", \.isQuiet),
        ])

    /// The options of a command that decides about tokens.
    static let verdictTable = SettingsTable<OutputOptions>(
        table, .group("Output", [.flag("status", "Print nothing but one code for each token", \.isStatus)]))

    /// Whether only the codes are shown.
    private(set) var isStatus = false
    private var isQuiet = false
    private(set) var isJSON = false
    /// Whether the checks of a token are shown.
    var showsChecks: Bool { !isQuiet && !isStatus }

    /// JSON, whatever the options say.
    static let json = {
        var options = OutputOptions()
        options.isJSON = true
        return options
    }()

    func check(_ given: inout SettingsObject) { given.refuseSecond(of: ["json", "quiet", "status"]) }

    /// - Parameters:
    ///   - verdict: The code of the verdict; `nil` if the token was only inspected.
    ///   - showsFields: Whether the list for people contains the token's fields. JSON always contains them.
    func show(_ examination: Examination, verdict: VerdictCode? = nil, showsFields: Bool = false) {
        guard showsChecks else { return }
        if isJSON {
            Console.print(examination.document(verdict: verdict).line)
        } else {
            CheckList.print(examination, code: verdict?.rawValue ?? examination.code, showsFields: showsFields)
        }
    }
}
