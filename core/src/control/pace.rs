//! Pace: a stage starts no more jobs a second than it is told, evenly spaced.
//!
//! SEDA's read-rate throttle (paper S, 1.5), which delays each read by what brings the rate to its target. Idle time
//! earns nothing: after a pause one job starts at once and the next a gap later. A start that comes less than a gap
//! late (a timer that fired late, a worker that was not free) keeps the grid, so that small delays do not add up to
//! a lower rate.

use crate::time::{Duration, Instant};

/// The earliest time of the next start.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    gap: Duration,
    next: Instant,
}

impl Pace {
    /// At most `starts_per_s` starts a second, above zero. The gap is rounded up to a whole nanosecond, so the rate
    /// is never above the one asked for.
    #[must_use]
    pub fn new(starts_per_s: f64) -> Self {
        // A float-to-integer `as` saturates and maps NaN to zero.
        let gap = libm::ceil(1e9 / starts_per_s) as u64;
        Self { gap: Duration::from_nanos(gap), next: Instant::START }
    }

    /// When a job may start, at the earliest.
    #[must_use]
    pub const fn next_start(&self) -> Instant {
        self.next
    }

    /// Notes that a job has started.
    pub fn on_start(&mut self, now: Instant) {
        let late = now.since(self.next);
        self.next = if late < self.gap { self.next + self.gap } else { now + self.gap };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;
    use alloc::vec::Vec;

    /// Starts a job as soon as it may after each time it is ready; says when, in milliseconds.
    #[track_caller]
    fn check(starts_per_s: f64, ready_ms: &[u64], want_ms: &[u64]) {
        let mut pace = Pace::new(starts_per_s);
        let start = |&ms: &u64| {
            let now = pace.next_start().max(Instant::START + Duration::from_millis(ms));
            pace.on_start(now);
            now.as_nanos() / 1_000_000
        };
        let got: Vec<u64> = ready_ms.iter().map(start).collect();
        assert_eq!(got, want_ms, "starts of jobs ready at {ready_ms:?} ms at {starts_per_s} a second");
    }

    #[test]
    fn a_burst_starts_evenly_spaced() {
        check(10.0, &[0, 0, 0, 0], &[0, 100, 200, 300]);
    }

    #[test]
    fn a_pause_earns_one_start_and_no_more() {
        check(10.0, &[0, 5_000, 5_000, 5_000], &[0, 5_000, 5_100, 5_200]);
    }

    #[test]
    fn small_delays_do_not_add_up() {
        // Each start comes 30 ms late, and yet ten a second start.
        check(10.0, &[30, 130, 230, 330, 430], &[30, 130, 230, 330, 430]);
        check(10.0, &[99, 99, 99], &[99, 100, 200]);
        check(10.0, &[100, 100, 100], &[100, 200, 300]);
    }

    #[test]
    fn in_no_stretch_of_time_do_more_start_than_the_rate_allows() {
        let mut pace = Pace::new(1_000.0);
        let mut ready = Instant::START;
        let mut starts = Vec::new();
        for n in 0..20_000 {
            ready += Duration::from_nanos(mix(n) % 2_000_000);
            let start = pace.next_start().max(ready);
            pace.on_start(start);
            starts.push(start.as_nanos());
        }
        for length in 1..200 {
            // Of n + 1 starts in a row the last is at least n - 1 gaps after the first.
            let shortest = starts.windows(length + 1).map(|w| w[length] - w[0]).min().unwrap();
            assert!(
                shortest >= (length as u64 - 1) * 1_000_000,
                "{length} starts followed one in {shortest} ns"
            );
        }
    }

    #[test]
    fn the_gap_is_never_too_short_and_odd_rates_do_not_panic() {
        for rate in [3.0, 7.0, 700_000.0, 1e6, 0.001] {
            let gap = Pace::new(rate).gap.as_secs_f64();
            assert!(gap * rate >= 1.0 - 1e-12, "{rate} a second: a gap of {gap} s");
        }
        for rate in [f64::MIN_POSITIVE, 0.0, f64::INFINITY] {
            let mut pace = Pace::new(rate);
            pace.on_start(Instant::from_nanos(1));
        }
    }
}
