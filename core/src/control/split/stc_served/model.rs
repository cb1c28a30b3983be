//! The model of one class, the controller that follows from it, and how it is learned.

use super::super::log_loop::Trust;

/// Pole of the closed loop: part of an error that is left after a period.
const POLE: f64 = 0.7;

/// `dy(k) = a1 dy(k-1) + a2 dy(k-2) + b du(k-1)`, in this order.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Model(pub(super) [f64; 3]);

impl Model {
    /// What is assumed at first: a static gain of -1, reached with some delay.
    pub(super) const PRIOR: Self = Self([0.3, 0.0, -0.7]);
    /// Least and largest a1, a2 and size of the static gain `-b / (1 - a1 - a2)` that such a stage can have.
    const A1: (f64, f64) = (-0.3, 0.8);
    const A2: (f64, f64) = (-0.2, 0.2);
    const GAIN: (f64, f64) = (0.5, 2.5);
    /// Least `1 - a1 - a2`: at the corner of both bounds it is zero, and the static gain would be infinite.
    const LEAST_REST: f64 = 0.05;

    /// The nearest that such a stage can have.
    #[must_use]
    pub(super) fn projected(self) -> Self {
        let Self([a1, a2, b]) = self;
        let (a1, a2) = (a1.clamp(Self::A1.0, Self::A1.1), a2.clamp(Self::A2.0, Self::A2.1));
        let a2 = a2.min(1.0 - Self::LEAST_REST - a1);
        let rest = 1.0 - a1 - a2;
        Self([a1, a2, (b / rest).clamp(-Self::GAIN.1, -Self::GAIN.0) * rest])
    }

    /// Gains of the incremental PID `du = g0 e + g1 e1 + g2 e2`, `e = -y`, that makes the closed loop `1 - POLE z^-1`
    /// (paper P, 0.6; here the sign of a1 and a2 is that of the prediction).
    pub(super) fn gains(self) -> [f64; 3] {
        let Self([a1, a2, b]) = self;
        [(1.0 + a1 - POLE) / b, (a2 - a1) / b, -a2 / b]
    }

    fn predict(self, regressors: [f64; 3]) -> f64 {
        dot(self.0, regressors)
    }

    /// Factor by which the true gain may exceed that of the model before the loop is unstable, if the rest is right.
    ///
    /// With a gain of `(1+s) b` the closed loop has the polynomial `z^3 + c2 z^2 + c1 z + c0`, where `c2 = s g - POLE`,
    /// `c1 = -s (a1-a2)`, `c0 = -s a2` and `g = 1+a1-POLE`. It is stable at s = 0, and at the least s > 0 where one of
    /// Jury's conditions fails no longer: `P(-1) < 0`, `|c0| < 1`, `1 - c0^2 > |c0 c2 - c1|`. `P(1)` is always above
    /// zero. The bounds of a1 and a2 are such that one of them does fail.
    pub(super) fn margin(self) -> f64 {
        let Self([a1, a2, _]) = self;
        let (g, h) = (1.0 + a1 - POLE, a1 - a2 + a2 * POLE);
        let limits = [
            // P(-1) = -1 - POLE + s (g + a1 - 2 a2).
            first_root(0.0, g + a1 - 2.0 * a2, -1.0 - POLE),
            first_root(0.0, a2.abs(), -1.0),
            first_root(a2 * g - a2 * a2, -h, 1.0),
            first_root(-a2 * g - a2 * a2, h, 1.0),
        ];
        1.0 + limits.into_iter().fold(f64::INFINITY, f64::min)
    }
}

/// Least root above zero of `a x^2 + b x + c` with `c` not zero; infinity if there is none.
fn first_root(a: f64, b: f64, c: f64) -> f64 {
    let discriminant = b * b - 4.0 * a * c;
    if discriminant < 0.0 {
        return f64::INFINITY;
    }
    let root = libm::sqrt(discriminant);
    // Citardauq's form: it holds for a = 0 as well.
    let roots = [-2.0 * c / (b + root), -2.0 * c / (b - root)];
    roots.into_iter().filter(|root| *root > 0.0).fold(f64::INFINITY, f64::min)
}

fn dot(a: [f64; 3], b: [f64; 3]) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// A model learned by recursive least squares with forgetting (paper P, 0.5), weighted by the noise of the samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Identified {
    pub(super) model: Model,
    covariance: [[f64; 3]; 3],
    /// Variance of what the model leaves unexplained.
    residual: f64,
    pub(super) trust: Trust,
}

impl Identified {
    /// Part of what is known that is kept from sample to sample.
    const FORGETTING: f64 = 0.99;
    /// Largest variances, and those at first. Without a bound they would grow for ever while nothing can be learned.
    const MOST_VARIANCE: [f64; 3] = [0.1, 0.02, 0.1];
    /// Variance of the residuals at first, and its bounds.
    const RESIDUAL: f64 = 0.05;
    const LEAST_RESIDUAL: f64 = 4e-4;
    const MOST_RESIDUAL: f64 = 1.0;
    /// Weight of the newest residual.
    const NEWEST: f64 = 0.05;
    /// Standard deviations that a residual counts for at most.
    const OUTLIER: f64 = 3.0;

    pub(super) const fn new() -> Self {
        Self {
            model: Model::PRIOR,
            covariance: Self::no_covariance(),
            residual: Self::RESIDUAL,
            trust: Trust::new(),
        }
    }

    const fn no_covariance() -> [[f64; 3]; 3] {
        let [a, b, c] = Self::MOST_VARIANCE;
        [[a, 0.0, 0.0], [0.0, b, 0.0], [0.0, 0.0, c]]
    }

    /// Learns from a change of the output; `is_excited` says whether the input has changed enough to be learned from. Gives
    /// whether an estimate had to be pushed back into its bounds.
    pub(super) fn learn(&mut self, change: f64, regressors: [f64; 3], is_excited: bool) -> bool {
        let error = change - self.model.predict(regressors);
        let mut was_cut = false;
        if is_excited {
            self.trust.note(change - Model::PRIOR.predict(regressors), error);
            let most = Self::OUTLIER * libm::sqrt(self.residual);
            self.update(error.clamp(-most, most), regressors);
            let projected = self.model.projected();
            was_cut = projected != self.model;
            self.model = projected;
        }
        let square = (error * error).min(Self::OUTLIER * Self::OUTLIER * self.residual);
        self.residual = ((1.0 - Self::NEWEST) * self.residual + Self::NEWEST * square)
            .clamp(Self::LEAST_RESIDUAL, Self::MOST_RESIDUAL);
        was_cut
    }

    fn update(&mut self, error: f64, x: [f64; 3]) {
        let px = self.covariance.map(|row| dot(row, x));
        let scale = Self::FORGETTING * self.residual + dot(x, px);
        for i in 0..3 {
            self.model.0[i] += px[i] / scale * error;
            for j in 0..3 {
                self.covariance[i][j] = (self.covariance[i][j] - px[i] * px[j] / scale) / Self::FORGETTING;
            }
        }
        self.bound();
    }

    /// Keeps the variances in their bounds; correlations stay. A variance that rounding has taken to zero or below is no
    /// variance, and learning begins anew.
    fn bound(&mut self) {
        for (i, most) in Self::MOST_VARIANCE.into_iter().enumerate() {
            let variance = self.covariance[i][i];
            if !(variance > 0.0 && variance.is_finite()) {
                self.covariance = Self::no_covariance();
                return;
            }
            if variance > most {
                let factor = libm::sqrt(most / variance);
                for j in 0..3 {
                    self.covariance[i][j] *= factor;
                    self.covariance[j][i] *= factor;
                }
            }
        }
    }

    /// The model to go by: the learned one while it predicts better.
    pub(super) fn in_use(&self, tune: bool) -> Model {
        if tune && self.trust.is_open() { self.model } else { Model::PRIOR }
    }

    /// Sum of the variances.
    pub(super) fn uncertainty(&self) -> f64 {
        (0..3).map(|i| self.covariance[i][i]).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Draw, mix};

    #[track_caller]
    fn check_projected(what: &str, from: [f64; 3], want: [f64; 3]) {
        let Model(got) = Model(from).projected();
        let close = got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "{what}: {got:?} instead of {want:?}");
    }

    #[test]
    fn models_are_kept_where_a_stage_can_be() {
        check_projected("the prior", Model::PRIOR.0, Model::PRIOR.0);
        check_projected("too large", [2.0, -1.0, -9.0], [0.8, -0.2, -1.0]);
        check_projected("too small", [-1.0, 1.0, -0.1], [-0.3, 0.2, -0.55]);
        check_projected("the wrong sign", [0.3, 0.0, 0.7], [0.3, 0.0, -0.35]);
        check_projected("no rest", [0.8, 0.2, -0.1], [0.8, 0.15, -0.1]);
    }

    #[test]
    fn gains_are_those_of_the_pole() {
        let close =
            Model::PRIOR.gains().iter().zip([-0.6 / 0.7, 0.3 / 0.7, 0.0]).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(close, "{:?}", Model::PRIOR.gains());
    }

    /// The largest output in the last of 600 periods of the closed loop, if the gain is `times` that of the model.
    fn left_after(model: Model, times: f64) -> f64 {
        let Model([a1, a2, b]) = model;
        let [g0, g1, g2] = model.gains();
        let (mut y, mut most) = ([1.0, 0.0, 0.0], 0.0_f64);
        for k in 0..600 {
            let step = -(g0 * y[0] + g1 * y[1] + g2 * y[2]);
            let next = y[0] + a1 * (y[0] - y[1]) + a2 * (y[1] - y[2]) + times * b * step;
            y = [next, y[0], y[1]];
            if k >= 590 {
                most = most.max(next.abs());
            }
        }
        most
    }

    #[test]
    fn the_margin_is_where_the_loop_begins_to_swing() {
        for a1 in [-0.3, -0.1, 0.0, 0.3, 0.8] {
            for a2 in [-0.2, -0.05, 0.0, 0.1, 0.2] {
                let model = Model([a1, a2, -0.7]).projected();
                let margin = model.margin();
                assert!(margin.is_finite() && margin > 1.0, "{model:?}: a margin of {margin}");
                assert!(left_after(model, 0.96 * margin) < 1.0, "{model:?}: within {margin} it settles");
                assert!(left_after(model, 1.04 * margin) > 1.0, "{model:?}: beyond {margin} it grows");
            }
        }
    }

    /// Learns for `samples` from a plant with noise, by inputs that are all noise.
    fn learned(plant: Model, noise: f64, samples: u64) -> Identified {
        let random = |n: u64| Draw::from_bits(mix(n ^ mix(7))).get() * 2.0 - 1.0;
        let mut learned = Identified::new();
        let mut past = [0.0, 0.0];
        for k in 0..samples {
            let regressors = [past[0], past[1], 0.3 * random(2 * k)];
            let change = plant.predict(regressors) + noise * random(2 * k + 1);
            learned.learn(change, regressors, true);
            past = [change, past[0]];
        }
        learned
    }

    #[track_caller]
    fn check_learned(plant: [f64; 3], noise: f64, opens: bool) {
        let learned = learned(Model(plant), noise, 2_000);
        assert_eq!(learned.trust.is_open(), opens, "plant {plant:?}, noise {noise}: {learned:?}");
        for (got, want) in learned.model.0.iter().zip(plant) {
            assert!((got - want).abs() < 0.2, "plant {plant:?}, noise {noise}: {learned:?}");
        }
    }

    #[test]
    fn the_model_is_found_and_used_where_the_prior_is_wrong() {
        check_learned([0.1, 0.1, -1.6], 0.1, true);
        check_learned([0.6, -0.1, -0.3], 0.05, true);
        check_learned([0.3, 0.0, -0.7], 0.1, false);
    }

    #[test]
    fn fed_with_nothing_it_keeps_what_it_knows() {
        let mut learned = learned(Model([0.1, 0.1, -1.6]), 0.1, 500);
        let (model, trace) = (learned.model, learned.uncertainty());
        for _ in 0..50_000 {
            assert!(!learned.learn(0.0, [0.0; 3], false), "nothing is cut");
        }
        assert_eq!((learned.model, learned.uncertainty()), (model, trace), "no news changes nothing");
        for _ in 0..50_000 {
            learned.learn(0.0, [0.0; 3], true);
        }
        assert!(
            (learned.uncertainty() - 0.22).abs() < 1e-9,
            "the uncertainty ends at its bounds: {learned:?}"
        );
        assert_eq!(learned.model, model, "an answer of nothing to nothing changes nothing");
    }

    #[test]
    fn a_covariance_stays_one() {
        for seed in 0..20 {
            let random = |n: u64| Draw::from_bits(mix(n ^ mix(seed))).get() * 2.0 - 1.0;
            let mut learned = Identified::new();
            for k in 0..2_000 {
                let size = libm::exp(12.0 * random(5 * k));
                learned.learn(size * random(5 * k + 1), [2, 3, 4].map(|i| size * random(5 * k + i)), true);
                let c = learned.covariance;
                for i in 0..3 {
                    assert!(
                        c[i][i] > 0.0 && c[i][i] <= Identified::MOST_VARIANCE[i] * 1.001,
                        "seed {seed}: {c:?}"
                    );
                    for j in 0..3 {
                        let off = (c[i][j] - c[j][i]).abs();
                        assert!(off <= 1e-12 * learned.uncertainty(), "seed {seed}: not symmetric: {c:?}");
                    }
                }
                assert_eq!(learned.model, learned.model.projected(), "seed {seed}: within bounds");
            }
        }
    }
}
