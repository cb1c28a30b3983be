//! Time tracks: history under one time axis, causes read downwards.
//!
//! A track is a value range and layers over one set of equally spaced columns of numbers; a number that is
//! not finite is a gap. [`Tracks::paint`] keeps the drawn curves and redraws them only when
//! [`History::version`] (or size, theme, span) changes, so that moving the playhead costs two copies.

mod paint;
mod reduce;

pub use paint::Tracks;
pub use reduce::{nearest, runs};

use super::geom::Rect;
use std::borrow::Cow;

/// A column of numbers, one for each step of the history.
pub type Column<'a> = Cow<'a, [f64]>;

/// Colour of a layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// That of the class at this rank, with its mark and pattern.
    Class(usize),
    /// Refusals; areas are hatched.
    Loss,
    /// Ink.
    Ink,
    /// Second ink.
    Ink2,
    /// Third ink.
    Ink3,
}

/// How a line is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stroke {
    /// Whole.
    #[default]
    Solid,
    /// Dotted: the run as it was before an edit.
    Dotted,
    /// Dashed: the other run of a comparison, or a target.
    Dashed,
}

/// One layer of a track, drawn in the order given.
#[derive(Clone, Debug, PartialEq)]
pub enum Layer<'a> {
    /// A curve. Solid curves of a class carry its mark now and then, and at the playhead.
    Line {
        /// Height.
        values: Column<'a>,
        /// Colour.
        ink: Ink,
        /// Line style.
        stroke: Stroke,
        /// Line width in pixels.
        width: f64,
    },
    /// The area between two curves.
    Area {
        /// Lower edge; the bottom of the track if absent.
        from: Option<Column<'a>>,
        /// Upper edge.
        to: Column<'a>,
        /// Colour.
        ink: Ink,
    },
    /// Behind a curve of means, where several steps were merged into one number: from the least step to the
    /// greatest.
    Range {
        /// Least.
        low: Column<'a>,
        /// Greatest.
        high: Column<'a>,
        /// Colour of the curve.
        ink: Ink,
    },
}

impl<'a> Layer<'a> {
    /// A solid curve.
    #[must_use]
    pub const fn line(values: Column<'a>, ink: Ink) -> Self {
        Self::Line { values, ink, stroke: Stroke::Solid, width: 1.6 }
    }

    /// A thin dotted curve: the run before the last edit.
    #[must_use]
    pub const fn before(values: Column<'a>, ink: Ink) -> Self {
        Self::Line { values, ink, stroke: Stroke::Dotted, width: 1.2 }
    }

    /// A thin dashed curve: the other run of a comparison.
    #[must_use]
    pub const fn other(values: Column<'a>, ink: Ink) -> Self {
        Self::Line { values, ink, stroke: Stroke::Dashed, width: 1.2 }
    }
}

/// A number on a track's axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Where.
    pub value: f64,
    /// What is written in the gutter.
    pub label: String,
}

/// One track.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Track<'a> {
    /// Value at the bottom.
    pub low: f64,
    /// Value at the top; above `low`.
    pub high: f64,
    /// Equal ratios equally far apart; `low` is then above 0.
    pub logarithmic: bool,
    /// Numbers on the axis, one or two.
    pub ticks: Vec<Tick>,
    /// What is drawn.
    pub layers: Vec<Layer<'a>>,
}

/// What an event line is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// Load changes.
    Load,
    /// Something fails.
    Bad,
    /// Something recovers.
    Good,
    /// The user's own edit.
    Yours,
}

/// Everything the tracks show.
#[derive(Clone, Copy, Debug)]
pub struct History<'a> {
    /// Another number whenever `tracks`, `start_s`, `step_s` or `warmup_s` are others.
    pub version: u64,
    /// Time of the first number of every column, in seconds.
    pub start_s: f64,
    /// Time between two numbers, in seconds; above 0.
    pub step_s: f64,
    /// What the time axis shows, in seconds.
    pub span_s: (f64, f64),
    /// End of the warm-up, which is greyed; 0 if there is none.
    pub warmup_s: f64,
    /// The playhead. What lies to the right of it is shown faint.
    pub playhead_s: f64,
    /// The pointer, if it is over the tracks.
    pub hover_s: Option<f64>,
    /// The tracks, one a row.
    pub tracks: &'a [Track<'a>],
    /// Lines through all tracks.
    pub events: &'a [(f64, Tone)],
}

/// Where the page has put the tracks, in CSS pixels of the canvas.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrackBoxes {
    /// Size of the canvas.
    pub size: (f64, f64),
    /// Left edge of the time axis; axis numbers stand to its left (nowhere if there is no room).
    pub plot_x: f64,
    /// Width of the time axis.
    pub plot_w: f64,
    /// Each track's whole row: separated by hairlines, curves inside.
    pub rows: Vec<Rect>,
    /// Pixels kept free at the top of each row, for a label above the plot on small screens.
    pub row_head: f64,
}

impl TrackBoxes {
    /// Where a moment lies, for a time axis that shows `span_s`.
    #[must_use]
    pub fn x(&self, at_s: f64, span_s: (f64, f64)) -> f64 {
        let length = span_s.1 - span_s.0;
        let part = if length > 0.0 { (at_s - span_s.0) / length } else { 0.0 };
        self.plot_x + part * self.plot_w
    }

    /// The moment at a place on the time axis, within `span_s`.
    #[must_use]
    pub fn time(&self, x: f64, span_s: (f64, f64)) -> f64 {
        let part = if self.plot_w > 0.0 { ((x - self.plot_x) / self.plot_w).clamp(0.0, 1.0) } else { 0.0 };
        span_s.0 + part * (span_s.1 - span_s.0)
    }
}

impl<'a> Track<'a> {
    /// A track from 0 to a round number above `most`, with one axis number; `label` writes it.
    #[must_use]
    pub fn from_zero(most: f64, label: impl Fn(f64) -> String, layers: Vec<Layer<'a>>) -> Self {
        let (high, tick) = scale(most);
        let ticks = vec![Tick { value: tick, label: label(tick) }];
        Self { low: 0.0, high, logarithmic: false, ticks, layers }
    }

    /// A track from `low` to a power of ten at or above `most`, equal ratios equally far apart, with two
    /// axis numbers. For waits of classes that differ a thousandfold.
    #[must_use]
    pub fn logarithmic(low: f64, most: f64, label: impl Fn(f64) -> String, layers: Vec<Layer<'a>>) -> Self {
        let mut decades = 1;
        while low * 10_f64.powi(decades) < most && decades < 12 {
            decades += 1;
        }
        let at = |part: f64| low * 10_f64.powi((part * f64::from(decades)).round() as i32);
        let mut ticks: Vec<Tick> =
            [0.3, 0.8].map(at).into_iter().map(|value| Tick { value, label: label(value) }).collect();
        ticks.dedup();
        Self { low, high: low * 10_f64.powi(decades), logarithmic: true, ticks, layers }
    }

    /// A track of ratios with 1 in the middle, equal ratios equally far apart, that holds `values` as far as that is
    /// sensible.
    #[must_use]
    pub fn around_one(
        values: impl Iterator<Item = f64>,
        label: impl Fn(f64) -> String,
        layers: Vec<Layer<'a>>,
    ) -> Self {
        const TICKS: [f64; 6] = [1.25, 1.5, 2.0, 5.0, 10.0, 100.0];
        let far = |x: f64| if x.is_finite() && x > 0.0 { x.max(1.0 / x) } else { 1.0 };
        let most = values.map(far).fold(1.0, f64::max);
        let tick = TICKS.into_iter().find(|t| t * t >= most).unwrap_or(100.0);
        let ticks = [1.0 / tick, tick].map(|value| Tick { value, label: label(value) }).into();
        Self { low: 1.0 / (tick * tick), high: tick * tick, logarithmic: true, ticks, layers }
    }

    /// How far up the track a value lies, 0 to 1; values beyond the axis lie at its ends.
    #[must_use]
    pub fn part(&self, value: f64) -> f64 {
        let part = if self.logarithmic {
            libm::log(value.max(self.low) / self.low) / libm::log(self.high / self.low)
        } else {
            (value - self.low) / (self.high - self.low)
        };
        part.clamp(0.0, 1.0)
    }

    /// Goodput as an area with what is lost on top of it, both a second.
    #[must_use]
    pub fn goodput(good: Column<'a>, lost: &[f64], label: impl Fn(f64) -> String) -> Self {
        let sum: Vec<f64> = good.iter().zip(lost).map(|(a, b)| a + b).collect();
        let most = largest([&sum[..]]);
        let layers = vec![
            Layer::Area { from: None, to: good.clone(), ink: Ink::Ink },
            Layer::Area { from: Some(good.clone()), to: Cow::Owned(sum), ink: Ink::Loss },
            Layer::Line { values: good, ink: Ink::Ink, stroke: Stroke::Solid, width: 1.5 },
        ];
        Self::from_zero(most, label, layers)
    }

    /// One line a class: `(rank, values)`.
    #[must_use]
    pub fn lines(classes: Vec<(usize, Column<'a>)>, label: impl Fn(f64) -> String) -> Self {
        let most = largest(classes.iter().map(|(_, v)| &v[..]));
        let layers = classes.into_iter().map(|(rank, v)| Layer::line(v, Ink::Class(rank))).collect();
        Self::from_zero(most, label, layers)
    }

    /// Areas upon each other, the first at the bottom: `(rank, values)`.
    #[must_use]
    pub fn stacked(classes: &[(usize, Column<'a>)], label: impl Fn(f64) -> String) -> Self {
        let mut layers = Vec::with_capacity(classes.len());
        let mut below: Option<Vec<f64>> = None;
        for (rank, values) in classes {
            let top: Vec<f64> = match &below {
                None => values.to_vec(),
                Some(sum) => sum.iter().zip(values.iter()).map(|(a, b)| a + b).collect(),
            };
            let from = below.replace(top.clone()).map(Cow::Owned);
            layers.push(Layer::Area { from, to: Cow::Owned(top), ink: Ink::Class(*rank) });
        }
        let most = largest(below.as_deref());
        Self::from_zero(most, label, layers)
    }
}

/// A number short enough for the gutter: `0.5`, `40`, `1.2k`, `50k`, `3M`.
#[must_use]
pub fn short(x: f64) -> String {
    let (x, unit) = match x.abs() {
        a if a >= 1e6 => (x / 1e6, "M"),
        a if a >= 1e3 => (x / 1e3, "k"),
        _ => (x, ""),
    };
    let digits = if x.abs() >= 10.0 { 0 } else { 2 };
    let text = format!("{x:.digits$}");
    let text = if digits > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}{unit}")
}

/// The largest finite number in some columns, or 0.
#[must_use]
pub fn largest<'c>(columns: impl IntoIterator<Item = &'c [f64]>) -> f64 {
    columns.into_iter().flatten().copied().filter(|x| x.is_finite()).fold(0.0, f64::max)
}

/// Top of an axis that holds `most` with a little room, and a round number to write on it.
#[must_use]
pub fn scale(most: f64) -> (f64, f64) {
    let most = if most.is_finite() && most > 0.0 { most } else { 1.0 };
    let mut decade = 1.0_f64;
    while decade > most && decade > 1e-9 {
        decade /= 10.0;
    }
    while decade * 10.0 <= most {
        decade *= 10.0;
    }
    const STEPS: [f64; 9] = [1.0, 1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 5.0, 8.0];
    let high = (STEPS.iter().chain(&[10.0, 12.5])).map(|s| s * decade).find(|&h| h >= 1.04 * most);
    let high = high.unwrap_or(12.5 * decade);
    let tick = [0.5, 1.0, 2.0, 5.0, 10.0].iter().map(|s| s * decade).rfind(|&t| t <= 0.8 * high);
    (high, tick.unwrap_or(high / 2.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_axis_holds_its_largest_value_and_a_round_number() {
        for most in [1e-6, 0.04, 0.99, 1.0, 7.0, 9.99, 10.0, 64.0, 708.0, 925.0, 999.0, 1e6] {
            let (high, tick) = scale(most);
            assert!(high > most && high < 2.1 * most, "{most} gives {high}");
            assert!(tick <= 0.8 * high && tick >= 0.3 * high, "{most} gives tick {tick} of {high}");
        }
        assert_eq!(scale(0.0), scale(1.0));
        assert_eq!(scale(f64::NAN), scale(1.0));
    }

    #[test]
    fn equal_ratios_lie_equally_far_apart() {
        let track = Track::logarithmic(1e-3, 12.0, short, Vec::new());
        assert_eq!(track.high, 100.0);
        let steps: Vec<f64> = [1e-3, 1e-2, 1e-1, 1.0].iter().map(|&v| track.part(v)).collect();
        assert!(steps.windows(2).all(|w| (w[1] - w[0] - 0.2).abs() < 1e-9), "{steps:?}");
        assert_eq!((track.part(0.0), track.part(1e9)), (0.0, 1.0));
        assert!(track.ticks.iter().all(|t| t.value > track.low && t.value < track.high));
        assert_eq!(Track::logarithmic(1.0, 0.0, short, Vec::new()).high, 10.0);
    }

    #[test]
    fn ratios_lie_around_one() {
        let track = |most: f64| Track::around_one([1.0, most, f64::NAN].into_iter(), short, Vec::new());
        for most in [1.0, 1.3, 0.4, 8.0, 0.01, 1e9] {
            let track = track(most);
            assert!((track.part(1.0) - 0.5).abs() < 1e-9, "1 is in the middle for {most}");
            assert!((track.part(2.0) + track.part(0.5) - 1.0).abs() < 1e-9);
        }
        assert_eq!(track(0.4).ticks.iter().map(|t| t.value).collect::<Vec<_>>(), [0.5, 2.0]);
        assert_eq!(track(1.3).high, 1.5625, "a run on target is looked at closely");
        assert_eq!(track(1e9).high, 1e4);
    }

    #[test]
    fn gutter_numbers_are_short() {
        for (x, want) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (40.0, "40"),
            (800.0, "800"),
            (1_250.0, "1.25k"),
            (5e4, "50k"),
            (2e6, "2M"),
        ] {
            assert_eq!(short(x), want);
        }
    }

    #[test]
    fn stacked_areas_lie_upon_each_other() {
        let track =
            Track::stacked(&[(0, Cow::Owned(vec![1.0, 2.0])), (1, Cow::Owned(vec![3.0, f64::NAN]))], |x| {
                x.to_string()
            });
        let Layer::Area { from: Some(from), to, .. } = &track.layers[1] else { panic!("an upper area") };
        assert_eq!(from[..], [1.0, 2.0]);
        assert!(to[0] == 4.0 && to[1].is_nan());
        assert!(track.high > 4.0);
    }

    #[test]
    fn a_place_and_its_moment_are_each_others_inverse() {
        let boxes = TrackBoxes { plot_x: 34.0, plot_w: 734.0, ..TrackBoxes::default() };
        let span = (10.0, 190.0);
        assert_eq!(boxes.x(10.0, span), 34.0);
        assert!((boxes.time(boxes.x(117.0, span), span) - 117.0).abs() < 1e-9);
        assert_eq!(boxes.time(0.0, span), 10.0);
        assert_eq!(boxes.time(9_999.0, span), 190.0);
    }
}
