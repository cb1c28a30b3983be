//! A simulated server: so many slots, and a line inside it for what it was sent beyond them.

use super::Request;
use super::census::Census;
use crate::scenario::ServerSpec;
use crate::time::{Duration, Instant};
use alloc::collections::VecDeque;

/// A server at work.
#[derive(Clone, Debug)]
pub(crate) struct SimServer {
    slots: u32,
    /// Slots in use.
    busy: Census,
    speed: f64,
    /// Jobs sent beyond the slots, first come first served: their slots in the gateway's table.
    line: VecDeque<u32>,
}

impl SimServer {
    /// An idle one, whose use is measured from `measure_from` on.
    pub(crate) fn new(spec: &ServerSpec, measure_from: Instant) -> Self {
        Self { slots: spec.slots, busy: Census::from(measure_from), speed: spec.speed, line: VecDeque::new() }
    }

    pub(crate) const fn slots(&self) -> u32 {
        self.slots
    }

    /// Time that slots were in use, added up over them, in nanoseconds.
    pub(crate) fn busy_ns(&self, now: Instant) -> u128 {
        self.busy.integral_ns(now)
    }

    /// Work begun from now on goes at this speed.
    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.speed = speed;
    }

    /// How long a piece of work takes here.
    #[inline]
    pub(crate) fn time_for(&self, work: Duration) -> Duration {
        if self.speed == 1.0 {
            return work;
        }
        Duration::from_nanos((work.as_nanos() as f64 / self.speed + 0.5) as u64)
    }

    /// Takes a job; `true` if work on it begins at once.
    #[inline]
    pub(crate) fn accept(&mut self, slot: u32, now: Instant) -> bool {
        if self.busy.here() < self.slots {
            self.busy.come(now);
            return true;
        }
        self.line.push_back(slot);
        false
    }

    /// Ends work on one job: the one that begins in its place, if any waits.
    #[inline]
    pub(crate) fn finish(&mut self, now: Instant) -> Option<u32> {
        let next = self.line.pop_front();
        if next.is_none() {
            self.busy.leave(now);
        }
        next
    }

    /// Drops everything it has.
    pub(crate) fn fail(&mut self, now: Instant) {
        self.busy.leave_all(now);
        self.line.clear();
    }
}

/// Whether a request is at the server `at`.
pub(crate) fn is_at(request: &Request, at: u16) -> bool {
    request.server == Some(at)
}
