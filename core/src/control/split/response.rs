//! How a loop closed over a model answers a step of its set-point: what the model promises, to be held against what
//! happens.

use alloc::vec::Vec;

/// The first `n` outputs, from 0 on, after the set-point went from 0 to 1, of a model `dy = a1 dy1 + a2 dy2 + b du1`
/// under `du = g0 e + g1 e1 + g2 e2` (paper P, 0.4 and 0.6). What a disturbance of size 1 leaves is 1 less these.
#[must_use]
pub fn step_response((a, b): ([f64; 2], f64), gains: [f64; 3], n: usize) -> Vec<f64> {
    let (mut y, mut dy, mut errors) = (0.0, [0.0; 2], [0.0; 3]);
    let mut out = Vec::with_capacity(n);
    for _ in 0..n {
        out.push(y);
        errors = [1.0 - y, errors[0], errors[1]];
        let du: f64 = gains.iter().zip(errors).map(|(gain, error)| gain * error).sum();
        dy = [a[0] * dy[0] + a[1] * dy[1] + b * du, dy[0]];
        y += dy[0];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left of the step, output by output.
    #[track_caller]
    fn check(a: [f64; 2], b: f64, gains: [f64; 3], want: [f64; 5]) {
        for (i, (y, left)) in step_response((a, b), gains, 5).into_iter().zip(want).enumerate() {
            assert!((1.0 - y - left).abs() < 1e-9, "output {i} is {y}, want {}", 1.0 - left);
        }
    }

    #[test]
    fn a_placed_pole_is_what_an_error_keeps() {
        check([0.0, 0.0], -1.0, [-0.5, 0.0, 0.0], [1.0, 0.5, 0.25, 0.125, 0.0625]);
        // Paper P, 0.9, golden vector (b), whose a1 and a2 have the other sign; the controller's zeros come first.
        check([0.5, -0.1], -1.2, [-0.75, 0.5, -1.0 / 12.0], [1.0, 0.1, 0.16, 0.096, 0.0576]);
    }
}
