//! Paints the tracks.

use super::reduce::{is_dense, nearest, runs, tops};
use super::{History, Ink, Layer, Stroke, Tone, Track, TrackBoxes};
use crate::draw::geom::Rect;
use crate::draw::pen::{Align, Patterns, Pen, canvas};
use crate::draw::theme::Theme;
use web_sys::{CanvasRenderingContext2d, HtmlCanvasElement};

/// The painter of the time tracks; keeps the curves between paints.
#[derive(Debug, Default)]
pub struct Tracks {
    patterns: Patterns,
    kept: Option<Kept>,
}

/// Curves drawn earlier, and what they were drawn for.
#[derive(Debug)]
struct Kept {
    canvas: HtmlCanvasElement,
    ctx: CanvasRenderingContext2d,
    key: Option<Key>,
}

#[derive(Debug, PartialEq)]
struct Key {
    version: u64,
    boxes: TrackBoxes,
    span_s: (f64, f64),
    theme: Theme,
    ratio: f64,
}

/// How faint the part right of the playhead is.
const FUTURE: f64 = 0.34;
/// Space between a row's edge and its curves.
const PAD: f64 = 4.0;
/// Distance between two marks on a line: 28 s of a three-minute run on a laptop.
const MARK_PX: f64 = 114.0;

impl Tracks {
    /// A painter that has painted nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Paints onto a context scaled to CSS pixels.
    pub fn paint(
        &mut self,
        ctx: &CanvasRenderingContext2d,
        boxes: &TrackBoxes,
        history: &History<'_>,
        theme: &Theme,
    ) {
        self.patterns.make(ctx, theme);
        let pen = Pen { ctx, theme, patterns: &self.patterns };
        ctx.clear_rect(0.0, 0.0, boxes.size.0, boxes.size.1);
        rules(pen, boxes);
        for (row, track) in boxes.rows.iter().zip(history.tracks) {
            axis(pen, boxes, row, track);
        }
        let head =
            boxes.x(history.playhead_s, history.span_s).clamp(boxes.plot_x, boxes.plot_x + boxes.plot_w);
        let kept = keep(&mut self.kept, boxes, history, pen);
        if let Some(kept) = kept {
            let end = boxes.plot_x + boxes.plot_w;
            copy(pen, kept, boxes, (boxes.plot_x, head), 1.0);
            copy(pen, kept, boxes, (head, end), FUTURE);
        }
        warmup(pen, boxes, history);
        events(pen, boxes, history);
        playhead(pen, boxes, history, head);
    }

    /// Paints the same onto another kind of context. Patterns and kept curves belong to the context they were made for.
    pub fn paint_elsewhere(
        &mut self,
        ctx: &CanvasRenderingContext2d,
        boxes: &TrackBoxes,
        history: &History<'_>,
        theme: &Theme,
    ) {
        let kept = core::mem::take(self);
        self.paint(ctx, boxes, history, theme);
        *self = kept;
    }
}

/// Draws the curves anew if they are not those at hand.
fn keep<'k>(
    kept: &'k mut Option<Kept>,
    boxes: &TrackBoxes,
    history: &History<'_>,
    pen: Pen<'_>,
) -> Option<&'k HtmlCanvasElement> {
    let ratio = web_sys::window().map_or(1.0, |w| w.device_pixel_ratio()).clamp(0.5, 4.0);
    let key = Key {
        version: history.version,
        boxes: boxes.clone(),
        span_s: history.span_s,
        theme: *pen.theme,
        ratio,
    };
    if kept.is_none() {
        let (canvas, ctx) = canvas(1, 1)?;
        *kept = Some(Kept { canvas, ctx, key: None });
    }
    let kept = kept.as_mut()?;
    if kept.key.as_ref() != Some(&key) {
        // Setting the size also clears it.
        kept.canvas.set_width((boxes.size.0 * ratio).ceil() as u32);
        kept.canvas.set_height((boxes.size.1 * ratio).ceil() as u32);
        let _ = kept.ctx.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
        let pen = Pen { ctx: &kept.ctx, ..pen };
        for (row, track) in boxes.rows.iter().zip(history.tracks) {
            curves(pen, &Plot { boxes, history, row, track, ratio });
        }
        kept.key = Some(key);
    }
    Some(&kept.canvas)
}

fn copy(pen: Pen<'_>, from: &HtmlCanvasElement, boxes: &TrackBoxes, (x0, x1): (f64, f64), alpha: f64) {
    if x1 <= x0 || from.width() == 0 || from.height() == 0 {
        return;
    }
    let (w, h) = boxes.size;
    pen.ctx.save();
    pen.ctx.begin_path();
    pen.ctx.rect(x0, 0.0, x1 - x0, h);
    pen.ctx.clip();
    pen.alpha(alpha);
    // The kept canvas may be a fraction of a pixel larger than its place.
    let ratio = (f64::from(from.width()) / w).max(0.01);
    let (dw, dh) = (f64::from(from.width()) / ratio, f64::from(from.height()) / ratio);
    let _ = pen.ctx.draw_image_with_html_canvas_element_and_dw_and_dh(from, 0.0, 0.0, dw, dh);
    pen.ctx.restore();
}

/// One track at its place.
struct Plot<'a> {
    boxes: &'a TrackBoxes,
    history: &'a History<'a>,
    row: &'a Rect,
    track: &'a Track<'a>,
    /// Pixels of the screen in a CSS pixel.
    ratio: f64,
}

impl Plot<'_> {
    fn x(&self, i: usize) -> f64 {
        self.boxes.x(self.history.start_s + i as f64 * self.history.step_s, self.history.span_s)
    }

    fn y(&self, value: f64) -> f64 {
        y(self.boxes, self.row, self.track, value)
    }

    fn runs(&self, values: &[f64]) -> Vec<Vec<(f64, f64)>> {
        let (from, to) = (self.boxes.plot_x, self.boxes.plot_x + self.boxes.plot_w);
        runs(values, |i| self.x(i), |v| self.y(v), from, to)
    }
}

/// Height of a value in a row; values beyond the axis lie on its edge.
fn y(boxes: &TrackBoxes, row: &Rect, track: &Track<'_>, value: f64) -> f64 {
    let height = (row.h - boxes.row_head - 1.5 * PAD).max(1.0);
    row.bottom() - PAD / 2.0 - track.part(value) * height
}

fn colour(theme: &Theme, ink: Ink) -> &'static str {
    match ink {
        Ink::Class(rank) => theme.class(rank).colour,
        Ink::Loss => theme.loss,
        Ink::Ink => theme.ink,
        Ink::Ink2 => theme.ink_2,
        Ink::Ink3 => theme.ink_3,
    }
}

fn curves(pen: Pen<'_>, plot: &Plot<'_>) {
    pen.ctx.save();
    pen.ctx.begin_path();
    pen.ctx.rect(plot.boxes.plot_x, plot.row.y, plot.boxes.plot_w, plot.row.h);
    pen.ctx.clip();
    pen.ctx.set_line_join("bevel");
    for layer in &plot.track.layers {
        match layer {
            Layer::Area { from, to, ink } => area(pen, plot, from.as_deref(), to, *ink),
            Layer::Range { low, high, ink } => {
                outline(pen, plot, low, high);
                pen.alpha(0.18);
                pen.fill(colour(pen.theme, *ink));
                pen.alpha(1.0);
            }
            Layer::Line { values, ink, stroke, width } => line(pen, plot, values, *ink, *stroke, *width),
        }
    }
    pen.ctx.restore();
}

fn area(pen: Pen<'_>, plot: &Plot<'_>, from: Option<&[f64]>, to: &[f64], ink: Ink) {
    let bottom: Vec<f64>;
    let from = match from {
        Some(from) => from,
        None => {
            bottom = vec![plot.track.low; to.len()];
            &bottom
        }
    };
    let upper = outline(pen, plot, from, to);
    let pattern = match ink {
        Ink::Class(rank) => pen.patterns.class(rank),
        Ink::Loss => pen.patterns.lost_area(),
        _ => None,
    };
    if let Some(pattern) = pattern {
        pen.ctx.set_fill_style_canvas_pattern(pattern);
        pen.ctx.fill();
    } else {
        pen.alpha(if matches!(ink, Ink::Class(_)) { 0.75 } else { 0.13 });
        pen.fill(colour(pen.theme, ink));
        pen.alpha(1.0);
    }
    if let Ink::Class(_) = ink {
        upper.iter().for_each(|run| solid(pen, run, colour(pen.theme, ink), 1.0, plot.ratio));
    }
}

/// Makes the area between two curves the path, and returns its upper edge. A gap in one is a gap in both.
fn outline(pen: Pen<'_>, plot: &Plot<'_>, from: &[f64], to: &[f64]) -> Vec<Vec<(f64, f64)>> {
    let gap = |a: &[f64], b: &[f64]| -> Vec<f64> {
        a.iter().zip(b).map(|(&a, &b)| if b.is_finite() { a } else { f64::NAN }).collect()
    };
    let (upper, lower) = (plot.runs(&gap(to, from)), plot.runs(&gap(from, to)));
    pen.ctx.begin_path();
    for (upper, lower) in upper.iter().zip(&lower) {
        if is_dense(upper) {
            pillars(pen, &tops(upper), &tops(lower));
            continue;
        }
        let outline: Vec<(f64, f64)> = upper.iter().chain(lower.iter().rev()).copied().collect();
        pen.polygon(&outline);
    }
    upper
}

/// Adds an area to the path as one rectangle a pixel column: far quicker to fill than an outline with a turn
/// in every pixel.
fn pillars(pen: Pen<'_>, upper: &[(f64, f64)], lower: &[(f64, f64)]) {
    let ends = upper.iter().skip(1).map(|p| p.0).chain(upper.last().map(|p| p.0 + 1.0));
    for ((&(x, top), &(_, bottom)), end) in upper.iter().zip(lower).zip(ends) {
        if bottom > top {
            pen.ctx.rect(x, top, end - x, bottom - top);
        }
    }
}

/// Makes a run the path, moved down by `dy`.
fn trace(pen: Pen<'_>, run: &[(f64, f64)], dy: f64) {
    pen.ctx.begin_path();
    for (i, &(x, y)) in run.iter().enumerate() {
        if i == 0 {
            pen.ctx.move_to(x, y + dy);
        } else {
            pen.ctx.line_to(x, y + dy);
        }
    }
    if let [(x, y)] = run {
        pen.ctx.line_to(x + 0.8, y + dy);
    }
}

/// A whole line. One that turns in every pixel is drawn as hairlines side by side: stroking a wide line with
/// that many turns takes some twenty times as long where no graphics card helps.
fn solid(pen: Pen<'_>, run: &[(f64, f64)], colour: &str, width: f64, ratio: f64) {
    let hair = 1.0 / ratio;
    if !is_dense(run) || width <= hair {
        trace(pen, run, 0.0);
        pen.stroke(colour, width);
        return;
    }
    let hairs = (width * ratio).ceil().max(2.0);
    let mut i = 0.0;
    while i < hairs {
        trace(pen, run, (i / (hairs - 1.0) - 0.5) * (width - hair));
        pen.stroke(colour, hair);
        i += 1.0;
    }
}

fn line(pen: Pen<'_>, plot: &Plot<'_>, values: &[f64], ink: Ink, stroke: Stroke, width: f64) {
    match stroke {
        Stroke::Solid => {}
        Stroke::Dotted => pen.dash(&[1.5, 3.0]),
        Stroke::Dashed => pen.dash(&[5.0, 3.0]),
    }
    for run in plot.runs(values) {
        if stroke == Stroke::Solid {
            solid(pen, &run, colour(pen.theme, ink), width, plot.ratio);
        } else {
            trace(pen, &run, 0.0);
            pen.stroke(colour(pen.theme, ink), width);
        }
    }
    pen.dash(&[]);
    if let (Ink::Class(rank), Stroke::Solid) = (ink, stroke) {
        let mut x = plot.boxes.plot_x + 0.43 * MARK_PX;
        while x < plot.boxes.plot_x + plot.boxes.plot_w {
            line_mark(pen, plot, values, rank, x, 2.7);
            x += MARK_PX;
        }
    }
}

fn line_mark(pen: Pen<'_>, plot: &Plot<'_>, values: &[f64], rank: usize, x: f64, r: f64) {
    let at_s = plot.boxes.time(x, plot.history.span_s);
    let Some(value) = nearest(values, plot.history.start_s, plot.history.step_s, at_s) else { return };
    let style = pen.theme.class(rank);
    pen.ctx.begin_path();
    pen.mark(style.mark, (x, plot.y(value)), r);
    pen.fill(style.colour);
    pen.stroke(pen.theme.paper, 1.0);
}

/// Hairlines between the rows.
fn rules(pen: Pen<'_>, boxes: &TrackBoxes) {
    pen.ctx.begin_path();
    let edges = boxes.rows.iter().map(|r| r.y).chain(boxes.rows.last().map(|r| r.bottom() - 1.0));
    for y in edges {
        pen.ctx.move_to(boxes.plot_x, y.round() + 0.5);
        pen.ctx.line_to(boxes.plot_x + boxes.plot_w, y.round() + 0.5);
    }
    pen.stroke(pen.theme.line, 1.0);
}

fn axis(pen: Pen<'_>, boxes: &TrackBoxes, row: &Rect, track: &Track<'_>) {
    for tick in &track.ticks {
        let y = y(boxes, row, track, tick.value).round() + 0.5;
        pen.dash(&[1.0, 3.0]);
        pen.alpha(0.5);
        pen.line((boxes.plot_x, y), (boxes.plot_x + boxes.plot_w, y));
        pen.stroke(pen.theme.ink_3, 1.0);
        pen.alpha(1.0);
        pen.dash(&[]);
        if boxes.plot_x >= 20.0 {
            let at = (boxes.plot_x - 6.0, y + 3.5);
            pen.text(&tick.label, at, 11.0, 400, Align::Right, pen.theme.ink_3);
        }
    }
}

fn whole_height(boxes: &TrackBoxes) -> (f64, f64) {
    let top = boxes.rows.first().map_or(0.0, |r| r.y);
    (top, boxes.rows.last().map_or(boxes.size.1, Rect::bottom))
}

/// The warm-up lies under a veil and ends at a dashed line.
fn warmup(pen: Pen<'_>, boxes: &TrackBoxes, history: &History<'_>) {
    let end = boxes.x(history.warmup_s, history.span_s).min(boxes.plot_x + boxes.plot_w);
    if end <= boxes.plot_x {
        return;
    }
    let (top, bottom) = whole_height(boxes);
    pen.alpha(0.55);
    pen.block(&Rect::new(boxes.plot_x, top, end - boxes.plot_x, bottom - top), pen.theme.paper);
    pen.alpha(1.0);
    pen.dash(&[3.0, 3.0]);
    pen.line((end.round() + 0.5, top), (end.round() + 0.5, bottom));
    pen.stroke(pen.theme.line_2, 1.0);
    pen.dash(&[]);
}

fn events(pen: Pen<'_>, boxes: &TrackBoxes, history: &History<'_>) {
    let (_, bottom) = whole_height(boxes);
    for &(at_s, tone) in history.events {
        if at_s < history.span_s.0 || at_s > history.span_s.1 {
            continue;
        }
        let x = boxes.x(at_s, history.span_s) + 0.5;
        pen.alpha(if tone == Tone::Yours { 0.25 } else { 0.4 });
        pen.line((x, 0.0), (x, bottom));
        pen.stroke(if tone == Tone::Bad { pen.theme.loss } else { pen.theme.ink }, 1.0);
    }
    pen.alpha(1.0);
}

/// The playhead, a mark on every class's line where it crosses, and the pointer's hairline.
fn playhead(pen: Pen<'_>, boxes: &TrackBoxes, history: &History<'_>, head: f64) {
    let (top, bottom) = whole_height(boxes);
    if let Some(hover_s) = history.hover_s {
        let x = boxes.x(hover_s, history.span_s).round() + 0.5;
        pen.dash(&[3.0, 3.0]);
        pen.line((x, top), (x, bottom));
        pen.stroke(pen.theme.ink_3, 1.0);
        pen.dash(&[]);
    }
    pen.line((head, 0.0), (head, bottom));
    pen.stroke(pen.theme.ink, 1.5);
    for (row, track) in boxes.rows.iter().zip(history.tracks) {
        let plot = Plot { boxes, history, row, track, ratio: 1.0 };
        for layer in &track.layers {
            if let Layer::Line { values, ink: Ink::Class(rank), stroke: Stroke::Solid, .. } = layer {
                line_mark(pen, &plot, values, *rank, head, 3.2);
            }
        }
    }
}
