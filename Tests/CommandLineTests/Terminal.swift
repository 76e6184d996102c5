import Foundation
import TestSupport

/// A program at a terminal of its own.
struct Terminal {
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
    static func run(
        _ arguments: [String], of program: Program = .mediaToken, columns: Int = 0, _ steps: [Step] = []
    ) throws -> Outcome {
        let directory = try TemporaryDirectory()
        let script = try directory.write(Self.script, to: "terminal.py")
        let list = try JSONEncoder().encode(steps.map(\.json))
        let output = try Program("python3").succeed(
            [script, String(decoding: list, as: UTF8.self), "\(columns)", program.executable] + arguments)
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
            os.execvp(command[0], command)
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
