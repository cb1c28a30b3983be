//! Whether delays are in proportion: how far the classes are from their parts of the delay.
//!
//! Everything here goes by means of the jobs of a stretch of time, as ratios of sums (paper P, 0.10, trap 11); a mean
//! of ratios would weigh a quiet second as much as a busy one.

use alloc::vec;
use alloc::vec::Vec;

/// Length of the windows whose errors are counted, in seconds.
pub const WINDOW_S: f64 = 10.0;
/// The smaller and the larger error that is counted as in band.
pub const BANDS: [f64; 2] = [0.1, 0.2];
/// Time between two looks at a split, to count workers that moved, in seconds.
pub const LOOK_S: f64 = 5.0;

/// Delays of jobs handed over in some stretch of time, by class.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Delays {
    jobs: Vec<f64>,
    sums_s: Vec<f64>,
}

impl Delays {
    /// None yet, of so many classes.
    #[must_use]
    pub fn new(classes: usize) -> Self {
        Self { jobs: vec![0.0; classes], sums_s: vec![0.0; classes] }
    }

    /// Adds `jobs` jobs of a class whose delays sum to `sum_s` seconds.
    pub fn add(&mut self, class: usize, jobs: f64, sum_s: f64) {
        self.jobs[class] += jobs;
        self.sums_s[class] += sum_s;
    }

    /// Adds another stretch, of as many classes.
    pub fn merge(&mut self, other: &Self) {
        for class in 0..self.jobs.len() {
            self.add(class, other.jobs[class], other.sums_s[class]);
        }
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.jobs.fill(0.0);
        self.sums_s.fill(0.0);
    }

    /// Sum of all delays in seconds: by Little's law, what waits on average times the length of the stretch.
    #[must_use]
    pub fn sum_s(&self) -> f64 {
        self.sums_s.iter().sum()
    }

    /// Mean delay of a class in seconds; `None` if nobody of it was handed over.
    #[must_use]
    pub fn mean_s(&self, class: usize) -> Option<f64> {
        (self.jobs[class] > 0.0).then(|| self.sums_s[class] / self.jobs[class])
    }

    /// Mean delays by class, in seconds; `None` if one has none, or nobody waited at all.
    #[must_use]
    pub fn means_s(&self) -> Option<Vec<f64>> {
        let means: Vec<f64> = (0..self.jobs.len()).map(|class| self.mean_s(class)).collect::<Option<_>>()?;
        (means.iter().sum::<f64>() > 1e-9).then_some(means)
    }
}

/// Each delay's share of their sum (paper P, `y_i` of the delays and `r_i` of the weights).
#[must_use]
pub fn shares(delays: &[f64]) -> Vec<f64> {
    let sum: f64 = delays.iter().sum();
    delays.iter().map(|delay| delay / sum).collect()
}

/// The largest relative error of a class's share of the delay, `max |y_i / r_i - 1|`: 0 is on target.
#[must_use]
pub fn share_error(delays: &[f64], weights: &[f64]) -> f64 {
    let error = |(got, want): (&f64, &f64)| (got / want - 1.0).abs();
    shares(delays).iter().zip(&shares(weights)).map(error).fold(0.0, f64::max)
}

/// The largest delay over its weight, over the smallest, less 1: 0 is on target, infinite if a class does not wait.
#[must_use]
pub fn pairwise_error(delays: &[f64], weights: &[f64]) -> f64 {
    let normalised = || delays.iter().zip(weights).map(|(delay, weight)| delay / weight);
    normalised().fold(0.0, f64::max) / normalised().fold(f64::INFINITY, f64::min) - 1.0
}

/// Workers that went to another class between two splits.
#[must_use]
pub fn moved(before: &[u32], after: &[u32]) -> u32 {
    before.iter().zip(after).map(|(&was, &is)| is.saturating_sub(was)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(delays: &[f64], weights: &[f64], share: f64, pairwise: f64) {
        let got = (share_error(delays, weights), pairwise_error(delays, weights));
        let near = (got.0 - share).abs() < 1e-9 && ((got.1 - pairwise).abs() < 1e-9 || got.1 == pairwise);
        assert!(near, "{delays:?} for {weights:?}: {got:?}, want ({share}, {pairwise})");
    }

    #[test]
    fn errors_are_zero_on_target_and_say_how_far_off_it_is() {
        check(&[0.3, 0.6], &[1.0, 2.0], 0.0, 0.0);
        // Equal delays for 1:2: the first bears half instead of a third.
        check(&[0.5, 0.5], &[1.0, 2.0], 0.5, 1.0);
        check(&[1.0, 1.0, 4.0], &[1.0, 2.0, 4.0], (1.0 / 6.0 / (1.0 / 7.0) - 1.0_f64).max(5.0 / 12.0), 1.0);
        check(&[0.0, 1.0], &[1.0, 1.0], 1.0, f64::INFINITY);
    }

    #[test]
    fn a_mean_is_of_jobs_and_needs_every_class() {
        let mut delays = Delays::new(2);
        delays.add(0, 3.0, 1.5);
        assert_eq!((delays.mean_s(0), delays.mean_s(1), delays.means_s()), (Some(0.5), None, None));
        let mut more = Delays::new(2);
        more.add(1, 1.0, 2.0);
        more.add(0, 1.0, 2.5);
        delays.merge(&more);
        assert_eq!(delays.means_s(), Some(alloc::vec![1.0, 2.0]));
        assert_eq!(delays.sum_s(), 6.0);
        delays.clear();
        delays.add(0, 1.0, 0.0);
        delays.add(1, 1.0, 0.0);
        assert_eq!(delays.means_s(), None, "nobody waited");
    }

    #[test]
    fn a_worker_that_changes_class_is_counted_once() {
        assert_eq!(moved(&[4, 2, 2], &[3, 2, 3]), 1);
        assert_eq!(moved(&[4, 4], &[1, 7]), 3);
    }
}
