//! Who of those waiting is served next: one dequeue discipline a file, and [`Order`], the closed list of them.
//!
//! Each looks only at the ends of the lanes, so its cost does not grow with the queue. To add one: a file with
//! a type that implements [`Discipline`], an arm in [`Order`], and an arm of `OrderV1` that makes it.

mod adaptive_lifo;
mod delays;
mod earliest_deadline;
mod fifo;
mod hpd;
mod pad;
mod strict_priority;
mod weighted_fair;
mod wtp;

pub(super) use adaptive_lifo::AdaptiveLifo;
pub(super) use earliest_deadline::EarliestDeadline;
pub(super) use fifo::Fifo;
pub(super) use hpd::Hpd;
pub(super) use pad::Pad;
pub(super) use strict_priority::StrictPriority;
pub(super) use weighted_fair::WeightedFair;
pub(super) use wtp::Wtp;

use super::{ClassSet, Lanes};
use crate::jobs::{Job, Jobs, NONE};
use crate::scenario::Class;
use crate::scenario::v1::OrderV1;
use crate::time::Instant;
use crate::unit::DelayWeight;
use alloc::vec::Vec;

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
        self.ends(Lanes::head)
    }

    /// The tails of the same lanes, in the same order.
    pub(crate) fn tails(self) -> impl Iterator<Item = (u32, &'a Job)> {
        self.ends(Lanes::tail)
    }

    fn ends(self, end: fn(&Lanes, u8, u8) -> u32) -> impl Iterator<Item = (u32, &'a Job)> {
        bits(self.lanes.levels()).flat_map(move |level| {
            bits(self.lanes.classes_in(level) & self.free).map(move |class| {
                let slot = end(self.lanes, level, class);
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

/// Declares [`Order`] with one arm a type, and hands every call on to the type.
macro_rules! orders {
    ($($(#[$doc:meta])* $arm:ident,)*) => {
        /// The dequeue discipline of a stage.
        #[derive(Clone, Debug)]
        pub enum Order {
            $($(#[$doc])* $arm($arm),)*
        }

        impl Order {
            #[inline(never)]
            fn next_elsewhere(&mut self, now: Instant, waiting: Waiting<'_>) -> Option<u32> {
                match self { $(Self::$arm(order) => order.next(now, waiting),)* }
            }

            #[inline(never)]
            fn taken_elsewhere(&mut self, now: Instant, job: &Job) {
                match self { $(Self::$arm(order) => order.on_taken(now, job),)* }
            }
        }

        /// Strict priority, the usual one, is asked in the caller's loop, the others out of it.
        impl Discipline for Order {
            #[inline(always)]
            fn next(&mut self, now: Instant, waiting: Waiting<'_>) -> Option<u32> {
                if let Self::StrictPriority(order) = self {
                    return order.next(now, waiting);
                }
                self.next_elsewhere(now, waiting)
            }

            #[inline(always)]
            fn on_taken(&mut self, now: Instant, job: &Job) {
                if let Self::StrictPriority(_) = self {
                    return;
                }
                self.taken_elsewhere(now, job);
            }
        }
    };
}

orders! {
    /// The oldest of the most urgent level.
    StrictPriority,
    /// The oldest of all.
    Fifo,
    /// Each class in turn, by its share of the work.
    WeightedFair,
    /// The longest wait for its weight.
    Wtp,
    /// The class with the longest average delay for its weight.
    Pad,
    /// Most of the former and some of the latter.
    Hpd,
    /// The earliest deadline.
    EarliestDeadline,
    /// The oldest of all, or the newest while the queue does not empty.
    AdaptiveLifo,
}

impl Order {
    /// The discipline a scenario asks for.
    #[must_use]
    pub(crate) fn new(wire: OrderV1, classes: &[Class]) -> Self {
        let weights = || classes.iter().map(|class| class.delay_weight).collect::<Vec<DelayWeight>>();
        match wire {
            OrderV1::StrictPriority => Self::StrictPriority(StrictPriority),
            OrderV1::Fifo => Self::Fifo(Fifo),
            OrderV1::WeightedFair => {
                Self::WeightedFair(WeightedFair::new(classes.iter().map(|class| class.share).collect()))
            }
            OrderV1::Wtp => Self::Wtp(Wtp::new(weights())),
            OrderV1::Pad => Self::Pad(Pad::new(weights())),
            OrderV1::Hpd => Self::Hpd(Hpd::new(weights())),
            OrderV1::EarliestDeadline => Self::EarliestDeadline(EarliestDeadline),
            OrderV1::AdaptiveLifo => Self::AdaptiveLifo(AdaptiveLifo),
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

/// The job with the largest figure; of several, the one that came first.
fn largest<'a>(
    jobs: impl Iterator<Item = (u32, &'a Job)>,
    mut figure: impl FnMut(&Job) -> f64,
) -> Option<u32> {
    let mut best: Option<(f64, u64, u32)> = None;
    for (slot, job) in jobs {
        let this = figure(job);
        if best.is_none_or(|(most, ticket, _)| this > most || (this == most && job.ticket < ticket)) {
            best = Some((this, job.ticket, slot));
        }
    }
    best.map(|(.., slot)| slot)
}

/// What a job costs its stage, in nanoseconds of the whole stage; 1 if that is not known, so that jobs count alike.
#[inline]
pub(super) fn cost(job: &Job) -> f64 {
    job.cost_ns.max(1) as f64
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
