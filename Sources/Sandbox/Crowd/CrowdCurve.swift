/// How the arrivals of a crowd spread over its time.
package enum CrowdCurve: String, CaseIterable, Sendable {
    /// The rate rises up to the kick-off, twice the mean after three fifths of the time, and then falls.
    case kickOff = "kick-off"
    /// The rate stays the same.
    case steady
    /// The rate rises from zero to twice the mean.
    case ramp

    private static let kickOffAt = 0.6

    /// The part of the time after which `part` of the crowd has arrived; both are from 0 to 1.
    package func time(whenArrived part: Double) -> Double {
        switch self {
        case .steady: part
        case .ramp: part.squareRoot()
        case .kickOff where part < Self.kickOffAt: (part * Self.kickOffAt).squareRoot()
        case .kickOff: 1 - ((1 - part) * (1 - Self.kickOffAt)).squareRoot()
        }
    }
}
