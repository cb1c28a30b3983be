//! A queue filled by hand, for the tests of dequeue disciplines and ageing.

use super::order::{Discipline, Waiting};
use super::{ClassSet, Lanes};
use crate::id::{ClassId, StageId};
use crate::jobs::{Job, Jobs, NONE, Place};
use crate::time::{Duration, Instant};
use crate::unit::{Chance, DelayWeight, mix};
use alloc::vec::Vec;

/// Lanes and the jobs in them. Times are in milliseconds.
pub(super) struct Bench {
    pub(super) lanes: Lanes,
    pub(super) jobs: Jobs,
    /// Classes that have a worker free; all at first.
    pub(super) free: ClassSet,
    tickets: u64,
}

impl Bench {
    pub(super) fn new(levels: usize, classes: usize) -> Self {
        Self { lanes: Lanes::new(levels, classes), jobs: Jobs::default(), free: ClassSet::MAX, tickets: 0 }
    }

    pub(super) fn waiting(&self) -> Waiting<'_> {
        Waiting { lanes: &self.lanes, jobs: &self.jobs, free: self.free }
    }

    /// A job without deadline joins; its slot.
    pub(super) fn join_at(&mut self, level: u8, class: u8, ms: u64) -> u32 {
        self.join_costing(level, class, ms, 0)
    }

    /// The same with an expected cost in nanoseconds of the whole stage.
    pub(super) fn join_costing(&mut self, level: u8, class: u8, ms: u64, cost_ns: u64) -> u32 {
        let ticket = self.ticket();
        let slot = self.jobs.insert(Job { ticket, cost_ns, ..job(ClassId(class), at(ms)) }).slot;
        self.lanes.push(&mut self.jobs, slot, level);
        slot
    }

    /// The job that `order` names.
    pub(super) fn next_at(&self, order: &mut impl Discipline, ms: u64) -> Option<u32> {
        order.next(at(ms), self.waiting())
    }

    /// Serves the job that `order` names. Its entry in the table stays readable until the next one joins.
    pub(super) fn take_at(&mut self, order: &mut impl Discipline, ms: u64) -> Option<u32> {
        let slot = self.next_at(order, ms)?;
        order.on_taken(at(ms), &self.jobs[slot]);
        self.leave(slot);
        Some(slot)
    }

    /// The class of the job served then.
    pub(super) fn take_class_at(&mut self, order: &mut impl Discipline, ms: u64) -> Option<u8> {
        self.take_at(order, ms).map(|slot| self.jobs[slot].class.0)
    }

    /// A job leaves the queue and the table.
    pub(super) fn leave(&mut self, slot: u32) {
        self.lanes.remove(&mut self.jobs, slot);
        self.jobs.remove(slot);
    }

    /// Moves a job to the tail of the next level, as a stage does for ageing.
    pub(super) fn promote(&mut self, slot: u32, now: Instant) {
        self.lanes.remove(&mut self.jobs, slot);
        self.jobs[slot].ticket = self.ticket();
        self.jobs[slot].since = now;
        let level = self.jobs[slot].level + 1;
        self.lanes.push(&mut self.jobs, slot, level);
    }

    fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }
}

/// Mean waits in ms of two classes served one job a millisecond. Each class brings five jobs at once with a chance of
/// .08 a millisecond: 80 % of the time is used.
pub(super) fn mean_waits(order: &mut impl Discipline, ms: u64) -> [f64; 2] {
    let mut bench = Bench::new(1, 2);
    let (mut waits, mut served) = ([0.0; 2], [0.0; 2]);
    for now in 0..ms {
        for class in 0..2u8 {
            let joins = mix(2 * now + u64::from(class)) % 100 < 8;
            for _ in 0..if joins { 5 } else { 0 } {
                bench.join_at(0, class, now);
            }
        }
        if let Some(slot) = bench.take_at(order, now) {
            let Job { class, queued, .. } = bench.jobs[slot];
            waits[usize::from(class.0)] += at(now).since(queued).as_secs_f64() * 1e3;
            served[usize::from(class.0)] += 1.0;
        }
    }
    [waits[0] / served[0], waits[1] / served[1]]
}

/// So many milliseconds after the start.
pub(super) fn at(ms: u64) -> Instant {
    Instant::START + Duration::from_millis(ms)
}

/// One delay weight a class.
pub(super) fn weights(weights: &[f64]) -> Vec<DelayWeight> {
    weights.iter().map(|&weight| DelayWeight::new(weight).unwrap()).collect()
}

fn job(class: ClassId, now: Instant) -> Job {
    Job {
        generation: 0,
        place: Place::Gone,
        class,
        stage: StageId(0),
        level: 0,
        judged_at: 0,
        correction: 0,
        server: None,
        gateway: 0,
        key: 0,
        arrived: now,
        queued: now,
        since: now,
        waited: Duration::ZERO,
        deadline: Instant::NEVER,
        chance: Chance(0),
        size: 0,
        cost_ns: 0,
        batch: 0,
        worked: Duration::ZERO,
        ticket: 0,
        next: NONE,
        prev: NONE,
        ahead: NONE,
    }
}
