//! A level that changes now and then, and the integral of it over time.

use crate::time::Instant;

/// A level with its time integral, in units of the level times nanoseconds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Level {
    start: Instant,
    since: Instant,
    level: f64,
    sum: f64,
}

impl Level {
    /// Nothing; what lies before `start` is left out of the integral.
    pub(crate) const fn from(start: Instant) -> Self {
        Self { start, since: Instant::START, level: 0.0, sum: 0.0 }
    }

    /// It is `level` from `now` on.
    pub(crate) fn set(&mut self, now: Instant, level: f64) {
        self.sum = self.integral(now);
        self.since = now;
        self.level = level;
    }

    /// The integral from the start until `now`.
    pub(crate) fn integral(&self, now: Instant) -> f64 {
        let since = self.since.max(self.start);
        if now <= since {
            return self.sum;
        }
        self.sum + self.level * now.since(since).as_nanos() as f64
    }

    /// The mean from the start until `now`; 0 if no time has passed.
    pub(crate) fn mean(&self, now: Instant) -> f64 {
        if now <= self.start {
            return 0.0;
        }
        self.integral(now) / now.since(self.start).as_nanos() as f64
    }

    /// The integral begins anew.
    pub(crate) fn restart(&mut self, now: Instant) {
        (self.start, self.since, self.sum) = (now, now, 0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_begins_at_the_start() {
        let at = Instant::from_nanos;
        let mut level = Level::from(at(10));
        level.set(at(0), 2.0); // counts from 10 on
        assert_eq!(level.integral(at(5)), 0.0, "before the start");
        level.set(at(15), 0.5);
        assert_eq!(level.integral(at(19)), 10.0 + 2.0);
        assert_eq!(level.mean(at(20)), 1.25);
        level.restart(at(20));
        assert_eq!((level.integral(at(20)), level.mean(at(24))), (0.0, 0.5), "the level stays");
    }
}
