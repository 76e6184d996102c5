import Basics
import Testing

@Suite("Strict JSON")
struct StrictJSONTests {
    private func read(_ text: String) throws -> JSONValue {
        // In the middle of something, as in a request.
        let bytes = Array("{}\(text){}".utf8)
        return .object(try StrictJSON.readObject(bytes[2..<bytes.count - 2]).members)
    }

    private static func many(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }

    @Test(
        "what RFC 8259 allows is read",
        arguments: [
            ("{}", [:]), ("\u{FEFF}{}", [:]), (" \n\r\t{ \n\r\t} \n\r\t", [:]),
            (" { \"a\" : [ ] , \"b\" : [ 1 , 2 ] , \"c\" : { } } ", ["a": [], "b": [1, 2], "c": [:]]),
            (#"{"a":true,"b":false,"c":null}"#, ["a": .boolean(true), "b": .boolean(false), "c": .null]),
            (#"{"a":[0,-0,10,-1.50,2e3,2E-3,2e+3]}"#, ["a": [0, 0, 10, .number(-1.5), 2000, .number(0.002), 2000]]),
            ("{\"a\":\(many("9", 32))}", ["a": .number(1e32)]),
            (#"{"":" !","a\u0062":"\"\\\/\b\f\n\r\t !é"}"#, ["": " !", "ab": "\"\\/\u{8}\u{C}\n\r\t !é"]),
            (
                #"{"a":"\u0001\u00e9\uD7FF\ud800\udc00\uD83D\uDE00\uDBFF\uDFFF\uE000"}"#,
                ["a": "\u{1}é\u{D7FF}\u{10000}\u{1F600}\u{10FFFF}\u{E000}"]
            ),
            ("{\"a\":[\(many("0,", 253))0]}", ["a": .list(Array(repeating: 0, count: 254))]),
        ] as [(String, JSONValue)])
    func taken(text: String, value: JSONValue) throws {
        #expect(try read(text) == value)
    }

    @Test("for a file, a place is a line and a column of characters")
    func places() {
        let text = Array("{\n\"é\": 1,\n  x}".utf8)
        for (offset, place) in [(0, "1:1"), (1, "1:2"), (2, "2:1"), (6, "2:4"), (11, "3:1"), (13, "3:3")] {
            #expect(JSONError.malformed(offset: offset, expected: "y").reason(in: text) == "\(place): expected y")
        }
    }

    @Test("fifteen levels below the object are read, and sixteen are not")
    func depth() throws {
        func nested(_ count: Int) -> String { #"{"b":[],"a":\#(Self.many("[", count))\#(Self.many("]", count))}"# }
        #expect(throws: Never.self) { try read(nested(15)) }
        #expect(throws: JSONError.tooDeep) { try read(nested(16)) }
    }

    @Test(
        "anything else is refused at its place",
        arguments: [
            ("", 0, "an object"), ("x", 0, "an object"), ("{} x", 3, "the end"), ("{", 1, "a name in quotes"),
            ("{a\":1}", 1, "a name in quotes"), ("{\"a\":1,}", 7, "a name in quotes"), ("{\"a\"1}", 4, "':'"),
            ("{\"a\":}", 5, "a value"), ("{\"a\":tru}", 5, "a value"), ("{\"a\":+1}", 5, "a value"),
            ("{\"a\":1", 6, "',' or '}'"), ("{\"a\":1]", 6, "',' or '}'"), ("{\"a\":[1}", 7, "',' or ']'"),
            ("{\"a\":[1,]}", 8, "a value"), ("{\"a\":[1", 7, "',' or ']'"), ("{\"a\":01}", 6, "',' or '}'"),
            ("{\"a", 3, "the closing quote"), ("{\"a\":\"\\\"}", 9, "no control character in a string, and a quote"),
            ("{\"\n\":1}", 2, "no control character"), ("{\"a\n\":1}", 3, "no control character"),
            ("{\"a\u{1F}\":1}", 3, "no control character"),
            ("{\"\\x\":1}", 3, "an escape"), ("{\"\\u00g0\":1}", 6, "four hex digits"),
            ("{\"\\u0000\":1}", 8, "a valid Unicode escape before this"),
            ("{\"\\ud800\":1}", 8, "a valid Unicode escape"),
            ("{\"\\udbff\":1}", 8, "a valid Unicode escape"), ("{\"\\udc00\":1}", 8, "a valid Unicode escape"),
            ("{\"\\udc00\\udc00\":1}", 8, "a valid Unicode escape"), ("{\"\\ud800\\udbff\":1}", 14, "the other half"),
            ("{\"\\ud800\\ue000\":1}", 14, "the other half"),
            ("{\"\\ud800\\n\":1}", 8, "a valid Unicode escape"), ("{\"a\":-}", 6, "a digit"),
            ("{\"a\":1.}", 7, "a digit"),
            ("{\"a\":1.e1}", 7, "a digit"), ("{\"a\":1e}", 7, "a digit"), ("{\"a\":1e+-1}", 8, "a digit"),
            ("{\"a\":.1}", 5, "a value"), ("{\"a\":1e999}", 10, "a number before this"),
            ("{\"a\":\(many("9", 33))}", 38, "a number before this"),
        ] as [(String, Int, String)])
    func malformed(text: String, offset: Int, expected: String) throws {
        let error = #expect(throws: JSONError.self) { try read(text) }
        guard case .malformed(offset, let found) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(found.hasPrefix(expected))
    }

    @Test(
        "what two parsers might read differently is refused, and what costs too much",
        arguments: [
            (#"{"a":1,"\u0061":2}"#, .duplicate(name: "a", offset: 7)), ("[]", .notAnObject(found: "an array")),
            ("{\"a\":[\(many("0,", 254))0]}", .tooManyValues(limit: 256)),
        ] as [(String, JSONError)])
    func refused(text: String, refusal: JSONError) {
        #expect(throws: refusal) { try read(text) }
    }

    @Test("names and texts are told apart by every byte, also where Swift calls them equal")
    func names() throws {
        let object = try StrictJSON.readObject(Array(#"{"K":true,"\u212a":false}"#.utf8)[...])
        #expect(try object.requiredFlag("K"))
        #expect(try !object.requiredFlag("\u{212A}"))
    }

    @Test("a member of another type is refused by its place, and null is none")
    func members() throws {
        let text = #"{"a":{"b":"x","c":true},"d":[{"e":1},{}],"f":[{},1],"g":null}"#
        let object = try StrictJSON.readObject(Array(text.utf8)[...])
        let inner = try #require(try object.object("a"))
        #expect(try inner.text("b") == "x" && inner.flag("c") == true && inner.text("x") == nil)
        #expect(try object.objects("d")?.count == 2 && object.text("g") == nil && object.object("x") == nil)
        #expect(throws: JSONError.otherType(place: "a.b", expected: "true or false")) { try inner.flag("b") }
        #expect(throws: JSONError.otherType(place: "f", expected: "an array of objects")) { try object.objects("f") }
        #expect(throws: JSONError.missing(place: "a.x")) { try inner.requiredText("x") }
        #expect(throws: JSONError.otherType(place: "d[0].e", expected: "a string")) {
            try object.objects("d")?[0].text("e")
        }
    }

    @Test("a value is shown as a document with short lists on one line, and its names in order")
    func document() throws {
        let value: JSONValue = [
            "b": [1, .boolean(false), .null, .number(0.5)], "a": [:], "c": [["d": "\u{1}\u{F}\u{10}\n\"\\é"]],
            "e": [.text(Self.many("x", 77))], "f": [.text(Self.many("x", 78))],
        ]
        #expect(
            value.document == #"""
                {
                  "a": {},
                  "b": [1, false, null, 0.5],
                  "c": [
                    {
                      "d": "\u0001\u000f\u0010\n\"\\é"
                    }
                  ],
                  "e": ["\#(Self.many("x", 77))"],
                  "f": [
                    "\#(Self.many("x", 78))"
                  ]
                }
                """#)
    }

    @Test(
        "a value is written on one line that JSON readers take and no terminal obeys; members without a value are left out"
    )
    func written() throws {
        let value = JSONValue([
            "b": "é\u{9B}\u{202E}\"\\\n", "a": [1, 2], "none": nil as Int?, "inf": Double.infinity, "whole": 1e12,
            "half": 0.5,
            "map": ["y": true], "object": JSONValue(["x": Int64.max]),
        ])
        #expect(
            value.line
                == #"{"a":[1,2],"b":"é\u009b\u202e\"\\\n","half":0.5,"inf":null,"map":{"y":true},"object":{"x":9.223372036854776e+18},"whole":1000000000000}"#
        )
        #expect(throws: Never.self) { try StrictJSON.readObject(Array(value.line.utf8)[...]) }
        #expect(JSONValue(["a": 1, "b": 1]).with(JSONValue(["b": 2])).line == #"{"a":1,"b":2}"#)
    }
}
