//! Whole workers out of fractions: every split of a pool is made here.
//!
//! A controller computes shares in floats. Whatever it comes up with, the counts made of it are whole, sum to the
//! pool, and leave no class without a worker as long as there are enough to go round; so no rounding and no NaN
//! can starve a class.

use alloc::vec;
use alloc::vec::Vec;

/// Shares `workers` out in proportion to `shares`, by largest remainder (paper P, 0.7).
///
/// Each class gets at least one worker if there are as many workers as classes; a class whose part is less than one
/// takes one, and the others share the rest. Equal remainders go to the lower index. The counts sum to `workers`
/// unless there is no class. A share that is negative or no number counts as zero, an infinite one leaves the finite
/// ones nothing, and if all are zero, all are equal.
#[must_use]
pub fn apportion(workers: u32, shares: &[f64]) -> Vec<u32> {
    let shares = sanitised(shares);
    let floor = u32::from(workers as usize >= shares.len());
    let mut counts = vec![0; shares.len()];
    let mut open: Vec<usize> = (0..shares.len()).collect();
    let mut left = workers;
    // Each round takes out those whose part is below the floor, which makes the parts of the rest smaller.
    loop {
        let sum: f64 = open.iter().map(|&i| shares[i]).sum();
        let is_small = |i: usize| part(left, shares[i], sum, open.len()) < f64::from(floor);
        let (small, large): (Vec<usize>, Vec<usize>) = open.iter().copied().partition(|&i| is_small(i));
        if small.is_empty() {
            break;
        }
        small.iter().for_each(|&i| counts[i] = floor);
        left -= floor * small.len() as u32;
        open = large;
    }
    by_largest_remainder(left, &shares, &open, &mut counts);
    counts
}

/// Shares `workers` out among the classes `open`, whose parts are all at least the floor.
fn by_largest_remainder(workers: u32, shares: &[f64], open: &[usize], counts: &mut [u32]) {
    let sum: f64 = open.iter().map(|&i| shares[i]).sum();
    let mut left = workers;
    let mut remainders: Vec<(f64, usize)> = Vec::with_capacity(open.len());
    for &i in open {
        let part = part(workers, shares[i], sum, open.len());
        counts[i] = (part as u32).min(left);
        left -= counts[i];
        remainders.push((part - f64::from(counts[i]), i));
    }
    remainders.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Fewer are left than there are classes, but for rounding; going round keeps the sum in any case.
    for &(_, i) in remainders.iter().cycle().take(left as usize) {
        counts[i] += 1;
    }
}

/// What rounding left over, carried from one split to the next: the counts keep to the shares on average even where a
/// worker more or less is much (paper P, 0.7, `dither`).
#[derive(Clone, Debug)]
pub struct Carry(Vec<f64>);

impl Carry {
    /// Nothing yet, for so many classes.
    #[must_use]
    pub fn new(classes: usize) -> Self {
        Self(vec![0.0; classes])
    }

    /// As [`apportion`], with what was left over added to each class's part.
    #[must_use]
    pub fn apportion(&mut self, workers: u32, shares: &[f64]) -> Vec<u32> {
        let clean = sanitised(shares);
        let sum: f64 = clean.iter().sum();
        let wanted: Vec<f64> = clean
            .iter()
            .zip(&self.0)
            .map(|(&share, carried)| part(workers, share, sum, shares.len()) + carried)
            .collect();
        let counts = apportion(workers, &wanted);
        for ((carried, wanted), &got) in self.0.iter_mut().zip(&wanted).zip(&counts) {
            *carried = (wanted - f64::from(got)).clamp(-1.0, 1.0);
        }
        counts
    }
}

/// The part of `workers` for a share of `sum`; an equal part if all shares are zero.
fn part(workers: u32, share: f64, sum: f64, classes: usize) -> f64 {
    let fraction = if sum > 0.0 { share / sum } else { 1.0 / classes as f64 };
    f64::from(workers) * fraction
}

/// The shares without anything but numbers from 0 to 1, in the same proportions.
fn sanitised(shares: &[f64]) -> Vec<f64> {
    let largest = shares.iter().copied().filter(|share| !share.is_nan()).fold(0.0, f64::max);
    let scaled = |share: f64| match share {
        _ if share.is_nan() || share <= 0.0 => 0.0,
        _ if largest.is_infinite() => f64::from(u8::from(share.is_infinite())),
        _ => share / largest,
    };
    shares.iter().map(|&share| scaled(share)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAN: f64 = f64::NAN;
    const INF: f64 = f64::INFINITY;

    #[track_caller]
    fn check(workers: u32, shares: &[f64], want: &[u32]) {
        assert_eq!(apportion(workers, shares), want, "{workers} workers in shares {shares:?}");
    }

    #[test]
    fn parts_are_rounded_by_the_largest_remainder() {
        check(10, &[1.0, 1.0], &[5, 5]);
        check(10, &[0.37, 0.33, 0.3], &[4, 3, 3]);
        // 3.5, 3.5: the lower index.
        check(7, &[1.0, 1.0], &[4, 3]);
        // 64 workers at the operating point of paper P, 0.9: 37.7 and 26.3.
        check(64, &[0.589, 0.411], &[38, 26]);
    }

    #[test]
    fn every_class_keeps_a_worker() {
        check(8, &[1.0, 0.0, 0.0], &[6, 1, 1]);
        check(8, &[0.9, 0.08, 0.02], &[6, 1, 1]);
        // 0.2 of a worker is asked for: it gets one, and the others share seven.
        check(8, &[4.0, 2.0, 0.15], &[5, 2, 1]);
        // The first floor makes the second class's part small as well: 1.02 of 10, but 0.92 of 9.
        check(10, &[8.18, 1.02, 0.8], &[8, 1, 1]);
        check(3, &[1e9, 1.0, 1e-9], &[1, 1, 1]);
    }

    #[test]
    fn fewer_workers_than_classes_go_to_the_largest() {
        check(2, &[1.0, 3.0, 2.0], &[0, 1, 1]);
        check(0, &[1.0, 2.0], &[0, 0]);
        check(5, &[], &[]);
    }

    #[test]
    fn what_is_no_share_counts_as_none_or_as_equal() {
        check(9, &[NAN, 1.0, -3.0], &[1, 7, 1]);
        check(9, &[0.0, 0.0, 0.0], &[3, 3, 3]);
        check(9, &[NAN, NAN, -INF], &[3, 3, 3]);
        check(9, &[INF, 1.0, INF], &[4, 1, 4]);
        check(9, &[f64::MAX, f64::MAX, f64::MAX], &[3, 3, 3]);
        check(9, &[5e-324, 5e-324, 0.0], &[4, 4, 1]);
    }

    /// Sum and floor of one split, and that no part is off by a worker or more unless a floor takes part.
    #[track_caller]
    fn check_rules(workers: u32, shares: &[f64]) {
        let counts = apportion(workers, shares);
        assert_eq!(counts.iter().sum::<u32>(), workers, "sum of {counts:?} for shares {shares:?}");
        let floor = u32::from(workers as usize >= shares.len());
        assert!(counts.iter().all(|&n| n >= floor), "{workers} workers in shares {shares:?} gave {counts:?}");
        let sum: f64 = shares.iter().sum();
        if sum.is_finite() && sum > 0.0 && shares.iter().all(|&share| share >= 0.0) {
            let parts = || shares.iter().map(|&share| f64::from(workers) * share / sum);
            for (part, &n) in parts().zip(&counts) {
                let above = f64::from(n) - part;
                assert!(above < 1.0 + 1e-9, "{n} of {workers} for a part of {part} in {shares:?}");
                let untouched = parts().all(|part| part >= f64::from(floor));
                assert!(
                    above > -1.0 - 1e-9 || !untouched,
                    "{n} of {workers} for a part of {part} in {shares:?}"
                );
            }
        }
        for (a, b) in (0..shares.len()).flat_map(|a| (0..shares.len()).map(move |b| (a, b))) {
            if shares[a] > shares[b] && shares[a] > 0.0 {
                assert!(counts[a] >= counts[b], "the larger share of {shares:?} has fewer in {counts:?}");
            }
        }
    }

    #[test]
    fn every_pool_up_to_forty_is_split_by_the_rules() {
        let odd = [0.0, 1e-12, 0.1, 1.0 / 3.0, 0.5, 0.999_999, 1.0, 7.0, 1e12, NAN, -1.0, INF];
        for workers in 0..=40 {
            for a in odd {
                check_rules(workers, &[a]);
                for b in odd {
                    check_rules(workers, &[a, b]);
                    for c in odd {
                        check_rules(workers, &[a, b, c]);
                    }
                }
            }
        }
    }

    #[test]
    fn sixteen_classes_of_any_share_are_split_by_the_rules() {
        for seed in 0..2_000_u64 {
            let random = |n: u64| crate::unit::mix(seed ^ crate::unit::mix(n));
            let classes = 1 + random(0) % 16;
            let share = |n| libm::exp(crate::unit::Draw::from_bits(random(n + 2)).get() * 12.0 - 6.0);
            let shares: Vec<f64> = (0..classes).map(share).collect();
            check_rules((random(1) % 200) as u32, &shares);
        }
    }
}
