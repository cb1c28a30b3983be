//! Who of those waiting is served next: the dequeue disciplines, as one closed list.
//!
//! Each looks only at the heads of the lanes, so its cost does not grow with the queue. To add one: an arm
//! here (a file of its own once it keeps state) and an arm of `OrderV1`.

use super::{ClassSet, Lanes};
use crate::jobs::{Jobs, NONE};
use crate::scenario::v1::OrderV1;

/// A dequeue discipline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// The oldest of the most urgent level (paper S, 1.1: "the highest non-empty queue").
    StrictPriority,
    /// The oldest of all.
    Fifo,
}

impl Order {
    /// The discipline a scenario asks for.
    #[must_use]
    pub const fn new(wire: OrderV1) -> Self {
        match wire {
            OrderV1::StrictPriority => Self::StrictPriority,
            OrderV1::Fifo => Self::Fifo,
        }
    }

    /// The job to serve next among classes that have a worker free.
    #[inline]
    pub(crate) fn next(self, lanes: &Lanes, jobs: &Jobs, free: ClassSet) -> Option<u32> {
        match self {
            Self::StrictPriority => {
                let mut levels = lanes.levels();
                while levels != 0 {
                    let level = (15 - levels.leading_zeros()) as u8;
                    let slot = oldest(lanes, jobs, level, lanes.classes_in(level) & free);
                    if slot != NONE {
                        return Some(slot);
                    }
                    levels &= !(1 << level);
                }
                None
            }
            Self::Fifo => bits(lanes.levels())
                .map(|level| oldest(lanes, jobs, level, lanes.classes_in(level) & free))
                .filter(|&slot| slot != NONE)
                .min_by_key(|&slot| jobs[slot].ticket),
        }
    }
}

/// The oldest job of some classes in one level; [`NONE`] if none of them waits there.
#[inline]
fn oldest(lanes: &Lanes, jobs: &Jobs, level: u8, classes: ClassSet) -> u32 {
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
