//! Waiting-time priority: delays in proportion to the weights of the classes, from one shared pool of workers.
//!
//! Source: Dovrolis, Stiliadis and Ramanathan 2002 (WTP); the same rule is Kleinrock's accumulating priority (1964) with
//! a rate of 1 over the weight. It needs no more than the age of each head, and under heavy load no rule keeps
//! the ratios better. Under light load no rule can: nobody's wait can be made longer than it is.

use super::{Discipline, Waiting, largest};
use crate::jobs::Job;
use crate::time::Instant;
use crate::unit::DelayWeight;
use alloc::vec::Vec;

/// The head that has waited longest at this stage for its class's weight.
#[derive(Clone, Debug)]
pub struct Wtp {
    weights: Vec<DelayWeight>,
}

impl Wtp {
    /// With one weight a class.
    #[must_use]
    pub const fn new(weights: Vec<DelayWeight>) -> Self {
        Self { weights }
    }
}

impl Discipline for Wtp {
    fn next(&mut self, now: Instant, waiting: Waiting<'_>) -> Option<u32> {
        largest(waiting.heads(), |job| normalised_wait(now, job, &self.weights))
    }
}

/// Wait at this stage over the weight of the class, in seconds.
pub(super) fn normalised_wait(now: Instant, job: &Job, weights: &[DelayWeight]) -> f64 {
    now.since(job.queued).as_secs_f64() / weights[usize::from(job.class.0)].get()
}

#[cfg(test)]
mod tests {
    use super::super::super::by_hand::{Bench, weights};
    use super::*;

    /// Jobs of two classes with weights 1 and 4, given by class and time of joining; who is served at 100 ms.
    #[track_caller]
    fn check(joined_ms: &[(u8, u64)], want: &[usize]) {
        let mut bench = Bench::new(1, 2);
        let slots: Vec<u32> = joined_ms.iter().map(|&(class, ms)| bench.join_at(0, class, ms)).collect();
        let mut order = Wtp::new(weights(&[1.0, 4.0]));
        let got: Vec<usize> = core::iter::from_fn(|| bench.take_at(&mut order, 100))
            .map(|slot| slots.iter().position(|&s| s == slot).unwrap())
            .collect();
        assert_eq!(got, want, "jobs (class, joined at ms) {joined_ms:?} in order of service at 100 ms");
    }

    #[test]
    fn the_longest_wait_for_its_weight_goes_first() {
        // Normalised: 20 and 25 ms; then 20 and 10.
        check(&[(0, 80), (1, 0)], &[1, 0]);
        check(&[(0, 80), (1, 60)], &[0, 1]);
        // Normalised 30, 10 against 24, 16: classes take turns.
        check(&[(0, 70), (0, 90), (1, 4), (1, 36)], &[0, 2, 3, 1]);
    }

    #[test]
    fn of_equal_figures_the_one_that_came_first() {
        check(&[(1, 20), (0, 80)], &[0, 1]);
        check(&[(0, 100), (1, 100)], &[0, 1]);
        check(&[(1, 100), (0, 100)], &[0, 1]);
    }

    #[test]
    fn only_classes_with_a_free_worker_are_looked_at() {
        let mut bench = Bench::new(1, 2);
        let [_, other] = [bench.join_at(0, 0, 0), bench.join_at(0, 1, 99)];
        bench.free = 0b10;
        let got = bench.take_at(&mut Wtp::new(weights(&[1.0, 4.0])), 100);
        assert_eq!(got, Some(other), "class 0 has waited longest, but has no worker free");
        assert_eq!(bench.take_at(&mut Wtp::new(weights(&[1.0, 4.0])), 100), None, "only class 0 waits");
    }
}
