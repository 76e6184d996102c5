internal import Basics

extension SecureLink {
    package static func contents(of grant: String) -> GrantContents? {
        let fields = QueryFields(grant)
        guard let digest = fields["md5"], let end = fields["expires"].flatMap(\.plainNumber),
            let bytes = try? Base64.decode(Array(digest.utf8)[...], alphabet: .urlSafe, padding: .forbidden),
            bytes.count == 16
        else { return nil }
        return GrantContents(
            "link for nginx's secure_link",
            [(name: "md5", text: digest), (name: "expires", text: end.secondsWithDate)], end: end
        ) { question in
            let doubt = fields.doubt(about: ["md5", "expires"], in: question.url)
            return [doubt.map { GrantCheck(.format, decided: nil, $0) }, question.end(end, isInclusive: true)]
                .compactMap(\.self)
        }
    }
}
