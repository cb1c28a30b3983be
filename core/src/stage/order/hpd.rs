//! Hybrid proportional delay: waiting-time priority with a part of proportional average delay.
//!
//! Source: Dovrolis, Stiliadis and Ramanathan 2002 (HPD), with averages that forget. The waits of heads keep single waits
//! even, the averages correct what is left of the ratios in the long run.

use super::delays::Delays;
use super::wtp::normalised_wait;
use super::{Discipline, Waiting, largest};
use crate::jobs::Job;
use crate::time::Instant;
use crate::unit::DelayWeight;
use alloc::vec::Vec;

/// Part of the head's wait in the figure; the rest is the average's.
const G: f64 = 0.875;

/// The head with the largest sum, for its class's weight, of seven parts of its wait and one of the average delay.
#[derive(Clone, Debug)]
pub struct Hpd {
    delays: Delays,
}

impl Hpd {
    /// With one weight a class.
    #[must_use]
    pub fn new(weights: Vec<DelayWeight>) -> Self {
        Self { delays: Delays::new(weights) }
    }
}

impl Discipline for Hpd {
    fn next(&mut self, now: Instant, waiting: Waiting<'_>) -> Option<u32> {
        largest(waiting.heads(), |job| {
            G * normalised_wait(now, job, self.delays.weights())
                + (1.0 - G) * self.delays.normalised(now, job)
        })
    }

    fn on_taken(&mut self, now: Instant, job: &Job) {
        self.delays.on_taken(now, job);
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::by_hand::{Bench, mean_waits, weights};
    use super::super::{Pad, Wtp};
    use super::*;

    /// At a load where waits alone fall short of the ratio and averages alone hold it.
    #[test]
    fn average_delays_come_closer_to_the_ratio_than_waits_alone_bring_them() {
        let weights = || weights(&[1.0, 2.0]);
        let ratio = |waits: [f64; 2]| waits[1] / waits[0];
        let wtp = ratio(mean_waits(&mut Wtp::new(weights()), 200_000));
        let hpd = ratio(mean_waits(&mut Hpd::new(weights()), 200_000));
        let pad = ratio(mean_waits(&mut Pad::new(weights()), 200_000));
        assert!(
            wtp + 0.05 < hpd && hpd < pad && pad < 2.02,
            "ratios of wtp {wtp}, hpd {hpd}, pad {pad}; wanted 2"
        );
    }

    /// Weights 1 and 2. At 1 s a job of each class is served that has waited 100 and 800 ms; then a head of each has
    /// waited for so long. The averages with the heads are (100 + w) / 2 and (800 + w) / 4, so that the figures are
    /// `.9375 w0 + 6.25` and `.46875 w1 + 25` ms: equal at w1 = 100 for w0 = 70.
    #[track_caller]
    fn check(waited_ms: [u64; 2], want: u8) {
        let mut bench = Bench::new(1, 2);
        let mut order = Hpd::new(weights(&[1.0, 2.0]));
        for (class, waited) in [(0, 100), (1, 800)] {
            bench.join_at(0, class, 1_000 - waited);
            bench.take_at(&mut order, 1_000);
        }
        for (class, waited) in waited_ms.into_iter().enumerate() {
            bench.join_at(0, class as u8, 1_000 - waited);
        }
        let got = bench.take_class_at(&mut order, 1_000);
        assert_eq!(got, Some(want), "class served of heads that have waited {waited_ms:?} ms");
    }

    #[test]
    fn seven_parts_wait_and_one_part_average() {
        check([69, 100], 1);
        check([71, 100], 0);
    }
}
