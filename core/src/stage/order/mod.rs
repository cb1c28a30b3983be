//! Who of those waiting is served next: one dequeue discipline a file, and [`Order`], the closed list of them.
//!
//! Each looks only at the ends of the lanes, so its cost does not grow with the queue. To add one: a file with
//! a type that implements [`Discipline`], an arm in [`Order`], and an arm of `OrderV1` that makes it.

mod fifo;
mod strict_priority;

pub use fifo::Fifo;
pub use strict_priority::StrictPriority;

use super::{ClassSet, Lanes};
use crate::jobs::{Job, Jobs, NONE};
use crate::scenario::Class;
use crate::scenario::v1::OrderV1;
use crate::time::Instant;

/// Who waits at a stage, and for which classes a worker is free.
#[derive(Clone, Copy)]
pub(crate) struct Waiting<'a> {
    pub lanes: &'a Lanes,
    pub jobs: &'a Jobs,
    pub free: ClassSet,
}

impl<'a> Waiting<'a> {
    /// The heads of all lanes whose class has a worker free, level by level from the lowest; within a level by
    /// class.
    pub(crate) fn heads(self) -> impl Iterator<Item = (u32, &'a Job)> {
        bits(self.lanes.levels()).flat_map(move |level| {
            bits(self.lanes.classes_in(level) & self.free).map(move |class| {
                let slot = self.lanes.head(level, class);
                (slot, &self.jobs[slot])
            })
        })
    }
}

/// Decides who of those waiting is served next.
pub(crate) trait Discipline {
    /// The job to serve next, of a class that has a worker free; `None` exactly if none of those waits. Which job
    /// it is may depend on what was taken before, but naming it changes nothing.
    fn next(&mut self, now: Instant, waiting: Waiting<'_>) -> Option<u32>;

    /// Notes that a job goes to a worker; `job.cost_ns` is its work in nanoseconds of the whole stage. It need not be
    /// the one that [`next`](Self::next) named: who is overdue by ageing is served out of turn.
    fn on_taken(&mut self, _now: Instant, _job: &Job) {}
}

/// The dequeue discipline of a stage.
#[derive(Clone, Debug)]
pub enum Order {
    /// The oldest of the most urgent level.
    StrictPriority(StrictPriority),
    /// The oldest of all.
    Fifo(Fifo),
}

impl Order {
    /// The discipline a scenario asks for.
    #[must_use]
    pub(crate) fn new(wire: OrderV1, _classes: &[Class]) -> Self {
        match wire {
            OrderV1::StrictPriority => Self::StrictPriority(StrictPriority),
            OrderV1::Fifo => Self::Fifo(Fifo),
            _ => unimplemented!("order"),
        }
    }
}

impl Discipline for Order {
    #[inline]
    fn next(&mut self, now: Instant, waiting: Waiting<'_>) -> Option<u32> {
        match self {
            Self::StrictPriority(order) => order.next(now, waiting),
            Self::Fifo(order) => order.next(now, waiting),
        }
    }

    #[inline]
    fn on_taken(&mut self, now: Instant, job: &Job) {
        match self {
            Self::StrictPriority(order) => order.on_taken(now, job),
            Self::Fifo(order) => order.on_taken(now, job),
        }
    }
}

/// The oldest job of some classes in one level; [`NONE`] if none of them waits there.
#[inline]
fn oldest(waiting: Waiting<'_>, level: u8) -> u32 {
    let Waiting { lanes, jobs, free } = waiting;
    let classes = lanes.classes_in(level) & free;
    if classes & classes.wrapping_sub(1) == 0 {
        // The usual case: one class a level, so there is nothing to compare.
        return if classes == 0 { NONE } else { lanes.head(level, classes.trailing_zeros() as u8) };
    }
    bits(classes).map(|class| lanes.head(level, class)).min_by_key(|&slot| jobs[slot].ticket).unwrap_or(NONE)
}

/// The numbers of the bits that are set, smallest first.
fn bits(mut set: u16) -> impl Iterator<Item = u8> {
    core::iter::from_fn(move || {
        (set != 0).then(|| {
            let bit = set.trailing_zeros() as u8;
            set &= set - 1;
            bit
        })
    })
}
