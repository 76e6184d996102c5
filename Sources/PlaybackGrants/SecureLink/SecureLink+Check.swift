internal import TextEncodings
internal import TokenCrypto

extension SecureLink {
    /// Checks the query or cookies of a secure link as nginx would.
    ///
    /// - Parameters:
    ///   - query: The parameters of the link as a query, or as cookies.
    ///   - question: The request that the link is checked for. Its path is nginx's `$uri`.
    public func check(_ query: String, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck] {
        let fields = QueryFields(query)
        guard let digest = fields[names.digest], let end = fields[names.expires].flatMap(\.plainNumber)
        else {
            return [GrantCheck(.format, false, "expected \(names.digest)=…&\(names.expires)=…, each once")]
        }
        guard let uri = question.url.map({ RequestedURL($0).path }) else {
            return [
                GrantCheck(.format, true, "\(names.digest) and \(names.expires)"),
                GrantCheck(.key, nil, "unknown: give the path that it is for"), question.end(end, isInclusive: true),
            ]
        }
        var link = self
        link.ip = question.ip ?? ip
        guard let period = try? GrantPeriod(to: end) else { return [.impossible(end)] }
        let wanted = try link.grant(uri: uri, period).fields[0].value
        let isSame = Array(wanted.utf8).isSame(inConstantTime: Array(digest.utf8))
        return [
            GrantCheck(.format, true, "\(names.digest) and \(names.expires)"),
            GrantCheck(
                .key, isSame,
                "MD5 of the expression for \(printable(uri))"
                    + (isSame ? "" : " differs: another secret, expression, address or path")),
            question.end(end, isInclusive: true),
        ]
    }
}
