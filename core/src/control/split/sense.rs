//! What controllers make of samples: whether a sample can be true, delays of those served, mean service times, backlogs.

use super::ClassSample;

/// Largest figure that is believed, in seconds or in workers: the delays of 2^32 jobs that waited for a day each.
/// Whatever is computed of figures up to this stays finite.
const MOST: f64 = 1e15;
/// Shortest mean service time, in seconds: the resolution of the clock.
const SHORTEST_S: f64 = 1e-9;

/// Whether every figure of a sample can be true. The door of every controller: what is not a number, is negative or
/// beyond all measure must not enter an average, where it would stay.
pub(super) fn is_possible(seen: &ClassSample) -> bool {
    let figures = [seen.delay_s, seen.oldest_s, seen.service_s, seen.workers];
    figures.iter().all(|figure| (0.0..=MOST).contains(figure)) && (seen.started > 0 || seen.delay_s == 0.0)
}

/// The delay of a class, from the delays of those served: sums and counts that forget, so that a window with few
/// counts for little (a mean of means would not).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delay {
    sum_s: f64,
    count: f64,
    now_s: Option<f64>,
}

impl Delay {
    /// Nobody was served yet.
    pub(super) const fn new() -> Self {
        Self { sum_s: 0.0, count: 0.0, now_s: None }
    }

    /// Notes a sample; `kept` is the part of the past that is kept, 0 to 1. The delay in seconds, if there is one.
    ///
    /// While nobody is served although somebody waits, the wait of the oldest is the least the delay can be.
    pub(super) fn on_sample(&mut self, seen: &ClassSample, kept: f64) -> Option<f64> {
        self.sum_s = kept * self.sum_s + seen.delay_s;
        self.count = kept * self.count + f64::from(seen.started);
        self.now_s = if seen.started == 0 && seen.waiting > 0 {
            Some(self.now_s.unwrap_or(0.0).max(seen.oldest_s))
        } else {
            (self.count > 0.5).then(|| self.sum_s / self.count)
        };
        self.now_s
    }
}

/// The mean time in work of a class: a running mean that moves the more, the more work has ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ServiceTime(Option<f64>);

impl ServiceTime {
    /// Largest weight of one sample.
    const MOST_WEIGHT: f64 = 0.3;
    /// Jobs that would weigh all.
    const JOBS: f64 = 50.0;

    /// Notes a sample.
    pub(super) fn on_sample(&mut self, seen: &ClassSample) {
        if seen.completed == 0 {
            return;
        }
        let completed = f64::from(seen.completed);
        let mean_s = seen.service_s / completed;
        let weight = Self::MOST_WEIGHT.min(completed / Self::JOBS);
        self.0 = match self.0 {
            Some(known_s) => Some(((1.0 - weight) * known_s + weight * mean_s).max(SHORTEST_S)),
            // Work that took no time says nothing of how long work takes.
            None => (mean_s > 0.0).then_some(mean_s.max(SHORTEST_S)),
        };
    }

    /// A mean that is known.
    #[cfg(test)]
    pub(super) const fn of(mean_s: f64) -> Self {
        Self(Some(mean_s))
    }

    /// The mean in seconds, above zero; `None` before any work has ended.
    pub(super) const fn get(self) -> Option<f64> {
        self.0
    }
}

/// The number waiting, smoothed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Backlog {
    smooth: f64,
    last: f64,
}

impl Backlog {
    /// Notes a sample; `newest` is the weight of its mean with the sample before, 0 to 1.
    pub(super) fn on_sample(&mut self, seen: &ClassSample, newest: f64) {
        let waiting = f64::from(seen.waiting);
        self.smooth = newest * (waiting + self.last) / 2.0 + (1.0 - newest) * self.smooth;
        self.last = waiting;
    }

    /// Jobs.
    pub(super) const fn get(self) -> f64 {
        self.smooth
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[track_caller]
    fn check_door(what: &str, seen: ClassSample, want: bool) {
        assert_eq!(is_possible(&seen), want, "{what}: {seen:?}");
    }

    #[test]
    fn what_cannot_be_true_is_turned_away_at_the_door() {
        let fine = ClassSample { started: 2, delay_s: 1.0, workers: 3.0, ..ClassSample::default() };
        check_door("an ordinary sample", fine, true);
        check_door("nothing at all", ClassSample::default(), true);
        check_door("a delay of nobody", ClassSample { started: 0, ..fine }, false);
        for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, f64::MAX] {
            check_door("an odd delay", ClassSample { delay_s: odd, ..fine }, false);
            check_door("an odd wait", ClassSample { oldest_s: odd, ..fine }, false);
            check_door("an odd time in work", ClassSample { service_s: odd, ..fine }, false);
            check_door("an odd number of workers", ClassSample { workers: odd, ..fine }, false);
        }
    }

    /// Feeds `(started, sum of delays, waiting, oldest)` and compares the delays, each keeping half of the past.
    #[track_caller]
    fn check_delay(what: &str, seen: &[(u32, f64, u32, f64)], want: &[Option<f64>]) {
        let mut delay = Delay::default();
        let sample = |&(started, delay_s, waiting, oldest_s): &(u32, f64, u32, f64)| ClassSample {
            started,
            delay_s,
            waiting,
            oldest_s,
            ..ClassSample::default()
        };
        let got: Vec<_> = seen.iter().map(|seen| delay.on_sample(&sample(seen), 0.5)).collect();
        assert_eq!(got, want, "{what}");
    }

    #[test]
    fn delays_are_pooled_by_count() {
        check_delay("nobody yet", &[(0, 0.0, 0, 0.0)], &[None]);
        // (0.5*4 + 9) / (0.5*4 + 1): the four of the window before count for two.
        let seen = [(4, 4.0, 0, 0.0), (1, 9.0, 0, 0.0)];
        check_delay("four quick and one slow", &seen, &[Some(1.0), Some(11.0 / 3.0)]);
        let seen = [(1, 2.0, 0, 0.0), (0, 0.0, 0, 0.0)];
        check_delay("forgotten below half a job", &seen, &[Some(2.0), None]);
        let seen = [(1, 2.0, 3, 1.0), (0, 0.0, 3, 1.5), (0, 0.0, 3, 2.5)];
        check_delay("nobody served: the oldest counts", &seen, &[Some(2.0), Some(2.0), Some(2.5)]);
    }

    #[track_caller]
    fn check_service(what: &str, seen: &[(u32, f64)], want: Option<f64>) {
        let mut service = ServiceTime::default();
        for &(completed, service_s) in seen {
            service.on_sample(&ClassSample { completed, service_s, ..ClassSample::default() });
        }
        assert_eq!(service.get(), want, "{what}");
    }

    #[test]
    fn service_times_weigh_by_the_work_that_ended() {
        check_service("no work ended", &[(0, 0.0)], None);
        check_service("work of no time", &[(3, 0.0)], None);
        check_service("the first is taken as it is", &[(2, 1.0)], Some(0.5));
        check_service("five jobs weigh a tenth", &[(2, 1.0), (5, 10.0)], Some(0.9 * 0.5 + 0.1 * 2.0));
        check_service("many weigh three tenths", &[(2, 1.0), (500, 1000.0)], Some(0.7 * 0.5 + 0.3 * 2.0));
        check_service("never zero", &[(1, 1e-9), (100, 0.0)], Some(1e-9));
    }

    #[test]
    fn a_backlog_follows_the_mean_of_two_samples() {
        let mut backlog = Backlog::default();
        let waiting = |waiting| ClassSample { waiting, ..ClassSample::default() };
        backlog.on_sample(&waiting(10), 0.6);
        assert_eq!(backlog.get(), 3.0, "six tenths of (10 + 0) / 2");
        backlog.on_sample(&waiting(20), 0.6);
        assert_eq!(backlog.get(), 0.6 * 15.0 + 0.4 * 3.0, "six tenths of (20 + 10) / 2");
    }
}
