/// The claims that many tokens share, encoded once. Each token adds its own issue time, start, expiry and ID.
public struct CATTerms: Sendable {
    /// The shared claims with labels below and above those of the token's own claims, in the order of their labels.
    private let before, behind: CBORMapWriter

    /// Encodes the shared claims.
    ///
    /// - Parameter claims: The shared claims. Their `exp`, `nbf`, `iat` and `cti` are ignored.
    public init(_ claims: CATClaims) {
        var (before, behind) = (CBORMapWriter(), CBORMapWriter())
        before.add(CATLabel.issuer, claims.issuer)
        claims.writeRestrictions(to: &behind)
        (self.before, self.behind) = (before, behind)
    }

    /// The encoded claims of one token. A claim that is `nil` is omitted.
    func payload(expires: Int64?, notBefore: Int64?, issuedAt: Int64?, identifier: [UInt8]?) -> [UInt8] {
        CBORWriter.bytes { writer in
            writer.addMap { map in
                map.add(before)
                map.add(CATLabel.expires, expires)
                map.add(CATLabel.notBefore, notBefore)
                map.add(CATLabel.issuedAt, issuedAt)
                map.add(CATLabel.identifier, identifier)
                map.add(behind)
            }
        }
    }
}

extension CATClaims {
    /// The encoded claims, in the order of their labels.
    var payload: [UInt8] {
        CATTerms(self).payload(expires: expires, notBefore: notBefore, issuedAt: issuedAt, identifier: identifier)
    }

    fileprivate func writeRestrictions(to map: inout CBORMapWriter) {
        map.add(CATLabel.version, 1)
        if !scope.isEmpty { map.add(CATLabel.scope) { scope.write(to: &$0) } }
        if let methods {
            map.add(CATLabel.methods) { array in
                array.addArray(of: methods.count)
                for method in methods { array.add(method) }
            }
        }
        if let renewal { map.add(CATLabel.renewal) { renewal.write(to: &$0) } }
    }
}

extension CATScope {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.addMap { parts in
            for (part, text) in [(CATLabel.scheme, scheme), (CATLabel.host, host)] where text != nil {
                parts.add(part) { $0.addMap { $0.add(CATLabel.exactly, text) } }
            }
            guard path != nil || pathPrefix != nil else { return }
            parts.add(CATLabel.path) {
                $0.addMap { paths in
                    paths.add(CATLabel.exactly, path)
                    paths.add(CATLabel.prefix, pathPrefix)
                }
            }
        }
    }
}

extension CATRenewal {
    fileprivate func write(to writer: inout CBORWriter) {
        writer.addMap { parts in
            parts.add(CATLabel.kind, kind.rawValue)
            parts.add(CATLabel.seconds, seconds)
            parts.add(CATLabel.deadline, deadline)
        }
    }
}
