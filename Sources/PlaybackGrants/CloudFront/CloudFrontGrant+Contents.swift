internal import TextEncodings

extension CloudFrontGrant {
    package static func contents(of grant: String) -> GrantContents? {
        let fields = QueryFields(grant)
        func field(_ name: String) -> String? { fields[name] ?? fields["CloudFront-" + name] }
        func decoded(_ name: String) -> [UInt8]? {
            field(name).flatMap { try? Base64.decode(Array($0.utf8)[...], alphabet: .cloudFront, padding: .required) }
        }
        // The shortest signature is one of ECDSA, in DER.
        guard let signature = field("Signature"), let bytes = decoded("Signature"), bytes.count >= 64,
            let pair = field("Key-Pair-Id"), !pair.isEmpty, pair.utf8.allSatisfy(\.isLetterOrDigit),
            digest(field("Hash-Algorithm")) != nil
        else { return nil }
        let rest =
            [(name: "Signature", text: signature), (name: "Key-Pair-Id", text: pair)]
            + (field("Hash-Algorithm").map { [(name: "Hash-Algorithm", text: $0)] } ?? [])
        if let policy = decoded("Policy") {
            guard let document = try? StrictJSON.readObject(policy[...]), document.members["Statement"] != nil else {
                return nil
            }
            let text = String(decoding: policy, as: UTF8.self)
            let known = CloudFrontPolicy(text)
            return GrantContents(
                "CloudFront signed URL or cookies, with a custom policy", [(name: "Policy", text: text)] + rest,
                begin: known?.begin, end: known?.end
            ) { question in conditions(of: text, question) }
        }
        guard field("Policy") == nil, let end = field("Expires").flatMap(\.plainNumber) else { return nil }
        return GrantContents(
            "CloudFront signed URL or cookies, with a canned policy",
            [(name: "Expires", text: end.secondsWithDate)] + rest, end: end
        ) { question in [question.end(end, isInclusive: false)] }
    }
}
