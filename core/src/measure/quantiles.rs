//! Intervals for quantiles of one run.
//!
//! A quantile is where a given share of the durations lies below. How well a run knows that share is a question about
//! a mean, the mean of "it was below", and means of correlated sequences are what batches are for. So: take
//! the run's quantile, see how the share below it varies from batch to batch, and read the run's histogram at both
//! ends of the share's interval (Woodruff 1952, with batches for independent samples). Quantiles batch by
//! batch were not taken: with 200 samples in a batch its 99 % quantile is biased, and the bias does not average out.

use super::batch::{FEWEST, MOST, RunLonger, trusted};
use super::histogram::{Histogram, at_most, bucket_of};
use super::summary::Interval;
use alloc::vec::Vec;

/// Coarser than [`Histogram`], as there are forty of them: 1/16, placed evenly within. Only the differences
/// between batches matter, and all batches are cut alike.
const SUB_BITS: u32 = 4;

/// What each of 20 to 39 equal batches of durations looks like: enough for an interval of any quantile.
///
/// About 2 kB a batch for durations up to 10 s.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BatchQuantiles {
    // Batches of `1 << doublings` samples. Fewer than MOST of them.
    full: Vec<Vec<u32>>,
    open: Vec<u32>,
    taken: u64,
    doublings: u32,
}

impl BatchQuantiles {
    /// Nothing seen yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { full: Vec::new(), open: Vec::new(), taken: 0, doublings: 0 }
    }

    /// Takes the next duration, in nanoseconds.
    #[inline]
    pub fn push(&mut self, ns: u64) {
        let bucket = bucket_of::<SUB_BITS>(ns);
        if let Some(count) = self.open.get_mut(bucket) {
            *count = count.saturating_add(1);
        } else {
            self.open.resize(bucket + 1, 0);
            self.open[bucket] = 1;
        }
        self.taken += 1;
        if self.taken == 1 << self.doublings {
            self.close();
        }
    }

    /// Ends a full batch; merges neighbours when there are enough.
    #[cold]
    #[inline(never)]
    fn close(&mut self) {
        self.taken = 0;
        self.full.push(core::mem::take(&mut self.open));
        if self.full.len() < MOST {
            return;
        }
        for i in 0..FEWEST {
            let (mut merged, other) =
                (core::mem::take(&mut self.full[2 * i]), core::mem::take(&mut self.full[2 * i + 1]));
            if merged.len() < other.len() {
                merged.resize(other.len(), 0);
            }
            merged.iter_mut().zip(&other).for_each(|(m, o)| *m = m.saturating_add(*o));
            self.full[i] = merged;
        }
        self.full.truncate(FEWEST);
        self.doublings += 1;
    }

    /// Samples seen.
    #[must_use]
    pub fn samples(&self) -> u64 {
        ((self.full.len() as u64) << self.doublings) + self.taken
    }

    /// Interval in nanoseconds that covers the `q` quantile with probability `confidence`. `all` is the histogram of the
    /// same durations; the interval's `mean` is its quantile.
    ///
    /// # Errors
    /// [`RunLonger`] as for [`BatchMeans`](super::BatchMeans::interval), or if too few durations lie beyond the
    /// quantile for the interval to have an upper end.
    pub fn interval(&self, q: f64, confidence: f64, all: &Histogram) -> Result<Interval, RunLonger> {
        let samples = self.samples();
        let at = all.quantile(q).unwrap_or(0);
        let size = 1u64 << self.doublings;
        let shares = self.full.iter().map(|counts| at_most::<SUB_BITS, u32>(counts, at) / size as f64);
        let half = trusted(samples, size, shares)?.half_width(confidence);
        // One a batch at least: a tail that most batches have nothing of cannot vary between them.
        if samples as f64 * (1.0 - q) < FEWEST as f64 || q + half >= 1.0 {
            return Err(RunLonger::Tail { samples });
        }
        let end = |q: f64| all.quantile(q).unwrap_or(0) as f64;
        // Interpolation within a bucket may put an end past the quantile when the interval is narrower than one.
        let mean = at as f64;
        Ok(Interval { mean, lo: end(f64::max(q - half, 0.0)).min(mean), hi: end(q + half).max(mean) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::batch::tests::mm1_waits;
    use super::*;
    use crate::unit::mix;
    use alloc::string::ToString;

    fn of(samples: impl IntoIterator<Item = u64>) -> (BatchQuantiles, Histogram) {
        let (mut batches, mut all) = (BatchQuantiles::new(), Histogram::new());
        for ns in samples {
            batches.push(ns);
            all.record(ns);
        }
        (batches, all)
    }

    #[test]
    fn no_sample_is_lost_in_merging() {
        let (batches, _) = of((0..100_000).map(|i| mix(i) >> 30));
        assert_eq!((batches.samples(), batches.full.len(), batches.doublings), (100_000, 24, 12));
        for batch in &batches.full {
            assert_eq!(batch.iter().sum::<u32>(), 4_096);
        }
    }

    /// 95 % intervals for quantiles of a correlated sequence must cover the known value about 95 times in 100.
    #[test]
    fn intervals_cover_the_known_quantiles_of_a_queue() {
        let rho: f64 = 0.6;
        for q in [0.5, 0.9, 0.95] {
            // P(wait > t) = rho exp(-(1 - rho) t), for unit service.
            let truth = f64::max(0.0, libm::log(rho / (1.0 - q)) / (1.0 - rho)) * 1e6;
            let (mut given, mut covered) = (0, 0);
            for seed in 0..40 {
                let (batches, all) = of(mm1_waits(rho, seed, 60_000));
                if let Ok(ci) = batches.interval(q, 0.95, &all) {
                    given += 1;
                    // The histogram itself is good to 1/64.
                    covered += i32::from(ci.lo * 0.99 <= truth && truth <= ci.hi * 1.01);
                    assert!(ci.relative_half_width() < 0.2, "q {q}, seed {seed}: {ci:?}");
                }
            }
            assert!(given >= 30, "q {q}: {given} of 40 runs gave an interval");
            let least = 0.95 * f64::from(given) - 4.0 * libm::sqrt(f64::from(given) * 0.0475);
            assert!(f64::from(covered) > least, "q {q}: {covered} of {given} intervals cover {truth}");
        }
    }

    #[test]
    fn a_short_run_or_a_thin_tail_is_refused() {
        let (short, all) = of(0..1_000);
        assert!(matches!(
            short.interval(0.5, 0.95, &all),
            Err(RunLonger::TooFew { samples: 1_000, needed: 5_120 })
        ));
        let (thin, all) = of((0..6_000).map(|i| mix(i) >> 30));
        let refusal = thin.interval(0.9999, 0.999, &all).unwrap_err();
        assert_eq!(refusal.to_string(), "run longer: too few requests lie beyond the quantile");
        assert_eq!(refusal.at_least_more(), 6_000);
        assert!(BatchQuantiles::new().interval(0.5, 0.95, &Histogram::new()).is_err());
    }

    #[test]
    fn equal_samples_give_a_point() {
        let (batches, all) = of([150_000_000; 10_000]);
        let ci = batches.interval(0.5, 0.99, &all).unwrap();
        assert_eq!((ci.lo, ci.mean, ci.hi), (1.5e8, 1.5e8, 1.5e8));
    }
}
