//! First in, first out: whoever joined the queue first, whatever its class and level.

use super::{Discipline, Waiting};
use crate::time::Instant;

/// The oldest job of all.
#[derive(Clone, Copy, Debug)]
pub struct Fifo;

impl Discipline for Fifo {
    #[inline]
    fn next(&mut self, _now: Instant, waiting: Waiting<'_>) -> Option<u32> {
        waiting.heads().min_by_key(|(_, job)| job.ticket).map(|(slot, _)| slot)
    }
}
