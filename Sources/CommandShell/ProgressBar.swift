/// A line on standard error that shows the progress of long work. Shows nothing if standard error is not a terminal.
package struct ProgressBar {
    private static let width = 40

    private let title: String
    private let total: Int
    private var shown = -1

    package init(_ title: String, total: Int) {
        self.title = title
        self.total = total
    }

    /// Shows that `done` of the total is done. Draws only if the percentage has changed.
    package mutating func update(_ done: Int) {
        guard Console.showsProgress, total > 1 else { return }
        let percent = done * 100 / total
        guard percent != shown else { return }
        shown = percent
        let filled = Self.width * done / total
        let bar = String(repeating: "█", count: filled) + String(repeating: "░", count: Self.width - filled)
        Console.writeProgress("\r\(title) \(bar) \(percent) %" + (done == total ? "\n" : ""))
    }
}
