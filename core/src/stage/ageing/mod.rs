//! How those who wait long get ahead of more urgent jobs: one rule a file, and [`Ageing`], the closed list of them.
//!
//! The two rules act at different moments. [`Promote`] moves a waiting job when its time comes, whatever else happens, so
//! its stage has a time to be called at. [`Share`] moves nobody: it sometimes overrules the dequeue order when a worker
//! is free. A stage calls all of it whatever its rule is.

mod promote;
mod share;

pub(crate) use promote::Promote;
pub(crate) use share::{Choice, Share};

use super::Lanes;
use super::order::Waiting;
use crate::jobs::{Job, Jobs};
use crate::scenario::v1::AgeingV1;
use crate::time::{Duration, Instant};

/// The ageing rule of a stage.
#[derive(Clone, Debug)]
pub(crate) enum Ageing {
    /// None: a job waits as long as there are more urgent ones.
    None,
    /// To the tail of the next level after a time in each.
    Promote(Promote),
    /// A share of the work for those overdue.
    Share(Share),
}

impl Ageing {
    /// The rule a scenario asks for, for a queue of so many levels (1 to 16).
    pub(crate) fn new(wire: &AgeingV1, levels: usize) -> Self {
        match wire {
            AgeingV1::None => Self::None,
            AgeingV1::Promote { after_us } => {
                Self::Promote(Promote::new(after_us.iter().map(|&us| Duration::from_micros(us)), levels))
            }
            AgeingV1::Share { after_us, share } => {
                Self::Share(Share::new(Duration::from_micros(*after_us), *share, levels))
            }
        }
    }

    /// Notes that a job joined `level` at `since`, on arrival or by promotion.
    #[inline]
    pub(crate) fn on_joined(&mut self, level: u8, since: Instant) {
        if let Self::Promote(promote) = self {
            promote.on_joined(level, since);
        }
    }

    /// When a promotion may be due: perhaps too early (the job was served meanwhile), never too late.
    #[inline]
    pub(crate) fn next_at(&self) -> Option<Instant> {
        if let Self::Promote(promote) = self { promote.next_at() } else { None }
    }

    /// The next job to promote at `now`; see [`Promote::due`] for what its stage has to do then.
    #[inline]
    pub(crate) fn due(&mut self, now: Instant, lanes: &Lanes, jobs: &Jobs) -> Option<u32> {
        if let Self::Promote(promote) = self { promote.due(now, lanes, jobs) } else { None }
    }

    /// Who is served next where the dequeue order says `normal`. Changes nothing; see [`Share::choose`].
    #[inline]
    pub(crate) fn choose(&self, now: Instant, normal: u32, waiting: Waiting<'_>) -> Choice {
        if let Self::Share(share) = self {
            share.choose(now, normal, waiting)
        } else {
            Choice::normal(normal)
        }
    }

    /// Notes that the job of a [`Choice`] goes to a worker; see [`Share::on_taken`].
    #[inline]
    pub(crate) fn on_taken(&mut self, now: Instant, choice: Choice, job: &Job) {
        if let Self::Share(share) = self {
            share.on_taken(now, choice, job);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::{Bench, at};
    use super::*;

    /// Who is chosen, and whether a promotion is due, 3 s after a job joined level 0 of two, beside a fresh one in level 1
    /// that the dequeue order names.
    #[track_caller]
    fn check(wire: &AgeingV1, promoted: bool) {
        let mut ageing = Ageing::new(wire, 2);
        let mut bench = Bench::new(2, 1);
        let old = bench.join_at(0, 0, 0);
        ageing.on_joined(0, at(0));
        let fresh = bench.join_at(1, 0, 3_000);
        ageing.on_joined(1, at(3_000));
        let choice = ageing.choose(at(3_000), fresh, bench.waiting());
        assert_eq!(choice.slot(), fresh, "{wire:?}: nothing earned yet, so the order decides");
        let due = ageing.due(at(3_000), &bench.lanes, &bench.jobs);
        assert_eq!(due, promoted.then_some(old), "{wire:?}: promotion due at 3 s");
        assert_eq!(ageing.next_at().is_some(), promoted, "{wire:?}: whether there is a time to be called at");
    }

    #[test]
    fn each_rule_does_its_part_and_no_other() {
        check(&AgeingV1::None, false);
        check(&AgeingV1::Promote { after_us: [2_000_000].to_vec() }, true);
        check(&AgeingV1::Share { after_us: 2_000_000, share: 0.2 }, false);
    }

    #[test]
    fn the_share_of_a_scenario_is_earned_and_spent() {
        let mut ageing = Ageing::new(&AgeingV1::Share { after_us: 2_000_000, share: 0.5 }, 2);
        let mut bench = Bench::new(2, 1);
        let old = bench.join_at(0, 0, 0);
        let fresh = bench.join_at(1, 0, 3_000);
        let choice = ageing.choose(at(3_000), fresh, bench.waiting());
        ageing.on_taken(at(3_000), choice, &bench.jobs[fresh]);
        let next = ageing.choose(at(3_000), fresh, bench.waiting());
        assert_eq!(next.slot(), old, "half of the work is for those overdue: one job for one job");
    }
}
