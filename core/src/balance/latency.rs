//! How long servers take, as a gateway sees it: an average a server, and one for servers not known yet.
//!
//! Sessions are left out of it, since how long one lasts says nothing of its server. What did not end with an answer is
//! not left out, or the server that fails fastest would look like the fastest and draw all traffic (a black hole).

use super::Left;
use crate::scenario::v1::KindV1;
use crate::time::{Duration, Instant};

/// What a server is taken for while none is known, and the least that any is taken for, in seconds.
pub(super) const LEAST_S: f64 = 1e-6;
/// A failure makes a server so much slower in our eyes.
const FAILURE: f64 = 2.0;
/// And at least so slow, in seconds.
const FAILED_S: f64 = 1e-3;
/// But no slower than this, in seconds: with the default time constant it is tried again after about a minute.
const MOST_S: f64 = 60.0;

/// Average latency of a server.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latency {
    /// In seconds; `None` before the first answer.
    pub mean_s: Option<f64>,
    /// When it moved last.
    pub at: Instant,
}

/// How an average follows the answers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Following {
    /// Time constant.
    pub tau: Duration,
    /// Whether an answer slower than the average replaces it.
    pub peak: bool,
}

impl Following {
    /// The part that is left of something after a while: `exp(-age / tau)`.
    #[must_use]
    pub(super) fn left_after(&self, age: Duration) -> f64 {
        libm::exp(-age.as_secs_f64() / self.tau.as_secs_f64())
    }

    /// An average after one more value.
    fn follow(&self, latency: &mut Latency, now: Instant, took_s: f64) {
        let keep = self.left_after(now.since(latency.at));
        latency.mean_s = Some(match latency.mean_s {
            Some(mean) if self.peak && took_s > mean => took_s,
            Some(mean) => keep * mean + (1.0 - keep) * took_s,
            None => took_s,
        });
        latency.at = now;
    }
}

/// Average latencies of all servers together, for those of which nothing is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usual {
    following: Following,
    latency: Latency,
}

impl Usual {
    pub(super) fn new(tau: Duration) -> Self {
        Self { following: Following { tau, peak: false }, latency: Latency::default() }
    }

    /// What a server of which nothing is known is expected to take, in seconds.
    #[must_use]
    pub(super) fn s(&self) -> f64 {
        self.latency.mean_s.unwrap_or(LEAST_S)
    }

    /// Whether any server is known.
    #[must_use]
    pub(super) const fn is_known(&self) -> bool {
        self.latency.mean_s.is_some()
    }

    /// Notes how a job left a server that is expected to be as `latency` says.
    ///
    /// An answer counts in the average. A failure doubles it, at once. A job that was given up would have taken longer
    /// than it was there, so it counts where that is longer than expected already.
    pub(super) fn left(
        &mut self,
        latency: &mut Latency,
        following: &Following,
        now: Instant,
        (kind, how): (KindV1, Left),
        took: Duration,
    ) {
        let took_s = if kind == KindV1::Session { 0.0 } else { took.as_secs_f64() };
        let expected_s = latency.mean_s.unwrap_or(self.s());
        match how {
            Left::Answered if kind == KindV1::Short => {
                following.follow(latency, now, took_s);
                self.following.follow(&mut self.latency, now, took_s);
            }
            Left::Failed => {
                let slower_s = (FAILURE * expected_s).clamp(FAILED_S, MOST_S);
                *latency = Latency { mean_s: Some(slower_s.max(took_s)), at: now };
            }
            Left::Abandoned if took_s > expected_s => {
                *latency = Latency { mean_s: Some(took_s), at: now };
            }
            Left::Answered | Left::Abandoned => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn check(got: Option<f64>, want: f64, what: &str) {
        assert!(got.is_some_and(|got| (got - want).abs() < 1e-9), "{what}: expected {want}, got {got:?}");
    }

    /// A server at which these jobs end, so many seconds apart.
    fn after(peak: bool, apart_s: u64, jobs: &[(KindV1, Left, f64)]) -> (Latency, Usual) {
        let following = Following { tau: SECOND, peak };
        let (mut latency, mut usual) = (Latency::default(), Usual::new(SECOND));
        for (n, &(kind, how, took)) in jobs.iter().enumerate() {
            let now = Instant::START + Duration::from_secs(apart_s * n as u64);
            usual.left(&mut latency, &following, now, (kind, how), Duration::from_secs_f64(took));
        }
        (latency, usual)
    }

    fn answers(peak: bool, tooks: [f64; 2]) -> Option<f64> {
        after(peak, 1, &tooks.map(|took| (KindV1::Short, Left::Answered, took))).0.mean_s
    }

    #[test]
    fn an_answer_counts_the_more_the_longer_the_last_was_ago() {
        let old = libm::exp(-1.0);
        check(answers(false, [2.0, 1.0]), 2.0 * old + 1.0 - old, "a time constant later, faster");
        check(answers(false, [1.0, 2.0]), old + 2.0 * (1.0 - old), "slower");
        check(answers(true, [2.0, 1.0]), 2.0 * old + 1.0 - old, "a peak fades like that");
        check(answers(true, [1.0, 2.0]), 2.0, "but comes at once");
    }

    #[test]
    fn how_long_sessions_last_is_not_counted() {
        let (latency, usual) = after(false, 1, &[(KindV1::Session, Left::Answered, 120.0)]);
        assert_eq!((latency.mean_s, usual.is_known()), (None, false));
        let (latency, _) = after(false, 1, &[(KindV1::Session, Left::Abandoned, 120.0)]);
        assert_eq!(latency.mean_s, None);
    }

    #[test]
    fn each_failure_doubles_the_latency_up_to_a_minute() {
        let failures = |n: usize, took| {
            let mut jobs = alloc::vec![(KindV1::Short, Left::Answered, 0.02)];
            jobs.resize(n + 1, (KindV1::Short, Left::Failed, took));
            after(false, 0, &jobs).0.mean_s
        };
        check(failures(1, 0.0), 0.04, "once");
        check(failures(3, 0.0), 0.16, "three times");
        check(failures(100, 0.0), 60.0, "for long");
        check(failures(1, 5.0), 5.0, "a slow failure");
        let (unknown, _) = after(false, 0, &[(KindV1::Session, Left::Failed, 9.0)]);
        check(unknown.mean_s, 1e-3, "a session at a server not known yet");
    }

    #[test]
    fn a_job_given_up_shows_how_long_it_takes_at_least() {
        let (answered, given_up) = (Left::Answered, Left::Abandoned);
        let taken =
            |took| after(false, 0, &[(KindV1::Short, answered, 1.0), (KindV1::Short, given_up, took)]);
        check(taken(0.5).0.mean_s, 1.0, "sooner than expected says nothing");
        check(taken(3.0).0.mean_s, 3.0, "later than expected");
    }

    #[test]
    fn the_usual_latency_is_that_of_all_answers() {
        assert_eq!(after(true, 1, &[]).1.s(), LEAST_S);
        let old = libm::exp(-1.0);
        let both = [1.0, 2.0].map(|took| (KindV1::Short, Left::Answered, took));
        check(Some(after(true, 1, &both).1.s()), old + 2.0 * (1.0 - old), "without peaks");
    }
}
