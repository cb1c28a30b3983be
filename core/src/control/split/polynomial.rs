//! Polynomials in the backward shift `q^-1`, lowest power first: products, and whether a system is stable.

use alloc::vec;
use alloc::vec::Vec;

/// The product of two polynomials.
pub(super) fn product(a: &[f64], b: &[f64]) -> Vec<f64> {
    if a.is_empty() || b.is_empty() {
        return Vec::new();
    }
    let mut out = vec![0.0; a.len() + b.len() - 1];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            out[i + j] += a * b;
        }
    }
    out
}

/// The sum of two polynomials, the second multiplied by `factor` and delayed by `shift` samples.
pub(super) fn sum(a: &[f64], factor: f64, b: &[f64], shift: usize) -> Vec<f64> {
    let mut out = a.to_vec();
    out.resize(a.len().max(b.len() + shift), 0.0);
    out[shift..].iter_mut().zip(b).for_each(|(out, b)| *out += factor * b);
    out
}

/// Whether a system with this characteristic polynomial is stable: all its poles, the roots of
/// `p0 z^n + p1 z^(n-1) + ... + pn`, lie within the unit circle.
///
/// Schur-Cohn: that is so if and only if `|pn / p0| < 1` and the polynomial of one degree less, of coefficients
/// `p_i - (pn / p0) p_(n-i)`, has its roots there too. A polynomial with anything infinite or undefined, or without
/// its first coefficient, is not stable.
pub(super) fn is_stable(p: &[f64]) -> bool {
    let mut p = p.to_vec();
    while let [first, .., last] = p[..] {
        let k = last / first;
        // Also false if it is no number.
        if !(-1.0 < k && k < 1.0) {
            return false;
        }
        let n = p.len() - 1;
        p = (0..n).map(|i| p[i] - k * p[n - i]).collect();
    }
    p.first().is_some_and(|&p| p.is_finite() && p != 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Draw, mix};
    use nalgebra::DMatrix;

    #[track_caller]
    fn check(p: &[f64], want: bool) {
        assert_eq!(is_stable(p), want, "stability of {p:?}");
    }

    #[test]
    fn products_and_sums_are_by_powers() {
        assert_eq!(product(&[1.0, -1.0], &[1.0, 0.5, 2.0]), [1.0, -0.5, 1.5, -2.0], "(1-x)(1+x/2+2xx)");
        assert_eq!(product(&[1.0], &[]), [0.0; 0], "nothing times something");
        assert_eq!(sum(&[1.0, 2.0], 2.0, &[3.0, 4.0], 1), [1.0, 8.0, 8.0], "1+2x + 2x(3+4x)");
        assert_eq!(sum(&[1.0, 2.0, 3.0], 1.0, &[1.0], 0), [2.0, 2.0, 3.0], "a shorter second");
    }

    #[test]
    fn poles_within_the_unit_circle_are_stable() {
        check(&[1.0, -0.6], true);
        check(&[1.0, -1.0], false);
        check(&[1.0, 1.1], false);
        check(&[2.0, -1.0, 0.0, 0.0], true);
        // 0.9 +- 0.4i and 0.95 +- 0.4i: magnitudes 0.985 and 1.03.
        check(&[1.0, -1.8, 0.97], true);
        check(&[1.0, -1.9, 1.0625], false);
        check(&[1.0], true);
    }

    #[test]
    fn what_is_no_polynomial_is_not_stable() {
        check(&[], false);
        check(&[0.0], false);
        check(&[0.0, 1.0], false);
        check(&[1.0, f64::NAN, 0.5], false);
        check(&[f64::INFINITY, 1.0], false);
        check(&[1.0, f64::NEG_INFINITY], false);
    }

    /// The largest magnitude of a pole: an eigenvalue of the companion matrix, by a matrix library.
    fn largest_pole(p: &[f64]) -> f64 {
        let n = p.len() - 1;
        let companion = DMatrix::from_fn(n, n, |i, j| match (i, j) {
            (0, j) => -p[j + 1] / p[0],
            (i, j) => f64::from(u8::from(i == j + 1)),
        });
        companion.complex_eigenvalues().iter().map(|pole| pole.norm()).fold(0.0, f64::max)
    }

    #[test]
    fn the_verdict_is_that_of_the_eigenvalues() {
        let mut verdicts = [0, 0];
        for seed in 0..2_000_u64 {
            let random = |n: u64| Draw::from_bits(mix(seed ^ mix(n))).get();
            let degree = 1 + (random(0) * 8.0) as u64;
            let width = 3.0 * random(20);
            let p: Vec<f64> =
                (0..=degree).map(|i| if i == 0 { 1.0 } else { width * (random(i) - 0.5) }).collect();
            let largest = largest_pole(&p);
            if (largest - 1.0).abs() > 1e-6 {
                check(&p, largest < 1.0);
                verdicts[usize::from(largest < 1.0)] += 1;
            }
        }
        assert!(verdicts[0] > 300 && verdicts[1] > 300, "unstable and stable ones tried: {verdicts:?}");
    }
}
