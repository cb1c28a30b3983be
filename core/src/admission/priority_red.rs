//! Priority RED: each level is judged by the average number of jobs at that level and above it (paper S, 1.3).
//!
//! `Q_i` is the sum of the lengths of level i and all above; an average of each is moved at every arrival, whoever
//! arrives. `avg_i - avg_{i+1}` is then itself an average of a length, which is never negative: averages, and with
//! one `max_p` the probabilities, fall with the level. Moving only the arrival's own average
//! (`update_per: level`) breaks that order; it is there to be compared.
//!
//! A job is judged at its own level raised by its correction for size, and waits at its own. The top level may so be
//! tested against a length it does not count in; hence a limit on all jobs waiting, which the paper does not have.

use super::adapt::MaxP;
use super::average::Averages;
use super::ramp::Ramp;
use super::spacing::Spacing;
use super::{Found, Gauge, Queue, QueueControl, Verdict};
use crate::frame::Cause;
use crate::scenario::v1::{CountV1, PerV1, SpacingV1};
use crate::time::Instant;
use crate::unit::Draw;
use alloc::vec;
use alloc::vec::Vec;

/// RED on cumulative lengths.
#[derive(Clone, Debug)]
pub struct PriorityRed {
    ramp: Ramp,
    averages: Averages,
    /// One for each level, which has a probability of its own.
    spacing: Vec<Spacing>,
    /// One for all levels, or one for each.
    max_p: Vec<MaxP>,
    update_per: PerV1,
    /// Whether departures move the averages too.
    departures_count: bool,
    limit: u32,
}

impl PriorityRed {
    /// Priority RED for so many levels, averaging with `weight` at arrivals, with one `max_p` for all levels.
    /// At most `limit` jobs wait in all, four times the curve's `max` if `None`.
    pub(super) fn new(
        levels: usize,
        ramp: Ramp,
        weight: f64,
        spacing: SpacingV1,
        max_p: MaxP,
        limit: Option<u32>,
    ) -> Self {
        Self {
            ramp,
            averages: Averages::new(levels, weight, CountV1::Above),
            spacing: vec![Spacing::new(spacing); levels],
            max_p: vec![max_p],
            update_per: PerV1::Stage,
            departures_count: false,
            limit: limit.unwrap_or(ramp.default_limit()),
        }
    }

    /// With a `max_p` for the stage, or for each level.
    ///
    /// Levels with their own keep their probabilities in order only as far as their `max_p` are.
    pub(super) fn adapting_per(mut self, per: PerV1) -> Self {
        if per == PerV1::Level {
            self.max_p = vec![self.max_p[0]; self.spacing.len()];
        }
        self
    }

    /// With averages moved by arrivals anywhere or at the level alone, and by departures if they count.
    pub(super) fn updating(mut self, per: PerV1, departures_count: bool) -> Self {
        self.update_per = per;
        self.departures_count = departures_count;
        self
    }

    /// The one level whose average an event at `level` moves; `None`: those of all.
    fn only(&self, level: u8) -> Option<u8> {
        (self.update_per == PerV1::Level).then_some(level)
    }

    /// Which `max_p` a level has.
    const fn height_of(&self, level: u8) -> usize {
        if self.max_p.len() == 1 { 0 } else { level as usize }
    }

    /// Lets `max_p` follow an arrival judged at `level`.
    fn adapt(&mut self, now: Instant, level: u8) {
        let height = self.height_of(level);
        let shared = self.max_p.len() == 1;
        let max_p = &mut self.max_p[height];
        // Where all levels share a rule that follows one average, that is the whole queue's.
        let watched = if shared && !max_p.counts_arrivals() { 0 } else { level };
        max_p.on_arrival(now, self.averages.get(watched), &self.ramp);
    }
}

impl QueueControl for PriorityRed {
    #[inline]
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, draw: Draw) -> Verdict {
        let level = found.judged_at;
        self.averages.on_arrival(now, found.queue, self.only(level));
        let verdict = if found.would_wait && found.queue.len >= self.limit {
            Verdict::Shed(Cause::Full)
        } else {
            let max_p = self.max_p[self.height_of(level)].get();
            let (average, waiting) = (self.averages.get(level), self.averages.length(level));
            self.spacing[usize::from(level)].judge(&self.ramp, max_p, average, waiting, draw)
        };
        self.adapt(now, level);
        verdict
    }

    #[inline]
    fn on_departure(&mut self, now: Instant, level: u8, queue: Queue<'_>) {
        let (counts, only) = (self.departures_count, self.only(level));
        let moves = |at| counts && only.is_none_or(|only| at == usize::from(only));
        self.averages.on_departure(now, level, queue, moves);
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    fn gauge(&self, now: Instant, level: u8) -> Option<Gauge> {
        let max_p = self.max_p[self.height_of(level)].get();
        let few = self.averages.length(level) <= 1;
        Some(self.ramp.gauge(self.averages.read(now, level), max_p, few))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ClassId;
    use crate::scenario::v1::AdaptV1;
    use crate::time::Duration;

    const RAMP: Ramp = Ramp::new(4.0, 12.0, false);

    /// Three levels, curve from 4 to 12, 0.5, averages that are lengths.
    fn control(adapt: &AdaptV1) -> PriorityRed {
        PriorityRed::new(3, RAMP, 1.0, SpacingV1::Bernoulli, MaxP::new(adapt, 0.5), None)
    }

    fn queue(waiting: &[u32]) -> Queue<'_> {
        Queue { waiting, work_ns: &[], len: waiting.iter().sum(), gap: Duration::ZERO }
    }

    fn arrive(control: &mut PriorityRed, now: Instant, waiting: &[u32], level: u8, draw: f64) -> Verdict {
        let found =
            Found { class: ClassId(0), level: 0, judged_at: level, would_wait: true, queue: queue(waiting) };
        control.on_arrival(now, found, Draw::from_bits((draw * 9_007_199_254_740_992.0) as u64 * 2048))
    }

    /// What becomes of an arrival judged at `level` that finds 4, 2 and 6 waiting.
    #[track_caller]
    fn check(level: u8, draw: f64, want: Verdict) {
        let got = arrive(&mut control(&AdaptV1::None), Instant::START, &[4, 2, 6], level, draw);
        assert_eq!(got, want, "level {level}, 12, 8 and 6 waiting there and above, draw {draw}");
    }

    #[test]
    fn a_level_is_judged_by_what_waits_there_and_above() {
        check(0, 0.999, Verdict::Shed(Cause::Forced));
        check(1, 0.249, Verdict::Shed(Cause::Early));
        check(1, 0.251, Verdict::Admit);
        check(2, 0.124, Verdict::Shed(Cause::Early));
        check(2, 0.126, Verdict::Admit);
    }

    #[test]
    fn the_limit_on_all_levels_is_looked_at_first() {
        let mut control = control(&AdaptV1::None);
        assert_eq!(control.limit(), 48, "four times max");
        let full = Verdict::Shed(Cause::Full);
        assert_eq!(arrive(&mut control, Instant::START, &[48, 0, 0], 0, 0.0), full);
        assert_eq!(arrive(&mut control, Instant::START, &[48, 0, 0], 2, 0.9), full, "no level is excepted");
        assert_eq!(control.gauge(Instant::START, 0).unwrap().average, 48.0, "refusals move the averages");
    }

    #[test]
    fn an_arrival_moves_all_averages_or_its_own() {
        let averages = |per| {
            let mut control = control(&AdaptV1::None).updating(per, false);
            let _ = arrive(&mut control, Instant::START, &[1, 2, 3], 1, 0.9);
            [0, 1, 2].map(|level| control.gauge(Instant::START, level).unwrap().average)
        };
        assert_eq!(averages(PerV1::Stage), [6.0, 5.0, 3.0]);
        assert_eq!(averages(PerV1::Level), [0.0, 5.0, 0.0]);
    }

    #[test]
    fn departures_move_the_averages_if_they_count() {
        let averages = |per, count| {
            let mut control = control(&AdaptV1::None).updating(PerV1::Stage, false);
            let _ = arrive(&mut control, Instant::START, &[1, 2, 3], 1, 0.9);
            control = control.updating(per, count);
            control.on_departure(Instant::START, 1, queue(&[1, 1, 3]));
            [0, 1, 2].map(|level| control.gauge(Instant::START, level).unwrap().average)
        };
        assert_eq!(averages(PerV1::Stage, true), [5.0, 4.0, 3.0]);
        assert_eq!(averages(PerV1::Level, true), [6.0, 4.0, 3.0]);
        assert_eq!(averages(PerV1::Stage, false), [6.0, 5.0, 3.0]);
    }

    #[test]
    fn shared_counters_hear_every_level_and_own_ones_their_own() {
        let heights = |per| {
            let rule = AdaptV1::Counters { factor: 2.0, repeat: 2 };
            let mut control =
                PriorityRed::new(3, RAMP, 1.0, SpacingV1::Bernoulli, MaxP::new(&rule, 0.1), None)
                    .adapting_per(per);
            // Level 0 finds 20, above the curve; level 2 finds 0, below it.
            for level in [0, 2, 0, 0, 2, 0] {
                let _ = arrive(&mut control, Instant::START, &[20, 0, 0], level, 0.9);
            }
            [0, 2].map(|level| control.gauge(Instant::START, level).unwrap().max_p)
        };
        assert_eq!(heights(PerV1::Stage), [0.2, 0.2], "twice up, once down");
        assert_eq!(heights(PerV1::Level), [0.4, 0.05], "twice up; once down");
    }

    #[test]
    fn a_shared_rule_on_one_average_follows_the_whole_queue() {
        let mut control = control(&AdaptV1::Feng);
        for _ in 0..4 {
            // In turn far above the curve and below it, if each went by its own level.
            let _ = arrive(&mut control, Instant::START, &[2, 9, 0], 0, 0.9);
            let _ = arrive(&mut control, Instant::START, &[2, 9, 0], 2, 0.9);
        }
        assert_eq!(
            control.gauge(Instant::START, 0).unwrap().max_p,
            0.5,
            "11 lies on the curve: nothing passed"
        );
    }
}
