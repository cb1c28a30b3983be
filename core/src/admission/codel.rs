//! CoDel, controlled delay (RFC 8289): who has waited too long for too long is turned away at the head of the queue.
//!
//! It looks only at the wait of the job about to leave. A queue that empties now and then is a good one, however
//! long it gets in between; if no job has got through within `target` for a whole `interval`, the queue is a
//! standing one, and jobs are dropped, the sooner after each other the longer that lasts: the n-th drop comes
//! `interval / sqrt(n)` after the one before. The last job is never dropped.
//!
//! The RFC drops and takes the next packet in one call. Here each call judges one job, and a stage that had a job
//! refused asks about the next; the sequence of decisions is the same. With several priority levels the wait is
//! that of whichever job is next: while urgent ones pass quickly, the queue counts as good.

use super::{Found, Gauge, Queue, QueueControl, Taken, Verdict};
use crate::frame::Cause;
use crate::time::{Duration, Instant};
use crate::unit::Draw;

/// A drop schedule steered by the wait of those taken; names as in RFC 8289, section 5.
#[derive(Clone, Copy, Debug)]
pub struct CoDel {
    target: Duration,
    interval: Duration,
    limit: u32,
    /// When the wait will have been above the target for an interval; `None` while it is not above.
    first_above: Option<Instant>,
    dropping: bool,
    drop_next: Instant,
    /// Whether a job was just dropped, and the next drop is still to be scheduled.
    unscheduled: bool,
    /// Drops since dropping began, and that number when it last began.
    count: u32,
    last_count: u32,
    /// Wait of the last job taken and the time between two completions then, for [`Gauge`].
    waited: Duration,
    gap: Duration,
}

impl CoDel {
    /// Waits beyond `target` are bad once they last for `interval`; at most `limit` jobs wait.
    #[must_use]
    pub const fn new(target: Duration, interval: Duration, limit: u32) -> Self {
        Self {
            target,
            interval,
            limit,
            first_above: None,
            dropping: false,
            drop_next: Instant::START,
            unscheduled: false,
            count: 0,
            last_count: 0,
            waited: Duration::ZERO,
            gap: Duration::ZERO,
        }
    }

    /// Section 5.6, `dodequeue`: whether the wait has been above the target for an interval.
    fn is_standing(&mut self, now: Instant, taken: Taken<'_>) -> bool {
        if taken.waited < self.target || taken.queue.len <= 1 {
            self.first_above = None;
            return false;
        }
        now >= *self.first_above.get_or_insert(now + self.interval)
    }

    /// Section 5.5: when the next drop is due, `interval / sqrt(count)` after `from`.
    fn control_law(&self, from: Instant) -> Instant {
        let count = f64::from(self.count.max(1));
        from + Duration::from_secs_f64(self.interval.as_secs_f64() / libm::sqrt(count))
    }

    /// Whether a job is dropped while dropping goes on.
    fn drops_on(&mut self, now: Instant) -> bool {
        if core::mem::take(&mut self.unscheduled) {
            self.drop_next = self.control_law(self.drop_next);
        }
        if now < self.drop_next {
            return false;
        }
        self.count = self.count.saturating_add(1);
        self.unscheduled = true;
        true
    }

    /// Begins to drop. If it left off not long ago, at about the rate that sufficed then.
    fn begin(&mut self, now: Instant) {
        let grown = self.count - self.last_count;
        let recent = now.since(self.drop_next).as_nanos() < self.interval.as_nanos().saturating_mul(16);
        self.count = if grown > 1 && recent { grown } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        self.dropping = true;
    }

    fn stop(&mut self) {
        self.dropping = false;
        self.unscheduled = false;
    }
}

impl QueueControl for CoDel {
    #[inline]
    fn on_arrival(&mut self, _now: Instant, found: Found<'_>, _draw: Draw) -> Verdict {
        if found.is_too_many(self.limit) { Verdict::Shed(Cause::Full) } else { Verdict::Admit }
    }

    fn judges_taken(&self) -> bool {
        true
    }

    fn on_take(&mut self, now: Instant, taken: Taken<'_>, _draw: Draw) -> Verdict {
        (self.waited, self.gap) = (taken.waited, taken.queue.gap);
        let standing = self.is_standing(now, taken);
        let drop = match (standing, self.dropping) {
            (false, _) => {
                self.stop();
                false
            }
            (true, true) => self.drops_on(now),
            (true, false) => {
                self.begin(now);
                true
            }
        };
        if drop { Verdict::Shed(Cause::Early) } else { Verdict::Admit }
    }

    /// An empty queue is a good one, whoever emptied it.
    fn on_departure(&mut self, _now: Instant, _level: u8, queue: Queue<'_>) {
        if queue.len == 0 {
            self.first_above = None;
            self.stop();
            self.waited = Duration::ZERO;
        }
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    /// The last wait, and the share of the jobs taken that the present schedule drops.
    fn gauge(&self, _now: Instant, _level: u8) -> Option<Gauge> {
        let between = self.interval.as_secs_f64() / libm::sqrt(f64::from(self.count.max(1)));
        let share = if self.dropping && between > 0.0 { self.gap.as_secs_f64() / between } else { 0.0 };
        Some(Gauge {
            average: self.waited.as_secs_f64(),
            min: self.target.as_secs_f64(),
            drop_p: share.min(1.0),
            seconds: true,
            ..Gauge::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ClassId;
    use alloc::vec::Vec;

    fn codel() -> CoDel {
        CoDel::new(Duration::from_millis(5), Duration::from_millis(100), 1_000)
    }

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    /// Takes a job at `ms` that has waited `waited_ms`, with `len` in the queue, itself included.
    fn takes(control: &mut CoDel, ms: u64, waited_ms: u64, len: u32) -> Verdict {
        let queue = Queue { waiting: &[len], work_ns: &[0], len, gap: Duration::from_millis(1) };
        let waited = Duration::from_millis(waited_ms);
        let taken = Taken { class: ClassId(0), level: 0, waited, queue };
        control.on_take(at(ms), taken, Draw::from_bits(0))
    }

    /// Takes a job of `waited_ms` each millisecond of a range and says when one was dropped.
    #[track_caller]
    fn check(control: &mut CoDel, ms: core::ops::Range<u64>, waited_ms: u64, want: &[u64]) {
        let got: Vec<u64> = ms
            .clone()
            .filter(|&ms| takes(control, ms, waited_ms, 50) == Verdict::Shed(Cause::Early))
            .collect();
        assert_eq!(got, want, "drops in {ms:?} ms at a wait of {waited_ms} ms");
    }

    #[test]
    fn the_drops_of_a_standing_queue_follow_the_square_root_law() {
        // First at 100 ms; then 100, 100/sqrt(2) = 70.711, 100/sqrt(3) = 57.735, 50 ms after the time before:
        // 200, 270.711, 328.446, 378.446, 423.167.
        check(&mut codel(), 0..430, 10, &[100, 200, 271, 329, 379, 424]);
    }

    #[test]
    fn a_wait_within_the_target_is_never_dropped() {
        check(&mut codel(), 0..5_000, 4, &[]);
    }

    #[test]
    fn one_good_job_in_each_interval_is_enough() {
        let mut control = codel();
        for round in 0..50 {
            let from = round * 100;
            check(&mut control, from..from + 99, 50, &[]);
            check(&mut control, from + 99..from + 100, 1, &[]);
        }
    }

    #[test]
    fn the_last_job_is_never_dropped() {
        let mut control = codel();
        for ms in 0..2_000 {
            assert_eq!(takes(&mut control, ms, 500, 1), Verdict::Admit, "the only job at {ms} ms");
        }
    }

    #[test]
    fn dropping_resumes_at_the_rate_that_sufficed() {
        let mut control = codel();
        check(&mut control, 0..430, 10, &[100, 200, 271, 329, 379, 424]);
        check(&mut control, 430..440, 1, &[]);
        // Six drops, of which one began it: count goes on at 5, so the second drop follows after 100/sqrt(5) ms.
        check(&mut control, 440..586, 10, &[540, 585]);
    }

    #[test]
    fn after_a_long_good_time_it_begins_anew() {
        let mut control = codel();
        check(&mut control, 0..430, 10, &[100, 200, 271, 329, 379, 424]);
        check(&mut control, 430..2_500, 1, &[]);
        check(&mut control, 2_500..2_701, 10, &[2_600, 2_700]);
    }

    #[test]
    fn after_a_stall_the_drops_due_are_made_at_once_and_no_more() {
        let mut control = codel();
        check(&mut control, 0..101, 10, &[100]);
        // Nothing is taken until 400 ms. Due by then: 200, 270.7, 328.4, 378.4.
        let dropped = (0..20).take_while(|_| takes(&mut control, 400, 300, 50) != Verdict::Admit).count();
        assert_eq!(dropped, 4, "drops due between 101 and 400 ms");
    }

    #[test]
    fn a_queue_that_clients_left_empty_counts_as_good() {
        let mut control = codel();
        check(&mut control, 0..100, 10, &[]);
        let queue = Queue { waiting: &[0], work_ns: &[0], len: 0, gap: Duration::ZERO };
        control.on_departure(at(100), 0, queue);
        check(&mut control, 100..200, 10, &[]);
    }

    #[test]
    fn the_limit_applies_to_those_who_would_wait() {
        let queue = Queue { waiting: &[1_000], work_ns: &[0], len: 1_000, gap: Duration::ZERO };
        let found = Found { class: ClassId(0), level: 0, judged_at: 0, would_wait: true, queue };
        let draw = Draw::from_bits(0);
        assert_eq!(codel().on_arrival(at(0), found, draw), Verdict::Shed(Cause::Full), "1,000 wait of 1,000");
        let found = Found { would_wait: false, ..found };
        assert_eq!(codel().on_arrival(at(0), found, draw), Verdict::Admit, "it need not wait");
    }

    #[test]
    fn the_gauge_shows_the_wait_and_the_share_dropped() {
        let mut control = codel();
        check(&mut control, 0..100, 10, &[]);
        let gauge = control.gauge(at(100), 0).unwrap();
        let shown = (gauge.average, gauge.min, gauge.drop_p, gauge.seconds);
        assert_eq!(shown, (0.01, 0.005, 0.0, true), "a wait of 10 ms, before any drop");
        check(&mut control, 100..101, 10, &[100]);
        // One drop each 100 ms of a queue that gives out a job each millisecond.
        let share = control.gauge(at(101), 0).unwrap().drop_p;
        assert!((share - 0.01).abs() < 1e-12, "one of a hundred is dropped, not {share}");
    }
}
