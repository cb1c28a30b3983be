//! The long-run mean of one run, with an interval that owns up to correlation.
//!
//! Waits of successive jobs resemble each other, so their plain variance promises far too narrow an
//! interval. Means of long batches are nearly independent. The batches here grow with the run: when 40 are
//! full, neighbours are merged into 20 of twice the length, so between 20 and 39 are there whatever the run's
//! length, in fixed memory and without knowing it beforehand (Schmeiser 1982: little is gained by more).
//! Replications were not taken for long runs: each would pay its own warm-up.

use super::student::student_t_quantile;
use super::summary::Interval;
use alloc::vec::Vec;
use core::fmt;

/// Batches at which neighbours are merged.
pub(super) const MOST: usize = 40;
/// Fewest batches an interval is built on, once the run is long enough.
pub(super) const FEWEST: usize = MOST / 2;
/// Fewest samples a batch for an interval to be given.
const SAMPLES_A_BATCH: u64 = 200;
/// Lag-1 autocorrelation of batch means above which no interval is given.
const MOST_CORRELATION: f64 = 0.2;

/// Mean of a sequence of durations in nanoseconds, in 20 to 39 equal batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchMeans {
    // Sums of the full batches, each over `size` samples. Fewer than MOST of them.
    full: Vec<u128>,
    size: u64,
    // The batch being filled: its sum, and the samples it still lacks. Invariant: 0 < lacking <= size.
    sum: u128,
    lacking: u64,
}

impl Default for BatchMeans {
    fn default() -> Self {
        Self::new()
    }
}

/// Why there is no interval yet; its text says what to do.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum RunLonger {
    /// Too few samples for 20 batches of 200.
    TooFew {
        /// Samples seen.
        samples: u64,
        /// Samples it takes at least.
        needed: u64,
    },
    /// The batches are so short that neighbours resemble each other.
    Correlated {
        /// Samples seen.
        samples: u64,
        /// Lag-1 autocorrelation of the batch means.
        lag1: f64,
    },
    /// Too few samples lie beyond a quantile for its interval to have an end.
    Tail {
        /// Samples seen.
        samples: u64,
    },
}

impl RunLonger {
    /// How many samples more to try; for correlated batches, or for a tail too thin, as many again as were seen.
    #[must_use]
    pub const fn at_least_more(&self) -> u64 {
        match *self {
            Self::TooFew { samples, needed } => needed.saturating_sub(samples),
            Self::Correlated { samples, .. } | Self::Tail { samples } => samples,
        }
    }
}

impl fmt::Display for RunLonger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFew { samples, needed } => {
                write!(f, "run longer: {samples} requests, an interval takes {needed}")
            }
            Self::Correlated { lag1, .. } => {
                write!(f, "run longer: batch means are correlated (lag 1: {lag1:.2}, at most 0.20)")
            }
            Self::Tail { .. } => f.write_str("run longer: too few requests lie beyond the quantile"),
        }
    }
}

impl core::error::Error for RunLonger {}

impl BatchMeans {
    /// Nothing seen yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { full: Vec::new(), size: 1, sum: 0, lacking: 1 }
    }

    /// Takes the next duration, in nanoseconds.
    #[inline(always)]
    pub fn push(&mut self, ns: u64) {
        self.sum += u128::from(ns);
        self.lacking -= 1;
        if self.lacking == 0 {
            self.close();
        }
    }

    /// Ends a full batch; merges neighbours when there are enough.
    #[cold]
    #[inline(never)]
    fn close(&mut self) {
        self.full.push(core::mem::take(&mut self.sum));
        if self.full.len() == MOST {
            for i in 0..FEWEST {
                self.full[i] = self.full[2 * i] + self.full[2 * i + 1];
            }
            self.full.truncate(FEWEST);
            self.size = self.size.saturating_mul(2);
        }
        self.lacking = self.size;
    }

    /// Samples seen.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.full.len() as u64 * self.size + (self.size - self.lacking)
    }

    /// Full batches: 20 to 39 from the 40th sample on.
    #[must_use]
    pub fn batches(&self) -> usize {
        self.full.len()
    }

    /// Samples in each full batch.
    #[must_use]
    pub const fn batch_size(&self) -> u64 {
        self.size
    }

    /// Mean of all samples in nanoseconds, those of the unfinished batch too; `None` if there is none.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        let samples = self.samples();
        let total: u128 = self.full.iter().sum::<u128>() + self.sum;
        (samples > 0).then(|| total as f64 / samples as f64)
    }

    /// The means of the full batches in nanoseconds, oldest first.
    pub fn means(&self) -> impl ExactSizeIterator<Item = f64> + Clone + '_ {
        self.full.iter().map(|&sum| sum as f64 / self.size as f64)
    }

    /// Lag-1 autocorrelation of the batch means; `None` for fewer than 2 batches, 0 if all are equal.
    #[must_use]
    pub fn lag1(&self) -> Option<f64> {
        Spread::of(self.means()).map(|spread| spread.lag1)
    }

    /// The interval without asking whether it can be trusted; `None` for fewer than 2 batches.
    ///
    /// For drawing a run that is too short in grey; whoever prints a figure takes
    /// [`interval`](Self::interval).
    #[must_use]
    pub fn rough_interval(&self, confidence: f64) -> Option<Interval> {
        // About the mean of all samples, so that it is the same figure as everywhere else.
        let half = Spread::of(self.means())?.half_width(confidence);
        self.mean().filter(|_| half.is_finite()).map(|mean| Interval::around(mean, half))
    }

    /// Interval in nanoseconds that covers the long-run mean with probability `confidence` (0.95, say): Student t
    /// over the batch means.
    ///
    /// # Errors
    /// [`RunLonger`] with fewer than 200 samples a batch, or when the lag-1 autocorrelation of the batch means
    /// is above 0.2. Negative correlation is let pass: it makes the interval too wide, never too narrow.
    pub fn interval(&self, confidence: f64) -> Result<Interval, RunLonger> {
        let spread = trusted(self.samples(), self.size, self.means())?;
        let mean = self.mean().unwrap_or(f64::NAN);
        Ok(Interval::around(mean, spread.half_width(confidence)))
    }
}

/// How figures of successive batches spread.
pub(super) struct Spread {
    batches: usize,
    squares: f64,
    /// Lag-1 autocorrelation, 0 if all figures are equal.
    pub(super) lag1: f64,
}

impl Spread {
    /// `None` for fewer than 2 batches.
    pub(super) fn of(figures: impl ExactSizeIterator<Item = f64> + Clone) -> Option<Self> {
        let batches = figures.len();
        if batches < 2 {
            return None;
        }
        let mean = figures.clone().sum::<f64>() / batches as f64;
        let squares: f64 = figures.clone().map(|m| (m - mean) * (m - mean)).sum();
        let products: f64 = figures.clone().zip(figures.skip(1)).map(|(a, b)| (a - mean) * (b - mean)).sum();
        Some(Self { batches, squares, lag1: if squares > 0.0 { products / squares } else { 0.0 } })
    }

    /// Half the width of the interval for the mean of the figures: Student t, variance over k - 1.
    pub(super) fn half_width(&self, confidence: f64) -> f64 {
        let others = (self.batches - 1) as f64;
        let variance_of_mean = self.squares / (others * self.batches as f64);
        student_t_quantile(0.5 + 0.5 * confidence, others) * libm::sqrt(variance_of_mean)
    }
}

/// The spread of figures of batches of `size` samples, if an interval may be built on them.
pub(super) fn trusted(
    samples: u64,
    size: u64,
    figures: impl ExactSizeIterator<Item = f64> + Clone,
) -> Result<Spread, RunLonger> {
    let needed = SAMPLES_A_BATCH.next_power_of_two() * FEWEST as u64;
    let too_few = RunLonger::TooFew { samples, needed };
    if size < SAMPLES_A_BATCH || figures.len() < FEWEST {
        return Err(too_few);
    }
    let spread = Spread::of(figures).ok_or(too_few)?;
    if spread.lag1 > MOST_CORRELATION {
        return Err(RunLonger::Correlated { samples, lag1: spread.lag1 });
    }
    Ok(spread)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::unit::{Chance, mix};
    use alloc::string::ToString;

    /// Waits of an M/M/1 queue by Lindley's recursion, in nanoseconds for a mean service of 1 ms.
    pub(in crate::measure) fn mm1_waits(rho: f64, seed: u64, n: u64) -> impl Iterator<Item = u64> {
        let mut wait = 0.0;
        (0..n).map(move |i| {
            let chance = Chance(mix(seed).wrapping_add(i));
            let exp = |k| -libm::log(1.0 - chance.draw(k).get());
            let now = wait;
            wait = f64::max(0.0, wait + exp(0) - exp(1) / rho);
            (now * 1e6) as u64
        })
    }

    fn of(samples: impl IntoIterator<Item = u64>) -> BatchMeans {
        let mut means = BatchMeans::new();
        samples.into_iter().for_each(|ns| means.push(ns));
        means
    }

    #[test]
    fn any_length_has_20_to_39_batches_and_loses_no_sample() {
        let mut means = BatchMeans::new();
        let mut total = 0u128;
        for i in 1..=100_000u64 {
            means.push(i);
            total += u128::from(i);
            assert_eq!(means.samples(), i);
            let full = means.batches();
            assert!(full < MOST && (i < 40 || full >= FEWEST), "{full} batches after {i} samples");
            assert!(means.full.iter().sum::<u128>() + means.sum == total, "sum after {i} samples");
        }
        assert_eq!(means.batch_size(), 4_096);
        assert_eq!(means.mean(), Some(50_000.5));
        assert_eq!(means.means().next(), Some(2_048.5), "the first batch is 1 to 4096");
    }

    #[test]
    fn a_short_run_is_refused_with_the_length_it_takes() {
        let short = of(0..1_000);
        let refusal = short.interval(0.95).unwrap_err();
        assert_eq!(refusal, RunLonger::TooFew { samples: 1_000, needed: 5_120 });
        assert_eq!(refusal.at_least_more(), 4_120);
        assert_eq!(refusal.to_string(), "run longer: 1000 requests, an interval takes 5120");
        let long_enough = of((0..5_120).map(|i| mix(i) >> 40));
        assert!(long_enough.interval(0.95).is_ok(), "{:?}", long_enough.interval(0.95));
        assert_eq!(BatchMeans::new().rough_interval(0.95), None);
    }

    #[test]
    fn a_drift_is_refused_as_correlated() {
        let drift = of(0..100_000);
        let refusal = drift.interval(0.95).unwrap_err();
        assert!(matches!(refusal, RunLonger::Correlated { lag1, .. } if lag1 > 0.8), "{refusal:?}");
        assert_eq!(refusal.at_least_more(), 100_000);
        assert!(drift.rough_interval(0.95).is_some());
    }

    #[test]
    fn equal_samples_give_a_point() {
        let ci = of([150_000_000; 10_000]).interval(0.99).unwrap();
        assert_eq!((ci.lo, ci.hi), (1.5e8, 1.5e8));
    }

    /// Independent samples: the interval must be the classical one, t s / sqrt(n) with s known.
    #[test]
    fn independent_samples_give_the_width_theory_says() {
        let n = 163_840;
        let widths: Vec<f64> = (0..40)
            .map(|seed| {
                let uniform = of((0..n).map(|i| mix(mix(seed).wrapping_add(i)) % 1_000_001));
                uniform.rough_interval(0.95).unwrap().half_width()
            })
            .collect();
        let mean_width = widths.iter().sum::<f64>() / 40.0;
        // Uniform on [0, 1e6]: sd 1e6 / sqrt 12. t(0.975, 19) = 2.093. E of a sample sd over 20 values: 0.987 sigma.
        let want = 2.093_024 * 0.986_9 * 1e6 / libm::sqrt(12.0 * n as f64);
        assert!((mean_width / want - 1.0).abs() < 0.06, "{mean_width}, want {want}");
    }

    /// Correlated samples with a known mean: 95 % intervals must cover it about 95 times in 100.
    #[test]
    fn intervals_of_a_queue_cover_its_true_mean_wait() {
        let rho = 0.7;
        let truth = rho / (1.0 - rho) * 1e6;
        let (mut given, mut covered) = (0, 0);
        for seed in 0..60 {
            if let Ok(ci) = of(mm1_waits(rho, seed, 80_000)).interval(0.95) {
                given += 1;
                covered += i32::from(ci.contains(truth));
                assert!(ci.relative_half_width() < 0.15, "seed {seed}: {ci:?}");
            }
        }
        assert!(given >= 45, "{given} of 60 runs gave an interval");
        // Binomial(given, 0.95): four standard deviations below.
        assert!(
            f64::from(covered) > 0.95 * f64::from(given) - 4.0 * libm::sqrt(f64::from(given) * 0.0475),
            "{covered} of {given} intervals cover {truth}"
        );
    }
}
