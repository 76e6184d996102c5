internal import Basics
internal import Glibc

/// What Linux tells of this process: the metrics that every client library of Prometheus has.
enum ProcessMetrics {
    static var families: [MetricFamily] {
        var (usage, limit) = (rusage(), rlimit())
        // Neither can fail for the process itself (getrusage(2), getrlimit(2)).
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        let most = limit.rlim_cur == rlim_t.max ? "+Inf" : "\(limit.rlim_cur)"
        let times = [usage.ru_utime, usage.ru_stime]
        let cpu = times.reduce(0.0) { $0 + Double($1.tv_sec) + Double($1.tv_usec) / 1e6 }
        return [
            MetricFamily(.processCPU, cpu), MetricFamily(.processMostDescriptors, most),
        ] + memory + [descriptors].compactMap { $0.map { MetricFamily(.processDescriptors, $0) } }
    }

    /// The first two numbers of /proc/self/statm, in pages: address space, and what of it is in RAM (proc(5)).
    private static var memory: [MetricFamily] {
        guard let text = try? FileBytes.read("/proc/self/statm", limit: 4096) else { return [] }
        let pages = String(decoding: text, as: UTF8.self).split(separator: " ").compactMap { Int($0) }
        guard pages.count > 1 else { return [] }
        let size = Int(getpagesize())
        return [MetricFamily(.processVirtualMemory, pages[0] * size), MetricFamily(.processMemory, pages[1] * size)]
    }

    /// The number of open file descriptors; `nil` if /proc does not show them.
    private static var descriptors: Int? {
        guard let directory = opendir("/proc/self/fd") else { return nil }
        defer { closedir(directory) }
        // Two entries name folders, and one descriptor is that of the folder itself.
        var count = -3
        while readdir(directory) != nil { count += 1 }
        return count
    }
}
