//! The state of the system in one sentence, and up to four facts that prove it.
//!
//! Which facts are chosen follows a fixed order: a broken server, a starved class, an order turned around, a ratio of
//! waits far from its target or held by a controller, wasted work, loss, a control at its stop, waits. They are told in another: who is served best comes first, what is broken last.

use crate::draw::PictureModel;
use crate::draw::model::{ServerView, StageClassView, StageView, Standing};
use crate::figures;
use crate::words::{Words, fill};
use tidegate_core::frame::{LoopFrame, SplitState};
use tidegate_core::scenario::v1::{KindV1, LawV1, LoadV1, SizeV1};
use tidegate_core::scenario::{Action, Class, Scenario, ServerSpec, Work};
use tidegate_core::time::{Duration, Instant};

/// Most facts told.
const MOST_FACTS: usize = 5;
/// How far a ratio of waits may be from its target without being told.
const RATIO_MAY_BE_OFF: f64 = 0.2;
/// Share of wasted time that is worth telling.
const WASTE_WORTH_TELLING: f64 = 0.05;
/// How much longer the more urgent must wait for the order to be turned around.
const INVERTED: f64 = 1.2;
/// A figure that changed by less is not worth new words.
const WORTH_TELLING: f64 = 0.05;

/// A piece of the lead sentence.
#[derive(Clone, Debug, PartialEq)]
pub enum Piece {
    /// Words.
    Text(String),
    /// A figure or name, emphasised.
    Strong(String),
    /// Mark of the class of this rank.
    Glyph(usize),
}

/// Headline and lead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Story {
    /// One clause about demand against capacity.
    pub headline: String,
    /// The facts.
    pub lead: Vec<Piece>,
    /// Demand over capacity, for the editor's summary.
    pub demand: Option<f64>,
    // What it says without figures, and the figures: new words only if these change.
    shape: Vec<u32>,
    figures: Vec<f64>,
}

impl Story {
    /// Whether `other` says something worth telling after this.
    #[must_use]
    pub fn differs_from(&self, other: &Self) -> bool {
        self.shape != other.shape
            || self.figures.len() != other.figures.len()
            || self.figures.iter().zip(&other.figures).any(|(a, b)| {
                let scale = a.abs().max(b.abs());
                scale > 0.0 && (a - b).abs() > WORTH_TELLING * scale
            })
    }

    /// The lead as plain text.
    #[must_use]
    pub fn plain(&self) -> String {
        let mut out = self.headline.clone();
        out.push(' ');
        for piece in &self.lead {
            match piece {
                Piece::Text(s) | Piece::Strong(s) => out.push_str(s),
                Piece::Glyph(_) => {}
            }
        }
        out
    }
}

/// Mean of a law, in seconds.
#[must_use]
pub fn mean_s(law: &LawV1) -> f64 {
    law.mean_us() * 1e-6
}

/// Mean requests a second a load asks for by itself; `None` for clients who wait and for recorded traffic.
#[must_use]
pub fn mean_rate(load: &LoadV1) -> Option<f64> {
    match load {
        LoadV1::Poisson { rate_per_s } | LoadV1::Deterministic { rate_per_s, .. } => Some(*rate_per_s),
        LoadV1::Mmpp { phases } => {
            let time: f64 = phases.iter().map(|p| p.mean_us as f64).sum();
            let requests: f64 = phases.iter().map(|p| p.rate_per_s * p.mean_us as f64).sum();
            Some(if time > 0.0 { requests / time } else { 0.0 })
        }
        LoadV1::Closed { .. } | LoadV1::Trace { .. } => None,
    }
}

/// Demand over capacity of the busiest part, and whether that part is the servers.
#[must_use]
pub fn demand(scenario: &Scenario, model: &PictureModel, offered: &[f64]) -> Option<(f64, bool)> {
    let mut worst: Option<(f64, bool)> = None;
    let mut note = |rho: f64, servers: bool| {
        if rho.is_finite() && worst.is_none_or(|(w, _)| rho > w) {
            worst = Some((rho, servers));
        }
    };
    let rate: f64 = offered.iter().sum();
    let size = |c: &Class| c.size.as_ref().map_or(0.0, SizeV1::mean_bytes);
    let bytes: f64 = scenario.classes.iter().zip(offered).map(|(c, r)| size(c) * r).sum();
    // A session holds a part of a core for as long as it stays.
    let cores = |c: &Class| if c.kind == KindV1::Session { c.demand.cpu } else { 1.0 };
    let work: f64 =
        scenario.classes.iter().zip(offered).map(|(c, r)| cores(c) * mean_s(&c.service) * r).sum();
    for (k, stage) in scenario.stages.iter().enumerate() {
        let served = match &stage.work {
            Work::Own(law, batch) => {
                // What a batch takes besides is shared by the requests in it.
                let size = model.stages.get(k).map_or(1, |s| s.batch).max(1);
                let each = mean_s(law) + batch.as_secs_f64() / f64::from(size);
                Some(rate * each / f64::from(stage.workers))
            }
            Work::Link(bytes_per_s) => Some(bytes / bytes_per_s),
            Work::Servers => None,
        };
        if let Some(rho) = served {
            note(rho, false);
        } else {
            let up: Vec<(&ServerSpec, f64)> = (scenario.servers.iter().enumerate())
                .filter(|(i, _)| model.servers.get(*i).is_none_or(|s| s.up))
                .map(|(i, s)| (s, speed_at(scenario, i, model.now_s)))
                .collect();
            let places: f64 = up.iter().map(|(s, _)| f64::from(s.slots)).sum();
            let power: f64 = up.iter().map(|(s, speed)| f64::from(s.slots) * speed).sum();
            if places > 0.0 {
                let workers = f64::from(stage.workers);
                // Fewer workers than places: the places are not all used.
                let (capacity, servers) =
                    if workers < places { (power * workers / places, false) } else { (power, true) };
                note(work / capacity, servers);
            }
        }
    }
    worst
}

/// Speed of a server at a moment, as its events say.
fn speed_at(scenario: &Scenario, server: usize, now_s: f64) -> f64 {
    let now = Instant::START + Duration::from_secs_f64(now_s);
    let changed = scenario.events.iter().rev().find_map(|e| match e.action {
        Action::ServerSpeed(id, speed) if usize::from(id.0) == server && e.at <= now => Some(speed),
        _ => None,
    });
    changed.unwrap_or(scenario.servers[server].speed)
}

/// Since when a server is down, if an event of the scenario says so.
fn down_since(scenario: &Scenario, server: usize, now_s: f64) -> Option<f64> {
    let now = Instant::START + Duration::from_secs_f64(now_s);
    scenario
        .events
        .iter()
        .rev()
        .find_map(|e| match e.action {
            Action::ServerDown(id) if usize::from(id.0) == server && e.at <= now => {
                Some(Some(e.at.as_secs_f64()))
            }
            Action::ServerUp(id) if usize::from(id.0) == server && e.at <= now => Some(None),
            _ => None,
        })
        .flatten()
}

/// Whether an English name asks for a verb in the plural: `Crawlers wait`, `Checkout waits`.
fn plural(name: &str) -> bool {
    name.ends_with('s') && !name.ends_with("ss") && !name.ends_with("us")
}

/// The stage where people wait most: its ratio of waits is the one worth telling.
fn busiest(model: &PictureModel) -> Option<&StageView> {
    model.stages.iter().max_by_key(|s| s.waiting)
}

/// Collects facts with what makes two tellings the same.
struct Teller<'a> {
    words: &'a Words,
    scenario: &'a Scenario,
    model: &'a PictureModel,
    starved_s: &'a dyn Fn(usize) -> Option<f64>,
    shape: Vec<u32>,
    figures: Vec<f64>,
}

/// Facts by importance (smaller is chosen first) and by place in the sentence.
struct Fact {
    importance: u8,
    place: u8,
    pieces: Vec<Piece>,
}

impl Teller<'_> {
    fn name(&self, class: usize) -> Vec<Piece> {
        vec![
            Piece::Glyph(self.model.classes[class].rank),
            Piece::Text(self.scenario.classes[class].name.clone()),
        ]
    }

    /// `template` with pieces put in, `{0}` by the first and so on.
    fn pieces(template: &str, slots: &[Vec<Piece>]) -> Vec<Piece> {
        let mut out = Vec::new();
        let mut rest = template;
        while let Some(open) = rest.find('{') {
            let (text, after) = rest.split_at(open);
            if !text.is_empty() {
                out.push(Piece::Text(text.to_owned()));
            }
            let Some(close) = after.find('}') else { break };
            if let Some(slot) = after[1..close].parse::<usize>().ok().and_then(|i| slots.get(i)) {
                out.extend(slot.iter().cloned());
            }
            rest = &after[close + 1..];
        }
        if !rest.is_empty() {
            out.push(Piece::Text(rest.to_owned()));
        }
        out
    }

    fn note(&mut self, kind: u32, about: usize, figures: &[f64]) {
        self.shape.push(kind * 1000 + about as u32);
        self.figures.extend(figures);
    }

    fn broken(&mut self) -> Vec<Fact> {
        let servers = &self.model.servers;
        let down = (0..servers.len()).filter(|&i| !servers[i].up);
        // Who leaves on request is no news.
        let barred = (0..servers.len()).filter(|&i| {
            matches!(servers[i].standing, Standing::Overloaded | Standing::Silent | Standing::Ejected)
        });
        let broken: Vec<usize> = down.chain(barred).take(2).collect();
        (broken.into_iter())
            .map(|i| {
                let name = vec![Piece::Strong(self.scenario.servers[i].name.clone())];
                let view = &self.model.servers[i];
                if view.up {
                    self.note(8, i, &[]);
                    self.shape.push(view.standing as u32);
                    let why = vec![Piece::Text(standing(self.words, view))];
                    let pieces = Self::pieces(self.words.fact_left_out, &[name, why]);
                    return Fact { importance: 0, place: 4, pieces };
                }
                let since = down_since(self.scenario, i, self.model.now_s);
                self.note(1, i, &[]);
                let pieces = match since {
                    Some(since) => {
                        let passed = (self.model.now_s - since).max(0.0);
                        // Told again every few seconds, not every second.
                        self.shape.push((passed / 3.0) as u32);
                        let passed = Piece::Text(format!("{} s", passed.round()));
                        Self::pieces(self.words.fact_down_for, &[name, vec![passed]])
                    }
                    None => Self::pieces(self.words.fact_down, &[name]),
                };
                Fact { importance: 0, place: 4, pieces }
            })
            .collect()
    }

    fn starved(&mut self) -> Option<(usize, Fact)> {
        let waits =
            |c: usize| self.model.stages.iter().any(|s| s.classes.get(c).is_some_and(|x| x.waiting > 0));
        let starved = self.model.order.iter().copied().rev().find(|&c| {
            let class = &self.model.classes[c];
            let nothing = class.offered.per_s > 0.0 && class.completed.per_s <= 0.0;
            let nothing = nothing && self.model.span_s >= 1.5 || (self.starved_s)(c).is_some();
            nothing && (waits(c) || class.shed.per_s > 0.0)
        })?;
        self.note(2, starved, &[]);
        let name =
            vec![Piece::Glyph(self.model.classes[starved].rank), Piece::Strong(self.class_name(starved))];
        let since = (self.starved_s)(starved);
        let words = if since.is_some() {
            self.words.fact_starved_for
        } else if plural(&self.class_name(starved)) {
            self.words.fact_starved_many
        } else {
            self.words.fact_starved
        };
        // Told again every few seconds, not every second.
        self.shape.push((since.unwrap_or(0.0) / 3.0) as u32);
        let since = Piece::Strong(figures::seconds(since.unwrap_or(0.0)));
        let pieces = Self::pieces(words, &[name, vec![since]]);
        Some((starved, Fact { importance: 1, place: 1, pieces }))
    }

    fn class_name(&self, class: usize) -> String {
        self.scenario.classes[class].name.clone()
    }

    fn ratio(&mut self) -> Option<Fact> {
        let led = self.model.stages.iter().find(|s| s.is_controlled());
        let stage = led.or_else(|| busiest(self.model))?;
        let asked = self.model.has_wait_targets || led.is_some();
        if !asked || !stage.has_ratio() {
            return None;
        }
        let (best, worst) = (*self.model.order.first()?, *self.model.order.last()?);
        let (a, b) = (stage.classes.get(best)?.wait_s?, stage.classes.get(worst)?.wait_s?);
        let target = self.model.classes[worst].delay_weight / self.model.classes[best].delay_weight;
        let ratio = b / a;
        // Where a controller holds it, it is told though it is right.
        let off = led.is_some() || (ratio / target - 1.0).abs() > RATIO_MAY_BE_OFF;
        if !(ratio.is_finite() && off && ratio < 1000.0) || best == worst {
            return None;
        }
        self.note(3, worst, &[ratio]);
        let many = plural(&self.class_name(worst));
        let pieces = Self::pieces(
            if many { self.words.fact_ratio_many } else { self.words.fact_ratio },
            &[
                self.name(worst),
                vec![Piece::Strong(figures::fine(ratio))],
                vec![Piece::Text(self.class_name(best))],
                vec![Piece::Text(figures::fine(target))],
            ],
        );
        Some(Fact { importance: 2, place: 2, pieces })
    }

    /// What a controller of a split cannot do at present, and why.
    fn split(&mut self) -> Vec<Fact> {
        let w = self.words;
        let Some((k, stage)) = self.model.stages.iter().enumerate().find(|(_, s)| s.is_controlled()) else {
            return Vec::new();
        };
        let stuck = stage.control.stuck as usize;
        let (state, words) = match stage.control.state {
            SplitState::Idle => (0, w.fact_idle),
            SplitState::Infeasible if stuck < self.model.classes.len() => {
                (1, if plural(&self.class_name(stuck)) { w.fact_stuck_many } else { w.fact_stuck })
            }
            SplitState::Fallback => (2, w.fact_fallback),
            _ => (3, ""),
        };
        let mut facts = Vec::new();
        if !words.is_empty() {
            self.note(23, k * 4 + state, &[]);
            let about = if state == 1 { self.name(stuck) } else { Vec::new() };
            facts.push(Fact { importance: 1, place: 3, pieces: Self::pieces(words, &[about]) });
        }
        let limited = |seen: &LoopFrame| seen.flags & LoopFrame::WAIT_LIMITED != 0;
        if let Some(class) = stage.control.classes.iter().position(limited).filter(|_| state != 0) {
            self.note(24, class, &[]);
            let pieces = Self::pieces(w.fact_limited, &[self.name(class)]);
            facts.push(Fact { importance: 2, place: 3, pieces });
        }
        facts
    }

    /// Time spent upstream on requests that were then turned away, at the stage where that is most.
    fn wasted(&mut self) -> Option<Fact> {
        let most = (0..self.model.stages.len())
            .max_by(|&a, &b| self.model.stages[a].wasted.total_cmp(&self.model.stages[b].wasted))?;
        let share = self.model.stages[most].wasted;
        if share < WASTE_WORTH_TELLING {
            return None;
        }
        self.note(20, most, &[share]);
        let stage = vec![Piece::Text(self.scenario.stages.get(most)?.name.clone())];
        let pieces =
            Self::pieces(self.words.fact_wasted, &[vec![Piece::Strong(figures::percent(share))], stage]);
        Some(Fact { importance: 3, place: 3, pieces })
    }

    /// A stage where promotions let the most urgent class wait longer than another.
    fn inverted(&mut self) -> Option<Fact> {
        let &best = self.model.order.first()?;
        let (k, other, (a, b)) = self.model.stages.iter().enumerate().find_map(|(k, stage)| {
            let climbs = stage.promotes && stage.classes.iter().any(|c| c.promoted.per_s > 0.0);
            let waits = |c: usize| Some((c, stage.classes.get(c)?.wait_s?));
            let (_, a) = waits(best)?;
            let mut others = self.model.order[1..].iter().filter_map(|&c| waits(c));
            let (other, b) = others.find(|&(_, b)| a > INVERTED * b)?;
            let told = climbs && stage.waiting >= PictureModel::RATIO_NEEDS_WAITING;
            told.then_some((k, other, (a, b)))
        })?;
        self.note(21, k * 16 + other, &[a, b]);
        let figure = |s: f64| vec![Piece::Strong(figures::wait(s))];
        let stage = vec![Piece::Text(self.scenario.stages.get(k)?.name.clone())];
        let slots = [stage, self.name(best), figure(a), self.name(other), figure(b)];
        let pieces = Self::pieces(self.words.fact_inverted, &slots);
        Some(Fact { importance: 1, place: 2, pieces })
    }

    /// A control whose `max_p` has come to its upper stop while its curve is in use.
    fn at_stop(&mut self) -> Option<Fact> {
        let (k, stop) = self.model.stages.iter().enumerate().find_map(|(k, stage)| {
            let stop = stage.max_p_stop?;
            let at = |c: &StageClassView| c.gauge.max_p >= stop - 1e-9 && c.gauge.average >= c.gauge.min;
            let asked = stage.classes.iter().any(|c| c.offered.per_s > 0.0);
            (asked && stage.classes.iter().any(at)).then_some((k, stop))
        })?;
        self.note(22, k, &[]);
        let stage = vec![Piece::Text(self.scenario.stages.get(k)?.name.clone())];
        let pieces = Self::pieces(self.words.fact_stop, &[stage, vec![Piece::Strong(figures::ratio(stop))]]);
        Some(Fact { importance: 3, place: 3, pieces })
    }

    fn loss(&mut self) -> Option<Fact> {
        let all: f64 = self.model.classes.iter().map(|c| c.shed.per_s).sum();
        let offered: f64 = self.model.classes.iter().map(|c| c.offered.per_s).sum();
        if all <= 0.0 || offered <= 0.0 || all / offered < 0.005 {
            return None;
        }
        let most = (0..self.model.classes.len())
            .max_by(|&a, &b| self.model.classes[a].shed.per_s.total_cmp(&self.model.classes[b].shed.per_s))?;
        let share = self.model.classes[most].shed.per_s / all;
        let mut pieces = Vec::new();
        if self.model.classes.len() > 1 && share > 0.5 {
            self.note(4, most, &[share]);
            let many = plural(&self.class_name(most));
            pieces.extend(Self::pieces(
                if many { self.words.fact_takes_many } else { self.words.fact_takes },
                &[self.name(most), vec![Piece::Strong(figures::percent(share))]],
            ));
        } else {
            self.note(5, 0, &[all / offered]);
            pieces.extend(Self::pieces(
                self.words.fact_loss,
                &[vec![Piece::Strong(figures::percent(all / offered))]],
            ));
        }
        Some(Fact { importance: 3, place: 3, pieces })
    }

    /// Wait of the best-served class, and of the one that waits longest if nothing else is told of it.
    fn waits(&mut self, starved: Option<usize>, ratio_told: bool) -> Vec<Fact> {
        let wait = |c: usize| self.model.classes[c].wait_s;
        let mut told = Vec::new();
        if let Some(&best) = self.model.order.iter().find(|&&c| Some(c) != starved && wait(c).is_some()) {
            told.push(best);
        }
        let worst = self.model.order.iter().rev().find(|&&c| Some(c) != starved && wait(c).is_some());
        if let Some(&worst) = worst
            && !ratio_told
            && !told.contains(&worst)
        {
            told.push(worst);
        }
        told.into_iter()
            .enumerate()
            .map(|(i, c)| {
                let s = wait(c).unwrap_or(0.0);
                // Below a millisecond a change is nobody's business.
                self.note(6, c, &[s.max(0.001)]);
                let figure = vec![Piece::Strong(figures::wait(s))];
                let many = plural(&self.class_name(c));
                let words = if many { self.words.fact_wait_many } else { self.words.fact_wait };
                let pieces = Self::pieces(words, &[self.name(c), figure]);
                Fact { importance: if i == 0 { 2 } else { 4 }, place: u8::from(i > 0) * 2, pieces }
            })
            .collect()
    }

    fn headline(&mut self, live: bool) -> (String, Option<f64>) {
        let w = self.words;
        let offered: Vec<f64> = self.model.classes.iter().map(|c| c.offered.per_s).collect();
        let rate: f64 = offered.iter().sum();
        let servers = &self.model.servers;
        if !servers.is_empty() && servers.iter().all(|s| !s.up) {
            self.note(10, 0, &[]);
            return (w.all_down.to_owned(), None);
        }
        if !servers.is_empty() && servers.iter().all(|s| s.is_left_out() && s.picked.per_s <= 0.0) {
            self.note(18, 0, &[]);
            return (w.all_left_out.to_owned(), None);
        }
        if live {
            self.note(11, 0, &[rate]);
            return (fill(w.demand_live, &[&figures::rate(rate)]), None);
        }
        if self.model.span_s <= 0.0 {
            self.note(12, 0, &[]);
            return (w.not_started.to_owned(), None);
        }
        let Some((rho, at_servers)) = demand(self.scenario, self.model, &offered).filter(|_| rate > 0.0)
        else {
            self.note(13, 0, &[]);
            return (w.demand_none.to_owned(), None);
        };
        let closed = self.scenario.classes.iter().all(|c| matches!(c.load, LoadV1::Closed { .. }));
        let part = if at_servers { w.servers_word } else { w.workers_word };
        let words = if closed {
            self.note(14, 0, &[rho]);
            fill(w.demand_closed, &[&figures::percent(rho.min(1.0))])
        } else if rho > 1.02 {
            self.note(15, usize::from(at_servers), &[rho]);
            fill(w.demand_over, &[&figures::ratio(rho), part])
        } else if rho > 0.9 {
            self.note(16, 0, &[rho]);
            fill(w.demand_tight, &[&figures::percent(rho)])
        } else {
            self.note(17, 0, &[rho]);
            fill(w.demand_fits, &[&figures::percent(rho)])
        };
        (words, Some(rho))
    }
}

/// Tells what `model` shows. `live` leaves out what only a simulated system knows; `starved_s` says for how long a class
/// has got nothing through.
#[must_use]
pub fn tell(
    words: &Words,
    scenario: &Scenario,
    model: &PictureModel,
    live: bool,
    starved_s: &dyn Fn(usize) -> Option<f64>,
) -> Story {
    let known =
        model.classes.len() == scenario.classes.len() && model.servers.len() == scenario.servers.len();
    if !known {
        return Story::default();
    }
    let mut teller = Teller { words, scenario, model, starved_s, shape: Vec::new(), figures: Vec::new() };
    let (headline, demand) = teller.headline(live);
    let mut facts = teller.broken();
    let starved = teller.starved();
    let starved_class = starved.as_ref().map(|(c, _)| *c);
    facts.extend(starved.map(|(_, f)| f));
    let ratio = teller.ratio();
    let ratio_told = ratio.is_some();
    facts.extend(ratio);
    facts.extend(teller.split());
    facts.extend(teller.inverted());
    facts.extend(teller.wasted());
    facts.extend(teller.loss());
    facts.extend(teller.at_stop());
    facts.extend(teller.waits(starved_class, ratio_told));
    // The order of a few facts is found by insertion: a whole sort weighs more than the page's story.
    let mut chosen: Vec<Fact> = Vec::with_capacity(facts.len());
    for fact in facts {
        let at = chosen.iter().position(|f| f.importance > fact.importance).unwrap_or(chosen.len());
        chosen.insert(at, fact);
    }
    chosen.truncate(MOST_FACTS);
    let mut lead = Vec::new();
    for fact in (0..=4).flat_map(|place| chosen.iter().filter(move |f| f.place == place)) {
        if !lead.is_empty() {
            lead.push(Piece::Text(words.between_sentences.to_owned()));
        }
        lead.extend(fact.pieces.iter().cloned());
    }
    Story { headline, lead, demand, shape: teller.shape, figures: teller.figures }
}

/// How a server stands, in a word or two.
#[must_use]
pub fn standing(w: &Words, view: &ServerView) -> String {
    let word = match view.standing {
        Standing::Fit => w.stands_fit,
        Standing::Warming => return fill(w.stands_warming, &[&figures::percent(view.warm)]),
        Standing::Draining => w.stands_draining,
        Standing::Overloaded => w.stands_overloaded,
        Standing::Silent => w.stands_silent,
        Standing::Ejected => w.stands_ejected,
        Standing::Gone => w.stands_gone,
        Standing::Down => w.server_down,
    };
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Cast;
    use crate::words::{chinese, english};
    use tidegate_core::frame::Frame;
    use tidegate_core::scenario::presets;
    use tidegate_core::sim::Simulation;

    fn at(preset: &str, from_s: f64, to_s: f64) -> (Scenario, PictureModel) {
        let scenario = presets::get(preset).expect("a preset").scenario();
        let mut sim = Simulation::new(&scenario, 0, None).expect("runs");
        let mut frames = [Frame::default(), Frame::default()];
        for (frame, s) in frames.iter_mut().zip([from_s, to_s]) {
            sim.run_until(Instant::START + Duration::from_secs_f64(s));
            sim.frame(frame);
        }
        let model = PictureModel::new(&Cast::of(&scenario), &frames[0], &frames[1]);
        (scenario, model)
    }

    #[test]
    fn before_the_crowd_there_is_room_and_in_it_there_is_not() {
        let (scenario, model) = at("flash-crowd", 45.0, 50.0);
        let calm = tell(english(), &scenario, &model, false, &|_| None);
        assert!(
            calm.headline.starts_with("Room for everyone") || calm.headline.starts_with("Just enough"),
            "{calm:?}"
        );
        let (scenario, model) = at("flash-crowd", 110.0, 115.0);
        let crowd = tell(english(), &scenario, &model, false, &|_| None);
        assert!(crowd.headline.contains("× what the"), "{}", crowd.headline);
        assert!(crowd.plain().contains("api-4 has been down for 19 s"), "{}", crowd.plain());
        assert!(crowd.differs_from(&calm));
        let zh = tell(chinese(), &scenario, &model, false, &|_| None);
        assert!(zh.plain().contains("api-4 已下线 19 s"), "{}", zh.plain());
    }

    #[test]
    fn who_is_left_out_is_told_with_the_reason() {
        let (scenario, mut model) = at("flash-crowd", 45.0, 50.0);
        model.servers[1].standing = Standing::Overloaded;
        model.servers[2].standing = Standing::Draining;
        let told = |words, model: &PictureModel| tell(words, &scenario, model, false, &|_| None);
        let story = told(english(), &model);
        assert!(story.plain().contains("api-2 gets nothing new: overloaded."), "{}", story.plain());
        assert!(!story.plain().contains("api-3"), "who leaves on request is no news: {}", story.plain());
        assert!(told(chinese(), &model).plain().contains("api-2 不再接新请求：过载。"));
        for server in &mut model.servers {
            server.standing = Standing::Silent;
        }
        let served = told(english(), &model);
        assert_ne!(served.headline, english().all_left_out, "for want of others they are used");
        model.servers.iter_mut().for_each(|server| server.picked.per_s = 0.0);
        assert_eq!(told(english(), &model).headline, english().all_left_out);
    }

    #[test]
    fn sessions_ask_for_the_part_of_a_core_that_they_hold() {
        // Paper B, 2.4: 200 × 0.3 + 120 × 0.5 + 80 cores of 320, less the pauses between sessions.
        let (scenario, model) = at("red5-dnf", 400.0, 420.0);
        let offered: Vec<f64> = model.classes.iter().map(|c| c.offered.per_s).collect();
        let (rho, at_servers) = demand(&scenario, &model, &offered).expect("a demand");
        assert!(at_servers && (0.4..0.9).contains(&rho), "{rho}");
    }

    #[test]
    fn a_starved_class_is_told_first() {
        let (scenario, model) = at("strict-starvation", 32.0, 36.0);
        let story = tell(english(), &scenario, &model, false, &|_| None);
        assert!(story.plain().contains("gets nothing through"), "{}", story.plain());
    }

    #[track_caller]
    fn check_told(preset: &str, from_s: f64, to_s: f64, starved: Option<f64>, want: [&str; 2]) {
        let (scenario, model) = at(preset, from_s, to_s);
        for (words, want) in [english(), chinese()].into_iter().zip(want) {
            let plain = tell(words, &scenario, &model, false, &|c| starved.filter(|_| c == 0)).plain();
            assert!(plain.contains(want), "{preset} does not say {want}: {plain}");
        }
    }

    #[test]
    fn findings_come_with_their_figures() {
        check_told(
            "starvation",
            20.0,
            24.0,
            Some(24.0),
            ["No Low served for 24 s.", "Low 已有 24 s 没有一个完成。"],
        );
        let wasted = ["of the time spent before Send was", "Send 之前花掉的时间有"];
        check_told("seda-loop-3-published", 30.0, 34.0, None, wasted);
    }

    #[test]
    fn promotion_that_turns_the_order_around_is_told() {
        let (scenario, mut model) = at("seda-loop-3-published", 30.0, 34.0);
        let told = |model: &PictureModel| tell(english(), &scenario, model, false, &|_| None).plain();
        let mut waits = |high: f64| {
            let send = &mut model.stages[2];
            let figures = [(0, 4.0), (1, 3.0), (2, high)];
            figures.into_iter().for_each(|(c, s)| send.classes[c].wait_s = Some(s));
            told(&model)
        };
        let words = "Promotion turns the order around at Send: High waits 6.00 s, Middle 3.00 s.";
        assert!(waits(6.0).contains(words), "{}", waits(6.0));
        assert!(!waits(1.0).contains("turns the order"), "{}", waits(1.0));
    }

    #[test]
    fn a_control_at_its_stop_is_told() {
        let (scenario, mut model) = at("seda-exp2", 4.0, 5.0);
        let told = |model: &PictureModel| tell(english(), &scenario, model, false, &|_| None).plain();
        let stop = "Send cannot turn away more before max: its max chance is at the upper stop, 0.5.";
        for class in &mut model.stages[2].classes {
            class.gauge.max_p = 0.5;
            class.gauge.average = class.gauge.min;
            class.offered.per_s = 9.0;
        }
        assert!(told(&model).contains(stop), "{}", told(&model));
        model.stages[2].classes.iter_mut().for_each(|c| c.gauge.max_p = 0.25);
        assert!(!told(&model).contains(stop), "{}", told(&model));
    }

    #[test]
    fn what_a_controlled_split_holds_is_told_and_what_it_cannot() {
        let (scenario, mut model) = at("flash-crowd", 110.0, 115.0);
        let told = |model: &PictureModel| tell(english(), &scenario, model, false, &|_| None).plain();
        let stage = &mut model.stages[1];
        stage.control.classes = vec![LoopFrame::default(); 3];
        stage.control.stuck = 0;
        let mut set = |state: SplitState, waits: f64, flags: u32| {
            let stage = &mut model.stages[1];
            stage.control.state = state;
            stage.control.classes[2].flags = flags;
            let (first, last) = (model.order[0], model.order[2]);
            stage.classes[first].wait_s = Some(0.5);
            stage.classes[last].wait_s = Some(0.5 * waits);
            told(&model)
        };
        let held = set(SplitState::Steering, 4.06, 0);
        assert!(held.contains("wait 4.06× as long as Checkout (target 4×)."), "{held}");
        let idle = set(SplitState::Idle, 9.0, LoopFrame::WAIT_LIMITED);
        assert!(idle.contains("Below overload: there is no ratio to enforce."), "{idle}");
        assert!(!idle.contains("as long as") && !idle.contains("cuts the wait"), "{idle}");
        let stuck = set(SplitState::Infeasible, 9.0, LoopFrame::WAIT_LIMITED);
        assert!(stuck.contains("already has its one worker and still waits less than its share."), "{stuck}");
        assert!(stuck.contains("A deadline or ageing cuts the wait of"), "{stuck}");
        let fallback = set(SplitState::Fallback, 4.0, 0);
        assert!(fallback.contains("The split goes by its rule"), "{fallback}");
    }

    #[test]
    fn small_changes_are_not_told() {
        let (scenario, mut model) = at("mm1", 30.0, 40.0);
        let story = tell(english(), &scenario, &model, false, &|_| None);
        for class in &mut model.classes {
            class.offered.per_s *= 1.01;
            class.wait_s = class.wait_s.map(|s| s * 1.02);
        }
        assert!(!tell(english(), &scenario, &model, false, &|_| None).differs_from(&story));
        model.classes[0].wait_s = Some(9.0);
        assert!(tell(english(), &scenario, &model, false, &|_| None).differs_from(&story));
    }
}
