//! Threads: SEDA's thread-pool controller, one worker more while the queue is long, one less after it was idle.
//!
//! Paper S, 1.5. In SEDA each thread that has been idle for a while ends itself. A sample does not say who was idle,
//! only how many were in work at once at most; a pool in which somebody was always idle, sample after sample, for
//! that long gives up one worker a sample.

use super::{PoolControl, PoolSample};
use crate::time::{Duration, Instant};

/// Bounds, a threshold, and since when the pool has been larger than needed.
#[derive(Clone, Copy, Debug)]
pub struct Threads {
    // Invariant: min <= workers <= max.
    min: u32,
    max: u32,
    workers: u32,
    period: Duration,
    threshold: u32,
    idle: Duration,
    idle_since: Instant,
}

impl Threads {
    /// A pool of `workers`, kept from `min` to `max`: looked at each `period`, it grows while more than `threshold`
    /// wait and shrinks once somebody has been idle for `idle`.
    #[must_use]
    pub fn new(
        workers: u32,
        (min, max): (u32, u32),
        period: Duration,
        threshold: u32,
        idle: Duration,
    ) -> Self {
        let max = max.max(min);
        let workers = workers.clamp(min, max);
        Self { min, max, workers, period, threshold, idle, idle_since: Instant::START }
    }

    /// Nobody is known to have been idle before `now`.
    pub(super) const fn begin_at(&mut self, now: Instant) {
        self.idle_since = now;
    }
}

impl PoolControl for Threads {
    fn period(&self) -> Duration {
        self.period
    }

    fn workers(&self) -> u32 {
        self.workers
    }

    fn on_sample(&mut self, now: Instant, seen: &PoolSample) -> u32 {
        if seen.most_busy >= self.workers {
            self.idle_since = now;
        }
        if seen.queued > self.threshold {
            self.workers = self.workers.saturating_add(1).min(self.max);
            self.idle_since = now;
        } else if now.since(self.idle_since) >= self.idle {
            self.workers = self.workers.saturating_sub(1).max(self.min);
        }
        self.workers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::check_bounds;

    fn threads() -> Threads {
        Threads::new(3, (1, 5), Duration::from_secs(2), 100, Duration::from_secs(5))
    }

    /// Samples each 2 s of so many waiting and so many in work at most; the workers after each.
    #[track_caller]
    fn check(pool: &mut Threads, from_s: u64, samples: &[(u32, u32)], want: &[u32]) {
        for (i, (&(queued, most_busy), &want)) in samples.iter().zip(want).enumerate() {
            let second = from_s + 2 * (i as u64 + 1);
            let seen = PoolSample { queued, most_busy, ..PoolSample::default() };
            let got = pool.on_sample(Instant::START + Duration::from_secs(second), &seen);
            assert_eq!(
                got, want,
                "workers at {second} s, with {queued} waiting and {most_busy} in work at most"
            );
        }
    }

    #[test]
    fn a_long_queue_adds_a_worker_a_sample_up_to_the_most() {
        let samples = [(100, 3), (101, 3), (500, 4), (500, 5), (101, 5)];
        check(&mut threads(), 0, &samples, &[3, 4, 5, 5, 5]);
    }

    #[test]
    fn five_idle_seconds_take_a_worker_a_sample_down_to_the_least() {
        check(&mut threads(), 0, &[(0, 3), (0, 2), (0, 2), (0, 2), (0, 1), (0, 0)], &[3, 3, 3, 2, 1, 1]);
    }

    #[test]
    fn a_pool_that_was_wholly_busy_once_is_not_idle() {
        check(&mut threads(), 0, &[(0, 2), (0, 2), (0, 3), (0, 2), (0, 2), (0, 2)], &[3, 3, 3, 3, 3, 2]);
    }

    #[test]
    fn growing_counts_as_being_needed() {
        check(&mut threads(), 0, &[(0, 0), (0, 0), (200, 0), (0, 0), (0, 0), (0, 0)], &[3, 3, 4, 4, 4, 3]);
    }

    #[test]
    fn nothing_takes_it_beyond_its_bounds() {
        check_bounds(1, 5, |_| threads());
    }
}
