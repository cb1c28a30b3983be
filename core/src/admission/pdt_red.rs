//! PDT-RED: priority RED whose thresholds rise with the level and with the free room.
//!
//! Published for packets of two priorities, with thresholds that move by priority and free buffer (paper S, 1.3,
//! its reference 4). The exact law is not at hand; this is the simplest one that does what is said of it:
//! `th_i = th_0 + gain i free`. With much room high levels are hardly touched; in a full queue all have the same
//! curve, and are kept in order by their cumulative averages alone.

use super::average::Averages;
use super::ramp::Ramp;
use super::spacing::Spacing;
use super::{Found, Gauge, Queue, QueueControl, Verdict};
use crate::frame::Cause;
use crate::scenario::v1::{CountV1, SpacingV1};
use crate::time::Instant;
use crate::unit::Draw;

/// Priority RED with moving thresholds.
#[derive(Clone, Debug)]
pub struct PdtRed {
    /// The curve of level 0, and of every level in a full queue.
    ramp: Ramp,
    max_p: f64,
    averages: Averages,
    /// What a level adds to both thresholds, in jobs for each free place.
    gain: f64,
    limit: u32,
    /// Free places as last seen.
    free: u32,
}

impl PdtRed {
    /// For so many levels; at most `limit` jobs wait.
    pub(super) fn new(levels: usize, ramp: Ramp, max_p: f64, weight: f64, gain: f64, limit: u32) -> Self {
        Self {
            ramp,
            max_p,
            averages: Averages::new(levels, weight, CountV1::Above),
            gain,
            limit,
            free: limit,
        }
    }

    /// The curve of a level as things stand.
    fn ramp(&self, level: u8) -> Ramp {
        self.ramp.raised(self.gain * f64::from(level) * f64::from(self.free))
    }
}

impl QueueControl for PdtRed {
    #[inline]
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, draw: Draw) -> Verdict {
        self.averages.on_arrival(now, found.queue, None);
        self.free = self.limit.saturating_sub(found.queue.len);
        if found.would_wait && self.free == 0 {
            return Verdict::Shed(Cause::Full);
        }
        let level = found.judged_at;
        let (average, waiting) = (self.averages.get(level), self.averages.length(level));
        Spacing::new(SpacingV1::Bernoulli).judge(&self.ramp(level), self.max_p, average, waiting, draw)
    }

    #[inline]
    fn on_departure(&mut self, now: Instant, level: u8, queue: Queue<'_>) {
        self.averages.on_departure(now, level, queue, |_| false);
        self.free = self.limit.saturating_sub(queue.len);
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    fn gauge(&self, now: Instant, level: u8) -> Option<Gauge> {
        let few = self.averages.length(level) <= 1;
        Some(self.ramp(level).gauge(self.averages.read(now, level), self.max_p, few))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ClassId;
    use crate::time::Duration;

    /// What becomes of an arrival at `level` with these waiting: curve from 2 to 6, 0.5, 0.1 jobs a level and
    /// place, 20 places, averages that are lengths. And the thresholds then shown.
    #[track_caller]
    fn check(waiting: [u32; 3], level: u8, draw: Draw, want: Verdict, ends: (f64, f64)) {
        let mut control = PdtRed::new(3, Ramp::new(2.0, 6.0, false), 0.5, 1.0, 0.1, 20);
        let len = waiting.iter().sum();
        let queue = Queue { waiting: &waiting, work_ns: &[0; 3], len, gap: Duration::ZERO };
        let found = Found { class: ClassId(0), level, judged_at: level, would_wait: true, queue };
        let got = control.on_arrival(Instant::START, found, draw);
        assert_eq!(got, want, "level {level} with {waiting:?} waiting");
        let gauge = control.gauge(Instant::START, level).unwrap();
        let off = (gauge.min - ends.0).abs() + (gauge.max - ends.1).abs();
        assert!(off < 1e-12, "thresholds {} and {}, want {ends:?}", gauge.min, gauge.max);
    }

    #[test]
    fn free_room_raises_the_thresholds_of_the_higher_levels() {
        let (lowest, highest) = (Draw::from_bits(0), Draw::from_bits(u64::MAX));
        // Ten free places: a level adds 1.
        check([0, 0, 10], 0, highest, Verdict::Shed(Cause::Forced), (2.0, 6.0));
        check([4, 3, 3], 1, lowest, Verdict::Shed(Cause::Early), (3.0, 7.0));
        check([4, 3, 3], 2, lowest, Verdict::Admit, (4.0, 8.0));
        check([4, 1, 5], 2, lowest, Verdict::Shed(Cause::Early), (4.0, 8.0));
        // Two free places: 0.2.
        check([12, 3, 3], 2, lowest, Verdict::Shed(Cause::Early), (2.4, 6.4));
        check([20, 0, 0], 2, highest, Verdict::Shed(Cause::Full), (2.0, 6.0));
    }
}
