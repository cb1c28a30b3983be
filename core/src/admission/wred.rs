//! A RED curve for each level: weighted RED, and RIO (Clark and Fang 1998).
//!
//! The curves may look at one average over everybody who waits (WRED), at coupled ones over a level and all above it
//! (RIO, "in" packets above "out" packets), or at one for each level alone. Each arrival is an independent coin, as in
//! RIO. The curves are the operator's: nothing here keeps the levels in order.

use super::average::Averages;
use super::ramp::Ramp;
use super::spacing::Spacing;
use super::{Found, Gauge, Queue, QueueControl, Verdict};
use crate::frame::Cause;
use crate::scenario::v1::{CountV1, CurveV1, SpacingV1};
use crate::time::Instant;
use crate::unit::Draw;
use alloc::vec::Vec;

/// RED with a curve for each level.
#[derive(Clone, Debug)]
pub struct Wred {
    /// Curve and height, by level.
    curves: Vec<(Ramp, f64)>,
    averages: Averages,
    limit: u32,
}

impl Wred {
    /// For so many levels, the last curve standing for all above it; at most `limit` jobs wait.
    ///
    /// # Panics
    /// Without a curve; a checked scenario has one at least.
    pub(super) fn new(levels: usize, curves: &[CurveV1], weight: f64, count: CountV1, limit: u32) -> Self {
        let last = curves.last().expect("a checked scenario has a curve");
        let of = |level| curves.get(level).unwrap_or(last);
        let ramp = |curve: &CurveV1| (Ramp::new(curve.min, curve.max, false), curve.max_p);
        Self {
            curves: (0..levels).map(|level| ramp(of(level))).collect(),
            averages: Averages::new(levels, weight, count),
            limit,
        }
    }
}

impl QueueControl for Wred {
    #[inline]
    fn on_arrival(&mut self, now: Instant, found: Found<'_>, draw: Draw) -> Verdict {
        self.averages.on_arrival(now, found.queue, None);
        if found.would_wait && found.queue.len >= self.limit {
            return Verdict::Shed(Cause::Full);
        }
        let level = found.judged_at;
        let (ramp, max_p) = self.curves[usize::from(level)];
        let (average, waiting) = (self.averages.get(level), self.averages.length(level));
        Spacing::new(SpacingV1::Bernoulli).judge(&ramp, max_p, average, waiting, draw)
    }

    #[inline]
    fn on_departure(&mut self, now: Instant, level: u8, queue: Queue<'_>) {
        self.averages.on_departure(now, level, queue, |_| false);
    }

    fn limit(&self) -> u32 {
        self.limit
    }

    fn gauge(&self, now: Instant, level: u8) -> Option<Gauge> {
        let (ramp, max_p) = self.curves[usize::from(level)];
        let few = self.averages.length(level) <= 1;
        Some(ramp.gauge(self.averages.read(now, level), max_p, few))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::ClassId;
    use crate::time::Duration;

    /// Chances shown for each level after an arrival at `level` that finds 4, 3 and 2 waiting: curves 2 to 10,
    /// height 0.8, for level 0 and 4 to 12, height 0.4, for the levels above.
    #[track_caller]
    fn check(count: CountV1, want: [f64; 3]) {
        let curves =
            [CurveV1 { min: 2.0, max: 10.0, max_p: 0.8 }, CurveV1 { min: 4.0, max: 12.0, max_p: 0.4 }];
        let chances = [0, 1, 2].map(|level| {
            let mut wred = Wred::new(3, &curves, 1.0, count, 100);
            let _ = arrive(&mut wred, [4, 3, 2], level);
            wred.gauge(Instant::START, level).unwrap().drop_p
        });
        let off: f64 = chances.iter().zip(want).map(|(got, want)| (got - want).abs()).sum();
        assert!(off < 1e-12, "{count:?}: {chances:?}, want {want:?}");
    }

    fn arrive(wred: &mut Wred, waiting: [u32; 3], level: u8) -> Verdict {
        let len = waiting.iter().sum();
        let queue = Queue { waiting: &waiting, work_ns: &[0; 3], len, gap: Duration::ZERO };
        let found = Found { class: ClassId(0), level, judged_at: level, would_wait: true, queue };
        wred.on_arrival(Instant::START, found, Draw::from_bits(0))
    }

    #[test]
    fn each_level_has_its_curve_and_its_length() {
        check(CountV1::All, [0.7, 0.25, 0.25]);
        check(CountV1::Above, [0.7, 0.05, 0.0]);
        check(CountV1::Level, [0.2, 0.0, 0.0]);
    }

    #[test]
    fn the_limit_counts_everybody_and_comes_first() {
        let curves = [CurveV1 { min: 2.0, max: 10.0, max_p: 0.8 }];
        let mut wred = Wred::new(3, &curves, 1.0, CountV1::Level, 20);
        assert_eq!(arrive(&mut wred, [0, 20, 0], 2), Verdict::Shed(Cause::Full));
        assert_eq!(arrive(&mut wred, [0, 19, 0], 2), Verdict::Admit, "nobody waits at the level");
        assert_eq!(arrive(&mut wred, [0, 19, 0], 1), Verdict::Shed(Cause::Forced));
    }
}
