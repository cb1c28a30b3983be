//! PLACEHOLDER: a limit.

use super::{Found, QueueControl, Verdict};
use crate::frame::Cause;
use crate::time::{Duration, Instant};
use crate::unit::{DelayWeight, Draw};

/// Placeholder.
#[derive(Clone, Debug)]
pub struct AdmissionWindow {
    limit: u32,
}

impl AdmissionWindow {
    /// Placeholder.
    #[must_use]
    pub fn new(
        _target: Duration,
        _period: Duration,
        _gain: f64,
        limit: u32,
        _weights: &[DelayWeight],
    ) -> Self {
        Self { limit }
    }
}

impl QueueControl for AdmissionWindow {
    fn on_arrival(&mut self, _now: Instant, found: Found<'_>, _draw: Draw) -> Verdict {
        if found.is_too_many(self.limit) { Verdict::Shed(Cause::Full) } else { Verdict::Admit }
    }

    fn limit(&self) -> u32 {
        self.limit
    }
}
