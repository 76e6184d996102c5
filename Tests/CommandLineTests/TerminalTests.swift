import Foundation
import TestSupport
import Testing

/// A program at a terminal of its own.
private struct Terminal {
    struct Outcome: Decodable {
        /// The exit status, or a signal's number with a minus sign.
        let status: Int
        let output: String
        /// Whether the terminal collects lines again after the program has ended.
        let collectsLines: Bool
        /// Whether the terminal collected lines while the program was stopped; `nil` if it was not.
        let collectedLines: Bool?

        var lines: [Substring] { output.split(separator: "\r\n") }
    }

    enum Step {
        case await(String)
        case type(String)
        /// Sends a signal to the program.
        case signal(Int32)
        /// Waits until the program is stopped, and lets it go on.
        case resume

        var json: [String] {
            switch self {
            case .await(let text): ["await", text]
            case .type(let text): ["type", text]
            case .signal(let number): ["signal", "\(number)"]
            case .resume: ["resume", ""]
            }
        }
    }

    /// - Parameter columns: the width of the terminal; 0 if it does not say.
    static func run(_ arguments: [String], columns: Int = 0, _ steps: [Step] = []) throws -> Outcome {
        let directory = try TemporaryDirectory()
        let script = try directory.write(Self.script, to: "terminal.py")
        let list = try JSONEncoder().encode(steps.map(\.json))
        let output = try Program("python3").succeed(
            [script, String(decoding: list, as: UTF8.self), "\(columns)", Program.mediaToken.executable] + arguments)
        return try JSONDecoder().decode(Outcome.self, from: Data(output.utf8))
    }

    private static let script = """
        import fcntl, json, os, pty, select, signal, struct, sys, termios, time
        steps, columns, command = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
        # This process leads the terminal's session, as a shell does: a program without such a parent cannot be stopped.
        leader = os.fork()
        if leader: sys.exit(os.waitstatus_to_exitcode(os.waitpid(leader, 0)[1]))
        os.setsid()
        for number in [signal.SIGTTOU, signal.SIGHUP]: signal.signal(number, signal.SIG_IGN)
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 24, columns, 0, 0))
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
        process = os.fork()
        if process == 0:
            os.setpgid(0, 0)
            os.tcsetpgrp(slave, os.getpid())
            for number in [signal.SIGTTOU, signal.SIGHUP]: signal.signal(number, signal.SIG_DFL)
            for descriptor in range(3): os.dup2(slave, descriptor)
            signal.pthread_sigmask(signal.SIG_SETMASK, [])
            os.execv(command[0], command)
        seen, place, end, stopped = b'', 0, time.monotonic() + 60, None
        def canonical(): return bool(termios.tcgetattr(slave)[3] & termios.ICANON)
        def read(seconds):
            global seen
            if time.monotonic() > end: os.kill(process, signal.SIGKILL); sys.exit('too slow: ' + repr(seen))
            if not select.select([master], [], [], seconds)[0]: return False
            seen += os.read(master, 65536)
            return True
        for step, text in steps:
            if step == 'await':
                while text.encode() not in seen[place:]: read(1)
                place = seen.index(text.encode(), place) + len(text.encode())
            elif step == 'type':
                rest = text.encode()
                while rest:
                    if select.select([], [master], [], 0)[1]: rest = rest[os.write(master, rest[:512]):]
                    read(0.001)
            elif step == 'signal': os.kill(process, int(text))
            else:
                while os.waitpid(process, os.WNOHANG | os.WUNTRACED)[0] == 0: read(0.01)
                stopped = canonical()
                os.kill(process, signal.SIGCONT)
                while canonical(): read(0.01)
        while True:
            done, status = os.waitpid(process, os.WNOHANG)
            if done: break
            read(0.01)
        while read(0.05): pass
        print(json.dumps({'status': os.waitstatus_to_exitcode(status), 'output': seen.decode(errors='replace'),
            'collectsLines': canonical(), 'collectedLines': stopped}))
        """
}

@Suite("media-token at a terminal")
struct TerminalTests {
    private static let prompt = Terminal.Step.await("paste the token, then Ctrl-D")
    private static let verify = [
        "verify", "--keys", Fixtures.keys, "--min-rsa-bits", "1024", "--requestor", "MML", "--resource", "TNT", "--at",
        "2016-03-17 15:02:00 -0700",
    ]
    private static let keys = Result { try KeysInFolder() }

    /// A key pair of `keys generate`.
    private struct KeysInFolder {
        let directory = Result { try TemporaryDirectory() }
        let path: String

        init() throws {
            path = try directory.get().path + "/dev"
            try Program.mediaToken.succeed(["keys", "generate", "--to", path])
        }
    }

    @Test("a pasted line may be longer than a terminal's own lines, with Ctrl-D right after it or a line later")
    func longLine() throws {
        let (path, resource) = (try Self.keys.get().path, String(repeating: "long ", count: 1200) + "x")
        let issued = try Program.mediaToken.succeed(
            ["issue", "--signing-key", "\(path)/development.key", "--requestor", "MML", "--resource", resource]
                + ["--format", "base64"])
        #expect(issued.utf8.count > 8000)
        let file = try Self.keys.get().directory.get().write(resource, to: "resource")
        for token in [issued, issued.trimmingCharacters(in: .newlines)] {
            let outcome = try Terminal.run(
                ["verify", "--key", "\(path)/development.pem", "--requestor", "MML", "--resource-file", file],
                [Self.prompt, .type(token), .type("\u{4}")])
            #expect(outcome.status == 0 && outcome.output.contains("VALID_TOKEN"), "\(outcome.output.suffix(600))")
            #expect(outcome.collectsLines)
        }
    }

    @Test("typing errors can be erased, and Ctrl-Z stops the program with the terminal as it was")
    func editing() throws {
        let token = try Fixtures.realToken().trimmingCharacters(in: .newlines)
        let halves = (String(token.prefix(400)), String(token.dropFirst(400)))
        let outcome = try Terminal.run(
            Self.verify,
            [
                Self.prompt, .type("wrong\u{15}"), .await("\u{15}\r\n"), .type(halves.0 + "é\u{7F}"),
                .await("\u{7F}\u{8} \u{8}"), .type("x\u{8}"), .await("\u{8} \u{8}"),
                // The terminal drops what the program has not read when it stops it.
                .type("\u{1A}"), .resume, .type(halves.1 + "\n\u{4}"),
            ])
        #expect(outcome.status == 0 && outcome.output.contains("VALID_TOKEN"), "\(outcome)")
        #expect(outcome.collectedLines == true && outcome.collectsLines)
    }

    @Test("the terminal is restored when a signal ends the program", arguments: [SIGINT, SIGTERM, SIGQUIT, SIGHUP])
    func signals(number: Int32) throws {
        for step in [Terminal.Step.signal(number)] + (number == SIGINT ? [.type("\u{3}")] : []) {
            let outcome = try Terminal.run(Self.verify, [Self.prompt, .type("abc"), .await("abc"), step])
            #expect(outcome.status == -Int(number) && outcome.collectsLines, "\(outcome)")
        }
    }

    @Test(
        "each command that reads from a terminal says so",
        arguments: [
            (["inspect"], "token"), (["inspect", "-"], "token"), (["grant", "check", "cat", "-"], "grant"),
        ])
    func prompts(command: [String], subject: String) throws {
        let outcome = try Terminal.run(command, [.await("paste the \(subject), then Ctrl-D"), .type("x\n\u{4}")])
        #expect(outcome.status == 1 && outcome.output.contains("✗"), "\(outcome)")
        #expect(try Program.mediaToken.run(command).errors.contains("paste") == false)
    }

    @Test("lines for people wrap between words, below the column of the details, at a terminal's width only")
    func wrap() throws {
        let arguments = Self.verify.dropLast(2) + ["--resource", "TBS", "@" + Fixtures.realTokenFile]
        let (wide, narrow) = (try Terminal.run(Array(arguments)), try Terminal.run(Array(arguments), columns: 60))
        func bare(_ line: Substring) -> String { String(line).replacing(/\u{1B}\[[0-9]*m/, with: "") }
        let lines = narrow.lines.map(bare)
        #expect(lines.allSatisfy { $0.count <= 60 }, "\(lines)")
        #expect(lines.contains { $0.hasPrefix(String(repeating: " ", count: 15)) })
        #expect(wide.lines.contains { bare($0).count > 80 })
        func words(_ lines: [Substring]) -> [Substring] { lines.flatMap { bare($0).split(separator: " ").map { $0 } } }
        // The time of the check, which it names, may be another in the second run.
        #expect(words(narrow.lines).count == words(wide.lines).count)
        let piped = try Program.mediaToken.run(Array(arguments), environment: ["COLUMNS": "60"])
        #expect(piped.output.split(separator: "\n").contains { $0.count > 80 })
        let json = try Terminal.run(arguments + ["--json"], columns: 60)
        #expect(json.lines.count == 1)
        // Too narrow for words beside the column.
        #expect(try Terminal.run(Array(arguments), columns: 20).lines.count == wide.lines.count)
    }
}
