//! Paints the running system.
//!
//! [`Picture::paint`] takes where the parts are, what they should say and how they should look; it keeps
//! only what must outlive a frame: marks in flight and two scales that should not flicker.

use super::boxes::{Boxes, Orientation, PoolBoxes};
use super::cards::{card, places};
use super::flight::Flight;
use super::gauge;
use super::geom::{QueueAxis, Rect, round_up_125, sort_few};
use super::lanes::{Axes, lanes, longest, mark_at};
use super::legs::{Leg, Travel, balancer_bar, legs, slot};
use super::model::{PictureModel, ServerView, StageView};
use super::pen::{Align, Patterns, Pen, grouped};
use super::pool::{Handover, PoolLayout, requests_per_mark};
use super::theme::{Mark, Theme};
use web_sys::CanvasRenderingContext2d;

/// What may move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Motion {
    /// Everything.
    #[default]
    Full,
    /// Nothing flies; still marks on the ribbons show class and direction.
    Reduced,
    /// Nothing moves, marks in flight stand where they are.
    Paused,
}

/// How time passes between two frames.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pace {
    /// Real time since the last paint, in seconds; taken as at most 0.1.
    pub dt_s: f64,
    /// Seconds of the run per second of real time.
    pub speed: f64,
    /// What may move.
    pub motion: Motion,
}

impl Pace {
    /// Above this speed nothing flies; ribbons pulse instead.
    pub const FLY_TO: f64 = 8.0;
    /// Above this speed only levels move.
    pub const PULSE_TO: f64 = 60.0;
}

/// How many requests or workers one drawn thing stands for; for the legend.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Scales {
    /// Requests per mark in flight between parts; 0 while none fly.
    pub flight: u64,
    /// Requests per mark in the lanes, by stage.
    pub lanes: Vec<u32>,
    /// Workers per cell, by stage; 0 where no pool is shown.
    pub cells: Vec<u32>,
    /// Requests per mark on the server cards.
    pub servers: u32,
}

/// The painter of one picture.
#[derive(Debug, Default)]
pub struct Picture {
    patterns: Patterns,
    flight: Flight,
    scales: Scales,
    /// Largest rate the widest ribbon has stood for, so that the scale does not jump about.
    peak_per_s: f64,
    axes: Vec<QueueAxis>,
    pulse_px: f64,
    handovers: Vec<Handover>,
}

/// Most marks drawn in the lanes of a stage; beyond that a mark stands for several requests.
pub const LANE_MARKS: u32 = 1_000;

impl Picture {
    /// The axis of queue lengths that stage `k` was last painted with.
    #[must_use]
    pub fn axis(&self, k: usize) -> Option<QueueAxis> {
        self.axes.get(k).copied()
    }

    /// A picture that has painted nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets scales and marks in flight: for another scenario.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// What one drawn thing stood for in the last paint.
    #[must_use]
    pub const fn scales(&self) -> &Scales {
        &self.scales
    }

    /// Paints one frame onto a context scaled to CSS pixels.
    pub fn paint(
        &mut self,
        ctx: &CanvasRenderingContext2d,
        boxes: &Boxes,
        model: &PictureModel,
        theme: &Theme,
        pace: Pace,
    ) {
        self.patterns.make(ctx, theme);
        let pools = pools(boxes, model);
        let legs = legs(boxes, model, &pools);
        self.rescale(boxes, model, &legs, &pools);
        self.fly(model, &legs, pace);
        self.hand_over(model, &pools, pace);

        let pen = Pen { ctx, theme, patterns: &self.patterns };
        ctx.clear_rect(0.0, 0.0, boxes.size.0, boxes.size.1);
        self.ribbons(pen, boxes, model, &legs, pace);
        classifier(pen, boxes, &legs, self.px_per_rate(boxes));
        if let Some(bar) = balancer_bar(boxes) {
            pen.round(&bar, 3.0);
            pen.fill(if model.servers.iter().any(|s| s.up) { theme.ink_2 } else { theme.loss });
        }
        for (k, (at, stage)) in boxes.stages.iter().zip(&model.stages).enumerate() {
            let axes = Axes { queue: self.axes[k], seconds: gauge::seconds_axis(stage) };
            lanes(pen, at, stage, model, axes, self.scales.lanes[k]);
            if let (Some(at), Some(pool)) = (at.pool, pools[k].as_ref()) {
                cells(pen, model, stage, pool, &self.handovers[k]);
                waits(pen, &at, model, k, pool);
            }
        }
        for (at, server) in boxes.servers.iter().zip(&model.servers) {
            card(pen, at, server, model, self.scales.servers);
        }
        match pace.motion {
            Motion::Reduced => still_marks(pen, model, &legs),
            _ => flying_marks(pen, model, &legs, &self.flight),
        }
    }

    /// The request whose mark is at a point of a class's lane at a stage: its class, and how many of that class wait before
    /// it at the stage.
    #[must_use]
    pub fn mark_at(
        &self,
        boxes: &Boxes,
        model: &PictureModel,
        (k, host): (usize, usize),
        point: (f64, f64),
    ) -> Option<(usize, u32)> {
        let (at, stage) = (boxes.stages.get(k)?, model.stages.get(k)?);
        let axes = Axes { queue: *self.axes.get(k)?, seconds: gauge::seconds_axis(stage) };
        let (class, before) =
            mark_at(at.lanes.get(host)?, host, stage, axes, *self.scales.lanes.get(k)?, point)?;
        // Those that were moved up stand in the lanes above.
        let above = model.order.iter().take_while(|&&c| c != host);
        let moved = above.flat_map(|&c| &stage.classes[c].lane).filter(|(c, _)| *c == class);
        Some((class, before + moved.map(|(_, n)| n).sum::<u32>()))
    }

    /// Paints what the last frame showed onto another kind of context. Patterns belong to the context they were made for.
    pub fn paint_elsewhere(
        &mut self,
        ctx: &CanvasRenderingContext2d,
        boxes: &Boxes,
        model: &PictureModel,
        theme: &Theme,
        pace: Pace,
    ) {
        let kept = core::mem::take(&mut self.patterns);
        self.paint(ctx, boxes, model, theme, Pace { dt_s: 0.0, ..pace });
        self.patterns = kept;
    }

    /// Chooses what a mark, a cell and a pixel stand for.
    fn rescale(&mut self, boxes: &Boxes, model: &PictureModel, legs: &[Leg], pools: &[Option<PoolLayout>]) {
        let peak = legs.iter().map(|leg| leg.flow.per_s).fold(0.0, f64::max);
        self.peak_per_s = self.peak_per_s.max(round_up_125(peak));
        let per_mark = |s: &StageView| round_up_125(f64::from(s.waiting) / f64::from(LANE_MARKS)) as u32;
        self.scales.lanes = model.stages.iter().map(per_mark).collect();
        self.scales.cells = pools.iter().map(|p| p.as_ref().map_or(0, |p| p.per_cell)).collect();
        let room = boxes.servers.iter().map(|s| &s.marks).filter(|r| !r.is_empty()).map(places);
        let most = model.servers.iter().map(ServerView::in_flight_sum).max().unwrap_or(0);
        self.scales.servers = requests_per_mark(most, room.map(|(c, r)| c * r).min().unwrap_or(1));
        self.axes.truncate(model.stages.len());
        for (k, stage) in model.stages.iter().enumerate() {
            let fresh = gauge::queue_axis(stage, longest(stage));
            match self.axes.get_mut(k) {
                // A cut axis only grows, and shrinks when it is far too long.
                Some(axis)
                    if fresh.max < axis.max
                        && axis.max <= 4.0 * fresh.max
                        && axis.max <= f64::from(stage.limit) => {}
                Some(axis) => *axis = fresh,
                None => self.axes.push(fresh),
            }
        }
    }

    fn fly(&mut self, model: &PictureModel, legs: &[Leg], pace: Pace) {
        let dt_s = if pace.dt_s.is_finite() { pace.dt_s.clamp(0.0, 0.1) } else { 0.0 };
        match pace.motion {
            Motion::Reduced => self.flight.clear(),
            _ if pace.speed > Pace::FLY_TO => {
                self.flight.clear();
                if pace.motion == Motion::Full {
                    self.pulse_px = (self.pulse_px + 60.0 * dt_s) % (PULSE[0] + PULSE[1]);
                }
            }
            Motion::Paused => self.flight.hold(legs, model, pace.speed),
            Motion::Full => self.flight.advance(legs, model, dt_s, pace.speed),
        }
        let flies = pace.motion != Motion::Reduced && pace.speed <= Pace::FLY_TO;
        self.scales.flight = if flies { self.flight.per_mark() } else { 0 };
    }

    /// Lets the cells follow the splits.
    fn hand_over(&mut self, model: &PictureModel, pools: &[Option<PoolLayout>], pace: Pace) {
        let moves = pace.motion == Motion::Full && pace.speed <= Pace::PULSE_TO;
        let dt_s = moves.then_some(pace.dt_s).filter(|dt_s| (0.0..=0.1).contains(dt_s));
        self.handovers.resize_with(pools.len(), Handover::default);
        for (k, (shown, pool)) in self.handovers.iter_mut().zip(pools).enumerate() {
            if let Some(pool) = pool {
                shown.follow(pool, dt_s.filter(|_| model.stages.get(k).is_some_and(|s| s.split)));
            }
        }
    }

    /// Pixels of ribbon width for one request a second.
    fn px_per_rate(&self, boxes: &Boxes) -> f64 {
        let widest = if boxes.orientation == Orientation::Wide { 20.0 } else { 11.0 };
        widest / self.peak_per_s.max(1.0)
    }

    fn ribbons(&self, pen: Pen<'_>, boxes: &Boxes, model: &PictureModel, legs: &[Leg], pace: Pace) {
        let scale = self.px_per_rate(boxes);
        let pulse = (Pace::FLY_TO..=Pace::PULSE_TO).contains(&pace.speed) && pace.motion != Motion::Reduced;
        for leg in legs {
            let (colour, alpha) = match leg.travel {
                Travel::Ask => (pen.theme.ink, 0.07),
                Travel::Send(_) => (pen.theme.ink, 0.08),
                Travel::Go => (class_style(pen, model, leg.class).colour, 0.16),
                // A few that climb make no stream.
                Travel::Rise => continue,
                Travel::Fall => (pen.theme.loss, 0.15),
            };
            pen.curve(&leg.curve);
            if down(model, leg) {
                pen.dash(&[2.0, 5.0]);
                pen.alpha(0.8);
                pen.stroke(pen.theme.loss, 1.2);
                pen.dash(&[]);
            } else if leg.flow.per_s > 0.0 {
                let width = (leg.flow.per_s * scale).max(1.2);
                pen.alpha(alpha);
                pen.stroke(colour, width);
                if pulse {
                    pen.dash(&PULSE);
                    pen.ctx.set_line_dash_offset(-self.pulse_px);
                    pen.alpha(2.0 * alpha);
                    pen.stroke(colour, (0.6 * width).max(1.2));
                    pen.ctx.set_line_dash_offset(0.0);
                    pen.dash(&[]);
                }
            }
        }
        pen.alpha(1.0);
        for (at, stage) in boxes.stages.iter().zip(&model.stages) {
            if stage.classes.iter().any(|c| c.shed.per_s > 0.0) && at.lanes.iter().any(|r| !r.is_empty()) {
                pen.round(&slot(at), 1.5);
                pen.fill(pen.theme.loss);
            }
        }
    }
}

const PULSE: [f64; 2] = [10.0, 22.0];

fn down(model: &PictureModel, leg: &Leg) -> bool {
    matches!(leg.travel, Travel::Send(i) if !model.servers[i].up)
}

pub(super) fn class_style(pen: Pen<'_>, model: &PictureModel, class: usize) -> super::theme::ClassStyle {
    *pen.theme.class(model.classes.get(class).map_or(class, |c| c.rank))
}

fn pools(boxes: &Boxes, model: &PictureModel) -> Vec<Option<PoolLayout>> {
    let mut pools: Vec<Option<PoolLayout>> = (boxes.stages.iter().zip(&model.stages))
        .map(|(at, stage)| {
            let rows: Vec<f64> = at.lanes.iter().map(Rect::cy).collect();
            let area = at.pool.filter(|p| !p.cells.is_empty())?.cells;
            Some(PoolLayout::new(&area, stage, &model.order, &rows))
        })
        .collect();
    pools.resize(model.stages.len().max(boxes.stages.len()), None);
    pools
}

/// A bar with one opening a class, as high as its stream.
fn classifier(pen: Pen<'_>, boxes: &Boxes, legs: &[Leg], px_per_rate: f64) {
    let Some(region) = boxes.classifier.filter(|r| !r.is_empty()) else { return };
    let lanes = boxes.stages.iter().flat_map(|s| &s.lanes).fold(Rect::default(), |all, r| all.union(r));
    if lanes.is_empty() {
        return;
    }
    let (x, mut y) = (region.cx() - 2.0, lanes.y - 28.0);
    let mut openings: Vec<(f64, f64)> = (legs.iter().filter(|leg| leg.travel == Travel::Ask))
        .map(|leg| (leg.curve.p[3].1, (leg.flow.per_s * px_per_rate / 2.0 + 4.0).max(7.0)))
        .collect();
    sort_few(&mut openings, |a, b| a.0 < b.0);
    pen.ctx.begin_path();
    for (middle, half) in openings {
        pen.add_round(&Rect::new(x, y, 4.0, middle - half - y), 2.0);
        y = middle + half;
    }
    pen.add_round(&Rect::new(x, y, 4.0, lanes.bottom() + 4.0 - y), 2.0);
    pen.fill(pen.theme.ink_2);
}

/// Workers: filled in the colour of the class they work for, outlined while idle. One that has to finish a request of
/// another class first has that class's colour in its middle.
fn cells(pen: Pen<'_>, model: &PictureModel, stage: &StageView, pool: &PoolLayout, shown: &Handover) {
    let of = |owner: Option<usize>| shown.cells().iter().enumerate().filter(move |(_, c)| c.owner == owner);
    let busy = |i: usize| pool.segments.iter().any(|s| (s.from..s.from + s.busy).contains(&i));
    let path = |cells: &mut dyn Iterator<Item = (usize, &super::pool::Shown)>| {
        pen.ctx.begin_path();
        cells.for_each(|(i, _)| pen.add_round(&pool.grid.cell(i), 2.5));
    };
    for &class in &model.order {
        let style = class_style(pen, model, class);
        path(&mut of(Some(class)).filter(|&(i, c)| busy(i) && c.spread() >= 1.0));
        pen.fill(style.colour);
        path(&mut of(Some(class)).filter(|&(i, c)| !busy(i) || c.spread() < 1.0));
        pen.fill(pen.theme.water);
        pen.alpha(0.7);
        pen.stroke(style.colour, 1.0);
        pen.alpha(1.0);
    }
    path(&mut of(None));
    pen.fill(pen.theme.water);
    pen.stroke(pen.theme.line_2, 1.0);
    for &(i, class) in &pool.guests {
        let cell = pool.grid.cell(i);
        let inset = -(cell.w.min(cell.h) * 0.24).max(1.0);
        pen.round(&cell.grown(inset, inset), 1.5);
        pen.fill(class_style(pen, model, class).colour);
    }
    if stage.split {
        moved(pen, model, pool, shown);
    }
    theory(pen, model, stage, pool);
}

/// Where the classes' cells would end if theory had its way: a small ink tick each.
fn theory(pen: Pen<'_>, model: &PictureModel, stage: &StageView, pool: &PoolLayout) {
    for edge in pool.ends(stage, &model.order) {
        let y = edge.bottom() + 2.0;
        pen.block(&Rect::new(edge.x - 2.0, edge.y - 3.0, 4.0, edge.h + 6.0), pen.theme.sheet);
        pen.block(&Rect::new(edge.x - 0.75, edge.y - 3.0, 1.5, edge.h + 6.0), pen.theme.ink);
        pen.ctx.begin_path();
        pen.polygon(&[(edge.x, y - 1.0), (edge.x - 3.5, y + 4.0), (edge.x + 3.5, y + 4.0)]);
        pen.fill(pen.theme.ink);
    }
}

/// Cells that changed class a moment ago: the new colour spreads from the middle over the old one, and a frame stays
/// for a while.
fn moved(pen: Pen<'_>, model: &PictureModel, pool: &PoolLayout, shown: &Handover) {
    for (i, cell) in shown.cells().iter().enumerate().filter(|(_, c)| c.mark() > 0.0) {
        let at = pool.grid.cell(i);
        if let (Some(before), Some(owner)) = (cell.before, cell.owner)
            && cell.spread() < 1.0
        {
            let rest = 1.0 - cell.spread();
            pen.round(&at, 2.5);
            pen.fill(class_style(pen, model, before).colour);
            pen.round(&at.grown(-rest * at.w / 2.0, -rest * at.h / 2.0), 2.5);
            pen.fill(class_style(pen, model, owner).colour);
        }
        pen.alpha(cell.mark());
        pen.round(&at.grown(1.0, 1.0), 3.5);
        pen.stroke(pen.theme.ink, 1.5);
        pen.alpha(1.0);
    }
}

/// The counts beside the cells, and the bar of wait shares with its targets.
fn waits(pen: Pen<'_>, at: &PoolBoxes, model: &PictureModel, k: usize, pool: &PoolLayout) {
    let x = if at.wait.is_empty() { at.cells.right() + 14.0 } else { (at.cells.right() + at.wait.x) / 2.0 };
    for &class in &model.order {
        let (style, y) = (class_style(pen, model, class), pool.door[class]);
        pen.ctx.begin_path();
        pen.mark(style.mark, (x, y - 10.0), 4.2);
        pen.fill(style.colour);
        let count = grouped(pool.segments[class].count.into());
        pen.text(&count, (x, y + 8.0), 12.5, 600, Align::Centre, pen.theme.ink);
    }
    if !at.wait.is_empty() && model.classes.len() > 1 {
        wait_bar(pen, &at.wait, model, k);
    }
}

fn wait_bar(pen: Pen<'_>, bar: &Rect, model: &PictureModel, k: usize) {
    pen.block(bar, pen.theme.water);
    let shares = model.wait_shares(k);
    let mut y = bar.y;
    for &class in model.order.iter().filter(|_| shares.is_some()) {
        let h = shares.as_ref().map_or(0.0, |s| s[class]) * bar.h;
        let style = class_style(pen, model, class);
        let part = Rect::new(bar.x, y, bar.w, (h - 1.5).max(0.0));
        pen.alpha(0.9);
        pen.block(&part, style.colour);
        pen.alpha(1.0);
        if h > 14.0 {
            pen.ctx.begin_path();
            pen.mark(style.mark, (part.cx(), part.cy()), 3.2);
            pen.fill(pen.theme.sheet);
        }
        y += h;
    }
    let Some(targets) = model.wait_targets(k) else { return };
    let mut y = bar.y;
    pen.alpha(if shares.is_some() { 1.0 } else { 0.45 });
    for &class in model.order.iter().take(model.order.len().saturating_sub(1)) {
        y += targets[class] * bar.h;
        pen.block(&Rect::new(bar.x - 3.0, y - 2.0, bar.w + 6.0, 4.0), pen.theme.sheet);
        pen.block(&Rect::new(bar.x - 3.0, y - 0.75, bar.w + 6.0, 1.5), pen.theme.ink);
        pen.ctx.begin_path();
        pen.polygon(&[(bar.x - 2.0, y), (bar.x - 8.0, y - 4.0), (bar.x - 8.0, y + 4.0)]);
        pen.fill(pen.theme.ink);
    }
    pen.alpha(1.0);
}

/// For reduced motion: marks that stand on every ribbon that carries something, fuller where it leads.
fn still_marks(pen: Pen<'_>, model: &PictureModel, legs: &[Leg]) {
    const STANDS: [(f64, f64); 3] = [(0.25, 0.4), (0.5, 0.7), (0.75, 1.0)];
    for leg in legs.iter().filter(|leg| leg.flow.per_s > 0.0) {
        let mixed = if let Travel::Send(i) = leg.travel { in_flight_classes(model, i) } else { Vec::new() };
        for (i, &(u, alpha)) in STANDS.iter().enumerate() {
            pen.alpha(alpha);
            let at = leg.curve.at(u);
            match leg.travel {
                Travel::Ask => grey(pen, at),
                Travel::Go | Travel::Rise => one_mark(pen, model, leg.class, at),
                Travel::Fall => falling(pen, model, leg.class, at),
                Travel::Send(_) => {
                    if let Some(&class) = mixed.get(i) {
                        one_mark(pen, model, class, at);
                    }
                }
            }
        }
    }
    pen.alpha(1.0);
}

/// Classes in flight at a server, the least urgent first, so that the most urgent leads.
fn in_flight_classes(model: &PictureModel, server: usize) -> Vec<usize> {
    let there = |&c: &usize| model.servers[server].in_flight.get(c).is_some_and(|&n| n > 0);
    let mut classes: Vec<usize> = model.order.iter().copied().filter(there).take(3).collect();
    classes.reverse();
    classes
}

fn one_mark(pen: Pen<'_>, model: &PictureModel, class: usize, at: (f64, f64)) {
    let style = class_style(pen, model, class);
    pen.ctx.begin_path();
    pen.mark(style.mark, at, 2.6);
    pen.fill(style.colour);
}

/// A request turned away: hollow and red.
fn falling(pen: Pen<'_>, model: &PictureModel, class: usize, at: (f64, f64)) {
    let mark = class_style(pen, model, class).mark;
    pen.ctx.begin_path();
    // A ring is hollow already; it needs room for the outline of its hole.
    pen.mark(mark, at, if mark == Mark::Ring { 3.8 } else { 2.6 });
    pen.fill(pen.theme.sheet);
    pen.stroke(pen.theme.loss, 1.4);
}

fn grey(pen: Pen<'_>, at: (f64, f64)) {
    pen.ctx.begin_path();
    pen.disc(at, 2.2);
    pen.fill(pen.theme.ink_3);
}

/// Marks under way: one path a class, then those without a class yet, then the falling ones.
fn flying_marks(pen: Pen<'_>, model: &PictureModel, legs: &[Leg], flight: &Flight) {
    let under_way = || {
        flight.flyers().iter().filter_map(|f| {
            let leg = legs.get(f.leg)?;
            Some((f, leg, f.progress(leg)?))
        })
    };
    for &class in &model.order {
        let style = class_style(pen, model, class);
        let of_class = |travel| matches!(travel, Travel::Go | Travel::Rise | Travel::Send(_));
        pen.ctx.begin_path();
        for (_, leg, u) in under_way().filter(|(f, leg, _)| f.class == class && of_class(leg.travel)) {
            pen.mark(style.mark, leg.curve.at(u), 2.5);
        }
        pen.fill(style.colour);
    }
    pen.ctx.begin_path();
    for (_, leg, u) in under_way().filter(|(_, leg, _)| leg.travel == Travel::Ask) {
        pen.disc(leg.curve.at(u), 2.2);
    }
    pen.fill(pen.theme.ink_3);
    for (f, leg, u) in under_way().filter(|(_, leg, _)| leg.travel == Travel::Fall) {
        pen.alpha(((1.0 - u) * 4.0).clamp(0.0, 1.0));
        let (x, y) = leg.curve.at(u);
        let aside = 3.0 * f.sway * (4.0 * u).min(1.0);
        falling(pen, model, f.class, (x + aside, y));
    }
    pen.alpha(1.0);
}
