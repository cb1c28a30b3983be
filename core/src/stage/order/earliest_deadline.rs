//! Earliest deadline first, among the heads of the lanes.
//!
//! Within a lane jobs stay in the order they came in: with one deadline a class, that is the order of their deadlines
//! too, except where they come from different stages at different speeds. Under overload it serves what is about to be
//! too late anyway; a limit on the queue belongs beside it.

use super::{Discipline, Waiting};
use crate::time::Instant;

/// The head whose deadline comes first; those without a deadline come last.
#[derive(Clone, Copy, Debug)]
pub struct EarliestDeadline;

impl Discipline for EarliestDeadline {
    fn next(&mut self, _now: Instant, waiting: Waiting<'_>) -> Option<u32> {
        waiting.heads().min_by_key(|(_, job)| (job.deadline, job.ticket)).map(|(slot, _)| slot)
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::by_hand::Bench;
    use super::*;
    use alloc::vec::Vec;

    /// Jobs of three classes joined one after the other, given by class and deadline.
    #[track_caller]
    fn check(deadlines_ms: &[(u8, Option<u64>)], want: &[usize]) {
        let mut bench = Bench::new(1, 3);
        let join = |&(class, ms): &(u8, Option<u64>)| {
            let slot = bench.join_at(0, class, 0);
            if let Some(ms) = ms {
                bench.jobs[slot].deadline = Instant::from_nanos(ms * 1_000_000);
            }
            slot
        };
        let slots: Vec<u32> = deadlines_ms.iter().map(join).collect();
        let got: Vec<usize> = core::iter::from_fn(|| bench.take_at(&mut EarliestDeadline, 1))
            .map(|slot| slots.iter().position(|&s| s == slot).unwrap())
            .collect();
        assert_eq!(got, want, "jobs (class, deadline in ms) {deadlines_ms:?} in order of service");
    }

    #[test]
    fn the_earliest_deadline_goes_first_and_none_goes_last() {
        check(&[(0, None), (1, Some(50)), (2, Some(20))], &[2, 1, 0]);
        check(&[(0, Some(30)), (0, Some(60)), (1, Some(40))], &[0, 2, 1]);
    }

    #[test]
    fn of_equal_deadlines_the_one_that_came_first() {
        check(&[(2, Some(20)), (1, Some(20)), (0, Some(20))], &[0, 1, 2]);
        check(&[(2, None), (0, None)], &[0, 1]);
    }

    #[test]
    fn only_heads_are_looked_at() {
        check(&[(0, None), (0, Some(10)), (1, Some(50))], &[2, 0, 1]);
    }
}
