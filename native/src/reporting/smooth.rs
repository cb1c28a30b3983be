//! Averages in which the past counts less the longer ago it is: by the factor e for each time constant.
//!
//! Both are read at any moment without being changed, so a report can be asked for at any pace.

use std::time::Duration;

use tokio::time::Instant;

/// Share of the past that still counts after `passed`.
fn kept(passed: Duration, time_constant: Duration) -> f64 {
    (-passed.as_secs_f64() / time_constant.as_secs_f64()).exp()
}

/// The average of something that keeps its level until it is set anew: how many are busy, say.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Level {
    time_constant: Duration,
    average: f64,
    level: f64,
    since: Instant,
}

impl Level {
    /// A level of 0 ever since.
    pub(crate) fn new(time_constant: Duration) -> Self {
        Self { time_constant, average: 0.0, level: 0.0, since: Instant::now() }
    }

    /// The level from now on.
    pub(crate) fn set(&mut self, level: f64) {
        self.average = self.average();
        self.since = Instant::now();
        self.level = level;
    }

    /// The average, now.
    pub(crate) fn average(&self) -> f64 {
        self.level + (self.average - self.level) * kept(self.since.elapsed(), self.time_constant)
    }
}

/// How often something happens.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    time_constant: Duration,
    per_s: f64,
    since: Instant,
}

impl Rate {
    /// Nothing has happened so far.
    pub(crate) fn new(time_constant: Duration) -> Self {
        Self { time_constant, per_s: 0.0, since: Instant::now() }
    }

    /// It happens, now.
    pub(crate) fn note(&mut self) {
        self.per_s = self.per_s() + 1.0 / self.time_constant.as_secs_f64();
        self.since = Instant::now();
    }

    /// Times a second, now.
    pub(crate) fn per_s(&self) -> f64 {
        self.per_s * kept(self.since.elapsed(), self.time_constant)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[track_caller]
    fn check(got: f64, want: f64, within: f64) {
        assert!((got - want).abs() <= within, "{got}, want {want}");
    }

    #[tokio::test(start_paused = true)]
    async fn a_level_is_reached_by_two_thirds_in_a_time_constant() {
        let mut level = Level::new(SECOND);
        level.set(0.5);
        check(level.average(), 0.0, 0.0);
        tokio::time::advance(SECOND).await;
        check(level.average(), 0.5 * (1.0 - (-1.0_f64).exp()), 1e-12);
        let before = level.average();
        level.set(0.5);
        check(level.average(), before, 1e-12);
        level.set(1.0);
        level.set(0.0);
        check(level.average(), before, 1e-12);
        tokio::time::advance(20 * SECOND).await;
        check(level.average(), 0.0, 1e-8);
    }

    #[tokio::test(start_paused = true)]
    async fn a_rate_is_what_happens_a_second() {
        let mut rate = Rate::new(SECOND);
        for _ in 0..1000 {
            tokio::time::advance(SECOND / 100).await;
            rate.note();
        }
        check(rate.per_s(), 100.0, 1.0);
        tokio::time::advance(SECOND).await;
        check(rate.per_s(), 100.0 * (-1.0_f64).exp(), 0.5);
    }
}
