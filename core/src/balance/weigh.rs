//! Arithmetic of feedback balancers: what a report comes to, where weights begin, and how they move (paper B, 2.1).
//!
//! Formula numbers are those of paper B. Nothing here keeps state, so that each formula can be tested by its numbers.

use super::{LoadReport, Server, Servers};
use crate::scenario::v1::{CoefficientsV1, ResourceV1};
use alloc::vec::Vec;

/// The largest load that is believed, in capacities: sums of what is reported stay finite.
const MOST: f64 = 1e6;

/// Coefficients of paper B, 2.1, in the order of [`ResourceV1::FIVE`].
pub(super) const DEFAULT_COEFFICIENTS: [f64; 5] = [0.30, 0.15, 0.25, 0.10, 0.20];

/// A reported load within what can be reckoned with: not below 0, and nothing if it is no number.
#[must_use]
pub(super) fn usable(load: Option<f64>) -> Option<f64> {
    load.filter(|load| !load.is_nan()).map(|load| load.clamp(0.0, MOST))
}

/// The coefficients in the order of [`ResourceV1::FIVE`].
#[must_use]
pub(super) const fn coefficients(k: &CoefficientsV1) -> [f64; 5] {
    [k.cpu, k.mem, k.net, k.disk, k.rooms]
}

/// Composite load, formula 2: `Load_i = sum_m k_m S_m,i`, where what is not reported counts as 0.
///
/// A report without any of the five comes to what the server says of itself, if it says that.
#[must_use]
pub(super) fn composite(report: &LoadReport, k: &[f64; 5]) -> Option<f64> {
    let loads = report.loads.map(usable);
    if loads.iter().all(Option::is_none) {
        return usable(report.application);
    }
    Some(loads.iter().zip(k).map(|(load, k)| load.unwrap_or(0.0) * k).sum())
}

/// The largest of some loads; `None` if none of them is reported.
#[must_use]
pub(super) fn largest(report: &LoadReport, of: &[ResourceV1]) -> Option<f64> {
    of.iter().filter_map(|&resource| usable(report.load(resource))).reduce(f64::max)
}

/// What a server has of each of the five; infinite where nothing runs short.
fn has(server: &Server) -> [f64; 5] {
    let c = &server.capacity;
    let or_enough = |capacity: Option<f64>| capacity.unwrap_or(f64::INFINITY);
    let cpu = f64::from(server.slots) * server.speed;
    [cpu, or_enough(c.mem), or_enough(c.net), or_enough(c.disk), or_enough(c.rooms)]
}

/// Static capacity of each server that may come to be picked, formula 3: `C_i = sum_m k_m cap_m,i / max_j cap_m,j`.
///
/// A server that never runs short of something counts like the one with the most of it.
#[must_use]
pub(super) fn capacities(servers: &Servers, k: &[f64; 5], counts: impl Fn(&Server) -> bool) -> Vec<f64> {
    let mut most = [0.0; 5];
    for server in servers.iter().filter(|server| counts(server)) {
        for (most, cap) in most.iter_mut().zip(has(server)) {
            *most = if cap.is_finite() { f64::max(*most, cap) } else { *most };
        }
    }
    let part = |cap: f64, most: f64| if cap.is_finite() && most > 0.0 { (cap / most).min(1.0) } else { 1.0 };
    let of = |server: &Server| (0..5).map(|m| k[m] * part(has(server)[m], most[m])).sum();
    servers.iter().map(of).collect()
}

/// Initial weights, formula 4: `W_i(0) = base C_i / mean C`, the mean being that of the sizes that count.
///
/// `base` for everyone where nobody has a size.
#[must_use]
pub(super) fn initial(sizes: &[f64], counts: impl Fn(usize) -> bool, base: f64) -> Vec<f64> {
    let mean = mean(sizes.iter().enumerate().filter(|&(at, _)| counts(at)).map(|(_, &size)| (size, 1.0)));
    match mean {
        Some(mean) if mean > 0.0 => sizes.iter().map(|size| base * size / mean).collect(),
        _ => sizes.iter().map(|_| base).collect(),
    }
}

/// Mean of values with their weights; `None` if these come to nothing.
#[must_use]
pub(super) fn mean(values: impl Iterator<Item = (f64, f64)>) -> Option<f64> {
    let (sum, weight) = values.fold((0.0, 0.0), |(sum, all), (value, w)| (sum + value * w, all + w));
    (weight > 0.0).then(|| sum / weight)
}

/// Smoothed load, formula 7: `old` keeps a part of `keep`; the first value counts alone.
#[must_use]
pub(super) fn smooth(old: Option<f64>, new: f64, keep: f64) -> f64 {
    old.map_or(new, |old| keep * old + (1.0 - keep) * new)
}

/// `x` within `[low, high]`, `low` if that range is empty or `x` no number.
#[must_use]
pub(super) fn within(x: f64, low: f64, high: f64) -> f64 {
    if x >= low { x.min(high.max(low)) } else { low }
}

/// How far a distance from the set point moves a weight, formula 8: `A cbrt(distance)`, with the sign of the distance.
///
/// The cube root is steep at 0, where weights would chatter (paper B, 2.5, trap 3): hence the three ways to calm it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// A.
    pub gain: f64,
    /// Distances below this are none.
    pub dead_band: f64,
    /// Part of each step that is not made.
    pub damping: f64,
    /// Steps below this are not made at all.
    pub threshold: f64,
}

impl Step {
    /// The step for a distance; 0 for one that is no number.
    #[must_use]
    pub(super) fn of(&self, distance: f64) -> f64 {
        let outside = distance.abs() >= self.dead_band;
        let step = self.gain * libm::cbrt(distance) * (1.0 - self.damping);
        if outside && step.abs() >= self.threshold { step } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{spec, weighted};
    use super::*;
    use crate::scenario::v1::{CapacityV1, KindV1};
    use alloc::vec;

    const K: [f64; 5] = DEFAULT_COEFFICIENTS;

    fn check(got: f64, want: f64, what: &str) {
        assert!((got - want).abs() < 5e-4, "{what}: expected {want}, got {got}");
    }

    fn published() -> Step {
        Step { gain: 1.0, dead_band: 0.0, damping: 0.0, threshold: 0.0 }
    }

    /// Paper B, 2.4: the signed cube root of 0.8 - Load.
    #[test]
    fn the_step_is_a_signed_cube_root() {
        for (load, want) in [(0.0, 0.928), (0.5, 0.669), (0.8, 0.0), (0.9, -0.464), (1.0, -0.585)] {
            check(published().of(0.8 - load), want, "cube root");
        }
        assert_eq!(published().of(f64::NAN), 0.0, "no number, no step");
    }

    #[test]
    fn dead_band_damping_and_threshold_calm_the_step() {
        let banded = Step { dead_band: 0.03, ..published() };
        assert_eq!((banded.of(0.029), banded.of(-0.029)), (0.0, 0.0), "within the dead band");
        check(banded.of(-0.03), -0.3107, "at the edge of the dead band");
        check(Step { damping: 0.75, ..published() }.of(0.125), 0.125, "a quarter of 0.5");
        let coarse = Step { gain: 5.0, threshold: 2.0, ..published() };
        assert_eq!(coarse.of(0.05), 0.0, "5 cbrt(0.05) = 1.84 is below the threshold");
        check(coarse.of(0.125), 2.5, "above the threshold");
    }

    #[test]
    fn a_composite_load_counts_what_is_missing_as_nothing() {
        let report = |loads| LoadReport { loads, ..LoadReport::default() };
        let all = report([Some(1.0), Some(0.5), Some(0.2), Some(0.1), Some(0.0)]);
        check(composite(&all, &K).unwrap(), 0.435, "all five");
        check(composite(&report([None, None, Some(0.4), None, None]), &K).unwrap(), 0.1, "network alone");
        assert_eq!(composite(&report([None; 5]), &K), None, "nothing reported");
        let own = LoadReport { application: Some(0.7), ..LoadReport::default() };
        assert_eq!(composite(&own, &K), Some(0.7), "only its own view");
        let odd = report([Some(f64::NAN), Some(f64::INFINITY), Some(-3.0), None, None]);
        check(composite(&odd, &K).unwrap() / MOST, 0.15, "odd numbers");
    }

    #[test]
    fn the_largest_load_of_a_kind_counts() {
        let report =
            LoadReport { loads: [Some(0.2), None, Some(0.9), Some(0.4), None], ..LoadReport::default() };
        assert_eq!(largest(&report, &[ResourceV1::Cpu, ResourceV1::Disk]), Some(0.4));
        assert_eq!(largest(&report, &[ResourceV1::Mem, ResourceV1::Rooms]), None);
    }

    /// The preset of paper B, 2.4: two servers of 100 and two of 60, with the same network.
    #[test]
    fn weights_begin_in_proportion_to_capacity() {
        let server = |cap: u32| {
            let part = Some(f64::from(cap));
            let capacity = CapacityV1 { mem: part, net: Some(120.0), disk: part, rooms: part };
            crate::scenario::ServerSpec { slots: cap, capacity, ..spec(cap as usize, 9, 1.0) }
        };
        let servers = Servers::of(&[100, 100, 60, 60].map(server), vec![KindV1::Short]);
        let sizes = capacities(&servers, &K, |_| true);
        check(sizes[0], 1.0, "the largest");
        check(sizes[2], 0.75 * 0.6 + 0.25, "60, and all of the network");
        let weights = initial(&sizes, |_| true, 50.0);
        check(weights.iter().sum::<f64>() / 4.0, 50.0, "mean weight");
        check(weights[2] / weights[0], 0.7, "ratio of weights");
    }

    #[test]
    fn sizes_that_are_unknown_or_nothing_make_equal_weights() {
        let alike = weighted(&[1.0, 1.0]);
        assert_eq!(initial(&capacities(&alike, &K, |_| true), |_| true, 50.0), [50.0, 50.0]);
        assert_eq!(initial(&[0.0, 0.0], |_| true, 50.0), [50.0, 50.0], "no sizes");
        assert_eq!(initial(&[2.0, 1.0, 9.0], |at| at < 2, 3.0), [4.0, 2.0, 18.0], "the third does not count");
    }

    #[test]
    fn smoothing_takes_the_first_value_as_it_is() {
        assert_eq!(smooth(None, 0.8, 0.5), 0.8);
        check(smooth(Some(0.8), 0.4, 0.75), 0.7, "three quarters of the old");
    }

    #[test]
    fn bounds_hold_for_any_number() {
        assert_eq!((within(5.0, 1.0, 3.0), within(0.0, 1.0, 3.0), within(2.0, 1.0, 3.0)), (3.0, 1.0, 2.0));
        assert_eq!((within(f64::NAN, 1.0, 3.0), within(f64::INFINITY, 1.0, 3.0)), (1.0, 3.0));
        assert_eq!(within(2.0, 3.0, 1.0), 3.0, "an empty range is its lower end");
    }
}
