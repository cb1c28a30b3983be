//! Tail drop: a queue holds so many and not one more.
//!
//! The default counts each priority level by itself. One limit over all levels lets a flood of the least
//! urgent fill the queue and turn the most urgent away at the door; it is offered because stock servers
//! behave so (paper S, 1.1) and the comparison is worth seeing.

use super::{Found, QueueControl, Verdict};
use crate::frame::Cause;
use crate::scenario::v1::PerV1;
use crate::time::Instant;
use crate::unit::Draw;

/// A limit on the number of jobs waiting.
#[derive(Clone, Copy, Debug)]
pub struct TailDrop {
    limit: u32,
    per: PerV1,
}

impl TailDrop {
    /// At most `limit` jobs wait, in each level or in all of them together.
    #[must_use]
    pub const fn new(limit: u32, per: PerV1) -> Self {
        Self { limit, per }
    }
}

impl TailDrop {
    /// Judges an arrival by what it finds, which is all that counts.
    #[inline]
    pub(crate) fn judge(&self, found: &Found<'_>) -> Verdict {
        let waiting = match self.per {
            PerV1::Level => found.queue.waiting[usize::from(found.level)],
            PerV1::Stage => found.queue.len,
        };
        if found.would_wait && waiting >= self.limit { Verdict::Shed(Cause::Full) } else { Verdict::Admit }
    }
}

impl QueueControl for TailDrop {
    #[inline]
    fn on_arrival(&mut self, _now: Instant, found: Found<'_>, _draw: Draw) -> Verdict {
        self.judge(&found)
    }

    fn limit(&self) -> u32 {
        self.limit
    }
}

#[cfg(test)]
mod tests {
    use super::super::Queue;
    use super::*;
    use crate::id::ClassId;
    use crate::time::Duration;

    #[track_caller]
    fn check(per: PerV1, level_len: u32, stage_len: u32, would_wait: bool, want: Verdict) {
        let queue = Queue { waiting: &[level_len], work_ns: &[0], len: stage_len, gap: Duration::ZERO };
        let found = Found { class: ClassId(0), level: 0, judged_at: 0, would_wait, queue };
        let got = TailDrop::new(10, per).on_arrival(Instant::START, found, Draw::from_bits(0));
        assert_eq!(got, want, "limit 10 per {per:?}, {level_len} in the level, {stage_len} in all");
    }

    #[test]
    fn the_limit_counts_the_level_or_the_stage() {
        check(PerV1::Level, 9, 99, true, Verdict::Admit);
        check(PerV1::Level, 10, 10, true, Verdict::Shed(Cause::Full));
        check(PerV1::Stage, 0, 10, true, Verdict::Shed(Cause::Full));
        check(PerV1::Stage, 9, 9, true, Verdict::Admit);
    }

    #[test]
    fn a_job_that_need_not_wait_is_never_too_many() {
        check(PerV1::Level, 10, 10, false, Verdict::Admit);
    }
}
