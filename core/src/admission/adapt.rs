//! How the height of a RED curve, `max_p`, follows the load.
//!
//! Every rule keeps it from 0.01 to 0.5 (the bounds of Floyd's Adaptive RED), stretched to hold the value a scenario
//! begins with. The paper's listing has lost its operators and prints `minp` for `maxp`; the reading here is that of
//! paper S, 1.3: up after so many arrivals above the curve, down after so many below it, not necessarily in a row.

use super::ramp::{Ramp, Zone};
use crate::scenario::v1::AdaptV1;
use crate::time::{Duration, Instant};

/// Least `max_p` a rule makes, unless a scenario begins lower.
const BOTTOM: f64 = 0.01;
/// Most `max_p` a rule makes, unless a scenario begins higher.
pub const TOP: f64 = 0.5;
/// Least time between two steps of Floyd's rule.
const FLOYD_PERIOD: Duration = Duration::from_millis(500);

/// The height of a curve.
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxP {
    // Invariant: 0 < bottom <= value <= top <= 1.
    value: f64,
    bottom: f64,
    top: f64,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    Fixed,
    /// Arrivals above and below the curve since the last change for that reason.
    Counters {
        factor: f64,
        repeat: u32,
        above: u32,
        below: u32,
    },
    /// Which end of the curve the average passed last.
    Feng {
        zone: Zone,
    },
    /// When the next step may be made.
    Floyd {
        due: Instant,
    },
}

impl MaxP {
    /// A height that begins at `max_p`, above 0 and at most 1.
    pub(super) fn new(adapt: &AdaptV1, max_p: f64) -> Self {
        let rule = match *adapt {
            AdaptV1::None => Rule::Fixed,
            AdaptV1::Counters { factor, repeat } => Rule::Counters { factor, repeat, above: 0, below: 0 },
            // A queue begins empty: that is no passing of `min` from above.
            AdaptV1::Feng => Rule::Feng { zone: Zone::Below },
            AdaptV1::Floyd => Rule::Floyd { due: Instant::START + FLOYD_PERIOD },
        };
        Self { value: max_p, bottom: BOTTOM.min(max_p), top: TOP.max(max_p), rule }
    }

    /// The height.
    #[inline]
    pub(super) const fn get(&self) -> f64 {
        self.value
    }

    /// Whether the rule counts arrivals, each with the average of its own level. The others follow the course of one
    /// average, and levels in turn would look to them like leaps.
    pub(super) const fn counts_arrivals(&self) -> bool {
        matches!(self.rule, Rule::Counters { .. })
    }

    /// Takes note of an arrival that was judged at this average.
    #[inline]
    pub(super) fn on_arrival(&mut self, now: Instant, average: f64, ramp: &Ramp) {
        let zone = ramp.zone(average);
        let changed = match &mut self.rule {
            Rule::Fixed => return,
            Rule::Counters { factor, repeat, above, below } => match zone {
                Zone::Above if full(above, *repeat) => self.value * *factor,
                Zone::Below if full(below, *repeat) => self.value / *factor,
                _ => return,
            },
            Rule::Feng { zone: last } => match (core::mem::replace(last, zone), zone) {
                (Zone::Below | Zone::Within, Zone::Above) => self.value * 2.0,
                (Zone::Above | Zone::Within, Zone::Below) => self.value / 3.0,
                _ => return,
            },
            Rule::Floyd { due } if now >= *due => {
                *due = now + FLOYD_PERIOD;
                floyd(self.value, average, ramp)
            }
            Rule::Floyd { .. } => return,
        };
        self.value = changed.clamp(self.bottom, self.top);
    }
}

/// Counts one more; whether that makes `repeat`, in which case counting begins again.
fn full(count: &mut u32, repeat: u32) -> bool {
    *count += 1;
    let full = *count >= repeat;
    if full {
        *count = 0;
    }
    full
}

/// One step of Adaptive RED (Floyd, Gummadi and Shenker 2001): up by `min(0.01, max_p / 4)` or down by a tenth, unless
/// the average lies in the middle fifth of the curve.
fn floyd(max_p: f64, average: f64, ramp: &Ramp) -> f64 {
    let margin = 0.4 * (ramp.max() - ramp.min());
    if average > ramp.max() - margin {
        max_p + f64::min(0.01, max_p / 4.0)
    } else if average < ramp.min() + margin {
        max_p * 0.9
    } else {
        max_p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The heights after each arrival, 100 ms apart from 100 ms on, that finds these averages on a curve from 200 to 280.
    #[track_caller]
    fn check(adapt: AdaptV1, begin: f64, averages: &[f64], want: &[f64]) {
        let ramp = Ramp::new(200.0, 280.0, false);
        let mut max_p = MaxP::new(&adapt, begin);
        for (n, (&average, &want)) in averages.iter().zip(want).enumerate() {
            let now = Instant::START + Duration::from_millis(100 * (n as u64 + 1));
            max_p.on_arrival(now, average, &ramp);
            let got = max_p.get();
            assert!((got - want).abs() < 1e-12, "{adapt:?}, arrival {n} at {average}: {got}, want {want}");
        }
        assert_eq!(averages.len(), want.len(), "as many heights as arrivals");
    }

    #[test]
    fn counters_need_five_arrivals_though_not_in_a_row() {
        let (lo, mid, hi) = (10.0, 240.0, 280.0);
        check(
            AdaptV1::Counters { factor: 2.0, repeat: 5 },
            0.2,
            &[hi, hi, mid, hi, lo, hi, hi, lo, lo, lo, lo, hi, hi, hi, hi, hi],
            &[0.2, 0.2, 0.2, 0.2, 0.2, 0.2, 0.4, 0.4, 0.4, 0.4, 0.2, 0.2, 0.2, 0.2, 0.2, 0.4],
        );
    }

    #[test]
    fn counters_stop_at_the_bounds() {
        check(AdaptV1::Counters { factor: 2.0, repeat: 1 }, 0.2, &[300.0; 3], &[0.4, 0.5, 0.5]);
        check(AdaptV1::Counters { factor: 10.0, repeat: 1 }, 0.2, &[0.0; 3], &[0.02, 0.01, 0.01]);
    }

    #[test]
    fn a_beginning_beyond_the_bounds_stretches_them() {
        let double = AdaptV1::Counters { factor: 2.0, repeat: 1 };
        check(double.clone(), 0.8, &[300.0, 0.0, 300.0], &[0.8, 0.4, 0.8]);
        check(double, 0.002, &[0.0, 300.0, 0.0], &[0.002, 0.004, 0.002]);
    }

    #[test]
    fn feng_moves_when_the_average_passes_an_end() {
        check(
            AdaptV1::Feng,
            0.24,
            &[0.0, 250.0, 290.0, 300.0, 250.0, 290.0, 100.0, 0.0, 300.0, 250.0, 199.0],
            &[0.24, 0.24, 0.48, 0.48, 0.48, 0.5, 0.5 / 3.0, 0.5 / 3.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 9.0],
        );
    }

    #[test]
    fn floyd_steps_every_half_second_towards_the_middle() {
        // Arrivals at 100, 200, ... ms; steps at 500, 1000, 1500 and 2000 ms. The middle fifth is 232 to 248.
        let (mut averages, mut want) = ([300.0; 20], [0.2; 20]);
        averages[9] = 248.0;
        averages[14] = 231.9;
        averages[19] = 248.1;
        want[4..14].fill(0.21);
        want[14..19].fill(0.189);
        want[19] = 0.199;
        check(AdaptV1::Floyd, 0.2, &averages, &want);
        check(AdaptV1::Floyd, 0.02, &[300.0; 5], &[0.02, 0.02, 0.02, 0.02, 0.025]);
    }

    #[test]
    fn a_fixed_height_stays() {
        check(AdaptV1::None, 0.2, &[0.0, 300.0, 0.0], &[0.2; 3]);
    }
}
