//! PLACEHOLDER: holds the split.

use super::{SplitControl, SplitSample};
use crate::time::Duration;
use crate::unit::DelayWeight;

/// Placeholder.
#[derive(Clone, Debug)]
pub struct PairwiseStc {
    period: Duration,
}

impl PairwiseStc {
    /// Placeholder.
    #[must_use]
    pub fn new(_weights: &[DelayWeight], period: Duration, _pole: f64, _forgetting: f64) -> Self {
        Self { period }
    }
}

impl SplitControl for PairwiseStc {
    fn period(&self) -> Duration {
        self.period
    }

    fn on_sample(&mut self, _seen: SplitSample<'_>, _shares: &mut [f64]) {}
}
