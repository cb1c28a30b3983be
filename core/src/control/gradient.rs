//! Gradient: a limit that follows the ratio of the least to the present time in work.
//!
//! Work that takes longer than it did when there was less of it is waiting somewhere inside. Known limiters of this
//! kind (Envoy's adaptive concurrency, Netflix's Gradient2) have three faults, and the choices here are answers:
//!
//! - They clamp the limit now and then to measure an idle server, and refuse requests meanwhile. Here nothing is
//!   probed. The limit goes down only when work is slow or fails, and every cut is the measurement: if work is no
//!   quicker with half as many in work, it does not take longer for waiting but because it is more work. That time
//!   becomes the measure, and the limit returns to where it was.
//! - They grow at mild overload, as they add room for a queue even while work is slow. Here the limit grows only
//!   while work is quick and the limit is used, by its square root; and a step that made work longer instead of
//!   getting more of it done is taken back.
//! - Their baseline drifts: a long average, or a window of recent least times, takes in the slow times the limit itself
//!   brings about. Here, times seen while the limit is used can lower the measure but not raise it. It is forgotten
//!   only in favour of times seen when the limit was half idle, or of a cut that brought nothing.
//!
//! The time in work is the mean of a stretch of jobs, and the measure is the least that this mean has been on average
//! over some stretches. The least single time, as good a choice where all jobs are alike, says nothing where they are
//! not: of a hundred exponential times the least is a hundredth of the mean, and every pool would shrink to its
//! least. For the same reason a single slow stretch is no cause for a cut.
//!
//! What it cannot know: a run that begins with too many workers on a busy server takes the slow times for the
//! measure, until a quieter moment shows better.

use super::{PoolControl, PoolSample};
use crate::time::{Duration, Instant};

/// Fewest jobs a mean is taken of.
const ENOUGH: u64 = 30;
/// Largest cut: the limit at most halves.
const LARGEST_CUT: f64 = 0.5;
/// Smallest cut for failures.
const SMALLEST_CUT: f64 = 0.9;
/// With half as many in work, a time of more than this part of the one before is no shorter. If all of it were
/// waiting, it would halve; with the default tolerance, a third of it is waiting and it falls to two thirds.
const NO_SHORTER: f64 = 0.85;
/// A time of more than this multiple of the one before is longer.
const LONGER: f64 = 1.15;
/// Part of what a step of growth could bring that it must bring to be kept.
const WORTH_IT: f64 = 0.25;
/// Stretches that the measure is an average over.
const AVERAGED: u32 = 8;
/// Stretches that the measure is remembered for, in each of [`SLOTS`] slots.
const SLOT_LENGTH: u32 = 32;
/// Slots of the measure's memory.
const SLOTS: usize = 8;

/// A concurrency limit that keeps the time in work near the least it has been.
#[derive(Clone, Debug)]
pub struct Gradient {
    // Invariant: min <= limit <= max.
    min: f64,
    max: f64,
    limit: f64,
    tolerance: f64,
    period: Duration,
    measure: Measure,
    stretch: Stretch,
    /// What ends before is about the limit before the last change.
    settled: Instant,
    /// Where a series of cuts began.
    cut_from: Option<Point>,
    /// Where the last step of growth began, if nothing has changed since.
    grown_from: Option<Point>,
}

/// Jobs that ended since the last decision.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    work_ns: u128,
    completed: u64,
    failed: u64,
    most_busy: u32,
}

/// So many in work, and how long it took.
#[derive(Clone, Copy, Debug)]
struct Point {
    in_use: f64,
    mean_s: f64,
}

impl Point {
    /// Whether going from here to `there`, where more are in work, got more work done: by Little's law the
    /// throughput is the number in work over the time in work.
    fn gains_by(self, there: Self) -> bool {
        let more = there.in_use / self.in_use;
        let gain = more * self.mean_s / there.mean_s;
        more <= 1.0 || gain >= 1.0 + WORTH_IT * (more - 1.0)
    }
}

impl Stretch {
    fn add(&mut self, seen: &PoolSample) {
        let mean_ns = seen.mean.unwrap_or_default().as_nanos();
        // At most 2^64 times 2^32 a sample; saturating, as nobody bounds the number of samples.
        self.work_ns = self.work_ns.saturating_add(u128::from(mean_ns) * u128::from(seen.completed));
        self.completed = self.completed.saturating_add(u64::from(seen.completed));
        self.failed = self.failed.saturating_add(u64::from(seen.failed));
        self.most_busy = self.most_busy.max(seen.most_busy);
    }

    /// Mean time in work, in seconds, if enough jobs have ended to say.
    fn mean_s(&self) -> Option<f64> {
        let mean_ns = self.work_ns as f64 / self.completed.max(1) as f64;
        (self.completed >= ENOUGH && mean_ns > 0.0).then_some(mean_ns / 1e9)
    }

    /// What remains if the failed are left out.
    fn good_part(&self) -> f64 {
        self.completed as f64 / self.completed.saturating_add(self.failed).max(1) as f64
    }
}

impl Gradient {
    /// A pool of `workers`, kept from `min` to `max`; work may take up to `tolerance` times the least it has taken,
    /// at least 1.
    #[must_use]
    pub fn new(workers: u32, (min, max): (u32, u32), tolerance: f64, period: Duration) -> Self {
        let (min, max) = (f64::from(min), f64::from(max.max(min)));
        Self {
            min,
            max,
            limit: f64::from(workers).clamp(min, max),
            tolerance: tolerance.max(1.0),
            period,
            measure: Measure::default(),
            stretch: Stretch::default(),
            settled: Instant::START,
            cut_from: None,
            grown_from: None,
        }
    }

    /// Decides on a stretch with a mean.
    fn judge(&mut self, now: Instant, mean_s: f64) {
        let least_s = self.measure.least_s().unwrap_or(mean_s);
        let gradient = (self.tolerance * least_s / mean_s).clamp(LARGEST_CUT, 1.0);
        let here = Point { in_use: f64::from(self.stretch.most_busy).max(1.0), mean_s };
        if gradient >= 1.0 {
            self.cut_from = None;
            self.measure.note(mean_s, here.in_use * 2.0 <= self.limit);
        }
        match self.grown_from.take() {
            Some(before) if !before.gains_by(here) => self.change(now, before.in_use, mean_s),
            _ if gradient < 1.0 => self.slow(now, mean_s, gradient),
            _ if here.in_use >= 0.9 * f64::from(self.workers()) => {
                self.grown_from = Some(here);
                self.change(now, self.limit + libm::sqrt(self.limit), mean_s);
            }
            _ => {}
        }
    }

    fn slow(&mut self, now: Instant, mean_s: f64, gradient: f64) {
        // A limit that is not reached has to come down to what is in use before a cut means anything.
        let in_use = f64::from(self.stretch.most_busy).clamp(self.min, self.limit);
        let here = Point { in_use, mean_s };
        let Some(from) = self.cut_from else {
            self.cut_from = Some(here);
            return;
        };
        if mean_s > LONGER * from.mean_s {
            // What was begun with more in work is still coming in. A cut is judged from here on.
            self.cut_from = Some(here);
            self.change(now, in_use, mean_s);
        } else if in_use > (from.in_use / 2.0).max(self.min) {
            self.change(now, in_use * gradient, mean_s);
        } else if mean_s >= NO_SHORTER * from.mean_s {
            self.cut_from = None;
            self.measure = Measure::starting_at(mean_s);
            self.change(now, from.in_use, mean_s);
        } else {
            self.cut_from = Some(here);
            self.change(now, in_use * gradient, mean_s);
        }
    }

    /// Sets the limit, and waits for what was in work before to end: twice its time, as some of it may take longer.
    fn change(&mut self, now: Instant, limit: f64, mean_s: f64) {
        self.limit = limit.clamp(self.min, self.max);
        self.settled = now + Duration::from_secs_f64(2.0 * mean_s);
    }

    fn fail(&mut self, now: Instant) {
        let part = self.stretch.good_part().clamp(LARGEST_CUT, SMALLEST_CUT);
        (self.cut_from, self.grown_from) = (None, None);
        self.change(now, self.limit * part, self.measure.least_s().unwrap_or(0.0));
    }
}

impl PoolControl for Gradient {
    fn period(&self) -> Duration {
        self.period
    }

    fn workers(&self) -> u32 {
        (self.limit + 0.5) as u32
    }

    fn on_sample(&mut self, now: Instant, seen: &PoolSample) -> u32 {
        if now < self.settled {
            return self.workers();
        }
        self.stretch.add(seen);
        if seen.is_failing() {
            self.fail(now);
        } else if let Some(mean_s) = self.stretch.mean_s() {
            self.judge(now, mean_s);
        } else {
            return self.workers();
        }
        self.stretch = Stretch::default();
        self.workers()
    }
}

/// The least mean time in work of late, in fixed memory: the least of each slot, and slots that take turns.
#[derive(Clone, Copy, Debug)]
struct Measure {
    /// Mean of the latest stretches, in seconds, and how many there were, up to [`AVERAGED`].
    average_s: f64,
    averaged: u32,
    least_s: [f64; SLOTS],
    slot: usize,
    noted: u32,
}

impl Default for Measure {
    fn default() -> Self {
        Self { average_s: 0.0, averaged: 0, least_s: [f64::INFINITY; SLOTS], slot: 0, noted: 0 }
    }
}

impl Measure {
    /// Nothing but one time, in seconds.
    fn starting_at(mean_s: f64) -> Self {
        let mut measure = Self { average_s: mean_s, averaged: AVERAGED, ..Self::default() };
        measure.least_s[0] = mean_s;
        measure
    }

    /// The least time, in seconds, if any is known.
    fn least_s(&self) -> Option<f64> {
        let least = self.least_s.iter().copied().fold(f64::INFINITY, f64::min);
        least.is_finite().then_some(least)
    }

    /// Notes the mean of a stretch, in seconds. Only one that `counts` makes others be forgotten.
    fn note(&mut self, mean_s: f64, counts: bool) {
        self.averaged = (self.averaged + 1).min(AVERAGED);
        self.average_s += (mean_s - self.average_s) / f64::from(self.averaged);
        if self.averaged < AVERAGED {
            return;
        }
        self.least_s[self.slot] = self.least_s[self.slot].min(self.average_s);
        self.noted += u32::from(counts);
        if self.noted >= SLOT_LENGTH {
            self.noted = 0;
            self.slot = (self.slot + 1) % SLOTS;
            self.least_s[self.slot] = f64::INFINITY;
        }
    }
}

#[cfg(test)]
mod tests;
