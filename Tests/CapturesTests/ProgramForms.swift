import Captures
import Foundation
import TestSupport
import Testing

/// A token as a program writes it that people look at files, logs and connections with.
struct ProgramForm: CustomTestStringConvertible {
    /// What a shell runs, with the token as its input.
    let command: String
    let layers: [String]
    var testDescription: String { command }

    init(_ command: String, _ layers: String...) {
        (self.command, self.layers) = (command, layers)
    }

    static let all = [
        ProgramForm("gzip", "gzip"),
        ProgramForm("base64 | gzip", "gzip", "Base64"),
        ProgramForm("(echo a line | gzip; gzip)", "gzip"),
        ProgramForm("gzip | base64", "Base64", "gzip"),
        ProgramForm("gzip | od -An -v -tx1 | tr -d ' \\n'", "hex", "gzip"),
        ProgramForm("(printf 'HTTP/1.1 200 OK\\r\\nContent-Encoding: gzip\\r\\n\\r\\n'; gzip)", "gzip"),
        ProgramForm("iconv -t UTF-16 | gzip", "gzip", "UTF-16"),
        ProgramForm("iconv -t UTF-16LE | base64", "Base64", "UTF-16"),
        ProgramForm(zip(deflated: true), "ZIP", "raw/1_c.txt"),
        ProgramForm(zip(deflated: false)),
        ProgramForm(
            "python3 -c 'import sys,zlib; sys.stdout.buffer.write(zlib.compress(sys.stdin.buffer.read()))'", "gzip"),
        // As `curl --trace-ascii` writes it.
        ProgramForm("fold -w 64 | awk '{printf \"%04x: %s\\n\", (NR-1)*64, $0}'", "line prefixes"),
        ProgramForm("base64 -w0 | fold -w 64 | awk '{printf \"%04x: %s\\n\", (NR-1)*64, $0}'", "line prefixes"),
        ProgramForm("fold -w 300 | sed 's/^/web_1  | /'", "line prefixes"),
        ProgramForm("base64 -w0 | fold -w 300 | sed 's/^/2026-11-26T04:33:00.1Z stdout P /; $s/P/F/'", "line prefixes"),
        ProgramForm("fold -w 400 | sed 's/^/2026-11-26T04:33:00.1Z stderr P /; 2,$s/ P / F /'", "line prefixes"),
        ProgramForm("fold -w 400 | nl", "line prefixes"),
        ProgramForm("fold -w 100 | sed 's/^/>> /'", "line prefixes"),
        ProgramForm(
            "(echo 09:12 I Gate: begin; fold -w 90 | sed 's/^/09:12 D Pass: /'; echo 09:13 I Gate: end)",
            "line prefixes"),
        // As the log of an app has it, while other apps write too.
        ProgramForm(
            "fold -w 200 | awk '{printf \"03-15 17:02:00.12%d  1234  1256 D OkHttp  : %s\\n\", NR, $0} "
                + "NR % 2 {print \"03-15 17:02:00.123  1234  1300 I chatty  : the same again\"}'",
            "interleaved lines", "line prefixes"),
        ProgramForm("fold -w 80 | sed 's/.*/  \"&\" +/'"),
        ProgramForm("base64 -w0 | fold -w 80 | sed \"s/.*/'&',/\"", "string literals"),
        ProgramForm("base64 | sed 's/$/\\\\/'", "Base64"),
        ProgramForm("(printf '?token='; base64 -w0 | tr + ' ')", "blanks for plus signs"),
        ProgramForm(chunked("cat"), "chunks"),
        ProgramForm(chunked("base64 -w0"), "chunks", "Base64"),
        ProgramForm("sed 's/</\\x1b[31m&/g; s/>/&\\x1b[0m\\x1b[K/g'", "formatting"),
        ProgramForm("sed 's/.\\{40\\}/&\\xe2\\x80\\x8b/g'", "formatting"),
        ProgramForm("sed 's/ /\\xc2\\xa0/g'", "formatting"),
        ProgramForm("sed 's/</%u003C/g; s/>/%u003E/g'", "percent-encoding"),
        ProgramForm("sed 's/</\\\\u{3c}/g; s/>/\\\\u{3E}/g'", "backslash escapes"),
        ProgramForm("base64 -w0 | fold -w 80 | tr '\\n' '\\r'", "line wraps", "Base64"),
        ProgramForm("sed 's/</\\&lt;/g; s/>/\\&gt;/g' | fold -w 76", "line wraps", "HTML escapes"),
    ]

    private static func zip(deflated: Bool) -> String {
        "python3 -c 'import sys,zipfile; zipfile.ZipFile(sys.stdout.buffer, \"w\", \(deflated ? 8 : 0))"
            + ".writestr(\"raw/1_c.txt\", sys.stdin.read())'"
    }

    /// An answer in chunks, the first of which has 200 bytes.
    private static func chunked(_ program: String) -> String {
        "text=$(\(program)); printf 'HTTP/1.1 200 OK\\r\\n\\r\\nc8\\r\\n%.200s\\r\\n2f0\\r\\n' \"$text\"; "
            + "printf %s \"$text\" | tail -c +201; printf '\\r\\n0\\r\\n\\r\\n'"
    }

    /// What the program writes.
    func capture() throws -> [UInt8] {
        let folder = try TemporaryDirectory()
        let token = try folder.write(Form.token, to: "token")
        let text = try Program("sh").succeed(["-c", "( \(command) ) < \(token) | base64 -w0"])
        return Array(try #require(Data(base64Encoded: text)))
    }
}
