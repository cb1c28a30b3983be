//! Promotion as published: a job that has waited its time in one level moves to the tail of the next.
//!
//! Source: paper S, 1.4. Its promise that a job is served within the sum of the times is false whenever the top level
//! itself is not served as fast as it fills (paper S, 1.7, trap 6): then everybody ends up in the top level, in order
//! of promotion, and the most urgent wait with the rest. [`Share`](super::Share) bounds the wait without that.

use super::super::Lanes;
use crate::jobs::Jobs;
use crate::time::{Duration, Instant};
use alloc::vec::Vec;
use core::cmp::Reverse;

/// Times in each level, and when the next promotion may be due.
#[derive(Clone, Debug)]
pub(crate) struct Promote {
    /// Time in each level below the top, the lowest first.
    after: Vec<Duration>,
    /// No promotion is due before.
    next: Instant,
}

impl Promote {
    /// With a time for each level, the lowest first; the last time given stands for all levels above it.
    pub(crate) fn new(after: impl Iterator<Item = Duration>, levels: usize) -> Self {
        let mut after: Vec<Duration> = after.take(levels - 1).collect();
        let last = after.last().copied().unwrap_or_default();
        after.resize(levels - 1, last);
        Self { after, next: Instant::NEVER }
    }

    /// Notes that a job joined `level` at `since`, on arrival or by promotion.
    #[inline]
    pub(crate) fn on_joined(&mut self, level: u8, since: Instant) {
        // The top level has no entry: nobody is promoted out of it.
        if let Some(&after) = self.after.get(usize::from(level)) {
            self.next = self.next.min(since + after);
        }
    }

    /// When to ask [`due`](Self::due): perhaps too early, as the job may have left, never too late.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Instant> {
        (self.next != Instant::NEVER).then_some(self.next)
    }

    /// The job to promote next at `now`, `None` when no more are due.
    ///
    /// The caller takes it out of its lane, gives it a new ticket (the tail of a level is its largest ticket, across
    /// classes) and `since = now`, pushes it one level up, and says so with [`on_joined`](Self::on_joined);
    /// then it asks again. Of several due, the one whose time came first is named, of those the one in the
    /// higher level, of those the one with the smaller ticket: whoever is due in the level above leaves it before
    /// another takes the place behind, and nobody moves twice at one instant.
    ///
    /// Only heads are looked at, as jobs join a lane in order of time. Before `next_at` it costs a comparison; an
    /// early call looks at the heads once and has a later `next_at` for its result, so each job is the cause of one look
    /// in vain at most.
    #[inline]
    pub(crate) fn due(&mut self, now: Instant, lanes: &Lanes, jobs: &Jobs) -> Option<u32> {
        if now < self.next {
            return None;
        }
        let first = self.first(lanes, jobs);
        self.next = first.map_or(Instant::NEVER, |(at, _)| at);
        first.filter(|&(at, _)| at <= now).map(|(_, slot)| slot)
    }

    /// The job to be promoted before all others, and when.
    fn first(&self, lanes: &Lanes, jobs: &Jobs) -> Option<(Instant, u32)> {
        let heads = lanes.heads().map(|slot| (slot, &jobs[slot]));
        heads
            .filter_map(|(slot, job)| {
                let after = self.after.get(usize::from(job.level))?;
                Some((job.since + *after, Reverse(job.level), job.ticket, slot))
            })
            .min()
            .map(|(at, .., slot)| (at, slot))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::by_hand::{Bench, at};
    use super::super::super::order::StrictPriority;
    use super::*;
    use crate::jobs::NONE;
    use crate::unit::mix;

    fn every(ms: &[u64], levels: usize) -> Promote {
        Promote::new(ms.iter().map(|&ms| Duration::from_millis(ms)), levels)
    }

    fn join(bench: &mut Bench, promote: &mut Promote, level: u8, class: u8, ms: u64) -> u32 {
        promote.on_joined(level, at(ms));
        bench.join_at(level, class, ms)
    }

    /// Promotes whoever is due; their slots, in order.
    fn promote_due(bench: &mut Bench, promote: &mut Promote, now: Instant) -> Vec<u32> {
        core::iter::from_fn(|| {
            let slot = promote.due(now, &bench.lanes, &bench.jobs)?;
            bench.promote(slot, now);
            promote.on_joined(bench.jobs[slot].level, now);
            Some(slot)
        })
        .collect()
    }

    /// One worker, 10 ms a job; urgent jobs every 9.5 ms from time 0, one other at 5 ms, promoted after 500 ms. When the
    /// latter starts, in ms, if it does within 60 s. A tick of the bench is half a millisecond here.
    #[track_caller]
    fn check_flood(promoted: bool, want_ms: Option<u64>) {
        let (mut bench, mut promote) = (Bench::new(2, 1), every(&[1_000], 2));
        let (mut low, mut idle_from, mut started) = (NONE, 0, None);
        for tick in 0..120_000 {
            if promoted {
                promote_due(&mut bench, &mut promote, at(tick));
            }
            // A worker that is free takes who waits; an arrival that finds it idle is taken at once.
            for arrivals in [false, true] {
                if arrivals && tick == 10 {
                    low = join(&mut bench, &mut promote, 0, 0, tick);
                }
                if arrivals && tick % 19 == 0 {
                    join(&mut bench, &mut promote, 1, 0, tick);
                }
                if tick >= idle_from
                    && let Some(slot) = bench.take_at(&mut StrictPriority, tick)
                {
                    idle_from = tick + 20;
                    started = started.or((slot == low).then_some(tick / 2));
                }
            }
            if started.is_some() {
                break;
            }
        }
        assert_eq!(started, want_ms, "start of the job at 5 ms, promotion: {promoted}");
    }

    #[test]
    fn an_endless_flood_holds_up_a_promoted_job_by_what_is_ahead_of_it_only() {
        check_flood(false, None);
        // Promoted at 505 ms behind the three that wait then; they start at 510, 520 and 530.
        check_flood(true, Some(540));
    }

    #[test]
    fn at_one_instant_the_higher_level_moves_first_and_nobody_twice() {
        let (mut bench, mut promote) = (Bench::new(3, 2), every(&[100], 3));
        let low = [join(&mut bench, &mut promote, 0, 1, 0), join(&mut bench, &mut promote, 0, 0, 0)];
        let middle = [join(&mut bench, &mut promote, 1, 1, 0), join(&mut bench, &mut promote, 1, 0, 0)];
        let moved = promote_due(&mut bench, &mut promote, at(100));
        assert_eq!(moved, [middle[0], middle[1], low[0], low[1]], "level 1 before level 0, then by ticket");
        let levels = [middle[0], middle[1], low[0], low[1]].map(|slot| bench.jobs[slot].level);
        assert_eq!(levels, [2, 2, 1, 1], "one level each");
        assert_eq!(promote.next_at(), Some(at(200)), "the timer of those in level 1 starts anew");
        assert_eq!(
            promote_due(&mut bench, &mut promote, at(200)),
            low,
            "they move on after their time there"
        );
        assert_eq!(promote.next_at(), None, "nobody leaves the top level");
    }

    #[test]
    fn who_was_due_first_moves_first_even_when_asked_late() {
        let (mut bench, mut promote) = (Bench::new(3, 1), every(&[50, 200], 3));
        let slow = join(&mut bench, &mut promote, 1, 0, 0);
        let fast = join(&mut bench, &mut promote, 0, 0, 120);
        let moved = promote_due(&mut bench, &mut promote, at(300));
        assert_eq!(moved, [fast, slow], "due at 170 and 200 ms, asked at 300");
        assert_eq!(promote.next_at(), Some(at(500)), "200 ms in level 1, counted from the move");
    }

    #[test]
    fn a_promoted_job_stands_behind_all_classes_of_the_next_level() {
        let (mut bench, mut promote) = (Bench::new(2, 2), every(&[100], 2));
        let old = join(&mut bench, &mut promote, 0, 0, 0);
        let urgent = join(&mut bench, &mut promote, 1, 1, 90);
        promote_due(&mut bench, &mut promote, at(100));
        let later = join(&mut bench, &mut promote, 1, 1, 110);
        let served = [0; 3].map(|_| bench.take_at(&mut StrictPriority, 120).unwrap());
        assert_eq!(served, [urgent, old, later], "who was there before, the promoted, who came after");
    }

    #[test]
    fn one_time_stands_for_all_levels_and_more_are_taken_level_by_level() {
        for (times, waits) in
            [(&[70][..], [70, 70, 70]), (&[10, 20], [10, 20, 20]), (&[10, 20, 30, 40], [10, 20, 30])]
        {
            for (level, wait) in waits.into_iter().enumerate() {
                let mut promote = every(times, 4);
                promote.on_joined(level as u8, at(5));
                assert_eq!(promote.next_at(), Some(at(5 + wait)), "times {times:?}, level {level}");
            }
            let mut promote = every(times, 4);
            promote.on_joined(3, at(5));
            assert_eq!(promote.next_at(), None, "nobody leaves the top level");
        }
        let mut alone = every(&[70], 1);
        alone.on_joined(0, at(5));
        assert_eq!(alone.next_at(), None, "a single level is the top level");
    }

    /// Jobs that come, go and are promoted at random: at every step the bound holds for each job that waits, and asking
    /// at the bound promotes exactly those due, as found by looking at all jobs.
    #[test]
    fn the_bound_is_never_late() {
        let (mut bench, mut promote) = (Bench::new(4, 3), every(&[40, 15, 60], 4));
        let after = [40, 15, 60].map(Duration::from_millis);
        let mut waiting: Vec<u32> = Vec::new();
        let (mut early, mut moves) = (0, 0);
        for ms in 0..20_000 {
            let (now, draw) = (at(ms), mix(ms));
            let due_of = |bench: &Bench, slot: u32| {
                let job = &bench.jobs[slot];
                after.get(usize::from(job.level)).map(|&after| job.since + after)
            };
            let due: Vec<u32> =
                waiting.iter().copied().filter(|&s| due_of(&bench, s).is_some_and(|at| at <= now)).collect();
            if promote.next_at().is_some_and(|next| next <= now) {
                early += usize::from(due.is_empty());
                let mut moved = promote_due(&mut bench, &mut promote, now);
                moves += moved.len();
                moved.sort_unstable();
                let mut want = due;
                want.sort_unstable();
                assert_eq!(moved, want, "promoted at {ms} ms, against all that are due");
            } else {
                assert!(due.is_empty(), "{due:?} are due at {ms} ms, the bound is {:?}", promote.next_at());
            }
            if draw % 8 < 3 {
                let (level, class) = ((draw >> 8) as u8 % 4, (draw >> 16) as u8 % 3);
                waiting.push(join(&mut bench, &mut promote, level, class, ms));
            }
            if draw >> 32 & 3 == 0 && !waiting.is_empty() {
                let gone = waiting.swap_remove((draw >> 40) as usize % waiting.len());
                bench.leave(gone);
            }
        }
        assert!(moves > 1_000, "{moves} promotions in 20 s");
        assert!(early * 2 < moves, "{early} looks in vain for {moves} promotions");
    }
}
