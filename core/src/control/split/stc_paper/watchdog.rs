//! Whether a learned model is to be trusted.

use super::identify::Lesson;

/// Part of the tracked mean squares that is kept from one lesson to the next.
const KEPT: f64 = 0.95;
/// Where the mean squares begin: errors of two percent of the sum of delays, so that neither the first lessons nor tiny
/// errors decide.
const START: f64 = 4e-4;
/// A lesson counts for no more than so many times the mean square of the starting model: one surprise, as when the load
/// jumps, tells nothing of either.
const MOST: f64 = 9.0;
/// The learned model is dropped once its mean square error exceeds that of the starting one by this factor.
const WORSE: f64 = 1.5;
/// Lessons in a row with an estimate pinned to its bounds, after which it is dropped.
const PINNED: u32 = 12;

/// Watches a learned model beside the one that was begun with, and says which to use.
///
/// The learned one is dropped
/// - once its predictions are worse than the starting model's: mean square errors, tracked over some twenty lessons, that differ by
///   more than a factor of 1.5; until they are no worse,
/// - or once an estimate has been put back into its bounds in 12 lessons in a row; until it is within them by itself.
///
/// Nothing else is done while it is dropped: identification goes on, and the gains are those of the starting model.
#[derive(Clone, Debug)]
pub(super) struct Watchdog {
    learned: f64,
    start: f64,
    pinned: u32,
    is_worse: bool,
}

impl Watchdog {
    pub(super) const fn new() -> Self {
        Self { learned: START, start: START, pinned: 0, is_worse: false }
    }

    /// Notes what came of a window.
    pub(super) fn on_lesson(&mut self, lesson: &Lesson) {
        self.pinned = if lesson.is_pinned { self.pinned.saturating_add(1) } else { 0 };
        let most = MOST * self.start;
        let track = |mean: f64, error: f64| KEPT * mean + (1.0 - KEPT) * (error * error).min(most);
        self.learned = track(self.learned, lesson.learned_error);
        self.start = track(self.start, lesson.start_error).max(f64::MIN_POSITIVE);
        self.is_worse = self.ratio() > if self.is_worse { 1.0 } else { WORSE };
    }

    /// Mean square error of the learned model's predictions over that of the starting one's.
    pub(super) fn ratio(&self) -> f64 {
        self.learned / self.start
    }

    /// Whether the learned model may be used.
    pub(super) fn trusts(&self) -> bool {
        !self.is_worse && self.pinned < PINNED
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lesson(learned_error: f64, start_error: f64, is_pinned: bool) -> Lesson {
        Lesson { learned_error, start_error, was_cut: is_pinned, is_pinned }
    }

    /// Number of such lessons until the verdict changes; at most 1,000.
    fn until_change(watchdog: &mut Watchdog, lesson: Lesson) -> u32 {
        let before = watchdog.trusts();
        (1..=1_000)
            .find(|_| {
                watchdog.on_lesson(&lesson);
                watchdog.trusts() != before
            })
            .unwrap_or(u32::MAX)
    }

    #[test]
    fn a_model_that_predicts_worse_is_dropped_and_comes_back() {
        let mut watchdog = Watchdog::new();
        assert!(watchdog.trusts(), "there is no reason not to");
        let dropped = until_change(&mut watchdog, lesson(0.06, 0.02, false));
        assert!((2..=10).contains(&dropped), "three times the error: dropped after {dropped} lessons");
        let back = until_change(&mut watchdog, lesson(0.02, 0.04, false));
        assert!((2..=30).contains(&back), "half the error: back after {back} lessons");
        let kept = until_change(&mut watchdog, lesson(0.022, 0.02, false));
        assert_eq!(kept, u32::MAX, "a tenth more is no reason");
    }

    #[test]
    fn one_surprise_is_no_reason() {
        let mut watchdog = Watchdog::new();
        watchdog.on_lesson(&lesson(0.9, 0.02, false));
        assert!(watchdog.trusts(), "ratio {} after one surprise", watchdog.ratio());
    }

    #[test]
    fn a_model_pinned_to_its_bounds_is_dropped_and_comes_back() {
        let mut watchdog = Watchdog::new();
        assert_eq!(until_change(&mut watchdog, lesson(0.01, 0.02, true)), 12, "lessons at the bounds");
        assert_eq!(until_change(&mut watchdog, lesson(0.01, 0.02, false)), 1, "lessons within them");
    }

    #[test]
    fn long_perfection_of_both_is_no_division_by_zero() {
        let mut watchdog = Watchdog::new();
        (0..100_000).for_each(|_| watchdog.on_lesson(&lesson(0.0, 0.0, false)));
        assert!(watchdog.ratio().is_finite() && watchdog.trusts(), "ratio {}", watchdog.ratio());
    }
}
