//! Recursive least squares with exponential forgetting.
//!
//! Plain arrays and our own few lines of algebra: a model here has nine parameters at most, and a matrix library would be
//! many times the size of what it is needed for.

use alloc::vec;
use alloc::vec::Vec;

/// An estimate of the parameters `theta` of `output = regressors * theta + noise`, improved sample by sample.
///
/// With regressors `f`, residual `e = output - f' theta` and forgetting factor `l` (paper P, 0.5):
/// `K = P f / (l + f' P f)`, `theta += K e`, `P = (P - K f' P) / l`.
///
/// `P` is made symmetric after each step, since rounding would let its two halves drift apart, and scaled down where
/// its trace exceeds a cap, since forgetting lets it grow without bound while nothing is learned.
#[derive(Clone, Debug)]
pub(super) struct Rls {
    start: Vec<f64>,
    theta: Vec<f64>,
    /// Covariance, row by row.
    p: Vec<f64>,
    uncertainty: f64,
    forgetting: f64,
    trace_cap: f64,
}

impl Rls {
    /// Begins with these parameters, each as uncertain as `uncertainty` says (`P(0)` is that times the unit matrix).
    /// `forgetting` is above 0 and at most 1.
    pub(super) fn new(start: &[f64], uncertainty: f64, forgetting: f64, trace_cap: f64) -> Self {
        let (start, theta, p) = (start.to_vec(), Vec::new(), Vec::new());
        let mut rls = Self { start, theta, p, uncertainty, forgetting, trace_cap };
        rls.reset();
        rls
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self) {
        let n = self.start.len();
        self.theta.clone_from(&self.start);
        self.p = vec![0.0; n * n];
        self.p.iter_mut().step_by(n + 1).for_each(|p| *p = self.uncertainty);
    }

    /// The parameters.
    pub(super) fn theta(&self) -> &[f64] {
        &self.theta
    }

    /// Trace of the covariance: how uncertain the parameters are.
    pub(super) fn trace(&self) -> f64 {
        self.p.iter().step_by(self.theta.len() + 1).sum()
    }

    /// What the model expects.
    pub(super) fn predict(&self, regressors: &[f64]) -> f64 {
        dot(&self.theta, regressors)
    }

    /// Learns from a sample; gives the residual, that is the error of the prediction made before learning. A sample that
    /// would leave anything infinite or undefined is refused, and changes nothing.
    pub(super) fn update(&mut self, regressors: &[f64], output: f64) -> Option<f64> {
        let residual = output - self.predict(regressors);
        self.correct(regressors, residual, 1.0).then_some(residual)
    }

    /// Learns from a residual, which the caller may have limited, of samples whose noise has that variance (1 in the
    /// plain form). `false` if it is refused.
    pub(super) fn correct(&mut self, regressors: &[f64], residual: f64, noise: f64) -> bool {
        let n = self.theta.len();
        let pf: Vec<f64> = self.p.chunks_exact(n).map(|row| dot(row, regressors)).collect();
        let scale = self.forgetting * noise + dot(&pf, regressors);
        let theta: Vec<f64> =
            self.theta.iter().zip(&pf).map(|(theta, pf)| theta + pf / scale * residual).collect();
        let mut p = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let halves = self.p[i * n + j] + self.p[j * n + i];
                p[i * n + j] = (halves / 2.0 - pf[i] * pf[j] / scale) / self.forgetting;
            }
        }
        let is_sound = scale > 0.0 && theta.iter().chain(&p).all(|x| x.is_finite());
        if is_sound {
            (self.theta, self.p) = (theta, p);
            self.cap();
        }
        is_sound
    }

    /// Puts a parameter back between two bounds; `true` if it was outside.
    pub(super) fn confine(&mut self, index: usize, (low, high): (f64, f64)) -> bool {
        let theta = &mut self.theta[index];
        let inside = theta.clamp(low, high);
        let was_outside = *theta != inside;
        *theta = inside;
        was_outside
    }

    fn cap(&mut self) {
        let trace = self.trace();
        if trace > self.trace_cap {
            self.p.iter_mut().for_each(|p| *p *= self.trace_cap / trace);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Draw, mix};
    use nalgebra::{DMatrix, DVector};

    /// A number from -1 to 1 that depends on what it is for.
    fn random(seed: u64, n: u64) -> f64 {
        2.0 * Draw::from_bits(mix(seed ^ mix(n))).get() - 1.0
    }

    fn regressors(seed: u64, at: u64, n: usize) -> Vec<f64> {
        (0..n as u64).map(|i| random(seed, at * 16 + i)).collect()
    }

    /// The textbook formulas in a matrix library, with the same cap.
    struct Oracle {
        theta: DVector<f64>,
        p: DMatrix<f64>,
    }

    impl Oracle {
        fn update(&mut self, f: &[f64], output: f64, forgetting: f64, cap: f64) {
            let f = DVector::from_column_slice(f);
            let gain = &self.p * &f / (forgetting + (f.transpose() * &self.p * &f)[0]);
            let residual = output - f.dot(&self.theta);
            self.theta += &gain * residual;
            self.p = (&self.p - &gain * f.transpose() * &self.p) / forgetting;
            self.p = (&self.p + self.p.transpose()) / 2.0;
            if self.p.trace() > cap {
                self.p *= cap / self.p.trace();
            }
        }
    }

    #[track_caller]
    fn check_oracle(n: usize, forgetting: f64, cap: f64) {
        let start: Vec<f64> = regressors(7, 0, n);
        let mut rls = Rls::new(&start, 100.0, forgetting, cap);
        let mut oracle = Oracle { theta: DVector::from_vec(start), p: DMatrix::identity(n, n) * 100.0 };
        for at in 0..300 {
            let (f, output) = (regressors(n as u64, at, n), random(99, at));
            rls.update(&f, output).expect("a finite sample");
            oracle.update(&f, output, forgetting, cap);
            let theta = (DVector::from_column_slice(rls.theta()) - &oracle.theta).amax();
            let p = (DMatrix::from_row_slice(n, n, &rls.p) - &oracle.p).amax();
            assert!(theta < 1e-9, "{n} parameters, step {at}: theta is off by {theta:e}");
            assert!(p < 1e-9 * oracle.p.amax().max(1.0), "{n} parameters, step {at}: P is off by {p:e}");
        }
    }

    #[test]
    fn parameters_and_covariance_are_those_of_a_matrix_library() {
        for n in 1..=9 {
            for forgetting in [0.9, 0.98, 1.0] {
                check_oracle(n, forgetting, 1e4);
                check_oracle(n, forgetting, 1.0);
            }
        }
    }

    #[test]
    fn a_known_plant_is_found() {
        for n in 1..=9 {
            let truth = regressors(5, 1, n);
            let mut rls = Rls::new(&vec![0.0; n], 100.0, 0.95, 1e4);
            for at in 0..400 {
                let f = regressors(6, at, n);
                rls.update(&f, dot(&f, &truth));
            }
            let off = rls.theta().iter().zip(&truth).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(off < 1e-6, "{n} parameters are off by {off}: {:?} for {truth:?}", rls.theta());
        }
    }

    #[test]
    fn fifty_thousand_zeros_teach_nothing_and_do_not_blow_up() {
        let mut rls = Rls::new(&[0.1, 0.2, 0.3], 100.0, 0.9, 1e4);
        for _ in 0..50_000 {
            assert_eq!(rls.update(&[0.0; 3], 0.0), Some(0.0), "zeros are as expected");
        }
        assert_eq!(rls.theta(), [0.1, 0.2, 0.3], "zeros changed the parameters");
        assert!((rls.trace() - 1e4).abs() < 1e-6, "trace {} is not at the cap", rls.trace());
    }

    #[test]
    fn what_is_no_number_is_refused_and_changes_nothing() {
        let mut rls = Rls::new(&[0.1, 0.2], 100.0, 0.98, 1e4);
        let before = (rls.theta.clone(), rls.p.clone());
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX] {
            assert_eq!(rls.update(&[bad, 1.0], 1.0), None, "a regressor of {bad}");
        }
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            assert_eq!(rls.update(&[1.0, 1.0], bad), None, "an output of {bad}");
        }
        assert_eq!((rls.theta.clone(), rls.p.clone()), before, "a refused sample left a trace");
    }

    #[test]
    fn a_reset_forgets_and_bounds_confine() {
        let mut rls = Rls::new(&[0.1, 0.2], 100.0, 0.98, 1e4);
        rls.update(&[1.0, 0.5], 3.0);
        assert!(rls.theta()[0] > 1.0, "it learned nothing: {:?}", rls.theta());
        assert!(rls.confine(0, (-1.0, 1.0)), "2 and more is outside -1 to 1");
        assert!(!rls.confine(0, (-1.0, 1.0)), "1 is inside -1 to 1");
        assert_eq!(rls.theta()[0], 1.0, "it is put on the bound");
        rls.reset();
        assert_eq!((rls.theta(), rls.trace()), (&[0.1, 0.2][..], 200.0), "after a reset");
    }

    #[test]
    fn noisier_samples_count_for_less() {
        let learned = |noise: f64| {
            let mut rls = Rls::new(&[0.0], 1.0, 1.0, 1e4);
            rls.correct(&[1.0], 1.0, noise);
            rls.theta()[0]
        };
        // P f / (noise + f P f)
        assert_eq!(learned(1.0), 0.5, "noise as large as the uncertainty");
        assert_eq!(learned(3.0), 0.25, "noise three times as large");
    }
}
