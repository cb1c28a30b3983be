//! A token bucket: so many a second in the long run, and so many at once at most.
//!
//! Source: SEDA's rate-limiting predicate (paper S, 1.1 and 1.5). Tokens are counted in fractions, from the time
//! passed, so the bucket needs no timer and its rate may change at any moment.

use crate::time::Instant;

/// What rounding may take off a token: whoever comes just when one is full again gets it.
const ROUNDING: f64 = 1e-9;

/// Tokens that fill up with time; each job takes one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bucket {
    // Invariant: 0 <= tokens <= depth, rate >= 0, all finite.
    tokens: f64,
    depth: f64,
    rate: f64,
    counted: Instant,
}

impl Bucket {
    /// A full bucket of `depth` tokens that fills at `rate` tokens a second.
    pub(super) const fn full(rate: f64, depth: f64) -> Self {
        Self { tokens: depth, depth, rate, counted: Instant::START }
    }

    /// Tokens a second.
    pub(super) const fn rate(&self) -> f64 {
        self.rate
    }

    /// Fills at `rate` tokens a second from `now` on.
    pub(super) fn set_rate(&mut self, now: Instant, rate: f64) {
        self.count(now);
        self.rate = rate;
    }

    /// Whether there is a token to be had.
    pub(super) fn has_token(&self, now: Instant) -> bool {
        self.tokens_at(now) >= 1.0 - ROUNDING
    }

    /// Takes a token, if there is one.
    pub(super) fn take(&mut self, now: Instant) -> bool {
        if !self.has_token(now) {
            return false;
        }
        self.count(now);
        self.tokens = (self.tokens - 1.0).max(0.0);
        true
    }

    fn count(&mut self, now: Instant) {
        self.tokens = self.tokens_at(now);
        self.counted = self.counted.max(now);
    }

    fn tokens_at(&self, now: Instant) -> f64 {
        (self.tokens + now.since(self.counted).as_secs_f64() * self.rate).min(self.depth)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Duration;

    /// Sends one job at each time and says which got a token, as a string of `+` and `-`.
    #[track_caller]
    fn check(mut bucket: Bucket, at_ms: &[u64], want: &str) {
        let take = |&ms| if bucket.take(Instant::START + Duration::from_millis(ms)) { '+' } else { '-' };
        let got: alloc::string::String = at_ms.iter().map(take).collect();
        assert_eq!(got, want, "who got a token of those who came at {at_ms:?} ms");
    }

    #[test]
    fn a_full_bucket_serves_a_burst_and_then_the_rate() {
        check(Bucket::full(10.0, 3.0), &[0, 0, 0, 0, 50, 100, 150, 200], "+++--+-+");
    }

    #[test]
    fn idle_time_fills_it_to_its_depth_and_no_further() {
        check(Bucket::full(10.0, 2.0), &[60_000, 60_000, 60_000], "++-");
    }

    #[test]
    fn fractions_add_up_to_whole_tokens() {
        // Three tenths of a token between two arrivals: 2 tokens to begin with and 30 in 3 s, the last just in time.
        let mut bucket = Bucket::full(10.0, 2.0);
        let times = (0..=100).map(|i| Instant::START + Duration::from_millis(30 * i));
        let served = times.filter(|&now| bucket.take(now)).count();
        assert_eq!(served, 32, "jobs of 101 in 3 s that got a token");
    }

    #[test]
    fn whoever_comes_just_in_time_is_not_refused_for_rounding() {
        let mut bucket = Bucket::full(7.0, 2.0);
        assert!(bucket.take(Instant::START), "the bucket begins full");
        for i in 0..10_000_u64 {
            let now = Instant::from_nanos((i * 1_000_000_000).div_ceil(7));
            assert!(bucket.take(now), "job {i} at {now}, when the next token is just full");
        }
    }

    #[test]
    fn a_clock_that_steps_back_makes_no_tokens() {
        check(Bucket::full(10.0, 1.0), &[1_000, 0, 1_000, 1_050, 1_100], "+---+");
    }

    #[test]
    fn a_new_rate_counts_from_the_moment_it_is_set() {
        let mut bucket = Bucket::full(10.0, 10.0);
        let at = |ms| Instant::START + Duration::from_millis(ms);
        for _ in 0..10 {
            assert!(bucket.take(at(0)), "the bucket begins full");
        }
        bucket.set_rate(at(100), 1.0);
        assert!(bucket.take(at(100)), "0.1 s at 10 a second made one token");
        assert!(!bucket.take(at(1_050)), "0.95 s at 1 a second made none yet");
        assert!(bucket.take(at(1_100)), "1 s at 1 a second made one");
    }
}
