//! The kernel's limit on the app's memory.

use crate::model::{ByteLimit, MemoryEvents, MemoryLimit};

json_object! {
    /// What the cgroup (version 2) of the process reports of its memory. A member is null where it could not
    /// be read, or where no limit is set; `unlimited` names the limits that are not set.
    pub(crate) struct MemoryLimitView(limit: &MemoryLimit) {
        /// Why some values could not be read; null when none is missing.
        refused: Option<String> = limit.refused.clone(),
        /// `memory.current`: all memory that is charged to the app, with its part of the page cache.
        current_bytes: Option<u64> = limit.current_bytes,
        /// `memory.high`: above it the kernel reclaims memory in the thread that faults, and throttles this
        /// thread. Android 17 and newer set this limit.
        high_bytes: Option<u64> = limit.high.and_then(ByteLimit::bytes),
        /// `memory.max`: above it a page fault fails, and the kernel may kill the process.
        max_bytes: Option<u64> = limit.max.and_then(ByteLimit::bytes),
        /// `memory.swap.current`.
        swap_current_bytes: Option<u64> = limit.swap_current_bytes,
        /// `memory.swap.high`.
        swap_high_bytes: Option<u64> = limit.swap_high.and_then(ByteLimit::bytes),
        /// `memory.swap.max`.
        swap_max_bytes: Option<u64> = limit.swap_max.and_then(ByteLimit::bytes),
        /// The limits that are known not to be set: `high`, `max`, `swap_high`, `swap_max`.
        unlimited: Vec<&'static str> = limit.unlimited(),
        /// The events since the cgroup was made, and main's page faults since the process began.
        so_far: MemoryEventsView = MemoryEventsView::new(limit.so_far),
        /// The length of the time from the first suspicion of a hang to the report; null when the message was
        /// not suspected of a hang before the report.
        lately_ms: Option<u64> = limit.lately.map(|(over_ms, _)| over_ms),
        /// The events in the time `lately_ms`; null when `lately_ms` is null.
        lately: Option<MemoryEventsView> = limit.lately.map(|(_, events)| MemoryEventsView::new(events)),
    }
}

json_object! {
    /// How often limits were met, and how long threads waited for memory.
    pub(crate) struct MemoryEventsView(events: MemoryEvents) {
        /// How often `memory.high` was exceeded.
        high_times: Option<u64> = events.high_times,
        /// How often `memory.max` was met.
        max_times: Option<u64> = events.max_times,
        /// How often `memory.swap.high` was exceeded.
        swap_high_times: Option<u64> = events.swap_high_times,
        /// How often `memory.swap.max` was met.
        swap_max_times: Option<u64> = events.swap_max_times,
        /// For how long at least one thread of the app waited for memory (`memory.pressure`, `some`).
        stalled_ms: Option<f64> = events.stalled_us.map(|us| us as f64 / 1e3),
        /// The number of the main thread's page faults that had to wait for a disk or for swap.
        main_major_faults: Option<u64> = events.main_major_faults,
    }
}
