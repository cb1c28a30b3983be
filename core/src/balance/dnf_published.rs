//! Dynamic negative feedback as published: weights that integrate the cube root of the distance from a target load, and
//! round robin in the heaviest of a few groups (paper B, 2.1 and 2.2).
//!
//! It is here to be compared with, and keeps what is wrong with it: everything goes to the top group until the next
//! reports (2.5, trap 1), and constant load drives all weights to the same limit (trap 4). What the paper leaves open is
//! filled in as 2.1 and 2.2 say. Weights move once a period, when all reports of an instant are in. A server that leaves
//! for whatever reason gets nothing from that moment; groups are made anew at the next reports, or when one comes back.
//!
//! Two things are not left to the formulas: what is stale, more than two reports missed, neither moves a weight nor
//! has a place in the groups while there are others (trap 6); and one that gets no work is not raised for being idle.

use super::turns::Turns;
use super::weigh::{self, Step};
use super::{Ask, Candidate, Left, LoadReport, Pick, Seat, Server, Servers, Setup, View, bar};
use crate::id::ServerId;
use crate::scenario::v1::{BalancerV1, GroupByV1, InitialV1, KindV1};
use crate::time::{Duration, Instant};
use alloc::vec;
use alloc::vec::Vec;

/// Periods without a report after which a server is stale.
const PATIENCE: u64 = 2;
/// Weights that differ by less are equal.
const EQUAL: f64 = 1e-9;

/// The parameters.
#[derive(Clone, Debug)]
struct Rules {
    /// `k_m`.
    coefficients: [f64; 5],
    /// Load that leaves a weight as it is; `None` for the mean of the servers.
    target: Option<f64>,
    step: Step,
    initial: InitialV1,
    base: f64,
    min: f64,
    max_factor: f64,
    /// Part of the old load in the average.
    smoothing: f64,
    groups: u8,
    group_by: GroupByV1,
    /// Whether turns go by weight.
    weighted: bool,
    period: Duration,
}

/// What is known of a server.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// `W`.
    weight: f64,
    /// `W(0)`.
    initial: f64,
    /// Composite load, smoothed; `None` before the first report.
    load: Option<f64>,
    /// When it last reported.
    heard: Instant,
    /// Whether that was after weights moved last.
    fresh: bool,
    /// 1 is the top; one more than there are groups for a stale one; 0 for none.
    group: u8,
}

/// What initial weights are made of: a change makes them anew.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Basis {
    weight: f64,
    gone: bool,
    away: bool,
}

impl Basis {
    fn of(server: &Server) -> Self {
        let away = !server.up || server.bars & (bar::SILENT | bar::EJECTED) != 0;
        Self { weight: server.weight, gone: server.bars & bar::GONE != 0, away }
    }
}

/// Weights, groups, and whose turn it is.
#[derive(Clone, Debug)]
pub struct DnfPublished {
    rules: Rules,
    known: Vec<Known>,
    basis: Vec<Basis>,
    /// The group of each server that may be picked, as its score, and its weight and turn where turns go by weight.
    turns: Turns,
    /// Where ranks of equal weights begin, and the first turns.
    seat: Seat,
    /// Where the next search begins.
    next: usize,
    /// Whether groups are to be made before the next pick.
    ungrouped: bool,
    /// When weights moved last, if they ever did.
    moved: Option<Instant>,
    next_at: Instant,
    lifted: u8,
}

impl DnfPublished {
    /// Initial weights, and no load known.
    #[must_use]
    pub fn new(setup: &Setup<'_>, servers: &Servers) -> Self {
        let mut new = Self {
            rules: rules(setup),
            known: Vec::new(),
            basis: Vec::new(),
            turns: Turns::default(),
            seat: setup.seat,
            next: setup.seat.first(servers.len()),
            ungrouped: true,
            moved: None,
            next_at: Instant::NEVER,
            lifted: servers.lifted(),
        };
        new.grow(servers);
        new.begin(servers);
        new.make_groups(Instant::START, servers);
        new
    }

    fn grow(&mut self, servers: &Servers) {
        for server in servers.iter().skip(self.known.len()) {
            self.known.push(Known::default());
            self.basis.push(Basis::of(server));
            self.turns.push(0.0, 0.0);
        }
    }

    /// Works out initial weights (formulas 3 and 4). A weight that moved since keeps its proportion to its initial one.
    fn begin(&mut self, servers: &Servers) {
        let counts = |server: &Server| server.bars & bar::GONE == 0;
        let sizes = match self.rules.initial {
            InitialV1::Equal => vec![1.0; servers.len()],
            InitialV1::Weight => servers.iter().map(|server| server.weight).collect(),
            InitialV1::Capacity => weigh::capacities(servers, &self.rules.coefficients, counts),
        };
        let counted = |at: usize| counts(servers.get(ServerId(at as u16)));
        let initial = weigh::initial(&sizes, counted, self.rules.base);
        for (known, initial) in self.known.iter_mut().zip(initial) {
            let moved = if known.initial > 0.0 { known.weight / known.initial } else { 1.0 };
            known.initial = initial;
            known.weight = self.rules.bounded(initial, moved * initial);
        }
    }

    /// Whether what is known of a server is too old to go by.
    fn is_stale(&self, known: &Known, now: Instant) -> bool {
        let patience = Duration::from_nanos(self.rules.period.as_nanos().saturating_mul(PATIENCE));
        known.load.is_some() && now.since(known.heard) > patience
    }

    /// Moves the weights of all that reported since they moved last (formulas 5 to 9).
    fn follow(&mut self, now: Instant, servers: &Servers) {
        let target = self.rules.target.or_else(|| {
            let fit = servers.iter().map(|server| server.is_fit(servers.lifted()));
            let counted =
                self.known.iter().zip(fit).filter(|&(known, fit)| fit && !self.is_stale(known, now));
            weigh::mean(counted.filter_map(|(known, _)| known.load.map(|load| (load, 1.0))))
        });
        for (known, server) in self.known.iter_mut().zip(servers.iter()).filter(|(known, _)| known.fresh) {
            known.fresh = false;
            let (Some(target), Some(load)) = (target, known.load) else { continue };
            let step = self.rules.step.of(target - load);
            // A server that gets no work is idle for that reason.
            let step = if server.is_fit(servers.lifted()) { step } else { step.min(0.0) };
            known.weight = self.rules.bounded(known.initial, known.weight + step);
        }
    }

    /// Makes groups of the servers that are fit; stale ones come last, unless all are.
    fn make_groups(&mut self, now: Instant, servers: &Servers) {
        self.ungrouped = false;
        self.lifted = servers.lifted();
        let fit: Vec<bool> = servers.iter().map(|server| server.is_fit(servers.lifted())).collect();
        let fresh = |at: usize| fit[at] && !self.is_stale(&self.known[at], now);
        // From the seat on, so that of equal weights it is not always the first servers' that rank highest.
        let first = self.seat.first(fit.len());
        let all = || (first..fit.len()).chain(0..first);
        let mut members: Vec<usize> = all().filter(|&at| fresh(at)).collect();
        if members.is_empty() {
            members = all().filter(|&at| fit[at]).collect();
        }
        let weights: Vec<f64> = members.iter().map(|&at| self.known[at].weight).collect();
        let groups = groups(&weights, self.rules.groups, self.rules.group_by);
        for (known, fit) in self.known.iter_mut().zip(&fit) {
            known.group = if *fit { self.rules.groups + 1 } else { 0 };
        }
        for (at, group) in members.into_iter().zip(groups) {
            self.known[at].group = group;
        }
        self.refresh_all(servers);
    }

    #[inline]
    fn refresh(&mut self, servers: &Servers, at: usize) {
        let room = servers.has_room(ServerId(at as u16));
        let group = if room { self.known[at].group } else { 0 };
        self.turns.set_score(at, if group > 0 { f64::from(group) } else { f64::INFINITY });
    }

    fn refresh_all(&mut self, servers: &Servers) {
        for at in 0..self.known.len() {
            self.turns.weight[at] = self.known[at].weight;
            self.refresh(servers, at);
        }
    }

    /// A server that may be picked is in a group.
    #[inline]
    fn note(&mut self, servers: &Servers, server: ServerId) {
        let at = usize::from(server.0);
        if at < self.known.len() {
            self.refresh(servers, at);
        }
    }

    fn choose(&mut self, ask: &Ask) -> Option<usize> {
        let (next, weighted) = (self.next, self.rules.weighted);
        self.turns.without(ask, |turns| {
            let top = turns.least();
            match (top == f64::INFINITY, weighted) {
                (true, _) => None,
                (_, true) => turns.take(top, 1.0),
                (_, false) => turns.first(next, top),
            }
        })
    }

    /// When weights may move next.
    fn may_move_at(&self, now: Instant) -> Instant {
        self.moved.map_or(now, |moved| (moved + self.rules.period).max(now))
    }
}

impl Rules {
    /// A weight within the bounds for its initial one.
    fn bounded(&self, initial: f64, weight: f64) -> f64 {
        weigh::within(weight, self.min, self.max_factor * initial)
    }
}

/// The group of each of these weights, 1 for the heaviest. By width, weights that are all equal make one group (paper B,
/// 2.5, trap 2); by rank groups are of equal numbers whatever the weights, which is why they herd.
fn groups(weights: &[f64], groups: u8, by: GroupByV1) -> Vec<u8> {
    let low = weights.iter().copied().fold(f64::INFINITY, f64::min);
    let high = weights.iter().copied().fold(0.0, f64::max);
    match by {
        GroupByV1::Width if high - low < EQUAL => vec![1; weights.len()],
        GroupByV1::Width => {
            let bin = |w: &f64| (f64::from(groups) * (w - low) / (high - low)) as u8;
            weights.iter().map(|w| groups - bin(w).min(groups - 1)).collect()
        }
        GroupByV1::Rank => {
            let mut order: Vec<usize> = (0..weights.len()).collect();
            order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
            let size = weights.len().div_ceil(usize::from(groups));
            let mut ranked = vec![0; weights.len()];
            for (rank, at) in order.into_iter().enumerate() {
                ranked[at] = 1 + (rank / size) as u8;
            }
            ranked
        }
    }
}

/// The parameters, those of another balancer being the defaults.
fn rules(setup: &Setup<'_>) -> Rules {
    let period = Duration::from_micros(setup.feedback.period_us);
    let defaults = Rules {
        coefficients: weigh::DEFAULT_COEFFICIENTS,
        target: Some(0.8),
        step: Step { gain: 5.0, dead_band: 0.0, damping: 0.0, threshold: 0.0 },
        initial: InitialV1::Capacity,
        base: 50.0,
        min: 1.0,
        max_factor: 2.0,
        smoothing: 0.0,
        groups: 3,
        group_by: GroupByV1::Width,
        weighted: false,
        period,
    };
    match setup.wire {
        &BalancerV1::DnfPublished {
            ref coefficients,
            target,
            target_mean,
            gain,
            initial,
            base,
            min,
            max_factor,
            smoothing,
            dead_band,
            threshold,
            damping,
            groups,
            group_by,
            weighted,
        } => Rules {
            coefficients: weigh::coefficients(coefficients),
            target: (!target_mean).then_some(target),
            step: Step { gain, dead_band, damping, threshold },
            initial,
            base,
            min,
            max_factor,
            smoothing,
            groups,
            group_by,
            weighted,
            period,
        },
        _ => defaults,
    }
}

impl Pick for DnfPublished {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        if self.ungrouped || self.lifted != servers.lifted() {
            self.make_groups(ask.now, servers);
        }
        let mut found = self.choose(ask);
        if !self.turns.agrees(servers, found, ask) {
            self.make_groups(ask.now, servers);
            found = self.choose(ask);
        }
        let at = found?;
        self.next = at + 1;
        Some(ServerId(at as u16))
    }

    #[inline]
    fn sent(&mut self, servers: &Servers, server: ServerId, _kind: KindV1) {
        self.note(servers, server);
    }

    #[inline]
    fn left(
        &mut self,
        _now: Instant,
        servers: &Servers,
        server: ServerId,
        _kind: KindV1,
        _how: Left,
        _took: Duration,
    ) {
        self.note(servers, server);
    }

    fn changed(&mut self, servers: &Servers, server: ServerId, anew: bool) {
        self.grow(servers);
        let at = usize::from(server.0);
        let (before, basis) = (self.basis[at], Basis::of(servers.get(server)));
        let back = anew || (before.away && !basis.away);
        self.basis[at] = basis;
        if back {
            self.known[at] = Known::default();
            self.turns.set_turn(at, 0.0);
        }
        if back || before.weight != basis.weight || before.gone != basis.gone {
            self.begin(servers);
        }
        let fit = servers.get(server).is_fit(servers.lifted());
        if !fit {
            self.known[at].group = 0;
        }
        self.ungrouped |= fit && self.known[at].group == 0;
        self.refresh_all(servers);
    }

    fn report(&mut self, now: Instant, _servers: &Servers, server: ServerId, report: &LoadReport) {
        let Some(load) = weigh::composite(report, &self.rules.coefficients) else { return };
        let smoothing = self.rules.smoothing;
        if let Some(known) = self.known.get_mut(usize::from(server.0)) {
            known.load = Some(weigh::smooth(known.load, load, smoothing));
            known.heard = now;
            known.fresh = true;
            self.next_at = self.next_at.min(self.may_move_at(now));
        }
    }

    fn next_at(&self) -> Instant {
        self.next_at
    }

    fn tick(&mut self, now: Instant, servers: &Servers) {
        let fresh = self.known.iter().any(|known| known.fresh);
        let may = self.may_move_at(now);
        self.next_at = if fresh && may > now { may } else { Instant::NEVER };
        if fresh && may <= now {
            self.moved = Some(now);
            self.follow(now, servers);
            self.make_groups(now, servers);
        }
    }

    fn view(&self, servers: &Servers, server: ServerId, _now: Instant) -> View {
        let known = self.known.get(usize::from(server.0)).copied().unwrap_or_default();
        let fit = servers.get(server).is_fit(servers.lifted());
        View {
            weights: [known.weight; 2],
            loads: [known.load; 2],
            group: if fit { known.group } else { 0 },
            latency_s: None,
        }
    }

    /// `key` and `group` are the group. Servers are listed in the order of their turns; `turn` is 1 for the one whose
    /// turn it is in the top group, or where turns go by weight what each is owed once this pick's weights are added.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        let mut then = self.clone();
        if then.ungrouped || then.lifted != servers.lifted() {
            then.make_groups(ask.now, servers);
        }
        let (n, first) = (then.known.len(), out.len());
        let next = if then.rules.weighted { 0 } else { then.next.min(n) };
        for at in (next..n).chain(0..next) {
            let (server, group) = (ServerId(at as u16), then.known[at].group);
            if ask.allows(servers, server) {
                out.push(Candidate { server, key: f64::from(group), turn: then.turns.turn(at), group });
            }
        }
        let top = out[first..].iter().map(|candidate| candidate.group).min();
        let mut found = false;
        for candidate in &mut out[first..] {
            let is_in = Some(candidate.group) == top;
            if then.rules.weighted {
                let weight = then.turns.weight[usize::from(candidate.server.0)];
                candidate.turn += if is_in { weight } else { 0.0 };
            } else {
                candidate.turn = f64::from(u8::from(is_in && !found));
                found |= is_in;
            }
        }
    }
}

#[cfg(test)]
mod tests;
