//! Quantiles of Student's t and of the normal law, for confidence intervals.
//!
//! The t quantile inverts the tail of the law, which is a regularised incomplete beta function, by
//! bisection: slower than a series, but right to the last digits for every number of degrees of freedom,
//! and it is asked a handful of times a run. Beyond 2,000 degrees of freedom the logarithms of the gamma
//! function cancel, so the Cornish-Fisher expansion takes over, where its error is below 1e-12.

use core::f64::consts::FRAC_1_SQRT_2;

/// Degrees of freedom from which the expansion about the normal law is used.
const EXPAND_FROM: f64 = 2_000.0;
const SQRT_TWO_PI: f64 = 2.506_628_274_631_000_5;

/// The point that Student's t with `dof` degrees of freedom stays below with probability `p`.
///
/// Good to about 1e-9 relative for `p` between 1e-12 and 1 - 1e-12. NaN unless `0 < p < 1` and
/// `dof > 0`; infinitely many degrees of freedom give the normal quantile.
/// Source: Abramowitz and Stegun 26.7.1 (tail) and 26.7.5 (expansion).
#[must_use]
pub fn student_t_quantile(p: f64, dof: f64) -> f64 {
    if !(p > 0.0 && p < 1.0 && dof > 0.0) {
        return f64::NAN;
    }
    if p < 0.5 {
        return -upper(p, dof);
    }
    upper(1.0 - p, dof)
}

/// The point exceeded with probability `tail`, at most one half.
fn upper(tail: f64, dof: f64) -> f64 {
    if tail >= 0.5 {
        return 0.0;
    }
    if dof > EXPAND_FROM {
        return expansion(-normal_quantile(tail), dof);
    }
    let (mut low, mut high) = (0.0, 1.0);
    while t_tail(high, dof) > tail && high < 1e300 {
        (low, high) = (high, high * 2.0);
    }
    // Each step halves the bracket; 64 of them leave nothing of a bracket that began as one octave.
    for _ in 0..64 {
        let middle = 0.5 * (low + high);
        if t_tail(middle, dof) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

/// Cornish-Fisher expansion of the t quantile about the normal quantile `z`.
fn expansion(z: f64, dof: f64) -> f64 {
    let z2 = z * z;
    let g1 = z * (z2 + 1.0) / 4.0;
    let g2 = z * ((5.0 * z2 + 16.0) * z2 + 3.0) / 96.0;
    let g3 = z * (((3.0 * z2 + 19.0) * z2 + 17.0) * z2 - 15.0) / 384.0;
    z + (g1 + (g2 + g3 / dof) / dof) / dof
}

/// Probability that t with `dof` degrees of freedom exceeds `t`, for `t >= 0`.
fn t_tail(t: f64, dof: f64) -> f64 {
    // dof / (dof + t^2) and its complement, each without cancellation or overflow.
    let ratio = t * t / dof;
    let (x, rest) = if ratio.is_finite() { (1.0 / (1.0 + ratio), ratio / (1.0 + ratio)) } else { (0.0, 1.0) };
    0.5 * incomplete_beta(dof / 2.0, 0.5, x, rest)
}

/// Regularised incomplete beta function `I_x(a, b)`, given `rest = 1 - x`.
///
/// Continued fraction 26.5.8 of Abramowitz and Stegun, on the side where it converges fast.
fn incomplete_beta(a: f64, b: f64, x: f64, rest: f64) -> f64 {
    if x <= 0.0 || rest <= 0.0 {
        return if x <= 0.0 { 0.0 } else { 1.0 };
    }
    let log_front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log(rest);
    let front = libm::exp(log_front);
    if x < (a + 1.0) / (a + b + 2.0) {
        front * beta_fraction(a, b, x) / a
    } else {
        1.0 - front * beta_fraction(b, a, rest) / b
    }
}

/// The continued fraction of the incomplete beta function, by Lentz's method.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let nonzero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / nonzero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    for m in 1..1_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        d = 1.0 / nonzero(1.0 + even * d);
        c = nonzero(1.0 + even / c);
        value *= d * c;
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        d = 1.0 / nonzero(1.0 + odd * d);
        c = nonzero(1.0 + odd / c);
        let step = d * c;
        value *= step;
        if (step - 1.0).abs() < 1e-15 {
            break;
        }
    }
    value
}

/// The point that a standard normal variable stays below with probability `p`; NaN unless `0 < p < 1`.
///
/// Good to about 1e-15: Acklam's rational start is good to 1e-9, and one step of Halley's method on the
/// complementary error function triples the digits.
#[must_use]
pub fn normal_quantile(p: f64) -> f64 {
    if !(p > 0.0 && p < 1.0) {
        return f64::NAN;
    }
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    let z = normal_start(p);
    let error = 0.5 * libm::erfc(-z * FRAC_1_SQRT_2) - p;
    let step = error * SQRT_TWO_PI * libm::exp(0.5 * z * z);
    z - step / (1.0 + 0.5 * z * step)
}

/// Acklam's rational approximation for `0 < p <= 0.5`, relative error below 1.2e-9.
fn normal_start(p: f64) -> f64 {
    const A: [f64; 6] = [
        -3.969683028665376e1,
        2.209460984245205e2,
        -2.759285104469687e2,
        1.38357751867269e2,
        -3.066479806614716e1,
        2.506628277459239,
    ];
    const B: [f64; 6] = [
        -5.447609879822406e1,
        1.615858368580409e2,
        -1.556989798598866e2,
        6.680131188771972e1,
        -1.328068155288572e1,
        1.0,
    ];
    const C: [f64; 6] = [
        -7.784894002430293e-3,
        -3.223964580411365e-1,
        -2.400758277161838,
        -2.549732539343734,
        4.374664141464968,
        2.938163982698783,
    ];
    const D: [f64; 5] =
        [7.784695709041462e-3, 3.224671290700398e-1, 2.445134137142996, 3.754408661907416, 1.0];
    let poly = |coefficients: &[f64], x: f64| coefficients.iter().fold(0.0, |sum, c| sum * x + c);
    if p < 0.02425 {
        let q = libm::sqrt(-2.0 * libm::log(p));
        poly(&C, q) / poly(&D, q)
    } else {
        let q = p - 0.5;
        poly(&A, q * q) * q / poly(&B, q * q)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f64::consts::PI;

    #[track_caller]
    fn check(got: f64, want: f64, tolerance: f64) {
        assert!((got - want).abs() <= tolerance, "got {got}, want {want}");
    }

    #[test]
    fn agrees_with_printed_tables() {
        // (dof, t 0.975, t 0.995, t 0.9995), as printed in any table of the t law.
        let table = [
            (1.0, 12.706204736, 63.656741162, 636.619248769),
            (2.0, 4.302652730, 9.924843201, 31.599054577),
            (3.0, 3.182446305, 5.840909310, 12.923978636),
            (4.0, 2.776445105, 4.604094871, 8.610301581),
            (5.0, 2.570581836, 4.032142984, 6.868826626),
            (9.0, 2.262157163, 3.249835542, 4.780912586),
            (10.0, 2.228138852, 3.169272673, 4.586893859),
            (19.0, 2.093024054, 2.860934606, 3.883405853),
            (29.0, 2.045229642, 2.756385904, 3.659405019),
            (30.0, 2.042272456, 2.749995654, 3.645958635),
            (100.0, 1.983971519, 2.625890521, 3.390491311),
        ];
        for (dof, t95, t99, t999) in table {
            check(student_t_quantile(0.975, dof), t95, 1e-6);
            check(student_t_quantile(0.995, dof), t99, 1e-6);
            check(student_t_quantile(0.9995, dof), t999, 1e-6);
        }
    }

    #[test]
    fn one_and_two_degrees_of_freedom_have_closed_forms() {
        for p in [0.501, 0.6, 0.75, 0.9, 0.99, 0.9999, 0.999_999_9] {
            let cauchy = libm::tan(PI * (p - 0.5));
            check(student_t_quantile(p, 1.0), cauchy, 1e-8 * cauchy);
            let two = (2.0 * p - 1.0) / libm::sqrt(2.0 * p * (1.0 - p));
            check(student_t_quantile(p, 2.0), two, 1e-8 * two);
        }
    }

    #[test]
    fn both_methods_meet_where_they_hand_over() {
        for p in [0.6, 0.9, 0.975, 0.995, 0.9995, 0.999_999] {
            let exact = student_t_quantile(p, EXPAND_FROM);
            check(expansion(normal_quantile(p), EXPAND_FROM), exact, 1e-8);
        }
    }

    #[test]
    fn many_degrees_of_freedom_are_the_normal_law() {
        check(normal_quantile(0.975), 1.959963984540054, 1e-14);
        check(normal_quantile(0.9995), 3.290526731491926, 1e-13);
        check(normal_quantile(1e-10), -6.361340902404056, 1e-12);
        check(normal_quantile(0.5), 0.0, 1e-16);
        check(student_t_quantile(0.975, f64::INFINITY), 1.959963984540054, 1e-12);
        check(student_t_quantile(0.975, 1e12), 1.959963984540054, 1e-10);
    }

    #[test]
    fn is_symmetric_and_grows_with_p() {
        let mut last = f64::NEG_INFINITY;
        for percent in 1..100 {
            let p = f64::from(percent) / 100.0;
            let t = student_t_quantile(p, 7.5);
            check(student_t_quantile(1.0 - p, 7.5), -t, 1e-9);
            assert!(t > last, "t({p}) = {t} after {last}");
            last = t;
        }
    }

    #[test]
    fn nonsense_is_not_a_number() {
        for (p, dof) in [(0.0, 5.0), (1.0, 5.0), (f64::NAN, 5.0), (0.5, 0.0), (0.5, f64::NAN), (0.9, -1.0)] {
            assert!(student_t_quantile(p, dof).is_nan(), "p {p}, dof {dof}");
        }
        assert!(student_t_quantile(0.999, 0.01) > 0.0, "a fraction of a degree of freedom still answers");
    }
}
