//! PLACEHOLDER: holds the split.

use super::{SplitControl, SplitSample};
use crate::time::Duration;
use crate::unit::DelayWeight;

/// Placeholder.
#[derive(Clone, Debug)]
pub struct StcServed {
    period: Duration,
}

impl StcServed {
    /// Placeholder.
    #[must_use]
    pub fn new(_weights: &[DelayWeight], period: Duration, _tune: bool) -> Self {
        Self { period }
    }
}

impl SplitControl for StcServed {
    fn period(&self) -> Duration {
        self.period
    }

    fn on_sample(&mut self, _seen: SplitSample<'_>, _shares: &mut [f64]) {}
}
