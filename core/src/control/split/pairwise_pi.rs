//! A PI controller on the ratios of neighbours: relative-delay feedback as published for Apache.
//!
//! Each pair of neighbours has a loop of its own that sets the ratio of their workers by the ratio of their delays; the
//! split is the chain of the ratios. An error in one pair moves every class behind it, and a pair with an empty class
//! cuts the chain: these are the weaknesses of steering by pairs, which this controller is here to show.

use super::ground::{Ground, LEAST_S, finish};
use super::{SplitControl, SplitSample};
use crate::frame::LoopFrame;
use crate::time::Duration;
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;

/// Bounds of the factor by which a ratio of workers changes in one step; for gains that are far too large.
const FACTOR: (f64, f64) = (0.5, 2.0);

/// Relative-delay feedback (Lu et al. 2001; paper P, 0.8): `U(k) = U(k-1) + g (E(k) - r E(k-1))`, with `U = n_i / n_{i+1}`
/// the ratio of workers and `E` the relative error of the ratio of delays `V = d_i / d_{i+1}`, whose target is
/// `V* = p_i / p_{i+1}`.
///
/// Where the source leaves a choice: `E = (V - V*) / max(V, V*)`, within -1 and 1 and positive if class i waits too
/// long, so that it then gets more workers; and the step is relative to `U`, as `V` is about proportional to `1 / U`.
/// A loop then has the same gain whatever the weights are and whichever class is called the first: an absolute step
/// that is right for a ratio of 1 is eight times too large for one of 1/8.
#[derive(Clone, Debug)]
pub struct PairwisePi {
    period: Duration,
    gain: f64,
    zero: f64,
    ground: Ground,
    /// Error of each pair at the last sample, if it had one.
    errors: Vec<Option<f64>>,
}

impl PairwisePi {
    /// For classes with these weights; `gain` and `zero` are the `g` and `r` of the formula.
    #[must_use]
    pub fn new(weights: &[DelayWeight], period: Duration, gain: f64, zero: f64) -> Self {
        let pairs = weights.len().saturating_sub(1);
        Self { period, gain, zero, ground: Ground::new(weights, 0.0), errors: vec![None; pairs] }
    }
}

/// Relative error of a pair's ratio of delays; `None` if it has none.
fn error_of(ground: &Ground, pair: usize) -> Option<f64> {
    let (ratio, target) = ratio_and_target(ground, pair)?;
    Some((ratio - target) / ratio.max(target))
}

/// Ratio of the delays of a pair of neighbours, and the one wanted; `None` unless both have a delay and somebody waits.
pub(super) fn ratio_and_target(ground: &Ground, pair: usize) -> Option<(f64, f64)> {
    let (first, second) = (ground.delays_s()[pair]?, ground.delays_s()[pair + 1]?);
    let target = ground.weights()[pair].get() / ground.weights()[pair + 1].get();
    (first + second >= LEAST_S).then(|| (first.max(LEAST_S) / second.max(LEAST_S), target))
}

/// Makes ratios of neighbours of `shares`: each becomes its ratio to the next, the last becomes 1.
pub(super) fn to_ratios(shares: &mut [f64]) {
    for i in 1..shares.len() {
        shares[i - 1] /= shares[i];
    }
    if let Some(last) = shares.last_mut() {
        *last = 1.0;
    }
}

/// Makes shares of ratios of neighbours, along the chain from its end; they need not sum to 1.
pub(super) fn to_shares(ratios: &mut [f64]) {
    for i in (1..ratios.len()).rev() {
        ratios[i - 1] *= ratios[i];
    }
}

/// A ratio of workers after a step, which is cut to [`FACTOR`]; no ratio is further from 1 than the pool allows.
pub(super) fn move_ratio(ratio: f64, step: f64, workers: u32) -> f64 {
    let (most, (down, up)) = (f64::from(workers), FACTOR);
    (ratio + step).clamp(ratio * down, ratio * up).clamp(1.0 / most, most)
}

impl SplitControl for PairwisePi {
    fn period(&self) -> Duration {
        self.period
    }

    fn on_sample(&mut self, seen: SplitSample<'_>, shares: &mut [f64]) {
        if !self.ground.observe(seen) {
            return;
        }
        self.ground.start(shares);
        to_ratios(shares);
        for (pair, (ratio, last)) in shares.iter_mut().zip(&mut self.errors).enumerate() {
            let error = error_of(&self.ground, pair);
            let last = core::mem::replace(last, error);
            let Some(error) = error else { continue };
            let step = self.gain * (error - self.zero * last.unwrap_or(error));
            *ratio = move_ratio(*ratio, *ratio * step, seen.workers);
        }
        to_shares(shares);
        finish(shares, seen.workers);
    }

    fn on_applied(&mut self, workers: &[u32]) {
        self.ground.on_applied(workers);
    }

    /// The error of the pair that the class is the first of; the last class is the first of none.
    fn describe(&self, class: usize, out: &mut LoopFrame) {
        if let Some(&error) = self.errors.get(class) {
            out.output = error.unwrap_or_default();
            out.gains = [self.gain, -self.gain * self.zero, 0.0];
            if error.is_none() {
                out.flags |= LoopFrame::STALE;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ClassSample;
    use super::super::tests::{Closed, weights};
    use super::*;

    fn control(p: &[f64], gain: f64, zero: f64) -> PairwisePi {
        PairwisePi::new(&weights(p), Duration::from_secs(30), gain, zero)
    }

    fn class(delay_s: f64) -> ClassSample {
        ClassSample { started: 10, delay_s: 10.0 * delay_s, waiting: 5, ..ClassSample::default() }
    }

    /// Shows delays of two classes one after the other; says what the ratio of the shares is after the last of them.
    #[track_caller]
    fn check(p: [f64; 2], delays: &[[f64; 2]], want: f64) {
        let mut control = control(&p, 0.3, 0.05);
        let mut shares = [0.5, 0.5];
        for &[a, b] in delays {
            control.on_sample(SplitSample { workers: 1_000, classes: &[class(a), class(b)] }, &mut shares);
        }
        let got = shares[0] / shares[1];
        assert!((got - want).abs() < 1e-9, "weights {p:?}, delays {delays:?}: ratio {got}, wanted {want}");
    }

    #[test]
    fn a_step_is_the_formula_and_takes_either_class_for_the_first() {
        check([1.0, 2.0], &[[1.0, 2.0]], 1.0);
        // The ratio is twice the target: an error of 1/2, of which the zero takes a twentieth.
        check([1.0, 2.0], &[[1.0, 1.0]], 1.0 + 0.3 * 0.95 * 0.5);
        check([2.0, 1.0], &[[1.0, 1.0]], 1.0 - 0.3 * 0.95 * 0.5);
        check([1.0, 1.0], &[[1.0, 1.0], [1.0, 0.5]], 1.0 + 0.3 * 0.5);
        check([1.0, 8.0], &[[2.0, 8.0]], 1.0 + 0.3 * 0.95 * 0.5);
        check([8.0, 1.0], &[[8.0, 2.0]], 1.0 - 0.3 * 0.95 * 0.5);
    }

    #[test]
    fn it_steers_any_ratio_and_four_classes() {
        for p in [&[1.0, 2.0][..], &[2.0, 1.0], &[1.0, 8.0], &[8.0, 1.0], &[1.0, 2.0, 4.0, 8.0]] {
            let mut control = control(p, 0.3, 0.05);
            Closed::crowded(p).check_settles(&mut control, 12, 0.15);
            Closed::crowded(p).noisy(0.1).check_settles(&mut control, 12, 0.4);
        }
    }

    #[test]
    fn an_empty_class_holds_the_pairs_it_is_in() {
        let mut control = control(&[1.0, 1.0, 1.0, 1.0], 0.3, 0.05);
        let mut shares = [0.25; 4];
        let classes = [class(2.0), ClassSample::default(), class(1.0), class(3.0)];
        control.on_sample(SplitSample { workers: 1_000, classes: &classes }, &mut shares);
        assert_eq!(shares[0], shares[1], "the second class is empty");
        assert_eq!(shares[1], shares[2], "the second class is empty");
        assert!(shares[3] > shares[2], "the pair of the last two is steered: {shares:?}");
    }
}
