internal import Basics
internal import HTTP

extension TokenSources {
    /// What the log says of a request without a token: also where it has one in another place.
    func inWords(missingIn request: HTTPRequest, originalQuery: ArraySlice<UInt8>?) -> String {
        let parameters = originalQuery.map { Array(FormPairs($0).prefix(FormFields.pairLimit)) } ?? []
        let cookies = request.values(of: GateField.cookie).flatMap(HeaderValues.cookies)
        for (kind, pairs) in [("parameter", parameters), ("cookie", cookies), ("header", request.allFields)] {
            guard
                let pair = pairs.first(where: { pair in
                    TokenBeginning.isAt(startOf: HeaderValues.bearer(pair.value) ?? pair.value)
                })
            else { continue }
            let name = printable(String(decoding: pair.name, as: UTF8.self), limit: 40)
            return "the request has no token; the \(kind) \(name) contains one; the gate reads \(places)"
        }
        return "the request has no token"
    }

    /// The places in which a token is looked for, for a person.
    private var places: String {
        let places = [
            header.map { "the header \($0)" }, bearer ? "Authorization: Bearer" : nil,
            cookie.map { "the cookie \($0)" },
            parameter.map { "the parameter \($0)" },
        ].compactMap(\.self)
        return places.isEmpty ? "no place" : places.joined(separator: ", ")
    }
}
