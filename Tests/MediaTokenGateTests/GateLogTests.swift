import Basics
import Foundation
import MediaToken
import TestSupport
import Testing
import TokenCrypto

@testable import MediaTokenGate

@Suite("Log and metrics of groups")
struct GateLogTests {
    private func group(_ codes: [String], microseconds: Int? = 5, requestor: String = "MML") -> AnswerRecords {
        AnswerRecords(
            time: Timestamp(milliseconds: 1_458_252_091_007), microseconds: microseconds,
            records: codes.map { AnswerRecord(code: AnswerCode($0), requestor: requestor) })
    }

    /// A group whose records are marked as the gate does when it sends their answers.
    private static func taken(_ group: AnswerRecords, by log: GateLog) -> AnswerRecords {
        let records = group.records.map { record in
            var record = record
            record.isLogged = log.takesNext(isAllowed: record.code.name.hasPrefix("S"))
            return record
        }
        return AnswerRecords(time: group.time, microseconds: group.microseconds, records: records)
    }

    /// The lines that a log writes for groups, before it is closed.
    private func lines(every: Int, refusedEvery: Int = 1, _ groups: [AnswerRecords]) throws -> [String] {
        let pipe = Pipe()
        let log = GateLog(
            to: pipe.fileHandleForWriting.fileDescriptor, allowedEvery: every, refusedEvery: refusedEvery)
        for group in groups { log.add(Self.taken(group, by: log)) }
        log.close(withinMilliseconds: 5000)
        try pipe.fileHandleForWriting.close()
        return String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            .split(separator: "\n").map(String.init)
    }

    @Test("a line says what is known of an answer, and when it was")
    func line() throws {
        var record = AnswerRecord(code: AnswerCode("TOKEN_EXPIRED", number: 4), requestor: "M\"L")
        (record.requestID, record.peer, record.isSent) = ("r1", "::1", false)
        (record.client, record.place, record.route) = ("2001:db8::1", .endpoint(.verify), "/live")
        record.grant = UsedGrant(token: nil, keyID: "2027-01", isRenewed: true)
        record.detail = "expired '\(String(repeating: "x", count: 40))'; \"now\""
        record.token = TokenID(SHA256Digest(words: (0x0123_4567_89AB_CDEF, 1, 2, 3)))
        let lines = try lines(
            every: 1,
            [AnswerRecords(time: Timestamp(milliseconds: 1_458_252_091_007), microseconds: 12, records: [record])])
        #expect(
            lines == [
                #"{"client":"2001:db8::1","code":"TOKEN_EXPIRED","detail":"expired 'xxxxxxxxxxxxxxxxxxxx…'; \"now\"","#
                    + #""endpoint":"/v1/verify","key":"2027-01","microseconds":12,"number":4,"peer":"::1","renewed":true,"requestId":"r1","#
                    + #""requestor":"M\"L","route":"/live","sent":false,"time":"2016-03-17T22:01:31.007Z","#
                    + #""token":"0123456789abcdef"}"#
            ])
    }

    @Test("one answer in so many is logged, counted through all groups", arguments: [1, 2, 3, 7])
    func every(every: Int) throws {
        let sizes = [1, 4, 2, 6, 1, 1, 13]
        let names = (0..<sizes.reduce(0, +)).map { "S\($0)" }
        var (groups, begin) = ([AnswerRecords](), 0)
        for size in sizes {
            groups.append(group(Array(names[begin..<(begin + size)])))
            begin += size
        }
        let logged = try lines(every: every, groups)
        #expect(logged.count == names.count / every)
        for (number, line) in logged.enumerated() { #expect(line.contains("\"S\((number + 1) * every - 1)\"")) }
    }

    @Test(
        "refusals are counted for themselves, so none is lost where most answers that allow are",
        arguments: [0, 3, 100])
    func refusals(every: Int) throws {
        let codes = (0..<30).map { $0 % 3 == 0 ? "R\($0)" : "S\($0)" }
        let logged = try lines(every: every, [group(codes)])
        #expect(logged.filter { $0.contains("\"R") }.count == 10)
        #expect(logged.filter { $0.contains("\"S") }.count == (every == 0 ? 0 : 20 / every))
        #expect(try lines(every: 0, refusedEvery: 5, [group(codes)]).count == 2)
        #expect(try lines(every: 1, refusedEvery: 0, [group(codes)]).count == 20)
    }

    @Test("lines that do not fit, or come after the end, are counted as lost")
    func lost() throws {
        let pipe = Pipe()
        let log = GateLog(to: pipe.fileHandleForWriting.fileDescriptor, allowedEvery: 1, refusedEvery: 1)
        // Nobody reads the pipe, so that the writer waits when it is full.
        let large = group(Array(repeating: String(repeating: "x", count: 1000), count: 1000))
        for _ in 0..<20 { log.add(Self.taken(large, by: log)) }
        #expect(log.lostLines >= 10_000 && log.lostLines < 20_000)
        let reader = Thread { while !pipe.fileHandleForReading.availableData.isEmpty {} }
        reader.start()
        log.close(withinMilliseconds: 5000)
        let before = log.lostLines
        log.add(Self.taken(group(["LATE", "LATER"]), by: log))
        #expect(log.lostLines == before + 2)
        try pipe.fileHandleForWriting.close()
    }

    @Test("metrics count each answer under its code and requestor, and time only those that took some")
    func metrics() throws {
        let metrics = GateMetrics()
        metrics.count(group(["A", "A", "B", "A"]))
        metrics.count(group(["B"], microseconds: nil))
        for number in 0..<200 { metrics.count(group(["C"], requestor: "R\(number)")) }
        let text = metrics.families.map(\.text).joined()
        func value(_ sample: String) -> Int? {
            let line = text.split(separator: "\n").first { $0.hasPrefix(sample + " ") }
            return line.flatMap { Int($0.split(separator: " ")[1]) }
        }
        #expect(value(#"media_token_verdicts_total{code="A",requestor="MML",endpoint=""}"#) == 3)
        #expect(value(#"media_token_verdicts_total{code="B",requestor="MML",endpoint=""}"#) == 2)
        #expect(value(#"media_token_verdict_seconds_count{endpoint=""}"#) == 204)
        // The table of requestors has an end.
        #expect(value(#"media_token_verdicts_total{code="C",requestor="R0",endpoint=""}"#) == 1)
        #expect(value(#"media_token_verdicts_total{code="C",requestor="other",endpoint=""}"#) == 101)
    }

    @Test("metrics tell endpoints apart, also of neighbours with the same code")
    func endpoints() throws {
        let metrics = GateMetrics()
        let places = [GateDestination.endpoint(.play), .endpoint(.play), .endpoint(.verify)]
        let records = places.map { AnswerRecord(code: AnswerCode("A"), requestor: "MML", place: $0) }
        metrics.count(AnswerRecords(time: .now, microseconds: 100, records: records))
        let text = metrics.families.map(\.text).joined()
        for (endpoint, count) in [("/v1/play", 2), ("/v1/verify", 1)] {
            let labels = "code=\"A\",requestor=\"MML\",endpoint=\"\(endpoint)\""
            #expect(text.contains("media_token_verdicts_total{\(labels)} \(count)\n"))
            #expect(
                text.contains("media_token_verdict_seconds_bucket{endpoint=\"\(endpoint)\",le=\"0.0001\"} \(count)\n"))
        }
    }

    @Test("a reload of files does not hide that the configuration file could not be read; a signal reads all")
    func reloads() {
        let metrics = GateMetrics()
        func failed() -> [String] {
            let text = metrics.families.map(\.text).joined()
            return ["signal", "files"].filter {
                text.contains("media_token_config_last_reload_successful{cause=\"\($0)\"} 0\n")
            }
        }
        #expect(failed().isEmpty)
        metrics.recordReload(.signal, isSuccessful: false)
        metrics.recordReload(.files, isSuccessful: true)
        #expect(failed() == ["signal"])
        metrics.recordReload(.files, isSuccessful: false)
        #expect(failed() == ["signal", "files"])
        metrics.recordReload(.signal, isSuccessful: true)
        #expect(failed().isEmpty)
    }
}
