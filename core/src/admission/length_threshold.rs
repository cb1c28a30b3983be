//! Length threshold: the queue as a whole holds so many and not one more.
//!
//! SEDA's stock queue control (paper S, 1.1). The test is made on the queue an event would join and knows nothing
//! of workers: a job that could start at once is turned away like any other when the queue is at its threshold,
//! and a threshold of 0 lets nobody in. [`TailDrop`](super::TailDrop) does better on both counts.

use super::{Found, QueueControl, Verdict};
use crate::frame::Cause;
use crate::time::Instant;
use crate::unit::Draw;

/// A threshold on the number of jobs waiting in all levels.
#[derive(Clone, Copy, Debug)]
pub struct LengthThreshold {
    threshold: u32,
}

impl LengthThreshold {
    /// Nobody joins who would make more than `threshold` jobs wait.
    #[must_use]
    pub const fn new(threshold: u32) -> Self {
        Self { threshold }
    }
}

impl QueueControl for LengthThreshold {
    #[inline]
    fn on_arrival(&mut self, _now: Instant, found: Found<'_>, _draw: Draw) -> Verdict {
        // As published, `len + 1 <= threshold`.
        if found.queue.len < self.threshold { Verdict::Admit } else { Verdict::Shed(Cause::Forced) }
    }

    fn limit(&self) -> u32 {
        self.threshold
    }
}

#[cfg(test)]
mod tests {
    use super::super::Queue;
    use super::*;
    use crate::id::ClassId;
    use crate::time::Duration;

    #[track_caller]
    fn check(threshold: u32, len: u32, would_wait: bool, want: Verdict) {
        let queue = Queue { waiting: &[len], work_ns: &[0], len, gap: Duration::ZERO };
        let found = Found { class: ClassId(0), level: 0, judged_at: 0, would_wait, queue };
        let got = LengthThreshold::new(threshold).on_arrival(Instant::START, found, Draw::from_bits(0));
        assert_eq!(got, want, "threshold {threshold}, {len} waiting, would wait: {would_wait}");
    }

    #[test]
    fn it_fills_to_the_threshold_and_no_further() {
        check(10, 0, true, Verdict::Admit);
        check(10, 9, true, Verdict::Admit);
        check(10, 10, true, Verdict::Shed(Cause::Forced));
        check(10, 11, true, Verdict::Shed(Cause::Forced));
    }

    #[test]
    fn a_free_worker_makes_no_difference() {
        check(10, 10, false, Verdict::Shed(Cause::Forced));
        check(0, 0, false, Verdict::Shed(Cause::Forced));
    }
}
