/// One device, and what its apps have stored, each app in the place that its system and team give it.
package struct DeviceMemory: Sendable, Equatable {
    /// The name of the device, from which its IDs are made.
    package let name: String
    private(set) var places: [String: DeviceStorage]

    package init(name: String, places: [String: DeviceStorage] = [:]) { (self.name, self.places) = (name, places) }

    /// The storage of an app. The login in the system's settings is the same for all apps.
    package subscript(app: AppInstallation) -> DeviceStorage {
        get {
            // The upgrade from iOS 6 gives each team a copy of what all apps shared.
            let earlier = app.system.platform == .iOS ? places[AppInstallation.commonPlace] : nil
            return places[app.storagePlace] ?? earlier ?? unused
        }
        set {
            places[app.storagePlace] = newValue
            for place in places.keys { places[place]?.systemProvider = newValue.systemProvider }
        }
    }

    /// The storage of an app that has stored nothing.
    private var unused: DeviceStorage {
        var storage = DeviceStorage()
        storage.systemProvider = places.values.first?.systemProvider
        return storage
    }

    /// Upgrades the system of the device, which may erase what apps share.
    package mutating func upgradeSystem(from old: DeviceSystem, to new: DeviceSystem) {
        for place in places.keys { places[place]?.upgradeSystem(from: old, to: new) }
    }
}
