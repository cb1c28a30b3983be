//! Self-tuning control led by the backlog: what Tidegate recommends where delays are to keep a ratio.
//!
//! The delay of those served is late by the delay itself. What waits, times the mean service time, over the workers
//! tells at once what those who join will see; where that is off (queues that grow or drain, clients that think), the
//! delays of those served correct it slowly. Everything is in logarithms ([`log_loop`](super::log_loop)), where the
//! gain is close to one number; that number is the prior, and is learned where it is wrong.
//!
//! The control is decentralised (paper P, 0.4): a loop a class, each with its own sensors, model, trust and step. No
//! loop waits for another or uses its step, in whatever order they run. They share two means, those of the outputs and
//! of the logarithms of the workers; a class that has no figure of its own yet stands in with the mean of the others'.
//! The sum of the shares is put right after all loops.
//!
//! What it deliberately has not: a full model. Three parameters learned without a gate made the split worse than no
//! learning at all in most scenarios, and ratios of neighbours never settle where loads change.

#[cfg(test)]
mod tests;

use super::log_loop::{Trust, at_floor, centre, counted, cut, step_shares};
use super::sense::{Backlog, Delay, ServiceTime, is_possible};
use super::{ClassSample, SplitControl, SplitSample};
use crate::frame::LoopFrame;
use crate::time::Duration;
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;

/// Weight of the newest backlog.
const BACKLOG: f64 = 0.6;
/// Part of the past delays that is kept from sample to sample.
const KEPT: f64 = 0.6;
/// Speed of the correction by the delays of those served, a second.
const CORRECTION_PER_S: f64 = 0.1;
/// Most of a correction that one sample makes, however long the period.
const MOST_CORRECTION: f64 = 0.5;
/// Largest correction, as a logarithm.
const MOST_BIAS: f64 = 1.5;
/// Shortest delay that counts as one, in seconds.
const SHORTEST_S: f64 = 1e-3;
/// Backlog of all classes below which there is no ratio to keep, in jobs.
const LEAST_BACKLOG: f64 = 1.0;
/// Fewest workers that logarithms are taken of: a class without any counts as having this.
const FEWEST: f64 = 0.5;
/// Pole of each closed loop: part of an error that is left after a period.
const POLE: f64 = 0.5;
/// Samples before the first that is learned from.
const WATCHED: u32 = 3;
/// Least change of the input that is learned from: the answer to a smaller one is all noise.
const LEAST_CHANGE: f64 = 0.01;

/// A split by the backlogs, with a gain that is learned.
#[derive(Clone, Debug)]
pub struct StcLead {
    period: Duration,
    /// Gain of the loops before anything is known (`B0`): the prior, with its sign.
    prior: f64,
    tune: bool,
    loops: Vec<Loop>,
    /// Who counted in the means at the last step.
    counted: Vec<bool>,
    is_credible: bool,
}

impl StcLead {
    /// For classes with these weights. `prior` is the size of the gain that is assumed at first, above zero; with `tune`
    /// it is learned, without it is what is used for good.
    #[must_use]
    pub fn new(weights: &[DelayWeight], period: Duration, prior: f64, tune: bool) -> Self {
        let pace = (CORRECTION_PER_S * period.as_secs_f64()).min(MOST_CORRECTION);
        let loops = weights.iter().map(|&weight| Loop::new(weight, pace)).collect();
        let counted = vec![true; weights.len()];
        Self { period, prior: -prior, tune, loops, counted, is_credible: true }
    }

    /// Whether anything can be said of a ratio: somebody waits, and some work has ended.
    fn sees_overload(&self) -> bool {
        self.loops.iter().map(|class| class.backlog.get()).sum::<f64>() >= LEAST_BACKLOG
            && self.loops.iter().any(|class| class.service.get().is_some())
    }
}

impl SplitControl for StcLead {
    fn period(&self) -> Duration {
        self.period
    }

    /// A sample with a figure that cannot be true is left out as a whole, and the shares stay.
    fn on_sample(&mut self, seen: SplitSample<'_>, shares: &mut [f64]) {
        self.is_credible = seen.classes.iter().all(is_possible);
        if !self.is_credible {
            return;
        }
        for (class, seen) in self.loops.iter_mut().zip(seen.classes) {
            class.sense(seen);
        }
        if !self.sees_overload() {
            return;
        }
        // What a class has no figure of its own for, as it has never sent or has not for long, it takes from the
        // others: it is one like them until it shows otherwise, and no other has to wait for it.
        let service_s = mean(self.loops.iter().filter_map(|class| class.service.get()));
        for class in &mut self.loops {
            class.predict(service_s);
        }
        let bias = mean(self.loops.iter().filter(|class| class.delay_s.is_some()).map(|class| class.bias));
        let mut outputs: Vec<f64> = self.loops.iter_mut().map(|class| class.corrected(bias)).collect();
        let mut inputs: Vec<f64> = self.loops.iter().map(|class| libm::log(class.workers)).collect();
        let counted = counted(&outputs, vec![true; outputs.len()], &at_floor(shares, seen.workers));
        centre(&mut outputs, &counted);
        centre(&mut inputs, &counted);
        if self.counted != counted {
            // The means are of others than they were: no change of an output answers a change of an input.
            self.loops.iter_mut().for_each(|class| class.is_comparable = false);
            self.counted = counted;
        }
        let steps = self.loops.iter_mut().zip(outputs.iter().zip(&inputs));
        let steps: Vec<f64> = steps
            .map(|(class, (&output, &input))| class.step(output, input, self.prior, self.tune))
            .collect();
        step_shares(shares, &steps, seen.workers);
    }

    fn is_credible(&self) -> bool {
        self.is_credible
    }

    fn describe(&self, class: usize, out: &mut LoopFrame) {
        let Some(class) = self.loops.get(class) else { return };
        class.describe(self.prior, self.tune, out);
    }
}

fn mean(figures: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = figures.fold((0.0, 0.0), |(sum, count), figure| (sum + figure, count + 1.0));
    if count > 0.0 { sum / count } else { 0.0 }
}

/// The loop of one class.
#[derive(Clone, Debug)]
struct Loop {
    weight: f64,
    /// Weight of the newest difference between delays seen and predicted (`KB`).
    pace: f64,
    delay: Delay,
    service: ServiceTime,
    backlog: Backlog,
    /// Workers in the last window.
    workers: f64,
    /// Delay of those served lately, in seconds.
    delay_s: Option<f64>,
    /// Logarithm of the predicted delay over the weight, before the correction.
    predicted: f64,
    /// What the delays of those served add to it.
    bias: f64,
    /// Output and input at the last step: distances from the means, as logarithms.
    output: f64,
    input: f64,
    /// Steps so far.
    steps: u32,
    /// Whether output and input are of the same means as those of the last step.
    is_comparable: bool,
    gain: Gain,
    flags: u32,
}

impl Loop {
    fn new(weight: DelayWeight, pace: f64) -> Self {
        Self {
            weight: weight.get(),
            pace,
            delay: Delay::new(),
            service: ServiceTime::default(),
            backlog: Backlog::default(),
            workers: FEWEST,
            delay_s: None,
            predicted: 0.0,
            bias: 0.0,
            output: 0.0,
            input: 0.0,
            steps: 0,
            is_comparable: true,
            gain: Gain::new(),
            flags: 0,
        }
    }

    fn sense(&mut self, seen: &ClassSample) {
        self.service.on_sample(seen);
        self.backlog.on_sample(seen, BACKLOG);
        self.delay_s = self.delay.on_sample(seen, KEPT);
        self.workers = seen.workers.max(FEWEST);
        self.flags = if seen.started == 0 { LoopFrame::STALE } else { 0 };
    }

    /// Predicts the delay of who joins, and lets the delay of those served correct the prediction.
    ///
    /// One more than wait are counted: the next to come, and an empty queue has a logarithm.
    fn predict(&mut self, service_s: f64) {
        let service_s = self.service.get().unwrap_or(service_s);
        let delay_s = (self.backlog.get() + 1.0) * service_s / self.workers;
        self.predicted = libm::log(delay_s / self.weight);
        if let Some(served_s) = self.delay_s {
            let served = libm::log(served_s.max(SHORTEST_S) / self.weight);
            self.follow(served - self.predicted);
        }
    }

    fn follow(&mut self, bias: f64) {
        let to = self.bias + self.pace * (bias - self.bias);
        self.bias = to.clamp(-MOST_BIAS, MOST_BIAS);
        if to != self.bias {
            self.flags |= LoopFrame::ESTIMATE_CUT;
        }
    }

    /// The prediction, corrected; a class that nobody was served of follows the correction of the others, so that what
    /// is common to all stays so.
    fn corrected(&mut self, others_bias: f64) -> f64 {
        if self.delay_s.is_none() {
            self.follow(others_bias);
        }
        self.predicted + self.bias
    }

    /// Learns from the answer to the last step and takes the next: the logarithm of the factor for the share.
    ///
    /// With the model `y(k) = y(k-1) + b du(k-1)` the step `du = (1 - POLE) e / b`, `e = -y`, leaves a closed loop of first
    /// order with that pole. It is the incremental PID of paper P, 0.6, for a1 = a2 = 0, which is good enough a model
    /// here: learned freely, a1 is between 0 and 0.3.
    fn step(&mut self, output: f64, input: f64, prior: f64, tune: bool) -> f64 {
        self.steps = self.steps.saturating_add(1);
        let change = input - self.input;
        if self.steps > WATCHED && self.is_comparable && change.abs() > LEAST_CHANGE {
            let was_cut = self.gain.learn(output - self.output, prior * change);
            self.flags |= if was_cut { LoopFrame::ESTIMATE_CUT } else { 0 };
        }
        (self.output, self.input, self.is_comparable) = (output, input, true);
        let (step, was_cut) = cut(-output * (1.0 - POLE) / self.gain.in_use(prior, tune));
        self.flags |= if was_cut { LoopFrame::STEP_CUT } else { 0 };
        step
    }

    /// The margin: if the gain is `m` times the model's, the pole is at `1 - (1 - POLE) m`, which is inside the unit
    /// circle for `m` up to `2 / (1 - POLE)`, whatever the model.
    fn describe(&self, prior: f64, tune: bool, out: &mut LoopFrame) {
        let in_use = self.gain.in_use(prior, tune);
        out.output = self.output;
        out.a = [0.0; 2];
        out.b = in_use;
        out.gains = [(1.0 - POLE) / in_use, 0.0, 0.0];
        out.trust = self.gain.trust.ratio();
        out.uncertainty = self.gain.variance;
        out.bias = self.bias;
        out.margin = 2.0 / (1.0 - POLE);
        out.flags |= self.flags;
        if tune && self.gain.trust.is_open() {
            out.flags |= LoopFrame::LEARNED;
        }
    }
}

/// The gain of one loop, as a factor on the prior: recursive least squares of one parameter.
#[derive(Clone, Copy, Debug)]
struct Gain {
    /// `theta`, so that `b = theta B0`.
    factor: f64,
    /// Its variance (`P`).
    variance: f64,
    trust: Trust,
}

impl Gain {
    /// Bounds of the factor.
    const LEAST: f64 = 0.25;
    const MOST: f64 = 8.0;
    /// Largest variance, and the one at first. Without a bound it would grow for ever while nothing can be learned.
    const MOST_VARIANCE: f64 = 0.1;
    /// Part of what is known that is kept from step to step.
    const FORGETTING: f64 = 0.995;

    const fn new() -> Self {
        Self { factor: 1.0, variance: Self::MOST_VARIANCE, trust: Trust::new() }
    }

    /// Learns from a change of the output and the one that the prior makes of the change of the input; whether the
    /// factor had to be pushed back into its bounds.
    fn learn(&mut self, change: f64, predicted: f64) -> bool {
        let error = change - self.factor * predicted;
        self.trust.note(change - predicted, error);
        let (p, f) = (self.variance, predicted);
        let scale = Self::FORGETTING * self.trust.noise() + f * f * p;
        let to = self.factor + p * f * error / scale;
        self.factor = to.clamp(Self::LEAST, Self::MOST);
        // p - p^2 f^2 / scale, without the difference: it cannot fall to zero or below by rounding.
        self.variance = (p * self.trust.noise() / scale).min(Self::MOST_VARIANCE);
        to != self.factor
    }

    /// The gain to go by: the learned one while it predicts better.
    fn in_use(&self, prior: f64, tune: bool) -> f64 {
        if tune && self.trust.is_open() { self.factor * prior } else { prior }
    }
}
