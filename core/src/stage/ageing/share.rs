//! A share of the work for those who are overdue, instead of a better place in the queue.
//!
//! A job is overdue when it has waited longer than a time for each level above its own. While somebody is, work done in
//! the normal order earns credit, and once the credit pays for the job that is overdue most, that one is served out of
//! turn. So the overdue get a fixed part of the work, be there ever so much urgent work, and every wait is bounded
//! ([`theory::ageing_bound`](crate::theory::ageing_bound)). Promotion as published gives neither: it fills the
//! top level with old work, and all end up waiting alike.
//!
//! Shares are of work, not of jobs: one large job a second may be all that a link carries.

use super::super::order::{Waiting, cost};
use crate::jobs::Job;
use crate::time::{Duration, Instant};
use core::cmp::Reverse;

/// Credit is worth nothing after so long without anybody overdue: it is for bridging moments, not for saving up.
const KEEP: Duration = Duration::from_secs(1);

/// The job that is overdue most.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Overdue {
    slot: u32,
    /// When its time was up.
    since: Instant,
    /// What it costs, in nanoseconds of the whole stage.
    cost: f64,
}

/// Who is served next, and what that costs or earns once it is done.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub(crate) struct Choice {
    slot: u32,
    /// Whether the credit pays for it, as the dequeue order names another.
    out_of_turn: bool,
    overdue: Option<Overdue>,
}

impl Choice {
    /// The job that the dequeue order names, with nobody overdue.
    pub(crate) const fn normal(slot: u32) -> Self {
        Self { slot, out_of_turn: false, overdue: None }
    }

    /// The job to serve.
    pub(crate) const fn slot(&self) -> u32 {
        self.slot
    }
}

/// The rule, and the credit of those overdue.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    /// Time allowed for each level above a job's own.
    after: Duration,
    /// Credit for each unit of work done in the normal order.
    // Invariant: above zero and finite, as the share is above 0 and at most 0.9.
    gain: f64,
    /// The top level.
    top: u8,
    /// Work that may be done out of turn, in nanoseconds of the whole stage.
    credit: f64,
    /// The most a job has cost so far, in the same unit.
    most: f64,
    /// When somebody was last seen overdue.
    seen: Instant,
}

impl Share {
    /// A part `share` of the work, above 0 and at most 0.9, for who has waited longer than `after` for each level above its
    /// own, in a queue of 1 to 16 levels.
    pub(crate) fn new(after: Duration, share: f64, levels: usize) -> Self {
        Self {
            after,
            gain: share / (1.0 - share),
            top: (levels - 1) as u8,
            credit: 0.0,
            most: 0.0,
            seen: Instant::START,
        }
    }

    /// Who is served next where the dequeue order says `normal`.
    ///
    /// Changes nothing, so a choice that is turned away or for which no worker starts costs nothing. Whoever goes to
    /// a worker is reported with its choice to [`on_taken`](Self::on_taken), before the next choice is asked for.
    pub(crate) fn choose(&self, now: Instant, normal: u32, waiting: Waiting<'_>) -> Choice {
        let Some(overdue) = self.overdue(now, waiting) else { return Choice::normal(normal) };
        let out_of_turn = overdue.slot != normal && self.credit_at(overdue.since) >= overdue.cost;
        Choice { slot: if out_of_turn { overdue.slot } else { normal }, out_of_turn, overdue: Some(overdue) }
    }

    /// Notes that the job of a choice goes to a worker.
    pub(crate) fn on_taken(&mut self, now: Instant, choice: Choice, job: &Job) {
        self.most = self.most.max(cost(job));
        let Some(overdue) = choice.overdue else { return };
        self.credit = self.credit_at(overdue.since);
        self.seen = now;
        // The one overdue counts although it has not been served: the limit must let its price be saved.
        self.most = self.most.max(overdue.cost);
        if choice.out_of_turn {
            self.credit -= cost(job);
        } else {
            self.credit = (self.credit + self.gain * cost(job)).min(self.limit());
        }
    }

    /// The most credit: for two of the largest jobs. A share above a half earns more than one job's price at a time, and
    /// that with a price nearly saved before has to fit in, or the share would not be reached.
    fn limit(&self) -> f64 {
        self.most * (1.0 + self.gain).max(2.0)
    }

    /// What is left of the credit when somebody is overdue since then.
    fn credit_at(&self, since: Instant) -> f64 {
        if since.since(self.seen) < KEEP { self.credit } else { 0.0 }
    }

    /// The head that has been overdue longest; of several, the one in the higher level, then who came first.
    fn overdue(&self, now: Instant, waiting: Waiting<'_>) -> Option<Overdue> {
        let key = |job: &Job| {
            let levels_above = u64::from(self.top - job.level);
            let allowed = Duration::from_nanos(self.after.as_nanos().saturating_mul(levels_above));
            (job.queued + allowed, Reverse(job.level), job.ticket)
        };
        let (slot, job) = waiting.heads().min_by_key(|&(_, job)| key(job))?;
        let (since, ..) = key(job);
        (since < now).then(|| Overdue { slot, since, cost: cost(job) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::by_hand::{Bench, at};
    use super::super::super::order::{Discipline, StrictPriority};
    use super::*;
    use crate::unit::mix;
    use alloc::vec::Vec;

    const AFTER: Duration = Duration::from_secs(2);

    /// Chooses and serves; the slot, and whether the credit paid for it.
    fn take(bench: &mut Bench, share: &mut Share, ms: u64) -> (u32, bool) {
        let normal = StrictPriority.next(at(ms), bench.waiting()).expect("somebody waits");
        let choice = share.choose(at(ms), normal, bench.waiting());
        share.on_taken(at(ms), choice, &bench.jobs[choice.slot]);
        bench.leave(choice.slot);
        (choice.slot, choice.out_of_turn)
    }

    /// Part of the work that goes to an endless queue of overdue jobs, with an urgent job coming whenever one is needed;
    /// costs by level (0 overdue, 1 urgent) and number of the job.
    #[track_caller]
    fn check_share(part: f64, cost_ns: impl Fn(u8, u64) -> u64) {
        let mut bench = Bench::new(2, 1);
        let mut share = Share::new(AFTER, part, 2);
        for n in 0..2 {
            bench.join_costing(0, 0, 0, cost_ns(0, n));
        }
        bench.join_costing(1, 0, 10_000, cost_ns(1, 0));
        let mut work = [0.0; 2];
        for n in 2..40_000 {
            let (slot, _) = take(&mut bench, &mut share, 10_000);
            let level = bench.jobs[slot].level;
            work[usize::from(level)] += cost(&bench.jobs[slot]);
            let joined = if level == 0 { 0 } else { 10_000 };
            bench.join_costing(level, 0, joined, cost_ns(level, n));
        }
        let got = work[0] / (work[0] + work[1]);
        assert!((got / part - 1.0).abs() < 0.01, "the overdue get {got} of the work, {part} is theirs");
    }

    #[test]
    fn the_overdue_get_their_part_of_the_work_whatever_jobs_cost() {
        check_share(0.2, |_, _| 0);
        check_share(0.2, |level, n| [1_000, 300][usize::from(level)] + mix(n) % 500);
        check_share(0.1, |level, n| [50_000, 1_000][usize::from(level)] + mix(n) % 100);
        check_share(0.5, |level, n| [10, 2_000][usize::from(level)] + mix(n) % 10);
        check_share(0.9, |_, n| 100 + mix(n) % 900);
    }

    /// With credit for one job, who is served at `now_ms` of jobs given by level (of three) and time of joining; the dequeue
    /// order names the last.
    #[track_caller]
    fn check_next(joined_ms: &[(u8, u64)], now_ms: u64, want: usize) {
        let mut bench = Bench::new(3, 1);
        let mut share = Share::new(AFTER, 0.5, 3);
        (share.credit, share.most, share.seen) = (1.0, 1.0, at(now_ms));
        let slots: Vec<u32> = joined_ms.iter().map(|&(level, ms)| bench.join_at(level, 0, ms)).collect();
        let (slot, _) = take(&mut bench, &mut share, now_ms);
        let got = slots.iter().position(|&s| s == slot).unwrap();
        assert_eq!(got, want, "job served at {now_ms} ms of (level, joined at ms) {joined_ms:?}");
    }

    #[test]
    fn who_is_overdue_most_goes_first() {
        // Level 0 is overdue after 4 s, level 1 after 2 s, the top level at once.
        check_next(&[(0, 0), (1, 2_500), (2, 5_000)], 5_000, 0);
        check_next(&[(0, 0), (1, 1_500), (2, 5_000)], 5_000, 1);
        check_next(&[(0, 0), (1, 1_500), (2, 3_000)], 5_000, 2);
        check_next(&[(0, 0), (1, 1_500), (2, 3_000)], 3_000, 2);
    }

    #[test]
    fn a_job_is_overdue_after_its_time_not_at_it() {
        check_next(&[(0, 0), (1, 3_500)], 4_000, 1);
        check_next(&[(0, 0), (1, 3_500)], 4_001, 0);
    }

    #[test]
    fn of_those_overdue_alike_the_higher_level_goes_first() {
        check_next(&[(0, 0), (1, 2_000), (2, 5_000)], 5_000, 1);
        check_next(&[(1, 2_000), (0, 0), (2, 5_000)], 5_000, 0);
    }

    /// A queue with one overdue job of class 1 and many urgent ones of class 0, and a share of a half.
    fn one_overdue(cost_ns: u64) -> (Bench, Share, u32) {
        let mut bench = Bench::new(2, 2);
        let overdue = bench.join_costing(0, 1, 0, cost_ns);
        for _ in 0..100 {
            bench.join_costing(1, 0, 10_000, 10);
        }
        (bench, Share::new(AFTER, 0.5, 2), overdue)
    }

    #[test]
    fn a_large_job_is_paid_for_however_small_all_others_are() {
        let (mut bench, mut share, overdue) = one_overdue(500);
        let served: Vec<u32> = (0..51).map(|_| take(&mut bench, &mut share, 10_000).0).collect();
        assert_eq!(
            served.iter().position(|&slot| slot == overdue),
            Some(50),
            "fifty jobs of 10 pay for one of 500"
        );
    }

    #[test]
    fn only_service_is_paid_for() {
        let (mut bench, mut share, overdue) = one_overdue(10);
        take(&mut bench, &mut share, 10_000);
        // The one overdue is chosen and turned away instead; so is one of those after it.
        let normal = bench.next_at(&mut StrictPriority, 10_000).unwrap();
        assert_eq!(share.choose(at(10_000), normal, bench.waiting()).slot(), overdue, "ten pays for ten");
        bench.leave(overdue);
        let next = bench.join_costing(0, 1, 0, 10);
        assert_eq!(take(&mut bench, &mut share, 10_000), (next, true), "the credit is untouched");
        bench.join_costing(0, 1, 0, 10);
        let (slot, paid) = take(&mut bench, &mut share, 10_000);
        assert!(!paid && bench.jobs[slot].level == 1, "the credit is spent once");
    }

    #[test]
    fn who_has_no_worker_free_is_neither_served_nor_a_reason_for_credit() {
        let (mut bench, mut share, overdue) = one_overdue(10);
        bench.free = 0b01;
        for _ in 0..10 {
            let (slot, _) = take(&mut bench, &mut share, 10_000);
            assert_ne!(slot, overdue, "class 1 has no worker free");
        }
        bench.free = 0b11;
        assert_ne!(take(&mut bench, &mut share, 10_000).0, overdue, "nothing was earned meanwhile");
        assert_eq!(take(&mut bench, &mut share, 10_000).0, overdue, "one urgent job pays for it");
    }

    /// Urgent jobs that have waited are overdue themselves and served in turn; so many of them earn credit. How many of
    /// those below are then served in a row. All cost the same.
    #[track_caller]
    fn check_saved(earners: usize, want: usize) {
        let (mut bench, mut share, _) = one_overdue(10);
        bench.free = 0b01;
        for _ in 0..earners {
            take(&mut bench, &mut share, 10_001);
        }
        bench.free = 0b11;
        for _ in 0..10 {
            bench.join_costing(0, 1, 0, 10);
        }
        let got = core::iter::from_fn(|| take(&mut bench, &mut share, 10_001).1.then_some(())).count();
        assert_eq!(got, want, "jobs served out of turn in a row after {earners} in turn");
    }

    #[test]
    fn credit_is_limited_to_two_of_the_largest_jobs() {
        check_saved(0, 0);
        check_saved(1, 1);
        check_saved(2, 2);
        check_saved(50, 2);
    }

    /// Somebody is overdue at 10 s, which earns credit for one job; the next is overdue from then on. Whether it is
    /// served out of turn at once.
    #[track_caller]
    fn check_kept(overdue_from_ms: u64, want: bool) {
        let (mut bench, mut share, overdue) = one_overdue(10);
        take(&mut bench, &mut share, 10_000);
        bench.leave(overdue);
        bench.join_costing(0, 1, overdue_from_ms - 2_000, 10);
        for _ in 0..100 {
            if bench.lanes.level_len(1) > 0 {
                bench.leave(bench.lanes.head(1, 0));
            }
        }
        bench.join_costing(1, 0, 15_000, 10);
        let (_, paid) = take(&mut bench, &mut share, 15_000);
        assert_eq!(paid, want, "credit of 10,000 ms for a job overdue from {overdue_from_ms} ms on");
    }

    #[test]
    fn credit_is_lost_after_a_second_with_nobody_overdue() {
        check_kept(9_000, true);
        check_kept(10_999, true);
        check_kept(11_000, false);
        check_kept(14_000, false);
    }
}
