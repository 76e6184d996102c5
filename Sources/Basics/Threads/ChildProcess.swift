internal import Glibc

/// Starts programs.
package enum ChildProcess {
    /// Why a program could not be started.
    package struct StartError: Error {
        package let reason: String
    }

    /// Starts a program in a process group of its own, so that Ctrl-C does not reach it. Its standard input is empty,
    /// and it has no signal blocked, whatever the calling thread has.
    ///
    /// - Parameters:
    ///   - words: The program, by its path or by a name that is looked up in PATH, and its arguments.
    ///   - output: The descriptor that becomes its standard output.
    ///   - errors: The descriptor that becomes its standard error.
    /// - Returns: The ID of the process, which the caller must wait for.
    package static func start(
        _ words: [String], output: Int32, errors: Int32 = STDERR_FILENO
    ) throws(StartError) -> Int32 {
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK))
        var arguments = words.map { strdup($0) } + [nil]
        defer { arguments.forEach { free($0) } }
        var process: pid_t = 0
        let code = posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
        guard code == 0 else { throw StartError(reason: String(cString: strerror(code))) }
        return process
    }
}
