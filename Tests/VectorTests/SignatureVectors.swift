import Basics
import Foundation
import MediaTokenTesting
import TestSupport
import Testing
import TokenCrypto

/// Tokens whose signature is made by hand. What other verifiers have taken for a signature is described by its parts.
enum SignatureVectors {
    static func verify(_ vector: Vector) throws -> VectorOutcome {
        let payload = Array(Mint.payload().utf8)
        let signature: [UInt8]
        if let parts = vector.encodedMessage {
            signature = try OpenSSL.privateOperation(on: assemble(parts, over: payload))
        } else if let options = vector.openssl {
            signature = try OpenSSL.sign(payload, options)
        } else {
            signature = try assemble(#require(vector.signature), over: payload)
        }
        let token = Array("<signatureInfo>\(Base64.encode(signature))<signatureInfo>".utf8) + payload
        return try TokenVectors.verify(token, vector)
    }

    /// Joins the parts. One that ends in a star is repeated until the whole is as long as the modulus.
    private static func assemble(_ parts: [String], over payload: [UInt8]) throws -> [UInt8] {
        var (before, after, filler): ([UInt8], [UInt8], [UInt8]?) = ([], [], nil)
        for part in parts {
            if part.hasSuffix("*") {
                filler = [UInt8](hexadecimal: part)
            } else if filler == nil {
                before += try bytes(of: part, payload)
            } else {
                after += try bytes(of: part, payload)
            }
        }
        guard let filler else { return before + after }
        let length = TestKeys.standard.publicKey.signatureLength - before.count - after.count
        return before + (0..<length).map { filler[$0 % filler.count] } + after
    }

    private static func bytes(of part: String, _ payload: [UInt8]) throws -> [UInt8] {
        switch part {
        case "signature": return try TestKeys.standard.sign(payload)
        case "signature of another token":
            return try TestKeys.standard.sign(Array(Mint.payload { $0.mvpd = "Other" }.utf8))
        case "signature by another key": return try TestKeys.stranger.sign(payload)
        case "signature + modulus":
            return try BigEndian.sum(TestKeys.standard.sign(payload), OpenSSL.modulus())
        case "modulus - signature": return try BigEndian.difference(OpenSSL.modulus(), TestKeys.standard.sign(payload))
        case "modulus": return try OpenSSL.modulus()
        case "modulus - 1": return try BigEndian.difference(OpenSSL.modulus(), [1])
        case "sha256", "sha1", "sha384", "sha512", "md5": return try OpenSSL.digest(payload, part)
        default: return [UInt8](hexadecimal: part)
        }
    }
}
