internal import TextEncodings

extension CommonAccessToken {
    package static let usualNames = [name, "cat"]

    package static func contents(of grant: String) -> GrantContents? {
        guard grant.utf8.count <= sizeLimit,
            let bytes = try? Base64.decode(Array(grant.utf8)[...], alphabet: .urlSafe, padding: .forbidden),
            let message = try? COSEMac0(bytes), let value = CBORReader.value(of: message.payload),
            let labels = value.labels
        else { return nil }
        func seconds(_ label: Int64) -> Int64? { labels.first { $0.label == label }?.value.integer }
        let fields = labels.map { label, value in
            let isTime = [CATLabel.expires, CATLabel.notBefore, CATLabel.issuedAt].contains(label)
            let date = isTime ? value.integer?.secondsWithDate : nil
            return (name: CATLabel.names[label] ?? "claim \(label)", text: date ?? value.shown)
        }
        return GrantContents(
            "Common Access Token (CTA-5007)",
            [(name: "kid", text: String(decoding: message.keyIdentifier, as: UTF8.self))] + fields,
            begin: seconds(CATLabel.notBefore), end: seconds(CATLabel.expires)
        ) { question in
            do throws(CATError) { return checks(of: try CATClaims(value), question) } catch {
                return [GrantCheck(.format, false, "\(error)")]
            }
        }
    }
}

extension CATLabel {
    fileprivate static let names = [
        issuer: "iss", 2: "sub", 3: "aud", expires: "exp", notBefore: "nbf", issuedAt: "iat", identifier: "cti",
        version: "catv", scope: "catu", methods: "catm", renewal: "catr",
    ]
}

extension CBORValue {
    /// The value for people, as in the diagnostic notation (RFC 8949, 8). A text has no quotation marks.
    fileprivate var shown: String {
        switch self {
        case .unsigned(let number): "\(number)"
        case .negative(let number): "-1 - \(number)"
        case .bytes(let bytes): "h'\(bytes.hexadecimal)'"
        case .text(let text): text
        case .array(let items): "[\(items.map(\.shown).joined(separator: ", "))]"
        case .map(let pairs): "{\(pairs.map { "\($0.key.shown): \($0.value.shown)" }.joined(separator: ", "))}"
        case .boolean(let flag): "\(flag)"
        case .number(let number): "\(number)"
        case .null: "null"
        }
    }
}
