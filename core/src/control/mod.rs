//! Controllers of a stage: how many workers it has and which class has which part of them, how many jobs a worker takes
//! at once, how fast jobs start.
//!
//! A controller looks at its stage once a period and sets one number. It sees only what is in its sample, so that
//! simulator and server drive it alike.
//!
//! To add one: a file with a type that implements [`PoolControl`], an arm in [`Pool`], and an arm of `PoolV1` that
//! makes it; for batches the same with [`BatchControl`], [`Batching`] and `BatchV1`, for splits with [`SplitControl`],
//! [`Split`] and `SplitByV1`.

mod aimd;
mod batching;
mod gradient;
mod pace;
pub mod split;
mod threads;

pub use aimd::Aimd;
pub use batching::BatchSize;
pub use gradient::Gradient;
pub use pace::Pace;
pub use split::{Split, SplitControl, apportion};
pub use threads::Threads;

use crate::scenario::v1::{BatchV1, PoolV1};
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

impl PoolSample {
    /// Whether more than a tenth of what ended has failed. A few failures are the business of whoever failed; the
    /// pool is not made smaller for them.
    #[must_use]
    pub fn is_failing(&self) -> bool {
        let ended = u64::from(self.completed) + u64::from(self.failed);
        u64::from(self.failed) * 10 > ended
    }

    /// Whether a pool of so many workers was used: nine in ten were in work at once.
    #[must_use]
    pub fn uses(&self, workers: u32) -> bool {
        u64::from(self.most_busy) * 10 >= u64::from(workers) * 9
    }
}

/// Sets the number of workers of a stage, once a period.
pub trait PoolControl {
    /// Time between two samples; above zero.
    fn period(&self) -> Duration;

    /// Workers to have now.
    fn workers(&self) -> u32;

    /// Workers to have until the next sample: never outside the bounds the control was made with.
    fn on_sample(&mut self, now: Instant, seen: &PoolSample) -> u32;
}

/// Sets how many jobs a worker takes at once, once a period.
pub trait BatchControl {
    /// Time between two samples; above zero.
    fn period(&self) -> Duration;

    /// Jobs to take at once now, at least 1.
    fn size(&self) -> u32;

    /// Jobs to take at once until the next sample, at least 1, given how many were completed since the last.
    fn on_sample(&mut self, now: Instant, completed: u32) -> u32;
}

/// The controller of a pool whose size is not fixed.
#[derive(Clone, Debug)]
pub enum Pool {
    /// By the length of the queue.
    Threads(Threads),
    /// By whether answers come in time.
    Aimd(Aimd),
    /// By how much longer work takes than it need.
    Gradient(Gradient),
}

impl Pool {
    /// The controller a scenario asks for, of a pool that begins with `workers`; `None` if it stays so.
    #[must_use]
    pub fn new(pool: &PoolV1, workers: u32) -> Option<Self> {
        let us = Duration::from_micros;
        Some(match *pool {
            PoolV1::Fixed => return None,
            PoolV1::Threads { min, max, period_us, threshold, idle_us } => {
                Self::Threads(Threads::new(workers, (min, max), us(period_us), threshold, us(idle_us)))
            }
            PoolV1::Aimd { min, max, target_us, period_us } => {
                Self::Aimd(Aimd::new(workers, (min, max), us(target_us), us(period_us)))
            }
            PoolV1::Gradient { min, max, tolerance, period_us } => {
                Self::Gradient(Gradient::new(workers, (min, max), tolerance, us(period_us)))
            }
        })
    }
}

impl Pool {
    /// The same, begun at `now`: of the time before nothing is known.
    #[must_use]
    pub(crate) const fn beginning_at(mut self, now: Instant) -> Self {
        if let Self::Threads(pool) = &mut self {
            pool.begin_at(now);
        }
        self
    }
}

impl PoolControl for Pool {
    fn period(&self) -> Duration {
        match self {
            Self::Threads(pool) => pool.period(),
            Self::Aimd(pool) => pool.period(),
            Self::Gradient(pool) => pool.period(),
        }
    }

    fn workers(&self) -> u32 {
        match self {
            Self::Threads(pool) => pool.workers(),
            Self::Aimd(pool) => pool.workers(),
            Self::Gradient(pool) => pool.workers(),
        }
    }

    fn on_sample(&mut self, now: Instant, seen: &PoolSample) -> u32 {
        match self {
            Self::Threads(pool) => pool.on_sample(now, seen),
            Self::Aimd(pool) => pool.on_sample(now, seen),
            Self::Gradient(pool) => pool.on_sample(now, seen),
        }
    }
}

/// How many jobs a worker takes at once.
#[derive(Clone, Debug)]
pub enum Batching {
    /// So many.
    Fixed(u32),
    /// As many as the throughput needs.
    Adaptive(BatchSize),
}

impl Batching {
    /// What a scenario asks for.
    #[must_use]
    pub fn new(batch: &BatchV1) -> Self {
        match *batch {
            BatchV1::One => Self::Fixed(1),
            BatchV1::Fixed { size } => Self::Fixed(size.max(1)),
            BatchV1::Adaptive { min, max, period_us } => {
                Self::Adaptive(BatchSize::new(min, max, Duration::from_micros(period_us)))
            }
        }
    }

    /// The same, begun at `now`.
    #[must_use]
    pub(crate) const fn beginning_at(mut self, now: Instant) -> Self {
        if let Self::Adaptive(batch) = &mut self {
            batch.begin_at(now);
        }
        self
    }

    /// Jobs to take at once now, at least 1.
    #[must_use]
    pub fn size(&self) -> u32 {
        match self {
            Self::Fixed(size) => *size,
            Self::Adaptive(batch) => batch.size(),
        }
    }

    /// What must be shown samples, if anything.
    pub fn control(&mut self) -> Option<&mut BatchSize> {
        match self {
            Self::Fixed(_) => None,
            Self::Adaptive(batch) => Some(batch),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;

    /// Shows controllers that begin with any number of workers any samples: they stay from `min` to `max`.
    #[track_caller]
    pub(super) fn check_bounds<P: PoolControl>(min: u32, max: u32, make: impl Fn(u32) -> P) {
        for workers in [0, min, max, u32::MAX] {
            let mut pool = make(workers);
            let mut now = Instant::START;
            for n in 0..20_000 {
                let random = |k: u64| mix(n ^ mix(k));
                let count = |k| [0, 1, 3, max - 1, max, 1_000, u32::MAX][(random(k) % 7) as usize];
                let time = |k| match random(k) % 6 {
                    0 => None,
                    r => Some(Duration::from_nanos([0, 1, 1_000_000, 50_000_000, u64::MAX][r as usize - 1])),
                };
                // Now and then a clock that stands still, steps back, or jumps by a day.
                now = match random(0) % 50 {
                    0 => now,
                    1 => Instant::START,
                    2 => now + Duration::from_secs(86_400),
                    _ => now + pool.period(),
                };
                let seen = PoolSample {
                    queued: count(1),
                    busy: count(2),
                    most_busy: count(3),
                    workers: count(4),
                    completed: count(5),
                    failed: if random(6) % 4 == 0 { count(7) } else { 0 },
                    mean: time(8),
                    least: time(9),
                };
                let got = pool.on_sample(now, &seen);
                assert!((min..=max).contains(&got), "{got} workers after sample {n}, {seen:?}");
                assert_eq!(got, pool.workers(), "what is shown after sample {n}");
            }
        }
    }

    #[test]
    fn a_tenth_of_failures_is_suffered() {
        let failing =
            |completed, failed| PoolSample { completed, failed, ..PoolSample::default() }.is_failing();
        assert!(!failing(0, 0), "nothing ended");
        assert!(!failing(9, 1), "one in ten");
        assert!(failing(8, 1), "one in nine");
        assert!(failing(0, 1), "the only one");
        assert!(failing(u32::MAX, u32::MAX), "half of very many");
    }

    #[test]
    fn nine_workers_in_ten_make_a_pool_used() {
        let uses = |most_busy, workers| PoolSample { most_busy, ..PoolSample::default() }.uses(workers);
        assert!(uses(9, 10), "9 of 10");
        assert!(!uses(8, 10), "8 of 10");
        assert!(!uses(0, 1), "none of one");
        assert!(uses(1, 1), "the only one");
    }

    #[test]
    fn what_a_scenario_asks_for_is_made() {
        assert!(Pool::new(&PoolV1::Fixed, 7).is_none(), "a fixed pool has no controller");
        let threads =
            PoolV1::Threads { min: 1, max: 9, period_us: 2_000_000, threshold: 10, idle_us: 5_000_000 };
        let aimd = PoolV1::Aimd { min: 1, max: 9, target_us: 100_000, period_us: 2_000_000 };
        let gradient = PoolV1::Gradient { min: 1, max: 9, tolerance: 1.5, period_us: 2_000_000 };
        for wire in [threads, aimd, gradient] {
            let pool = Pool::new(&wire, 7).unwrap();
            assert_eq!((pool.workers(), pool.period()), (7, Duration::from_secs(2)), "{wire:?}");
        }
        assert_eq!(Batching::new(&BatchV1::One).size(), 1, "one at a time");
        assert_eq!(Batching::new(&BatchV1::Fixed { size: 8 }).size(), 8, "eight at a time");
        let mut batching = Batching::new(&BatchV1::Adaptive { min: 2, max: 64, period_us: 1_000_000 });
        assert_eq!(batching.size(), 64, "an adaptive batch begins with the largest");
        assert_eq!(batching.control().unwrap().period(), Duration::from_secs(1), "and is sampled");
    }
}
