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

        private func app(_ number: Int) -> AppInstallation {
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

    static let pairs = [
        Pair(row: "different systems", systems: (iOS6.0, iOS7.0), outcome: .impossible),
        Pair(
            row: "iOS 6 or older, SDK from 1.9.4", systems: iOS6, sdks: (SDKVersion(1, 9, 3), SDKVersion(1, 9, 4)),
            outcome: .impossible),
        Pair(row: "tvOS", systems: tvOS, outcome: .separate),
        Pair(
            row: "iOS, storage before 1.7 and from 1.7", systems: iOS6, sdks: (SDKVersion(1, 6, 9), SDKVersion(1, 7)),
            outcome: .separate),
        Pair(
            row: "iOS 6 or older", systems: iOS6, teams: ("T", "U"), bundleIDs: otherPrefix, sdks: eight,
            outcome: .shared),
        Pair(
            row: "iOS 7 or later, other team", systems: iOS7, teams: ("T", "U"), sdks: eight,
            outcome: .separate),
        Pair(row: "iOS 7 or later, same team, same prefix", systems: iOS7, sdks: eight, outcome: .shared),
        Pair(
            row: "iOS 7 or later, same team, other prefix, storage before 1.7", bundleIDs: otherPrefix, sdks: early,
            outcome: .erased),
        Pair(
            row: "iOS 7 or later, same team, other prefix, SDK 1.7.5 to 1.8", bundleIDs: otherPrefix,
            sdks: (SDKVersion(1, 8), SDKVersion(1, 10)), outcome: .erased),
        Pair(
            row: "iOS 7 or later, same team, other prefix", bundleIDs: otherPrefix,
            sdks: (SDKVersion(1, 9), SDKVersion(1, 10)), outcome: .separate),
    ]

    /// Pairs at the limits of the versions.
    private static let limits = [
        limit("same team, other prefix, storage before 1.7", SDKVersion(1, 6, 99), .erased),
        limit("same team, other prefix", SDKVersion(1, 7), .separate),
        limit("same team, other prefix", SDKVersion(1, 7, 4), .separate),
        limit("same team, other prefix, SDK 1.7.5 to 1.8", SDKVersion(1, 7, 5), .erased),
        limit("same team, other prefix, SDK 1.7.5 to 1.8", SDKVersion(1, 8, 99), .erased),
    ]

    private static func limit(_ row: String, _ sdk: SDKVersion, _ outcome: SingleSignOn.Outcome) -> Pair {
        Pair(row: "iOS 7 or later, " + row, bundleIDs: otherPrefix, sdks: (sdk, sdk), outcome: outcome)
    }

    @Test("each row of the matrix decides for the apps that it is meant for", arguments: pairs + limits)
    func row(pair: Pair) throws {
        let row = try #require(SingleSignOn.matrix.first { $0.name == pair.row })
        #expect(pair.result == row.result)
        #expect(pair.reversed == row.result)
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

    /// Plays two apps on the storage and with the device IDs that a row says: the viewer switches between them, and
    /// logs in where it is necessary.
    @Test("two devices on the storage and device IDs of a row come to its outcome", arguments: pairs + limits)
    func played(pair: Pair) {
        let expected = pair.result
        guard expected.outcome != .impossible else { return }
        let id = expected.sharesDeviceID == true ? "device-1" : "device-2"
        let platform = pair.systems.0.platform
        var apps = [
            TestDevice(platform, id: "device-1", bundleID: pair.bundleIDs.0, sdk: pair.sdks.0),
            TestDevice(platform, id: id, bundleID: pair.bundleIDs.1, sdk: pair.sdks.1),
        ]
        var logins = 0
        for turn in 0..<6 {
            let current = turn % 2
            if turn > 0, expected.sharesStorage { apps[current].resume(after: apps[1 - current]) }
            apps[current].start(providers: [DeviceProvider(TestDevice.cable)])
            guard !Self.canPlay(&apps[current]) else { continue }
            Self.logIn(&apps[current])
            logins += 1
        }
        switch expected.outcome {
        case .shared: #expect(logins == 1)
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

    private static func logIn(_ device: inout TestDevice) {
        guard device.device.app.system.platform == .tvOS else {
            device.logIn()
            return
        }
        device.call(.getAuthentication)
        device.answer(.registrationCode("AB12CD3", url: "https://tv.example"))
        device.answer(.authentication(device.authentication()))
    }
}
