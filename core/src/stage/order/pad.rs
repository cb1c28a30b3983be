//! Proportional average delay: serves the class that has done worst so far.
//!
//! Source: Dovrolis, Stiliadis and Ramanathan 2002 (PAD), with averages that forget. It holds the ratios of long-run
//! averages wherever they can be held, but lets single waits vary more than [`Wtp`](super::Wtp) does, and a class that
//! did well may wait long for its turn.

use super::delays::Delays;
use super::{Discipline, Waiting, largest};
use crate::jobs::Job;
use crate::time::Instant;
use crate::unit::DelayWeight;
use alloc::vec::Vec;

/// The head of the class with the largest average delay for its weight.
#[derive(Clone, Debug)]
pub struct Pad {
    delays: Delays,
}

impl Pad {
    /// With one weight a class.
    #[must_use]
    pub fn new(weights: Vec<DelayWeight>) -> Self {
        Self { delays: Delays::new(weights) }
    }
}

impl Discipline for Pad {
    fn next(&mut self, now: Instant, waiting: Waiting<'_>) -> Option<u32> {
        largest(waiting.heads(), |job| self.delays.normalised(now, job))
    }

    fn on_taken(&mut self, now: Instant, job: &Job) {
        self.delays.on_taken(now, job);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::by_hand::{Bench, mean_waits, weights};
    use super::*;

    #[test]
    fn average_delays_come_to_the_ratio_of_the_weights() {
        let waits = mean_waits(&mut Pad::new(weights(&[1.0, 2.0])), 200_000);
        let ratio = waits[1] / waits[0];
        assert!((ratio - 2.0).abs() < 0.02, "weights 1 and 2, mean waits {waits:?}: ratio {ratio}");
    }

    /// A hundred jobs of class 0 were served at once at time 0, one of class 1 after a wait of 1 s; at `now_ms` a head of
    /// each has waited for so long.
    #[track_caller]
    fn check(now_ms: u64, waited_ms: [u64; 2], want: u8) {
        let mut bench = Bench::new(1, 2);
        let mut order = Pad::new(weights(&[1.0, 1.0]));
        for _ in 0..100 {
            bench.join_at(0, 0, 1_000);
            bench.take_at(&mut order, 1_000);
        }
        bench.join_at(0, 1, 0);
        bench.take_at(&mut order, 1_000);
        for (class, waited) in waited_ms.into_iter().enumerate() {
            bench.join_at(0, class as u8, now_ms - waited);
        }
        let got = bench.take_class_at(&mut order, now_ms);
        assert_eq!(
            got,
            Some(want),
            "class served at {now_ms} ms with heads that have waited {waited_ms:?} ms"
        );
    }

    #[test]
    fn the_past_of_a_class_counts_more_than_its_head() {
        check(11_000, [10_000, 10], 1);
    }

    #[test]
    fn the_past_is_forgotten() {
        // Three minutes are six times the memory: a hundred delays weigh a quarter of a new one.
        check(181_000, [10_000, 10], 0);
    }

    #[test]
    fn a_class_without_a_past_goes_by_its_head() {
        let mut bench = Bench::new(1, 2);
        let [_, longer] = [bench.join_at(0, 0, 50), bench.join_at(0, 1, 0)];
        let got = bench.take_at(&mut Pad::new(weights(&[1.0, 1.0])), 100);
        assert_eq!(got, Some(longer), "nobody has a past, so the longest wait decides");
    }
}
