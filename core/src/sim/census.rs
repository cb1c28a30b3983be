//! How many are somewhere, and the integral of that over time.

use crate::time::Instant;

/// A count with its time integral, exact to the nanosecond.
///
/// Whoever is there from `a` to `b` adds `b - a`; so coming takes the time off the sum and leaving puts it on, and
/// no product is needed until somebody asks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Census {
    start: Instant,
    here: u32,
    /// Leaving times less coming times, modulo 2^128.
    sum: u128,
}

impl Census {
    /// Nobody there; what lies before `start` is left out of the integral.
    pub(crate) const fn from(start: Instant) -> Self {
        Self { start, here: 0, sum: 0 }
    }

    /// How many are there.
    #[inline]
    pub(crate) const fn here(&self) -> u32 {
        self.here
    }

    /// One comes.
    #[inline(always)]
    pub(crate) fn come(&mut self, now: Instant) {
        self.here += 1;
        self.sum = self.sum.wrapping_sub(self.moment(now));
    }

    /// One leaves.
    #[inline(always)]
    pub(crate) fn leave(&mut self, now: Instant) {
        self.here -= 1;
        self.sum = self.sum.wrapping_add(self.moment(now));
    }

    /// All leave.
    pub(crate) fn leave_all(&mut self, now: Instant) {
        self.sum = self.integral_ns(now);
        self.here = 0;
    }

    /// The integral from the start until `now`, in nanoseconds.
    pub(crate) fn integral_ns(&self, now: Instant) -> u128 {
        self.sum.wrapping_add(self.moment(now) * u128::from(self.here))
    }

    #[inline]
    fn moment(&self, now: Instant) -> u128 {
        u128::from(now.max(self.start).as_nanos())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_begins_at_the_start_and_counts_who_is_still_there() {
        let at = Instant::from_nanos;
        let mut census = Census::from(at(10));
        census.come(at(0)); // 10 to 20
        census.come(at(15)); // 15 to 30, still there
        census.leave(at(20));
        assert_eq!(census.integral_ns(at(30)), 10 + 15);
        census.leave_all(at(30));
        assert_eq!((census.here(), census.integral_ns(at(99))), (0, 25));
        census.come(at(100));
        assert_eq!(census.integral_ns(at(101)), 26);
    }
}
