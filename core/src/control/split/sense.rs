//! What controllers make of samples: delays of those served, mean service times, backlogs.

use super::ClassSample;

/// The delay of a class, from the delays of those served: sums and counts that forget, so that a window with few
/// counts for little (a mean of means would not).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delay {
    sum_s: f64,
    count: f64,
    now_s: Option<f64>,
}

impl Delay {
    /// Notes a sample; `kept` is the part of the past that is kept, 0 to 1. The delay in seconds, if there is one.
    ///
    /// While nobody is served although somebody waits, the wait of the oldest is the least the delay can be.
    pub(super) fn on_sample(&mut self, seen: &ClassSample, kept: f64) -> Option<f64> {
        self.sum_s = kept * self.sum_s + seen.delay_s;
        self.count = kept * self.count + f64::from(seen.started);
        self.now_s = if seen.started == 0 && seen.waiting > 0 {
            Some(self.now_s.unwrap_or(0.0).max(seen.oldest_s))
        } else {
            (self.count > 0.5).then(|| self.sum_s / self.count)
        };
        self.now_s
    }
}
