import EventLoops
import Glibc
import TestSupport
import Testing

@Suite("Event loop")
struct EventLoopTests {
    @Test("a write to a closed connection fails, and neither ends the process nor changes the thread's signals")
    func brokenPipe() throws {
        let loop = try EventLoop()
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        defer { close(ends[1]) }
        var (written, code) = (0, Int32(0))
        for runsPending in [false, true] {
            (written, code) = (0, 0)
            let timer = loop.timer(afterMilliseconds: runsPending ? 0 : 1) {
                written = write(ends[1], "x", 1)
                code = errno
            }
            if runsPending { loop.runPending() } else { loop.run { written != 0 } }
            withExtendedLifetime(timer) {}
            #expect(written == -1)
            #expect(code == EPIPE)
        }
        (written, code) = (0, 0)
        loop.run {
            written = write(ends[1], "x", 1)
            code = errno
        } until: {
            written != 0
        }
        #expect(written == -1 && code == EPIPE)
        var blocked = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &blocked)
        #expect(sigismember(&blocked, SIGPIPE) == 0)
        var pending = sigset_t()
        sigpending(&pending)
        #expect(sigismember(&pending, SIGPIPE) == 0)
    }

    @Test("a watch that is replaced within its own action, by one of a socket with the same number, is called")
    func replacedWithinAction() throws {
        let loop = try EventLoop()
        var (first, second) = ([Int32](repeating: -1, count: 2), [Int32](repeating: -1, count: 2))
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &first) == 0)
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &second) == 0)
        defer { for socket in first + second { close(socket) } }
        var (watch, wasCalled, isLate) = (SocketWatch?.none, false, false)
        let patience = loop.timer(afterMilliseconds: Int(Program.patience / .milliseconds(1))) { isLate = true }
        watch = SocketWatch(loop, first[0]) { _ in
            watch = nil
            // Closes the first socket, and gives its number to the second in the same moment.
            dup2(second[0], first[0])
            watch = SocketWatch(loop, first[0]) { _ in wasCalled = true }
            watch?.watchWriting(true)
        }
        watch?.watchWriting(true)
        loop.run { wasCalled || isLate }
        withExtendedLifetime(patience) {}
        #expect(wasCalled)
        watch = nil
    }
}
