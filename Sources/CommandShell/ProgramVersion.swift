/// The version that `--version`, the manual and the metrics show, and by which a release is named.
package enum ProgramVersion {
    package static let text = "0.2.0"
}
