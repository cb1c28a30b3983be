//! A canvas context with the few strokes the picture is made of.
//!
//! Marks are gathered into one path a class before filling. Canvas calls that can only fail on numbers that
//! are not finite are made with their errors ignored: such a part is then missing from one frame.

use super::geom::{Curve, Rect};
use super::theme::{Mark, Pattern, Theme};
use core::f64::consts::TAU;
use wasm_bindgen::JsCast;
use web_sys::{CanvasPattern, CanvasRenderingContext2d, HtmlCanvasElement};

/// Family of the numbers drawn on a canvas: that of the page.
const FAMILY: &str = "system-ui,-apple-system,\"Segoe UI\",Roboto,\"Noto Sans\",\"PingFang SC\",\"Microsoft YaHei\",\"Noto Sans CJK SC\",sans-serif";

/// Patterns of a theme, made once and kept.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    theme: Option<Theme>,
    classes: Vec<Option<CanvasPattern>>,
    loss: Option<CanvasPattern>,
    lost_area: Option<CanvasPattern>,
}

impl Patterns {
    /// Makes the patterns of `theme` unless they are at hand.
    pub(crate) fn make(&mut self, ctx: &CanvasRenderingContext2d, theme: &Theme) {
        if self.theme.as_ref() == Some(theme) {
            return;
        }
        self.theme = Some(*theme);
        self.classes =
            theme.classes.iter().map(|c| pattern(ctx, c.pattern, c.colour, Some((0.22, 0.65)))).collect();
        self.loss = pattern(ctx, Pattern::Rising, theme.loss, None);
        self.lost_area = pattern(ctx, Pattern::Rising, theme.loss, Some((0.34, 0.45)));
    }

    /// For areas of a class: its pattern over a tint of its colour; `None` if it has no pattern.
    pub(crate) fn class(&self, rank: usize) -> Option<&CanvasPattern> {
        self.classes.get(rank % self.classes.len().max(1))?.as_ref()
    }

    /// For areas of what was lost: hatched over a tint.
    pub(crate) const fn lost_area(&self) -> Option<&CanvasPattern> {
        self.lost_area.as_ref()
    }

    /// Hatching in the colour of loss, and nothing between.
    pub(crate) const fn loss(&self) -> Option<&CanvasPattern> {
        self.loss.as_ref()
    }
}

/// A new canvas that is not on the page, and its context.
pub(crate) fn canvas(w: u32, h: u32) -> Option<(HtmlCanvasElement, CanvasRenderingContext2d)> {
    let document = web_sys::window()?.document()?;
    let canvas: HtmlCanvasElement = document.create_element("canvas").ok()?.dyn_into().ok()?;
    canvas.set_width(w);
    canvas.set_height(h);
    let ctx = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    Some((canvas, ctx))
}

/// An 8 × 8 tile; `None` for the solid one. With `tint`, the ground has the first alpha and the figure the
/// second, so that an area takes one fill instead of two.
fn pattern(
    ctx: &CanvasRenderingContext2d,
    kind: Pattern,
    colour: &str,
    tint: Option<(f64, f64)>,
) -> Option<CanvasPattern> {
    let (tile, t) = canvas(8, 8)?;
    t.set_fill_style_str(colour);
    if let Some((ground, figure)) = tint {
        t.set_global_alpha(ground);
        t.fill_rect(0.0, 0.0, 8.0, 8.0);
        t.set_global_alpha(figure);
    }
    t.set_stroke_style_str(colour);
    t.set_line_width(1.2);
    let lines = |slope: f64| {
        t.begin_path();
        for x in [-8.0, 0.0, 8.0] {
            t.move_to(x - 2.0, 4.0 + 6.0 * slope);
            t.line_to(x + 10.0, 4.0 - 6.0 * slope);
        }
        t.stroke();
    };
    match kind {
        Pattern::Solid => return None,
        Pattern::Rising => lines(1.0),
        Pattern::Falling => lines(-1.0),
        Pattern::Dots => {
            t.fill_rect(1.0, 1.0, 2.0, 2.0);
            t.fill_rect(5.0, 5.0, 2.0, 2.0);
        }
        Pattern::Level => {
            t.fill_rect(0.0, 1.0, 8.0, 1.2);
            t.fill_rect(0.0, 5.0, 8.0, 1.2);
        }
        Pattern::Checker => {
            t.fill_rect(0.0, 0.0, 4.0, 4.0);
            t.fill_rect(4.0, 4.0, 4.0, 4.0);
        }
    }
    ctx.create_pattern_with_html_canvas_element(&tile, "repeat").ok()?
}

/// Sizes a canvas to its place on the page and to the screen's pixels, and returns its context scaled to
/// CSS pixels, with width and height. Clears it only if the size has changed.
#[must_use]
pub fn fit(canvas: &HtmlCanvasElement) -> Option<(CanvasRenderingContext2d, f64, f64)> {
    let ratio = web_sys::window().map_or(1.0, |w| w.device_pixel_ratio()).clamp(0.5, 4.0);
    let place = canvas.get_bounding_client_rect();
    let (w, h) = ((place.width() * ratio).round() as u32, (place.height() * ratio).round() as u32);
    if canvas.width() != w || canvas.height() != h {
        canvas.set_width(w);
        canvas.set_height(h);
    }
    let ctx: CanvasRenderingContext2d = canvas.get_context("2d").ok()??.dyn_into().ok()?;
    let _ = ctx.set_transform(ratio, 0.0, 0.0, ratio, 0.0, 0.0);
    Some((ctx, place.width(), place.height()))
}

/// A context, with the theme and its patterns.
#[derive(Clone, Copy)]
pub(crate) struct Pen<'a> {
    pub(crate) ctx: &'a CanvasRenderingContext2d,
    pub(crate) theme: &'a Theme,
    pub(crate) patterns: &'a Patterns,
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Align {
    Left,
    Centre,
    Right,
}

impl Pen<'_> {
    pub(crate) fn alpha(&self, alpha: f64) {
        self.ctx.set_global_alpha(alpha);
    }

    pub(crate) fn fill(&self, colour: &str) {
        self.ctx.set_fill_style_str(colour);
        self.ctx.fill();
    }

    pub(crate) fn stroke(&self, colour: &str, width: f64) {
        self.ctx.set_stroke_style_str(colour);
        self.ctx.set_line_width(width);
        self.ctx.stroke();
    }

    pub(crate) fn dash(&self, lengths: &[f64]) {
        let array: js_sys::Array = lengths.iter().map(|&x| wasm_bindgen::JsValue::from_f64(x)).collect();
        let _ = self.ctx.set_line_dash(&array);
    }

    pub(crate) fn block(&self, r: &Rect, colour: &str) {
        self.ctx.set_fill_style_str(colour);
        self.ctx.fill_rect(r.x, r.y, r.w.max(0.0), r.h.max(0.0));
    }

    /// A block filled with a pattern; nothing if there is none.
    pub(crate) fn tiled(&self, r: &Rect, pattern: Option<&CanvasPattern>) {
        if let Some(pattern) = pattern {
            self.ctx.set_fill_style_canvas_pattern(pattern);
            self.ctx.fill_rect(r.x, r.y, r.w.max(0.0), r.h.max(0.0));
        }
    }

    /// Begins a path of one rectangle with round corners.
    pub(crate) fn round(&self, r: &Rect, radius: f64) {
        self.ctx.begin_path();
        self.add_round(r, radius);
    }

    pub(crate) fn add_round(&self, r: &Rect, radius: f64) {
        let (w, h) = (r.w.max(0.0), r.h.max(0.0));
        let _ = self.ctx.round_rect_with_f64(r.x, r.y, w, h, radius.min(w / 2.0).min(h / 2.0));
    }

    pub(crate) fn line(&self, from: (f64, f64), to: (f64, f64)) {
        self.ctx.begin_path();
        self.ctx.move_to(from.0, from.1);
        self.ctx.line_to(to.0, to.1);
    }

    pub(crate) fn polygon(&self, points: &[(f64, f64)]) {
        if let Some((first, rest)) = points.split_first() {
            self.ctx.move_to(first.0, first.1);
            rest.iter().for_each(|p| self.ctx.line_to(p.0, p.1));
            self.ctx.close_path();
        }
    }

    pub(crate) fn curve(&self, curve: &Curve) {
        let [a, b, c, d] = curve.p;
        self.ctx.begin_path();
        self.ctx.move_to(a.0, a.1);
        self.ctx.bezier_curve_to(b.0, b.1, c.0, c.1, d.0, d.1);
    }

    /// Adds a mark to the path. The shapes are drawn about equally heavy at the same `r`.
    pub(crate) fn mark(&self, mark: Mark, (x, y): (f64, f64), r: f64) {
        let ctx = self.ctx;
        match mark {
            Mark::Circle => self.disc((x, y), r),
            Mark::Diamond => {
                let d = 1.28 * r;
                self.polygon(&[(x, y - d), (x + d, y), (x, y + d), (x - d, y)]);
            }
            Mark::Square => ctx.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r),
            Mark::Triangle => {
                let (w, up, down) = (1.15 * r, 1.2 * r, 0.85 * r);
                self.polygon(&[(x, y - up), (x + w, y + down), (x - w, y + down)]);
            }
            Mark::Plus => {
                let (a, b) = (1.2 * r, 0.42 * r);
                self.polygon(&[
                    (x - b, y - a),
                    (x + b, y - a),
                    (x + b, y - b),
                    (x + a, y - b),
                    (x + a, y + b),
                    (x + b, y + b),
                    (x + b, y + a),
                    (x - b, y + a),
                    (x - b, y + b),
                    (x - a, y + b),
                    (x - a, y - b),
                    (x - b, y - b),
                ]);
            }
            Mark::Ring => {
                self.disc((x, y), 1.1 * r);
                ctx.move_to(x + 0.5 * r, y);
                // Wound the other way, so that it is a hole.
                let _ = ctx.arc_with_anticlockwise(x, y, 0.5 * r, 0.0, TAU, true);
            }
        }
    }

    pub(crate) fn disc(&self, (x, y): (f64, f64), r: f64) {
        self.ctx.move_to(x + r, y);
        let _ = self.ctx.arc(x, y, r, 0.0, TAU);
    }

    /// A number. `weight` as in CSS; `y` is the baseline.
    pub(crate) fn text(
        &self,
        text: &str,
        (x, y): (f64, f64),
        px: f64,
        weight: u16,
        align: Align,
        colour: &str,
    ) {
        self.ctx.set_font(&format!("{weight} {px}px {FAMILY}"));
        self.ctx.set_text_align(match align {
            Align::Left => "left",
            Align::Centre => "center",
            Align::Right => "right",
        });
        self.ctx.set_fill_style_str(colour);
        let _ = self.ctx.fill_text(text, x, y);
    }
}

/// A whole number with thin spaces between thousands.
#[must_use]
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() + 6);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push('\u{2009}');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(999), "999");
        assert_eq!(grouped(12_431), "12\u{2009}431");
        assert_eq!(grouped(1_000_000), "1\u{2009}000\u{2009}000");
    }
}
