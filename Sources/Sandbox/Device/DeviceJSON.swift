package import Basics
internal import MediaToken

/// What a device gets and stores, as JSON: in the answers of Adobe Pass, and in the file of a device. Each type reads
/// the object that its `json` is, and is `nil` for another one.
extension AuthenticationToken {
    package var json: JSONValue {
        JSONValue([
            "authnToken": text, "requestor": requestor.text, "mvpd": mvpd.text, "deviceID": deviceID,
            "expires": expiry.milliseconds, "userMeta": metadata,
        ])
    }

    init?(_ object: JSONObject) {
        guard let text = object.string("authnToken"), let requestor = object.string("requestor"),
            let mvpd = object.string("mvpd"), let device = object.string("deviceID"),
            let expiry = object.time("expires")
        else { return nil }
        var metadata: [String: String] = [:]
        for (name, value) in object.member("userMeta")?.members ?? [:] {
            if case .text(let text) = value { metadata[name.text] = text }
        }
        self.init(
            requestor: RequestorID(requestor), mvpd: MVPDID(mvpd), deviceID: device, expiry: expiry, text: text,
            metadata: metadata)
    }
}

extension AuthorizationToken {
    package var json: JSONValue {
        JSONValue([
            "authzToken": text, "requestor": requestor.text, "resource": resource.text, "mvpd": mvpd.text,
            "expires": expiry.milliseconds,
        ])
    }

    init?(_ object: JSONObject) {
        guard let text = object.string("authzToken"), let requestor = object.string("requestor"),
            let resource = object.string("resource"), let mvpd = object.string("mvpd"),
            let expiry = object.time("expires")
        else { return nil }
        self.init(
            requestor: RequestorID(requestor), resource: ResourceID(resource), mvpd: MVPDID(mvpd), expiry: expiry,
            text: text)
    }
}

extension DeviceProvider {
    package var json: JSONValue {
        let hasSystem = boarding != .none
        return JSONValue([
            "id": id.text, "displayName": displayName, "logoUrl": logoURL,
            "canAuthenticate": canAuthenticate ? nil : false,
            "authPerAggregator": authenticatesPerRequestor ? true : nil,
            "enablePlatformServices": hasSystem ? true : nil, "displayInPlatformPicker": hasSystem ? true : nil,
            "boardingStatus": hasSystem ? boarding.rawValue : nil,
        ])
    }

    init?(_ object: JSONObject) {
        guard let id = object.string("id") else { return nil }
        self.init(
            MVPDID(id), displayName: object.string("displayName"), logoURL: object.string("logoUrl"),
            canAuthenticate: object.is("canAuthenticate") ?? true,
            authenticatesPerRequestor: object.is("authPerAggregator") ?? false,
            boarding: object.string("boardingStatus").flatMap(Boarding.init) ?? .none)
    }
}

extension DeviceMemory {
    package var json: JSONValue {
        ["device": .text(name), "places": .object(places.reduce(into: [:]) { $0[JSONName($1.key)] = $1.value.json })]
    }

    package init?(_ object: JSONObject) {
        guard let name = object.string("device"), let places = object.members("places", DeviceStorage.init) else {
            return nil
        }
        self.init(name: name, places: places)
    }
}

extension DeviceStorage {
    fileprivate var json: JSONValue {
        let providers = cachedProviders.map { ($0.text, $1.json) }
        return JSONValue([
            "logins": logins.map(\.json), "providers": Dictionary(providers) { $1 },
            "systemProvider": systemProvider?.text,
        ])
    }

    fileprivate init?(_ object: JSONObject) {
        guard let logins = object.all("logins", StoredLogin.init),
            let providers = object.members("providers", CachedProvider.init)
        else { return nil }
        self.init(
            logins: logins,
            cachedProviders: providers.reduce(into: [:]) { $0[RequestorID($1.key)] = $1.value },
            systemProvider: object.string("systemProvider").map { MVPDID($0) })
    }
}

extension CachedProvider {
    fileprivate var json: JSONValue { JSONValue(["mvpd": mvpd.text, "isFromSystem": isFromSystem]) }

    fileprivate init?(_ object: JSONObject) {
        guard let mvpd = object.string("mvpd") else { return nil }
        self.init(MVPDID(mvpd), isFromSystem: object.is("isFromSystem") ?? false)
    }
}

extension StoredLogin {
    fileprivate var json: JSONValue {
        authentication.json.with(
            JSONValue([
                "shelf": shelf.rawValue, "bundleID": bundleID, "isFromSystem": isFromSystem,
                "authorizations": authorizations.map(\.json),
            ]))
    }

    fileprivate init?(_ object: JSONObject) {
        guard let token = AuthenticationToken(object), let shelf = object.string("shelf").flatMap(Shelf.init),
            let bundleID = object.string("bundleID"),
            let authorizations = object.all("authorizations", AuthorizationToken.init)
        else { return nil }
        self.init(
            token, on: shelf, of: bundleID, isFromSystem: object.is("isFromSystem") ?? false,
            authorizations: authorizations)
    }
}

/// Members of an object; `nil` if there is none of that name and type.
extension JSONObject {
    func string(_ name: String) -> String? { (try? text(name)) ?? nil }

    func `is`(_ name: String) -> Bool? { (try? flag(name)) ?? nil }

    func member(_ name: String) -> JSONObject? { (try? object(name)) ?? nil }

    /// The time in a member, which has milliseconds since 1970.
    func time(_ name: String) -> Timestamp? {
        guard case .number(let number)? = members[JSONName(name)] else { return nil }
        return Int64(exactly: number).map { Timestamp(milliseconds: $0) }
    }

    /// The values of an array of objects, if each can be read.
    func all<Value>(_ name: String, _ read: (JSONObject) -> Value?) -> [Value]? {
        let objects = (try? objects(name)) ?? nil
        let values = objects?.compactMap(read)
        return values?.count == objects?.count ? values : nil
    }

    /// The values of an object of objects, if each can be read.
    func members<Value>(_ name: String, _ read: (JSONObject) -> Value?) -> [String: Value]? {
        guard let object = member(name) else { return nil }
        var values: [String: Value] = [:]
        for key in object.members.keys {
            guard let value = object.member(key.text).flatMap(read) else { return nil }
            values[key.text] = value
        }
        return values
    }
}
