internal import MediaToken

/// One call or event of a device: the device and its storage, which change, and what the device gives back.
struct DeviceTurn {
    var device: Device
    var storage: DeviceStorage
    let now: Timestamp
    var outputs: [DeviceOutput] = []

    var configuration: DeviceConfiguration { device.configuration }
    var requestor: RequestorID { device.configuration.requestor }
    var app: AppInstallation { device.app }

    mutating func callback(_ callback: DeviceCallback) { outputs.append(.callback(callback)) }

    mutating func track(_ event: TrackingEvent) { outputs.append(.tracking(event)) }

    /// Sends a request, whose answer must come with its number.
    mutating func send(_ request: DeviceRequest) {
        device.requestCount += 1
        device.pending[device.requestCount] = request
        outputs.append(.request(device.requestCount, request))
    }

    mutating func answer(_ call: DeviceCall) {
        switch call {
        case .setRequestor(let requestor, let endpoints, let credentials):
            setRequestor(requestor, endpoints, credentials)
        case .setVisitorID(let visitor): device.visitorID = visitor
        case _ where !device.isReady: device.queue.append(call)
        case .checkAuthentication: checkAuthentication()
        case .getAuthentication: getAuthentication()
        case .setSelectedProvider(let mvpd): setSelectedProvider(mvpd)
        case .handleExternalURL(let url): handleExternalURL(url)
        case .checkPreauthorizedResources(let resources): preauthorize(resources)
        case .checkAuthorization(let resource), .getAuthorization(let resource): authorize(resource)
        case .getSelectedProvider: callback(.selectedProvider(selectedProvider))
        case .getMetadata(let key): callback(.setMetadataStatus(metadata(key), key))
        case .logout: logOut()
        }
    }

    mutating func answer(_ event: DeviceEvent) {
        switch event {
        case .systemDialog(let choice): leaveSystemDialog(choice)
        case .systemLogout: storage.systemProvider = nil
        case .answered(let number, let answer):
            if let request = device.pending.removeValue(forKey: number) { use(answer, to: request) }
        }
    }

    private mutating func use(_ answer: DeviceAnswer, to request: DeviceRequest) {
        switch request {
        case .configuration(let requestor, _, _): configure(requestor, answer)
        case .passiveAuthentication: finishSilentLogin(answer, isFromSystem: false)
        case .systemExchange where !device.isReady: finishSilentLogin(answer, isFromSystem: true)
        case .exchange, .systemExchange, .registrationCode, .poll: continueLogin(answer, to: request)
        case .preauthorization: callback(.preauthorizedResources(answer.preauthorized))
        case .authorization(let resource, _, let login): finishAuthorization(answer, resource, login)
        case .mediaToken(let token, let login): finishMediaToken(answer, token, login)
        case .logout: callback(.setAuthenticationStatus(false, .notAuthenticated))
        }
    }
}
