//! How many workers or slots there were, over time: what a utilisation is a part of.

use crate::time::Instant;

/// A number of places, and what there were before it changed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Places {
    now: u32,
    since: Instant,
    /// Places times nanoseconds in the measured part, until the last change.
    before: u128,
}

impl Places {
    pub(crate) const fn new(now: u32) -> Self {
        Self { now, since: Instant::START, before: 0 }
    }

    /// There are so many from `now` on. What lies before `from` is left out.
    pub(crate) fn change(&mut self, now: Instant, from: Instant, places: u32) {
        if places != self.now {
            self.before = self.until(now, from);
            (self.now, self.since) = (places, now);
        }
    }

    /// The part of them that was in use, from `from` to `now`, if `busy_ns` is the sum over those in use.
    pub(crate) fn share(&self, busy_ns: f64, from: Instant, now: Instant) -> f64 {
        let window_ns = now.since(from).as_nanos() as f64;
        if window_ns <= 0.0 {
            0.0
        } else if self.before == 0 && self.since <= from {
            busy_ns / window_ns / f64::from(self.now)
        } else {
            busy_ns / self.until(now, from) as f64
        }
    }

    fn until(&self, now: Instant, from: Instant) -> u128 {
        self.before + u128::from(now.since(self.since.max(from)).as_nanos()) * u128::from(self.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_of_the_places_there_were() {
        let at = Instant::from_nanos;
        let mut places = Places::new(2);
        assert_eq!(places.share(10.0, at(10), at(20)), 0.5);
        places.change(at(15), at(10), 6); // 2 for 5 ns, 6 for 5 ns
        assert_eq!(places.share(10.0, at(10), at(20)), 0.25);
        assert_eq!(places.share(0.0, at(10), at(10)), 0.0, "no time has passed");
        let mut early = Places::new(2);
        early.change(at(5), at(10), 4); // before the measured part
        assert_eq!(early.share(20.0, at(10), at(20)), 0.5);
    }
}
