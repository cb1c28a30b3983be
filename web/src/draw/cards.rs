//! A server card: its frame, requests in flight, weight and loads.
//!
//! Where a server reports, its loads stand side by side at the right of the card and its weight along the left edge;
//! where it does not, the left edge says how many of its places are in use.

use super::boxes::ServerBoxes;
use super::geom::{Rect, apportion};
use super::model::{PictureModel, ServerView, Standing};
use super::pen::{Align, Pen};
use super::picture::class_style;

/// Letters of the five loads: processors, memory, network, disk, rooms.
const LETTERS: [&str; 5] = ["C", "M", "N", "D", "R"];
/// Distance between marks in flight.
const PITCH: (f64, f64) = (8.6, 9.2);
/// Without this much height no mark stands clear of the words below.
const LEAST_MARKS: f64 = 7.0;
/// Largest distance between two load bars.
const BAR_PITCH: f64 = 12.0;
/// Height of a line of letters.
const LETTER_LINE: f64 = 12.0;
/// A load above this is drawn as one that is nearly used up.
const FULL: f64 = 0.88;

/// Columns and rows of marks on a server card.
pub(super) fn places(area: &Rect) -> (usize, usize) {
    let count = |length: f64, pitch: f64| (length / pitch).floor().max(1.0) as usize;
    (count(area.w, PITCH.0), count(area.h, PITCH.1))
}

/// Where the loads of a server stand.
#[derive(Clone, Debug, Default, PartialEq)]
struct LoadBars {
    /// The known ones, each by its number, at the right end of the area.
    bars: Vec<(usize, Rect)>,
    /// Whether there is room for a letter under each.
    letters: bool,
}

impl LoadBars {
    fn new(area: &Rect, known: [bool; 5]) -> Self {
        let count = known.iter().filter(|known| **known).count() as f64;
        if area.is_empty() || count == 0.0 {
            return Self::default();
        }
        let pitch = (area.w / 5.0).min(BAR_PITCH);
        let letters = pitch >= 9.0 && area.h >= LETTER_LINE + 12.0;
        let h = if letters { area.h - LETTER_LINE } else { area.h };
        let w = (0.65 * pitch).max(1.5);
        let numbers = (0..5).filter(|&i| known[i]);
        let place = |(at, i): (usize, usize)| {
            let x = area.right() - pitch * (count - at as f64) + (pitch - w);
            (i, Rect::new(x, area.y, w, h))
        };
        Self { bars: numbers.enumerate().map(place).collect(), letters }
    }
}

/// The part of a bar that a share fills, from the bottom.
fn filled(bar: &Rect, share: f64) -> Rect {
    let h = if share.is_finite() { share.clamp(0.0, 1.0) * bar.h } else { 0.0 };
    Rect::new(bar.x, bar.bottom() - h, bar.w, h)
}

/// The bar along the left edge of a card.
fn edge_bar(card: &Rect) -> Rect {
    let inset = (0.16 * card.h).min(6.0);
    Rect::new(card.x + 5.0, card.y + inset, 3.0, (card.h - 2.0 * inset).max(0.0))
}

/// A server: frame, requests in flight, weight, loads.
pub(super) fn card(pen: Pen<'_>, at: &ServerBoxes, server: &ServerView, model: &PictureModel, per_mark: u32) {
    if at.card.is_empty() {
        return;
    }
    frame(pen, &at.card, server.standing);
    if !server.reports() {
        load_bar(pen, &at.load, server);
    } else if model.weighed {
        let weight = |s: &ServerView| if s.weight.is_finite() { s.weight.max(0.0) } else { 0.0 };
        let most = model.servers.iter().map(weight).fold(0.0, f64::max);
        let trough = edge_bar(&at.card);
        pen.round(&trough, 1.5);
        pen.fill(pen.theme.line);
        if server.up && most > 0.0 {
            pen.round(&filled(&trough, weight(server) / most), 1.5);
            pen.fill(pen.theme.ink);
        }
    }
    if server.up && at.marks.h >= LEAST_MARKS {
        in_flight(pen, &at.marks, server, model, per_mark);
    }
    loads(pen, &at.bars, server);
}

/// The frame says from afar who takes nothing new: dashed and hatched for a server that cannot be reached, red for one
/// that is left out, dashed for one that leaves.
fn frame(pen: Pen<'_>, card: &Rect, standing: Standing) {
    let edge = card.grown(-0.5, -0.5);
    pen.round(&edge, 8.0);
    if standing == Standing::Down {
        pen.ctx.save();
        pen.ctx.clip();
        pen.alpha(0.14);
        pen.tiled(&edge, pen.patterns.loss());
        pen.ctx.restore();
        pen.round(&edge, 8.0);
    }
    let (colour, dashed) = match standing {
        Standing::Fit | Standing::Warming => (pen.theme.line, false),
        Standing::Draining | Standing::Gone => (pen.theme.ink_3, true),
        Standing::Overloaded | Standing::Silent | Standing::Ejected => (pen.theme.loss, false),
        Standing::Down => (pen.theme.loss, true),
    };
    if dashed {
        pen.dash(&[4.0, 3.0]);
    }
    pen.stroke(colour, 1.0);
    pen.dash(&[]);
}

/// What a server reported last; pale once reports are overdue.
fn loads(pen: Pen<'_>, area: &Rect, server: &ServerView) {
    let LoadBars { bars, letters } = LoadBars::new(area, server.loads.map(|load| load.is_some()));
    for (i, bar) in bars {
        let load = server.loads[i].unwrap_or(0.0);
        pen.round(&bar, 2.0);
        pen.fill(if server.up { pen.theme.water } else { pen.theme.line });
        pen.alpha(if server.stale || !server.up { 0.3 } else { 1.0 });
        if load > 0.0 {
            pen.round(&filled(&bar, load), 2.0);
            pen.fill(if load > FULL { pen.theme.loss } else { pen.theme.ink_2 });
        }
        pen.alpha(1.0);
        if letters {
            pen.text(LETTERS[i], (bar.cx(), bar.bottom() + 10.0), 10.0, 400, Align::Centre, pen.theme.ink_3);
        }
    }
}

/// Places in use of all places; a bar of single places where they are few.
fn load_bar(pen: Pen<'_>, area: &Rect, server: &ServerView) {
    if area.is_empty() {
        return;
    }
    let upright = area.h > area.w;
    let length = if upright { area.h } else { area.w };
    let thick = (if upright { area.w } else { area.h }).min(8.0);
    let few = server.slots <= 12 && thick >= 6.0 && length / f64::from(server.slots.max(1)) >= 4.0;
    let parts = if few { server.slots.max(1) } else { 1 };
    let gap = if parts > 1 { 1.5 } else { 0.0 };
    let load = if server.up { server.utilisation() } else { 0.0 };
    let colour = if load > FULL { pen.theme.loss } else { pen.theme.ink_2 };
    let piece = |from: f64, to: f64| {
        if upright {
            Rect::new(area.right() - thick, area.bottom() - to, thick, to - from)
        } else {
            Rect::new(area.x + from, area.bottom() - thick, to - from, thick)
        }
    };
    let each = length / f64::from(parts);
    for i in 0..parts {
        let from = f64::from(i) * each;
        let filled = ((load * f64::from(parts) - f64::from(i)).clamp(0.0, 1.0)) * (each - gap);
        pen.round(&piece(from, from + each - gap), 2.0);
        pen.fill(if server.up { pen.theme.water } else { pen.theme.line });
        if filled > 0.0 {
            pen.round(&piece(from, from + filled), 2.0);
            pen.fill(colour);
        }
    }
}

fn in_flight(pen: Pen<'_>, area: &Rect, server: &ServerView, model: &PictureModel, per_mark: u32) {
    let (columns, rows) = places(area);
    let of = |class: usize| server.in_flight.get(class).copied().unwrap_or(0);
    let marks = server.in_flight_sum().div_ceil(per_mark.max(1)).min((columns * rows) as u32);
    let shares: Vec<f64> = model.order.iter().map(|&class| f64::from(of(class))).collect();
    let mut i = 0;
    for (&class, n) in model.order.iter().zip(apportion(marks, &shares)) {
        let style = class_style(pen, model, class);
        pen.ctx.begin_path();
        for _ in 0..n {
            let x = area.x + ((i % columns) as f64 + 0.5) * PITCH.0;
            let y = area.y + ((i / columns) as f64 + 0.5) * PITCH.1;
            pen.mark(style.mark, (x, y), 2.8);
            i += 1;
        }
        pen.fill(style.colour);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_has_room_for_at_least_one_mark() {
        assert_eq!(places(&Rect::new(0.0, 0.0, 103.0, 28.0)), (11, 3));
        assert_eq!(places(&Rect::new(0.0, 0.0, 2.0, 2.0)), (1, 1));
    }

    /// The bars of an area in the middle of somewhere, which must stay within it and apart.
    #[track_caller]
    fn check((w, h): (f64, f64), known: [bool; 5], letters: bool, numbers: &[usize]) -> Vec<Rect> {
        let area = Rect::new(100.0, 50.0, w, h);
        let bars = LoadBars::new(&area, known);
        assert_eq!(bars.letters, letters, "letters on {w} × {h}");
        assert_eq!(bars.bars.iter().map(|(i, _)| *i).collect::<Vec<_>>(), numbers, "which on {w} × {h}");
        let rects: Vec<Rect> = bars.bars.into_iter().map(|(_, rect)| rect).collect();
        let bottom = if letters { area.bottom() - LETTER_LINE } else { area.bottom() };
        for r in &rects {
            let inside = r.x >= area.x && r.right() <= area.right() + 1e-9 && r.y == area.y;
            assert!(inside && (r.bottom() - bottom).abs() < 1e-9, "{r:?} is not within {area:?}");
        }
        assert!(rects.windows(2).all(|pair| pair[0].right() < pair[1].x), "apart: {rects:?}");
        rects
    }

    #[test]
    fn loads_stand_side_by_side_with_letters_where_there_is_room() {
        const ALL: [bool; 5] = [true; 5];
        let roomy = check((58.0, 44.0), ALL, true, &[0, 1, 2, 3, 4]);
        assert!((roomy[4].right() - 158.0).abs() < 1e-9, "at the right end: {roomy:?}");
        check((58.0, 20.0), ALL, false, &[0, 1, 2, 3, 4]);
        let small = check((20.0, 16.0), ALL, false, &[0, 1, 2, 3, 4]);
        assert!(small.iter().all(|r| r.w >= 1.5), "still to be seen: {small:?}");
    }

    #[test]
    fn only_known_loads_have_a_bar() {
        let two = check((58.0, 44.0), [true, false, false, true, false], true, &[0, 3]);
        assert!((two[1].right() - 158.0).abs() < 1e-9, "no gap where nothing is known: {two:?}");
        check((58.0, 44.0), [false; 5], false, &[]);
        check((0.0, 44.0), [true; 5], false, &[]);
    }

    #[test]
    fn a_bar_is_filled_from_the_bottom_and_never_beyond_its_top() {
        let bar = Rect::new(0.0, 10.0, 4.0, 40.0);
        assert_eq!(filled(&bar, 0.25), Rect::new(0.0, 40.0, 4.0, 10.0));
        assert_eq!(filled(&bar, 7.0), bar);
        assert_eq!(filled(&bar, f64::NAN).h, 0.0);
    }

    #[test]
    fn the_bar_at_the_edge_fits_the_smallest_card() {
        assert_eq!(edge_bar(&Rect::new(0.0, 0.0, 190.0, 70.0)), Rect::new(5.0, 6.0, 3.0, 58.0));
        let small = edge_bar(&Rect::new(0.0, 0.0, 40.0, 18.0));
        assert!(small.h > 12.0 && small.bottom() < 18.0, "{small:?}");
    }
}
