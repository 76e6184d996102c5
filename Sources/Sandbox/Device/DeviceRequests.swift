package import MediaToken

/// A question of a device to Adobe Pass. A driver maps it to HTTP, and gives the answer back with its number.
package enum DeviceRequest: Sendable, Equatable {
    case configuration(RequestorID, endpoints: [String], credentials: DeviceCredentials?)
    /// Asks for an AuthN token of a programmer without the viewer, because another programmer has one of that MVPD.
    case passiveAuthentication(RequestorID, from: AuthenticationToken)
    /// Asks for the AuthN token of a login whose web view has reached the redirect URL.
    case exchange(url: String, RequestorID, MVPDID)
    /// Asks for the AuthN token of a login by the system's TV provider.
    case systemExchange(RequestorID, MVPDID)
    /// Asks for the code with which the viewer logs in with an MVPD on a second screen.
    case registrationCode(RequestorID, MVPDID)
    /// Asks whether the viewer has logged in on the second screen. The driver waits as long as it likes before it
    /// answers.
    case poll(code: String, RequestorID)
    case preauthorization([ResourceID], RequestorID, AuthenticationToken)
    case authorization(ResourceID, RequestorID, AuthenticationToken)
    case mediaToken(AuthorizationToken, AuthenticationToken)
    case logout(RequestorID, MVPDID?)

    /// Whether the request belongs to a login, and is abandoned with it.
    var isLogin: Bool {
        switch self {
        case .exchange, .systemExchange, .registrationCode, .poll: true
        default: false
        }
    }
}

/// The answer of Adobe Pass to a ``DeviceRequest``. An answer of a kind that its request does not expect counts as a
/// failure.
package enum DeviceAnswer: Sendable {
    case configuration(DeviceConfiguration)
    case authentication(AuthenticationToken)
    case registrationCode(String, url: String)
    /// The viewer has not yet logged in on the second screen.
    case pending
    case preauthorized([ResourceID])
    case authorization(AuthorizationToken)
    case mediaToken(String)
    case loggedOut
    case failure(DeviceFailure)

    /// The failure, or one that tells of an unexpected answer.
    var failure: DeviceFailure {
        if case .failure(let failure) = self { failure } else { DeviceFailure(.other, "an answer of another kind") }
    }

    /// The resources that may be played; none after a failure.
    var preauthorized: [ResourceID] { if case .preauthorized(let resources) = self { resources } else { [] } }
}

/// Why Adobe Pass does not give what a device asks for, or no answer came.
package struct DeviceFailure: Error, Sendable, Equatable {
    package let error: TokenError
    package let description: String

    package init(_ error: TokenError, _ description: String) { (self.error, self.description) = (error, description) }

    /// The failure that an error of Adobe Pass means, by its action: the viewer is to log in again, or is denied (403,
    /// and no action helps). What the viewer cannot repair is a failure of another kind.
    package init(status: Int, action: String?, code: String, _ description: String) {
        let error: TokenError =
            switch (action, status) {
            case ("authentication", _): .notAuthenticated
            case ("none", 403): .notAuthorized
            default: .other
            }
        self.init(error, "\(code): \(description)")
    }
}

/// What happens to a device, apart from its app's calls.
package enum DeviceEvent: Sendable {
    /// The answer to the request with this number. Answers to abandoned requests are ignored.
    case answered(Int, DeviceAnswer)
    /// The viewer has left the dialog that the app presented for the system's TV provider.
    case systemDialog(SystemChoice)
    /// The viewer has logged out in the system's settings.
    case systemLogout

    package enum SystemChoice: Sendable {
        /// The viewer has logged in with this MVPD.
        case provider(MVPDID)
        /// The viewer has asked for an MVPD that the system does not know.
        case other
        case closed
    }
}

/// One output of a device; its driver handles the outputs of a call or event in the order in which they are returned.
package enum DeviceOutput: Sendable, Equatable {
    case callback(DeviceCallback)
    case tracking(TrackingEvent)
    case request(Int, DeviceRequest)
}
