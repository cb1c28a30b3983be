//! Reading ahead in a long queue.
//!
//! The jobs of a queue that fits no cache are in main memory when their turn comes, and a stage that starts one after another would
//! wait for the memory at each: a list tells only who is next, which is known too late. So a job that joins is noted
//! by the one that joined [`SPAN`] before it, and the notes of as many jobs that left are followed together: the
//! memory then answers all of them in little more than the time of one.
//!
//! A note is a hint. It may be missing, or out of date when its job has left or was promoted and the slot has another. No
//! decision depends on it.

use crate::jobs::{Jobs, NONE};
use core::hint::black_box;

/// Jobs that are read together: with two or three cache lines each, more than a processor waits for at once.
const SPAN: usize = 16;

/// Below so many waiting jobs of a stage nothing is gained: they fit a cache near the processor, which costs less than the notes.
pub(super) const LONG: u32 = 16_384;

/// What a lane knows of its jobs beyond head and tail.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ahead {
    /// Those who joined last, the oldest of them at `joined`.
    recent: [u32; SPAN],
    joined: usize,
    /// Whom those noted who left since the last reading; as many as `left`.
    noted: [u32; SPAN],
    left: usize,
}

impl Ahead {
    pub(super) const NOTHING: Self = Self { recent: [NONE; SPAN], joined: 0, noted: [NONE; SPAN], left: 0 };

    /// Has the job that joined [`SPAN`] before `slot` note it.
    pub(super) fn on_joined(&mut self, jobs: &mut Jobs, slot: u32) {
        let before = core::mem::replace(&mut self.recent[self.joined], slot);
        self.joined = (self.joined + 1) % SPAN;
        if before != NONE {
            jobs[before].ahead = slot;
        }
    }

    /// Takes whom a job noted that leaves the head, and reads all who were noted once there are enough of them.
    pub(super) fn on_left(&mut self, jobs: &Jobs, noted: u32) {
        self.noted[self.left] = noted;
        self.left = (self.left + 1) % SPAN;
        if self.left == 0 {
            let read = self.noted.iter().filter(|&&slot| slot != NONE).map(|&slot| jobs[slot].touch());
            black_box(read.fold(0, |all, part| all ^ part));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::by_hand::Bench;
    use super::*;
    use crate::time::Instant;
    use crate::unit::mix;
    use alloc::collections::VecDeque;
    use alloc::vec::Vec;

    #[test]
    fn what_is_read_together_are_the_next_to_leave() {
        let mut bench = Bench::new(1, 1);
        let slots: Vec<u32> = (0..LONG + 100).map(|_| bench.join_at(0, 0, 0)).collect();
        let long = &slots[LONG as usize..];
        for (slot, noted) in long.iter().zip(&long[SPAN..]) {
            assert_eq!(
                bench.jobs[*slot].ahead, *noted,
                "who joined a long queue notes who joined {SPAN} later"
            );
        }
        let mut ahead = Ahead::NOTHING;
        for &slot in &long[..SPAN] {
            ahead.on_left(&bench.jobs, bench.jobs[slot].ahead);
        }
        assert_eq!(ahead.noted, long[SPAN..2 * SPAN], "the next {SPAN} are read when as many have left");
        assert_eq!(ahead.left, 0, "and then the count begins anew");
    }

    /// Jobs join, leave from the head, from the tail and from the middle, and are promoted, while the queue is long.
    #[test]
    fn notes_out_of_date_change_no_order() {
        let mut bench = Bench::new(2, 1);
        let mut want = [VecDeque::new(), VecDeque::new()];
        for n in 0..4 * u64::from(LONG) {
            let (chance, now) = (mix(n), Instant::from_nanos(n));
            let level = (chance % 2) as usize;
            if bench.lanes.len() < LONG + 1_000 || chance % 16 < 8 {
                want[level].push_back(bench.join_at(level as u8, 0, 0));
            } else if let Some(slot) = pick(&mut want[level], chance) {
                if level == 0 && chance % 3 == 0 {
                    bench.promote(slot, now);
                    want[1].push_back(slot);
                } else {
                    bench.leave(slot);
                }
            }
        }
        for (level, want) in want.iter().enumerate() {
            check(&bench, level as u8, want);
        }
    }

    /// Takes the first, the last or one between.
    fn pick(lane: &mut VecDeque<u32>, chance: u64) -> Option<u32> {
        match chance >> 32 & 3 {
            0 => lane.pop_back(),
            1 => lane.remove((chance >> 40) as usize % lane.len().max(1)),
            _ => lane.pop_front(),
        }
    }

    fn check(bench: &Bench, level: u8, want: &VecDeque<u32>) {
        let mut slot = bench.lanes.head(level, 0);
        for &wanted in want {
            assert_eq!(slot, wanted, "level {level} is in the order of joining");
            slot = bench.jobs[slot].next;
        }
        assert_eq!(slot, NONE, "level {level} ends with the last that joined");
        assert_eq!(bench.lanes.lane_len(level.into(), 0), want.len() as u32, "length of level {level}");
        assert_eq!(bench.lanes.tail(level, 0), want.back().copied().unwrap_or(NONE), "tail of level {level}");
    }
}
