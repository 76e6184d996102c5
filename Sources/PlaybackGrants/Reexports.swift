// Code that imports PlaybackGrants also gets `Timestamp`.
@_exported public import Timestamps
