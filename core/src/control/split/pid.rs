//! A PID controller with fixed gains on shares of the delay: what a self-tuning one is compared with.
//!
//! The output of a class is its part of the sum of delays, the input its part of the workers (paper P, 0.1). A class's
//! output falls as its input rises, so the steps run against the error. Gains that suit one load are too hot or too
//! slow at another, as the plant's own gain moves with the operating point (paper P, 0.3); that is the weakness this
//! controller is here to show.

use super::ground::{Ground, LEAST_S, finish};
use super::{SplitControl, SplitSample};
use crate::frame::LoopFrame;
use crate::time::Duration;
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;

/// Incremental PID, one loop a class (paper P, 0.8, `FixedPid`):
/// `du(k) = -(kp (e(k) - e(k-1)) + ki e(k) + kd (e(k) - 2 e(k-1) + e(k-2)))` with `e = r - y`, `y_i = d_i / sum d` and
/// `r_i = p_i / sum p`; `d` are the delays of those handed over since the last sample, `p` the delay weights.
///
/// A class that has no delay is left out of both sums and keeps its share; 0 would pull workers away from it, and an old
/// delay that never changes would draw all workers to it (paper P, 0.10).
#[derive(Clone, Debug)]
pub struct Pid {
    period: Duration,
    kp: f64,
    ki: f64,
    kd: f64,
    ground: Ground,
    loops: Vec<Loop>,
}

/// One class: its errors at the last samples, the newest first, and whether it has one now.
#[derive(Clone, Copy, Debug, Default)]
struct Loop {
    errors: [f64; 3],
    is_known: bool,
}

impl Pid {
    /// For classes with these weights; `gains` are `kp`, `ki` and `kd`.
    #[must_use]
    pub fn new(weights: &[DelayWeight], period: Duration, gains: [f64; 3]) -> Self {
        let [kp, ki, kd] = gains;
        let loops = vec![Loop::default(); weights.len()];
        Self { period, kp, ki, kd, ground: Ground::new(weights, 0.0), loops }
    }

    /// Takes the errors of this sample in. `false` if there are none: fewer than two classes with a delay, or delays too
    /// small to compare.
    fn note_errors(&mut self) -> bool {
        let delays = self.ground.delays_s();
        let known = || delays.iter().zip(self.ground.weights()).filter_map(|(delay, p)| Some(((*delay)?, p)));
        let delay_sum: f64 = known().map(|(delay, _)| delay).sum();
        let weight_sum: f64 = known().map(|(_, weight)| weight.get()).sum();
        let is_comparable = known().count() >= 2 && delay_sum >= LEAST_S;
        // The sums are others once a class has come or gone: errors from before do not compare with those after.
        let is_same = delays.iter().zip(&self.loops).all(|(delay, class)| delay.is_some() == class.is_known);
        for ((class, delay), weight) in self.loops.iter_mut().zip(delays).zip(self.ground.weights()) {
            class.is_known = is_comparable && delay.is_some();
            let Some(delay) = delay.filter(|_| is_comparable) else { continue };
            let error = weight.get() / weight_sum - delay / delay_sum;
            let [last, before, _] = class.errors;
            class.errors = if is_same { [error, last, before] } else { [error; 3] };
        }
        is_comparable
    }

    /// Weights of the error now and the two before it in a step.
    fn weights_of_errors(&self) -> [f64; 3] {
        [self.kp + self.ki + self.kd, -self.kp - 2.0 * self.kd, self.kd]
    }
}

impl SplitControl for Pid {
    fn period(&self) -> Duration {
        self.period
    }

    fn on_sample(&mut self, seen: SplitSample<'_>, shares: &mut [f64]) {
        if !self.ground.observe(seen) || !self.note_errors() {
            return;
        }
        self.ground.start(shares);
        let weights = self.weights_of_errors();
        for (share, class) in shares.iter_mut().zip(&self.loops) {
            if class.is_known {
                let step: f64 = weights.iter().zip(class.errors).map(|(weight, error)| weight * error).sum();
                *share = (*share - step).clamp(0.0, 1.0);
            }
        }
        finish(shares, seen.workers);
    }

    fn on_applied(&mut self, workers: &[u32]) {
        self.ground.on_applied(workers);
    }

    /// Its share of the delay less its target, and the gains on it.
    fn describe(&self, class: usize, out: &mut LoopFrame) {
        out.output = -self.loops[class].errors[0];
        out.gains = self.weights_of_errors();
        if !self.loops[class].is_known {
            out.flags |= LoopFrame::STALE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ClassSample;
    use super::super::tests::{Closed, weights};
    use super::*;

    fn pid(p: &[f64], gains: [f64; 3]) -> Pid {
        Pid::new(&weights(p), Duration::from_secs(5), gains)
    }

    fn class(delay_s: f64) -> ClassSample {
        ClassSample { started: 10, delay_s: 10.0 * delay_s, waiting: 5, ..ClassSample::default() }
    }

    /// Shows delays one after the other and says what the first class's share is after the last of them.
    #[track_caller]
    fn check(gains: [f64; 3], delays: &[[f64; 2]], want: f64) {
        let mut pid = pid(&[1.0, 1.0], gains);
        let mut shares = [0.5, 0.5];
        for &[a, b] in delays {
            pid.on_sample(SplitSample { workers: 1_000, classes: &[class(a), class(b)] }, &mut shares);
        }
        assert!(
            (shares[0] - want).abs() < 1e-12,
            "gains {gains:?} on {delays:?} give {shares:?}, not {want}"
        );
    }

    #[test]
    fn a_step_is_the_formula() {
        // Shares of the delay 0.6 and 0.4: the error of the first is -0.1, so it gets more.
        check([0.0, 0.2, 0.0], &[[0.6, 0.4]], 0.52);
        check([0.0, 0.2, 0.0], &[[0.6, 0.4], [0.7, 0.3]], 0.56);
        // Proportional: the change of the error from -0.1 to -0.2; the first sample has none.
        check([0.3, 0.0, 0.0], &[[0.6, 0.4]], 0.5);
        check([0.3, 0.0, 0.0], &[[0.6, 0.4], [0.7, 0.3]], 0.53);
        // Differential: -0.2 - 2 * -0.1 + -0.1 = -0.1, then -0.2 - 2 * -0.2 + -0.1 = 0.1.
        check([0.0, 0.0, 0.1], &[[0.6, 0.4], [0.7, 0.3]], 0.51);
        check([0.0, 0.0, 0.1], &[[0.6, 0.4], [0.7, 0.3], [0.7, 0.3]], 0.5);
    }

    #[test]
    fn it_steers_two_and_four_classes_to_the_ratio() {
        for p in [&[1.0, 2.0][..], &[1.0, 1.5, 2.0, 3.0]] {
            Closed::crowded(p).check_settles(&mut pid(p, [0.3, 0.2, 0.0]), 20, 0.12);
            Closed::crowded(p).noisy(0.1).check_settles(&mut pid(p, [0.3, 0.2, 0.0]), 20, 0.3);
        }
    }

    #[test]
    fn gains_that_suit_one_target_are_too_hot_for_another() {
        let p = [1.0, 2.0, 4.0, 8.0];
        let hot = Closed::crowded(&p).settles_after(&mut pid(&p, [0.3, 0.2, 0.0]), 0.3);
        assert_eq!(hot, None, "the last class has a twentieth of the workers and answers four times as much");
        Closed::crowded(&p).check_settles(&mut pid(&p, [0.1, 0.1, 0.0]), 40, 0.2);
    }

    #[test]
    fn a_class_without_a_delay_keeps_its_share_and_the_others_are_steered() {
        let mut pid = pid(&[1.0, 1.0, 1.0], [0.0, 0.2, 0.0]);
        let mut shares = [0.4, 0.4, 0.2];
        let classes = [class(0.6), class(0.4), ClassSample::default()];
        pid.on_sample(SplitSample { workers: 100, classes: &classes }, &mut shares);
        let close = shares.iter().zip([0.42, 0.38, 0.2]).all(|(got, want)| (got - want).abs() < 1e-12);
        assert!(close, "the third is empty: {shares:?}");
        let mut out = LoopFrame::default();
        pid.describe(2, &mut out);
        assert_eq!(out.flags, LoopFrame::STALE, "flags of the empty class");
        // It comes back: the errors are of three classes and do not jump as those of two.
        pid.on_sample(SplitSample { workers: 100, classes: &[class(1.0); 3] }, &mut shares);
        let close = shares.iter().zip([0.42, 0.38, 0.2]).all(|(got, want)| (got - want).abs() < 1e-12);
        assert!(close, "all are on target: {shares:?}");
    }
}
