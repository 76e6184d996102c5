import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Playback grants against the libraries of those who define them.
    @Suite("Playback grants and the vendors' libraries")
    struct GrantVendorTests {
        @Test("hundreds of grants are, byte for byte, those of Akamai's, Amazon's and a CWT library, and of nginx")
        func vendors() throws {
            let outcome = try Program(".build/python/bin/python").run(
                ["Tests/Grants/vendors", Program.mediaToken.executable])
            #expect(outcome.status == 0, "\(outcome.output.suffix(2000))\(outcome.errors.suffix(2000))")
            let kinds = outcome.output.split(separator: "\n").map { $0.prefix { $0 != ":" } }
            #expect(kinds == ["akamai", "cloudfront", "cat", "secure-link"], "\(outcome.output)")
        }
    }
}
