//! The history tracks: which there are, what they draw, and what they read at a moment.

use crate::draw::tracks::{Ink, Layer, Stroke, Tone, Track, largest, nearest};
use crate::feed::Feed;
use crate::figures;
use crate::words::{Word, Words, fill};
use serde_json::{Map, Value};
use std::borrow::Cow;
use tidegate_core::frame::Gauged;
use tidegate_core::measure::History;
use tidegate_core::scenario::v1::{ReportsV1, ScenarioV1};
use tidegate_core::scenario::{Action, Scenario};

/// A ratio of waits within this factor of its target is in band.
const IN_BAND: f64 = 1.1;

/// A track.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Answers in time, with what is lost on top.
    Goodput,
    /// Mean wait by class.
    Wait,
    /// Wait by class over that of the class with the smallest target, each over its target: 1 is on target.
    Ratio,
    /// Requests waiting, by class.
    Queue,
    /// Workers busy, by class.
    Busy,
    /// Requests in flight, by server.
    Servers,
    /// What the balancer makes of each server: for short requests, then (dashed) for sessions.
    Weight,
    /// Averages of a stage's queue control, by class, with its thresholds.
    Average(usize),
}

/// The tracks of a scenario, from the top; averages are those of the stage that is `explained`, if one is.
#[must_use]
pub fn kinds(feed: &Feed, explained: Option<usize>) -> Vec<Kind> {
    let scenario = &feed.scenario;
    let first = scenario.classes.first().map(|c| c.delay_weight);
    let targets = scenario.classes.iter().any(|c| Some(c.delay_weight) != first);
    let mut kinds = vec![Kind::Goodput, Kind::Wait];
    if targets || feed.controlled_stage().is_some() {
        kinds.push(Kind::Ratio);
    }
    kinds.push(Kind::Queue);
    kinds.extend(feed.averaging_stage(explained).map(Kind::Average));
    kinds.push(Kind::Busy);
    if !scenario.servers.is_empty() {
        kinds.push(Kind::Servers);
    }
    if feed.cast.moves_weights {
        kinds.push(Kind::Weight);
    }
    kinds
}

/// Name and unit of a track.
#[must_use]
pub fn name(kind: Kind, w: &Words) -> (&'static str, &'static str) {
    match kind {
        Kind::Goodput => (w.track_goodput, w.per_second),
        Kind::Wait => (w.track_wait, ""),
        Kind::Ratio => (w.track_ratio, w.ratio_unit),
        Kind::Queue => (w.track_queue, ""),
        Kind::Busy => (w.track_busy, ""),
        Kind::Servers => (w.track_servers, ""),
        Kind::Weight => (w.track_weight, ""),
        Kind::Average(_) => (w.track_average, ""),
    }
}

/// Column `name`, or nothing.
fn column(h: &History, name: &str) -> Vec<f64> {
    h.column(name).map_or_else(Vec::new, |c| c.v.to_vec())
}

/// Point by point sum; a gap in one counts as nothing.
fn sum(columns: Vec<Vec<f64>>) -> Vec<f64> {
    let mut columns = columns.into_iter();
    let mut total = columns.next().unwrap_or_default();
    for column in columns {
        for (x, y) in total.iter_mut().zip(&column) {
            *x = match (x.is_finite(), y.is_finite()) {
                (true, true) => *x + y,
                (false, true) => *y,
                _ => *x,
            };
        }
    }
    total
}

/// A figure of every class by index, summed over the stages.
fn per_class(feed: &Feed, h: &History, what: &str) -> Vec<Vec<f64>> {
    let stages = &feed.scenario.stages;
    (feed.scenario.classes.iter())
        .map(|c| sum(stages.iter().map(|s| column(h, &format!("{what}.{}.{}", s.name, c.name))).collect()))
        .collect()
}

fn class_columns(feed: &Feed, h: &History, what: &str) -> Vec<Vec<f64>> {
    feed.scenario.classes.iter().map(|c| column(h, &format!("{what}.{}", c.name))).collect()
}

fn per_server(feed: &Feed, h: &History, what: &str) -> Vec<Vec<f64>> {
    feed.scenario.servers.iter().map(|s| column(h, &format!("{what}.{}", s.name))).collect()
}

/// How the weights of the servers went: for the kind of work there is, or for short requests and then for sessions.
#[must_use]
pub fn weights(feed: &Feed, h: &History) -> Vec<Vec<f64>> {
    let sessions = || per_server(feed, h, "session_weight");
    let [short, session] = feed.cast.kinds;
    let mut all = if short { per_server(feed, h, "weight") } else { sessions() };
    if short && session {
        all.extend(sessions());
    }
    all
}

/// A figure of every class by index, at one stage.
fn at_stage(feed: &Feed, h: &History, what: &str, stage: usize) -> Vec<Vec<f64>> {
    let name = &feed.scenario.stages[stage].name;
    feed.scenario.classes.iter().map(|c| column(h, &format!("{what}.{name}.{}", c.name))).collect()
}

/// The class that ratios are taken to, the one with the smallest target, and each class's target over its.
fn targets(feed: &Feed) -> (usize, Vec<f64>) {
    let weights: Vec<f64> = feed.cast.classes.iter().map(|c| c.delay_weight).collect();
    let to = (0..weights.len()).min_by(|&a, &b| weights[a].total_cmp(&weights[b])).unwrap_or(0);
    let least = weights.get(to).copied().unwrap_or(1.0);
    (to, weights.iter().map(|weight| weight / least).collect())
}

/// Wait of each class over that of the class with the smallest target, each over its target, and at last the stretches
/// without a ratio: there the top of any axis, else a gap. Waits of whole steps, whatever the policy, so that policies
/// can be compared.
fn ratios(feed: &Feed, h: &History) -> Vec<Vec<f64>> {
    let (to, targets) = targets(feed);
    let control = feed.controlled_stage();
    let waits = match control {
        Some(stage) if feed.scenario.stages.len() > 1 => at_stage(feed, h, "wait_s", stage),
        _ => class_columns(feed, h, "wait_s"),
    };
    let known = class_columns(feed, h, "wait_ratio");
    let idle = |i: usize| match control.and_then(|stage| feed.split(stage)) {
        Some(trail) => trail.idle.get(i).is_none_or(|&part| part > 0.5),
        None => known.iter().all(|v| v.get(i).is_none_or(|ratio| ratio.is_nan())),
    };
    let points = waits.iter().map(Vec::len).min().unwrap_or(0);
    let ratio = |class: usize, i: usize| {
        let ratio = waits[class][i] / waits[to][i] / targets[class];
        if idle(i) || !(ratio > 0.0 && ratio.is_finite()) { f64::NAN } else { ratio }
    };
    let of = |class: usize| -> Vec<f64> {
        if class == to { Vec::new() } else { (0..points).map(|i| ratio(class, i)).collect() }
    };
    let mut lists: Vec<Vec<f64>> = (0..waits.len()).map(of).collect();
    lists.push((0..points).map(|i| if idle(i) { f64::MAX } else { f64::NAN }).collect());
    lists
}

/// Numbers of one track, ready to be drawn and read.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// One list a class or server; for [`Kind::Goodput`], answers in time and losses.
    pub lists: Vec<Vec<f64>>,
    /// The same before the last edit, where that is drawn.
    pub ghosts: Vec<Vec<f64>>,
}

/// Everything drawn, computed once a change.
#[derive(Clone, Debug, Default)]
pub struct Plot {
    /// Which tracks.
    pub kinds: Vec<Kind>,
    numbers: Vec<Numbers>,
    order: Vec<usize>,
    /// Servers: lines of theirs beyond so many are dashed.
    solid: usize,
    /// Wait wanted of each class, over that of the class with the smallest target.
    targets: Vec<f64>,
    /// Lower and upper threshold of the averages, and whether they are seconds.
    thresholds: (f64, f64, bool),
    /// Whether the ghosts are the other run of a comparison, and dashed.
    pub dashed: bool,
    /// Time of the first number.
    pub start_s: f64,
    /// Time between two numbers.
    pub step_s: f64,
}

/// Means of a run's tracks, for a stretch of time: what is expected there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Means {
    /// Beginning of the stretch, in seconds.
    pub from_s: f64,
    /// Its end, in seconds.
    pub to_s: f64,
    /// Of each track, the mean of each list; NaN where nothing is known.
    of: Vec<(Kind, Vec<f64>)>,
}

impl Plot {
    /// Means of all but the first quarter, in which a run that begins empty fills.
    #[must_use]
    pub fn means(&self, from_s: f64, to_s: f64) -> Means {
        let mean = |list: &Vec<f64>| {
            let known = list[list.len() / 4..].iter().filter(|v| v.is_finite());
            known.clone().sum::<f64>() / known.count() as f64
        };
        let of = self.kinds.iter().zip(&self.numbers);
        Means { from_s, to_s, of: of.map(|(kind, n)| (*kind, n.lists.iter().map(mean).collect())).collect() }
    }

    /// Puts what is expected behind the lines of goodput, wait and queue, dashed; `t_s` are the times of the numbers.
    pub fn lay_behind(&mut self, t_s: &[f64], expected: &[Means]) {
        self.dashed = true;
        for (kind, numbers) in self.kinds.iter().zip(&mut self.numbers) {
            if expected.is_empty() || !matches!(kind, Kind::Goodput | Kind::Wait | Kind::Queue) {
                continue;
            }
            let at = |t: f64| expected.iter().rev().find(|m| m.from_s <= t && t < m.to_s);
            let value = |i: usize, t: f64| {
                let (_, means) = at(t)?.of.iter().find(|(other, _)| other == kind)?;
                means.get(i).copied()
            };
            let lists = 0..numbers.lists.len();
            numbers.ghosts =
                lists.map(|i| t_s.iter().map(|&t| value(i, t).unwrap_or(f64::NAN)).collect()).collect();
        }
    }

    /// The tracks of a feed; `ghost` is the history before the last edit, `explained` the stage that is explained.
    #[must_use]
    pub fn new(feed: &Feed, ghost: Option<&History>, explained: Option<usize>) -> Self {
        let h = &feed.history;
        let t = h.t_s();
        let step_s = if t.len() > 1 { (t[t.len() - 1] - t[0]) / (t.len() - 1) as f64 } else { 1.0 };
        let kinds = kinds(feed, explained);
        let stage = feed.averaging_stage(explained).and_then(|k| feed.model.stages.get(k));
        let gauge = stage.and_then(|s| s.classes.first()).map(|c| c.gauge).unwrap_or_default();
        let thresholds = (gauge.min, gauge.max, stage.is_some_and(|s| s.gauged == Gauged::Seconds));
        let numbers = kinds
            .iter()
            .map(|&kind| Numbers {
                lists: lists(feed, h, kind),
                ghosts: match (ghost, kind) {
                    (Some(g), Kind::Goodput | Kind::Wait | Kind::Queue) => lists(feed, g, kind),
                    _ => Vec::new(),
                },
            })
            .collect();
        let start_s = t.first().copied().unwrap_or(0.0);
        let (_, targets) = targets(feed);
        let (order, solid) = (feed.cast.order.clone(), feed.scenario.servers.len());
        Self { kinds, numbers, order, solid, targets, thresholds, dashed: false, start_s, step_s }
    }

    /// What the painter draws.
    #[must_use]
    pub fn tracks(&self) -> Vec<Track<'_>> {
        self.kinds.iter().zip(&self.numbers).map(|(&kind, numbers)| self.track(kind, numbers)).collect()
    }

    fn ghost<'a>(&self, values: Cow<'a, [f64]>, ink: Ink) -> Layer<'a> {
        if self.dashed { Layer::other(values, ink) } else { Layer::before(values, ink) }
    }

    fn track<'a>(&'a self, kind: Kind, n: &'a Numbers) -> Track<'a> {
        let plain: fn(f64) -> String = figures::rate;
        let ranked = || self.order.iter().enumerate().filter_map(|(rank, &c)| Some((rank, n.lists.get(c)?)));
        let borrowed = |v: &'a Vec<f64>| Cow::Borrowed(v.as_slice());
        match kind {
            Kind::Goodput => {
                let (good, lost) = (&n.lists[0], &n.lists[1]);
                let mut track = Track::goodput(borrowed(good), lost, plain);
                if let Some(ghost) = n.ghosts.first().filter(|g| !g.is_empty()) {
                    track.layers.push(self.ghost(borrowed(ghost), Ink::Ink2));
                }
                track
            }
            Kind::Wait => {
                let most = largest(n.lists.iter().chain(&n.ghosts).map(Vec::as_slice));
                let mut layers: Vec<Layer<'a>> = Vec::new();
                for (rank, &c) in self.order.iter().enumerate() {
                    if let Some(ghost) = n.ghosts.get(c).filter(|g| !g.is_empty()) {
                        layers.push(self.ghost(borrowed(ghost), Ink::Class(rank)));
                    }
                }
                layers.extend(ranked().map(|(rank, v)| Layer::line(borrowed(v), Ink::Class(rank))));
                let lists = n.lists.iter().flatten();
                let least = lists.copied().filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
                if most > 0.0 && most / least > 30.0 {
                    let low = libm::pow(10.0, libm::log10(least).floor()).max(most * 1e-4);
                    let low = libm::pow(10.0, libm::log10(low).round());
                    Track::logarithmic(low, most, gutter, layers)
                } else {
                    Track::from_zero(most, gutter, layers)
                }
            }
            Kind::Ratio => {
                let (ratios, idle) = n.lists.split_at(self.order.len().min(n.lists.len()));
                let points = ratios.iter().map(Vec::len).max().unwrap_or(0);
                let all = |at: f64| Cow::Owned(vec![at; points]);
                let mut layers =
                    vec![Layer::Range { low: all(1.0 / IN_BAND), high: all(IN_BAND), ink: Ink::Ink2 }];
                layers.extend(idle.iter().map(|v| Layer::Area {
                    from: None,
                    to: borrowed(v),
                    ink: Ink::Ink3,
                }));
                layers.push(Layer::other(all(1.0), Ink::Ink3));
                layers.extend(ranked().map(|(rank, v)| Layer::line(borrowed(v), Ink::Class(rank))));
                Track::around_one(ratios.iter().flatten().copied(), figures::fine, layers)
            }
            Kind::Queue => {
                let classes: Vec<(usize, Cow<'a, [f64]>)> = ranked().map(|(r, v)| (r, borrowed(v))).collect();
                let mut track = Track::stacked(&classes, plain);
                if n.ghosts.iter().any(|g| !g.is_empty()) {
                    let all = sum(n.ghosts.clone());
                    track.layers.push(self.ghost(Cow::Owned(all), Ink::Ink2));
                }
                track
            }
            Kind::Busy => {
                let classes: Vec<(usize, Cow<'a, [f64]>)> = ranked().map(|(r, v)| (r, borrowed(v))).collect();
                Track::stacked(&classes, plain)
            }
            Kind::Average(_) => {
                let (min, max, seconds) = self.thresholds;
                let averages = &n.lists[..self.order.len().min(n.lists.len())];
                let points = averages.iter().map(Vec::len).max().unwrap_or(0);
                let mut layers: Vec<Layer<'a>> = [min, max]
                    .into_iter()
                    .filter(|&at| at > 0.0)
                    .map(|at| Layer::other(Cow::Owned(vec![at; points]), Ink::Ink3))
                    .collect();
                layers.extend(ranked().map(|(rank, v)| Layer::line(borrowed(v), Ink::Class(rank))));
                let label = |v: f64| if seconds { gutter(v) } else { figures::rate(v) };
                Track::from_zero(largest(averages.iter().map(Vec::as_slice)).max(max), label, layers)
            }
            Kind::Servers | Kind::Weight => {
                let most = largest(n.lists.iter().map(Vec::as_slice));
                let line = |(at, v): (usize, &'a Vec<f64>)| Layer::Line {
                    values: borrowed(v),
                    ink: if kind == Kind::Weight { Ink::Ink2 } else { Ink::Ink3 },
                    stroke: if at < self.solid { Stroke::Solid } else { Stroke::Dashed },
                    width: 1.0,
                };
                let label: fn(f64) -> String = if kind == Kind::Weight { figures::fine } else { plain };
                Track::from_zero(most, label, n.lists.iter().enumerate().map(line).collect())
            }
        }
    }

    /// What a track says at a moment: `(rank of a class, figure)`, or a figure of its own.
    #[must_use]
    pub fn reading(&self, row: usize, at_s: f64, w: &Words) -> Vec<(Option<usize>, String, Tell)> {
        let (Some(&kind), Some(n)) = (self.kinds.get(row), self.numbers.get(row)) else { return Vec::new() };
        // The last step is not over yet: until it is, the one before stands.
        let at = |v: &[f64]| {
            let end_s = self.start_s + self.step_s * v.len().saturating_sub(1) as f64;
            nearest(v, self.start_s, self.step_s, at_s.clamp(self.start_s, end_s.max(self.start_s)))
        };
        let ranked = || {
            (self.order.iter().enumerate())
                .filter_map(|(rank, &c)| Some((rank, n.lists.get(c).and_then(|v| at(v))?)))
        };
        match kind {
            Kind::Goodput => {
                let (good, lost) = (at(&n.lists[0]), at(&n.lists[1]));
                let mut out = Vec::new();
                if let Some(good) = good {
                    out.push((None, figures::rate(good), Tell::Main));
                    let lost = lost.unwrap_or(0.0);
                    if good + lost > 0.0 && lost > 0.0 {
                        out.push((
                            None,
                            fill(w.lost, &[&figures::percent(lost / (good + lost))]),
                            Tell::Side,
                        ));
                    }
                }
                out
            }
            Kind::Wait => {
                let top = ranked().map(|(_, v)| v).fold(0.0, f64::max);
                let least = ranked().map(|(_, v)| v).filter(|v| *v > 0.0).fold(f64::INFINITY, f64::min);
                if top > 300.0 * least {
                    // Too far apart for one unit.
                    return ranked().map(|(r, v)| (Some(r), figures::wait(v), Tell::Main)).collect();
                }
                let unit = if top < 0.001 {
                    (1e6, "µs")
                } else if top < 10.0 {
                    (1e3, "ms")
                } else {
                    (1.0, "s")
                };
                let mut out: Vec<_> =
                    ranked().map(|(r, v)| (Some(r), short(v * unit.0), Tell::Main)).collect();
                if !out.is_empty() {
                    out.push((None, unit.1.to_owned(), Tell::Side));
                }
                out
            }
            Kind::Ratio => {
                if n.lists.last().is_some_and(|idle| n.lists.len() > self.order.len() && at(idle).is_some()) {
                    return vec![(None, w.below_overload.to_owned(), Tell::Side)];
                }
                let target = |rank: usize| self.targets.get(self.order[rank]).copied().unwrap_or(1.0);
                let told: Vec<(usize, f64)> = ranked().collect();
                let wanted: Vec<String> = told.iter().map(|&(r, _)| figures::fine(target(r))).collect();
                let mut out: Vec<_> =
                    told.iter().map(|&(r, v)| (Some(r), figures::fine(v * target(r)), Tell::Main)).collect();
                if !out.is_empty() {
                    out.push((None, fill(w.wanted, &[&wanted.join(" : ")]), Tell::Side));
                }
                out
            }
            Kind::Queue => {
                let all: f64 = ranked().map(|(_, v)| v).sum();
                let mut out = Vec::new();
                if ranked().next().is_some() {
                    out.push((None, figures::count(all.round() as u64), Tell::Main));
                    out.extend(
                        ranked().map(|(r, v)| (Some(r), figures::count(v.round() as u64), Tell::Main)),
                    );
                }
                out
            }
            Kind::Average(_) => {
                let show = |v| if self.thresholds.2 { figures::wait(v) } else { figures::rate(v) };
                let mut out: Vec<_> = ranked().map(|(r, v)| (Some(r), show(v), Tell::Main)).collect();
                // The height of the curve stands behind the averages.
                let height = n.lists.get(self.order.len()).and_then(|v| at(v)).filter(|p| *p > 0.0);
                out.extend(height.map(|p| (None, fill(w.at_most, &[&figures::chance(p)]), Tell::Side)));
                out
            }
            Kind::Busy => {
                ranked().map(|(r, v)| (Some(r), figures::count(v.round() as u64), Tell::Main)).collect()
            }
            Kind::Servers | Kind::Weight => {
                let values: Vec<f64> = n.lists.iter().filter_map(|v| at(v)).collect();
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                if values.is_empty() {
                    return Vec::new();
                }
                let text = if kind == Kind::Weight {
                    let (least, most) = (figures::fine(least), figures::fine(most));
                    if least == most { most } else { format!("{least} – {most}") }
                } else if (least - most).abs() < 0.5 {
                    figures::count(most.round() as u64)
                } else {
                    format!("{} – {}", least.round(), most.round())
                };
                vec![(None, text, Tell::Main)]
            }
        }
    }
}

/// How a reading is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tell {
    /// In ink.
    Main,
    /// Small, beside it.
    Side,
}

/// A time for the gutter, where there is no room for a space.
fn gutter(s: f64) -> String {
    if s >= 0.1 { format!("{}s", figures::typed(s)) } else { figures::wait(s).replace(' ', "") }
}

/// Two to three digits without a unit.
fn short(v: f64) -> String {
    if v < 10.0 {
        figures::rate(v)
    } else if v < 100.0 {
        format!("{}", v.round())
    } else {
        figures::count(((v / 10.0).round() * 10.0) as u64)
    }
}

fn lists(feed: &Feed, h: &History, kind: Kind) -> Vec<Vec<f64>> {
    match kind {
        Kind::Goodput => {
            let good = sum(class_columns(feed, h, "goodput_per_s"));
            let asked = sum(class_columns(feed, h, "arrived_per_s"));
            let shed = sum(class_columns(feed, h, "shed_per_s"));
            // What was turned away; arrivals that wait are not lost yet.
            let lost = if shed.is_empty() { vec![0.0; asked.len()] } else { shed };
            vec![good, lost]
        }
        Kind::Wait => class_columns(feed, h, "wait_s"),
        Kind::Ratio => ratios(feed, h),
        Kind::Queue => per_class(feed, h, "queue"),
        Kind::Busy => match feed.controlled_stage() {
            // Where workers change class it matters whose they are, not whether they are busy.
            Some(stage) => at_stage(feed, h, "slots", stage),
            None => per_class(feed, h, "busy"),
        },
        Kind::Average(stage) => {
            let trail = |class: usize, what: usize| {
                feed.trail(stage, class).map(|t| t[what].clone()).unwrap_or_default()
            };
            let mut lists: Vec<Vec<f64>> = (0..feed.cast.classes.len()).map(|c| trail(c, 0)).collect();
            lists.extend(feed.cast.order.last().map(|&c| trail(c, 1)));
            lists
        }
        Kind::Servers => per_server(feed, h, "load"),
        Kind::Weight => weights(feed, h),
    }
}

/// A planned event on the ruler; events of one moment share a flag.
#[derive(Clone, Debug, PartialEq)]
pub struct Flag {
    /// When.
    pub at_s: f64,
    /// What it says.
    pub text: String,
    /// What kind of event.
    pub tone: Tone,
}

/// The flags of a scenario.
#[must_use]
pub fn flags(scenario: &Scenario, w: &Words) -> Vec<Flag> {
    let mut flags: Vec<Flag> = Vec::new();
    let events = &scenario.events;
    let mut i = 0;
    while i < events.len() {
        let at = events[i].at;
        let end = i + events[i..].iter().take_while(|e| e.at == at).count();
        flags.push(flag(
            scenario,
            &events[i..end].iter().map(|e| e.action).collect::<Vec<_>>(),
            at.as_secs_f64(),
            w,
        ));
        i = end;
    }
    // Edits are in order, too; each goes behind the events of its moment.
    for (at, edit) in scenario.edits.iter().enumerate() {
        let at_s = edit.at.as_secs_f64();
        let place = flags.iter().take_while(|flag| flag.at_s <= at_s).count();
        let before = at.checked_sub(1).map_or(scenario, |before| &scenario.edits[before].version);
        let text = edit_text(before.wire(), &scenario.wire().edits[at].set.0, w);
        flags.insert(place, Flag { at_s, text, tone: Tone::Yours });
    }
    flags
}

/// What an edit of a scenario says: its first value, as it was and as it is, and how many more.
fn edit_text(before: &ScenarioV1, set: &Map<String, Value>, w: &Words) -> String {
    let Some((path, new)) = set.iter().next() else { return String::new() };
    let root = crate::knobs::json(before);
    let field = path.rsplit(['.', '[']).next().unwrap_or(path);
    let mut parts: Vec<&str> = Vec::new();
    // Whose: the entry of the list it is in, by name.
    if let Some((list, rest)) = path.split_once('[')
        && let Some((index, _)) = rest.split_once(']')
        && let Some(Value::Array(entries)) = root.get(list)
        && (list != "stages" || entries.len() > 1)
    {
        let entry = index.parse::<usize>().ok().and_then(|i| entries.get(i));
        parts.extend(entry.and_then(|entry| entry.get("name")).and_then(Value::as_str));
    }
    let called = match field {
        "workers" => w.workers,
        "rate_per_s" => Word::rate.of(w),
        "priority" => w.priority,
        "service" => Word::service.of(w),
        other => other.trim_end_matches("_us").trim_end_matches("_per_s"),
    };
    parts.push(called);
    let shown = |value: Option<&Value>| match value {
        Some(Value::Number(n)) if field.ends_with("_us") => figures::wait(n.as_f64().unwrap_or(0.0) * 1e-6),
        Some(Value::Number(n)) => figures::typed(n.as_f64().unwrap_or(0.0)),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Object(map)) => {
            let word =
                ["policy", "law", "kind", "rule", "control"].iter().find_map(|tag| map.get(*tag)?.as_str());
            word.unwrap_or("…").to_owned()
        }
        Some(Value::Array(_)) => "…".to_owned(),
        _ => "–".to_owned(),
    };
    let text = format!("{} {} → {}", parts.join(" "), shown(crate::knobs::at(&root, path)), shown(Some(new)));
    let more = set.len() - 1;
    if more == 0 { fill(w.flag_edit, &[&text]) } else { fill(w.flag_edit_more, &[&text, &more.to_string()]) }
}

fn flag(scenario: &Scenario, actions: &[Action], at_s: f64, w: &Words) -> Flag {
    let server = |id: tidegate_core::id::ServerId| scenario.servers[usize::from(id.0)].name.as_str();
    let factors: Vec<f64> = (actions.iter())
        .filter_map(|a| if let Action::Load { factor, .. } = a { Some(*factor) } else { None })
        .collect();
    let failing = actions.iter().find(|a| matches!(a, Action::ServerDown(_)));
    let (text, tone) = match failing.or(actions.first()) {
        Some(Action::ServerDown(id)) => (fill(w.flag_down, &[server(*id)]), Tone::Bad),
        Some(Action::ServerUp(id)) => (fill(w.flag_up, &[server(*id)]), Tone::Good),
        Some(Action::ServerSpeed(id, speed)) => {
            let usual = scenario.servers[usize::from(id.0)].speed;
            let tone = if *speed < usual { Tone::Bad } else { Tone::Good };
            (fill(w.flag_speed, &[server(*id), &figures::ratio(*speed)]), tone)
        }
        Some(Action::Neighbour(id, share)) => {
            let there = *share > 0.0;
            let (text, tone) =
                if there { (w.flag_neighbour, Tone::Bad) } else { (w.flag_neighbour_gone, Tone::Good) };
            (fill(text, &[server(*id), &figures::percent(*share)]), tone)
        }
        Some(Action::ServerReports(id, state)) => {
            let tone = if *state == ReportsV1::Normal { Tone::Good } else { Tone::Bad };
            let state = crate::knobs::name(crate::knobs::REPORTS, state.word(), w);
            (fill(w.flag_reports, &[server(*id), state]), tone)
        }
        Some(Action::Service { class, factor }) => {
            let whose = class.map_or(w.event_all, |class| &scenario.classes[usize::from(class.0)].name);
            let tone = if *factor > 1.0 { Tone::Load } else { Tone::Good };
            (fill(w.flag_service, &[whose, &figures::ratio(*factor)]), tone)
        }
        _ => {
            let least = factors.iter().copied().fold(f64::INFINITY, f64::min);
            let most = factors.iter().copied().fold(0.0, f64::max);
            let text = if least == most {
                figures::ratio(most)
            } else {
                format!("{}–{}", figures::ratio(least), figures::ratio(most))
            };
            let text = match actions {
                [Action::Load { class: Some(class), .. }] => {
                    fill(w.flag_load_of, &[&scenario.classes[usize::from(class.0)].name, &text])
                }
                _ => fill(w.flag_load, &[&text]),
            };
            (text, if most > 1.0 { Tone::Load } else { Tone::Good })
        }
    };
    Flag { at_s, text, tone }
}

/// Moments to write on a ruler: round, and at most eight.
#[must_use]
pub fn ticks(from_s: f64, to_s: f64) -> Vec<f64> {
    const STEPS: [f64; 20] = [
        0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 1800.0, 3600.0, 7200.0,
        14_400.0, 43_200.0, 86_400.0, 172_800.0,
    ];
    let span = to_s - from_s;
    let step = STEPS.into_iter().find(|s| span / s <= 7.0 + 1e-9).unwrap_or(604_800.0);
    let mut at = (from_s / step).ceil() * step;
    let mut out = Vec::new();
    while at <= to_s + step * 1e-6 && out.len() < 9 {
        out.push(at);
        at += step;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::english;
    use tidegate_core::frame::Frame;
    use tidegate_core::scenario::presets;
    use tidegate_core::scenario::v1::LoadV1;
    use tidegate_core::sim::Simulation;
    use tidegate_core::time::{Duration, Instant};

    fn played(name: &str, step_s: f64) -> Feed {
        play(presets::get(name).expect("a preset").scenario(), step_s)
    }

    fn play(scenario: Scenario, step_s: f64) -> Feed {
        let mut sim = Simulation::new(&scenario, 0, None).expect("runs");
        let mut feed = Feed::new(1, scenario, 2.0, step_s);
        let mut frame = Frame::default();
        for i in 0..=120 {
            sim.run_until(Instant::START + Duration::from_secs_f64(f64::from(i) * step_s));
            sim.frame(&mut frame);
            feed.remember(&frame);
        }
        feed.show(frame);
        feed
    }

    #[test]
    fn every_track_of_a_crowd_has_numbers_and_a_reading() {
        let feed = played("flash-crowd", 1.0);
        let plot = Plot::new(&feed, Some(&feed.history), None);
        assert_eq!(plot.kinds.len(), 6);
        assert_eq!(plot.tracks().len(), 6);
        for row in 0..6 {
            assert!(!plot.reading(row, 110.0, english()).is_empty(), "{:?}", plot.kinds[row]);
        }
        let queue = plot.reading(3, 110.0, english());
        assert_eq!(queue.len(), 4);
    }

    #[test]
    fn averages_have_a_track_with_their_thresholds() {
        let feed = played("seda-exp2", 0.5);
        let plot = Plot::new(&feed, None, Some(2));
        let row = plot.kinds.iter().position(|k| *k == Kind::Average(2)).expect("Send is explained");
        assert_eq!(plot.tracks()[row].layers.len(), 2 + 3, "two thresholds, three classes");
        let reading = plot.reading(row, 5.0, english());
        assert_eq!(reading.len(), 4, "three averages and the height of the curve: {reading:?}");
        assert!(reading[2].1.parse::<f64>().is_ok_and(|low| low > 200.0), "{reading:?}");
    }

    /// A crowd whose serving stage has this order, and a controlled split if asked for.
    fn crowd(order: &str, controlled: bool) -> Feed {
        let mut wire = presets::get("flash-crowd").expect("a preset").scenario().wire().clone();
        crate::knobs::put(&mut wire, "stages[1].order", Some(order.into()));
        if controlled {
            crate::knobs::share_workers(&mut wire, 1, 2);
        }
        play(Scenario::check(wire).expect("runs"), 1.0)
    }

    #[test]
    fn ratios_of_any_policy_are_held_against_their_target() {
        let feed = crowd("wtp", false);
        let lists = ratios(&feed, &feed.history);
        let (to, targets) = targets(&feed);
        assert!(lists[to].is_empty() && targets[to] == 1.0);
        let last = feed.cast.order[2];
        let name = &feed.scenario.classes[last].name;
        let known = feed.history.column(&format!("wait_ratio.{name}")).expect("a column").v;
        let told = lists[last].iter().zip(known).filter(|(r, _)| r.is_finite());
        let mut count = 0;
        for (ratio, known) in told {
            assert!(
                (ratio * targets[last] - known).abs() < 1e-9,
                "{ratio} of {}, want {known}",
                targets[last]
            );
            count += 1;
        }
        assert!(count > 20, "{count} steps with a ratio");
        let near = lists[last].iter().filter(|r| (1.0 / IN_BAND..=IN_BAND).contains(*r)).count();
        assert!(2 * near > count, "waiting-time priority keeps to its target: {near} of {count}");
    }

    /// What the track of ratios says at a moment.
    fn told(feed: &Feed, at_s: f64) -> Vec<(Option<usize>, String, Tell)> {
        let plot = Plot::new(feed, None, None);
        let row = plot.kinds.iter().position(|k| *k == Kind::Ratio).expect("targets differ");
        plot.reading(row, at_s, english())
    }

    #[test]
    fn where_there_is_nothing_to_enforce_there_is_no_ratio() {
        let nothing = [(None, "below overload: nothing to enforce".to_owned(), Tell::Side)];
        let feed = crowd("wtp", false);
        assert_eq!(told(&feed, 20.0), nothing);
        let busy = told(&feed, 115.0);
        assert_eq!(busy.len(), 3, "two ratios and what was wanted, {busy:?}");
        assert_eq!(busy[2].1, "of 2 : 4");
        // The same where a controller says so, not the length of the queue.
        let mut wire = crowd("wtp", true).scenario.wire().clone();
        wire.events.clear();
        wire.classes.iter_mut().for_each(|c| c.load = LoadV1::Poisson { rate_per_s: 30.0 });
        assert_eq!(told(&play(Scenario::check(wire).expect("runs"), 1.0), 100.0), nothing);
    }

    #[test]
    fn workers_of_a_controlled_split_are_shown_by_whose_they_are() {
        let feed = crowd("strict_priority", true);
        let plot = Plot::new(&feed, None, None);
        let row = plot.kinds.iter().position(|k| *k == Kind::Busy).expect("always");
        let told: u32 =
            plot.reading(row, 20.0, english()).iter().map(|r| r.1.parse::<u32>().expect("a count")).sum();
        assert_eq!(told, feed.scenario.stages[1].workers, "idle ones too");
    }

    #[test]
    fn flags_gather_what_happens_at_once() {
        let feed = played("flash-crowd", 1.0);
        let flags = flags(&feed.scenario, english());
        let texts: Vec<&str> = flags.iter().map(|f| f.text.as_str()).collect();
        assert_eq!(texts, ["Load ×1.4–2.2", "api-4 down", "api-4 back", "Load ×1"]);
        assert_eq!(flags[1].tone, Tone::Bad);
    }

    #[test]
    fn rulers_are_round_and_sparse() {
        assert_eq!(ticks(0.0, 180.0), [0.0, 30.0, 60.0, 90.0, 120.0, 150.0, 180.0]);
        assert_eq!(ticks(0.0, 7200.0).len(), 5);
        assert_eq!(ticks(63.0, 183.0), [90.0, 120.0, 150.0, 180.0]);
    }

    #[test]
    fn what_is_expected_lies_where_it_is_expected() {
        let feed = played("mm1", 1.0);
        let own = Plot::new(&feed, None, None);
        let means = own.means(10.0, 20.0);
        let mut plot = own.clone();
        plot.lay_behind(&[5.0, 10.0, 19.0, 20.0], &[means]);
        let row = plot.kinds.iter().position(|k| *k == Kind::Wait).expect("a track of waits");
        let [before, first, last, after] = plot.numbers[row].ghosts[0][..] else {
            panic!("a number for each time")
        };
        assert!(before.is_nan() && after.is_nan());
        // M/M/1 at 80 %: four times the service time of a millisecond.
        assert!((first - 0.004).abs() < 0.001 && first == last, "{first}");
        assert!(plot.dashed);
    }
}
