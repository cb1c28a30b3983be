//! Self-tuning control on the delays of those served: the controller of paper P in logarithms, made safe.
//!
//! A loop a class, as in [`StcLead`](super::StcLead) and as little dependent on each other: they share the means of the
//! outputs and of the inputs, and their shares are made to sum to 1 after all of them. Each identifies the model
//! `dy(k) = a1 dy(k-1) + a2 dy(k-2) + b du(k-1)` of its class and places the pole of its incremental PID by it (paper P,
//! 0.5 and 0.6). Three things keep it safe: learned parameters are kept where such a stage can be, noise is weighed by
//! its size and outliers are cut, and the model is used only while it predicts better than the one it began with.
//!
//! Delays of those served are late by the delay itself and say little where queues are short. Near the onset of overload
//! this controller is clearly behind the one that looks at the backlog; it is here to be compared with.

mod model;
#[cfg(test)]
mod tests;

use super::log_loop::{at_floor, centre, counted, cut, step_shares};
use super::sense::{Delay, is_possible};
use super::{ClassSample, SplitControl, SplitSample};
use crate::frame::LoopFrame;
use crate::time::Duration;
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;
use model::{Identified, Model};

/// Shortest delay that counts as one, in seconds.
const SHORTEST_S: f64 = 1e-3;
/// Sum of all delays below which nobody waits, in seconds.
const NOTHING_S: f64 = 1e-9;
/// Fewest workers that logarithms are taken of: a class without any counts as having this.
const FEWEST: f64 = 0.5;
/// Samples in a row before the first that is learned from: the model looks back so far.
const WATCHED: u32 = 3;
/// Least change of the input that is learned from: the answer to a smaller one is all noise.
const LEAST_CHANGE: f64 = 0.01;

/// A split by the delays of those served, with a model that is learned.
#[derive(Clone, Debug)]
pub struct StcServed {
    period: Duration,
    tune: bool,
    loops: Vec<Loop>,
    /// Who counted in the means at the last step.
    counted: Vec<bool>,
    is_credible: bool,
}

impl StcServed {
    /// For classes with these weights; without `tune` the model it begins with is used for good.
    #[must_use]
    pub fn new(weights: &[DelayWeight], period: Duration, tune: bool) -> Self {
        let loops = weights.iter().map(|weight| Loop::new(*weight)).collect();
        Self { period, tune, loops, counted: vec![true; weights.len()], is_credible: true }
    }
}

impl SplitControl for StcServed {
    fn period(&self) -> Duration {
        self.period
    }

    /// A sample with a figure that cannot be true is left out as a whole, and the shares stay. A class without a delay
    /// sits out: it keeps its share, and the others are split among themselves.
    fn on_sample(&mut self, seen: SplitSample<'_>, shares: &mut [f64]) {
        self.is_credible = seen.classes.iter().all(is_possible);
        if !self.is_credible {
            return;
        }
        for (class, seen) in self.loops.iter_mut().zip(seen.classes) {
            class.sense(seen);
        }
        if self.loops.iter().filter_map(|class| class.delay_s).sum::<f64>() <= NOTHING_S {
            return;
        }
        let present = self.loops.iter().map(|class| class.delay_s.is_some()).collect();
        let mut outputs: Vec<f64> = self.loops.iter().map(Loop::normalised).collect();
        let mut inputs: Vec<f64> = self.loops.iter().map(|class| libm::log(class.workers)).collect();
        let counted = counted(&outputs, present, &at_floor(shares, seen.workers));
        centre(&mut outputs, &counted);
        centre(&mut inputs, &counted);
        if self.counted != counted {
            // The means are of others than they were: outputs cannot be compared with those before.
            self.loops.iter_mut().for_each(|class| class.comparable = 0);
            self.counted = counted;
        }
        let tune = self.tune;
        let steps = self.loops.iter_mut().zip(outputs.iter().zip(&inputs));
        let steps: Vec<f64> =
            steps.map(|(class, (&output, &input))| class.step(output, input, tune)).collect();
        step_shares(shares, &steps, seen.workers);
    }

    fn is_credible(&self) -> bool {
        self.is_credible
    }

    fn describe(&self, class: usize, out: &mut LoopFrame) {
        let Some(class) = self.loops.get(class) else { return };
        class.describe(self.tune, out);
    }
}

/// The loop of one class.
#[derive(Clone, Debug)]
struct Loop {
    weight: f64,
    delay: Delay,
    /// Delay of those served in the last window, in seconds.
    delay_s: Option<f64>,
    /// Workers in the last window.
    workers: f64,
    /// Outputs of the last three steps, the latest first: distances from the mean, as logarithms.
    outputs: [f64; 3],
    /// Input at the last step.
    input: f64,
    /// Errors of the last two steps.
    errors: [f64; 2],
    /// Steps whose outputs can be compared.
    comparable: u32,
    learned: Identified,
    flags: u32,
}

impl Loop {
    const fn new(weight: DelayWeight) -> Self {
        Self {
            weight: weight.get(),
            delay: Delay::new(),
            delay_s: None,
            workers: FEWEST,
            outputs: [0.0; 3],
            input: 0.0,
            errors: [0.0; 2],
            comparable: 0,
            learned: Identified::new(),
            flags: 0,
        }
    }

    fn sense(&mut self, seen: &ClassSample) {
        self.delay_s = self.delay.on_sample(seen, 0.0);
        self.workers = seen.workers.max(FEWEST);
        self.flags = if seen.started == 0 { LoopFrame::STALE } else { 0 };
    }

    /// Logarithm of the delay over the weight; 0 without a delay, which nobody then uses.
    fn normalised(&self) -> f64 {
        self.delay_s.map_or(0.0, |delay_s| libm::log(delay_s.max(SHORTEST_S) / self.weight))
    }

    /// Learns from the answer to the last step and takes the next: the logarithm of the factor for the share.
    fn step(&mut self, output: f64, input: f64, tune: bool) -> f64 {
        if self.delay_s.is_none() {
            self.errors = [0.0; 2];
            return 0.0;
        }
        self.comparable = self.comparable.saturating_add(1);
        if self.comparable > WATCHED {
            self.learn(output, input - self.input);
        }
        self.outputs = [output, self.outputs[0], self.outputs[1]];
        self.input = input;
        let error = -output;
        let [g0, g1, g2] = self.learned.in_use(tune).gains();
        let (step, was_cut) = cut(g0 * error + g1 * self.errors[0] + g2 * self.errors[1]);
        self.errors = [error, self.errors[0]];
        self.flags |= if was_cut { LoopFrame::STEP_CUT } else { 0 };
        step
    }

    fn learn(&mut self, output: f64, change: f64) {
        let [y1, y2, y3] = self.outputs;
        let regressors = [y1 - y2, y2 - y3, change];
        let was_cut = self.learned.learn(output - y1, regressors, change.abs() > LEAST_CHANGE);
        self.flags |= if was_cut { LoopFrame::ESTIMATE_CUT } else { 0 };
    }

    fn describe(&self, tune: bool, out: &mut LoopFrame) {
        let Model([a1, a2, b]) = self.learned.in_use(tune);
        out.output = self.outputs[0];
        out.a = [a1, a2];
        out.b = b;
        out.gains = Model([a1, a2, b]).gains();
        out.trust = self.learned.trust.ratio();
        out.uncertainty = self.learned.uncertainty();
        out.margin = Model([a1, a2, b]).margin();
        out.flags |= self.flags;
        if tune && self.learned.trust.is_open() {
            out.flags |= LoopFrame::LEARNED;
        }
    }
}
