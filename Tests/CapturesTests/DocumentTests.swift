import Captures
import Testing

@Suite("What documents say of the tokens, errors and calls in them")
struct DocumentTests {
    @Test("An entry with thousands of cookies, and a long URL, is read to its end")
    func cookies() throws {
        let cookies = (0..<3000).map { #"{"name":"c\#($0)","value":"v"}"# }.joined(separator: ",")
        let url = "https://api.example/api/v2/MML/decisions/authorize/Cox?x=" + String(repeating: "x", count: 8000)
        let entry =
            #"{"request":{"cookies":[\#(cookies)],"headers":[{"name":"AP-Device-Identifier","value":"fingerprint D1"}],"#
            + #""postData":{"text":"{\"resources\":[\"TNT\"]}"},"method":"POST","url":"\#(url)"},"response":{"status":200}}"#
        let call = try #require(calls(in: Form.har(entry)).first)
        #expect(call.method == "POST" && call.status == 200)
        #expect(call.target?.hasPrefix("api.example/api/v2/MML/decisions/authorize/Cox") == true)
        let subjects: [Subject] = [.requestor, .resource, .mvpd, .device]
        #expect(subjects.map { call.stated[$0] } == ["MML", "TNT", "Cox", "D1"])
    }

    @Test("A form in the body of a request says what is asked for, and a text of another kind nothing")
    func forms() throws {
        func stated(_ body: String) throws -> [String?] {
            let request = #","postData":{"text":"\#(body.replacing("\"", with: "\\\""))"}"#
            let call = try #require(calls(in: Form.har(Form.entry(request: request, content: #""text":"""#))).first)
            return [Subject.requestor, .resource, .mvpd, .device].map { call.stated[$0] }
        }
        let form = "requestor%5Fid=MML&resource=A+%26%20B%2B&mso_id=Cox&device_id=D%3D1&token=\(Form.base64)"
        #expect(try stated(form) == ["MML", "A & B+", "Cox", "D=1"])
        #expect(try stated("mvpd=Cox") == [nil, nil, "Cox", nil])
        #expect(try stated(#"{"url":"https://a.example/?x=1&resource=TNT&mvpd=Cox"}"#) == [nil, nil, nil, nil])
        #expect(try stated(#"<a b="1&resource=TNT"/>"#) == [nil, nil, nil, nil])
    }

    @Test("What the URL of a request says comes before what its body says, and a broken escape stays as it is")
    func sources() throws {
        let url = "https://a.example/api/v2/MML/decisions/authorize/Cox?device_id=D%zz+1"
        let request = #","postData":{"text":"{\"requestor\":\"NBC\",\"mvpdId\":\"TempPass\",\"resourceId\":\"TNT\"}"}"#
        let har = Form.har(Form.entry(url: url, request: request, content: #""text":"""#))
        let call = try #require(calls(in: har).first)
        #expect(call.stated[.requestor] == "MML" && call.stated[.mvpd] == "Cox" && call.stated[.resource] == "TNT")
        #expect(call.stated[.device] == "D%zz+1")
        let several = har.replacing(#"\"resourceId\":\"TNT\""#, with: #"\"resources\":[\"TNT\",\"TBS\"]"#)
            .replacing("device_id", with: "resource_id")
        #expect(try #require(calls(in: several).first).stated[.resource] == nil)
    }

    @Test("An error without a code is one in an answer of Adobe Pass, or alone, and says each thing once")
    func plainErrors() throws {
        func errors(_ answer: String, url: String? = nil) -> [ServiceError] {
            let quoted = answer.replacing("\"", with: "\\\"")
            let har = url.map { Form.har(Form.entry(url: $0, content: #""text":"\#(quoted)""#)) }
            return findings(in: Array((har ?? answer).utf8)).compactMap(\.error)
        }
        let answer = #"{"status":403,"message":"User not authorized","details":"why"}"#
        for url in ["https://api.auth.adobe.com/api/v1/authorize", nil] {
            let found = errors(answer, url: url)
            #expect(found.map(\.code) == ["User not authorized"] && found.map(\.message) == ["why"])
        }
        #expect(errors(answer, url: "https://tv.example/play").isEmpty)
        for details in ["", "User not authorized"] {
            #expect(errors(answer.replacing("why", with: details)).map(\.message) == [nil])
        }
        for other in [
            answer.replacing("403", with: "200"), answer.replacing("details", with: "reason"),
            answer.replacing("}", with: #","url":"/x"}"#), #"{"a":\#(answer)}"#,
        ] { #expect(errors(other).isEmpty, "\(other)") }
        let xml = "<error><status>404</status><message>Not found</message></error>"
        #expect(errors(xml).map(\.code) == ["Not found"] && errors(xml).map(\.message) == [nil])
    }

    @Test("A HAR file is one below objects and arrays too, and each entry of several has a number of its own")
    func wrappedArchives() throws {
        let entry = Form.entry(content: #""text":"x""#)
        let har = Form.har(entry, entry)
        for (before, after) in [("", ""), (#"{"har":"#, "}"), ("[", "]"), (#"{"a":[0,{"b":"#, "}]}")] {
            let found = calls(in: before + har + after)
            #expect(found.map(\.number) == [1, 2] && found.allSatisfy { $0.target == "a.example/x" }, "\(before)")
        }
        #expect(calls(in: "[\(har),\(har)]").map(\.number) == [1, 2, 3, 4])
        #expect(calls(in: #"{"data":{"log":{"version":"1","entries":[\#(entry)],"comment":""}}}"#).count == 1)
    }

    @Test("What follows the entries of a HAR file belongs to none of them")
    func afterEntries() throws {
        let har = #"{"log":{"entries":[\#(Form.entry(content: #""text":"x""#))],"comment":"\#(Form.base64)"}}"#
        #expect(calls(in: har).map(\.findings.count) == [0])
        #expect(findings(in: Array(har.utf8)).map(\.isSent) == [nil])
    }

    @Test("Each of many errors is found, with the resource around it", arguments: [2000, 20_000])
    func manyErrors(_ count: Int) {
        let decisions = (0..<count).map {
            #"{"authorized":false,"error":{"status":403,"code":"denied","message":"no","trace":"t"},"resource":"R\#($0)"}"#
        }
        let answer = #"{"decisions":[\#(decisions.joined(separator: ","))],"status":403,"code":"last"}"#
        let quoted = answer.replacing("\"", with: "\\\"")
        for capture in [answer, Form.har(Form.entry(content: #""text":"\#(quoted)""#))] {
            let errors = findings(in: Array(capture.utf8), chunk: 1 << 20).compactMap(\.error)
            #expect(errors.count == count + 1 && errors.last?.code == "last")
            let isEach = errors.dropLast().map(\.resource) == (0..<count).map { "R\($0)" }
            #expect(isEach, "the resources of \(errors.count) errors")
        }
    }

    @Test("A token among many has what is said beside it, and not what its neighbours say")
    func manyTokens() {
        let decisions = (0..<3000).map { number in
            let token = number % 1000 == 999 ? Form.base64.replacing("W", with: "\(number / 1000)") : "none"
            return #"{"token":{"serializedToken":"\#(token)","notAfter":1},"resource":"R\#(number)","mvpd":"Cox"}"#
        }
        let found = findings(in: Array(#"{"decisions":[\#(decisions.joined(separator: ","))]}"#.utf8))
        #expect(found.map { $0.stated[.resource] } == ["R999", "R1999", "R2999"])
    }

    @Test(
        "A token is told of once for each line of a document",
        arguments: [
            (#"{"hits":{"hits":[{"_source":{"message":"T"}},¶{"_source":{"message":"T"}}]}}"#, 2),
            (#"{"events":[{"message":"a T"},¶{"message":"b T"},¶{"message":"c"}]}"#, 2),
            (#"{"message":"first T\nsecond T"}"#, 1), (#"{"message":"first T","token":"T"}"#, 1),
            (#"{"lines":["T","T"]}"#, 1), (#"{"a":[{"b":"T"}],¶"c":"T"}"#, 2),
        ])
    func repetitions(_ document: String, _ count: Int) {
        let text = document.replacing("T", with: Form.base64).replacing("¶", with: "\n")
        #expect(findings(in: Array(text.utf8)).count == count, "\(document)")
    }

    @Test("A request has a token once, however often its parts have it")
    func repetitionsInRequests() throws {
        func count(_ request: String, url: String = "https://a.example/x") throws -> Int {
            let har = Form.har(Form.entry(url: url, request: request, content: #""text":"{}""#))
            return try #require(calls(in: har).first).findings.count
        }
        let list = #","queryString":[{"name":"token","value":"\#(Form.base64)"}]"#
        #expect(try count(list, url: "https://a.example/?token=\(Form.base64)") == 1)
        let batch = #","postData":{"text":"[{\"token\":\"\#(Form.base64)\"},{\"token\":\"\#(Form.base64)\"}]"}"#
        #expect(try count(batch) == 1)
    }

    @Test("A message of a WebSocket belongs to its call, and nothing is put into its token")
    func webSockets() throws {
        let message = #""_webSocketMessages":[{"type":"send","data":"\#(Form.token)"}]"#
        let har = Form.har(Form.entry(content: #""text":"""#).dropLast() + "," + message + "}")
        let found = try #require(calls(in: har).first).findings
        try #require(found.count == 1)
        #expect(found[0].clearText == Array(Form.token.utf8))
        let elsewhere = har.replacing("_webSocketMessages", with: "_other")
        let other = findings(in: Array(elsewhere.utf8))
        #expect(other.isEmpty, "what tools add to an entry was sent by nobody")
    }

    @Test("A token in the words of an error is found, and not repeated in them", arguments: [Form.token, Form.base64])
    func tokenInError(_ token: String) {
        let xml = "<error><status>403</status><message>denied</message><details>no \(token)</details></error>"
        let found = findings(in: Array(xml.utf8))
        #expect(found.compactMap(\.error).map(\.code) == ["denied"] && found.count == 2, "\(found)")
        let json = #"{"status":403,"code":"denied","message":"no \#(token)","resource":"\#(token)"}"#
        let errors = (found + findings(in: Array(json.utf8))).compactMap(\.error)
        #expect(errors.count == 2)
        for error in errors {
            #expect(error.message?.hasPrefix("no ") == true && error.message?.utf8.count ?? 999 < 120)
            #expect(error.resource?.contains("signatureInfo") != true)
        }
    }

    @Test("A name may hold a dot or a bracket")
    func names() {
        for name in ["error.v1", "error[v1]", "a.b.c"] {
            let answer = #"{"resource":"TNT","\#(name)":{"action":"none","code":"denied"}}"#
            #expect(findings(in: Array(answer.utf8)).compactMap(\.error).map(\.resource) == ["TNT"], "\(name)")
        }
        #expect(findings(in: Array(#"{"a":{"action":"none"},"a.code":"denied"}"#.utf8)).isEmpty)
    }

    private func calls(in capture: String) -> [CapturedCall] {
        var calls: [CapturedCall] = []
        TokenFinder(expecting: Form.token).search(Array(capture.utf8)) { part in
            if case .call(let call) = part { calls.append(call) }
        }
        return calls
    }
}
