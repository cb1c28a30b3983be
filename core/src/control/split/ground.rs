//! What the controllers have in common that move a split step by step: delays to go by, shares to go on from.

use super::SplitSample;
use super::sense::{Delay, is_possible};
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;

/// Delay below which no ratio is formed, in seconds: nobody waits, and 0/0 is no error (paper P, 0.10).
pub(super) const LEAST_S: f64 = 1e-3;

/// The delays of all classes, and the workers they were given.
#[derive(Clone, Debug)]
pub(super) struct Ground {
    weights: Vec<DelayWeight>,
    /// Part of the past that a delay keeps, 0 to 1.
    kept: f64,
    sensors: Vec<Delay>,
    delays_s: Vec<Option<f64>>,
    /// Workers given last; empty before the first time.
    granted: Vec<u32>,
}

impl Ground {
    /// For classes with these weights; delays keep the part `kept` of their past from sample to sample, 0 to 1.
    pub(super) fn new(weights: &[DelayWeight], kept: f64) -> Self {
        Self {
            weights: weights.to_vec(),
            kept,
            sensors: vec![Delay::default(); weights.len()],
            delays_s: vec![None; weights.len()],
            granted: Vec::new(),
        }
    }

    /// Notes a sample. `false` for one that nothing can be made of: it changes nothing.
    ///
    /// One figure that is no number, or beyond all measure, would stay in every sum that forgets; it is let into none.
    pub(super) fn observe(&mut self, seen: SplitSample<'_>) -> bool {
        let classes = self.weights.len();
        let is_sound = seen.classes.len() == classes && seen.workers as usize >= classes;
        if !is_sound || !seen.classes.iter().all(is_possible) {
            return false;
        }
        for ((sensor, delay), class) in self.sensors.iter_mut().zip(&mut self.delays_s).zip(seen.classes) {
            *delay = sensor.on_sample(class, self.kept);
        }
        true
    }

    /// Notes the whole workers made of the shares.
    pub(super) fn on_applied(&mut self, workers: &[u32]) {
        self.granted.clear();
        self.granted.extend_from_slice(workers);
    }

    /// The weights, in class order.
    pub(super) fn weights(&self) -> &[DelayWeight] {
        &self.weights
    }

    /// The delay of each class in seconds, if it has one.
    pub(super) fn delays_s(&self) -> &[Option<f64>] {
        &self.delays_s
    }

    /// Makes `shares` what a step goes on from: they sum to 1, and none is further than one worker from what was
    /// applied.
    ///
    /// So nothing winds up behind a limit. Within the one worker the wish is kept: a step that begins at whole workers
    /// loses every increment of less than half a worker, and such a loop stops short of its target.
    pub(super) fn start(&self, shares: &mut [f64]) {
        normalise(shares);
        let pool: u32 = self.granted.iter().sum();
        if self.granted.len() != shares.len() || pool == 0 {
            return;
        }
        let one = 1.0 / f64::from(pool);
        for (share, &workers) in shares.iter_mut().zip(&self.granted) {
            let applied = f64::from(workers) * one;
            *share = share.clamp(applied - one, applied + one);
        }
        finish(shares, pool);
    }
}

/// Ends a step: each share is at least one worker's, and they sum to about 1.
pub(super) fn finish(shares: &mut [f64], workers: u32) {
    let floor = 1.0 / f64::from(workers.max(1));
    normalise(shares);
    for share in &mut *shares {
        *share = share.clamp(floor, 1.0);
    }
    normalise(shares);
}

/// Makes the shares sum to 1; equal ones of what has no finite sum above zero.
fn normalise(shares: &mut [f64]) {
    let sum: f64 = shares.iter().sum();
    if sum > 0.0 && sum.is_finite() {
        for share in shares {
            *share /= sum;
        }
    } else {
        let equal = 1.0 / shares.len() as f64;
        shares.fill(equal);
    }
}

#[cfg(test)]
mod tests {
    use super::super::ClassSample;
    use super::*;

    #[track_caller]
    fn check_start(granted: &[u32], shares: &[f64], want: &[f64]) {
        let mut ground = Ground::new(&vec![DelayWeight::new(1.0).unwrap(); shares.len()], 0.0);
        ground.on_applied(granted);
        let mut got = shares.to_vec();
        ground.start(&mut got);
        let close = got.iter().zip(want).all(|(got, want)| (got - want).abs() < 1e-12);
        assert!(close, "a step from {shares:?} with {granted:?} granted begins at {got:?}, wanted {want:?}");
    }

    #[test]
    fn a_step_begins_within_a_worker_of_what_was_applied() {
        check_start(&[6, 4], &[0.57, 0.43], &[0.57, 0.43]);
        check_start(&[5, 5], &[0.8, 0.2], &[0.6, 0.4]);
        check_start(&[9, 1], &[0.99, 0.01], &[0.99 / 1.09, 0.1 / 1.09]);
        check_start(&[], &[3.0, 1.0], &[0.75, 0.25]);
        check_start(&[0, 0], &[3.0, 1.0], &[0.75, 0.25]);
        check_start(&[5, 5], &[f64::NAN, 0.5], &[0.5, 0.5]);
        check_start(&[5, 5], &[f64::MAX, f64::MAX], &[0.5, 0.5]);
    }

    #[test]
    fn every_class_ends_with_a_workers_share() {
        let mut shares = [3.0, 0.0, 0.0];
        finish(&mut shares, 8);
        assert_eq!(shares, [0.8, 0.1, 0.1], "1, 1/8 and 1/8, scaled to sum to 1");
    }

    #[test]
    fn a_sample_with_a_figure_that_is_none_changes_nothing() {
        let one = ClassSample { started: 4, delay_s: 2.0, ..ClassSample::default() };
        let mut ground = Ground::new(&[DelayWeight::new(1.0).unwrap()], 0.5);
        assert!(ground.observe(SplitSample { workers: 4, classes: &[one] }), "a sound sample is taken");
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e16] {
            for class in [
                ClassSample { delay_s: odd, ..one },
                ClassSample { oldest_s: odd, ..one },
                ClassSample { service_s: odd, ..one },
            ] {
                let taken = ground.observe(SplitSample { workers: 4, classes: &[class] });
                assert!(!taken, "{class:?} is no sample");
            }
        }
        assert!(!ground.observe(SplitSample { workers: 0, classes: &[one] }), "no worker for the class");
        assert!(!ground.observe(SplitSample { workers: 4, classes: &[] }), "no entry for the class");
        assert_eq!(ground.delays_s(), [Some(0.5)], "the delay after all that");
    }
}
