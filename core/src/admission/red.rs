//! Random early drop by the average length of the whole queue (Floyd and Jacobson 1993).
//!
//! An arrival is refused by the limit first, and counts in the average all the same: a limit that RED could hide, or
//! an average that stood still while the queue is full, would both be wrong. Levels do not matter here, only how many
//! wait in all.

use super::adapt::MaxP;
use super::average::Averages;
use super::ramp::Ramp;
use super::spacing::Spacing;
use super::{Found, Gauge, Queue, QueueControl, Verdict};
use crate::frame::Cause;
use crate::scenario::v1::{CountV1, SpacingV1};
use crate::time::Instant;
use crate::unit::Draw;

/// RED on one average.
#[derive(Clone, Debug)]
pub struct Red {
    ramp: Ramp,
    average: Averages,
    spacing: Spacing,
    max_p: MaxP,
    limit: u32,
}

impl Red {
    /// RED by a curve, averaging with `weight`; at most `limit` jobs wait, four times the curve's `max` if `None`.
    pub(super) fn new(ramp: Ramp, weight: f64, spacing: SpacingV1, max_p: MaxP, limit: Option<u32>) -> Self {
        Self {
            ramp,
            average: Averages::new(1, weight, CountV1::All),
            spacing: Spacing::new(spacing),
            max_p,
            limit: limit.unwrap_or(ramp.default_limit()),
        }
    }
}

impl QueueControl for Red {
    #[inline]
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, draw: Draw) -> Verdict {
        self.average.on_arrival(now, found.queue, None);
        let average = self.average.get(0);
        let verdict = if found.would_wait && found.queue.len >= self.limit {
            Verdict::Shed(Cause::Full)
        } else {
            self.spacing.judge(&self.ramp, self.max_p.get(), average, found.queue.len, draw)
        };
        self.max_p.on_arrival(now, average, &self.ramp);
        verdict
    }

    #[inline]
    fn on_departure(&mut self, now: Instant, level: u8, queue: Queue<'_>) {
        self.average.on_departure(now, level, queue, |_| false);
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    fn gauge(&self, now: Instant, _level: u8) -> Option<Gauge> {
        let few = self.average.length(0) <= 1;
        Some(self.ramp.gauge(self.average.read(now, 0), self.max_p.get(), few))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ClassId;
    use crate::scenario::v1::AdaptV1;
    use crate::time::Duration;
    use crate::unit::mix;
    use alloc::vec::Vec;

    /// Offers `arrivals` at time 0 to a queue that nobody leaves; the draw of each is made of its number.
    fn offer(red: &mut Red, arrivals: u64, draw: impl Fn(u64) -> Draw) -> Vec<Verdict> {
        let mut waiting = 0;
        (0..arrivals)
            .map(|n| {
                let queue = Queue { waiting: &[waiting], work_ns: &[0], len: waiting, gap: Duration::ZERO };
                let found = Found { class: ClassId(0), level: 0, judged_at: 0, would_wait: true, queue };
                let verdict = red.on_arrival(Instant::START, found, draw(n));
                waiting += u32::from(verdict == Verdict::Admit);
                assert!(waiting <= red.limit(), "{waiting} wait, limit {}", red.limit());
                verdict
            })
            .collect()
    }

    fn count(verdicts: &[Verdict], wanted: Verdict) -> usize {
        verdicts.iter().filter(|&&verdict| verdict == wanted).count()
    }

    /// Limit 10, curve from 3 to 9, 0.1.
    fn small(weight: f64, spacing: SpacingV1) -> Red {
        Red::new(Ramp::new(3.0, 9.0, false), weight, spacing, MaxP::new(&AdaptV1::None, 0.1), Some(10))
    }

    /// The draw that drops if anything does.
    const LOWEST: fn(u64) -> Draw = |_| Draw::from_bits(0);

    #[test]
    fn a_slow_average_leaves_the_limit_to_refuse() {
        let mut red = small(0.002, SpacingV1::Uniform);
        let verdicts = offer(&mut red, 30, LOWEST);
        assert_eq!(count(&verdicts, Verdict::Admit), 10, "exactly ten fit in");
        assert_eq!(count(&verdicts, Verdict::Shed(Cause::Full)), 20, "the rest finds it full");
        let average = red.gauge(Instant::START, 0).unwrap().average;
        assert!((average - 0.478).abs() < 5e-4, "refused arrivals move the average too: {average}");
    }

    #[test]
    fn an_average_that_is_the_length_drops_from_just_above_min() {
        let verdicts = offer(&mut small(1.0, SpacingV1::Bernoulli), 30, LOWEST);
        assert_eq!(verdicts[..4], [Verdict::Admit; 4], "at length 3 the chance is 0");
        assert_eq!(count(&verdicts, Verdict::Shed(Cause::Early)), 26, "at length 4 it is not");
        let lucky = offer(&mut small(1.0, SpacingV1::Bernoulli), 30, |_| Draw::from_bits(u64::MAX));
        assert_eq!(count(&lucky, Verdict::Admit), 9, "from length 9 luck does not help");
        assert_eq!(count(&lucky, Verdict::Shed(Cause::Forced)), 21);
    }

    #[test]
    fn who_finds_a_worker_free_meets_no_limit() {
        let mut red = small(0.002, SpacingV1::Uniform);
        let queue = Queue { waiting: &[10], work_ns: &[0], len: 10, gap: Duration::ZERO };
        let found = Found { class: ClassId(0), level: 0, judged_at: 0, would_wait: false, queue };
        assert_eq!(red.on_arrival(Instant::START, found, LOWEST(0)), Verdict::Admit);
    }

    #[test]
    fn a_drained_queue_takes_everybody_again() {
        let mut red = small(0.5, SpacingV1::Bernoulli);
        offer(&mut red, 100, |_| Draw::from_bits(u64::MAX));
        let busy = red.gauge(Instant::START, 0).unwrap();
        assert!(busy.average > 8.0 && busy.drop_p > 0.08, "a full queue shows {busy:?}");
        let gap = Duration::from_millis(10);
        red.on_departure(Instant::START, 0, Queue { waiting: &[0], work_ns: &[0], len: 0, gap });
        let idle = red.gauge(Instant::START + Duration::from_millis(50), 0).unwrap();
        assert!(
            (idle.average - busy.average / 32.0).abs() < 1e-12,
            "five completions would fit in: {idle:?}"
        );
        assert_eq!(idle.drop_p, 0.0);
    }

    /// Drops among 300 arrivals to a queue of 300 that nobody leaves, summed over 40 sets of draws.
    fn drops(weight: f64, max: f64, max_p: f64, gentle: bool, spacing: SpacingV1) -> usize {
        (0..40)
            .map(|set| {
                let max_p = MaxP::new(&AdaptV1::None, max_p);
                let mut red = Red::new(Ramp::new(70.0, max, gentle), weight, spacing, max_p, Some(300));
                let verdicts = offer(&mut red, 300, |n| Draw::from_bits(mix(set << 32 | n)));
                verdicts.len() - count(&verdicts, Verdict::Admit)
            })
            .sum()
    }

    /// The order of the suite of ns-3, from its slowest average to no spacing (min 70, max 150, 300 enqueues).
    #[test]
    fn each_change_of_the_ns3_suite_drops_more() {
        let wait = SpacingV1::Wait;
        let series = [
            ("weight 0.002", drops(0.002, 150.0, 0.02, true, wait)),
            ("weight 0.02", drops(0.02, 150.0, 0.02, true, wait)),
            ("max 100", drops(0.02, 100.0, 0.02, true, wait)),
            ("max_p 0.2", drops(0.02, 100.0, 0.2, true, wait)),
        ];
        assert_eq!(series[0].1, 0, "the slow average passes min only near the end");
        for pair in series.windows(2) {
            assert!(
                pair[0].1 < pair[1].1,
                "{} drops {}, {} drops {}",
                pair[0].0,
                pair[0].1,
                pair[1].0,
                pair[1].1
            );
        }
        let base = series[3].1;
        let jump = drops(0.02, 100.0, 0.2, false, wait);
        let no_wait = drops(0.02, 100.0, 0.2, true, SpacingV1::Uniform);
        assert!(base < jump, "gentle drops {base}, a jump to 1 drops {jump}");
        assert!(base < no_wait, "with wait {base} drops, without {no_wait}");
    }
}
