import Foundation
import Glibc
import TestSupport
import Testing
import TokenCrypto

extension EndToEnd {
    @Suite("Files of keys and secrets are watched")
    struct WatchTests {
        private let place = GateDestination()
        private var folder: String { place.directory.path }

        /// Makes a volume as Kubernetes does: files are links through the link `..data`, which is swapped as a whole.
        private func swap(_ version: String, _ files: [String: String]) throws {
            let volume = "\(folder)/keys"
            try FileManager.default.createDirectory(atPath: "\(volume)/..\(version)", withIntermediateDirectories: true)
            for (name, text) in files {
                try text.write(toFile: "\(volume)/..\(version)/\(name)", atomically: false, encoding: .utf8)
                symlink("..data/\(name)", "\(volume)/\(name)")
            }
            try point(version)
        }

        private func put(_ key: RSASigningKey, to file: String) throws {
            try key.publicKey.pemText().write(toFile: file, atomically: true, encoding: .utf8)
        }

        /// Makes a folder with the standard key in `a.pem`, and another one in `b.pem`.
        private func keyFolder() throws -> String {
            let keys = "\(folder)/keys"
            try FileManager.default.createDirectory(atPath: keys, withIntermediateDirectories: true)
            try put(TestKeys.standard, to: keys + "/a.pem")
            try put(TestKeys.stranger, to: keys + "/b.pem")
            return keys
        }

        /// A gate that has its keys from this place, and looks for others each second.
        private func watching(_ keys: String, _ more: [String] = []) throws -> GateProcess {
            try GateProcess(in: place, GateDestination.strict + ["--watch", "1", "--keys", keys] + more, keys: false)
        }

        /// Points the link to the folder of a version.
        private func point(_ version: String) throws {
            symlink("..\(version)", "\(folder)/keys/..next")
            rename("\(folder)/keys/..next", "\(folder)/keys/..data")
        }

        @Test(
            "a swapped folder of keys is loaded without a signal; a broken one changes nothing, and shows in the metrics"
        )
        func keys() throws {
            let other = try TestKeys.stranger.publicKey.pemText()
            let right = try TestKeys.standard.publicKey.pemText()
            try swap("1", ["adobe.pem": other])
            let gate = try watching("\(folder)/keys")
            let tokens = try place.tokens(4)
            #expect(try gate.verify(tokens[0]) == 401)
            try swap("2", ["adobe.pem": right])
            try gate.wait { try gate.logged().contains("reloaded: 1 key,") }
            #expect(try gate.logged().contains("changed: \(folder)/keys/adobe.pem\n"))
            #expect(try gate.verify(tokens[0]) == 200)
            func failed() throws -> Bool {
                try gate.admin("/metrics").contains("last_reload_successful{cause=\"files\"} 0\n")
            }
            #expect(try !failed())
            try swap("3", ["adobe.pem": "-----BEGIN PUBLIC KEY-----\n"])
            try gate.wait { try gate.logged().contains("reload failed, configuration unchanged: ") }
            #expect(try gate.verify(tokens[1]) == 200)
            #expect(try failed())
            // Contents that failed are not tried again at each look.
            usleep(3_200_000)
            #expect(try gate.logged().components(separatedBy: "reload failed").count == 2)
            // Taken back, the files are as they were loaded, and the failure is over.
            try point("2")
            try gate.wait { try !failed() }
            // Damaged beside a key that is right, the file is not left out without a word either.
            try swap("3a", ["adobe.pem": "damaged", "next.pem": other])
            try gate.wait {
                try gate.logged().contains("adobe.pem: ") && gate.logged().contains("it was loaded before")
            }
            #expect(try gate.verify(tokens[3]) == 200)
            #expect(try failed())
            // A second key beside the first.
            try swap("4", ["adobe.pem": right, "next.pem": other])
            try gate.wait { try gate.logged().contains("reloaded: 2 keys") }
            #expect(try !failed())
            #expect(try gate.verify(tokens[2]) == 200)
            gate.end()
        }

        @Test(
            "a key that is taken away is gone, also if a reload of the configuration file fails at that time; a pipe is refused"
        )
        func takenAway() throws {
            let keys = try keyFolder()
            let file = try place.directory.write(#"{"keys": ["\#(keys)"]}"#, to: "gate.json")
            let gate = try GateProcess(
                in: place, GateDestination.strict + ["--watch", "1", "--config", file], keys: false)
            let tokens = try place.tokens(2)
            try FileManager.default.removeItem(atPath: keys + "/a.pem")
            try #"{"keys": "#.write(toFile: file, atomically: true, encoding: .utf8)
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("reload failed, configuration unchanged: \(file)") }
            try gate.wait { try gate.logged().contains("reloaded: 1 key,") }
            #expect(try gate.verify(tokens[0]) == 401)
            mkfifo(keys + "/c.pem", 0o644)
            try put(TestKeys.standard, to: keys + "/a.pem")
            try gate.wait { try gate.logged().contains("c.pem: is not a regular file") }
            #expect(try gate.admin("/metrics").contains("media_token_keys_refused 1\n"))
            // The thread that takes signals does not wait for a writer of the pipe.
            gate.end()
        }

        @Test("what is taken away is gone although another file is broken, and without a key nothing is accepted")
        func withdrawn() throws {
            let keys = try keyFolder()
            let gate = try watching(keys)
            let tokens = try place.tokens(4)
            #expect(try gate.verify(tokens[0]) == 200)
            try "half".write(toFile: keys + "/b.pem", atomically: true, encoding: .utf8)
            try FileManager.default.removeItem(atPath: keys + "/a.pem")
            try gate.wait {
                try gate.logged().contains("withdrawn in spite of that: the key 'a.pem' of \(keys)/a.pem\n")
            }
            #expect(try gate.verify(tokens[1]) == 401)
            try FileManager.default.removeItem(atPath: keys + "/b.pem")
            try gate.wait { try gate.logged().contains("/b.pem; no key is left, and no token is accepted") }
            #expect(try gate.verify(tokens[2]) == 401)
            try put(TestKeys.standard, to: keys + "/a.pem")
            try gate.wait { try gate.logged().contains("reloaded: 1 key,") }
            #expect(try gate.verify(tokens[3]) == 200)
            gate.end()
        }

        @Test("a key that the settings no longer name is gone although they have a problem elsewhere")
        func withdrawnByName() throws {
            let keys = try keyFolder()
            let file = try place.directory.write(#"{"keys": ["\#(keys)"]}"#, to: "gate.json")
            let options = GateDestination.strict + ["--watch", "1", "--config", file]
            let gate = try GateProcess(in: place, options, keys: false)
            let tokens = try place.tokens(5)
            #expect(try gate.verify(tokens[0]) == 200)
            try #"{"keys": ["\#(keys)/b.pem"], "workers": 0}"#.write(toFile: file, atomically: true, encoding: .utf8)
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().contains("withdrawn in spite of that: the key 'a.pem'") }
            #expect(try gate.verify(tokens[1]) == 401)
            // It stays so when another file is loaded again, and when the settings cannot be read at all.
            for (count, text) in ["", "{"].enumerated() {
                if !text.isEmpty {
                    try text.write(toFile: file, atomically: true, encoding: .utf8)
                    gate.signal(SIGHUP)
                    try gate.wait { try gate.logged().components(separatedBy: "reload failed").count == 3 }
                }
                try put(TestKeys.stranger, to: keys + "/b.pem")
                try gate.wait { try gate.logged().components(separatedBy: "reloaded: ").count == 2 + count }
                #expect(try gate.verify(tokens[2 + count]) == 401)
            }
            try #"{"keys": ["\#(keys)"]}"#.write(toFile: file, atomically: true, encoding: .utf8)
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().components(separatedBy: "reloaded: ").count == 4 }
            #expect(try gate.verify(tokens[4]) == 200)
            gate.end()
        }

        @Test("a file that has become a pipe is not read, and holds up neither a reload nor the end")
        func pipe() throws {
            let key = try place.directory.write(try TestKeys.standard.publicKey.pemText(), to: "named.pem")
            let gate = try watching(key)
            unlink(key)
            mkfifo(key, 0o644)
            try gate.wait { try gate.logged().contains("keys: \(key): is not a regular file") }
            gate.signal(SIGHUP)
            try gate.wait { try gate.logged().components(separatedBy: "is not a regular file").count == 3 }
            #expect(try gate.verify(place.tokens(1)[0]) == 200)
            gate.end()
        }

        @Test("a configuration file that has become a pipe holds up neither a reload nor the end, nor --check")
        func configurationPipe() throws {
            let key = try place.directory.write(try TestKeys.standard.publicKey.pemText(), to: "named.pem")
            let file = try place.directory.write(#"{"keys": ["\#(key)"]}"#, to: "gate.json")
            let gate = try GateProcess(in: place, GateDestination.strict + ["--config", file], keys: false)
            unlink(file)
            mkfifo(file, 0o644)
            gate.signal(SIGHUP)
            try gate.wait {
                try gate.logged().contains("reload failed, configuration unchanged: \(file): is not a regular file")
            }
            #expect(try gate.verify(place.tokens(1)[0]) == 200)
            gate.end()
            let outcome = try Program.mediaToken.run(["serve", "--check", "--config", file])
            #expect(outcome.status == 64 && outcome.errors.contains("\(file): is not a regular file"))
            unlink(file)
            _ = try place.directory.write(#"{"keys": ["\#(key)"]}"#, to: "gate.json")
            // What a shell hands over is read at the start, and not again.
            let daemon = try Daemon(
                "bash",
                ["-c", #"exec "$@" --config <(cat "$0")"#, file, Program.mediaToken.executable, "serve"]
                    + GateDestination.strict + [
                        "--replays", "memory", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                    ],
                log: folder + "/handed")
            try daemon.wait { try daemon.printed().contains("administered on") }
            daemon.signal(SIGHUP)
            try daemon.wait { try daemon.printed().contains("reload failed, configuration unchanged: /dev/fd/") }
            #expect(try daemon.printed().contains(": is not a regular file"))
            daemon.end()
        }

        private static let noFiles: [@Sendable (String) -> Int32] = [
            { mkdir($0, 0o700) }, { symlink("a.pem", $0) }, { symlink("/dev/null", $0) },
        ]

        @Test(
            "a key whose file has become a directory, a loop of links or a link to /dev/null is dropped with a line",
            arguments: [true, false])
        func noFile(isNamed: Bool) throws {
            let keys = try keyFolder()
            let gate = try isNamed ? watching(keys + "/a.pem", ["--keys", keys + "/b.pem"]) : watching(keys)
            let tokens = try place.tokens(2 * Self.noFiles.count)
            for (index, place) in Self.noFiles.enumerated() {
                let earlier = try gate.logged().utf8.count
                remove(keys + "/a.pem")
                #expect(place(keys + "/a.pem") == 0)
                let lines =
                    index == 1
                    ? ["a.pem: cannot be opened: Too many levels", "withdrawn in spite of that: the key 'a.pem'"]
                    : isNamed && index == 0
                        ? ["warning: \(keys)/a.pem: is a directory without a key file", "reloaded: 1 key"]
                        : ["a.pem: is not a regular file", "withdrawn in spite of that: the key 'a.pem'"]
                try gate.wait {
                    let news = try String(decoding: gate.logged().utf8.dropFirst(earlier), as: UTF8.self)
                    return lines.allSatisfy { news.contains($0) }
                }
                #expect(try gate.verify(tokens[2 * index]) == 401)
                remove(keys + "/a.pem")
                try put(TestKeys.standard, to: keys + "/a.pem")
                try gate.wait { try gate.logged().components(separatedBy: "reloaded: 2 keys").count == index + 2 }
                #expect(try gate.verify(tokens[2 * index + 1]) == 200)
            }
            gate.end()
        }

        @Test("files that are read for long delay neither the loss of a key whose file is gone nor the end")
        func slow() throws {
            let keys = try keyFolder()
            let password = try place.directory.write("123456", to: "password")
            let gate = try watching(keys, ["--password-file", password])
            let token = try place.tokens(1)[0]
            let certificate = Fixtures.vectors.appending(path: "keystores/certificate.pem").path
            // Forty of them take libcrypto half a minute or more.
            try Program("openssl").succeed([
                "pkcs12", "-export", "-nokeys", "-in", certificate, "-passout", "pass:123456", "-iter", "2000000",
                "-out", folder + "/slow.p12",
            ])
            for number in 1...40 {
                try FileManager.default.copyItem(atPath: folder + "/slow.p12", toPath: "\(keys)/slow\(number).p12")
            }
            remove(keys + "/a.pem")
            try gate.wait {
                try gate.logged().contains("withdrawn while other files are read: the key 'a.pem' of \(keys)/a.pem\n")
            }
            #expect(try gate.verify(token) == 401)
            gate.end()
            #expect(try gate.logged().contains("the process is told to stop"))
            #expect(try !gate.logged().contains("reloaded: "))
        }

        @Test("a file that changes at each look keeps no key loaded that is gone")
        func restless() throws {
            let keys = try keyFolder()
            let gate = try watching(keys)
            let token = try place.tokens(1)[0]
            try FileManager.default.removeItem(atPath: keys + "/a.pem")
            try gate.wait {
                utimensat(AT_FDCWD, keys + "/b.pem", nil, 0)
                return try gate.logged().contains("reloaded: 1 key,")
            }
            #expect(try gate.verify(token) == 401)
            gate.end()
        }

        @Test("a gate whose messages nobody reads loads keys and stops all the same")
        func unread() throws {
            let keys = try keyFolder()
            mkfifo("\(folder)/messages", 0o600)
            // A reader that never reads. The pipe is full once the gate has started.
            let reader = open("\(folder)/messages", O_RDWR | O_NONBLOCK)
            defer { close(reader) }
            while write(reader, "full", 4) > 0 {}
            let (port, admin) = (try FreePort.take(1)[0], try FreePort.take(1)[0])
            let daemon = try Daemon(
                "sh",
                ["-c", #"exec "$@" 2>"$0""#, "\(folder)/messages", Program.mediaToken.executable, "serve"]
                    + ["--listen", "127.0.0.1:\(port)", "--admin", "127.0.0.1:\(admin)", "--replays", "memory"]
                    + GateDestination.strict + ["--watch", "1", "--keys", keys], log: "\(folder)/log")
            func metrics() throws -> String {
                try Program("curl").run(["-s", "http://127.0.0.1:\(admin)/metrics"]).output
            }
            try daemon.wait { try metrics().contains("key=\"b.pem\"") }
            try FileManager.default.removeItem(atPath: keys + "/b.pem")
            try daemon.wait { try !metrics().contains("key=\"b.pem\"") }
            daemon.end()
        }

        @Test("a file of keys that all users can write to is warned of when the watch loads it")
        func modes() throws {
            let keys = try keyFolder()
            unlink(keys + "/b.pem")
            let gate = try watching(keys)
            try put(TestKeys.stranger, to: keys + "/b.pem")
            chmod(keys + "/b.pem", 0o666)
            try gate.wait { try gate.logged().contains("warning: \(keys)/b.pem: has mode 666") }
        }

        @Test("a watch of 0 leaves files to SIGHUP")
        func waiting() throws {
            let key = "\(folder)/keys.pem"
            try put(TestKeys.standard, to: key)
            let watched = try watching(key)
            let waiting = try GateProcess(in: place, ["--watch", "0", "--keys", key], keys: false)
            try put(TestKeys.stranger, to: key)
            try watched.wait { try watched.logged().contains("reloaded: ") }
            #expect(try !waiting.logged().contains("reloaded: "))
            waiting.signal(SIGHUP)
            try waiting.wait { try waiting.logged().contains("reloaded: ") }
        }
    }
}
