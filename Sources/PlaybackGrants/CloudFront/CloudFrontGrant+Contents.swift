internal import Basics

extension CloudFrontGrant {
    package static func contents(of grant: String) -> GrantContents? {
        // The shortest signature is one of ECDSA, in DER.
        guard let fields = try? CloudFrontFields(grant), !fields.pair.isEmpty,
            fields.pair.utf8.allSatisfy(\.isLetterOrDigit),
            let signature = try? Base64.decode(
                Array(fields.signature.utf8)[...], alphabet: .cloudFront, padding: .required), signature.count >= 64
        else { return nil }
        let rest =
            [(name: "Signature", text: fields.signature), (name: "Key-Pair-Id", text: fields.pair)]
            + (fields.algorithm.map { [(name: "Hash-Algorithm", text: $0)] } ?? [])
        let checks: @Sendable (GrantQuestion) -> [GrantCheck] = { question in
            let form = fields.form("", question)
            return (form.isPassed == true ? [] : [form]) + fields.conditions(question)
        }
        switch fields.limits {
        case .custom(let policy):
            let document = try? StrictJSON.readObject(Array(policy.utf8)[...])
            guard document?.members["Statement"] != nil else { return nil }
            let known = try? CloudFrontPolicy(policy)
            return GrantContents(
                "CloudFront signed URL or cookies, with a custom policy", [(name: "Policy", text: policy)] + rest,
                begin: known?.begin, end: known?.end, checks: checks)
        case .canned(let end):
            return GrantContents(
                "CloudFront signed URL or cookies, with a canned policy",
                [(name: "Expires", text: end.secondsWithDate)] + rest, end: end, checks: checks)
        }
    }
}
