//! Geometry of what a queue control goes by: the drop curve and the axis it is read off at.
//!
//! Where a control counts requests, its axis is that of the queue itself: curve, thresholds and average lie over the
//! marks they are about. Seconds have an axis of their own, in a band under the marks.

use super::geom::{QueueAxis, Rect, round_up_125};
use super::model::StageView;
use tidegate_core::frame::{Gauged, LevelFrame};

/// How much of the axis lies beyond the last threshold.
const BEYOND: f64 = 1.15;
/// Height of the band under the marks, in pixels.
const BAND: f64 = 7.0;

/// The axis on which a stage's queue is drawn: up to its limit, or, where a curve shuts the door long before, up to
/// a little more than the curve.
#[must_use]
pub fn queue_axis(stage: &StageView, longest: u32) -> QueueAxis {
    let end = curve_end(stage);
    let limit = f64::from(stage.limit);
    if stage.gauged != Gauged::Jobs || end <= 0.0 || end * BEYOND >= limit {
        return QueueAxis::for_limit(stage.limit, longest);
    }
    // A number that can be written on it, and room for the queue that is there.
    let step = round_up_125(end / 20.0);
    let ends = (end * BEYOND / step).ceil() * step;
    let longest = f64::from(longest);
    QueueAxis { max: if longest <= ends { ends } else { round_up_125(1.1 * longest).min(limit) } }
}

/// The axis of what a control counts in seconds; `None` if it counts something else.
#[must_use]
pub fn seconds_axis(stage: &StageView) -> Option<QueueAxis> {
    if stage.gauged != Gauged::Seconds {
        return None;
    }
    let end = curve_end(stage);
    if end > 0.0 {
        return Some(QueueAxis { max: end * BEYOND });
    }
    // A target without a curve: a few times as much, and room for the wait there is.
    let most = stage.classes.iter().map(|c| c.gauge.average.max(3.0 * c.gauge.min)).fold(0.0, f64::max);
    Some(QueueAxis { max: round_up_125(most * 1.1e6) / 1e6 })
}

/// Where the last curve of a stage shuts the door; 0 without curves.
fn curve_end(stage: &StageView) -> f64 {
    let factor = if stage.gentle { 2.0 } else { 1.0 };
    stage.classes.iter().map(|c| factor * c.gauge.max).fold(0.0, f64::max)
}

/// The curves of a stage, each once, with the classes that are judged by it.
#[must_use]
pub fn curves(stage: &StageView) -> Vec<(LevelFrame, Vec<usize>)> {
    let mut curves: Vec<(LevelFrame, Vec<usize>)> = Vec::new();
    for (class, view) in stage.classes.iter().enumerate().filter(|(_, c)| c.gauge.max > 0.0) {
        let g = view.gauge;
        let same = |a: &LevelFrame| (a.min, a.max, a.max_p) == (g.min, g.max, g.max_p);
        match curves.iter_mut().find(|(known, _)| same(known)) {
            Some((_, classes)) => classes.push(class),
            None => curves.push((g, vec![class])),
        }
    }
    curves
}

/// Corners of a drop curve within `strip`, from the head of the queue to the end of the axis.
#[must_use]
pub fn corners(g: &LevelFrame, gentle: bool, axis: QueueAxis, strip: &Rect) -> [(f64, f64); 5] {
    let at = |value: f64, p: f64| (axis.x(strip, value), height(strip, p));
    let shut = if gentle { 2.0 * g.max } else { g.max };
    [at(0.0, 0.0), at(g.min, 0.0), at(g.max, g.max_p), at(shut, 1.0), at(axis.max.max(shut), 1.0)]
}

/// Where a level stands on its curve.
#[must_use]
pub fn point(g: &LevelFrame, axis: QueueAxis, strip: &Rect) -> (f64, f64) {
    (axis.x(strip, g.average), height(strip, g.drop_p))
}

/// Height of a probability in a strip.
fn height(strip: &Rect, p: f64) -> f64 {
    let p = if p.is_finite() { p.clamp(0.0, 1.0) } else { 0.0 };
    strip.bottom() - p * strip.h
}

/// The part of the strip above the lanes that curves are drawn in.
#[must_use]
pub fn strip(curve: &Rect) -> Rect {
    let h = (curve.h - 12.0).clamp(0.0, 22.0);
    Rect::new(curve.x, curve.bottom() - 4.0 - h, curve.w, h)
}

/// A lane divided into the place of its marks and the band under them.
#[must_use]
pub fn divided(lane: &Rect) -> (Rect, Rect) {
    let band = BAND.min(lane.h / 3.0);
    (Rect::new(lane.x, lane.y, lane.w, lane.h - band), Rect::new(lane.x, lane.bottom() - band, lane.w, band))
}

/// How far the gate of a lane is shut, 0 to 1: by the chance that an arrival is turned away, where the control has
/// one that does not jump from one arrival to the next; else by the share of those that came and were turned away.
#[must_use]
pub fn shut(stage: &StageView, class: usize) -> f64 {
    let Some(view) = stage.classes.get(class) else { return 0.0 };
    let steady = stage.gauged == Gauged::Seconds || view.gauge.max > 0.0;
    if steady { view.gauge.drop_p } else { view.shed_share }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::model::StageClassView;

    const STRIP: Rect = Rect::new(100.0, 0.0, 330.0, 20.0);

    fn red(average: f64, drop_p: f64) -> LevelFrame {
        LevelFrame { average, min: 200.0, max: 280.0, drop_p, max_p: 0.5, promoted: 0 }
    }

    fn stage(gauged: Gauged, gauges: &[LevelFrame]) -> StageView {
        let class = |&gauge: &LevelFrame| StageClassView { gauge, ..StageClassView::default() };
        StageView {
            gauged,
            limit: 1_120,
            classes: gauges.iter().map(class).collect(),
            ..StageView::default()
        }
    }

    #[track_caller]
    fn check_axis(longest: u32, want: f64) {
        let stage = stage(Gauged::Jobs, &[red(0.0, 0.0)]);
        assert_eq!(queue_axis(&stage, longest).max, want, "axis for {longest} waiting");
    }

    #[test]
    fn the_axis_of_a_curve_ends_a_little_beyond_it() {
        check_axis(0, 340.0);
        check_axis(340, 340.0);
        check_axis(400, 500.0);
        check_axis(1_100, 1_120.0);
        let mut short = stage(Gauged::Jobs, &[red(0.0, 0.0)]);
        short.limit = 300;
        assert_eq!(queue_axis(&short, 0).max, 300.0, "never beyond the limit");
    }

    #[test]
    fn seconds_have_an_axis_of_their_own() {
        let work = LevelFrame { min: 1.0, max: 2.0, ..LevelFrame::default() };
        assert_eq!(seconds_axis(&stage(Gauged::Seconds, &[work])).map(|a| a.max), Some(2.3));
        let wait = LevelFrame { average: 0.034, min: 0.005, ..LevelFrame::default() };
        assert_eq!(seconds_axis(&stage(Gauged::Seconds, &[wait])).map(|a| a.max), Some(0.05));
        assert_eq!(seconds_axis(&stage(Gauged::Jobs, &[red(0.0, 0.0)])), None);
    }

    #[test]
    fn the_curve_rises_with_max_p_and_shuts_at_max() {
        let axis = QueueAxis { max: 330.0 };
        let flat = corners(&red(0.0, 0.0), false, axis, &STRIP);
        assert_eq!(flat, [(430.0, 20.0), (230.0, 20.0), (150.0, 10.0), (150.0, 0.0), (100.0, 0.0)]);
        let gentle = corners(&red(0.0, 0.0), true, QueueAxis { max: 660.0 }, &STRIP);
        assert_eq!(gentle[3], (150.0, 0.0), "gentle: shut only at twice max");
        assert_eq!(point(&red(240.0, 0.25), axis, &STRIP), (190.0, 15.0));
    }

    #[test]
    fn equal_curves_are_drawn_once() {
        let other = LevelFrame { max_p: 0.2, ..red(10.0, 0.0) };
        let curves = curves(&stage(Gauged::Jobs, &[red(1.0, 0.0), other, red(2.0, 0.1)]));
        let classes: Vec<_> = curves.iter().map(|(_, classes)| classes.clone()).collect();
        assert_eq!(classes, [vec![0, 2], vec![1]]);
    }

    #[test]
    fn the_gate_goes_by_the_chance_where_there_is_one() {
        let mut view = stage(Gauged::Jobs, &[red(240.0, 0.25)]);
        view.classes[0].shed_share = 0.9;
        assert_eq!(shut(&view, 0), 0.25);
        view.classes[0].gauge = LevelFrame { average: 50.0, drop_p: 1.0, ..LevelFrame::default() };
        assert_eq!(shut(&view, 0), 0.9, "a token bucket is open or shut from one arrival to the next");
    }
}
