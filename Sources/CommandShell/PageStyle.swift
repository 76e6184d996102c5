/// The style that all pages of both programs share.
package enum PageStyle {
    package static let text = String(decoding: PackageResources.style_css, as: UTF8.self)
}
