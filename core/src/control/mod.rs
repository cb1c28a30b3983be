//! Controllers of a stage: how many workers it has, how many jobs a worker takes at once, how fast jobs start.
//!
//! A controller looks at its stage once a period and sets one number. It sees only what is in its sample, so that
//! simulator and server drive it alike.

use crate::time::{Duration, Instant};

/// What a pool went through since the last sample.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PoolSample {
    /// Jobs waiting now.
    pub queued: u32,
    /// Jobs in work now.
    pub busy: u32,
    /// Most jobs in work at once since the last sample.
    pub most_busy: u32,
    /// Workers now.
    pub workers: u32,
    /// Jobs whose work ended since the last sample, with their answer.
    pub completed: u32,
    /// Jobs whose work failed since the last sample.
    pub failed: u32,
    /// Mean time in work of those completed; `None` if there are none.
    pub mean: Option<Duration>,
    /// Least time in work of those completed; `None` if there are none.
    pub least: Option<Duration>,
}

/// Sets the number of workers of a stage, once a period.
pub trait PoolControl {
    /// Time between two samples; above zero.
    fn period(&self) -> Duration;

    /// Workers to have until the next sample: never outside the bounds the control was made with.
    fn on_sample(&mut self, now: Instant, seen: &PoolSample) -> u32;
}

/// Sets how many jobs a worker takes at once, once a period.
pub trait BatchControl {
    /// Time between two samples; above zero.
    fn period(&self) -> Duration;

    /// Jobs to take at once until the next sample, at least 1, given how many were completed since the last.
    fn on_sample(&mut self, now: Instant, completed: u32) -> u32;
}
