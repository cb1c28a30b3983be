//! The curve of RED: how likely an arrival is turned away, by the average length of the queue.
//!
//! Source: Floyd and Jacobson 1993, section IV; `gentle` after Floyd 2000. Paper S, 1.3, uses the same curve
//! for each level. A curve knows lengths and seconds alike: its unit is that of the average it is asked about.

use super::Gauge;

/// A curve of RED: 0 below `min`, a straight line up to a height `max_p` that the caller keeps, 1 from `max` on.
///
/// With `gentle` the probability rises from `max_p` to 1 between `max` and twice `max` instead of jumping there.
/// Whatever the ends are, the result is a probability: with `max` at or below `min` there is no line between 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    min: f64,
    max: f64,
    gentle: bool,
}

/// Where an average lies on a curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// Below `min`.
    Below,
    /// From `min` to just below `max`.
    Within,
    /// From `max` on.
    Above,
}

impl Ramp {
    /// A curve between two averages, in the unit of what is averaged.
    #[must_use]
    pub const fn new(min: f64, max: f64, gentle: bool) -> Self {
        Self { min, max, gentle }
    }

    /// The probability at an average: `max_p (average - min) / (max - min)` between the ends (paper S, 1.3).
    #[must_use]
    #[inline]
    pub fn at(&self, average: f64, max_p: f64) -> f64 {
        if average < self.min {
            0.0
        } else if average < self.max {
            max_p * (average - self.min) / (self.max - self.min)
        } else if self.gentle && average < 2.0 * self.max {
            max_p + (1.0 - max_p) * (average - self.max) / self.max
        } else {
            1.0
        }
    }

    /// Where an average lies.
    #[inline]
    pub(super) fn zone(&self, average: f64) -> Zone {
        if average < self.min {
            Zone::Below
        } else if average < self.max {
            Zone::Within
        } else {
            Zone::Above
        }
    }

    /// The average below which nobody is turned away.
    pub(super) const fn min(&self) -> f64 {
        self.min
    }

    /// The average from which everybody is, or, if the curve is gentle, from which it is steeper.
    pub(super) const fn max(&self) -> f64 {
        self.max
    }

    /// The curve with both ends moved up by so much.
    pub(super) fn raised(&self, by: f64) -> Self {
        Self { min: self.min + by, max: self.max + by, ..*self }
    }

    /// Most jobs that may wait where a scenario does not say: four times `max` (the paper names no such limit, and
    /// without one a top level that is never tested could grow for ever), at least 1 and at most a million.
    pub(super) fn default_limit(&self) -> u32 {
        libm::ceil(4.0 * self.max).clamp(1.0, 1e6) as u32
    }

    /// What there is to show of a curve on job counts, `few` telling that too few wait for a random drop.
    pub(super) fn gauge(&self, average: f64, max_p: f64, few: bool) -> Gauge {
        let drop_p = if few { 0.0 } else { self.at(average, max_p) };
        Gauge { average, min: self.min, max: self.max, drop_p, max_p, seconds: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The curve of paper S: 200, 280, 0.2.
    #[track_caller]
    fn check(gentle: bool, average: f64, want: f64) {
        let got = Ramp::new(200.0, 280.0, gentle).at(average, 0.2);
        assert!(
            (got - want).abs() < 1e-12,
            "at {average} (gentle: {gentle}) the chance is {got}, want {want}"
        );
    }

    #[test]
    fn the_line_and_its_ends_are_those_of_the_paper() {
        check(false, 0.0, 0.0);
        check(false, 199.9, 0.0);
        check(false, 200.0, 0.0);
        check(false, 240.0, 0.1);
        check(false, 279.9, 0.199_75);
        check(false, 280.0, 1.0);
        check(false, 1e9, 1.0);
    }

    #[test]
    fn a_gentle_curve_rises_to_one_at_twice_the_end() {
        check(true, 279.9, 0.199_75);
        check(true, 280.0, 0.2);
        check(true, 420.0, 0.6);
        check(true, 560.0, 1.0);
    }

    #[test]
    fn ends_that_leave_no_line_make_a_step() {
        let step = Ramp::new(5.0, 5.0, true);
        assert_eq!((step.at(4.9, 0.2), step.at(12.0, 0.2)), (0.0, 1.0), "nothing below 5, all at twice 5");
        assert_eq!(Ramp::new(0.0, 0.0, true).at(0.0, 0.2), 1.0, "a curve from 0 to 0 lets nobody in");
    }

    #[test]
    fn the_usual_limit_is_four_times_max_within_reason() {
        let limit = |max| Ramp::new(0.0, max, false).default_limit();
        assert_eq!([limit(280.0), limit(0.1), limit(1e6)], [1_120, 1, 1_000_000]);
    }
}
