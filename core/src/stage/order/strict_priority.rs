//! Strict priority: "a free worker always takes from the highest non-empty queue" (paper S, 1.1).

use super::{Discipline, Waiting, oldest};
use crate::jobs::NONE;
use crate::time::Instant;

/// The oldest job of the most urgent level.
#[derive(Clone, Copy, Debug)]
pub struct StrictPriority;

impl Discipline for StrictPriority {
    #[inline]
    fn next(&mut self, _now: Instant, waiting: Waiting<'_>) -> Option<u32> {
        let mut levels = waiting.lanes.levels();
        while levels != 0 {
            let level = (15 - levels.leading_zeros()) as u8;
            let slot = oldest(waiting, level);
            if slot != NONE {
                return Some(slot);
            }
            levels &= !(1 << level);
        }
        None
    }
}
