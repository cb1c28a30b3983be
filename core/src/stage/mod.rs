//! One stage: a queue with a lane per priority level, in front of a pool of workers.
//!
//! A stage decides who waits and who is next; what a worker does with a job is the driver's business.

mod lanes;
mod order;
mod slots;

pub use order::Order;
pub use slots::Slots;

pub(crate) use lanes::Lanes;

use crate::admission::{Control, Found, QueueControl, Verdict};
use crate::id::ClassId;
use crate::jobs::{Jobs, Place};
use crate::scenario::{Class, StageSpec};
use crate::time::{Duration, Instant};
use crate::unit::Draw;
use alloc::vec::Vec;

/// Classes as a set of bits; a scenario has at most 16.
pub(crate) type ClassSet = u16;

/// Counts of one class at one stage, since the run began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub started: u64,
    pub shed: u64,
    /// Sum of the waits of started jobs.
    pub wait_ns: u128,
}

/// A stage at work.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub lanes: Lanes,
    pub slots: Slots,
    pub control: Control,
    order: Order,
    /// The level each class waits in.
    level_of: Vec<u8>,
    pub counts: Vec<Counts>,
    /// Whether its workers hand jobs to servers.
    pub serving: bool,
}

impl Stage {
    pub(crate) fn new(spec: &StageSpec, classes: &[Class]) -> Self {
        let top = spec.levels - 1;
        Self {
            lanes: Lanes::new(usize::from(spec.levels), classes.len()),
            slots: Slots::new(spec.workers, spec.split.as_deref(), classes.len()),
            control: Control::new(&spec.queue),
            order: Order::new(spec.order),
            level_of: classes.iter().map(|class| class.priority.0.min(top)).collect(),
            counts: classes.iter().map(|_| Counts::default()).collect(),
            serving: spec.service.is_none(),
        }
    }

    /// Judges a job that would join the queue now.
    #[inline]
    pub(crate) fn judge(&mut self, now: Instant, class: ClassId, can_start: bool, draw: Draw) -> Verdict {
        let level = self.level_of[usize::from(class.0)];
        let found = Found {
            class,
            level,
            level_len: self.lanes.level_len(level),
            stage_len: self.lanes.len(),
            would_wait: !(can_start && self.slots.has_free(class)),
        };
        let verdict = self.control.on_arrival(now, found, draw);
        if let Verdict::Shed(_) = verdict {
            self.counts[usize::from(class.0)].shed += 1;
        }
        verdict
    }

    /// Puts an admitted job at the tail of its lane.
    #[inline]
    pub(crate) fn join(&mut self, jobs: &mut Jobs, slot: u32) {
        let level = self.level_of[usize::from(jobs[slot].class.0)];
        self.lanes.push(jobs, slot, level);
    }

    /// Takes the next job for which a worker is free and puts it on that worker: its slot and its wait here.
    #[inline]
    pub(crate) fn take(&mut self, jobs: &mut Jobs, now: Instant) -> Option<(u32, Duration)> {
        let free = self.slots.free();
        if free == 0 || self.lanes.len() == 0 {
            return None;
        }
        let slot = self.order.next(&self.lanes, jobs, free)?;
        self.leave(jobs, slot, now);
        let job = &mut jobs[slot];
        let wait = now.since(job.queued);
        job.place = Place::Working;
        job.waited += wait;
        let class = job.class;
        self.slots.occupy(class);
        let counts = &mut self.counts[usize::from(class.0)];
        counts.started += 1;
        counts.wait_ns += u128::from(wait.as_nanos());
        Some((slot, wait))
    }

    /// Takes a job out of the queue, wherever it stands.
    #[inline]
    pub(crate) fn leave(&mut self, jobs: &mut Jobs, slot: u32, now: Instant) {
        let level = jobs[slot].level;
        self.lanes.remove(jobs, slot);
        self.control.on_departure(now, level, self.lanes.level_len(level), self.lanes.len());
    }

    /// How long the oldest waiting job of a class has waited here.
    pub(crate) fn oldest_wait(&self, jobs: &Jobs, class: ClassId, now: Instant) -> Duration {
        self.lanes.heads_of(class).map(|slot| now.since(jobs[slot].queued)).max().unwrap_or_default()
    }
}
