//! Geometry of a small chart: how an error goes after a disturbance, as the model says and as it was.

use super::geom::Rect;

/// Part of the chart's height above the axis; the rest is for what swings beyond it.
const ABOVE: f64 = 0.68;

/// An error over the time since a disturbance, as parts of the largest it came to: 1 is the peak, 0 on target.
///
/// `errors` has a number every `step_s` from `start_s` on; taken are those from the disturbance at `from_s` until
/// `to_s`. Gives seconds and error. Nothing if there is no error to speak of.
#[must_use]
pub fn measured(errors: &[f64], start_s: f64, step_s: f64, from_s: f64, to_s: f64) -> Vec<(f64, f64)> {
    /// An error of a hundredth is noise.
    const LEAST: f64 = 0.01;
    let at = |i: usize| start_s + i as f64 * step_s - from_s;
    let taken: Vec<(f64, f64)> = (errors.iter().enumerate())
        .map(|(i, &error)| (at(i), error))
        .filter(|&(s, error)| s >= 0.0 && s <= to_s - from_s && error.is_finite())
        .collect();
    let peak = taken.iter().fold(0.0_f64, |peak, p| if p.1.abs() > peak.abs() { p.1 } else { peak });
    if peak.abs() < LEAST { Vec::new() } else { taken.iter().map(|&(s, e)| (s, e / peak)).collect() }
}

/// Corners of a curve of seconds and errors, within `area`, up to `end_s`.
#[must_use]
pub fn place(curve: &[(f64, f64)], end_s: f64, area: &Rect) -> Vec<(f64, f64)> {
    let x = |s: f64| area.x + s / end_s.max(1e-9) * area.w;
    let y = |error: f64| area.y + (1.0 - error.clamp(1.0 - 1.0 / ABOVE, 1.0)) * ABOVE * area.h;
    curve.iter().filter(|p| p.0 <= end_s).map(|&(s, error)| (x(s), y(error))).collect()
}

/// The same as the path of an SVG; the curve of a sampled controller stays between samples.
#[must_use]
pub fn path(corners: &[(f64, f64)], steps: bool) -> String {
    let mut path = String::new();
    for (i, (x, y)) in corners.iter().enumerate() {
        match i {
            0 => path.push_str(&format!("M{x:.1} {y:.1}")),
            _ if steps => path.push_str(&format!("H{x:.1}V{y:.1}")),
            _ => path.push_str(&format!("L{x:.1} {y:.1}")),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_is_measured_from_the_disturbance_on() {
        let errors = [0.02, -0.01, -0.8, -0.4, f64::NAN, 0.1, 0.0];
        let got = measured(&errors, 0.0, 2.0, 4.0, 11.0);
        assert_eq!(got, [(0.0, 1.0), (2.0, 0.5), (6.0, -0.125)]);
        assert_eq!(measured(&errors[..2], 0.0, 2.0, 2.0, 9.0).len(), 1);
        assert!(measured(&[0.004, -0.003], 0.0, 1.0, 0.0, 9.0).is_empty(), "noise is no response");
    }

    #[test]
    fn curves_stay_in_their_chart() {
        let area = Rect::new(10.0, 4.0, 200.0, 50.0);
        let got = place(&[(0.0, 1.0), (5.0, 0.0), (10.0, -9.0), (11.0, 0.0)], 10.0, &area);
        assert_eq!(got.len(), 3, "what is later is left out");
        assert_eq!(got[0], (10.0, 4.0));
        assert!((got[1].0 - 110.0).abs() < 1e-9 && (got[1].1 - 38.0).abs() < 1e-9, "{got:?}");
        assert!((got[2].1 - 54.0).abs() < 1e-9, "{got:?}");
    }

    #[test]
    fn a_path_goes_through_its_corners() {
        let corners = [(0.0, 1.0), (2.0, 3.0)];
        assert_eq!(path(&corners, false), "M0.0 1.0L2.0 3.0");
        assert_eq!(path(&corners, true), "M0.0 1.0H2.0V3.0");
        assert_eq!(path(&[], true), "");
    }
}
