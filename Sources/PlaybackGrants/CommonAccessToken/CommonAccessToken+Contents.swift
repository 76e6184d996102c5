internal import Basics

extension CommonAccessToken {
    package static let usualName: String? = name

    package static func contents(of grant: String) -> GrantContents? {
        guard grant.utf8.count <= sizeLimit,
            let bytes = try? Base64.decode(Array(grant.utf8)[...], alphabet: .urlSafe, padding: .forbidden),
            let message = try? COSEMac0(bytes), let value = try? CBORReader.value(of: message.payload),
            let labels = value.labels
        else { return nil }
        // Claims of RFC 8392 that are not understood here.
        let otherNames: [Int64: String] = [2: "sub", 3: "aud"]
        func seconds(_ label: Int64) -> Int64? { labels.first { $0.label == label }?.value.integer }
        let fields = labels.map { label, value in
            let isTime = [CATLabel.expires, CATLabel.notBefore, CATLabel.issuedAt].contains(label)
            let date = isTime ? value.integer?.secondsWithDate : nil
            return (name: CATLabel.names[label] ?? otherNames[label] ?? "claim \(label)", text: date ?? value.shown)
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
