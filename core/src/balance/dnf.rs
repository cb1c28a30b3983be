//! Dynamic negative feedback by kind of work: a weight for short requests and one for sessions, moved by what servers
//! report, and turns among those with the least in flight for their weight.
//!
//! Of paper B it keeps the cube-root step (formula 8), the smoothed load (formula 7) and turns in a top group. Three
//! things differ, each for a defect of the published rules. The set point is the mean of the servers, since a fixed one
//! drives every weight to its limit. The group follows jobs in flight, which change at every pick, so that servers are
//! not herded between two reports; weights only have to be right on average. And each kind of work has its own weights
//! and counts, since one number for two kinds moves both.
//!
//! Weights move in [`tick`](Pick::tick), once all reports of an instant are in. A weight is kept as a multiple of the
//! configured one, so that it stays in proportion when that changes. What is not known never raises a weight: a server
//! that falls silent keeps a small one and slowly loses a large one, and one that gets no work is not raised for being
//! idle (paper B, 2.5, traps 6 and 7).

use super::turns::Turns;
use super::weigh::{self, Step};
use super::{Ask, Candidate, Left, LoadReport, Pick, Seat, Server, Servers, Setup, View, bar};
use crate::id::ServerId;
use crate::scenario::v1::{BalancerV1, KindV1, ResourceV1};
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// What is left of a turn that was owed to a server, at each pick among others.
const KEEP_TURN: f64 = 0.5;
/// Where the weight of a server that is new or back begins, in configured weights.
const BEGIN: f64 = 0.25;
/// Periods without a report after which a server is silent.
const PATIENCE: u64 = 3;
/// Part of the way to neutral that the weight of a silent server moves each further period.
const FADE: f64 = 0.1;
/// A weight as near as this to neutral is neutral.
const NEAR: f64 = 0.01;
/// The largest score that is told from "may not be picked".
const WORST: f64 = 1e300;
/// What makes a server come back rather than just be spared: it was not watched, or not trusted.
const AWAY: u8 = bar::SILENT | bar::EJECTED | bar::GONE;

/// The parameters.
#[derive(Clone, Copy, Debug)]
struct Rules {
    step: Step,
    /// Largest change of a weight at once, as a part of it.
    most: f64,
    /// Part of the old load in the average.
    smoothing: f64,
    /// Bounds of weights, in configured weights.
    min: f64,
    max: f64,
    /// How much above the least score the group goes, as a factor: 1 or more.
    group: f64,
    /// Time between two reports.
    period: Duration,
}

impl Rules {
    fn periods(&self, n: u64) -> Duration {
        Duration::from_nanos(self.period.as_nanos().saturating_mul(n))
    }
}

/// What is known of a server as to one kind of work.
#[derive(Clone, Copy, Debug)]
struct Known {
    /// Its weight, in configured weights. Within `Rules::min` and `max`.
    factor: f64,
    /// Its load, smoothed; `None` before the first report.
    load: Option<f64>,
    /// The load it reported last.
    last: Option<f64>,
    /// When it last reported.
    heard: Instant,
    /// When it last reported another load than before: a report that is stuck says the same for ever.
    news: Instant,
    /// Whether that was after weights moved last.
    fresh: bool,
    /// When its weight moves towards neutral, if nothing new is heard of it; `NEVER` until that is worked out.
    fades_at: Instant,
}

impl Known {
    const fn at(factor: f64) -> Self {
        Self {
            factor,
            load: None,
            last: None,
            heard: Instant::START,
            news: Instant::START,
            fresh: false,
            fades_at: Instant::NEVER,
        }
    }

    /// Whether silence would move its weight: down from more than it should have by what is known, up from the
    /// beginning of one that has never reported.
    fn can_fade(&self) -> bool {
        if self.load.is_some() { self.factor > 1.0 } else { self.factor < 1.0 }
    }

    fn fade(&mut self) {
        self.factor += FADE * (1.0 - self.factor);
        if (self.factor - 1.0).abs() < NEAR {
            self.factor = 1.0;
        }
    }
}

/// One kind of work: `c`, `w`, `sw` and `L` of every server.
#[derive(Clone, Debug)]
struct Work {
    kind: KindV1,
    /// Loads it goes by.
    loads: Vec<ResourceV1>,
    /// Whether what a server says of itself stands for them, if it says nothing else.
    application: bool,
    /// Scores `(c + 1) / w`, weights `w`, turns `sw`.
    turns: Turns,
    known: Vec<Known>,
    /// Whether any server ever reported a load of this kind.
    heard: bool,
}

impl Work {
    fn new(kind: KindV1, chosen: &[ResourceV1], servers: &Servers) -> Self {
        let alone = servers.kinds().iter().all(|&k| k == kind);
        let all: &[ResourceV1] = match kind {
            _ if !chosen.is_empty() => chosen,
            _ if alone => &ResourceV1::FIVE,
            KindV1::Short => &[ResourceV1::Cpu, ResourceV1::Disk],
            KindV1::Session => &[ResourceV1::Net, ResourceV1::Rooms, ResourceV1::Mem],
        };
        let application = kind == KindV1::Short || alone;
        Self {
            kind,
            loads: all.to_vec(),
            application,
            turns: Turns::default(),
            known: Vec::new(),
            heard: false,
        }
    }

    /// The score of a server: jobs of this kind it would have, over its weight.
    fn score(&self, servers: &Servers, at: usize) -> f64 {
        let id = ServerId(at as u16);
        if !servers.has_room(id) {
            return f64::INFINITY;
        }
        let server = servers.get(id);
        let here = match self.kind {
            KindV1::Short => server.in_flight - server.sessions,
            KindV1::Session => server.sessions,
        };
        ((f64::from(here) + 1.0) / self.turns.weight[at]).min(WORST)
    }

    fn rescore(&mut self, servers: &Servers, at: usize) {
        let score = self.score(servers, at);
        self.turns.set_score(at, score);
    }

    /// Takes over what changed in the table: the configured weight, and whether it may be picked.
    fn refresh(&mut self, servers: &Servers, at: usize) {
        self.turns.weight[at] = self.known[at].factor * servers.get(ServerId(at as u16)).weight;
        self.rescore(servers, at);
    }

    /// A server that is new or back: a small weight where there are reports to let it grow, and nothing known.
    fn restart(&mut self, at: usize) {
        self.known[at] = Known::at(if self.heard { BEGIN } else { 1.0 });
        self.turns.set_turn(at, 0.0);
    }

    /// The load that a report comes to for this kind.
    fn load(&self, report: &LoadReport) -> Option<f64> {
        let own = self.application && report.loads.iter().all(Option::is_none);
        if own { weigh::usable(report.application) } else { weigh::largest(report, &self.loads) }
    }

    /// Notes a report; whether it said anything of this kind.
    fn report(&mut self, now: Instant, at: usize, report: &LoadReport, rules: &Rules) -> bool {
        let Some(load) = self.load(report) else { return false };
        let known = &mut self.known[at];
        known.load = Some(weigh::smooth(known.load, load, rules.smoothing));
        known.heard = now;
        known.fresh = true;
        if known.last.replace(load) != Some(load) {
            known.news = now;
            known.fades_at = now + rules.periods(PATIENCE + 1);
        }
        self.heard = true;
        true
    }

    /// The set point: the mean load of servers that are fit and not silent. Short requests can be moved from a small
    /// server to a large one, so large ones count more; a session takes the same of each.
    fn mean(&self, now: Instant, servers: &Servers, rules: &Rules) -> Option<f64> {
        let patience = rules.periods(PATIENCE);
        weigh::mean(self.known.iter().zip(servers.iter()).filter_map(|(known, server)| {
            let counts = server.is_fit(servers.lifted()) && now.since(known.heard) <= patience;
            let weight = if self.kind == KindV1::Short { server.weight } else { 1.0 };
            known.load.filter(|_| counts).map(|load| (load, weight))
        }))
    }

    /// Moves the weights of all that reported since they moved last.
    fn follow(&mut self, now: Instant, servers: &Servers, rules: &Rules) {
        let mean = self.mean(now, servers, rules);
        for (known, server) in self.known.iter_mut().zip(servers.iter()).filter(|(known, _)| known.fresh) {
            known.fresh = false;
            let (Some(mean), Some(load)) = (mean, known.load) else { continue };
            let step = weigh::within(rules.step.of(mean - load), -rules.most, rules.most);
            // A server that gets no work is idle for that reason, and a report that is stuck says nothing.
            let credible =
                server.is_fit(servers.lifted()) && now.since(known.news) <= rules.periods(PATIENCE);
            let step = if credible { step } else { step.min(0.0) };
            known.factor = weigh::within(known.factor * (1.0 + step), rules.min, rules.max);
        }
    }

    /// Moves the weights of silent servers towards neutral; when the next is due.
    fn fade(&mut self, now: Instant, rules: &Rules) -> Instant {
        let mut next = Instant::NEVER;
        for known in self.known.iter_mut().filter(|known| known.can_fade()) {
            if known.fades_at == Instant::NEVER {
                known.fades_at = now + rules.periods(PATIENCE + 1);
            } else if known.fades_at <= now {
                known.fade();
                known.fades_at = now + rules.period;
            }
            next = next.min(known.fades_at);
        }
        next
    }

    fn choose(&mut self, ask: &Ask, rules: &Rules) -> Option<usize> {
        self.turns.without(ask, |turns| turns.take(turns.least() * rules.group, KEEP_TURN))
    }
}

/// One copy of the algorithm for each kind of work.
#[derive(Clone, Debug)]
pub struct Dnf {
    rules: Rules,
    /// Short requests, sessions.
    work: [Work; 2],
    /// Which servers cannot be watched or trusted at present.
    away: Vec<bool>,
    /// When weights moved last, if they ever did.
    moved: Option<Instant>,
    next_at: Instant,
    /// Bars that did not count when scores were worked out.
    lifted: u8,
}

impl Dnf {
    /// Every weight as configured, and no load known.
    #[must_use]
    pub fn new(setup: &Setup<'_>, servers: &Servers) -> Self {
        let (short, session): (&[_], &[_]) = match setup.wire {
            BalancerV1::Dnf { short, session, .. } => (short, session),
            _ => (&[], &[]),
        };
        let mut dnf = Self {
            rules: rules(setup),
            work: [Work::new(KindV1::Short, short, servers), Work::new(KindV1::Session, session, servers)],
            away: Vec::new(),
            moved: None,
            next_at: Instant::NEVER,
            lifted: servers.lifted(),
        };
        dnf.grow(servers, setup.seat);
        dnf.refresh_all(servers);
        dnf
    }

    /// Room for servers that are new. Turns begin a little apart, so that they keep to the order in which they began
    /// although sums of weights are rounded.
    fn grow(&mut self, servers: &Servers, seat: Seat) {
        let n = servers.len();
        for at in self.away.len()..n {
            let server = servers.get(ServerId(at as u16));
            let behind = (at + n - seat.first(n)) % n;
            let turn = -0.01 * server.weight * behind as f64 / n as f64;
            self.away.push(is_away(server));
            for work in &mut self.work {
                work.turns.push(server.weight, turn);
                work.known.push(Known::at(1.0));
            }
        }
    }

    fn refresh_all(&mut self, servers: &Servers) {
        self.grow(servers, Seat(0));
        self.lifted = servers.lifted();
        for work in &mut self.work {
            (0..servers.len()).for_each(|at| work.refresh(servers, at));
        }
    }

    /// Notes that a job of this kind came to a server or left it.
    #[inline]
    fn note(&mut self, servers: &Servers, server: ServerId, kind: KindV1) {
        let at = usize::from(server.0);
        let open = servers.has_room(server);
        for work in &mut self.work {
            let stale = at < work.turns.len() && work.turns.score(at).is_finite() != open;
            if stale || (work.kind == kind && at < work.known.len()) {
                work.rescore(servers, at);
            }
        }
    }

    /// When weights may move next.
    fn may_move_at(&self, now: Instant) -> Instant {
        self.moved.map_or(now, |moved| (moved + self.rules.period).max(now))
    }
}

fn is_away(server: &Server) -> bool {
    !server.up || server.bars & AWAY != 0
}

fn rules(setup: &Setup<'_>) -> Rules {
    let period = Duration::from_micros(setup.feedback.period_us);
    let rules = |gain, dead_band, most, smoothing, min, max, group: f64| Rules {
        step: Step { gain, dead_band, damping: 0.0, threshold: 0.0 },
        most,
        smoothing,
        min,
        max,
        group: 1.0 + group,
        period,
    };
    match *setup.wire {
        BalancerV1::Dnf { gain, dead_band, step, smoothing, min, max, group, .. } => {
            rules(gain, dead_band, step, smoothing, min, max, group)
        }
        _ => rules(0.2, 0.03, 0.3, 0.5, 0.1, 8.0, 0.1),
    }
}

impl Pick for Dnf {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        if self.lifted != servers.lifted() {
            self.refresh_all(servers);
        }
        let kind = ask.kind as usize;
        let mut found = self.work[kind].choose(ask, &self.rules);
        if !self.work[kind].turns.agrees(servers, found, ask) {
            self.refresh_all(servers);
            found = self.work[kind].choose(ask, &self.rules);
        }
        found.map(|at| ServerId(at as u16))
    }

    #[inline]
    fn sent(&mut self, servers: &Servers, server: ServerId, kind: KindV1) {
        self.note(servers, server, kind);
    }

    #[inline]
    fn left(
        &mut self,
        _now: Instant,
        servers: &Servers,
        server: ServerId,
        kind: KindV1,
        _how: Left,
        _took: Duration,
    ) {
        self.note(servers, server, kind);
    }

    fn changed(&mut self, servers: &Servers, server: ServerId, anew: bool) {
        let at = usize::from(server.0);
        if at >= self.away.len() {
            self.refresh_all(servers);
        }
        let away = is_away(servers.get(server));
        let back = anew || (self.away[at] && !away);
        self.away[at] = away;
        for work in &mut self.work {
            if back {
                work.restart(at);
                self.next_at = if work.known[at].can_fade() { Instant::START } else { self.next_at };
            }
            work.refresh(servers, at);
        }
    }

    fn report(&mut self, now: Instant, _servers: &Servers, server: ServerId, report: &LoadReport) {
        let at = usize::from(server.0);
        if at >= self.away.len() {
            return;
        }
        let mut any = false;
        for work in &mut self.work {
            any |= work.report(now, at, report, &self.rules);
        }
        if any {
            self.next_at = self.next_at.min(self.may_move_at(now));
        }
    }

    fn next_at(&self) -> Instant {
        self.next_at
    }

    fn tick(&mut self, now: Instant, servers: &Servers) {
        let fresh = self.work.iter().any(|work| work.known.iter().any(|known| known.fresh));
        let moves = fresh && self.may_move_at(now) <= now;
        self.next_at = if fresh && !moves { self.may_move_at(now) } else { Instant::NEVER };
        if moves {
            self.moved = Some(now);
        }
        for work in &mut self.work {
            if moves {
                work.follow(now, servers, &self.rules);
            }
            self.next_at = self.next_at.min(work.fade(now, &self.rules));
        }
        self.refresh_all(servers);
    }

    fn view(&self, servers: &Servers, server: ServerId, _now: Instant) -> View {
        let at = usize::from(server.0);
        let of = |kind: usize| self.work[kind].turns.weight.get(at).copied();
        let load = |kind: usize| self.work[kind].known.get(at).and_then(|known| known.load);
        // There is one group to show: that of short requests, unless there is nothing but sessions.
        let shown = usize::from(!servers.kinds().contains(&KindV1::Short));
        let turns = &self.work[shown].turns;
        let group = match (at < turns.len()).then(|| turns.score(at)) {
            Some(score) if score <= turns.least() * self.rules.group && score.is_finite() => 1,
            Some(score) if score.is_finite() => 2,
            _ => 0,
        };
        View {
            weights: [of(0).unwrap_or(0.0), of(1).unwrap_or(0.0)],
            loads: [load(0), load(1)],
            group,
            latency_s: None,
        }
    }

    /// `key` is `(c + 1) / w`, `turn` what a server is owed once this pick's weights are added. Those whose key is at
    /// most `1 + group` times the least are in group 1; the first of them with the largest turn is picked.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        let work = &self.work[ask.kind as usize];
        let first = out.len();
        let mut least = f64::INFINITY;
        for at in 0..servers.len().min(work.known.len()) {
            let server = ServerId(at as u16);
            if ask.allows(servers, server) {
                let key = work.score(servers, at);
                least = least.min(key);
                out.push(Candidate { server, key, turn: work.turns.turn(at), group: 2 });
            }
        }
        for candidate in &mut out[first..] {
            if candidate.key <= least * self.rules.group {
                candidate.turn += work.turns.weight[usize::from(candidate.server.0)];
                candidate.group = 1;
            } else {
                candidate.turn *= KEEP_TURN;
            }
        }
    }
}

#[cfg(test)]
mod tests;
