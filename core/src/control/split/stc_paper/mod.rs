//! Decentralised self-tuning PID control of the delays of classes, as published (paper P, 0.4 to 0.7).
//!
//! The output of a class is its share of the sum of all delays, the set point its weight's share of the sum of weights, the
//! input its share of the workers. Each class has a loop of its own, which learns how its input moves its output
//! ([`identify`]), makes a controller of that ([`design`]) and takes a step. No loop needs what another has found in the same
//! window, so that all could be computed at once; what one does to the others is a disturbance to them. What the
//! loops ask for is normalised last, since they cannot know that their shares must sum to one, and what was made of it,
//! whole workers included, is what the next step starts from: nothing winds up.
//!
//! In the first windows the split stays as it is and nothing is learned. A class that was handed nobody in a window
//! keeps its delay; one that has never had any has no delay, takes no part, and keeps its share. While the sum of delays
//! is below a millisecond there is no ratio to speak of, and the split is held.
//!
//! A loop goes by its learned model only while that is credible ([`watchdog`]); else by the gains of the model it began
//! with, the rule that is always there. A learned model for which the design has no controller, or
//! one that a slightly larger true gain would make unstable, leaves the gains as they are.

mod class_loop;
mod design;
mod history;
mod identify;
mod linear;
mod watchdog;

use super::{ClassSample, SplitControl, SplitSample};
use crate::frame::LoopFrame;
use crate::scenario::v1::{DesignV1, SplitByV1};
use crate::time::Duration;
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;
use class_loop::{ClassLoop, Seen};
use design::Design;
use identify::Orders;

/// Sum of delays, in seconds, below which a ratio of delays means nothing (paper P, 0.7).
const LEAST_DELAYS_S: f64 = 1e-3;
/// Change of a class's part, in workers, up to which none has moved.
const MOVED: f64 = 0.5;

/// The decentralised self-tuning controller of paper P.
#[derive(Clone, Debug)]
pub struct StcPaper {
    period: Duration,
    warm_up: u64,
    windows: u64,
    weights: Vec<f64>,
    /// Mean delay of the last window in which somebody was handed over, in seconds.
    delays_s: Vec<Option<f64>>,
    loops: Vec<ClassLoop>,
}

impl StcPaper {
    /// The controller that `stc_paper` asks for; `None` for another policy.
    #[must_use]
    pub fn new(weights: &[DelayWeight], split_by: &SplitByV1) -> Option<Self> {
        let SplitByV1::StcPaper { period_us, warm_up, design, pole, forgetting, a_terms, b_terms, lag } =
            *split_by
        else {
            return None;
        };
        let design = match design {
            DesignV1::PolePlacement => Design::PolePlacement(pole),
            DesignV1::MinimumVariance => Design::MinimumVariance,
        };
        let [a_terms, b_terms, lag] = [a_terms, b_terms, lag].map(|terms| terms.max(1) as usize);
        let one = ClassLoop::new(Orders { a_terms, b_terms, lag }, design, forgetting);
        Some(Self {
            period: Duration::from_micros(period_us),
            warm_up: u64::from(warm_up),
            windows: 0,
            weights: weights.iter().map(|weight| weight.get()).collect(),
            delays_s: vec![None; weights.len()],
            loops: vec![one; weights.len()],
        })
    }

    /// Notes the delays of a window. What a newcomer adds to the sum changes the shares of all, so their past is
    /// of no use to the loops from then on.
    fn note_delays(&mut self, classes: &[ClassSample]) {
        let mut has_newcomer = false;
        for (known, class) in self.delays_s.iter_mut().zip(classes) {
            if let Some(delay) = mean_delay_s(class) {
                has_newcomer |= known.is_none();
                *known = Some(delay);
            }
        }
        if has_newcomer {
            self.loops.iter_mut().for_each(ClassLoop::break_off);
        }
    }

    /// Sum of the delays, and of the weights of the classes that have one; `None` if there is no ratio to enforce.
    fn sums(&self) -> Option<(f64, f64)> {
        let delays: f64 = self.delays_s.iter().flatten().sum();
        let known = self.weights.iter().zip(&self.delays_s).filter(|(_, delay)| delay.is_some());
        let weights: f64 = known.map(|(weight, _)| weight).sum();
        (delays >= LEAST_DELAYS_S && delays.is_finite()).then_some((delays, weights))
    }
}

/// Mean delay of those handed over, in seconds; `None` if there were none.
fn mean_delay_s(class: &ClassSample) -> Option<f64> {
    let is_sound = class.started > 0 && class.delay_s.is_finite() && class.delay_s >= 0.0;
    is_sound.then(|| class.delay_s / f64::from(class.started))
}

/// The share of the workers each class had in the window; those asked for, if there were no workers to have.
fn applied(classes: &[ClassSample], shares: &[f64]) -> Vec<f64> {
    let had: Vec<f64> = classes.iter().map(|class| class.workers).collect();
    let is_sound =
        |had: &[f64]| had.iter().all(|x| x.is_finite() && *x >= 0.0) && had.iter().sum::<f64>() > 0.0;
    let mut out = [&had[..], shares]
        .into_iter()
        .find(|of| is_sound(of))
        .map_or_else(|| vec![1.0; shares.len()], <[f64]>::to_vec);
    normalise(&mut out);
    out
}

/// Divides by the sum, which is above zero.
fn normalise(shares: &mut [f64]) {
    let sum: f64 = shares.iter().sum();
    shares.iter_mut().for_each(|share| *share /= sum);
}

impl SplitControl for StcPaper {
    fn period(&self) -> Duration {
        self.period
    }

    fn on_sample(&mut self, seen: SplitSample<'_>, shares: &mut [f64]) {
        if seen.classes.len() != self.loops.len() || shares.len() != self.loops.len() {
            return;
        }
        self.windows += 1;
        self.note_delays(seen.classes);
        let applied = applied(seen.classes, shares);
        let Some((delays_s, weights)) = self.sums() else {
            self.loops.iter_mut().zip(&applied).for_each(|(it, &input)| it.on_nothing(input));
            return;
        };
        let least_change =
            if self.is_learning() { f64::INFINITY } else { MOVED / f64::from(seen.workers.max(1)) };
        let mut wanted = applied.clone();
        for (at, it) in self.loops.iter_mut().enumerate() {
            let input = applied[at];
            let Some(delay_s) = self.delays_s[at] else {
                it.on_nothing(input);
                continue;
            };
            wanted[at] = it.on_window(Seen {
                output: delay_s / delays_s,
                set_point: self.weights[at] / weights,
                input,
                least_change,
                may_learn: mean_delay_s(&seen.classes[at]).is_some(),
            });
        }
        if !self.is_learning() {
            normalise(&mut wanted);
            shares.copy_from_slice(&wanted);
        }
    }

    fn is_credible(&self) -> bool {
        self.loops.iter().all(ClassLoop::is_credible)
    }

    fn is_learning(&self) -> bool {
        self.windows < self.warm_up
    }

    fn describe(&self, class: usize, out: &mut LoopFrame) {
        if let Some(it) = self.loops.get(class) {
            it.describe(out);
        }
    }
}

#[cfg(test)]
mod tests;
