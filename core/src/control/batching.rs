//! Batching: the smallest batch that keeps the throughput (SEDA's batching controller).
//!
//! Large batches spare overhead, small ones keep the response short. Batches shrink step by step while the
//! throughput holds, grow while it is clearly below the best seen, and go back to the largest after a sudden change,
//! with the throughput found then as the best (paper S, 1.5).
//!
//! Two faults of the published code are not kept: it computes in whole numbers, so that a batch of 4 times 1.2 stays
//! 4 for ever; and after the load has fallen to less than a fifth it holds on to a best that will not come again.
//! One is inherent: throughput that falls with the arrivals looks like throughput lost to batches too small.

use super::BatchControl;
use crate::time::{Duration, Instant};

/// The size changes at every so many samples.
const ACT_EVERY: u32 = 5;
/// Part of the smoothed throughput that stays at each sample.
const KEPT: f64 = 0.7;
/// Factor of each change of the size.
const STEP: f64 = 1.2;
/// At this part of the best throughput and below, batches have become too small.
const LOW: f64 = 0.90;
/// At this part of the best throughput and above, they are large enough again.
const HIGH: f64 = 0.98;
/// Below this part of the best, throughput has changed for other reasons.
const VERY_LOW: f64 = 0.2;
/// At this multiple of the best and above, too.
const VERY_HIGH: f64 = 2.0;

/// A batch size that follows the throughput.
#[derive(Clone, Copy, Debug)]
pub struct BatchSize {
    // Invariant: 1 <= min <= size <= max.
    min: f64,
    max: f64,
    size: f64,
    period: Duration,
    growing: bool,
    samples: u32,
    sampled: Instant,
    /// Smoothed and best throughput, in 1/s.
    throughput: Option<f64>,
    best: f64,
}

impl BatchSize {
    /// Batches from `min` to `max` jobs, the largest to begin with; throughput is sampled each `period`.
    #[must_use]
    pub fn new(min: u32, max: u32, period: Duration) -> Self {
        let min = f64::from(min.max(1));
        let max = f64::from(max).max(min);
        Self {
            min,
            max,
            size: max,
            period,
            growing: false,
            samples: 0,
            sampled: Instant::START,
            throughput: None,
            best: 0.0,
        }
    }

    /// The first stretch of throughput begins at `now`.
    pub(super) const fn begin_at(&mut self, now: Instant) {
        self.sampled = now;
    }

    fn act(&mut self, throughput: f64) {
        if throughput < VERY_LOW * self.best || throughput >= VERY_HIGH * self.best {
            self.size = self.max;
            self.growing = false;
            self.best = throughput;
            return;
        }
        self.best = self.best.max(throughput);
        self.growing =
            if self.growing { throughput < HIGH * self.best } else { throughput <= LOW * self.best };
        let size = if self.growing { self.size * STEP } else { self.size / STEP };
        if size > self.max && self.growing {
            // The largest batch does no better: that is what there is to be had.
            self.growing = false;
            self.best = throughput;
        }
        self.size = size.clamp(self.min, self.max);
    }
}

impl BatchControl for BatchSize {
    fn period(&self) -> Duration {
        self.period
    }

    fn size(&self) -> u32 {
        (self.size + 0.5) as u32
    }

    fn on_sample(&mut self, now: Instant, completed: u32) -> u32 {
        let elapsed = now.since(self.sampled).as_secs_f64();
        if elapsed > 0.0 {
            self.sampled = now;
            let latest = f64::from(completed) / elapsed;
            let smoothed = self.throughput.map_or(latest, |before| KEPT * before + (1.0 - KEPT) * latest);
            self.throughput = Some(smoothed);
            self.samples += 1;
            if self.samples >= ACT_EVERY {
                self.samples = 0;
                self.act(smoothed);
            }
        }
        self.size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;
    use alloc::vec::Vec;

    fn second(second: u64) -> Instant {
        Instant::START + Duration::from_secs(second)
    }

    fn batch() -> BatchSize {
        BatchSize::new(2, 1_000, Duration::from_secs(1))
    }

    /// Acts on throughputs one after another; the sizes after each.
    #[track_caller]
    fn check(batch: &mut BatchSize, throughputs: &[f64], want: &[u32]) {
        let got: Vec<u32> = throughputs
            .iter()
            .map(|&throughput| {
                batch.act(throughput);
                batch.size()
            })
            .collect();
        assert_eq!(got, want, "sizes after throughputs of {throughputs:?}");
    }

    #[test]
    fn it_acts_on_the_smoothed_throughput_of_each_fifth_sample() {
        let mut batch = batch();
        for n in 1..=4 {
            assert_eq!(batch.on_sample(second(n), 100), 1_000, "sample {n} only measures");
        }
        assert_eq!(batch.on_sample(second(5), 200), 1_000, "the first action finds the best");
        assert!((batch.best - 130.0).abs() < 1e-9, "0.7 of 100 and 0.3 of 200, not {}", batch.best);
        for n in 6..=9 {
            batch.on_sample(second(n), 130);
        }
        assert_eq!(batch.on_sample(second(10), 130), 833, "the second shrinks the batch by 1.2");
    }

    #[test]
    fn it_shrinks_while_the_throughput_holds_and_grows_when_it_drops() {
        // 1000, 833.3, 694.4, 578.7; low: 694.4, 833.3 (still below 98 %); high: 694.4.
        check(
            &mut batch(),
            &[100.0, 100.0, 101.0, 95.0, 90.0, 95.0, 99.0],
            &[1_000, 833, 694, 579, 694, 833, 694],
        );
    }

    #[test]
    fn it_ends_at_the_smallest_if_batches_do_not_matter() {
        let mut batch = batch();
        (0..60).for_each(|_| batch.act(100.0));
        assert_eq!(batch.size(), 2, "after a minute of actions at an unchanged throughput");
        // And gets away from there again.
        batch.act(80.0);
        batch.act(80.0);
        batch.act(80.0);
        assert_eq!(batch.size(), 3, "2 times 1.2 to the third");
    }

    #[test]
    fn a_sudden_change_resets_it_to_the_largest_with_a_new_best() {
        let mut batch = batch();
        check(&mut batch, &[100.0, 100.0, 19.9, 19.9], &[1_000, 833, 1_000, 833]);
        check(&mut batch, &[39.8, 39.8], &[1_000, 833]);
    }

    #[test]
    fn the_largest_batch_that_does_no_better_becomes_the_measure() {
        let mut batch = batch();
        check(&mut batch, &[100.0, 100.0, 80.0, 80.0, 80.0], &[1_000, 833, 1_000, 1_000, 833]);
        assert_eq!(batch.best, 80.0, "100 a second is not to be had any more");
    }

    #[test]
    fn it_finds_the_smallest_batch_that_keeps_the_throughput() {
        // A batch costs 10 ms and a job 1 ms: k jobs take 10 + k ms.
        let mut batch = batch();
        let mut sizes = Vec::new();
        for n in 1..=2_000 {
            let size = f64::from(batch.size());
            let completed = 1_000.0 * size / (10.0 + size);
            sizes.push(batch.on_sample(second(n), completed as u32));
        }
        // The largest do 990 a second. Below 82 it is less than 90 % of that, from 328 on more than 98 %; a step and
        // the lag of the smoothed throughput come on top.
        let (low, high) = (sizes[1_000..].iter().min().unwrap(), sizes[1_000..].iter().max().unwrap());
        assert!(*low >= 82 * 10 / 12 && *high <= 328 * 12 / 10 * 12 / 10, "sizes from {low} to {high}");
    }

    #[test]
    fn nothing_takes_it_beyond_its_bounds() {
        let mut batch = BatchSize::new(3, 40, Duration::from_secs(1));
        let mut now = Instant::START;
        for n in 0..20_000 {
            now += Duration::from_millis(mix(n) % 2_000);
            let completed = [0, 1, 50, 10_000, u32::MAX][(mix(n + 1) % 5) as usize];
            let size = batch.on_sample(now, completed);
            assert!((3..=40).contains(&size), "a batch of {size} after sample {n}");
            assert!(batch.throughput.is_none_or(f64::is_finite), "throughput {:?}", batch.throughput);
        }
    }
}
