//! Paints the lanes of a stage: who waits, what the queue control goes by, and its gate.

use super::boxes::StageBoxes;
use super::gauge::{self, corners, curves, divided, point, strip};
use super::geom::{Lattice, QueueAxis, Rect, gate};
use super::model::{PictureModel, StageClassView, StageView};
use super::pen::{Align, Pen, grouped};
use super::picture::class_style;

/// How near a click has to be to the middle of a mark, in CSS pixels.
const NEAR: f64 = 9.0;

/// What the lanes of one stage are drawn by.
#[derive(Clone, Copy)]
pub(super) struct Axes {
    /// Of the requests that wait.
    pub(super) queue: QueueAxis,
    /// Of what the control counts in seconds.
    pub(super) seconds: Option<QueueAxis>,
}

/// The longest of a stage's queues, as its limit counts them.
pub(super) fn longest(stage: &StageView) -> u32 {
    stage.classes.iter().map(|c| c.counted.max(in_lane(c))).max().unwrap_or(0)
}

/// Requests that stand in a class's lane.
fn in_lane(view: &StageClassView) -> u32 {
    view.lane.iter().fold(0, |sum, (_, n)| sum.saturating_add(*n))
}

/// The lanes of a stage with their axis, marks, thresholds and gates.
pub(super) fn lanes(
    pen: Pen<'_>,
    at: &StageBoxes,
    stage: &StageView,
    model: &PictureModel,
    axes: Axes,
    per_mark: u32,
) {
    let axis = axes.queue;
    // A curve without thresholds is none: seconds then have a target only.
    match axes.seconds {
        Some(seconds) if stage.has_curve() => drop_curves(pen, &at.curve, stage, model, seconds),
        Some(seconds) => target(pen, &at.curve, stage, seconds),
        None if stage.has_curve() => drop_curves(pen, &at.curve, stage, model, axis),
        None => ruler(pen, &at.curve, axis, stage.limit),
    }
    for &class in &model.order {
        let Some(lane) = at.lanes.get(class).filter(|r| !r.is_empty()) else { continue };
        let view = &stage.classes[class];
        let full = view.counted >= stage.limit;
        pen.ctx.save();
        pen.round(lane, 6.0);
        pen.ctx.clip();
        pen.block(lane, pen.theme.water);
        let (marks, band) = match axes.seconds {
            Some(_) => divided(lane),
            None => (*lane, *lane),
        };
        let gauged = axes.seconds.unwrap_or(axis);
        zones(pen, &band, stage, view, gauged);
        let own = in_lane(view);
        let ahead = if stage.cumulative { view.ahead } else { 0 };
        let shaded = if stage.cumulative { ahead } else { view.counted };
        if shaded > own || ahead > 0 {
            counted_with(pen, &marks, axis, shaded);
        }
        // Beyond a curve on this axis nobody is let in: there is no more of it to be seen.
        if axes.seconds.is_some() || !stage.has_curve() || full {
            end_of_lane(pen, &marks, axis, stage.limit, full);
        }
        let lattice = Lattice::new(&marks, axis, per_mark);
        let ahead = f64::from(ahead) / f64::from(per_mark.max(1));
        lane_marks(pen, model, class, &view.lane, &lattice, per_mark, ahead);
        average(pen, &band, stage, view, gauged);
        pen.ctx.restore();
        if pen.theme.water == pen.theme.sheet {
            pen.round(lane, 6.0);
            pen.stroke(pen.theme.line, 1.0);
        }
        if stage.gauged_level(class) {
            pointer(pen, (gauged.x(&band, view.gauge.average), lane.bottom()));
        }
        if per_mark > 1 && own > 0 {
            mark_scale(pen, model, class, (lane.x + 10.0, lane.y + 11.0), per_mark);
        }
        pen.ctx.begin_path();
        gate(lane, at.gate_x, gauge::shut(stage, class)).iter().for_each(|bar| pen.add_round(bar, 2.0));
        pen.fill(pen.theme.ink);
    }
}

/// The drop curves over the lanes, with each class where it stands.
fn drop_curves(pen: Pen<'_>, area: &Rect, stage: &StageView, model: &PictureModel, axis: QueueAxis) {
    let strip = strip(area);
    if strip.is_empty() {
        return;
    }
    pen.line((strip.x, strip.bottom()), (strip.right(), strip.bottom()));
    pen.stroke(pen.theme.line_2, 1.0);
    let curves = curves(stage);
    for (g, _) in &curves {
        let line = corners(g, stage.gentle, axis, &strip);
        if curves.len() == 1 {
            pen.ctx.begin_path();
            let mut area = line.to_vec();
            area.push((line[4].0, strip.bottom()));
            pen.polygon(&area);
            pen.alpha(0.12);
            pen.fill(pen.theme.loss);
            pen.alpha(1.0);
        }
        pen.ctx.begin_path();
        pen.ctx.move_to(line[0].0, line[0].1);
        line[1..].iter().for_each(|p| pen.ctx.line_to(p.0, p.1));
        pen.stroke(pen.theme.loss, 1.4);
    }
    if let Some((g, _)) = curves.first().filter(|_| strip.w >= 130.0) {
        let (min, max) = (axis.x(&strip, g.min), axis.x(&strip, g.max));
        let seconds = stage.gauged == tidegate_core::frame::Gauged::Seconds;
        let write = |v: f64| if seconds { crate::figures::wait(v) } else { grouped(v.round() as u64) };
        // Beside their thresholds, where the curve leaves room.
        if max - strip.x > 34.0 {
            pen.text(&write(g.max), (max - 4.0, strip.cy() + 5.0), 11.0, 400, Align::Right, pen.theme.ink_3);
        }
        if strip.right() - min > 40.0 {
            pen.text(
                &write(g.min),
                (min + 3.0, strip.bottom() - 5.0),
                11.0,
                400,
                Align::Left,
                pen.theme.ink_3,
            );
        }
    }
    // The least urgent first, so that the most urgent lie on top.
    for &class in model.order.iter().rev() {
        let view = &stage.classes[class];
        if view.gauge.max > 0.0 {
            let style = class_style(pen, model, class);
            pen.ctx.begin_path();
            pen.mark(style.mark, point(&view.gauge, axis, &strip), 4.0);
            pen.stroke(pen.theme.sheet, 2.5);
            pen.fill(style.colour);
        }
    }
}

/// The target of a control that has no curve, and where it stands.
fn target(pen: Pen<'_>, area: &Rect, stage: &StageView, axis: QueueAxis) {
    let strip = strip(area);
    let Some(g) = stage.classes.first().map(|c| c.gauge).filter(|_| !strip.is_empty()) else { return };
    let (y, x) = (strip.bottom(), axis.x(&strip, g.min));
    pen.line((strip.x, y), (strip.right(), y));
    pen.stroke(pen.theme.line_2, 1.0);
    pen.line((x, y - 8.0), (x, y + 2.0));
    pen.stroke(pen.theme.loss, 1.4);
    pen.text(&crate::figures::wait(g.min), (x, y - 11.0), 11.0, 400, Align::Centre, pen.theme.ink_3);
    pointer(pen, (axis.x(&strip, g.average), y + 1.0));
}

/// A small triangle that points up at the running average.
fn pointer(pen: Pen<'_>, (x, y): (f64, f64)) {
    pen.ctx.begin_path();
    pen.polygon(&[(x, y), (x - 4.0, y + 6.0), (x + 4.0, y + 6.0)]);
    pen.fill(pen.theme.ink);
}

/// Between the thresholds some are turned away, beyond the last all.
fn zones(pen: Pen<'_>, band: &Rect, stage: &StageView, view: &StageClassView, axis: QueueAxis) {
    let g = view.gauge;
    if !stage.gauged_level_of(view) {
        return;
    }
    let min = axis.x(band, g.min);
    if g.max > 0.0 {
        let max = axis.x(band, g.max);
        pen.alpha(0.1);
        pen.block(&Rect::new(max, band.y, min - max, band.h), pen.theme.loss);
        pen.alpha(0.28);
        pen.tiled(&Rect::new(band.x, band.y, max - band.x, band.h), pen.patterns.loss());
        pen.alpha(0.8);
        tick(pen, max, band, pen.theme.loss);
    }
    pen.alpha(0.8);
    tick(pen, min, band, pen.theme.ink_3);
    pen.alpha(1.0);
}

fn tick(pen: Pen<'_>, x: f64, band: &Rect, colour: &str) {
    pen.dash(&[2.0, 2.0]);
    pen.line((x, band.y), (x, band.bottom()));
    pen.stroke(colour, 1.0);
    pen.dash(&[]);
}

/// The running average, as a line across what it is an average of.
fn average(pen: Pen<'_>, band: &Rect, stage: &StageView, view: &StageClassView, axis: QueueAxis) {
    if stage.gauged_level_of(view) {
        let x = axis.x(band, view.gauge.average);
        pen.line((x, band.y), (x, band.bottom()));
        pen.stroke(pen.theme.ink, 1.5);
    }
}

/// The queue axis: 0 at the head, the limit at the tail.
fn ruler(pen: Pen<'_>, strip: &Rect, axis: QueueAxis, limit: u32) {
    if strip.is_empty() || strip.h < 14.0 {
        return;
    }
    let y = (strip.bottom() - 4.0).round() + 0.5;
    pen.line((strip.x, y), (strip.right(), y));
    pen.stroke(pen.theme.line_2, 1.0);
    let whole = axis.max >= f64::from(limit);
    let middle = (axis.max >= 4.0 && strip.w >= 120.0).then_some((axis.max / 2.0).round());
    for n in [Some(0.0), middle, Some(axis.max)].into_iter().flatten() {
        let x = axis.x(strip, n);
        let align = match n {
            0.0 => Align::Right,
            n if n < axis.max => Align::Centre,
            _ => Align::Left,
        };
        let wall = n == axis.max && whole;
        let x_tick = x.clamp(strip.x + 0.75, strip.right() - 0.75);
        pen.line((x_tick, y - if wall { 6.0 } else { 3.0 }), (x_tick, y + 4.0));
        pen.stroke(if wall { pen.theme.ink } else { pen.theme.line_2 }, if wall { 1.5 } else { 1.0 });
        let nudge = if align == Align::Left { 5.0 } else { 0.0 };
        pen.text(&grouped(n as u64), (x + nudge, y - 5.0), 11.0, 400, align, pen.theme.ink_3);
    }
}

/// Shades what the limit counts besides the lane's own requests.
fn counted_with(pen: Pen<'_>, lane: &Rect, axis: QueueAxis, counted: u32) {
    let x = axis.x(lane, f64::from(counted));
    pen.alpha(0.07);
    pen.block(&Rect::new(x, lane.y, lane.right() - x, lane.h), pen.theme.ink);
    pen.alpha(0.5);
    pen.line((x, lane.y), (x, lane.bottom()));
    pen.stroke(pen.theme.ink, 1.2);
    pen.alpha(1.0);
}

/// The wall at the limit, or a break where the axis ends before it.
fn end_of_lane(pen: Pen<'_>, lane: &Rect, axis: QueueAxis, limit: u32, full: bool) {
    if axis.max >= f64::from(limit) {
        if full {
            pen.alpha(0.3);
            pen.tiled(&Rect::new(lane.x, lane.y, 9.0, lane.h), pen.patterns.loss());
            pen.alpha(1.0);
        }
        let colour = if full { pen.theme.loss } else { pen.theme.ink_2 };
        pen.block(&Rect::new(lane.x, lane.y, 2.5, lane.h), colour);
        return;
    }
    let teeth = (lane.h / 5.0).ceil() as u32 + 1;
    pen.ctx.begin_path();
    pen.ctx.move_to(lane.x + 2.0, lane.y - 5.0);
    for i in 0..=teeth {
        let x = lane.x + if i % 2 == 0 { 6.0 } else { 2.0 };
        pen.ctx.line_to(x, lane.y + 5.0 * f64::from(i));
    }
    pen.stroke(pen.theme.ink_3, 1.2);
}

/// The requests in a lane: its own as one path, strangers (moved up from elsewhere) among them.
fn lane_marks(
    pen: Pen<'_>,
    model: &PictureModel,
    host: usize,
    lane: &[(usize, u32)],
    lattice: &Lattice,
    per_mark: u32,
    ahead: f64,
) {
    let counts = marks_by_class(lane, per_mark);
    let places = scatter(&counts, host);
    for &(class, _) in &counts {
        let style = class_style(pen, model, class);
        let r = if class == host { lattice.radius } else { 1.15 * lattice.radius };
        pen.ctx.begin_path();
        for (i, _) in places.iter().enumerate().filter(|&(_, &c)| c == class) {
            pen.mark(style.mark, lattice.at(i, ahead), r);
        }
        pen.fill(style.colour);
    }
}

/// The mark nearest to a point of a class's lane, if one is near: its class, and how many requests of that class stand
/// before it in the lane.
pub(super) fn mark_at(
    lane: &Rect,
    host: usize,
    stage: &StageView,
    axes: Axes,
    per_mark: u32,
    (x, y): (f64, f64),
) -> Option<(usize, u32)> {
    let view = stage.classes.get(host)?;
    let marks = if axes.seconds.is_some() { divided(lane).0 } else { *lane };
    let lattice = Lattice::new(&marks, axes.queue, per_mark);
    let per_mark = per_mark.max(1);
    let ahead = if stage.cumulative { f64::from(view.ahead) / f64::from(per_mark) } else { 0.0 };
    let places = scatter(&marks_by_class(&view.lane, per_mark), host);
    let far = |i: usize| {
        let (mx, my) = lattice.at(i, ahead);
        (mx - x).hypot(my - y)
    };
    let nearest = (0..places.len()).min_by(|&a, &b| far(a).total_cmp(&far(b)))?;
    (far(nearest) <= NEAR).then(|| {
        let class = places[nearest];
        let before = places[..nearest].iter().filter(|&&c| c == class).count();
        (class, before as u32 * per_mark)
    })
}

/// Marks of each class in a lane, when each stands for `per_mark` requests; at least one if any waits.
fn marks_by_class(lane: &[(usize, u32)], per_mark: u32) -> Vec<(usize, usize)> {
    lane.iter().map(|&(class, n)| (class, n.div_ceil(per_mark.max(1)) as usize)).collect()
}

/// Which class stands at each place of a lane: strangers evenly spread among the host's.
fn scatter(counts: &[(usize, usize)], host: usize) -> Vec<usize> {
    let total: usize = counts.iter().map(|(_, n)| n).sum();
    let mut places = vec![host; total];
    let strangers: Vec<usize> =
        counts.iter().filter(|(c, _)| *c != host).flat_map(|&(c, n)| core::iter::repeat_n(c, n)).collect();
    let free = total.max(1) as f64 / strangers.len().max(1) as f64;
    for (i, &class) in strangers.iter().enumerate() {
        places[((i as f64 + 0.5) * free) as usize] = class;
    }
    places
}

/// "mark = n".
fn mark_scale(pen: Pen<'_>, model: &PictureModel, class: usize, at: (f64, f64), per_mark: u32) {
    let style = class_style(pen, model, class);
    pen.ctx.begin_path();
    pen.mark(style.mark, at, 3.2);
    pen.fill(style.colour);
    let text = format!("= {}", grouped(per_mark.into()));
    pen.text(&text, (at.0 + 7.0, at.1 + 4.0), 11.0, 500, Align::Left, pen.theme.ink);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_mark_a_request_up_to_a_thousand() {
        let lane = [(2, 61), (0, 9)];
        assert_eq!(marks_by_class(&lane, 1), [(2, 61), (0, 9)]);
        let places = scatter(&marks_by_class(&lane, 1), 2);
        assert_eq!(places.len(), 70);
        assert_eq!(places.iter().filter(|&&c| c == 0).count(), 9);
        assert_eq!(marks_by_class(&[(0, 1), (1, 4_001)], 5), [(0, 1), (1, 801)]);
    }

    #[test]
    fn a_click_finds_the_mark_under_it() {
        let lane = Rect::new(100.0, 50.0, 240.0, 80.0);
        let host = StageClassView { lane: vec![(0, 2), (1, 40)], ahead: 30, ..StageClassView::default() };
        let stage = StageView {
            classes: vec![StageClassView::default(), host],
            cumulative: true,
            ..StageView::default()
        };
        let axes = Axes { queue: QueueAxis { max: 100.0 }, seconds: None };
        let lattice = Lattice::new(&lane, axes.queue, 1);
        let places = scatter(&[(0, 2), (1, 40)], 1);
        let (mut own, mut strangers) = (0, 0);
        for (i, &class) in places.iter().enumerate() {
            let seen = mark_at(&lane, 1, &stage, axes, 1, lattice.at(i, 30.0));
            let before = if class == 1 { &mut own } else { &mut strangers };
            assert_eq!(seen, Some((class, *before)), "mark {i}");
            *before += 1;
        }
        assert_eq!(
            mark_at(&lane, 1, &stage, axes, 1, (lane.x + 2.0, lane.cy())),
            None,
            "nobody stands there"
        );
    }

    #[test]
    fn strangers_alone_still_stand_somewhere() {
        assert_eq!(scatter(&[(1, 3)], 0), [1, 1, 1]);
        assert!(scatter(&[], 0).is_empty());
    }
}
