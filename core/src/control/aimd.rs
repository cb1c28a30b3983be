//! AIMD: one worker more while answers come in time, a tenth fewer when they do not.
//!
//! The oldest of the adaptive concurrency limits, from TCP (Chiu and Jain 1989). It grows only while the pool is
//! used, so that a quiet night does not leave a limit that a busy morning runs through. After a cut it waits until
//! those in work then have had time to finish: what they report is about the limit before, and to cut again for it
//! would bring the pool to its least for a single slow moment.

use super::{PoolControl, PoolSample};
use crate::time::{Duration, Instant};

/// One worker in so many goes.
const CUT: u32 = 10;

/// A limit with additive increase and multiplicative decrease.
#[derive(Clone, Copy, Debug)]
pub struct Aimd {
    // Invariant: min <= workers <= max.
    min: u32,
    max: u32,
    workers: u32,
    target: Duration,
    period: Duration,
    /// What is seen before is about the limit before the last cut.
    settled: Instant,
}

impl Aimd {
    /// A pool of `workers`, kept from `min` to `max`, for a time in work of at most `target` on average.
    #[must_use]
    pub fn new(workers: u32, (min, max): (u32, u32), target: Duration, period: Duration) -> Self {
        let max = max.max(min);
        Self { min, max, workers: workers.clamp(min, max), target, period, settled: Instant::START }
    }

    fn cut(&mut self, now: Instant, lasting: Duration) {
        self.workers = self.workers.saturating_sub((self.workers / CUT).max(1)).max(self.min);
        self.settled = now + lasting;
    }
}

impl PoolControl for Aimd {
    fn period(&self) -> Duration {
        self.period
    }

    fn workers(&self) -> u32 {
        self.workers
    }

    fn on_sample(&mut self, now: Instant, seen: &PoolSample) -> u32 {
        if now < self.settled {
            return self.workers;
        }
        match seen.mean {
            _ if seen.is_failing() => self.cut(now, seen.mean.unwrap_or(self.period)),
            Some(mean) if mean > self.target => self.cut(now, mean),
            Some(_) if seen.uses(self.workers) => self.workers = self.workers.saturating_add(1).min(self.max),
            _ => {}
        }
        self.workers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::tests::check_bounds;

    fn aimd(workers: u32) -> Aimd {
        Aimd::new(workers, (2, 30), Duration::from_millis(100), Duration::from_millis(100))
    }

    /// Samples each 100 ms of the mean time in work in milliseconds, most in work, completed and failed; the
    /// workers after each.
    #[track_caller]
    fn check(workers: u32, samples: &[(u64, u32, u32, u32)], want: &[u32]) {
        let mut pool = aimd(workers);
        let mut now = Instant::START;
        for (&(mean_ms, most_busy, completed, failed), &want) in samples.iter().zip(want) {
            now += Duration::from_millis(100);
            let mean = (completed > 0).then_some(Duration::from_millis(mean_ms));
            let seen = PoolSample { most_busy, completed, failed, mean, ..PoolSample::default() };
            assert_eq!(pool.on_sample(now, &seen), want, "workers at {now} after {seen:?}");
        }
    }

    #[test]
    fn it_grows_by_one_while_it_is_used_and_in_time() {
        check(20, &[(100, 20, 9, 0), (90, 21, 9, 0), (90, 20, 9, 0), (90, 20, 9, 0)], &[21, 22, 23, 23]);
        check(29, &[(90, 30, 9, 0), (90, 30, 9, 0)], &[30, 30]);
    }

    #[test]
    fn late_answers_cut_a_tenth_and_at_least_one() {
        check(30, &[(101, 30, 9, 0)], &[27]);
        check(5, &[(101, 5, 9, 0)], &[4]);
        check(2, &[(101, 2, 9, 0)], &[2]);
    }

    #[test]
    fn one_slow_moment_is_answered_once() {
        // 250 ms in work: those of before the cut report until then.
        check(30, &[(250, 30, 9, 0), (250, 30, 9, 0), (250, 29, 9, 0), (250, 27, 9, 0)], &[27, 27, 27, 25]);
    }

    #[test]
    fn failures_cut_it_and_a_few_of_many_do_not() {
        check(30, &[(50, 30, 0, 9)], &[27]);
        check(30, &[(50, 30, 89, 11)], &[27]);
        check(20, &[(50, 20, 90, 10)], &[21]);
    }

    #[test]
    fn without_an_answer_nothing_is_known() {
        check(20, &[(0, 20, 0, 0), (0, 0, 0, 0)], &[20, 20]);
    }

    #[test]
    fn nothing_takes_it_beyond_its_bounds() {
        check_bounds(2, 30, aimd);
    }
}
