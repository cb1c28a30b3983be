//! The response time the rules go by: the 90th percentile of a stretch of responses, smoothed.
//!
//! A stretch ends after 100 responses or when its time is up, whichever comes first; one without a response does
//! not end (paper S, 1.5). Memory is 100 numbers.

use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// Responses that end a stretch.
const SIZE: usize = 100;
/// Part of the smoothed percentile that stays when a stretch ends.
const KEPT: f64 = 0.7;

/// What a stretch that has ended says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// Smoothed 90th percentile of the response time, in seconds.
    pub p90_s: f64,
    /// Length of the stretch, in seconds.
    pub elapsed_s: f64,
}

/// Responses since the last stretch ended.
#[derive(Clone, Debug)]
pub(super) struct Window {
    responses: Vec<Duration>,
    begun: Instant,
    length: Duration,
    p90_s: Option<f64>,
}

impl Window {
    /// Stretches of at most `length`, the first from the start of the run.
    pub(super) const fn new(length: Duration) -> Self {
        Self { responses: Vec::new(), begun: Instant::START, length, p90_s: None }
    }

    /// Notes a response; gives what was measured if that ends the stretch.
    pub(super) fn add(&mut self, now: Instant, response: Duration) -> Option<Measured> {
        self.note(response);
        self.end_if_due(now)
    }

    /// Notes a response. Whoever calls this asks [`end_if_due`](Self::end_if_due) before the next.
    pub(super) fn note(&mut self, response: Duration) {
        self.responses.push(response);
    }

    /// Ends the stretch if it is full, or its time is up and there was a response.
    pub(super) fn end_if_due(&mut self, now: Instant) -> Option<Measured> {
        let elapsed = now.since(self.begun);
        let due = self.responses.len() >= SIZE || elapsed >= self.length;
        if self.responses.is_empty() || !due {
            return None;
        }
        self.begun = self.begun.max(now);
        let p90_s = self.smooth();
        Some(Measured { p90_s, elapsed_s: elapsed.as_secs_f64() })
    }

    /// The percentile of the stretch, averaged into those before; the first stands for itself.
    fn smooth(&mut self) -> f64 {
        self.responses.sort_unstable();
        let p90_s = self.responses[self.responses.len() * 9 / 10].as_secs_f64();
        self.responses.clear();
        let smoothed = self.p90_s.map_or(p90_s, |before| KEPT * before + (1.0 - KEPT) * p90_s);
        self.p90_s = Some(smoothed);
        smoothed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    /// Adds responses of so many milliseconds at one moment; the last must end the stretch as stated.
    #[track_caller]
    fn check(window: &mut Window, at_ms: u64, responses_ms: &[u64], want: Option<(f64, f64)>) {
        let now = Instant::START + ms(at_ms);
        let measured = responses_ms.iter().map(|&response| window.add(now, ms(response))).last().flatten();
        match (measured, want) {
            (None, None) => {}
            (Some(got), Some((p90_ms, elapsed_ms))) => {
                assert!(
                    (got.p90_s * 1e3 - p90_ms).abs() < 1e-9,
                    "percentile {} s, expected {p90_ms} ms",
                    got.p90_s
                );
                assert!((got.elapsed_s * 1e3 - elapsed_ms).abs() < 1e-9, "length {} s", got.elapsed_s);
            }
            _ => panic!("at {at_ms} ms measured {measured:?}, expected {want:?}"),
        }
    }

    #[test]
    fn a_hundred_responses_or_a_second_end_a_stretch() {
        let mut window = Window::new(ms(1_000));
        let hundred: Vec<u64> = (1..=100).rev().collect();
        check(&mut window, 400, &hundred[..99], None);
        // Of 1 to 100, the 91st.
        check(&mut window, 500, &hundred[99..], Some((91.0, 500.0)));
        check(&mut window, 1_499, &[11], None);
        // Of two the second, and 0.7 of 91 ms with 0.3 of it.
        check(&mut window, 1_500, &[21], Some((0.7 * 91.0 + 0.3 * 21.0, 1_000.0)));
    }

    #[test]
    fn a_stretch_without_a_response_does_not_end() {
        let mut window = Window::new(ms(1_000));
        assert_eq!(window.end_if_due(Instant::START + ms(10_000)), None, "nothing was measured");
        check(&mut window, 12_000, &[40], Some((40.0, 12_000.0)));
    }

    #[test]
    fn it_never_holds_more_than_a_stretch() {
        let mut window = Window::new(Duration::from_secs(1_000_000));
        for n in 0..100_000 {
            let _ = window.add(Instant::START, ms(n));
            assert!(window.responses.len() < SIZE, "{} responses are kept", window.responses.len());
        }
    }
}
