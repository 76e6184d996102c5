import MediaToken
import Sandbox
import Testing

@Suite("single sign-on of two apps on one device")
struct SingleSignOnTests {
    /// A pair of apps for which a row of the matrix is meant.
    struct Pair: Sendable, CustomTestStringConvertible {
        let row: String
        var systems = (DeviceSystem(.iOS, 12), DeviceSystem(.iOS, 12))
        var teams = ("T", "T")
        var bundleIDs = ("com.example.one", "com.example.two")
        var sdks = (SDKVersion.latest, SDKVersion.latest)
        let outcome: SingleSignOn.Outcome

        var testDescription: String { row }

        var result: SingleSignOn { .between(app(0), and: app(1)) }
        var reversed: SingleSignOn { .between(app(1), and: app(0)) }

        func app(_ number: Int) -> AppInstallation {
            number == 0
                ? AppInstallation(on: systems.0, team: teams.0, bundleID: bundleIDs.0, sdk: sdks.0)
                : AppInstallation(on: systems.1, team: teams.1, bundleID: bundleIDs.1, sdk: sdks.1)
        }
    }

    private static let iOS6 = (DeviceSystem(.iOS, 6), DeviceSystem(.iOS, 6))
    private static let iOS7 = (DeviceSystem(.iOS, 7), DeviceSystem(.iOS, 7))
    private static let tvOS = (DeviceSystem(.tvOS, 12), DeviceSystem(.tvOS, 12))
    private static let otherPrefix = ("com.example.one", "org.example.one")
    private static let early = (SDKVersion(1, 6), SDKVersion(1, 6, 2))
    private static let eight = (SDKVersion(1, 8), SDKVersion(1, 8))
    private static let importing = (SDKVersion(1, 6, 9), SDKVersion(1, 7))

    static let pairs = [
        Pair(row: "different systems", systems: (iOS6.0, iOS7.0), outcome: .impossible),
        Pair(
            row: "iOS 6 or older, SDK from 1.9.4", systems: iOS6, sdks: (SDKVersion(1, 9, 3), SDKVersion(1, 9, 4)),
            outcome: .impossible),
        Pair(row: "tvOS", systems: tvOS, outcome: .separate),
        Pair(
            row: "iOS 7 or later, other team", systems: iOS7, teams: ("T", "U"), sdks: eight,
            outcome: .separate),
        Pair(
            row: "storage before 1.7 and from 1.7, same device ID", systems: iOS6, teams: ("T", "U"), sdks: importing,
            outcome: .imported),
        Pair(
            row: "storage before 1.7 and from 1.7, other device ID", bundleIDs: otherPrefix, sdks: importing,
            outcome: .separate),
        Pair(
            row: "iOS 6 or older", systems: iOS6, teams: ("T", "U"), bundleIDs: otherPrefix, sdks: eight,
            outcome: .shared),
        Pair(
            row: "iOS 7 or later, same team, same prefix or both SDK 1.7.5", systems: iOS7, sdks: eight,
            outcome: .shared),
        Pair(
            row: "iOS 7 or later, same team, other prefix, storage before 1.7", bundleIDs: otherPrefix, sdks: early,
            outcome: .erased),
        Pair(
            row: "iOS 7 or later, same team, other device ID, SDK 1.7.5 to 1.8", bundleIDs: otherPrefix,
            sdks: (SDKVersion(1, 8), SDKVersion(1, 10)), outcome: .erased),
        Pair(
            row: "iOS 7 or later, same team, other prefix", bundleIDs: otherPrefix,
            sdks: (SDKVersion(1, 9), SDKVersion(1, 10)), outcome: .separate),
    ]

    private static let (same, other) = ("same prefix or both SDK 1.7.5", "other device ID, SDK 1.7.5 to 1.8")
    private static let (idfa, eightLast) = (SDKVersion(1, 7, 5), SDKVersion(1, 8, 99))

    /// Pairs at the limits of the versions.
    private static let limits = [
        limit("other prefix, storage before 1.7", (SDKVersion(1, 6, 99), SDKVersion(1, 6, 99)), .erased),
        limit("other prefix", (SDKVersion(1, 7), SDKVersion(1, 7)), .separate),
        limit("other prefix", (SDKVersion(1, 7, 4), SDKVersion(1, 7, 4)), .separate),
        limit(same, (idfa, idfa), .shared),
        limit(other, (idfa, eightLast), .erased),
        limit(other, (eightLast, eightLast), .erased),
        Pair(
            row: "iOS 7 or later, same team, \(other)", sdks: (SDKVersion(1, 7, 5), SDKVersion(1, 9)), outcome: .erased),
        Pair(row: "storage before 1.7 and from 1.7, same device ID", sdks: importing, outcome: .imported),
    ]

    private static func limit(
        _ row: String, _ sdks: (SDKVersion, SDKVersion), _ outcome: SingleSignOn.Outcome
    ) -> Pair {
        Pair(row: "iOS 7 or later, same team, " + row, bundleIDs: otherPrefix, sdks: sdks, outcome: outcome)
    }

    @Test("each row of the matrix decides for the apps that it is meant for", arguments: pairs + limits)
    func row(pair: Pair) throws {
        let row = try #require(SingleSignOn.matrix.first { $0.name == pair.row })
        #expect(pair.result.reason == row.reason)
        #expect(pair.reversed == pair.result)
        #expect(pair.result.outcome == pair.outcome)
    }

    @Test(
        "an SDK's version is two or three numbers",
        arguments: [
            ("1.7", SDKVersion(1, 7)), ("1.7.5", SDKVersion(1, 7, 5)), ("1.10.0", SDKVersion(1, 10)), ("1", nil),
            ("", nil), ("1.7.", nil), ("1.+7", nil), ("1.-7", nil), ("1.7.5.2", nil), ("1.99999999999999999999", nil),
        ])
    func versions(text: String, version: SDKVersion?) {
        #expect(SDKVersion(text) == version)
        #expect(SDKVersion(1, 10) > SDKVersion(1, 9, 4))
    }

    @Test("each row of the matrix has such apps")
    func rows() {
        #expect(SingleSignOn.matrix.map(\.name) == Self.pairs.map(\.row))
    }

    @Test(
        "apps of a bundle-ID prefix: all but the last component, a single component whole",
        arguments: [
            ("com.example.one", "com.example.two", true), ("com.example", "com.other", true),
            ("com.example.one", "com.example.one.more", false), ("one", "one", true), ("one", "two", false),
            ("com.example.one", "com.Example.two", false),
        ])
    func prefixes(one: String, other: String, isShared: Bool) {
        let pair = Pair(row: "", bundleIDs: (one, other), outcome: .shared)
        #expect((pair.result.outcome == .shared) == isShared)
    }

    /// Plays two apps of one device, each on the storage and with the device ID that the rules give it: the viewer
    /// switches between them, and logs in where it is necessary.
    @Test("two apps that are played come to the outcome of their row", arguments: pairs + limits)
    func played(pair: Pair) {
        let expected = pair.result
        guard expected.outcome != .impossible else { return }
        var apps = [0, 1].map { number in
            let app = pair.app(number)
            return TestDevice(
                app.system.platform, id: app.deviceIdentifier.id(of: "phone"), bundleID: app.bundleID, sdk: app.sdk)
        }
        var logins = 0
        for turn in 0..<6 {
            let current = turn % 2
            if turn > 0, expected.sharesStorage { apps[current].resume(after: apps[1 - current]) }
            apps[current].start(providers: [DeviceProvider(TestDevice.cable)])
            guard !Self.canPlay(&apps[current]) else { continue }
            apps[current].logIn()
            logins += 1
        }
        switch expected.outcome {
        case .shared, .imported: #expect(logins == 1)
        case .separate: #expect(logins == 2)
        case .erased: #expect(logins > 2)
        case .impossible: break
        }
    }

    /// Whether the viewer is logged in, and the server accepts the login: it compares the device IDs.
    private static func canPlay(_ device: inout TestDevice) -> Bool {
        device.call(.getAuthorization(TestDevice.tnt))
        guard case .authorization(_, _, let login)? = device.request else { return false }
        guard login.deviceID != device.device.id else { return true }
        device.answer(.failure(DeviceFailure(.notAuthenticated, "another device's token")))
        return false
    }
}
