//! The PID rule: the rate moves by a weighted sum of the relative error, its slope and its sum.

use super::window::{Measured, Window};
use super::{DEPTH, FIRST_RATE, Found, Present, RateRule, within_bounds};
use crate::admission::bucket::Bucket;
use crate::id::ClassId;
use crate::time::{Duration, Instant};
use alloc::collections::VecDeque;

/// Gain on the error, in 1/s.
const PROPORTIONAL: f64 = 1.0;
/// Gain on its slope. Negative as published: a response that grows raises the rate a little.
const DERIVATIVE: f64 = -0.5;
/// Gain on its sum over time, in 1/s^2.
const INTEGRAL: f64 = 0.2 / 100.0;
/// Measurements that the sum goes back.
const REMEMBERED: usize = 100;
/// Shortest stretch of time a slope is taken over, in seconds: a hundred responses may come at one instant.
const SHORTEST_S: f64 = 1e-3;

/// PID on the relative error of the 90th percentile, `(target - response) / target` (paper S, 1.5).
#[derive(Clone, Debug)]
pub(super) struct Pid {
    target_s: f64,
    window: Window,
    bucket: Bucket,
    error: f64,
    /// Errors times how long they lasted, in seconds, the latest last; their sum is the integral.
    areas: VecDeque<f64>,
}

impl Pid {
    pub(super) const fn new(target_s: f64) -> Self {
        let window = Window::new(Duration::from_secs(5));
        let bucket = Bucket::full(FIRST_RATE, DEPTH);
        Self { target_s, window, bucket, error: 0.0, areas: VecDeque::new() }
    }

    fn adjust(&mut self, now: Instant, measured: Measured) {
        let before = self.error;
        self.error = (self.target_s - measured.p90_s) / self.target_s;
        let slope = (self.error - before) / measured.elapsed_s.max(SHORTEST_S);
        if self.areas.len() >= REMEMBERED {
            self.areas.pop_front();
        }
        self.areas.push_back((before + self.error) / 2.0 * measured.elapsed_s);
        let integral: f64 = self.areas.iter().sum();
        let change = PROPORTIONAL * self.error + DERIVATIVE * slope + INTEGRAL * integral;
        self.bucket.set_rate(now, within_bounds(self.bucket.rate() + change));
    }
}

impl RateRule for Pid {
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

    /// One response of so many milliseconds each 5 s, at a target of 100 ms; the rate after each.
    #[track_caller]
    fn check(responses_ms: &[u64], want: &[f64]) {
        let mut pid = Pid::new(0.1);
        let mut now = Instant::START;
        for (&response, &rate) in responses_ms.iter().zip(want) {
            now += Duration::from_secs(5);
            pid.on_response(now, ClassId(0), Duration::from_millis(response));
            let got = pid.present(now, 0).rate;
            assert!((got - rate).abs() < 1e-9, "rate {got} at {now} after {response} ms, expected {rate}");
        }
    }

    #[test]
    fn the_rate_moves_by_error_slope_and_sum() {
        // Errors: 0.5; smoothed 80 ms: 0.2; 86 ms: 0.14.
        let first = 10.0 + 0.5 - 0.5 * (0.5 / 5.0) + 0.002 * 1.25;
        let second = first + 0.2 - 0.5 * (-0.3 / 5.0) + 0.002 * (1.25 + 1.75);
        let third = second + 0.14 - 0.5 * (-0.06 / 5.0) + 0.002 * (1.25 + 1.75 + 0.85);
        check(&[50, 150, 100], &[first, second, third]);
    }

    #[test]
    fn the_sum_goes_back_a_hundred_measurements() {
        let mut pid = Pid::new(0.1);
        for n in 1..=1_000 {
            pid.on_response(Instant::START + Duration::from_secs(5 * n), ClassId(0), Duration::ZERO);
        }
        assert_eq!(pid.areas.len(), 100, "measurements kept");
        assert!((pid.areas.iter().sum::<f64>() - 500.0).abs() < 1e-9, "an error of 1 for 500 s");
    }
}
