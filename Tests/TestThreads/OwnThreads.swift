internal import Basics
package import Testing

/// Threads of a suite's own, on which so many of its tests run at a time. Tests that wait for programs would else keep
/// the threads waiting that all tests share, of which there are no more than processors.
package final class OwnThreads: TaskExecutor, SuiteTrait, TestTrait, TestScoping {
    private let jobs: Guarded<[@Sendable () -> Void]>
    private let threads: JobThreads

    package init(_ count: Int) {
        let jobs = Guarded<[@Sendable () -> Void]>([])
        self.jobs = jobs
        threads = JobThreads(most: count) {
            guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { return false }
            job()
            return true
        }
    }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let waiting = jobs.withLock { jobs in
            jobs.append { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
            return jobs.count
        }
        threads.wake(for: waiting)
    }

    /// Whether each test of the suite, and of those in it, is run so.
    package var isRecursive: Bool { true }

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await withTaskExecutorPreference(self) { try await function() }
    }
}
