//! Whether a split can do what it is asked to do, and says so.
//!
//! A ratio of delays exists only while jobs wait. Below overload nobody's wait can be made longer than it is, and a
//! class that has its one worker already cannot be slowed further. An operator must be told which of these it is,
//! or mistakes an idle afternoon for a broken controller.

use super::ClassSample;
use crate::frame::SplitState;
use crate::unit::DelayWeight;

/// Weight of the newest sample in what is smoothed here.
const NEWEST: f64 = 0.2;
/// How far, in logarithms, a class may be from its target before it is said that it cannot reach it.
const FAR: f64 = 0.25;
/// Samples in a row that say the same before it is said.
const SURE: u32 = 12;

/// What a split can do at present.
#[derive(Clone, Debug)]
pub struct Standing {
    waiting: f64,
    /// Samples in a row in which a class was stuck, and which.
    stuck: u32,
    stuck_class: Option<usize>,
}

impl Standing {
    /// Before the first sample: idle.
    #[must_use]
    pub const fn new() -> Self {
        Self { waiting: 0.0, stuck: 0, stuck_class: None }
    }

    /// Notes a sample; `errors` are the logarithms of each class's delay over its target (0 if unknown), `slots` the
    /// workers each has.
    pub fn on_sample(&mut self, classes: &[ClassSample], errors: &[f64], slots: &[u32], floor: u32) {
        let waiting: u32 = classes.iter().map(|class| class.waiting).sum();
        self.waiting += NEWEST * (f64::from(waiting) - self.waiting);
        // Only a class that waits too little at the floor is stuck: all others can be given more or less. One that is not
        // there at all waits for nothing.
        let is_there = |class: &ClassSample| class.started > 0 || class.waiting > 0 || class.busy > 0;
        let stuck =
            (0..classes.len()).find(|&i| slots[i] <= floor && errors[i] < -FAR && is_there(&classes[i]));
        if stuck != self.stuck_class {
            self.stuck = 0;
            self.stuck_class = stuck;
        }
        // A sample in which it was handed nobody says nothing new: one worker is busy for longer than a short period.
        if stuck.is_some_and(|class| classes[class].started > 0) {
            self.stuck = self.stuck.saturating_add(1);
        }
    }

    /// What is to be shown, but for what only the controller knows.
    #[must_use]
    pub fn state(&self) -> SplitState {
        if self.waiting < 1.0 {
            SplitState::Idle
        } else if self.stuck >= SURE {
            SplitState::Infeasible
        } else {
            SplitState::Steering
        }
    }

    /// The class for which the target cannot be reached, while the state is [`SplitState::Infeasible`].
    #[must_use]
    pub fn stuck_class(&self) -> Option<usize> {
        self.stuck_class.filter(|_| self.state() == SplitState::Infeasible)
    }
}

impl Default for Standing {
    fn default() -> Self {
        Self::new()
    }
}

/// Half of what moving one worker changes in the ratio of two classes' delays, relative: no split into whole workers
/// comes closer to the target than about this, unless it alternates between two.
///
/// A delay falls about in proportion to the workers (paper P, 0.3), so one worker from class j to class i multiplies the
/// ratio by `(n_i+1)/n_i * n_j/(n_j-1)`; the least over all pairs counts.
#[must_use]
pub fn resolution(slots: &[u32]) -> f64 {
    let mut least = f64::INFINITY;
    for (i, &to) in slots.iter().enumerate() {
        for (j, &from) in slots.iter().enumerate() {
            if i != j && to >= 1 && from >= 2 {
                let (to, from) = (f64::from(to), f64::from(from));
                least = least.min((to + 1.0) / to * from / (from - 1.0));
            }
        }
    }
    if least.is_finite() { libm::sqrt(least) - 1.0 } else { 0.0 }
}

/// The logarithm of each delay over its weight, less their mean over the classes that have one: 0 on target, and 0
/// for a class without a delay.
pub(crate) fn errors(delays_s: &[Option<f64>], weights: &[DelayWeight], out: &mut [f64]) {
    const LEAST_S: f64 = 1e-3;
    let (mut sum, mut known) = (0.0, 0.0);
    for ((out, delay), weight) in out.iter_mut().zip(delays_s).zip(weights) {
        *out = 0.0;
        if let Some(delay) = delay {
            *out = libm::log(delay.max(LEAST_S) / weight.get());
            sum += *out;
            known += 1.0;
        }
    }
    let mean = if known > 0.0 { sum / known } else { 0.0 };
    for (out, delay) in out.iter_mut().zip(delays_s) {
        if delay.is_some() {
            *out -= mean;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    /// After so many samples of two classes, the second with one worker and this error: the state, and who is stuck.
    /// `started` says for each sample how many of the second were handed over.
    #[track_caller]
    fn check(error: f64, waiting: u32, started: &[u32], want: (SplitState, Option<usize>)) {
        let mut standing = Standing::new();
        for &started in started {
            let class = |started| ClassSample { started, waiting, ..ClassSample::default() };
            standing.on_sample(&[class(3), class(started)], &[-error, error], &[7, 1], 1);
        }
        let got = (standing.state(), standing.stuck_class());
        assert_eq!(got, want, "error {error}, {waiting} waiting, handed over {started:?}");
    }

    #[test]
    fn a_class_that_waits_too_little_at_the_floor_is_stuck_after_a_dozen_samples() {
        check(-0.5, 9, &[1; 11], (SplitState::Steering, None));
        check(-0.5, 9, &[1; 12], (SplitState::Infeasible, Some(1)));
        check(-0.2, 9, &[1; 40], (SplitState::Steering, None));
        check(0.5, 9, &[1; 40], (SplitState::Steering, None));
    }

    #[test]
    fn samples_without_a_hand_over_neither_count_nor_start_anew() {
        let now_and_then: Vec<u32> = (0..40).map(|n| u32::from(n % 3 == 0)).collect();
        check(-0.5, 9, &now_and_then, (SplitState::Infeasible, Some(1)));
        check(-0.5, 9, &[0; 40], (SplitState::Steering, None));
    }

    #[test]
    fn next_to_nobody_waiting_is_idle_whatever_the_errors() {
        check(-0.5, 0, &[1; 40], (SplitState::Idle, None));
        check(-0.5, 0, &[0; 40], (SplitState::Idle, None));
    }

    #[test]
    fn a_worker_is_much_in_a_small_pool_and_little_in_a_large_one() {
        let near = |slots: &[u32], want: f64| {
            let got = resolution(slots);
            assert!((got - want).abs() < 1e-9, "{slots:?}: {got}, want {want}");
        };
        // From (6, 2) to (7, 1) the ratio grows by 7/6 * 2/1, to (5, 3) it shrinks by 6/5 * 3/2.
        near(&[6, 2], libm::sqrt(6.0 / 5.0 * 3.0 / 2.0) - 1.0);
        near(&[49, 15], libm::sqrt(49.0 / 48.0 * 16.0 / 15.0) - 1.0);
        near(&[1, 1], 0.0);
    }
}
