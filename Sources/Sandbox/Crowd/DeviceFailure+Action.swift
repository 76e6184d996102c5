extension DeviceFailure {
    /// The failure that an error of REST v2 means, by its action: the viewer is to log in again, or is denied (403, and
    /// no action helps). What the viewer cannot repair is a failure of another kind.
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
