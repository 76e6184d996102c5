internal import Basics
internal import EventLoops
internal import HTTP
internal import MediaToken
package import Settings

/// Reads the gate's settings, and collects all problems.
package struct GateSettingsReader {
    package var problems: [SettingProblem] { object.problems }
    /// What the operator should know of settings that were read all the same.
    package var notices: [SettingProblem] { object.notices }
    /// The settings, as far as they have no problems.
    package private(set) var settings = GateSettings()
    private var object: SettingsObject

    /// - Parameter given: The settings, of which none has been taken.
    package init(_ given: SettingsObject) {
        object = given
        GateSettings.table.read(&object, into: &settings)
        settings.configured = given.untaken
        checkAllowLists()
        checkAddresses()
        checkTLS()
        settings.checkTTL(&object)
        checkUnfinishedBytes()
    }

    /// Which keys, clients and grants there are to be, and what the gate only reports on: each setting as it was read
    /// or, if it has a problem, as `earlier` has it.
    package func named(or earlier: GateSettings) -> GateSettings {
        var named = earlier
        func isRead(_ name: String) -> Bool { !problems.contains { $0.setting.hasPrefix(name) } }
        if isRead("keys") { named.keys = settings.keys }
        if isRead("min-rsa-bits") { named.minimumRSABits = settings.minimumRSABits }
        if isRead("password-file") { named.passwordFile = settings.passwordFile }
        if isRead("tls-") { named.tls = settings.tls }
        if isRead("routes") { named.routes = settings.routes }
        if isRead("report-only") {
            (named.reportsOnly, named.reportsWithGrants) = (settings.reportsOnly, settings.reportsWithGrants)
        }
        return named
    }

    /// Refuses allow lists for what is no requestor's ID, and notices those of requestors that no route names: with a
    /// name that is misspelt, the list restricts nobody.
    private mutating func checkAllowLists() {
        let known = settings.requestorsOfRoutes
        for requestor in settings.mvpds.keys.sorted(by: { $0.text < $1.text }) {
            let text = requestor.text
            if text.isEmpty || text.first?.isWhitespace == true || text.last?.isWhitespace == true {
                object.refuse("mvpd", "names '\(requestor)'; expected the ID of a requestor, without blanks around it")
            } else if !known.isEmpty, !known.contains(requestor) {
                let nearest = Spelling.nearest(to: text, among: known.map(\.text).sorted())
                let hint = nearest.map { "; did you mean \(printable($0))?" } ?? ""
                object.notice("mvpd", "restricts '\(requestor)', which no route names" + hint)
            }
        }
    }

    private mutating func checkAddresses() {
        var places: [HTTPListener.Socket] = []
        for (name, listeners) in [("listen", settings.listen), ("admin", settings.admin)] {
            for listener in listeners where !listener.socket.isAnyPort {
                if places.contains(listener.socket) {
                    object.refuse(name, "has \(listener), which is in use by another listener; expected two addresses")
                }
                places.append(listener.socket)
            }
        }
    }

    private mutating func checkTLS() {
        let files = settings.tlsFiles
        if let names = files.names { checkClientNames(names, isAuthorityGiven: files.authorities != nil) }
        let isUsed = (settings.listen + settings.admin).contains(where: \.isTLS)
        switch (files.certificate, files.key) {
        case (let certificate?, let key?):
            settings.tls = TLSServer.Files(certificate: certificate, key: key, clientAuthorities: files.authorities)
            settings.tls?.clientNames = files.names ?? []
            // Without this check, an operator who configures TLS or client certificates could get neither.
            if !isUsed {
                object.refuse("tls-certificate", "is given, and no listener speaks TLS; expected tls:IP:PORT")
            }
        case (nil, nil):
            if files.authorities != nil {
                object.refuse("tls-client-ca", "is given without tls-certificate and tls-key")
            }
            if isUsed {
                object.refuse("tls-certificate", "is missing; expected one, and tls-key, where a listener speaks TLS")
            }
        case (nil, _): object.refuse("tls-certificate", "is missing; expected one for tls-key")
        case (_, nil): object.refuse("tls-key", "is missing; expected the private key of tls-certificate")
        }
    }

    private mutating func checkClientNames(_ names: [String], isAuthorityGiven: Bool) {
        if !isAuthorityGiven { object.refuse("tls-client-name", "is given without tls-client-ca") }
        if names.isEmpty, object.wasRead("tls-client-name") {
            object.refuse("tls-client-name", "names no client; expected at least one")
        }
    }

    private mutating func checkUnfinishedBytes() {
        let limits = settings.limits
        let least = limits.leastUnfinishedBytes(of: settings.workers)
        guard object.wasRead("max-unfinished-bytes"), limits.unfinishedBytes < least else { return }
        object.refuse(
            "max-unfinished-bytes",
            "is \(limits.unfinishedBytes); expected at least \(least), which is four times the longest request (max-header-bytes and "
                + "max-body-bytes) for each of \(settings.workers) workers")
    }
}

extension GateSettings {
    /// Refuses a default TTL that the longest one would cut.
    package func checkTTL(_ object: inout SettingsObject) {
        guard object.wasRead("default-ttl"), defaultTTL > maximumTTL else { return }
        object.refuse(
            "default-ttl",
            "is \(defaultTTL.components.seconds); expected at most max-ttl, \(maximumTTL.components.seconds)")
    }
}

extension HTTPListener.Socket {
    /// Whether the system chooses the port, so that two listeners do not meet.
    fileprivate var isAnyPort: Bool {
        if case .tcp(_, 0) = self { true } else { false }
    }
}
