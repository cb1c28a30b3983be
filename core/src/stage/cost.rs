//! What a job is expected to cost its stage, and how fast the stage gets through its queue.
//!
//! A cost is in nanoseconds of the whole stage: a job that keeps one of ten workers busy for 1 s costs 0.1 s, one
//! that takes a tenth of a second of a link costs that. It is what limits in seconds of work and shares of
//! work count in (`WorkRed`, ageing by share, weighted fair queueing).

use crate::id::ClassId;
use crate::scenario::{Class, StageSpec, Work};
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// Weight of the newest time in work in a class's mean, once enough have been seen.
const GAIN: f64 = 0.005;
/// What the scenario says of a class counts as so many times that were seen.
const PRIOR: f64 = 100.0;
/// Weight of the newest gap between two completions in the mean gap.
const GAP_GAIN: f64 = 0.1;

/// Mean time in work of one class.
#[derive(Clone, Copy, Debug)]
struct Mean {
    ns: f64,
    seen: f64,
}

/// What the jobs of a stage are expected to cost.
#[derive(Clone, Debug)]
pub(crate) struct Costs {
    /// A link's bytes a second.
    link: Option<f64>,
    /// By class: mean time of one worker, or mean size in bytes at a link. Begins with what the scenario says.
    means: Vec<Mean>,
    /// Mean time between two completions without an idle stretch in between; zero while none is known.
    gap_ns: f64,
    gap: Duration,
    /// The last completion, if somebody has waited ever since.
    completed: Option<Instant>,
}

impl Costs {
    pub(crate) fn new(spec: &StageSpec, classes: &[Class]) -> Self {
        let mean = |class: &Class| match &spec.work {
            Work::Own(law, _) => law.mean_us() * 1e3,
            Work::Servers => class.service.mean_us() * 1e3,
            Work::Link(_) => class.size.as_ref().map_or(0.0, crate::scenario::v1::SizeV1::mean_bytes),
        };
        Self {
            link: if let Work::Link(bytes_per_s) = spec.work { Some(bytes_per_s) } else { None },
            means: classes.iter().map(|class| Mean { ns: mean(class), seen: PRIOR }).collect(),
            gap_ns: 0.0,
            gap: Duration::ZERO,
            completed: None,
        }
    }

    /// Goes on with another scenario: what was learned is kept, what was only said is said anew. With `anew`, completions
    /// were not followed until this moment.
    pub(crate) fn reconfigure(&mut self, spec: &StageSpec, classes: &[Class], anew: bool) {
        let said = Self::new(spec, classes);
        self.link = said.link;
        for (mean, said) in self.means.iter_mut().zip(said.means) {
            if mean.seen <= PRIOR {
                *mean = said;
            }
        }
        if anew {
            self.completed = None;
        }
    }

    /// The expected cost of a job, in nanoseconds of the whole stage of so many workers. A job of unknown `size`
    /// counts as the mean of its class.
    pub(crate) fn of(&self, class: ClassId, size: Option<u64>, workers: u32) -> u64 {
        let mean = self.means[usize::from(class.0)].ns;
        match self.link {
            Some(bytes_per_s) => (size.map_or(mean, |bytes| bytes as f64) / bytes_per_s * 1e9) as u64,
            None => (mean / f64::from(workers.max(1))) as u64,
        }
    }

    /// Mean time between two completions while somebody waits.
    #[inline]
    pub(crate) const fn gap(&self) -> Duration {
        self.gap
    }

    /// Notes how long work on a job of a class took.
    pub(crate) fn note_took(&mut self, class: ClassId, took: Duration) {
        if self.link.is_none() {
            let mean = &mut self.means[usize::from(class.0)];
            mean.seen += 1.0;
            mean.ns += (took.as_nanos() as f64 - mean.ns) * (1.0 / mean.seen).max(GAIN);
        }
    }

    /// Notes that work on a job ended; `waiting` says whether anybody waits.
    pub(crate) fn on_done(&mut self, now: Instant, waiting: bool) {
        if let Some(before) = self.completed {
            let gap = now.since(before).as_nanos() as f64;
            self.gap_ns = if self.gap_ns > 0.0 { self.gap_ns + GAP_GAIN * (gap - self.gap_ns) } else { gap };
            self.gap = Duration::from_nanos(self.gap_ns as u64);
        }
        self.completed = waiting.then_some(now);
    }
}
