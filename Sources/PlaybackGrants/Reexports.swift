// A client that imports PlaybackGrants gets `Timestamp` with it.
@_exported public import Timestamps
