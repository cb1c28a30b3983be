//! Fewer points, the same picture: per pixel column the first, lowest, highest and last number.
//!
//! A line through those four is the same pixels as a line through all of them (Jugel, Jerzak,
//! Hackenbroich and Markl, "M4: a visualization-oriented time series data aggregation", 2014). Nothing is
//! smoothed, and no spike is lost.

/// Points of a curve in pixels, one run between two gaps each. `x_of` gives the place of the number at an
/// index and must rise; numbers left of `from_x` or right of `to_x` are left out, but for one on each side.
#[must_use]
pub fn runs(
    values: &[f64],
    x_of: impl Fn(usize) -> f64,
    y_of: impl Fn(f64) -> f64,
    from_x: f64,
    to_x: f64,
) -> Vec<Vec<(f64, f64)>> {
    let mut runs = Vec::new();
    let mut run: Vec<(f64, f64)> = Vec::new();
    let mut pixel = Pixel::default();
    for (i, &value) in values.iter().enumerate() {
        let x = x_of(i);
        if x_of(i + 1) < from_x {
            continue;
        }
        if !value.is_finite() {
            pixel.flush(&mut run);
            finish(&mut runs, &mut run);
        } else {
            if x.floor() != pixel.column {
                pixel.flush(&mut run);
            }
            pixel.add(x, y_of(value));
        }
        if x > to_x {
            break;
        }
    }
    pixel.flush(&mut run);
    finish(&mut runs, &mut run);
    runs
}

/// Whether a run has about a point in every pixel column, or more.
#[must_use]
pub(super) fn is_dense(run: &[(f64, f64)]) -> bool {
    let width = run.last().map_or(0.0, |p| p.0) - run.first().map_or(0.0, |p| p.0);
    run.len() > 16 && run.len() as f64 > 0.7 * width
}

/// Top edge of a run, pixel column by pixel column: left edge and topmost point.
#[must_use]
pub(super) fn tops(run: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let mut tops: Vec<(f64, f64)> = Vec::new();
    for &(x, y) in run {
        match tops.last_mut() {
            Some(top) if top.0 == x.floor() => top.1 = top.1.min(y),
            _ => tops.push((x.floor(), y)),
        }
    }
    tops
}

/// The number at a moment: that of the nearest column, if it is there and finite.
#[must_use]
pub fn nearest(values: &[f64], start_s: f64, step_s: f64, at_s: f64) -> Option<f64> {
    let i = ((at_s - start_s) / step_s).round();
    let value = *values.get((i >= 0.0).then_some(i as usize)?)?;
    value.is_finite().then_some(value)
}

fn finish(runs: &mut Vec<Vec<(f64, f64)>>, run: &mut Vec<(f64, f64)>) {
    if !run.is_empty() {
        runs.push(core::mem::take(run));
    }
}

/// What fell into one pixel column so far.
#[derive(Default)]
struct Pixel {
    column: f64,
    seen: usize,
    first: (f64, f64),
    last: (f64, f64),
    low: (usize, f64, f64),
    high: (usize, f64, f64),
}

impl Pixel {
    fn add(&mut self, x: f64, y: f64) {
        if self.seen == 0 {
            *self =
                Self { column: x.floor(), first: (x, y), low: (0, x, y), high: (0, x, y), ..Self::default() };
        }
        if y < self.low.2 {
            self.low = (self.seen, x, y);
        }
        if y > self.high.2 {
            self.high = (self.seen, x, y);
        }
        self.last = (x, y);
        self.seen += 1;
    }

    fn flush(&mut self, run: &mut Vec<(f64, f64)>) {
        if self.seen == 0 {
            return;
        }
        let (a, b) = if self.low.0 <= self.high.0 { (self.low, self.high) } else { (self.high, self.low) };
        for point in [self.first, (a.1, a.2), (b.1, b.2), self.last] {
            if run.last() != Some(&point) {
                run.push(point);
            }
        }
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(values: &[f64], per_pixel: f64) -> Vec<Vec<(f64, f64)>> {
        runs(values, |i| i as f64 / per_pixel, |v| v, 0.0, 1e9)
    }

    #[test]
    fn sparse_numbers_are_all_kept() {
        assert_eq!(points(&[1.0, 2.0, 3.0], 0.1), [[(0.0, 1.0), (10.0, 2.0), (20.0, 3.0)]]);
    }

    #[test]
    fn a_spike_in_a_crowd_survives() {
        let mut values = vec![5.0; 10_000];
        values[4_321] = 99.0;
        values[4_322] = -7.0;
        let all: Vec<_> = points(&values, 100.0).concat();
        assert!(all.len() <= 4 * 100);
        assert!(all.iter().any(|p| p.1 == 99.0) && all.iter().any(|p| p.1 == -7.0));
    }

    #[test]
    fn points_keep_the_order_of_time() {
        let values: Vec<f64> = (0..5_000).map(|i| f64::from((i * 7_919) % 613)).collect();
        for run in points(&values, 37.0) {
            assert!(run.windows(2).all(|w| w[0].0 <= w[1].0));
        }
    }

    #[test]
    fn a_gap_ends_a_run() {
        let got = points(&[f64::NAN, 1.0, 2.0, f64::NAN, f64::INFINITY, 3.0], 1.0);
        assert_eq!(got, [vec![(1.0, 1.0), (2.0, 2.0)], vec![(5.0, 3.0)]]);
        assert!(points(&[f64::NAN], 1.0).is_empty());
        assert!(points(&[], 1.0).is_empty());
    }

    #[test]
    fn the_top_edge_has_the_topmost_point_of_every_column() {
        let run = [(3.1, 5.0), (3.6, 2.0), (3.9, 4.0), (4.5, 7.0), (6.0, 1.0)];
        assert_eq!(tops(&run), [(3.0, 2.0), (4.0, 7.0), (6.0, 1.0)]);
        let many = points(&(0..4_000).map(f64::from).collect::<Vec<_>>(), 10.0).concat();
        assert!(is_dense(&many) && tops(&many).len() == 400);
        assert!(!is_dense(&points(&[0.0; 40], 0.2)[0]));
    }

    #[test]
    fn only_what_is_shown_is_looked_at() {
        let values: Vec<f64> = (0..1_000).map(f64::from).collect();
        let got = runs(&values, |i| i as f64, |v| v, 100.0, 110.0).concat();
        assert_eq!((got[0].0, got.last().unwrap().0), (99.0, 111.0));
    }

    #[test]
    fn the_reading_is_the_nearest_number() {
        let values = [1.0, f64::NAN, 3.0];
        assert_eq!(nearest(&values, 10.0, 2.0, 10.9), Some(1.0));
        assert_eq!(nearest(&values, 10.0, 2.0, 12.0), None);
        assert_eq!(nearest(&values, 10.0, 2.0, 14.4), Some(3.0));
        assert_eq!(nearest(&values, 10.0, 2.0, 99.0), None);
        assert_eq!(nearest(&values, 10.0, 2.0, 0.0), None);
    }
}
