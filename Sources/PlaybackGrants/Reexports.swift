@_exported public import Basics

// Code that imports PlaybackGrants also gets `Timestamp`.
