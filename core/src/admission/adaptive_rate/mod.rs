//! Adaptive rate: a token bucket in front of the queue whose rate follows the response time.
//!
//! SEDA's overload controllers (paper S, 1.5): the 90th percentile of the response time is held at a target by
//! letting in more or fewer. There are four rules for the rate, one a file, as published; what they measure is in
//! [`window`]. Besides, the queue has a limit; a job that finds it full takes no token.
//!
//! Published weaknesses are kept, as the comparison is what these rules are here for: `direct` grows by half a job
//! a second whatever the rate is, and `pid` has a derivative that adds to the swing instead of damping it.

mod direct;
mod mm1;
mod multiclass;
mod pid;
mod window;

use super::{Found, Gauge, Queue, QueueControl, Taken, Verdict};
use crate::frame::Cause;
use crate::id::ClassId;
use crate::scenario::v1::RateRuleV1;
use crate::time::{Duration, Instant};
use crate::unit::Draw;
use direct::Direct;
use mm1::Mm1;
use multiclass::Multiclass;
use pid::Pid;

/// Least rate a rule sets, in 1/s: somebody must get in, or nobody would learn that the response has improved.
const MIN_RATE: f64 = 0.05;
/// Largest rate a rule sets, in 1/s.
const MAX_RATE: f64 = 5_000.0;
/// Rate that `direct` and `pid` begin with, in 1/s.
const FIRST_RATE: f64 = 10.0;
/// Tokens their buckets hold.
const DEPTH: f64 = 10.0;

/// `rate` within its bounds. What is not a number becomes the least.
fn within_bounds(rate: f64) -> f64 {
    if rate > MIN_RATE { rate.min(MAX_RATE) } else { MIN_RATE }
}

/// What a rule lets in at a level as things stand.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Present {
    /// Rate in 1/s.
    rate: f64,
    /// Whether there is a token for whoever comes next.
    open: bool,
}

/// A way to find the rate.
trait RateRule {
    /// Takes a token for an arriving job, if there is one.
    fn take(&mut self, now: Instant, found: &Found<'_>) -> bool;

    /// Notes how long a job of `class` took from arrival to answer.
    fn on_response(&mut self, _now: Instant, _class: ClassId, _response: Duration) {}

    /// Notes the mean time between two completions; zero if none is known.
    fn on_gap(&mut self, _now: Instant, _gap: Duration) {}

    /// What is let in at a level as things stand.
    fn present(&self, now: Instant, level: u8) -> Present;
}

/// A token bucket, or one a class, with a rule for its rate.
#[derive(Clone, Debug)]
pub struct AdaptiveRate {
    rule: Rule,
    target: Duration,
    limit: u32,
}

#[derive(Clone, Debug)]
enum Rule {
    Direct(Direct),
    Multiclass(Multiclass),
    Pid(Pid),
    Mm1(Mm1),
}

impl AdaptiveRate {
    /// Holds the 90th percentile of the response time at `target`, for so many `classes`; at most `limit` wait.
    #[must_use]
    pub fn new(rule: RateRuleV1, target: Duration, limit: u32, classes: usize) -> Self {
        let target_s = target.as_secs_f64();
        let rule = match rule {
            RateRuleV1::Direct => Rule::Direct(Direct::new(target_s)),
            RateRuleV1::Multiclass => Rule::Multiclass(Multiclass::new(target_s, classes)),
            RateRuleV1::Pid => Rule::Pid(Pid::new(target_s)),
            RateRuleV1::Mm1 => Rule::Mm1(Mm1::new(target_s)),
        };
        Self { rule, target, limit }
    }

    fn rule(&self) -> &dyn RateRule {
        match &self.rule {
            Rule::Direct(rule) => rule,
            Rule::Multiclass(rule) => rule,
            Rule::Pid(rule) => rule,
            Rule::Mm1(rule) => rule,
        }
    }

    fn rule_mut(&mut self) -> &mut dyn RateRule {
        match &mut self.rule {
            Rule::Direct(rule) => rule,
            Rule::Multiclass(rule) => rule,
            Rule::Pid(rule) => rule,
            Rule::Mm1(rule) => rule,
        }
    }
}

impl QueueControl for AdaptiveRate {
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, _draw: Draw) -> Verdict {
        self.rule_mut().on_gap(now, found.queue.gap);
        if found.is_too_many(self.limit) {
            Verdict::Shed(Cause::Full)
        } else if self.rule_mut().take(now, &found) {
            Verdict::Admit
        } else {
            Verdict::Shed(Cause::Forced)
        }
    }

    fn on_take(&mut self, now: Instant, taken: Taken<'_>, _draw: Draw) -> Verdict {
        self.rule_mut().on_gap(now, taken.queue.gap);
        Verdict::Admit
    }

    fn on_departure(&mut self, now: Instant, _level: u8, queue: Queue<'_>) {
        self.rule_mut().on_gap(now, queue.gap);
    }

    fn on_response(&mut self, now: Instant, class: ClassId, response: Duration) {
        self.rule_mut().on_response(now, class, response);
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    /// The present rate, the target (a response time, in seconds), and whether there is a token.
    fn gauge(&self, now: Instant, level: u8) -> Option<Gauge> {
        let Present { rate, open } = self.rule().present(now, level);
        let drop_p = if open { 0.0 } else { 1.0 };
        Some(Gauge { average: rate, min: self.target.as_secs_f64(), drop_p, ..Gauge::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    fn found(class: u8, waiting: &[u32; 1], would_wait: bool) -> Found<'_> {
        let queue = Queue { waiting, work_ns: &[0], len: waiting[0], gap: Duration::from_millis(1) };
        Found { class: ClassId(class), level: class, judged_at: class, would_wait, queue }
    }

    fn control(rule: RateRuleV1) -> AdaptiveRate {
        AdaptiveRate::new(rule, Duration::from_millis(100), 50, 3)
    }

    const RULES: [RateRuleV1; 4] =
        [RateRuleV1::Direct, RateRuleV1::Multiclass, RateRuleV1::Pid, RateRuleV1::Mm1];

    #[test]
    fn a_full_queue_comes_first_and_costs_no_token() {
        for rule in RULES {
            let mut control = control(rule);
            for _ in 0..20 {
                let got = control.on_arrival(at(0), found(0, &[50], true), Draw::from_bits(0));
                assert_eq!(got, Verdict::Shed(Cause::Full), "{rule:?}: 50 wait of 50");
            }
            let got = control.on_arrival(at(0), found(0, &[50], false), Draw::from_bits(0));
            assert_eq!(got, Verdict::Admit, "{rule:?}: it need not wait, and the tokens are all there");
        }
    }

    #[test]
    fn without_a_token_the_door_is_shut_and_the_gauge_says_so() {
        for rule in RULES {
            let mut control = control(rule);
            let shed = |control: &mut AdaptiveRate| {
                control.on_arrival(at(0), found(0, &[0], true), Draw::from_bits(0)) != Verdict::Admit
            };
            let admitted = (0..200).take_while(|_| !shed(&mut control)).count();
            let depth = if rule == RateRuleV1::Multiclass { 1 } else { 10 };
            assert_eq!(admitted, depth, "{rule:?}: a burst of the bucket's depth passes");
            assert_eq!(control.gauge(at(0), 0).unwrap().drop_p, 1.0, "{rule:?}: nobody gets in");
        }
    }

    #[test]
    fn any_sequence_of_events_leaves_rates_within_bounds() {
        for rule in RULES {
            let mut control = control(rule);
            let mut now = Instant::START;
            for n in 0..20_000_u64 {
                let random = mix(n);
                // Bursts at one instant, pauses of hours, responses from nothing to hours, clocks stepping back.
                let pause = [0, 0, 0, 1_000_000, 20_000_000, 3_600_000_000_000][(random % 6) as usize];
                now += Duration::from_nanos(pause);
                let class = (mix(random) % 3) as u8;
                let response = [0, 1, 90_000_000, 110_000_000, u64::MAX][(mix(random + 1) % 5) as usize];
                control.on_response(now, ClassId(class), Duration::from_nanos(response));
                let _ = control.on_arrival(now, found(class, &[3], true), Draw::from_bits(random));
                for level in 0..3 {
                    let rate = control.gauge(now, level).unwrap().average;
                    assert!((MIN_RATE..=MAX_RATE).contains(&rate), "{rule:?}: rate {rate} after event {n}");
                }
            }
        }
    }

    /// A stage of one worker that takes 10 ms a job, offered 200 jobs a second for `seconds`; says how many jobs a
    /// second were served in the last half and the 90th percentile of their response times, in milliseconds.
    fn overload(rule: RateRuleV1, seconds: u64) -> (f64, u64) {
        let mut control = AdaptiveRate::new(rule, Duration::from_millis(200), 10_000, 1);
        let mut free_at = Instant::START;
        let mut inside: alloc::collections::VecDeque<(Instant, Duration)> =
            alloc::collections::VecDeque::new();
        let mut responses = alloc::vec::Vec::new();
        for n in 0..seconds * 200 {
            let now = at(5 * n);
            while inside.front().is_some_and(|&(end, _)| end <= now) {
                let (end, response) = inside.pop_front().unwrap();
                control.on_response(end, ClassId(0), response);
                if end > at(seconds * 500) {
                    responses.push(response.as_nanos() / 1_000_000);
                }
            }
            let waiting = [inside.len().saturating_sub(1) as u32];
            let queue =
                Queue { waiting: &waiting, work_ns: &[0], len: waiting[0], gap: Duration::from_millis(10) };
            let job =
                Found { class: ClassId(0), level: 0, judged_at: 0, would_wait: !inside.is_empty(), queue };
            if control.on_arrival(now, job, Draw::from_bits(0)) == Verdict::Admit {
                let work = Duration::from_nanos(10_000_000);
                free_at = free_at.max(now) + work;
                inside.push_back((free_at, free_at.since(now)));
            }
        }
        responses.sort_unstable();
        (responses.len() as f64 / (seconds as f64 / 2.0), responses[responses.len() * 9 / 10])
    }

    #[test]
    fn each_rule_keeps_an_overloaded_stage_usable() {
        for (rule, least_served) in [
            (RateRuleV1::Direct, 60.0),
            (RateRuleV1::Multiclass, 60.0),
            (RateRuleV1::Pid, 60.0),
            (RateRuleV1::Mm1, 80.0),
        ] {
            let (served, p90_ms) = overload(rule, 1_200);
            assert!(served > least_served, "{rule:?} serves {served} of 100 jobs a second");
            assert!(p90_ms < 1_000, "{rule:?}: 90 % answered within {p90_ms} ms, wanted about 200");
        }
    }
}
