//! Self-tuning control of the ratios of neighbours: the adaptive relative of [`PairwisePi`](super::PairwisePi).
//!
//! A loop for each pair of neighbours, one after the other, identifies how the ratio of their delays answers the ratio
//! of their workers and places the poles of the closed loop by it. The gain of a ratio changes with the load of the two
//! classes, so what was learned before a change is wrong after it, and in a chain the pairs pass their errors on. That is
//! what this controller is here to show; it is no controller to choose.

use super::ground::{Ground, finish};
use super::pairwise_pi::{move_ratio, ratio_and_target, to_ratios, to_shares};
use super::rls::Rls;
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
/// Largest trace of the covariance, which would grow without end in a steady state.
const LARGEST_TRACE: f64 = 1e4;
/// Bounds of the three parameters (paper P, 0.5). The answer to the input is below zero, as more workers never make anybody
/// wait longer; a model outside could make a loop that never moves again and so never learns better.
const BOUNDS: [(f64, f64); 3] = [(-0.9, 1.8), (-0.9, 0.9), (-3.0, -0.05)];
/// Largest output that is believed: a ratio so many times its target is just far too large.
const LARGEST_OUTPUT: f64 = 10.0;
/// Samples before a loop has the changes that identification starts from.
const FIRST_SAMPLES: u32 = 3;

/// Self-tuning ratio control (paper P, 0.8, `PairwiseStc`): for each pair the model
/// `dy(k) = a1 dy(k-1) + a2 dy(k-2) + b du(k-1)` of `y = (d_i / d_{i+1}) / t` and `u = (n_i / n_{i+1}) t` with the target
/// `t = p_i / p_{i+1}`, identified by least squares that forget (0.5), and the incremental PID that places two poles of
/// the loop at `pole` (0.6).
///
/// The source takes the ratios as they are. Scaled by the target, `b` is about -1 for classes of equal load whatever their
/// weights, so that one first model and one set of bounds suit all.
#[derive(Clone, Debug)]
pub struct PairwiseStc {
    period: Duration,
    pole: f64,
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
            ground: Ground::new(weights, 0.0),
            loops: vec![Loop::new(forgetting); pairs],
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
        for (pair, one) in self.loops.iter_mut().enumerate() {
            let Some((ratio, target)) = ratio_and_target(&self.ground, pair) else {
                one.is_known = false;
                continue;
            };
            let applied = self.applied.get(pair).copied().unwrap_or(shares[pair]);
            let output = (ratio / target).min(LARGEST_OUTPUT);
            one.identify(output, applied * target);
            let step = one.step(1.0 - output, self.pole) / target;
            shares[pair] = move_ratio(shares[pair], step, seen.workers);
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
        let [a1, a2, b] = one.parameters();
        out.output = -one.errors[0];
        out.a = [a1, a2];
        out.b = b;
        out.gains = one.gains(self.pole);
        out.uncertainty = one.model.trace();
        if one.samples > FIRST_SAMPLES {
            out.flags |= LoopFrame::LEARNED;
        }
        if one.was_cut {
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
    model: Rls,
    /// Whether the last sample would have taken the model out of its bounds.
    was_cut: bool,
    outputs: [f64; 3],
    input: f64,
    errors: [f64; 3],
    samples: u32,
    is_known: bool,
}

impl Loop {
    fn new(forgetting: f64) -> Self {
        let model = Rls::new(&FIRST, FIRST_COVARIANCE, forgetting, LARGEST_TRACE);
        let (outputs, errors) = ([0.0; 3], [0.0; 3]);
        Self { model, was_cut: false, outputs, input: 0.0, errors, samples: 0, is_known: false }
    }

    /// What is kept of the last two changes of the output, and the answer to one of the input.
    fn parameters(&self) -> [f64; 3] {
        core::array::from_fn(|i| self.model.theta()[i])
    }

    /// Learns from an output and the input in force while it was measured.
    fn identify(&mut self, output: f64, input: f64) {
        self.is_known = true;
        self.samples = self.samples.saturating_add(1);
        let [last, before, oldest] = self.outputs;
        if self.samples > FIRST_SAMPLES {
            let changes = [last - before, before - oldest, input - self.input];
            let _ = self.model.update(&changes, output - last);
            self.was_cut = false;
            for (parameter, bounds) in BOUNDS.into_iter().enumerate() {
                self.was_cut |= self.model.confine(parameter, bounds);
            }
        }
        self.outputs = [output, last, before];
        self.input = input;
    }

    /// Gains on the error now and the two before it: `(1 - q)(1 - a1 q - a2 q^2) + q b G = (1 - pole q)^2`.
    fn gains(&self, pole: f64) -> [f64; 3] {
        let [a1, a2, b] = self.parameters();
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

#[cfg(test)]
mod tests {
    use super::super::Pid;
    use super::super::tests::{Closed, weights};
    use super::*;
    use crate::unit::{Draw, mix};

    fn control(p: &[f64]) -> PairwiseStc {
        PairwiseStc::new(&weights(p), Duration::from_secs(5), 0.5, 0.98)
    }

    /// The plant of a loop, driven by random inputs; says what the loop makes of it.
    fn learned(want: [f64; 3]) -> Loop {
        let mut one = Loop::new(0.98);
        let (mut y, mut dy, mut last) = (1.0, [0.0, 0.0], 1.0);
        for n in 0..60 {
            let input = 0.5 + Draw::from_bits(mix(n)).get();
            let next = want[0] * dy[0] + want[1] * dy[1] + want[2] * (input - last);
            (y, dy, last) = (y + next, [next, dy[0]], input);
            one.identify(y, input);
        }
        one
    }

    #[test]
    fn the_model_is_found_from_its_outputs_within_its_bounds() {
        let check = |plant: [f64; 3], want: [f64; 3], cut: bool| {
            let one = learned(plant);
            let close = one.parameters().iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-3);
            assert!(close, "found {:?}, true is {plant:?}, wanted {want:?}", one.parameters());
            assert_eq!(one.was_cut, cut, "whether a model of {plant:?} is cut");
        };
        check([0.4, -0.2, -1.3], [0.4, -0.2, -1.3], false);
        let [_, _, b] = learned([0.0, 0.0, 0.8]).parameters();
        assert_eq!(b, -0.05, "a plant of the wrong sign");
        assert!(learned([0.0, 0.0, 0.8]).was_cut, "a plant of the wrong sign is out of bounds");
    }

    #[test]
    fn the_loop_has_the_poles_it_is_asked_for() {
        let one = learned([0.4, -0.2, -1.3]);
        for pole in [0.0, 0.5, 0.8] {
            let ([a1, a2, b], [g0, g1, g2]) = (one.parameters(), one.gains(pole));
            // Coefficients of (1 - q)(1 - a1 q - a2 q^2) + q b G, by powers of q.
            let got = [-1.0 - a1 + b * g0, a1 - a2 + b * g1, a2 + b * g2];
            let want = [-2.0 * pole, pole * pole, 0.0];
            let close = got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12);
            assert!(close, "pole {pole}: characteristic polynomial 1 + {got:?}, wanted {want:?}");
        }
    }

    #[test]
    fn it_steers_two_and_four_classes_to_the_ratio() {
        for p in [&[1.0, 2.0][..], &[1.0, 2.0, 4.0, 8.0]] {
            Closed::crowded(p).check_settles(&mut control(p), 10, 0.1);
            Closed::crowded(p).noisy(0.1).check_settles(&mut control(p), 10, 0.4);
        }
    }

    /// Near the onset of overload the gains are large and differ from pair to pair. Windows until all are settled:
    /// one for two classes, 68 for a chain of four; a parallel PID with the same period takes 3 and 16.
    #[test]
    fn a_chain_settles_long_after_parallel_loops() {
        fn windows(p: &[f64], control: &mut impl SplitControl) -> u32 {
            let mut plant = Closed::crowded(p).with_clients(600.0);
            plant.settles_after(control, 0.2).expect("it settles in the end")
        }
        let chain = |p: &[f64]| windows(p, &mut control(p));
        let (two, four) = (chain(&[1.0, 2.0]), chain(&[1.0, 2.0, 4.0, 8.0]));
        assert!(two <= 3, "two classes take {two} windows");
        let p = [1.0, 2.0, 4.0, 8.0];
        let parallel = windows(&p, &mut Pid::new(&weights(&p), Duration::from_secs(5), [0.1, 0.1, 0.0]));
        assert!(four > 3 * parallel, "a chain of four takes {four} windows, parallel loops {parallel}");
    }
}
