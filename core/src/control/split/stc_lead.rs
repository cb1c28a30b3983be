//! PLACEHOLDER: holds the split.

use super::{SplitControl, SplitSample};
use crate::time::Duration;
use crate::unit::DelayWeight;

/// Placeholder.
#[derive(Clone, Debug)]
pub struct StcLead {
    period: Duration,
}

impl StcLead {
    /// Placeholder.
    #[must_use]
    pub fn new(_weights: &[DelayWeight], period: Duration, _prior: f64, _tune: bool) -> Self {
        Self { period }
    }
}

impl SplitControl for StcLead {
    fn period(&self) -> Duration {
        self.period
    }

    fn on_sample(&mut self, _seen: SplitSample<'_>, _shares: &mut [f64]) {}
}
