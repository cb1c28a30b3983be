//! The direct rule: up by a constant while responses are quick, down by half when they are slow.

use super::window::{Measured, Window};
use super::{DEPTH, FIRST_RATE, Found, Present, RateRule, within_bounds};
use crate::admission::bucket::Bucket;
use crate::id::ClassId;
use crate::time::{Duration, Instant};

/// Below this part of the target, responses are quick.
const QUICK: f64 = 0.9;
/// Above this part of the target, they are slow.
const SLOW: f64 = 1.2;
/// Added to the rate, in 1/s.
const STEP_UP: f64 = 0.5;
/// The rate is divided by this.
const STEP_DOWN: f64 = 2.0;

/// AIMD on the 90th percentile of the response time (paper S, 1.5).
#[derive(Clone, Debug)]
pub(super) struct Direct {
    target_s: f64,
    window: Window,
    bucket: Bucket,
}

impl Direct {
    pub(super) const fn new(target_s: f64) -> Self {
        let window = Window::new(Duration::from_secs(1));
        Self { target_s, window, bucket: Bucket::full(FIRST_RATE, DEPTH) }
    }

    fn adjust(&mut self, now: Instant, measured: Measured) {
        let rate = self.bucket.rate();
        if measured.p90_s < QUICK * self.target_s {
            self.bucket.set_rate(now, within_bounds(rate + STEP_UP));
        } else if measured.p90_s > SLOW * self.target_s {
            self.bucket.set_rate(now, within_bounds(rate / STEP_DOWN));
        }
    }
}

impl RateRule for Direct {
    fn take(&mut self, now: Instant, _found: &Found<'_>) -> bool {
        self.bucket.take(now)
    }

    fn on_response(&mut self, now: Instant, _class: ClassId, response: Duration) {
        if let Some(measured) = self.window.add(now, response) {
            self.adjust(now, measured);
        }
    }

    fn present(&self, now: Instant, _level: u8) -> Present {
        Present { rate: self.bucket.rate(), open: self.bucket.has_token(now) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One response of so many milliseconds each second, at a target of 100 ms; the rate after each.
    #[track_caller]
    fn check(responses_ms: &[u64], want: &[f64]) {
        let mut direct = Direct::new(0.1);
        let mut now = Instant::START;
        for (second, (&response, &rate)) in responses_ms.iter().zip(want).enumerate() {
            now += Duration::from_secs(1);
            direct.on_response(now, ClassId(0), Duration::from_millis(response));
            let got = direct.present(now, 0).rate;
            assert!(
                (got - rate).abs() < 1e-12,
                "rate {got} after {second} seconds and {response} ms, not {rate}"
            );
        }
    }

    #[test]
    fn quick_responses_add_half_a_job_a_second_and_slow_ones_halve() {
        // Smoothed: 50, 50, 95, 126.5, 148.55 ms; quick is below 90, slow above 120.
        check(&[50, 50, 200, 200, 200], &[10.5, 11.0, 11.0, 5.5, 2.75]);
    }

    #[test]
    fn the_rate_stays_within_its_bounds() {
        let mut want = [0.05; 12];
        for (i, rate) in want.iter_mut().enumerate().take(7) {
            *rate = 10.0 / f64::from(1 << (i + 1));
        }
        check(&[10_000; 12], &want);
        let mut direct = Direct::new(0.1);
        for second in 1..12_000 {
            direct.on_response(Instant::START + Duration::from_secs(second), ClassId(0), Duration::ZERO);
        }
        assert_eq!(direct.bucket.rate(), 5_000.0, "after hours of quick responses");
    }
}
