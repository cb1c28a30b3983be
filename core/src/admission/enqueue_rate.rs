//! Enqueue rate: a token bucket in front of the queue, SEDA's rate limit (paper S, 1.1).
//!
//! Besides, the queue has a limit: a rate above what the stage can do would let it grow without end. A job that
//! finds the queue full takes no token.

use super::bucket::Bucket;
use super::{Found, Gauge, QueueControl, Verdict};
use crate::frame::Cause;
use crate::time::Instant;
use crate::unit::Draw;

/// A limit on how many may join a second.
#[derive(Clone, Copy, Debug)]
pub struct EnqueueRate {
    bucket: Bucket,
    limit: u32,
}

impl EnqueueRate {
    /// At most `rate_per_s` jobs a second join in the long run and `depth` at once; at most `limit` wait.
    #[must_use]
    pub const fn new(rate_per_s: f64, depth: f64, limit: u32) -> Self {
        Self { bucket: Bucket::full(rate_per_s, depth), limit }
    }
}

impl QueueControl for EnqueueRate {
    #[inline]
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, _draw: Draw) -> Verdict {
        if found.is_too_many(self.limit) {
            Verdict::Shed(Cause::Full)
        } else if self.bucket.take(now) {
            Verdict::Admit
        } else {
            Verdict::Shed(Cause::Forced)
        }
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    /// The rate, and whether there is a token.
    fn gauge(&self, now: Instant, _level: u8) -> Option<Gauge> {
        let drop_p = if self.bucket.has_token(now) { 0.0 } else { 1.0 };
        let rate = self.bucket.rate();
        Some(Gauge { average: rate, min: rate, drop_p, ..Gauge::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Queue;
    use super::*;
    use crate::id::ClassId;
    use crate::time::Duration;

    const SHED: Verdict = Verdict::Shed(Cause::Forced);
    const FULL: Verdict = Verdict::Shed(Cause::Full);

    /// Offers a job at `ms` that finds `len` waiting.
    #[track_caller]
    fn check(control: &mut EnqueueRate, ms: u64, len: u32, would_wait: bool, want: Verdict) {
        let now = Instant::START + Duration::from_millis(ms);
        let queue = Queue { waiting: &[len], work_ns: &[0], len, gap: Duration::ZERO };
        let found = Found { class: ClassId(0), level: 0, judged_at: 0, would_wait, queue };
        let foreseen = control.gauge(now, 0).map(|gauge| gauge.drop_p);
        let got = control.on_arrival(now, found, Draw::from_bits(0));
        assert_eq!(got, want, "at {ms} ms with {len} waiting");
        if got != FULL {
            let refused = f64::from(u8::from(got == SHED));
            assert_eq!(foreseen, Some(refused), "what the gauge foretold at {ms} ms");
        }
    }

    #[test]
    fn bursts_pass_up_to_the_depth_and_then_the_rate_holds() {
        let mut control = EnqueueRate::new(100.0, 2.0, 1_000);
        check(&mut control, 0, 0, true, Verdict::Admit);
        check(&mut control, 0, 1, true, Verdict::Admit);
        check(&mut control, 0, 2, true, SHED);
        check(&mut control, 5, 2, true, SHED);
        check(&mut control, 10, 2, true, Verdict::Admit);
        // A free worker does not exempt from the rate.
        check(&mut control, 10, 0, false, SHED);
    }

    #[test]
    fn a_full_queue_comes_first_and_costs_no_token() {
        let mut control = EnqueueRate::new(1.0, 1.0, 5);
        check(&mut control, 0, 5, true, FULL);
        check(&mut control, 0, 5, true, FULL);
        // Whoever need not wait is never too many, and the token is still there.
        check(&mut control, 0, 5, false, Verdict::Admit);
        check(&mut control, 0, 4, true, SHED);
    }
}
