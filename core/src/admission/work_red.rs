//! Priority RED on seconds of work, asked once at the entry of the gateway. What Tidegate recommends.
//!
//! Three things differ from the published rule (paper S, 1.3), each for a defect of it that was measured. Lengths are
//! seconds of the whole stage, since 200 jobs are a third of a second of small files and a quarter of a minute of large ones.
//! Averages go by time, so that a queue that has emptied does not turn away the next burst: `A <- A + (1 -
//! exp(-dt / tau)) (Q - A)`. And who is let in stays in: every stage is asked before the first one works, because
//! work done upstream for a job that is then dropped is lost.
//!
//! `Q` at a level is the work of jobs that were judged at that level or above when they came. Promotion does not move
//! it: a job that ages weighs on nobody else's average.
//!
//! Every arrival moves the averages of all levels, which keeps them in order of the levels. An average alone reacts
//! too late to a flood within one moment; hence the present work is looked at, too (`hard`).

use super::adapt::MaxP;
use super::average::TimeAverages;
use super::ramp::Ramp;
use super::{Found, Gauge, Queue, QueueControl, Verdict};
use crate::frame::Cause;
use crate::time::{Duration, Instant};
use crate::unit::Draw;
use alloc::vec;
use alloc::vec::Vec;

/// RED on cumulative work.
#[derive(Clone, Debug)]
pub struct WorkRed {
    /// In seconds of work.
    ramp: Ramp,
    averages: TimeAverages,
    /// Work at each level and above, in seconds, as last seen.
    work_s: Vec<f64>,
    max_p: Vec<MaxP>,
    /// Present work from which everybody is turned away, in seconds.
    hard_s: f64,
    limit: u32,
}

impl WorkRed {
    /// For so many levels: a curve in seconds, the time constant of the averages, and the present work, as a
    /// multiple of the curve's `max`, from which nobody gets in. At most `limit` jobs wait.
    pub(super) fn new(levels: usize, ramp: Ramp, tau: Duration, hard: f64, max_p: MaxP, limit: u32) -> Self {
        Self {
            ramp,
            averages: TimeAverages::new(levels, tau),
            work_s: vec![0.0; levels],
            max_p: vec![max_p; levels],
            hard_s: hard * ramp.max(),
            limit,
        }
    }

    /// Sums up the work at each level and above it.
    fn look(&mut self, queue: Queue<'_>) {
        let mut above = 0_u64;
        for (sum, &work) in self.work_s.iter_mut().zip(queue.work_ns).rev() {
            above = above.saturating_add(work);
            *sum = above as f64 / 1e9;
        }
    }

    /// Chance to be turned away with this average and this much work present, in seconds.
    fn chance(&self, max_p: f64, average: f64, present: f64) -> f64 {
        if present <= 0.0 {
            // Nobody is ahead: whatever the average remembers, there is nothing to protect.
            0.0
        } else if present >= self.hard_s {
            1.0
        } else {
            self.ramp.at(average, max_p)
        }
    }

    fn is_full(&self, found: &Found<'_>) -> bool {
        found.would_wait && found.queue.len >= self.limit
    }
}

impl QueueControl for WorkRed {
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, draw: Draw) -> Verdict {
        let level = usize::from(found.judged_at);
        self.look(found.queue);
        self.averages.on_arrival(now, &self.work_s);
        let average = self.averages.get(found.judged_at);
        let p = self.chance(self.max_p[level].get(), average, self.work_s[level]);
        self.max_p[level].on_arrival(now, average, &self.ramp);
        if self.is_full(&found) {
            Verdict::Shed(Cause::Full)
        } else if p >= 1.0 {
            Verdict::Shed(Cause::Forced)
        } else if draw.get() < p {
            Verdict::Shed(Cause::Early)
        } else {
            Verdict::Admit
        }
    }

    fn on_departure(&mut self, _now: Instant, _level: u8, queue: Queue<'_>) {
        self.look(queue);
    }

    fn at_entry(&self) -> bool {
        true
    }

    fn on_late_arrival(&mut self, _now: Instant, found: Found<'_>) -> Verdict {
        if self.is_full(&found) { Verdict::Shed(Cause::Full) } else { Verdict::Admit }
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    fn gauge(&self, now: Instant, level: u8) -> Option<Gauge> {
        let at = usize::from(level);
        let average = self.averages.read(now, level, self.work_s[at]);
        let max_p = self.max_p[at].get();
        Some(Gauge {
            average,
            min: self.ramp.min(),
            max: self.ramp.max(),
            drop_p: self.chance(max_p, average, self.work_s[at]),
            max_p,
            seconds: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ClassId;
    use crate::scenario::v1::AdaptV1;

    const MS: u64 = 1_000_000;

    /// The usual settings for two levels: 1 s to 2 s, 0.2, time constant 0.25 s, hard 1.5; at most 100 jobs.
    fn control(adapt: &AdaptV1) -> WorkRed {
        let ramp = Ramp::new(1.0, 2.0, false);
        WorkRed::new(2, ramp, Duration::from_millis(250), 1.5, MaxP::new(adapt, 0.2), 100)
    }

    fn found(work_ns: &[u64], jobs: u32, level: u8) -> Found<'_> {
        let queue = Queue { waiting: &[0, 0], work_ns, len: jobs, gap: Duration::ZERO };
        Found { class: ClassId(0), level: 0, judged_at: level, would_wait: true, queue }
    }

    /// What becomes of an arrival at `level` a long time after the last, which finds so much work, in ms, at the
    /// two levels.
    #[track_caller]
    fn check(work_ms: [u64; 2], level: u8, draw: f64, want: Verdict) {
        let late = Instant::START + Duration::from_secs(60);
        let draw = Draw::from_bits((draw * 9_007_199_254_740_992.0) as u64 * 2048);
        let got =
            control(&AdaptV1::None).on_arrival(late, found(&work_ms.map(|ms| ms * MS), 10, level), draw);
        assert_eq!(got, want, "level {level}, {work_ms:?} ms of work, draw {draw:?}");
    }

    #[test]
    fn a_level_is_judged_by_the_work_there_and_above() {
        check([1_000, 500], 0, 0.099, Verdict::Shed(Cause::Early));
        check([1_000, 500], 0, 0.101, Verdict::Admit);
        check([1_000, 500], 1, 0.0, Verdict::Admit);
        check([0, 1_900], 1, 0.179, Verdict::Shed(Cause::Early));
        check([1_500, 500], 0, 0.999, Verdict::Shed(Cause::Forced));
    }

    #[test]
    fn work_present_shuts_the_door_before_the_average_does() {
        let mut control = control(&AdaptV1::None);
        let work = [2_999 * MS, 0];
        let lowest = Draw::from_bits(0);
        assert_eq!(control.on_arrival(Instant::START, found(&work, 10, 0), lowest), Verdict::Admit);
        let work = [3_000 * MS, 0];
        let forced = Verdict::Shed(Cause::Forced);
        assert_eq!(control.on_arrival(Instant::START, found(&work, 10, 0), lowest), forced);
        assert_eq!(control.gauge(Instant::START, 0).unwrap().drop_p, 1.0);
        assert_eq!(control.on_arrival(Instant::START, found(&work, 10, 1), lowest), Verdict::Admit);
    }

    #[test]
    fn an_empty_stage_turns_nobody_away_whatever_the_average_remembers() {
        let mut control = control(&AdaptV1::None);
        let late = Instant::START + Duration::from_secs(60);
        let _ = control.on_arrival(late, found(&[2_500 * MS, 0], 10, 0), Draw::from_bits(0));
        let verdict = control.on_arrival(late, found(&[0, 0], 0, 0), Draw::from_bits(0));
        assert_eq!(verdict, Verdict::Admit, "the average is still 2.5 s");
    }

    #[test]
    fn what_is_shown_decays_while_nobody_asks() {
        let mut control = control(&AdaptV1::None);
        let late = Instant::START + Duration::from_secs(60);
        let _ = control.on_arrival(late, found(&[1_500 * MS, 0], 10, 0), Draw::from_bits(u64::MAX));
        control.on_departure(late, 0, found(&[500 * MS, 0], 9, 0).queue);
        let later = control.gauge(late + Duration::from_millis(250), 0).unwrap();
        assert!((later.average - (0.5 + 0.367_879_441_2)).abs() < 1e-9, "1 s of excess, over e: {later:?}");
        assert!(later.seconds && later.drop_p == 0.0);
    }

    #[test]
    fn the_limit_on_jobs_holds_at_the_entry_and_later() {
        let mut control = control(&AdaptV1::None);
        let (full, lowest) = (Verdict::Shed(Cause::Full), Draw::from_bits(0));
        assert!(control.at_entry());
        assert_eq!(control.on_arrival(Instant::START, found(&[MS, 0], 100, 0), lowest), full);
        assert_eq!(control.on_late_arrival(Instant::START, found(&[9_000 * MS, 0], 100, 0)), full);
        let late = control.on_late_arrival(Instant::START, found(&[9_000 * MS, 0], 99, 0));
        assert_eq!(late, Verdict::Admit, "who was let in at the entry stays in");
        let free = Found { would_wait: false, ..found(&[MS, 0], 100, 0) };
        assert_eq!(control.on_late_arrival(Instant::START, free), Verdict::Admit);
    }

    #[test]
    fn each_level_has_a_height_of_its_own() {
        let mut control = control(&AdaptV1::Counters { factor: 2.0, repeat: 2 });
        let late = Instant::START + Duration::from_secs(60);
        for level in [0, 1, 0, 0] {
            let _ = control.on_arrival(late, found(&[2_500 * MS, 0], 10, level), Draw::from_bits(0));
        }
        let heights = [0, 1].map(|level| control.gauge(late, level).unwrap().max_p);
        assert_eq!(heights, [0.4, 0.2], "three above the curve at level 0, one below it at level 1");
    }
}
