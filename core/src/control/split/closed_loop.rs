//! A linear model and a linear controller with an integrator, and what they do together.
//!
//! What is shown of a loop is worked out from these two: how much the true gain may exceed the model's
//! ([`gain_margin`]), and how the loop would answer a new set point ([`step_response`]). A fixed controller can be
//! judged the same way as a self-tuning one.

use super::polynomial::{is_stable, product, sum};
use alloc::vec;
use alloc::vec::Vec;

/// How an output follows an input: `A y(k) = q^-lag B u(k)`, with `A = 1 + a1 q^-1 + a2 q^-2 + ...` and
/// `B = b0 + b1 q^-1 + ...` (paper P, 0.4).
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    /// `a1`, `a2` and so on.
    pub a: Vec<f64>,
    /// `b0`, `b1` and so on; at least one.
    pub b: Vec<f64>,
    /// Samples from an input to its first effect; at least 1.
    pub lag: usize,
}

impl Model {
    /// `(1 - q^-1) A`: the model with the integrator of its controller, or of the changes of input and output.
    #[must_use]
    pub fn with_integrator(&self) -> Vec<f64> {
        let a: Vec<f64> = core::iter::once(1.0).chain(self.a.iter().copied()).collect();
        product(&[1.0, -1.0], &a)
    }
}

/// A controller `(1 - q^-1) F u(k) = G e(k)` on the error `e`, set point less output, with
/// `F = 1 + f1 q^-1 + ...` and `G = g0 + g1 q^-1 + ...` (paper P, 0.6).
///
/// With `F = 1` and three gains it is a PID controller: `Kp = -g1 - 2 g2`, `Ki = g0 + g1 + g2`, `Kd = g2`.
#[derive(Clone, Debug, PartialEq)]
pub struct Regulator {
    /// `f1`, `f2` and so on: the gains on the changes of the input before.
    pub f: Vec<f64>,
    /// `g0`, `g1` and so on: the gains on the error now and on those before.
    pub g: Vec<f64>,
}

impl Regulator {
    /// The change of the input, from the errors and the changes of the input before, newest first.
    #[must_use]
    pub fn step(&self, errors: &[f64], changes: &[f64]) -> f64 {
        let sum = |gains: &[f64], of: &[f64]| gains.iter().zip(of).map(|(gain, x)| gain * x).sum::<f64>();
        sum(&self.g, errors) - sum(&self.f, changes)
    }

    /// Whether every gain is a finite number.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.f.iter().chain(&self.g).all(|gain| gain.is_finite())
    }
}

/// The polynomial whose roots are the poles of the loop, `(1 - q^-1) A F + factor q^-lag B G`, if the true gain is
/// `factor` times the model's.
#[must_use]
pub fn characteristic(model: &Model, regulator: &Regulator, factor: f64) -> Vec<f64> {
    let f: Vec<f64> = core::iter::once(1.0).chain(regulator.f.iter().copied()).collect();
    let open = product(&model.with_integrator(), &f);
    sum(&open, factor, &product(&model.b, &regulator.g), model.lag)
}

/// Largest gain margin that is looked for.
const MOST: f64 = 100.0;
/// Steps by which a margin is looked for, as a factor: fine enough not to step over a gap in which the loop is unstable.
const STEP: f64 = 1.1;
/// Halvings of the last step: an error below one in a million.
const HALVINGS: u32 = 18;

/// The factor by which the true gain may exceed the model's before the loop is unstable, at most 100. Below 1, the loop
/// is unstable as it is, and would be stable with a gain that much smaller; 0, if it never is down to a hundredth.
#[must_use]
pub fn gain_margin(model: &Model, regulator: &Regulator) -> f64 {
    let is_stable_at = |factor: f64| is_stable(&characteristic(model, regulator, factor));
    let mut stable = 1.0;
    while !is_stable_at(stable) {
        stable /= STEP;
        if stable * MOST < 1.0 {
            return 0.0;
        }
    }
    let mut unstable = stable * STEP;
    while is_stable_at(unstable) {
        (stable, unstable) = (unstable, unstable * STEP);
        if stable >= MOST {
            return MOST;
        }
    }
    for _ in 0..HALVINGS {
        let middle = 0.5 * (stable + unstable);
        if is_stable_at(middle) { stable = middle } else { unstable = middle }
    }
    stable
}

/// Whether the loop is stable with the model's gain and up to `factor` times it, at least 1. The same question as that of
/// [`gain_margin`], at a small part of its price.
#[must_use]
pub fn is_stable_up_to(model: &Model, regulator: &Regulator, factor: f64) -> bool {
    let is_stable_at = |factor: f64| is_stable(&characteristic(model, regulator, factor));
    let between = core::iter::successors(Some(1.0), |at| Some(at * STEP)).take_while(|&at| at < factor);
    between.chain([factor]).all(is_stable_at)
}

/// The output of the loop in the samples after its set point went from 0 to 1, at rest before; the first is the sample in
/// which the controller sees it, before it can have done anything.
#[must_use]
pub fn step_response(model: &Model, regulator: &Regulator, samples: usize) -> Vec<f64> {
    let mut errors = vec![0.0; regulator.g.len()];
    let mut changes = vec![0.0; (model.lag + model.b.len()).max(regulator.f.len())];
    let mut rises = vec![0.0; model.a.len()];
    let mut output = 0.0;
    let mut out = Vec::with_capacity(samples);
    for _ in 0..samples {
        // In changes, so that input and output need no offset: A dy(k) = q^-lag B du(k).
        let rise = dot(&model.b, &changes[model.lag - 1..]) - dot(&model.a, &rises);
        output += rise;
        shift(&mut rises, rise);
        shift(&mut errors, 1.0 - output);
        let change = regulator.step(&errors, &changes);
        shift(&mut changes, change);
        out.push(output);
    }
    out
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Puts a value in front; the last falls out.
fn shift(values: &mut [f64], newest: f64) {
    if let [.., last] = values {
        *last = newest;
        values.rotate_right(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An integrating controller of that gain on a plant that answers in full with the next sample.
    fn integrating(gain: f64) -> (Model, Regulator) {
        (Model { a: vec![], b: vec![-1.0], lag: 1 }, Regulator { f: vec![], g: vec![-gain] })
    }

    #[track_caller]
    fn check_margin((model, regulator): (Model, Regulator), want: f64) {
        let got = gain_margin(&model, &regulator);
        for factor in [1.0, 1.05, 1.2, 3.0, 50.0] {
            let up_to = is_stable_up_to(&model, &regulator, factor);
            assert_eq!(up_to, factor < want, "stable up to {factor}: {model:?} {regulator:?}");
        }
        assert!(
            (got - want).abs() < 1e-5 * want.max(1.0),
            "margin {got}, not {want}: {model:?} {regulator:?}"
        );
    }

    #[test]
    fn margins_are_those_of_the_closed_form() {
        // The pole is 1 - gain: unstable from a gain of 2.
        check_margin(integrating(0.4), 5.0);
        check_margin(integrating(1.0), 2.0);
        check_margin(integrating(4.0), 0.5);
        // The wrong sign, no effect at all, and a margin beyond the cap.
        check_margin(integrating(-0.4), 0.0);
        check_margin(integrating(0.0), 0.0);
        check_margin(integrating(0.001), 100.0);
        check_margin(integrating(f64::NAN), 0.0);
        // 1 - q^-1 + k g q^-2: the product of the poles is k g, so unstable from k g = 1.
        let (model, regulator) = integrating(0.25);
        check_margin((Model { lag: 2, ..model }, regulator), 4.0);
    }

    #[test]
    fn a_step_is_answered_as_the_poles_say() {
        let (model, regulator) = integrating(0.4);
        let got = step_response(&model, &regulator, 30);
        for (k, got) in got.iter().enumerate() {
            let want = 1.0 - libm::pow(0.6, k as f64);
            assert!((got - want).abs() < 1e-12, "sample {k} is {got}, not {want}");
        }
    }

    #[test]
    fn a_loop_grows_beyond_its_margin_and_settles_below() {
        let model = Model { a: vec![-0.5, 0.1], b: vec![-1.2, 0.3], lag: 2 };
        let regulator = Regulator { f: vec![0.2], g: vec![-0.5, 0.3] };
        let margin = gain_margin(&model, &regulator);
        let last = |factor: f64| {
            let b = model.b.iter().map(|b| b * factor * margin).collect();
            let out = step_response(&Model { b, ..model.clone() }, &regulator, 2_000);
            (out[1_999] - 1.0).abs()
        };
        assert!(last(0.95) < 1e-6, "below the margin of {margin} the error is {}", last(0.95));
        assert!(last(1.05) > 10.0, "beyond the margin of {margin} the error is {}", last(1.05));
    }

    #[test]
    fn any_number_of_samples_is_given() {
        let (model, regulator) = integrating(0.4);
        assert!(step_response(&model, &regulator, 0).is_empty(), "no samples");
        assert_eq!(step_response(&model, &regulator, 1), [0.0], "the first is before any effect");
    }
}
