//! Self-tuning control of the ratios of neighbours: the adaptive relative of [`PairwisePi`](super::PairwisePi).
//!
//! A loop for each pair of neighbours, one after the other, identifies how the ratio of their delays answers the ratio
//! of their workers and places the poles of the closed loop by it. Ratios are taken as they are, as published: their
//! gain changes with the square of the ratio, so what was learned before a change of the load is wrong after it, and in
//! a chain the pairs pass their errors on. That is what this controller is here to show; it is no controller to choose.

use super::ground::{Ground, finish};
use super::pairwise_pi::{ratio_and_target, to_ratios, to_shares};
use super::{SplitControl, SplitSample};
use crate::frame::LoopFrame;
use crate::time::Duration;
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;

/// Model a loop begins with: what is kept of the last two changes of the output, and the answer to one of the input.
const FIRST: [f64; 3] = [0.3, 0.0, -0.7];
/// Covariance it begins with, on the diagonal.
const FIRST_COVARIANCE: f64 = 100.0;
/// Trace of the covariance above which nothing is forgotten, so that it does not grow without end in a steady state.
const LARGEST_TRACE: f64 = 1e4;
/// The gain used is at least this far below zero: more workers never make anybody wait longer (paper P, 0.5).
const WEAKEST_GAIN: f64 = -0.05;
/// Samples before a loop has the changes that identification starts from.
const FIRST_SAMPLES: u32 = 3;

/// Self-tuning ratio control (paper P, 0.8, `PairwiseStc`): for each pair the model
/// `dy(k) = a1 dy(k-1) + a2 dy(k-2) + b du(k-1)` of `y = d_i / d_{i+1}` and `u = n_i / n_{i+1}`, identified by least
/// squares that forget (0.5), and the incremental PID that places two poles of the loop at `pole` (0.6).
#[derive(Clone, Debug)]
pub struct PairwiseStc {
    period: Duration,
    pole: f64,
    forgetting: f64,
    ground: Ground,
    loops: Vec<Loop>,
    /// Ratios of workers applied since the last sample, one a pair; empty before the first time.
    applied: Vec<f64>,
}

impl PairwiseStc {
    /// For classes with these weights; both poles of a loop at `pole`, old samples counting `forgetting` to the power of
    /// their age.
    #[must_use]
    pub fn new(weights: &[DelayWeight], period: Duration, pole: f64, forgetting: f64) -> Self {
        let pairs = weights.len().saturating_sub(1);
        Self {
            period,
            pole,
            forgetting,
            ground: Ground::new(weights, 0.0),
            loops: vec![Loop::new(); pairs],
            applied: Vec::new(),
        }
    }
}

impl SplitControl for PairwiseStc {
    fn period(&self) -> Duration {
        self.period
    }

    fn on_sample(&mut self, seen: SplitSample<'_>, shares: &mut [f64]) {
        if !self.ground.observe(seen) {
            return;
        }
        self.ground.start(shares);
        to_ratios(shares);
        let most = f64::from(seen.workers);
        for (pair, one) in self.loops.iter_mut().enumerate() {
            let Some((ratio, target)) = ratio_and_target(&self.ground, pair) else {
                one.is_known = false;
                continue;
            };
            let applied = self.applied.get(pair).copied().unwrap_or(shares[pair]);
            one.identify(ratio, applied, self.forgetting);
            shares[pair] = (shares[pair] + one.step(target - ratio, self.pole)).clamp(1.0 / most, most);
        }
        to_shares(shares);
        finish(shares, seen.workers);
    }

    fn on_applied(&mut self, workers: &[u32]) {
        self.ground.on_applied(workers);
        self.applied.clear();
        let ratio = |pair: &[u32]| f64::from(pair[0].max(1)) / f64::from(pair[1].max(1));
        self.applied.extend(workers.windows(2).map(ratio));
    }

    fn is_learning(&self) -> bool {
        self.loops.iter().any(|one| one.samples <= FIRST_SAMPLES)
    }

    /// The loop of the pair that the class is the first of; the last class is the first of none.
    fn describe(&self, class: usize, out: &mut LoopFrame) {
        let Some(one) = self.loops.get(class) else { return };
        let [a1, a2, _] = one.model.theta;
        out.output = -one.errors[0];
        out.a = [a1, a2];
        out.b = one.model.gain();
        out.gains = one.gains(self.pole);
        out.uncertainty = one.model.trace();
        if one.samples > FIRST_SAMPLES {
            out.flags |= LoopFrame::LEARNED;
        }
        if one.model.theta[2] > WEAKEST_GAIN {
            out.flags |= LoopFrame::ESTIMATE_CUT;
        }
        if !one.is_known {
            out.flags |= LoopFrame::STALE;
        }
    }
}

/// The loop of one pair. What is kept of the past is the newest first.
#[derive(Clone, Debug)]
struct Loop {
    model: Model,
    outputs: [f64; 3],
    input: f64,
    errors: [f64; 3],
    samples: u32,
    is_known: bool,
}

impl Loop {
    const fn new() -> Self {
        let (outputs, errors) = ([0.0; 3], [0.0; 3]);
        Self { model: Model::new(), outputs, input: 0.0, errors, samples: 0, is_known: false }
    }

    /// Learns from an output and the input in force while it was measured.
    fn identify(&mut self, output: f64, input: f64, forgetting: f64) {
        self.is_known = true;
        self.samples = self.samples.saturating_add(1);
        let [last, before, oldest] = self.outputs;
        if self.samples > FIRST_SAMPLES {
            self.model.learn([last - before, before - oldest, input - self.input], output - last, forgetting);
        }
        self.outputs = [output, last, before];
        self.input = input;
    }

    /// Gains on the error now and the two before it: `(1 - q)(1 - a1 q - a2 q^2) + q b G = (1 - pole q)^2`.
    fn gains(&self, pole: f64) -> [f64; 3] {
        let ([a1, a2, _], b) = (self.model.theta, self.model.gain());
        let (m1, m2) = (-2.0 * pole, pole * pole);
        [(m1 + 1.0 + a1) / b, (m2 + a2 - a1) / b, -a2 / b]
    }

    /// The change of the input for an error, target less output.
    fn step(&mut self, error: f64, pole: f64) -> f64 {
        let [last, before, _] = self.errors;
        self.errors = [error, last, before];
        self.gains(pole).iter().zip(self.errors).map(|(gain, error)| gain * error).sum()
    }
}

/// Three parameters by recursive least squares that forget (paper P, 0.5).
#[derive(Clone, Debug)]
struct Model {
    theta: [f64; 3],
    covariance: [[f64; 3]; 3],
}

impl Model {
    const fn new() -> Self {
        let p = FIRST_COVARIANCE;
        Self { theta: FIRST, covariance: [[p, 0.0, 0.0], [0.0, p, 0.0], [0.0, 0.0, p]] }
    }

    /// The answer to the input that is gone by.
    fn gain(&self) -> f64 {
        self.theta[2].min(WEAKEST_GAIN)
    }

    fn trace(&self) -> f64 {
        (0..3).map(|i| self.covariance[i][i]).sum()
    }

    /// Learns that `x` gave `y`. A model that is no longer finite starts anew.
    fn learn(&mut self, x: [f64; 3], y: f64, forgetting: f64) {
        let px = self.covariance.map(|row| dot(row, x));
        let spread = forgetting + dot(x, px);
        let residual = y - dot(self.theta, x);
        let mut next = self.clone();
        for i in 0..3 {
            next.theta[i] += px[i] / spread * residual;
            for j in 0..3 {
                next.covariance[i][j] -= px[i] * px[j] / spread;
            }
        }
        if next.trace() <= LARGEST_TRACE * forgetting {
            next.covariance.iter_mut().flatten().for_each(|entry| *entry /= forgetting);
        }
        let is_finite = next.theta.iter().chain(next.covariance.iter().flatten()).all(|x| x.is_finite());
        *self = if is_finite { next } else { Self::new() };
    }
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Closed, weights};
    use super::super::{PairwisePi, Pid};
    use super::*;
    use crate::unit::{Draw, mix};

    fn control(p: &[f64]) -> PairwiseStc {
        PairwiseStc::new(&weights(p), Duration::from_secs(5), 0.5, 0.98)
    }

    #[test]
    fn the_model_is_found_from_its_outputs() {
        let (want, mut model) = ([0.4, -0.2, -1.3], Model::new());
        let (mut dy, mut input) = ([0.0, 0.0], 0.0);
        for n in 0..60 {
            let next = dot(want, [dy[0], dy[1], input]);
            model.learn([dy[0], dy[1], input], next, 0.98);
            dy = [next, dy[0]];
            input = Draw::from_bits(mix(n)).get() - 0.5;
        }
        let close = model.theta.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-3);
        assert!(close, "found {:?}, true is {want:?}", model.theta);
    }

    #[test]
    fn the_loop_has_the_poles_it_is_asked_for() {
        let mut one = Loop::new();
        one.model.theta = [0.4, -0.2, -1.3];
        for pole in [0.0, 0.5, 0.8] {
            let ([a1, a2, b], [g0, g1, g2]) = (one.model.theta, one.gains(pole));
            // Coefficients of (1 - q)(1 - a1 q - a2 q^2) + q b G, by powers of q.
            let got = [-1.0 - a1 + b * g0, a1 - a2 + b * g1, a2 + b * g2];
            let want = [-2.0 * pole, pole * pole, 0.0];
            let close = got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12);
            assert!(close, "pole {pole}: characteristic polynomial 1 + {got:?}, wanted {want:?}");
        }
    }

    #[test]
    fn what_cannot_be_learned_from_changes_nothing_for_good() {
        let mut model = Model::new();
        model.learn([1e200, 1e200, 1e200], f64::MAX, 0.98);
        model.learn([f64::NAN, 0.0, 0.0], 1.0, 0.98);
        assert_eq!(model.theta, FIRST, "the model after figures that are none");
        for _ in 0..100_000 {
            model.learn([0.0; 3], 0.0, 0.8);
        }
        assert!(model.trace() <= LARGEST_TRACE, "trace {} after a long steady state", model.trace());
    }

    #[test]
    fn it_steers_two_and_four_classes_to_the_ratio() {
        for p in [&[1.0, 2.0][..], &[1.0, 2.0, 4.0, 8.0]] {
            Closed::crowded(p).check_settles(&mut control(p), 60, 0.2);
        }
    }
}
