internal import Basics
internal import StreamPaths
internal import TokenCrypto

extension SecureLink {
    /// Checks the query or cookies of a secure link as nginx would. nginx reads every number of seconds since 1970
    /// (`ngx_atotm`), also one in milliseconds.
    ///
    /// - Parameters:
    ///   - query: The parameters of the link as a query, or as cookies with `; ` between them.
    ///   - question: The request that the link is checked for. Its path is percent-encoded; nginx's `$uri` is that
    ///     path, decoded.
    public func check(_ query: String, _ question: GrantQuestion) throws(GrantError) -> [GrantCheck] {
        try demandURI()
        let fields = QueryFields(query)
        // nginx compares the names of `$arg_…` and `$cookie_…` without case, and reads the first of several.
        // Unreached: A field under a second spelling, in a check of the command line; its tests have it.
        if let doubt = fields.doubt(about: [names.digest, names.expires], in: question.url) {
            return [GrantCheck(.format, decided: nil, doubt)]
        }
        let (digest, text): (String, String)
        do throws(GrantError) {
            (digest, text) = (try fields.required(names.digest), try fields.required(names.expires))
        } catch {
            return [GrantCheck(.format, false, error.reason)]
        }
        guard let end = text.plainNumber else {
            let shown = printable(text, limit: 40)
            return [GrantCheck(.format, false, "has \(names.expires)=\(shown); expected seconds since 1970")]
        }
        return [
            GrantCheck(.format, true, "\(names.digest) and \(names.expires)"),
            try check(digest, end, question), question.end(end, isInclusive: true),
        ]
    }

    private func check(_ digest: String, _ end: Int64, _ question: GrantQuestion) throws(GrantError) -> GrantCheck {
        guard let uri = question.url.flatMap({ RequestedURL($0).decodedPath }) else { return question.unknownKey }
        var link = self
        link.ip = question.ip ?? ip
        let isSame = Array(try link.digest(uri: uri, end: end).utf8).isSame(inConstantTime: Array(digest.utf8))
        // Unreached: The address in a link, for the message; the tests of checks have it.
        let address = link.namesAddress ? link.ip.map { " and \(printable($0))" } ?? "" : ""
        return GrantCheck(
            .key, isSame,
            "MD5 of the expression for \(printable(uri))\(address)"
                + (isSame ? "" : " differs from the link's; compare expression and secret with nginx's secure_link_md5")
        )
    }
}

extension SecureLink {
    /// Makes a route's links, each for one URI.
    package func maker(for route: GrantTarget, _ values: GrantValues) throws(GrantError) -> RouteGrantMaker {
        try demandURI()
        // Unreached: Refuses a configured delivery when the gate starts; a secure link of the properties travels in the
        // query.
        guard route.delivery == .query else {
            throw GrantError("delivery", "is cookie; expected query, as a secure_link is for one URI")
        }
        return RouteGrantMaker(opensPrefix: false, subject: { (url) throws(GrantError) in url.path.uri }) {
            (url, period, _, _) throws(GrantError) in try grant(uri: url.path.uri, period)
        }
    }
}
