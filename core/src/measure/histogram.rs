//! Every duration of a run in fixed memory: a log-linear histogram of nanoseconds.
//!
//! Each power of two is cut into 64 equal buckets, as in HdrHistogram, so a quantile is off by at most
//! 1/64 of itself and durations below 128 ns are exact. Recording is a shift, an addition and two
//! comparisons, because it sits in the simulator's inner loop. A sketch (t-digest, DDSketch) was not
//! taken: t-digest's answer depends on the order of insertion, DDSketch needs a logarithm per value.

use alloc::vec::Vec;

/// log2 of the buckets a power of two is cut into.
const SUB_BITS: u32 = 6;
/// Buckets it takes to cover every `u64`.
const MOST_BUCKETS: usize = ((64 - SUB_BITS as usize) + 1) << SUB_BITS;

/// Counts of durations in nanoseconds, with exact count, sum, minimum and maximum.
///
/// At most 30 kB, and only as much as the longest duration seen needs (14 kB for 8 s).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    // counts[i] = durations d with bucket_of::<SUB_BITS>(d) == i. Its length is a multiple of 64, at most MOST_BUCKETS.
    counts: Vec<u64>,
    count: u64,
    sum: u128,
    min: u64,
    max: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Which bucket a duration falls into, with `1 << SUB` buckets a power of two.
#[inline]
pub(super) const fn bucket_of<const SUB: u32>(ns: u64) -> usize {
    // The lowest SUB + 1 bits set leave everything below 2^(SUB + 1) in the two linear rows: shift 0.
    let shift = (63 - SUB) - (ns | ((2 << SUB) - 1)).leading_zeros();
    ((shift as usize) << SUB) + (ns >> shift) as usize
}

/// Smallest duration of a bucket, and how many nanoseconds it spans.
pub(super) const fn span_of<const SUB: u32>(bucket: usize) -> (u64, u64) {
    if bucket < 2 << SUB {
        return (bucket as u64, 1);
    }
    let shift = (bucket as u32 >> SUB) - 1;
    let mantissa = bucket as u64 - ((shift as u64) << SUB);
    (mantissa << shift, 1 << shift)
}

/// How many of the durations counted in `counts` are at or below `ns`, if those of a bucket are spread evenly over it.
pub(super) fn at_most<const SUB: u32, N: Copy + Into<u64>>(counts: &[N], ns: u64) -> f64 {
    let bucket = bucket_of::<SUB>(ns);
    let below: u64 = counts.iter().take(bucket).map(|&n| n.into()).sum();
    let within: u64 = counts.get(bucket).map_or(0, |&n| n.into());
    let (from, width) = span_of::<SUB>(bucket);
    below as f64 + within as f64 * ((ns - from) as f64 + 1.0) / width as f64
}

impl Histogram {
    /// An empty one; takes no memory until something is recorded.
    #[must_use]
    pub const fn new() -> Self {
        Self { counts: Vec::new(), count: 0, sum: 0, min: u64::MAX, max: 0 }
    }

    /// Records one duration.
    #[inline(always)]
    pub fn record(&mut self, ns: u64) {
        self.count += 1;
        self.sum += u128::from(ns);
        self.min = self.min.min(ns);
        self.max = self.max.max(ns);
        let bucket = bucket_of::<SUB_BITS>(ns);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        } else {
            self.grow_and_count(bucket);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow_and_count(&mut self, bucket: usize) {
        let rows = (bucket >> SUB_BITS) + 1;
        self.counts.resize(rows << SUB_BITS, 0);
        self.counts[bucket] += 1;
    }

    /// Adds everything `other` recorded, as if it had been recorded here.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        for (mine, theirs) in self.counts.iter_mut().zip(&other.counts) {
            *mine += theirs;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Forgets everything, keeping its memory.
    pub fn clear(&mut self) {
        self.counts.fill(0);
        (self.count, self.sum, self.min, self.max) = (0, 0, u64::MAX, 0);
    }

    /// How many durations were recorded.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Their exact sum in nanoseconds.
    #[must_use]
    pub const fn sum(&self) -> u128 {
        self.sum
    }

    /// The shortest, in nanoseconds; `None` if there is none.
    #[must_use]
    pub const fn min(&self) -> Option<u64> {
        if self.count == 0 { None } else { Some(self.min) }
    }

    /// The longest, in nanoseconds; `None` if there is none.
    #[must_use]
    pub const fn max(&self) -> Option<u64> {
        if self.count == 0 { None } else { Some(self.max) }
    }

    /// Their mean in nanoseconds, from the exact sum; `None` if there is none.
    #[must_use]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// Their mean in seconds; `None` if there is none.
    #[must_use]
    pub fn mean_s(&self) -> Option<f64> {
        self.mean().map(|ns| ns / 1e9)
    }

    /// The duration that a share `q` of all are at or below, in nanoseconds; `None` if there is none.
    ///
    /// It is the order statistic of rank `ceil(q count)` (at least the first), placed within its bucket as
    /// if the bucket's durations were spread evenly over it, and never outside the extremes seen: at most
    /// 1/64 off. `q` outside `[0, 1]` counts as the nearer end, NaN as 0.
    #[must_use]
    pub fn quantile(&self, q: f64) -> Option<u64> {
        if self.count == 0 {
            return None;
        }
        // Slightly less than q * count, so that 0.07 * 100 = 7.000000000000001 still asks for the 7th.
        let rank = libm::ceil(q * self.count as f64 * (1.0 - 1e-15)) as u64;
        let rank = rank.clamp(1, self.count);
        if rank == self.count {
            return Some(self.max);
        }
        let mut below = 0;
        for (bucket, &n) in self.counts.iter().enumerate() {
            if below + n >= rank {
                let (from, width) = span_of::<SUB_BITS>(bucket);
                let place = (u128::from(rank - below) * 2 - 1) * u128::from(width) / (u128::from(n) * 2);
                return Some((from + place as u64).clamp(self.min, self.max));
            }
            below += n;
        }
        Some(self.max)
    }

    /// The same in seconds.
    #[must_use]
    pub fn quantile_s(&self, q: f64) -> Option<f64> {
        self.quantile(q).map(|ns| ns as f64 / 1e9)
    }

    /// Share of the recorded durations at or below `ns`, spread evenly within its bucket; `None` if there is none.
    #[must_use]
    pub fn share_at_most(&self, ns: u64) -> Option<f64> {
        if self.count == 0 {
            return None;
        }
        if ns >= self.max {
            return Some(1.0);
        }
        if ns < self.min {
            return Some(0.0);
        }
        Some(at_most::<SUB_BITS, u64>(&self.counts, ns) / self.count as f64)
    }

    /// The buckets that hold something, by duration: the longest duration of each in nanoseconds, and its count.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().enumerate().filter(|&(_, &n)| n > 0).map(|(bucket, &n)| {
            let (from, width) = span_of::<SUB_BITS>(bucket);
            (from + (width - 1), n)
        })
    }
}

const _: () = assert!(bucket_of::<SUB_BITS>(u64::MAX) == MOST_BUCKETS - 1);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::mix;

    #[track_caller]
    fn of(durations: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        for &ns in durations {
            histogram.record(ns);
        }
        histogram
    }

    #[test]
    fn buckets_tile_the_whole_range_without_gap_or_overlap() {
        let mut next = 0u64;
        for bucket in 0..MOST_BUCKETS {
            let (from, width) = span_of::<SUB_BITS>(bucket);
            assert_eq!(from, next, "bucket {bucket} begins where the one before ends");
            assert_eq!(bucket_of::<SUB_BITS>(from), bucket);
            assert_eq!(bucket_of::<SUB_BITS>(from + (width - 1)), bucket);
            assert!(width == 1 || width * 64 <= from, "bucket {bucket} is wider than 1/64 of {from}");
            next = from.wrapping_add(width);
        }
        assert_eq!(next, 0, "the last bucket ends at u64::MAX");
    }

    #[test]
    fn nothing_recorded_means_no_figure() {
        let empty = Histogram::new();
        assert_eq!((empty.count(), empty.sum()), (0, 0));
        assert_eq!((empty.min(), empty.max(), empty.quantile(0.5)), (None, None, None));
        assert_eq!((empty.mean(), empty.share_at_most(1)), (None, None));
    }

    #[test]
    fn one_duration_is_every_quantile_exactly() {
        let one = of(&[450_000_000]);
        for q in [0.0, 0.5, 0.99, 1.0, -3.0, f64::NAN] {
            assert_eq!(one.quantile(q), Some(450_000_000), "q = {q}");
        }
        assert_eq!(one.mean(), Some(4.5e8));
    }

    #[test]
    fn short_durations_are_exact_order_statistics() {
        let durations: Vec<u64> = (1..=100).collect();
        let histogram = of(&durations);
        for percent in 1..=100u64 {
            assert_eq!(histogram.quantile(percent as f64 / 100.0), Some(percent), "{percent} %");
            assert_eq!(histogram.share_at_most(percent), Some(percent as f64 / 100.0));
        }
    }

    #[test]
    fn quantiles_are_within_a_64th_of_the_sorted_list() {
        // Spread over ten powers of ten, so that many rows are used.
        let mut durations: Vec<u64> = (0..20_000).map(|i| mix(i) >> (20 + mix(i ^ 77) % 34)).collect();
        let histogram = of(&durations);
        durations.sort_unstable();
        for q in [0.001, 0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0] {
            let exact = durations[(libm::ceil(q * 20_000.0) as usize).max(1) - 1];
            let got = histogram.quantile(q).unwrap();
            assert!(got.abs_diff(exact) * 64 <= exact, "q = {q}: got {got}, the list says {exact}");
        }
        assert_eq!(histogram.min(), durations.first().copied());
        assert_eq!(histogram.max(), durations.last().copied());
        assert_eq!(histogram.sum(), durations.iter().map(|&ns| u128::from(ns)).sum::<u128>());
    }

    #[test]
    fn within_a_bucket_quantiles_are_interpolated() {
        // 1000 durations spread evenly over one bucket of 2^20 ns: the median is its middle.
        let (from, width) = span_of::<SUB_BITS>(bucket_of::<SUB_BITS>(1 << 26));
        let durations: Vec<u64> = (0..1000).map(|i| from + width * i / 1000).collect();
        let median = of(&durations).quantile(0.5).unwrap();
        assert!(median.abs_diff(from + width / 2) <= width / 500, "{median}");
    }

    #[test]
    fn merging_equals_recording_everything_in_one() {
        let (a, b): (Vec<u64>, Vec<u64>) = ((0..500).map(|i| i * i * i).collect(), (0..70).collect());
        let mut merged = of(&b);
        merged.merge(&of(&a));
        let all: Vec<u64> = b.iter().chain(&a).copied().collect();
        assert_eq!(merged, of(&all));
        let mut other_way = of(&a);
        other_way.merge(&of(&b));
        assert_eq!(other_way, merged);
        merged.clear();
        assert_eq!(merged.quantile(0.5), None);
    }

    #[test]
    fn the_longest_possible_duration_neither_wraps_nor_panics() {
        let mut histogram = of(&[u64::MAX, u64::MAX, 0]);
        histogram.merge(&histogram.clone());
        assert_eq!(histogram.sum(), 4 * u128::from(u64::MAX));
        assert_eq!((histogram.quantile(0.1), histogram.quantile(0.9)), (Some(0), Some(u64::MAX)));
        assert_eq!(histogram.buckets().last(), Some((u64::MAX, 4)));
        assert_eq!(histogram.counts.len(), MOST_BUCKETS);
    }
}
