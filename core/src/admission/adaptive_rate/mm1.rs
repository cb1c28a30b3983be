//! The M/M/1 rule: the rate at which such a queue would answer nine in ten within the target.
//!
//! The response time of an M/M/1 queue is exponential with rate mu - lambda, so its 90th percentile is
//! ln 10 / (mu - lambda), and lambda = mu - ln 10 / target holds it at the target. Only mu is measured: the rate
//! of completions while the stage is busy. That makes the rule quick, and wrong where the model is: a stage of
//! many workers is no M/M/1 queue.

use super::{DEPTH, Found, MAX_RATE, Present, RateRule, within_bounds};
use crate::admission::bucket::Bucket;
use crate::time::{Duration, Instant};

/// ln 10, as far as the source has it.
const LN_10: f64 = 2.302;
/// Part of the service rate let in when the target is out of reach even for a stage with nobody in it.
const OUT_OF_REACH: f64 = 0.1;

/// The rate is read off the service rate (paper S, 1.5). Until that is known, nearly everybody is let in.
#[derive(Clone, Debug)]
pub(super) struct Mm1 {
    target_s: f64,
    bucket: Bucket,
    gap: Duration,
}

impl Mm1 {
    pub(super) const fn new(target_s: f64) -> Self {
        Self { target_s, bucket: Bucket::full(MAX_RATE, DEPTH), gap: Duration::ZERO }
    }
}

/// The rate for service rate `mu` and the target in seconds.
fn rate(mu: f64, target_s: f64) -> f64 {
    let rate = mu - LN_10 / target_s;
    within_bounds(if rate > 0.0 { rate } else { OUT_OF_REACH * mu })
}

impl RateRule for Mm1 {
    fn take(&mut self, now: Instant, _found: &Found<'_>) -> bool {
        self.bucket.take(now)
    }

    fn on_gap(&mut self, now: Instant, gap: Duration) {
        if gap != self.gap && gap > Duration::ZERO {
            self.gap = gap;
            self.bucket.set_rate(now, rate(1.0 / gap.as_secs_f64(), self.target_s));
        }
    }

    fn present(&self, now: Instant, _level: u8) -> Present {
        Present { rate: self.bucket.rate(), open: self.bucket.has_token(now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(gap_us: u64, target_ms: u64, want: f64) {
        let mut mm1 = Mm1::new(Duration::from_millis(target_ms).as_secs_f64());
        mm1.on_gap(Instant::START, Duration::from_micros(gap_us));
        let got = mm1.present(Instant::START, 0).rate;
        assert!(
            (got - want).abs() < 1e-9,
            "{got}/s for {gap_us} us a job and {target_ms} ms, expected {want}"
        );
    }

    #[test]
    fn the_rate_is_the_service_rate_less_what_the_target_takes() {
        check(10_000, 100, 100.0 - 23.02);
        check(10_000, 1_000, 100.0 - 2.302);
        // 23.02/s would have to stay free of 20/s: out of reach, so a tenth.
        check(50_000, 100, 2.0);
    }

    #[test]
    fn bounds_hold_and_an_unknown_service_rate_limits_nobody() {
        check(0, 100, 5_000.0);
        check(1, 100, 5_000.0);
        check(1_000_000_000, 100, 0.05);
    }
}
