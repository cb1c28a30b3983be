//! PLACEHOLDER: holds the split.

use super::{SplitControl, SplitSample};
use crate::scenario::v1::SplitByV1;
use crate::time::Duration;
use crate::unit::DelayWeight;

/// Placeholder.
#[derive(Clone, Debug)]
pub struct StcPaper {
    period: Duration,
}

impl StcPaper {
    /// The controller that `stc_paper` asks for; `None` for another policy.
    #[must_use]
    pub fn new(_weights: &[DelayWeight], split_by: &SplitByV1) -> Option<Self> {
        let SplitByV1::StcPaper { period_us, .. } = *split_by else { return None };
        Some(Self { period: Duration::from_micros(period_us) })
    }
}

impl SplitControl for StcPaper {
    fn period(&self) -> Duration {
        self.period
    }

    fn on_sample(&mut self, _seen: SplitSample<'_>, _shares: &mut [f64]) {}
}
