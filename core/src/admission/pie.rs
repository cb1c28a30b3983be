//! PIE, proportional integral controller enhanced (RFC 8033): a drop probability steered by the estimated wait.
//!
//! Each update moves the probability by how far the wait is from its target and by how much it changed since the
//! update before. The wait is estimated as queue length times the time between two completions, so PIE needs no
//! timestamps and sees a queue grow before anybody has waited in it.
//!
//! The RFC's timer is not needed: between two calls the queue does not change, so updates that came due meanwhile
//! are made up for at the next call, exactly, and in bounded work however many they are. Left out are the RFC's
//! switch that turns PIE off while the queue is short (section 5.3; the safeguards below do that) and its even
//! spacing of drops (5.4), both optional.

use super::{Found, Gauge, Queue, QueueControl, Taken, Verdict};
use crate::frame::Cause;
use crate::time::{Duration, Instant};
use crate::unit::{Draw, Probability};

/// Part of the probability that is left after an update while there is no congestion (section 4.2).
const DECAY: f64 = 0.98;
/// Updates after which a decaying probability is taken to be zero: `DECAY` to this power is 1e-9.
const DECAYED: u32 = 1_026;
/// Largest step up once the probability has reached 0.1 (section 5.5).
const MAX_STEP: f64 = 0.02;
/// A probability below this drops nobody while the wait is below half its target (section 4.1).
const SLIGHT: f64 = 0.2;
/// So few jobs waiting are never congestion (section 4.1: two packets of mean size).
const FEW: u32 = 2;
/// Bounds of the probability and the part of a step made below each: small ones take small steps (section 4.2).
const SCALES: [(f64, f64); 6] = [
    (1e-6, 1.0 / 2048.0),
    (1e-5, 1.0 / 512.0),
    (1e-4, 1.0 / 128.0),
    (1e-3, 1.0 / 32.0),
    (1e-2, 1.0 / 8.0),
    (1e-1, 1.0 / 2.0),
];

/// A drop probability and the controller that moves it; names as in RFC 8033, section 4.
#[derive(Clone, Copy, Debug)]
pub struct Pie {
    target_s: f64,
    update: Duration,
    burst: Duration,
    limit: u32,
    /// Gains on the distance from the target and on the change, in 1/s.
    alpha: f64,
    beta: f64,
    // Invariant: 0 <= drop_p <= 1.
    drop_p: f64,
    /// Estimated wait at the last update, in seconds.
    wait_s: f64,
    /// How long a burst may yet pass untouched.
    allowance: Duration,
    updated: Instant,
}

impl Pie {
    /// Keeps the wait at `target`, with an update each `update`; a `burst` so long passes untouched, and at most
    /// `limit` jobs wait.
    #[must_use]
    pub fn new(target: Duration, update: Duration, burst: Duration, limit: u32) -> Self {
        let (alpha, beta) = gains(update);
        Self {
            target_s: target.as_secs_f64(),
            update,
            burst,
            limit,
            alpha,
            beta,
            drop_p: 0.0,
            wait_s: 0.0,
            allowance: burst,
            updated: Instant::START,
        }
    }

    /// Has its first update a period after `now`.
    pub(super) const fn begin_at(&mut self, now: Instant) {
        self.updated = now;
    }

    /// Makes the updates due by `now`, of a queue that has held `len` jobs since the last call.
    fn catch_up(&mut self, now: Instant, len: u32, gap: Duration) {
        // A period of zero would have endless updates due.
        let due = now.since(self.updated).as_nanos() / self.update.as_nanos().max(1);
        if due == 0 {
            return;
        }
        let passed = Duration::from_nanos(due * self.update.as_nanos().max(1));
        let wait_s = f64::from(len) * gap.as_secs_f64();
        let before = core::mem::replace(&mut self.wait_s, wait_s);
        self.step(before);
        self.repeat(due - 1);
        self.updated += passed;
        // Calm once come about lasts while the queue does not change, so its last state decides.
        let calm = self.drop_p == 0.0 && self.is_slack() && (due > 1 || before < self.target_s / 2.0);
        self.allowance = if calm { self.burst } else { self.allowance - passed };
    }

    /// One update, section 4.2; `before` is the wait at the update before, in seconds.
    fn step(&mut self, before: f64) {
        self.drop_p += self.delta(before);
        if self.is_slack() && before < self.target_s / 2.0 {
            self.drop_p *= DECAY;
        }
        self.drop_p = self.drop_p.clamp(0.0, 1.0);
    }

    /// `due` more updates at an unchanged wait.
    fn repeat(&mut self, due: u64) {
        if self.is_slack() {
            self.decay(due);
        } else {
            self.run(due);
        }
    }

    /// Updates one by one, as the probability falls geometrically: soon there is nothing left of it.
    fn decay(&mut self, due: u64) {
        for _ in 0..due.min(u64::from(DECAYED)) {
            if self.drop_p == 0.0 {
                return;
            }
            self.step(self.wait_s);
        }
        if due > u64::from(DECAYED) {
            self.drop_p = 0.0;
        }
    }

    /// Updates in one stride for each range in which the step is the same.
    fn run(&mut self, mut due: u64) {
        while due > 0 {
            let delta = self.delta(self.wait_s);
            let at_end = if delta > 0.0 { self.drop_p >= 1.0 } else { self.drop_p <= 0.0 };
            if delta == 0.0 || at_end {
                return;
            }
            let steps = steps_within(self.drop_p, delta).min(due);
            self.drop_p = (self.drop_p + steps as f64 * delta).clamp(0.0, 1.0);
            due -= steps;
        }
    }

    /// What an update adds to the probability, before decay.
    fn delta(&self, before: f64) -> f64 {
        let raw = self.alpha * (self.wait_s - self.target_s) + self.beta * (self.wait_s - before);
        match SCALES.iter().find(|(bound, _)| self.drop_p < *bound) {
            Some((_, part)) => raw * part,
            None => raw.min(MAX_STEP),
        }
    }

    /// Whether the wait is below half its target.
    fn is_slack(&self) -> bool {
        self.wait_s < self.target_s / 2.0
    }

    /// The probability that an arrival is dropped, safeguards included, unless few wait.
    fn present_p(&self) -> f64 {
        let untouched = self.allowance > Duration::ZERO || (self.is_slack() && self.drop_p < SLIGHT);
        if untouched { 0.0 } else { self.drop_p }
    }
}

/// The gains for a period. RFC 8033 gives 0.125 and 1.25 for 15 ms, and in section 4.2 how they change with it:
/// half the period takes half of alpha and adds a quarter of it to beta. That keeps `beta + alpha / 2` as it is.
fn gains(update: Duration) -> (f64, f64) {
    let alpha = 0.125 * update.as_secs_f64() / 0.015;
    (alpha, (1.25 + 0.125 / 2.0 - alpha / 2.0).max(0.0))
}

/// Steps of `delta`, at least one, that can be made from `p` before the size of the step changes.
fn steps_within(p: f64, delta: f64) -> u64 {
    let bounds = SCALES.iter().map(|&(bound, _)| bound);
    let room = if delta > 0.0 {
        bounds.fold(1.0, |next, bound| if p < bound && bound < next { bound } else { next }) - p
    } else {
        p - bounds.fold(0.0, |last, bound| if bound <= p && bound > last { bound } else { last })
    };
    // As many as it takes to leave the range; a cast of a float saturates.
    let steps = libm::ceil(room / libm::fabs(delta)) as u64;
    steps.max(1)
}

impl QueueControl for Pie {
    #[inline]
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, draw: Draw) -> Verdict {
        self.catch_up(now, found.queue.len, found.queue.gap);
        if found.is_too_many(self.limit) {
            return Verdict::Shed(Cause::Full);
        }
        let spared = !found.would_wait || found.queue.len <= FEW;
        let p = Probability::new(self.present_p());
        if !spared && p.is_some_and(|p| p.happens(draw)) {
            Verdict::Shed(Cause::Early)
        } else {
            Verdict::Admit
        }
    }

    fn on_take(&mut self, now: Instant, taken: Taken<'_>, _draw: Draw) -> Verdict {
        self.catch_up(now, taken.queue.len, taken.queue.gap);
        Verdict::Admit
    }

    /// Whoever left was there until now.
    fn on_departure(&mut self, now: Instant, _level: u8, queue: Queue<'_>) {
        self.catch_up(now, queue.len.saturating_add(1), queue.gap);
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    /// The estimated wait at the last update, and the probability.
    fn gauge(&self, _now: Instant, _level: u8) -> Option<Gauge> {
        let drop_p = self.present_p();
        Some(Gauge { average: self.wait_s, min: self.target_s, drop_p, seconds: true, ..Gauge::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ClassId;
    use crate::unit::mix;

    const GAP: Duration = Duration::from_millis(1);

    /// The RFC's parameters, without allowance for bursts.
    fn pie() -> Pie {
        let ms = Duration::from_millis;
        Pie::new(ms(15), ms(15), Duration::ZERO, 1_000)
    }

    fn at(ms: u64) -> Instant {
        Instant::START + Duration::from_millis(ms)
    }

    fn found(waiting: &[u32; 1], would_wait: bool) -> Found<'_> {
        let queue = Queue { waiting, work_ns: &[0], len: waiting[0], gap: GAP };
        Found { class: ClassId(0), level: 0, judged_at: 0, would_wait, queue }
    }

    /// The probability at `ms`, after the queue has held `len` jobs of 1 ms since the last call.
    #[track_caller]
    fn check(pie: &mut Pie, ms: u64, len: u32, want: f64) {
        pie.catch_up(at(ms), len, GAP);
        let got = pie.drop_p;
        assert!((got - want).abs() <= 1e-12, "{len} ms of queue until {ms} ms: {got}, expected {want}");
    }

    #[test]
    fn the_first_updates_are_as_computed_by_hand() {
        let mut pie = pie();
        check(&mut pie, 14, 100, 0.0);
        // alpha (0.100 - 0.015) + beta (0.100 - 0), and a 2048th of it as the probability is below 1e-6.
        let first = (0.125 * 0.085 + 1.25 * 0.1) / 2048.0;
        check(&mut pie, 15, 100, first);
        check(&mut pie, 29, 100, first);
        // 6.6e-5: a 128th.
        let second = first + 0.125 * 0.085 / 128.0;
        check(&mut pie, 30, 100, second);
        // 1.5e-4: a 32nd; the wait falls by 10 ms.
        let third = second + (0.125 * 0.075 - 1.25 * 0.010) / 32.0;
        check(&mut pie, 45, 90, third);
    }

    #[test]
    fn a_large_step_up_is_capped_and_without_congestion_the_probability_decays() {
        let mut pie = Pie { drop_p: 0.5, wait_s: 0.1, ..pie() };
        check(&mut pie, 15, 500, 0.52);
        check(&mut pie, 30, 1_000, 0.54);
        // Down to 7 ms at once: the step is not capped, and the wait before was no slack, so no decay.
        let fallen = 0.54 + 0.125 * (0.007 - 0.015) + 1.25 * (0.007 - 1.0);
        assert!(fallen < 0.0, "the step is so large that nothing is left: {fallen}");
        check(&mut pie, 45, 7, 0.0);
        let mut pie = Pie { drop_p: 0.5, wait_s: 0.007, ..pie };
        check(&mut pie, 60, 7, (0.5 - 0.125 * 0.008) * 0.98);
    }

    #[test]
    fn gains_follow_the_period() {
        let (alpha, beta) = gains(Duration::from_micros(7_500));
        assert!((alpha - 0.0625).abs() < 1e-15, "half the period, half of alpha: {alpha}");
        assert!((beta - (1.25 + 0.125 / 4.0)).abs() < 1e-15, "and a quarter of it more of beta: {beta}");
        assert_eq!(
            gains(Duration::from_secs(604_800)).1,
            0.0,
            "no gain turns its sign, however long the period"
        );
    }

    #[test]
    fn updates_made_up_for_are_those_one_by_one() {
        for seed in 0..2_000_u64 {
            let random = |n: u64| mix(seed ^ mix(n));
            let start = Pie {
                // Any size, and no round number: rounding might put that on either side of a bound.
                drop_p: Draw::from_bits(random(0)).get()
                    / [1.0, 10.0, 1e3, 1e5, 1e7][(random(5) % 5) as usize],
                wait_s: (random(1) % 60) as f64 / 1e3,
                allowance: Duration::from_millis(random(2) % 1_000),
                burst: Duration::from_millis(150),
                ..pie()
            };
            let (len, due) = ((random(3) % 60) as u32, random(4) % 3_000);
            let (mut at_once, mut in_turn) = (start, start);
            at_once.catch_up(at(15 * due), len, GAP);
            for i in 1..=due {
                in_turn.catch_up(at(15 * i), len, GAP);
            }
            let off = (at_once.drop_p - in_turn.drop_p).abs();
            assert!(
                off <= 1e-8,
                "seed {seed}: {due} updates at {len} ms, {} of {}",
                at_once.drop_p,
                in_turn.drop_p
            );
            if (in_turn.drop_p == 0.0) == (at_once.drop_p == 0.0) {
                assert_eq!(
                    at_once.allowance, in_turn.allowance,
                    "seed {seed}: allowance after {due} updates"
                );
            }
        }
    }

    #[test]
    fn a_week_without_a_call_is_made_up_for_at_once() {
        let ms = Duration::from_millis;
        let mut long = Pie::new(Duration::from_nanos(1_000), ms(1), ms(150), 1_000);
        long.catch_up(at(7 * 86_400_000), 1_000, GAP);
        assert_eq!(long.drop_p, 1.0, "a queue that stands for a week");
        long.catch_up(at(14 * 86_400_000), 0, GAP);
        assert_eq!(long.drop_p, 0.0, "an empty one for a week");
        assert_eq!(long.allowance, ms(150), "and a burst may pass again");
    }

    #[test]
    fn a_burst_passes_while_the_allowance_lasts() {
        let ms = Duration::from_millis;
        let mut pie = Pie { drop_p: 1.0, wait_s: 0.1, ..Pie::new(ms(15), ms(15), ms(150), 1_000) };
        let judge = |pie: &mut Pie, ms| pie.on_arrival(at(ms), found(&[500], true), Draw::from_bits(0));
        assert_eq!(judge(&mut pie, 149), Verdict::Admit, "nine updates, 15 ms of allowance left");
        assert_eq!(judge(&mut pie, 150), Verdict::Shed(Cause::Early), "ten updates, nothing left");
    }

    #[test]
    fn safeguards_keep_it_from_dropping_for_nothing() {
        let judge = |pie: Pie, len, would_wait| {
            let mut pie = pie;
            pie.on_arrival(at(0), found(&[len], would_wait), Draw::from_bits(0))
        };
        let sure = Pie { drop_p: 1.0, wait_s: 0.1, ..pie() };
        let dropped = Verdict::Shed(Cause::Early);
        assert_eq!(judge(sure, 3, true), dropped, "three wait");
        assert_eq!(judge(sure, 2, true), Verdict::Admit, "two are no congestion");
        assert_eq!(judge(sure, 50, false), Verdict::Admit, "a worker is free for it");
        let slack = Pie { drop_p: 0.19, wait_s: 0.007, ..pie() };
        assert_eq!(judge(slack, 7, true), Verdict::Admit, "a slight probability at half the target");
        assert_eq!(judge(Pie { drop_p: 0.2, ..slack }, 7, true), dropped, "a probability that is not slight");
        assert_eq!(judge(Pie { wait_s: 0.0075, ..slack }, 7, true), dropped, "a wait of half the target");
        assert_eq!(judge(sure, 1_000, true), Verdict::Shed(Cause::Full), "the limit comes first");
    }

    #[test]
    fn a_departure_counts_whoever_left() {
        let (mut taken, mut left) = (pie(), pie());
        let queue = |waiting| Queue { waiting, work_ns: &[0], len: 100, gap: GAP };
        let job = Taken { class: ClassId(0), level: 0, waited: Duration::ZERO, queue: queue(&[100]) };
        assert_eq!(taken.on_take(at(15), job, Draw::from_bits(0)), Verdict::Admit, "PIE drops arrivals only");
        left.on_departure(at(15), 0, Queue { len: 99, ..queue(&[99]) });
        assert!(taken.drop_p > 0.0, "the update at 15 ms was made");
        assert_eq!(taken.drop_p, left.drop_p, "100 waited until 15 ms in both");
    }

    #[test]
    fn it_holds_a_queue_near_the_target() {
        // One job a millisecond is served and three come in two: a third must go to hold the queue at 15.
        let mut pie = pie();
        let (mut len, mut sum) = (0_u32, 0_u64);
        for ms in 0..60_000_u64 {
            for _ in 0..1 + ms % 2 {
                let draw = Draw::from_bits(mix(ms * 2 + u64::from(len)));
                if pie.on_arrival(at(ms), found(&[len], true), draw) == Verdict::Admit {
                    len += 1;
                }
            }
            len = len.saturating_sub(1);
            sum += if ms >= 30_000 { u64::from(len) } else { 0 };
        }
        let mean = sum as f64 / 30_000.0;
        // Decay at the low end makes it a little longer than the target.
        assert!((mean - 15.0).abs() < 5.0, "the queue is {mean} ms long on average, wanted about 15");
        assert!((pie.drop_p - 1.0 / 3.0).abs() < 0.1, "a third is dropped, not {}", pie.drop_p);
    }
}
