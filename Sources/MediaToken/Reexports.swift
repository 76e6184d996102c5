// A client that imports MediaToken alone gets the public types of its stages.
@_exported public import Basics
@_exported public import ClaimsStage
@_exported public import EnvelopeStage
@_exported public import PolicyStage
@_exported public import ReplayStage
@_exported public import SignatureStage
