import Basics
import HTTP
import MediaToken
import Testing

@testable import MediaTokenGate

@Suite("Parts of a request")
struct RequestPartTests {
    private func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    @Test(
        "a bearer token is what stands behind the scheme, in whatever case that is, and behind no other",
        arguments: [
            ("Bearer a", "a"), ("bEARER\t  a b", "a b"), ("Bearer", ""), ("Basic a", nil), ("Digest a", nil),
            ("Bearer2 a", nil), ("Bear a", nil), ("", nil),
        ] as [(String, String?)])
    func bearer(value: String, token: String?) {
        #expect(HeaderValues.bearer(Array(value.utf8)[...]).map(text) == token)
    }

    @Test(
        "a cookie is found by its whole name, and quotes around its value are no part of it",
        arguments: [
            ("a=1", ["1"]), ("b=1; a=2;a=3", ["2", "3"]), ("a=\"1\"", ["1"]), ("a=\"", ["\""]), ("a=\"\"", [""]),
            ("a=1\"", ["1\""]), ("a=\"1", ["\"1"]), ("a= 1 ", ["1"]), (" a =1=2", ["1=2"]), ("a", []),
            ("aa=1; A=2", []),
        ])
    func cookies(header: String, values: [String]) {
        #expect(TokenSources.cookies(Array(header.utf8)[...], named: "a").map(text) == values)
    }

    @Test(
        "a form's names are decoded, its values as they are asked for, and what cannot be decoded shows",
        arguments: [
            ("a=b+c", ["b c"], true), ("%61=%2B&b=1", ["+"], true), ("a=1&&a=2&", ["1", "2"], true), ("a", [""], true),
            ("a=b=c", ["b=c"], true), ("+a=1&A=2", [], true), ("a=%", [nil], true), ("a=%FF", [nil], true),
            ("a=+", [" "], true), ("%=1&a=2", ["2"], false), ("%FF=1&a=2", ["2"], false), ("%2=1", [], false),
        ] as [(String, [String?], Bool)])
    func forms(text: String, values: [String?], isWhole: Bool) {
        let form = FormFields(Array(text.utf8)[...])
        #expect(form.decoded("a") == values && form.isWhole == isWhole && !form.isTooLong)
        #expect(FormFields(Array("+a=1&+=2".utf8)[...]).decoded(" a") == ["1"])
        #expect(FormFields(Array("+=2".utf8)[...]).decoded(" ") == ["2"])
        #expect(!FormFields([0xFF, 0x3D]).isWhole && !FormFields([0x80, 0x3D]).isWhole)
    }

    @Test("a form has 256 fields at most, and a message says so")
    func longForms() throws {
        let form = try FormFields.whole(Array(String(repeating: "a&", count: 256).utf8)[...], of: "query")
        #expect(form.encoded("a").count == 256)
        for (text, reason) in [(String(repeating: "a&", count: 257), "256 fields"), ("%=1", "UTF-8")] {
            let error = #expect(throws: RequestError.self) { try FormFields.whole(Array(text.utf8)[...], of: "query") }
            #expect(error?.detail.contains(reason) == true)
        }
    }

    @Test(
        "a place of a dialect is one of its four parts, with a name that can be there",
        arguments: [
            ("query:a b", true), ("header:X-A", true), ("header:a b", false), ("json:a.b;base64", true),
            ("json:a b", true),
            ("json:a..b", false), ("form:", false), ("form:a;b", false), ("cookie:a", false), ("a", false),
        ])
    func places(text: String, isPlace: Bool) {
        #expect((DialectField(text) != nil) == isPlace)
    }

    @Test(
        "places meet where one value could be read for both",
        arguments: [
            ("query:a", "query:a", true), ("query:a", "form:a", false), ("query:a", "query:A", false),
            ("header:a", "header:A", true), ("header:a", "query:a", false), ("json:a.b", "json:a", true),
            ("json:a.b", "json:a.c", false), ("json:a;base64", "json:a", true),
        ])
    func meeting(one: String, other: String, meets: Bool) throws {
        let (one, other) = (try #require(DialectField(one)), try #require(DialectField(other)))
        #expect(one.meets(other) == meets && other.meets(one) == meets)
    }

    @Test(
        "a media type is told by its name, in lower case, if its charset is UTF-8 or none",
        arguments: [
            ("text/plain", "text/plain"), ("Text/XML ; charset=UTF-8", "text/xml"), ("a/b; x=y", "a/b"),
            ("text/plain; charset=latin1", nil), ("text/plain; charset", nil), ("é/b", nil),
            ("a/" + String(repeating: "b", count: 254), "a/" + String(repeating: "b", count: 254)),
            ("a/" + String(repeating: "b", count: 255), nil),
        ] as [(String, String?)])
    func mediaTypes(value: String, type: String?) throws {
        let request = HTTPRequest(method: "POST", path: "/", headers: [("Content-Type", value)])
        #expect((try? VerifyRequestBody.mediaType(request)) == type)
    }

    @Test(
        "what the caller names narrows what its route is for, and is compared as the gate compares",
        arguments: [false, true])
    func narrowed(comparesCanonically: Bool) throws {
        let exchange = TokenExchange(routes: GateRoutes([]), comparesCanonically: comparesCanonically)
        let own: ResourceRule = comparesCanonically ? .canonically([ResourceID("TNT")]) : .exactly(ResourceID("TNT"))
        let other: ResourceRule = comparesCanonically ? .exactly(ResourceID("TNT")) : .canonically([ResourceID("TNT")])
        for rule in [own, other, .anyOf([ResourceID("TNT"), ResourceID("CNN")])] {
            let route = Expectation(requestors: [RequestorID("MML"), RequestorID("TBS")], resource: rule)
            let narrowed = try exchange.narrowed(route, toRequestor: "MML", resource: "TNT")
            #expect(narrowed.requestors == [RequestorID("MML")] && narrowed.resource.namesOnly(ResourceID("TNT")))
            #expect(narrowed.resource.comparison == own.comparison)
            let whole = try exchange.narrowed(route, toRequestor: nil, resource: nil)
            #expect(whole.requestors == route.requestors && whole.resource.comparison == rule.comparison)
            #expect(throws: RequestError.self) { try exchange.narrowed(route, toRequestor: "CNN", resource: nil) }
            #expect(throws: RequestError.self) { try exchange.narrowed(route, toRequestor: nil, resource: "TBS") }
        }
    }
}
