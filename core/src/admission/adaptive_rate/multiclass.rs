//! The multiclass rule: a rate for each class, and the less urgent give way first.
//!
//! A class whose responses are slow has the rate of every less urgent class cut to a tenth and its own a little;
//! one whose responses are quick gets a little more, unless a more urgent one has just cut it. Which class is the
//! more urgent is seen from the levels its jobs come with; classes of one level leave each other alone.

use super::window::{Measured, Window};
use super::{Found, Present, RateRule, within_bounds};
use crate::admission::bucket::Bucket;
use crate::id::{ClassId, PerClass};
use crate::time::{Duration, Instant};

/// Rate a class begins with, in 1/s.
const FIRST_RATE: f64 = 100.0;
/// Tokens a class's bucket holds.
const DEPTH: f64 = 1.0;
/// Relative error below which responses are quick.
const QUICK: f64 = -0.1;
/// Relative error below which the rate in fact grows.
const QUICK_ENOUGH: f64 = -0.5;
/// Added to the rate for each unit of error below [`QUICK`], in 1/s.
const STEP_UP: f64 = 2.0;
/// The rate of a class whose responses are slow is divided by this.
const OWN_CUT: f64 = 1.2;
/// The rate of each less urgent class is divided by this.
const LOWER_CUT: f64 = 10.0;

/// One class.
#[derive(Clone, Debug)]
struct Share {
    window: Window,
    bucket: Bucket,
    /// Level its jobs come with; unknown until the first has come.
    level: Option<u8>,
    /// Whether a more urgent class has cut it since it was last about to grow.
    cut: bool,
}

impl Share {
    fn scale(&mut self, now: Instant, divisor: f64) {
        self.bucket.set_rate(now, within_bounds(self.bucket.rate() / divisor));
    }

    /// Responses are quick, by a relative error below [`QUICK`].
    fn grow(&mut self, now: Instant, error: f64) {
        if !core::mem::take(&mut self.cut) && error <= QUICK_ENOUGH {
            self.bucket.set_rate(now, within_bounds(self.bucket.rate() + STEP_UP * (QUICK - error)));
        }
    }
}

/// A bucket a class (paper S, 1.5); all have the same target.
#[derive(Clone, Debug)]
pub(super) struct Multiclass {
    target_s: f64,
    shares: PerClass<Share>,
}

impl Multiclass {
    pub(super) fn new(target_s: f64, classes: usize) -> Self {
        let share = |_| Share {
            window: Window::new(Duration::from_secs(1)),
            bucket: Bucket::full(FIRST_RATE, DEPTH),
            level: None,
            cut: false,
        };
        Self { target_s, shares: PerClass::new(classes, share) }
    }

    /// Acts on every stretch that has ended, the most urgent class first.
    fn adjust_due(&mut self, now: Instant) {
        let top = self.shares.iter().filter_map(|share| share.level).max().unwrap_or(0);
        for level in (0..=top).rev() {
            for class in (0..self.shares.len()).map(|i| ClassId(i as u8)) {
                if self.shares[class].level == Some(level)
                    && let Some(measured) = self.shares[class].window.end_if_due(now)
                {
                    self.adjust(now, class, level, measured);
                }
            }
        }
    }

    fn adjust(&mut self, now: Instant, class: ClassId, level: u8, measured: Measured) {
        let error = (measured.p90_s - self.target_s) / self.target_s;
        if error < QUICK {
            self.shares[class].grow(now, error);
        } else if error > 0.0 {
            for lower in self.shares.iter_mut().filter(|share| share.level.is_some_and(|own| own < level)) {
                lower.cut = true;
                lower.scale(now, LOWER_CUT);
            }
            self.shares[class].scale(now, OWN_CUT);
        }
    }
}

impl RateRule for Multiclass {
    fn take(&mut self, now: Instant, found: &Found<'_>) -> bool {
        let share = &mut self.shares[found.class];
        share.level = Some(found.level);
        share.bucket.take(now)
    }

    fn on_response(&mut self, now: Instant, class: ClassId, response: Duration) {
        let share = &mut self.shares[class];
        share.level.get_or_insert(0);
        share.window.note(response);
        self.adjust_due(now);
    }

    /// The sum over the classes of the level; what a class begins with if none has come.
    fn present(&self, now: Instant, level: u8) -> Present {
        let of_level = || self.shares.iter().filter(|share| share.level == Some(level));
        if of_level().next().is_none() {
            return Present { rate: FIRST_RATE, open: true };
        }
        let rate = of_level().map(|share| share.bucket.rate()).sum();
        Present { rate, open: of_level().any(|share| share.bucket.has_token(now)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::Queue;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    /// Classes 0, 1 and 2 at levels 0, 1 and 1, each of which has sent a job; target 100 ms.
    fn three() -> Multiclass {
        let mut rule = Multiclass::new(0.1, 3);
        for (class, level) in [(0, 0), (1, 1), (2, 1)] {
            let queue = Queue { waiting: &[0, 0], work_ns: &[0, 0], len: 0, gap: Duration::ZERO };
            let job = Found { class: ClassId(class), level, judged_at: level, would_wait: false, queue };
            assert!(rule.take(at(0), &job), "the first token of class {class}");
            assert!(!rule.take(at(0), &job), "a bucket of depth 1 has no second");
        }
        rule
    }

    /// One response of a class a second; the rates of all classes after it.
    #[track_caller]
    fn check(rule: &mut Multiclass, second: u64, class: u8, response_ms: u64, want: [f64; 3]) {
        rule.on_response(at(1_000 * second), ClassId(class), Duration::from_millis(response_ms));
        for (class, (share, want)) in rule.shares.iter().zip(want).enumerate() {
            let got = share.bucket.rate();
            assert!(
                (got - want).abs() < 1e-9,
                "rate {got} of class {class} in second {second}, expected {want}"
            );
        }
    }

    #[test]
    fn a_slow_class_cuts_those_below_it_and_itself_a_little() {
        let mut rule = three();
        check(&mut rule, 1, 1, 150, [10.0, 100.0 / 1.2, 100.0]);
        // Class 0 is quick but has just been cut: it does not grow, once.
        check(&mut rule, 2, 0, 20, [10.0, 100.0 / 1.2, 100.0]);
        check(&mut rule, 3, 0, 20, [10.0 + 2.0 * 0.7, 100.0 / 1.2, 100.0]);
        // The least urgent has nobody below it.
        check(&mut rule, 4, 0, 900, [11.4 / 1.2, 100.0 / 1.2, 100.0]);
    }

    #[test]
    fn the_rate_stays_from_half_the_target_to_the_target() {
        let mut rule = three();
        check(&mut rule, 1, 2, 100, [100.0; 3]);
        let mut rule = three();
        check(&mut rule, 1, 2, 51, [100.0; 3]);
        let mut rule = three();
        check(&mut rule, 1, 2, 50, [100.0, 100.0, 100.8]);
    }

    #[test]
    fn nobody_is_cut_below_the_least_rate() {
        let mut rule = three();
        for second in 1..200 {
            rule.on_response(at(1_000 * second), ClassId(2), Duration::from_secs(5));
        }
        let rates: alloc::vec::Vec<f64> = rule.shares.iter().map(|share| share.bucket.rate()).collect();
        assert_eq!(rates, [0.05, 100.0, 0.05], "classes 0 and 2 at the least, class 1 beside them untouched");
    }

    #[test]
    fn the_most_urgent_class_acts_first() {
        let mut rule = three();
        rule.on_response(at(500), ClassId(1), Duration::from_millis(200));
        // Both stretches end now: class 1 cuts class 0, which for that reason does not grow.
        check(&mut rule, 1, 0, 10, [10.0, 100.0 / 1.2, 100.0]);
    }

    #[test]
    fn a_level_shows_the_sum_of_its_classes() {
        let rule = three();
        assert_eq!(rule.present(at(0), 0), Present { rate: 100.0, open: false }, "class 0");
        assert_eq!(rule.present(at(0), 1), Present { rate: 200.0, open: false }, "classes 1 and 2");
        assert_eq!(rule.present(at(0), 5), Present { rate: 100.0, open: true }, "nobody has come yet");
    }
}
