//! Which arrivals are turned away, given how many should be.
//!
//! Independent coins come in clusters. Floyd and Jacobson (1993, section VII, method 2) count the arrivals since the
//! last that was turned away: `pa = pb / (1 - count pb)` makes the gap between two uniform on 1 to 1 / pb. With
//! `wait` there is none before 1 / pb: `pa = 0` while `count pb < 1`, then `pb / (2 - count pb)`, which makes it
//! uniform on 1 / pb + 1 to 2 / pb (as in ns-2 and ns-3).

use super::Verdict;
use super::ramp::{Ramp, Zone};
use crate::frame::Cause;
use crate::scenario::v1::SpacingV1;
use crate::unit::Draw;

/// Spreads random drops over the arrivals of one level.
#[derive(Clone, Copy, Debug)]
pub(super) struct Spacing {
    law: SpacingV1,
    /// Arrivals let in since the last that was turned away; `None` outside the curve.
    count: Option<u32>,
}

impl Spacing {
    /// Spacing by a law, before the first arrival.
    pub(super) const fn new(law: SpacingV1) -> Self {
        Self { law, count: None }
    }

    /// Judges an arrival whose level has this average and this many jobs waiting.
    ///
    /// While no more than one job waits nobody is turned away, whatever the average says (as in ns-2).
    #[inline]
    pub(super) fn judge(
        &mut self,
        ramp: &Ramp,
        max_p: f64,
        average: f64,
        waiting: u32,
        draw: Draw,
    ) -> Verdict {
        if waiting <= 1 || ramp.zone(average) == Zone::Below {
            self.count = None;
            return Verdict::Admit;
        }
        let p = ramp.at(average, max_p);
        if p >= 1.0 {
            self.count = Some(0);
            Verdict::Shed(Cause::Forced)
        } else if self.drops(p, draw) {
            Verdict::Shed(Cause::Early)
        } else {
            Verdict::Admit
        }
    }

    /// Whether this arrival is one of those that a probability `p` below 1 asks to be turned away.
    ///
    /// The arrival that enters the curve is let in and counts as the first, unless coins are independent.
    fn drops(&mut self, p: f64, draw: Draw) -> bool {
        let (spaced, count) = match (self.law, self.count) {
            (SpacingV1::Bernoulli, _) => return draw.get() < p,
            (_, None) => (0.0, 0),
            (SpacingV1::Uniform, Some(count)) => (uniform(p, f64::from(count)), count),
            (SpacingV1::Wait, Some(count)) => (wait(p, f64::from(count)), count),
        };
        let dropped = draw.get() < spaced;
        self.count = Some(if dropped { 0 } else { count.saturating_add(1) });
        dropped
    }
}

/// `pb / (1 - count pb)`, and 1 where that ends.
fn uniform(p: f64, count: f64) -> f64 {
    if count * p < 1.0 { (p / (1.0 - count * p)).min(1.0) } else { 1.0 }
}

/// The same, begun one mean gap later.
fn wait(p: f64, count: f64) -> f64 {
    if count * p < 1.0 {
        0.0
    } else if count * p < 2.0 {
        (p / (2.0 - count * p)).min(1.0)
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;
    use alloc::vec;
    use alloc::vec::Vec;

    const GAPS: usize = 100_000;

    /// Gaps between drops at a constant probability: 1 if the very next arrival is turned away.
    fn gaps(law: SpacingV1, p: f64) -> Vec<usize> {
        let mut spacing = Spacing { law, count: Some(0) };
        let mut draws = (0..).map(|n| Draw::from_bits(mix(n)));
        (0..GAPS).map(|_| 1 + draws.by_ref().take_while(|&draw| !spacing.drops(p, draw)).count()).collect()
    }

    /// Mean and standard deviation lie within five standard errors (for the deviation, of a normal law) of `want`.
    #[track_caller]
    fn check(what: &str, gaps: &[usize], mean: f64, sd: f64) {
        let n = gaps.len() as f64;
        let got = gaps.iter().sum::<usize>() as f64 / n;
        let variance = gaps.iter().map(|&gap| (gap as f64 - got) * (gap as f64 - got)).sum::<f64>() / n;
        let got_sd = libm::sqrt(variance);
        let error = sd / libm::sqrt(n);
        assert!((got - mean).abs() < 5.0 * error, "{what}: mean gap {got}, want {mean}");
        assert!((got_sd - sd).abs() < 5.0 * error, "{what}: deviation of the gap {got_sd}, want {sd}");
    }

    /// Chi-square of the gaps against a uniform law on `lo..=hi` is below its 99.9 % point for 49 degrees of freedom.
    #[track_caller]
    fn check_uniform(what: &str, gaps: &[usize], lo: usize, hi: usize) {
        assert_eq!(hi - lo, 49, "the critical value is for 50 cells");
        let mut cells = vec![0_usize; 50];
        for &gap in gaps {
            assert!((lo..=hi).contains(&gap), "{what}: a gap of {gap} is outside {lo} to {hi}");
            cells[gap - lo] += 1;
        }
        let each = gaps.len() as f64 / 50.0;
        let chi2: f64 = cells.iter().map(|&n| (n as f64 - each) * (n as f64 - each) / each).sum();
        assert!(chi2 < 85.35, "{what}: chi-square {chi2} with 49 degrees of freedom");
    }

    #[test]
    fn independent_coins_make_geometric_gaps() {
        check("coins at 0.02", &gaps(SpacingV1::Bernoulli, 0.02), 50.0, 49.497_5);
    }

    #[test]
    fn counting_makes_gaps_uniform() {
        let gaps_02 = gaps(SpacingV1::Uniform, 0.02);
        check("uniform at 0.02", &gaps_02, 25.5, 14.430_9);
        check_uniform("uniform at 0.02", &gaps_02, 1, 50);
        check("uniform at 0.01", &gaps(SpacingV1::Uniform, 0.01), 50.5, 28.866_1);
    }

    #[test]
    fn waiting_makes_them_uniform_after_a_first_gap() {
        let gaps = gaps(SpacingV1::Wait, 0.02);
        check("wait at 0.02", &gaps, 75.5, 14.430_9);
        check_uniform("wait at 0.02", &gaps, 51, 100);
    }

    /// Judges arrivals with these averages on the curve 2 to 10 with `max_p` 0.5, ten waiting, the draw always
    /// 0.0: whoever can be turned away is.
    fn judge(law: SpacingV1, averages: &[f64]) -> Vec<Verdict> {
        let ramp = Ramp::new(2.0, 10.0, false);
        let mut spacing = Spacing::new(law);
        averages.iter().map(|&at| spacing.judge(&ramp, 0.5, at, 10, Draw::from_bits(0))).collect()
    }

    #[test]
    fn the_arrival_that_enters_the_curve_is_let_in_where_arrivals_are_counted() {
        use Verdict::{Admit, Shed};
        let early = Shed(Cause::Early);
        assert_eq!(
            judge(SpacingV1::Uniform, &[1.0, 4.0, 4.0, 1.0, 4.0]),
            [Admit, Admit, early, Admit, Admit]
        );
        assert_eq!(
            judge(SpacingV1::Bernoulli, &[1.0, 4.0, 4.0, 1.0, 4.0]),
            [Admit, early, early, Admit, early]
        );
    }

    #[test]
    fn a_forced_drop_starts_the_count_again() {
        use Verdict::{Admit, Shed};
        // At average 10 p is 1; at 6 it is 0.25, so with `wait` the fourth arrival let in opens the door to drops.
        let averages = [6.0, 6.0, 6.0, 10.0, 6.0, 6.0, 6.0, 6.0, 6.0];
        let mut want = [Admit; 9];
        want[3] = Shed(Cause::Forced);
        want[8] = Shed(Cause::Early);
        assert_eq!(judge(SpacingV1::Wait, &averages), want);
    }

    #[test]
    fn a_single_waiting_job_keeps_the_door_open() {
        let mut spacing = Spacing::new(SpacingV1::Bernoulli);
        let ramp = Ramp::new(2.0, 10.0, false);
        let mut judge = |waiting| spacing.judge(&ramp, 0.5, 99.0, waiting, Draw::from_bits(0));
        assert_eq!(judge(1), Verdict::Admit, "one waits");
        assert_eq!(judge(2), Verdict::Shed(Cause::Forced), "two wait");
    }
}
