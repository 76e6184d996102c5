// A client that imports MediaToken gets `Timestamp` with it.
@_exported public import Timestamps
