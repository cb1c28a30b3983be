//! From a model to a controller.

use super::linear::solve;
use crate::control::split::closed_loop::{Model, Regulator};
use crate::control::split::polynomial::{is_stable, product};
use alloc::vec;
use alloc::vec::Vec;

/// Largest gain that is taken for the solution of anything.
const MOST_GAIN: f64 = 1e6;

/// How a controller is found from a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Design {
    /// One pole of the closed loop at this place, 0 to below 1, all others at 0.
    PolePlacement(f64),
    /// The least variance of the output, as many samples ahead as the input takes to act.
    MinimumVariance,
}

impl Design {
    /// The controller; `None` where this design gives none that can be used: if the equations have no sound solution,
    /// as when `A` and `B` nearly share a root, or, for minimum variance, if the model's zeros are not stable.
    pub(super) fn regulator(self, model: &Model) -> Option<Regulator> {
        let regulator = match self {
            Self::PolePlacement(pole) => place_poles(model, &[1.0, -pole]),
            Self::MinimumVariance => minimum_variance(model),
        };
        regulator.filter(|it| it.f.iter().chain(&it.g).all(|gain| gain.abs() <= MOST_GAIN))
    }
}

/// The controller that gives the closed loop the characteristic polynomial `wanted`, monic and of degree `na + nb + lag`
/// at most: the solution of `(1 - q^-1) A F + q^-lag B G = wanted` with `deg F = nb + lag - 1` and `deg G = na` (paper P, 0.6).
pub(super) fn place_poles(model: &Model, wanted: &[f64]) -> Option<Regulator> {
    match (&model.a[..], &model.b[..], model.lag) {
        (&[a1, a2], &[b0], 1) => Some(pid(a1, a2, b0, wanted)),
        _ => diophantine(model, &model.b, wanted),
    }
}

/// The closed form for two past outputs, one input and a lag of 1, where `F = 1` and the controller is exactly a PID.
fn pid(a1: f64, a2: f64, b0: f64, wanted: &[f64]) -> Regulator {
    let m = |i: usize| wanted.get(i).copied().unwrap_or(0.0);
    let g = vec![(m(1) - a1 + 1.0) / b0, (m(2) - a2 + a1) / b0, (m(3) + a2) / b0];
    Regulator { f: Vec::new(), g }
}

/// The regulator of least variance, with an integrator: `1 = (1 - q^-1) A F + q^-lag G` with `deg F = lag - 1` and
/// `deg G = na` predicts the output `lag` samples ahead as `G y + B F (1 - q^-1) u`; setting this equal to the set point
/// gives `B F (1 - q^-1) u = G e`, as `G(1) = 1`. The closed loop has the poles of `1 / B` and else none, so
/// it can be had only where the zeros of the model are stable.
///
/// Source: Astrom and Wittenmark, On self tuning regulators, Automatica 9, 1973; here for noise that is white in
/// the model of changes, `C = 1`.
fn minimum_variance(model: &Model) -> Option<Regulator> {
    if !is_stable(&model.b) {
        return None;
    }
    let predictor = diophantine(model, &[1.0], &[1.0])?;
    let b0 = model.b[0];
    let f: Vec<f64> = core::iter::once(1.0).chain(predictor.f).collect();
    Some(Regulator {
        f: product(&model.b, &f).iter().skip(1).map(|x| x / b0).collect(),
        g: predictor.g.iter().map(|g| g / b0).collect(),
    })
}

/// Solves `(1 - q^-1) A F + q^-lag B G = wanted` for `F`, which is monic, and `G`, by comparing the coefficients of each
/// power from the first on. `B` is given apart from the model, as a predictor has 1 in its place.
fn diophantine(model: &Model, b: &[f64], wanted: &[f64]) -> Option<Regulator> {
    let open = model.with_integrator();
    let (f_count, g_count) = (b.len() + model.lag - 2, model.a.len() + 1);
    let n = f_count + g_count;
    let mut matrix = vec![0.0; n * n];
    let mut enter = |column: usize, shift: usize, coefficients: &[f64]| {
        for (i, &x) in coefficients.iter().enumerate() {
            // Row 0 is for the first power.
            matrix[(shift + i - 1) * n + column] = x;
        }
    };
    (0..f_count).for_each(|j| enter(j, j + 1, &open));
    (0..g_count).for_each(|j| enter(f_count + j, model.lag + j, b));
    let at = |p: &[f64], i: usize| p.get(i).copied().unwrap_or(0.0);
    let right: Vec<f64> = (1..=n).map(|i| at(wanted, i) - at(&open, i)).collect();
    let mut f = solve(&matrix, &right)?;
    let g = f.split_off(f_count);
    Some(Regulator { f, g })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::control::split::closed_loop::{characteristic, step_response};
    use crate::unit::{Draw, mix};
    use nalgebra::{DMatrix, DVector};

    fn model(a: &[f64], b: &[f64], lag: usize) -> Model {
        Model { a: a.to_vec(), b: b.to_vec(), lag }
    }

    #[track_caller]
    fn check_gains(model: &Model, wanted: &[f64], f: &[f64], g: &[f64], within: f64) {
        let got = place_poles(model, wanted).expect("the equations have a solution");
        let off = |got: &[f64], want: &[f64]| {
            assert_eq!(got.len(), want.len(), "{got:?} for {want:?}");
            got.iter().zip(want).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
        };
        assert!(off(&got.f, f) <= within, "F = 1, {:?}, not 1, {f:?}", got.f);
        assert!(off(&got.g, g) <= within, "G = {:?}, not {g:?}", got.g);
    }

    #[test]
    fn the_textbook_plant_gets_the_textbook_controller() {
        let textbook = model(&[-1.6065, 0.6065], &[0.1065, 0.0902], 3);
        let wanted = [1.0, -1.3205, 0.4966];
        check_gains(&textbook, &wanted, &[1.286, 1.6356, 0.8282], &[11.2246, -15.8984, 5.5691], 5.1e-5);
        let sum: f64 = place_poles(&textbook, &wanted).expect("as above").g.iter().sum();
        assert!((sum - 0.8953).abs() <= 5.1e-5, "G(1) = {sum}");
    }

    #[test]
    fn the_golden_vectors_are_met() {
        let g = [-0.75, 0.5, -0.083_333];
        check_gains(&model(&[-0.5, 0.1], &[-1.2], 1), &[1.0, -0.6], &[], &g, 5.1e-7);
        let g = [1.329_03, -1.225_06, 0.377_95];
        check_gains(&model(&[-0.74, 0.37], &[0.95, -0.12], 1), &[1.0, -0.6], &[-0.122_58], &g, 5.1e-6);
    }

    #[test]
    fn the_closed_form_is_the_general_solution() {
        let plant = model(&[-0.5, 0.1], &[-1.2], 1);
        let general = diophantine(&plant, &plant.b, &[1.0, -0.6, 0.2, 0.1]).expect("b0 is not 0");
        check_gains(&plant, &[1.0, -0.6, 0.2, 0.1], &general.f, &general.g, 1e-12);
    }

    /// A plant of these orders; the numbers of terms are 1 to 3.
    fn random_plant(a_terms: usize, b_terms: usize, lag: usize, seed: u64) -> Model {
        let random = |n: u64| Draw::from_bits(mix(seed ^ mix(n))).get() - 0.5;
        Model {
            a: (0..a_terms as u64).map(random).collect(),
            b: (0..b_terms as u64).map(|j| random(10 + j) - if j == 0 { 1.5 } else { 0.0 }).collect(),
            lag,
        }
    }

    fn each_order(mut check: impl FnMut(Model)) {
        for (a, b, lag) in (0..27).map(|n| (n / 9 + 1, n / 3 % 3 + 1, n % 3 + 1)) {
            for seed in 0..8 {
                check(random_plant(a, b, lag, seed));
            }
        }
    }

    #[track_caller]
    fn assert_is(got: &[f64], want: &[f64], what: &Model) {
        for i in 0..got.len().max(want.len()) {
            let at = |p: &[f64]| p.get(i).copied().unwrap_or(0.0);
            let (got_i, want_i) = (at(got), at(want));
            assert!((got_i - want_i).abs() < 1e-9, "{got:?} is not {want:?}, for {what:?}");
        }
    }

    #[test]
    fn the_poles_are_where_they_are_wanted_whatever_the_orders() {
        each_order(|plant| {
            let regulator = Design::PolePlacement(0.6).regulator(&plant).expect("a sound model");
            assert_eq!(regulator.f.len(), plant.b.len() + plant.lag - 2, "degree of F for {plant:?}");
            assert_eq!(regulator.g.len(), plant.a.len() + 1, "degree of G for {plant:?}");
            assert_is(&characteristic(&plant, &regulator, 1.0), &[1.0, -0.6], &plant);
        });
    }

    /// Solves the same equations with a matrix library, set up as a convolution instead.
    fn oracle(plant: &Model, wanted: &[f64]) -> DVector<f64> {
        let (f, g) = (plant.b.len() + plant.lag - 2, plant.a.len() + 1);
        let open = plant.with_integrator();
        let delayed: Vec<f64> = core::iter::repeat_n(0.0, plant.lag).chain(plant.b.iter().copied()).collect();
        let entry = |of: &[f64], power: usize, at: usize| {
            power.checked_sub(at).and_then(|i| of.get(i)).copied().unwrap_or(0.0)
        };
        let matrix = DMatrix::from_fn(f + g, f + g, |row, column| match column.checked_sub(f) {
            None => entry(&open, row + 1, column + 1),
            Some(j) => entry(&delayed, row + 1, j),
        });
        let right = DVector::from_fn(f + g, |row, _| entry(wanted, row + 1, 0) - entry(&open, row + 1, 0));
        matrix.lu().solve(&right).expect("a sound model")
    }

    #[test]
    fn gains_are_those_of_a_matrix_library() {
        each_order(|plant| {
            let ours = place_poles(&plant, &[1.0, -0.6, 0.1]).expect("a sound model");
            let ours = DVector::from_iterator(ours.f.len() + ours.g.len(), ours.f.into_iter().chain(ours.g));
            let theirs = oracle(&plant, &[1.0, -0.6, 0.1]);
            let off = (&ours - &theirs).amax();
            assert!(off < 1e-9, "gains of {plant:?} are off by {off:e}: {ours} for {theirs}");
        });
    }

    #[test]
    fn the_simulated_loop_has_the_poles() {
        each_order(|plant| {
            let regulator = Design::PolePlacement(0.6).regulator(&plant).expect("a sound model");
            let out = step_response(&plant, &regulator, 60);
            // With all poles but one at 0, the error shrinks by 0.6 once the zeros of B and G have passed.
            for k in plant.lag + plant.a.len() + plant.b.len()..40 {
                let (before, after) = (out[k - 1] - 1.0, out[k] - 1.0);
                assert!((after - 0.6 * before).abs() < 1e-9, "sample {k} of {plant:?}: {before} to {after}");
            }
            assert!((out[59] - 1.0).abs() < 1e-9, "{plant:?} ends at {}", out[59]);
        });
    }

    #[test]
    fn minimum_variance_leaves_no_pole_but_the_models_zeros() {
        each_order(|plant| {
            let regulator = Design::MinimumVariance.regulator(&plant);
            let monic: Vec<f64> = plant.b.iter().map(|b| b / plant.b[0]).collect();
            assert_eq!(regulator.is_some(), is_stable(&monic), "zeros of {plant:?}");
            if let Some(regulator) = regulator {
                assert_is(&characteristic(&plant, &regulator, 1.0), &monic, &plant);
                let out = step_response(&plant, &regulator, 8);
                assert!(out[..plant.lag].iter().all(|&y| y == 0.0), "{plant:?} acts before its lag: {out:?}");
                // The zeros of G pass, those of B are gone.
                let off =
                    out[plant.lag + plant.a.len()..].iter().map(|y| (y - 1.0).abs()).fold(0.0, f64::max);
                assert!(off < 1e-9, "{plant:?} is not there: {out:?}");
            }
        });
    }

    #[test]
    fn minimum_variance_refuses_zeros_that_are_not_stable() {
        let plant = |b1| model(&[-0.5], &[-0.5, b1], 1);
        assert_eq!(Design::MinimumVariance.regulator(&plant(-0.6)), None, "a zero at -1.2");
        assert!(Design::MinimumVariance.regulator(&plant(-0.4)).is_some(), "a zero at -0.8");
    }

    #[test]
    fn a_model_without_a_controller_gets_none() {
        let pole_placement = Design::PolePlacement(0.6);
        let none = |a: &[f64], b: &[f64]| {
            assert_eq!(pole_placement.regulator(&model(a, b, 1)), None, "a {a:?}, b {b:?}");
        };
        none(&[-0.5, 0.1], &[0.0]);
        none(&[-0.5, 0.1], &[1e-9]);
        none(&[f64::NAN, 0.1], &[-0.5]);
        // A common root at 0.5, and one at 1 with the integrator.
        none(&[-0.5], &[-1.0, 0.5]);
        none(&[-0.3], &[-1.0, 1.0]);
    }
}
