//! What the controllers in logarithms have in common.
//!
//! The logarithm of a class's delay over its weight answers the logarithm of its workers with a gain near -1, at any
//! load, ratio and number of classes; the same in shares of delay and of workers depends on where the split stands.
//! In logarithms the target is that all are equal, so each class looks at its distance from the mean, and its loop
//! ends in a factor for its share.

use alloc::vec::Vec;

/// Largest step of a share, as a logarithm.
const STEP: f64 = 0.5;

/// Which of the classes `present` count in the means: all but those at their floor that are still below the mean of the rest.
///
/// Such a class waits less than its part and cannot be slowed further: it is idle, or its weight asks for more than any
/// split can do. If it counted, all others would seem too slow, each would ask for as large a step as it may, and the
/// ratio among them would be lost.
pub(super) fn counted(outputs: &[f64], present: Vec<bool>, at_floor: &[bool]) -> Vec<bool> {
    let mut counted = present;
    loop {
        let mean = mean(outputs, &counted);
        let stuck = |i: usize| counted[i] && at_floor[i] && outputs[i] < mean;
        let Some(i) = (0..outputs.len()).find(|&i| stuck(i)) else { return counted };
        counted[i] = false;
    }
}

/// Takes out the mean of those that count: theirs sum to zero.
pub(super) fn centre(figures: &mut [f64], counted: &[bool]) {
    let mean = mean(figures, counted);
    figures.iter_mut().for_each(|figure| *figure -= mean);
}

fn mean(figures: &[f64], counted: &[bool]) -> f64 {
    let of = figures.iter().zip(counted).filter(|(_, counts)| **counts);
    let (sum, count) = of.fold((0.0, 0.0), |(sum, count), (figure, _)| (sum + figure, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// Which shares are no larger than that of one of `workers`.
pub(super) fn at_floor(shares: &[f64], workers: u32) -> Vec<bool> {
    // What sums to 1 with floors in it has been scaled down a little; what is above by rounding counts as well.
    shares.iter().map(|share| share * f64::from(workers) <= 1.0 + 1e-9).collect()
}

/// A step no larger than allowed, and whether it had to be cut.
pub(super) fn cut(step: f64) -> (f64, bool) {
    (step.clamp(-STEP, STEP), step.abs() > STEP)
}

/// Multiplies each share by the exponential of its step and makes them sum to 1 again, none far below one of
/// `workers`: a share that went on falling while its class is idle would have to climb back first.
pub(super) fn step_shares(shares: &mut [f64], steps: &[f64], workers: u32) {
    let floor = 1.0 / f64::from(workers.max(1));
    for (share, step) in shares.iter_mut().zip(steps) {
        let from = if share.is_finite() && *share > 0.0 { *share } else { floor };
        *share = from * libm::exp(*step);
    }
    normalise(shares);
    shares.iter_mut().for_each(|share| *share = share.max(floor));
    normalise(shares);
}

fn normalise(shares: &mut [f64]) {
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
}

/// Which of two models predicts better: mean square errors of both, of the same samples.
///
/// A model learned from noise is worse than none. So it is used only while its predictions have been clearly better
/// than those of the model the controller began with: that is the gate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trust {
    prior: f64,
    learned: f64,
}

impl Trust {
    /// Mean square error that is assumed of both at first.
    const START: f64 = 0.05;
    /// Weight of the newest error.
    const NEWEST: f64 = 0.03;
    /// Least variance that outliers are cut by.
    const LEAST_CUT: f64 = 1e-3;
    /// Keeps the figures above zero where a model is exact.
    const LEAST: f64 = 1e-9;
    /// The learned model must be better by a tenth.
    const BETTER: f64 = 0.9;

    pub(super) const fn new() -> Self {
        Self { prior: Self::START, learned: Self::START }
    }

    /// Notes how far off both predictions were; more than three standard deviations count as three.
    pub(super) fn note(&mut self, prior_error: f64, learned_error: f64) {
        let most = 9.0 * self.prior.max(Self::LEAST_CUT);
        let follow = |mean: f64, error: f64| {
            ((1.0 - Self::NEWEST) * mean + Self::NEWEST * (error * error).min(most)).max(Self::LEAST)
        };
        self.prior = follow(self.prior, prior_error);
        self.learned = follow(self.learned, learned_error);
    }

    /// Whether the learned model is to be used.
    pub(super) fn is_open(&self) -> bool {
        self.learned < Self::BETTER * self.prior
    }

    /// Mean square error of the learned model over that of the prior.
    pub(super) fn ratio(&self) -> f64 {
        self.learned / self.prior
    }

    /// Mean square error of the prior: how noisy samples are.
    pub(super) const fn noise(&self) -> f64 {
        self.prior
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[track_caller]
    fn check_shares(what: &str, workers: u32, mut shares: [f64; 2], steps: [f64; 2], want: [f64; 2]) {
        step_shares(&mut shares, &steps, workers);
        let close = shares.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "{what}: {shares:?} instead of {want:?}");
    }

    #[test]
    fn shares_are_multiplied_and_sum_to_one() {
        let ln2 = core::f64::consts::LN_2;
        check_shares("no step", 10, [0.5, 0.5], [0.0, 0.0], [0.5, 0.5]);
        check_shares("twice as much", 10, [0.5, 0.5], [ln2, 0.0], [2.0 / 3.0, 1.0 / 3.0]);
        check_shares("any scale", 10, [30.0, 10.0], [0.0, 0.0], [0.75, 0.25]);
        check_shares("not below a worker", 4, [0.99, 0.01], [0.0, 0.0], [0.99 / 1.24, 0.25 / 1.24]);
        check_shares("what is no share", 4, [f64::NAN, -1.0], [0.0, 0.0], [0.5, 0.5]);
        check_shares("no worker at all", 0, [0.7, 0.3], [0.0, 0.0], [0.5, 0.5]);
    }

    #[track_caller]
    fn check_counted(what: &str, outputs: &[f64], at_floor: &[bool], want: &[bool]) {
        assert_eq!(counted(outputs, vec![true; outputs.len()], at_floor), want, "{what}: {outputs:?}");
    }

    #[test]
    fn who_cannot_be_slowed_further_does_not_count() {
        check_counted("nobody at the floor", &[1.0, -9.0], &[false, false], &[true, true]);
        check_counted(
            "at the floor and too quick",
            &[1.0, 2.0, -9.0],
            &[false, false, true],
            &[true, true, false],
        );
        check_counted("at the floor and too slow", &[1.0, 2.0, 9.0], &[false, false, true], &[true; 3]);
        // The mean of all is -2; of the two that are left 1.5.
        check_counted(
            "the one brings out the other",
            &[2.0, 1.0, -9.0],
            &[false, true, true],
            &[true, false, false],
        );
        check_counted("all at the floor", &[1.0, 2.0], &[true, true], &[false, true]);
        check_counted("alone", &[1.0], &[true], &[true]);
    }

    #[test]
    fn who_is_not_present_does_not_count() {
        let got = counted(&[1.0, 5.0, 2.0], vec![true, false, true], &[false; 3]);
        assert_eq!(got, [true, false, true], "the second has no figures");
    }

    #[test]
    fn means_are_of_those_that_count() {
        let mut figures = [1.0, 3.0, -7.0];
        centre(&mut figures, &[true, true, false]);
        assert_eq!(figures, [-1.0, 1.0, -9.0], "the mean of the first two is 2");
    }

    #[test]
    fn the_gate_opens_for_a_tenth_and_forgets() {
        let mut trust = Trust::new();
        assert!(!trust.is_open(), "shut at first");
        (0..100).for_each(|_| trust.note(0.2, 0.1));
        assert!(trust.is_open(), "errors half as large: {trust:?}");
        (0..300).for_each(|_| trust.note(0.1, 0.099));
        assert!(!trust.is_open(), "errors as large: {trust:?}");
        (0..100_000).for_each(|_| trust.note(0.0, 0.0));
        assert!(trust.ratio().is_finite() && trust.noise() > 0.0, "exact models: {trust:?}");
    }

    #[test]
    fn an_outlier_counts_as_three_standard_deviations() {
        let mut trust = Trust::new();
        trust.note(1e100, 0.0);
        assert!((trust.noise() - (0.97 * 0.05 + 0.03 * 9.0 * 0.05)).abs() < 1e-12, "{trust:?}");
    }
}
