//! The average delay of each class, for the disciplines that even it out.

use crate::jobs::Job;
use crate::time::{Duration, Instant};
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;

/// Time in which a delay's weight in the average falls to 1/e.
///
/// Over all time the average is useless after a change of load: it takes as long to unlearn as it took to learn.
const MEMORY: Duration = Duration::from_secs(30);

/// Delays of one class that left the queue for a worker, the old ones counting less.
#[derive(Clone, Copy, Debug, Default)]
struct Past {
    /// Sum of the delays in seconds and of their weights, as of `at`.
    sum_s: f64,
    weight: f64,
    at: Instant,
}

impl Past {
    /// The sum and the weight with one more delay, of weight 1, at `now`.
    fn with(self, now: Instant, delay: Duration) -> Self {
        let kept = libm::exp(-(now.since(self.at).as_secs_f64() / MEMORY.as_secs_f64()));
        Self { sum_s: self.sum_s * kept + delay.as_secs_f64(), weight: self.weight * kept + 1.0, at: now }
    }
}

/// Average delays over weights, by class.
#[derive(Clone, Debug)]
pub(super) struct Delays {
    weights: Vec<DelayWeight>,
    past: Vec<Past>,
}

impl Delays {
    pub(super) fn new(weights: Vec<DelayWeight>) -> Self {
        Self { past: vec![Past::default(); weights.len()], weights }
    }

    /// The weights of the classes.
    pub(super) fn weights(&self) -> &[DelayWeight] {
        &self.weights
    }

    /// Average delay of the job's class over its weight in seconds, as it is if the job leaves the queue at `now`.
    ///
    /// The job is counted in for two reasons. A class without a past has no average, which is not an average of 0. And
    /// one whose average is near 0 is not left waiting for as long as others do worse: its own wait counts more the
    /// longer ago its last service was.
    pub(super) fn normalised(&self, now: Instant, job: &Job) -> f64 {
        let class = usize::from(job.class.0);
        let Past { sum_s, weight, .. } = self.past[class].with(now, now.since(job.queued));
        sum_s / weight / self.weights[class].get()
    }

    /// Notes that a job goes to a worker.
    pub(super) fn on_taken(&mut self, now: Instant, job: &Job) {
        let past = &mut self.past[usize::from(job.class.0)];
        *past = past.with(now, now.since(job.queued));
    }
}
