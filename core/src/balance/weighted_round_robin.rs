//! Weighted round robin: each in turn, as often as its weight says, evenly spread.
//!
//! Paper B, 2.3, has it from IPVS, whose cycle by greatest common divisor sends runs to the heaviest server. Here turns are due
//! at moments of a virtual time, as in Envoy's earliest-deadline-first scheduler: turn `p = 0, 1, 2, ...` of a server of weight
//! `w` at `(p + u) / w`, and the earliest is next. For whole weights every stretch of one unit of virtual time
//! has exactly `w` turns of each server, from the first pick on, whatever the phases `u` between 0 and 1. Half a turn (Webster's
//! rounding) puts a server alone in the middle of its stretch; servers of about one weight are set apart, the `k`-th of `m` at
//! `(k + 1/2) / m`, so that the light ones do not follow each other and leave a run to the heavy one.
//!
//! A search through the list, not a heap: a server is full and free again from one job to the next without the heap being told,
//! and the full ones would gather at its top. A server that may not be picked when its turn is due keeps that turn, and
//! no more: after that it is dealt with as if it had just come.
//!
//! With `weights: reported` the weights are those of gRFC A58: requests a second over utilisation, where errors count as
//! more utilisation.

use super::{Ask, Candidate, LoadReport, Pick, Seat, Servers, Setup, View, search};
use crate::id::ServerId;
use crate::scenario::v1::{BalancerV1, ResourceV1, WeightsV1};
use crate::time::{Duration, Instant};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Reports are not used before a server has reported for this long (gRFC A58, `blackout_period`).
const BLACKOUT: Duration = Duration::from_secs(10);
/// A weight is forgotten when no report renewed it for this long (gRFC A58, `weight_expiration_period`).
const EXPIRY: Duration = Duration::from_secs(180);
/// Weights are worked out anew once in this time (gRFC A58, `weight_update_period`).
const PERIOD: Duration = Duration::from_secs(1);
/// What an error counts (gRFC A58, `error_utilization_penalty`).
const ERROR_PENALTY: f64 = 1.0;

/// Phases there are.
const GRID: f64 = 1_048_576.0;

/// Remembers whose turn is due when.
#[derive(Clone, Debug)]
pub struct WeightedRoundRobin {
    /// When the next turn of each server is due, in virtual time.
    due: Vec<f64>,
    turns: Vec<Turns>,
    /// Virtual time: when the turn taken last was due.
    now: f64,
    /// Where the search begins: among turns due at once, the first from here on is taken.
    start: usize,
    reported: Option<Reported>,
}

/// Turns of one server: number `p` is due at `base + (p + phase) / weight`.
#[derive(Clone, Copy, Debug)]
struct Turns {
    weight: f64,
    base: f64,
    phase: f64,
    taken: f64,
}

impl Turns {
    /// From `base` on, the first after part `phase` of a turn.
    const fn from(base: f64, phase: f64, weight: f64) -> Self {
        Self { weight, base, phase, taken: 0.0 }
    }

    /// When the next is due. One division: equal fractions come out equal, and no error adds up.
    fn due(&self) -> f64 {
        self.base + (self.taken + self.phase) / self.weight
    }
}

/// A weight there can be a turn for; a server without one gets nothing anyway.
fn proper(weight: f64) -> f64 {
    if weight > 0.0 { weight.clamp(1e-9, 1e9) } else { 1e-9 }
}

impl WeightedRoundRobin {
    /// Begins as far into the turns of these servers as its seat says: seat 0 at the beginning, others where others have turns.
    #[must_use]
    pub fn new(setup: &Setup<'_>, servers: &Servers) -> Self {
        let is_reported =
            matches!(setup.wire, BalancerV1::WeightedRoundRobin { weights: WeightsV1::Reported });
        let reported = is_reported.then(Reported::default);
        let weights: Vec<f64> =
            servers.iter().map(|server| if is_reported { 1.0 } else { proper(server.weight) }).collect();
        let begin = begin(setup.seat, weights.len());
        let turns: Vec<Turns> =
            phases(&weights).zip(&weights).map(|(phase, &weight)| turns_from(begin, phase, weight)).collect();
        let due = turns.iter().map(Turns::due).collect();
        Self { due, turns, now: begin, start: setup.seat.first(weights.len()), reported }
    }

    /// Place of the earliest turn.
    #[inline]
    fn earliest(&self, servers: &Servers, ask: &Ask) -> Option<usize> {
        let n = self.due.len().min(servers.len());
        let (due, open) = (&self.due[..n], &servers.open()[..n]);
        let least = |block: core::ops::Range<usize>| search::least_open(&due[block.clone()], &open[block]);
        let key = |at: usize| if search::is_open(open[at]) { due[at] } else { f64::INFINITY };
        let found = search::first_least(
            search::round(n, self.start, ask.except),
            [f64::NEG_INFINITY, f64::INFINITY],
            least,
            key,
        );
        // A server that it was not told of has no turns yet.
        found.or_else(|| search::next_allowed(servers, ask, n))
    }

    /// Takes the turn of a server. The next is due as if it had been in time, or if that has passed too, a full turn from
    /// this moment on: what was missed is not made up for.
    #[inline]
    fn take(&mut self, at: usize) {
        let Some(turns) = self.turns.get_mut(at) else { return };
        self.now = self.now.max(self.due[at]);
        turns.taken += 1.0;
        if turns.due() < self.now {
            *turns = Turns::from(self.now, 1.0, turns.weight);
        }
        self.due[at] = turns.due();
    }

    /// Gives a server another weight; the part of a turn that it has waited for stays.
    fn set_weight(&mut self, at: usize, weight: f64) {
        let weight = proper(weight);
        if weight.to_bits() != self.turns[at].weight.to_bits() {
            let phase = ((self.due[at] - self.now) * self.turns[at].weight).clamp(0.0, 1.0);
            self.enter(at, phase, weight);
        }
    }

    /// Lets the turns of a server begin at this moment.
    fn enter(&mut self, at: usize, phase: f64, weight: f64) {
        self.turns[at] = Turns::from(self.now, phase, weight);
        self.due[at] = self.turns[at].due();
    }
}

/// The moment of the first stretch at which a seat begins.
fn begin(seat: Seat, n: usize) -> f64 {
    if n == 0 { 0.0 } else { seat.first(n) as f64 / n as f64 }
}

/// Turns that began at 0, without those that were due before `begin`.
fn turns_from(begin: f64, phase: f64, weight: f64) -> Turns {
    let before = libm::floor(begin * weight) - 1.0;
    let mut turns = Turns { taken: before.max(0.0), ..Turns::from(0.0, phase, weight) };
    while turns.due() < begin {
        turns.taken += 1.0;
    }
    turns
}

/// Where in a turn each server begins: those with weights of the same power of two are set apart evenly. Whole multiples of
/// 2^-20, so that a sum with a number of turns is exact and turns that are due at once are found to be.
fn phases(weights: &[f64]) -> impl Iterator<Item = f64> {
    let octave = |weight: f64| weight.to_bits() >> 52;
    let mut sizes = BTreeMap::new();
    for &weight in weights {
        sizes.entry(octave(weight)).or_insert((0, 0)).0 += 1;
    }
    weights.iter().map(move |&weight| {
        let (size, passed) = sizes.entry(octave(weight)).or_insert((1, 0));
        *passed += 1;
        libm::round((f64::from(*passed) - 0.5) / f64::from(*size) * GRID) / GRID
    })
}

impl Pick for WeightedRoundRobin {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        let at = self.earliest(servers, ask)?;
        self.take(at);
        Some(search::id(at))
    }

    fn changed(&mut self, servers: &Servers, server: ServerId, anew: bool) {
        let at = usize::from(server.0);
        while self.turns.len() < servers.len() {
            let weight = proper(servers.get(search::id(self.turns.len())).weight);
            self.turns.push(Turns::from(self.now, 0.5, weight));
            self.due.push(self.now + 0.5 / weight);
        }
        let weight = if let Some(reported) = &mut self.reported {
            reported.changed(servers, at, anew);
            reported.weight(at)
        } else {
            servers.get(server).weight
        };
        self.set_weight(at, weight);
        if anew || self.due[at] < self.now {
            self.enter(at, 0.5, self.turns[at].weight);
        }
    }

    fn report(&mut self, now: Instant, servers: &Servers, server: ServerId, report: &LoadReport) {
        if let Some(reported) = &mut self.reported {
            reported.note(now, servers.len(), usize::from(server.0), report);
        }
    }

    fn next_at(&self) -> Instant {
        self.reported.as_ref().map_or(Instant::NEVER, |reported| reported.next_at)
    }

    fn tick(&mut self, now: Instant, _servers: &Servers) {
        let Some(reported) = &mut self.reported else { return };
        reported.work_out(now, self.turns.len());
        let weights: Vec<f64> = (0..self.turns.len()).map(|at| reported.weight(at)).collect();
        for (at, weight) in weights.into_iter().enumerate() {
            self.set_weight(at, weight);
        }
    }

    /// The weight it takes turns by.
    fn view(&self, servers: &Servers, server: ServerId, _now: Instant) -> View {
        let own = self.turns.get(usize::from(server.0)).map(|turns| turns.weight);
        let configured = servers.get(server).weight;
        let weight = own.filter(|_| configured > 0.0).unwrap_or(configured);
        View { weights: [weight; 2], loads: [None; 2], group: 0, latency_s: None }
    }

    /// The key is how far off the next turn is, in virtual time; below 0 if it was missed.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        for server in (0..servers.len()).map(search::id).filter(|&server| ask.allows(servers, server)) {
            if let Some(due) = self.due.get(usize::from(server.0)) {
                out.push(Candidate { server, key: due - self.now, ..Candidate::default() });
            }
        }
    }
}

/// Weights from reports (gRFC A58).
#[derive(Clone, Debug)]
struct Reported {
    each: Vec<Known>,
    /// The weights in use.
    weights: Vec<f64>,
    /// For a server without one.
    mean: f64,
    /// When they are to be worked out next, and when they were last.
    next_at: Instant,
    last: Option<Instant>,
}

/// What is known of one server.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    weight: f64,
    /// When its first report came, and its last; `None` if it has none that counts.
    reports: Option<(Instant, Instant)>,
}

impl Known {
    /// The weight to be used, if it can be used yet and still.
    fn usable(&mut self, now: Instant) -> Option<f64> {
        let (first, last) = self.reports?;
        if now.since(last) >= EXPIRY {
            self.reports = None;
            return None;
        }
        (now.since(first) >= BLACKOUT).then_some(self.weight)
    }
}

impl Default for Reported {
    fn default() -> Self {
        Self { each: Vec::new(), weights: Vec::new(), mean: 1.0, next_at: Instant::NEVER, last: None }
    }
}

/// `rps / (utilisation + errors / rps * penalty)`: what the application reports of its utilisation, else the processors'.
/// `None` without requests or without utilisation.
fn weight_of(report: &LoadReport) -> Option<f64> {
    let above_0 = |x: &f64| *x > 0.0;
    let requests = report.requests_per_s.filter(above_0)?;
    let cpu = || report.load(ResourceV1::Cpu).filter(above_0);
    let utilisation = report.application.filter(above_0).or_else(cpu)?;
    let errors = report.errors_per_s.unwrap_or(0.0).max(0.0);
    Some(requests / (utilisation + errors / requests * ERROR_PENALTY)).filter(|weight| weight.is_finite())
}

impl Reported {
    /// Notes a report. One that gives no weight changes nothing, and is no sign of life either.
    fn note(&mut self, now: Instant, n: usize, at: usize, report: &LoadReport) {
        let Some(weight) = weight_of(report) else { return };
        self.each.resize(n, Known::default());
        let known = &mut self.each[at];
        let first = known.reports.map_or(now, |(first, _)| first);
        *known = Known { weight, reports: Some((first, now)) };
        if self.next_at == Instant::NEVER {
            self.next_at = self.last.map_or(now, |last| now.max(last + PERIOD));
        }
    }

    /// A server that cannot be reached, or another one in its place, has to report for a while again.
    fn changed(&mut self, servers: &Servers, at: usize, anew: bool) {
        if anew || !servers.iter().nth(at).is_some_and(|server| server.up) {
            if let Some(known) = self.each.get_mut(at) {
                known.reports = None;
            }
            if let Some(weight) = self.weights.get_mut(at) {
                *weight = self.mean;
            }
        }
    }

    /// Works the weights out: where a server has none, the mean of the others; all alike if fewer than two have one.
    fn work_out(&mut self, now: Instant, n: usize) {
        self.each.resize(n, Known::default());
        let usable: Vec<Option<f64>> = self.each.iter_mut().map(|known| known.usable(now)).collect();
        let count = usable.iter().flatten().count();
        let sum: f64 = usable.iter().flatten().sum();
        self.mean = if count < 2 { 1.0 } else { sum / count as f64 };
        let weight = |weight: Option<f64>| weight.filter(|_| count >= 2).unwrap_or(self.mean);
        self.weights = usable.into_iter().map(weight).collect();
        let is_known = self.each.iter().any(|known| known.reports.is_some());
        self.next_at = if is_known { now + PERIOD } else { Instant::NEVER };
        self.last = Some(now);
    }

    /// The weight of a server.
    fn weight(&self, at: usize) -> f64 {
        self.weights.get(at).copied().unwrap_or(self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{answer, ask, made, pick_times, servers, spec, weighted, wire};
    use super::super::{Balancer, bar};
    use super::*;
    use crate::id::ClassId;
    use alloc::vec;

    fn balancer(servers: &Servers, seat: u64) -> Balancer {
        made(&wire(r#""weighted_round_robin""#), servers, Seat(seat))
    }

    fn longest_run(picks: &[u16], server: u16) -> usize {
        picks.split(|pick| *pick != server).map(<[u16]>::len).max().unwrap_or(0)
    }

    /// Every window of as many picks as the weights sum to has each server as often as its weight says.
    fn check_windows(weights: &[f64], seat: u64) -> Vec<u16> {
        let mut some = weighted(weights);
        let sum = weights.iter().sum::<f64>() as usize;
        let picks = pick_times(&mut balancer(&some, seat), &mut some, 40 * sum);
        for (from, window) in picks.windows(sum).enumerate() {
            for (server, &weight) in weights.iter().enumerate() {
                let count = window.iter().filter(|pick| usize::from(**pick) == server).count();
                assert_eq!(
                    count as f64, weight,
                    "weights {weights:?}, seat {seat}: server {server} in the window from {from}: {window:?}"
                );
            }
        }
        picks
    }

    #[test]
    fn every_window_is_exact_whatever_the_weights_and_the_seat() {
        let sets: [&[f64]; 8] = [
            &[5.0, 1.0, 1.0],
            &[21.0, 11.0],
            &[1.0, 1.0, 1.0],
            &[3.0, 3.0, 1.0],
            &[7.0, 6.0, 5.0, 3.0, 2.0],
            &[49.0, 7.0, 3.0, 21.0],
            &[13.0, 1.0],
            &[2.0, 0.0, 3.0],
        ];
        for weights in sets {
            for seat in 0..7 {
                check_windows(weights, seat);
            }
        }
    }

    /// cloudflare/pingora#195 and apache/apisix#3493: the heavy server must not get its share in clumps.
    #[test]
    fn turns_of_a_server_are_spread() {
        for seat in 0..5 {
            let picks = check_windows(&[5.0, 1.0, 1.0], seat);
            let runs = [0, 1, 2].map(|server| longest_run(&picks, server));
            assert_eq!(runs, [3, 1, 1], "5, 1, 1 at seat {seat}: at most ceil(5 / 2) in a row");
            let picks = check_windows(&[21.0, 11.0], seat);
            let runs = [0, 1].map(|server| longest_run(&picks, server));
            assert_eq!(runs, [2, 1], "21, 11 at seat {seat}");
        }
    }

    #[test]
    fn seats_begin_at_different_servers_and_equal_weights_go_round() {
        for seat in 0..5 {
            let mut five = servers(5, u32::MAX);
            let picks = pick_times(&mut balancer(&five, seat), &mut five, 10);
            let want: Vec<u16> = (0..10).map(|n| ((seat + n) % 5) as u16).collect();
            assert_eq!(picks, want, "seat {seat}");
        }
    }

    #[test]
    fn a_server_that_was_away_takes_turns_as_before_and_makes_nothing_up() {
        let mut three = servers(3, u32::MAX);
        let mut balancer = balancer(&three, 0);
        let _ = pick_times(&mut balancer, &mut three, 4);
        three.set_up(ServerId(1), false);
        balancer.changed(&three, ServerId(1), false);
        let without = pick_times(&mut balancer, &mut three, 300);
        assert_eq!([0, 1, 2].map(|at| longest_run(&without, at)), [1, 0, 1], "the others alternate");
        three.set_up(ServerId(1), true);
        balancer.changed(&three, ServerId(1), false);
        let picks = pick_times(&mut balancer, &mut three, 30);
        let counts = [0, 1, 2].map(|at| picks.iter().filter(|pick| **pick == at).count());
        assert_eq!(counts, [10, 10, 10], "{picks:?}");
        assert_eq!(longest_run(&picks, 1), 1, "no catching up: {picks:?}");
        three.set_bar(ServerId(1), bar::GONE, true);
        balancer.changed(&three, ServerId(1), false);
        let _ = pick_times(&mut balancer, &mut three, 100);
        for at in 0..3 {
            while three.get(ServerId(at)).in_flight > 0 {
                answer(&mut balancer, &mut three, at, Duration::ZERO);
            }
        }
        assert_eq!(three.add(&spec(1, u32::MAX, 1.0)), ServerId(1), "in the old place");
        balancer.changed(&three, ServerId(1), true);
        let picks = pick_times(&mut balancer, &mut three, 30);
        let counts = [0, 1, 2].map(|at| picks.iter().filter(|pick| **pick == at).count());
        assert_eq!((counts, longest_run(&picks, 1)), ([10, 10, 10], 1), "{picks:?}");
    }

    #[test]
    fn a_full_server_keeps_one_turn_and_no_more() {
        let mut two = Servers::of(&[spec(0, 1, 3.0), spec(1, u32::MAX, 1.0)], one_kind());
        let mut balancer = balancer(&two, 0);
        assert_eq!(pick_times(&mut balancer, &mut two, 50)[1..], [1; 49], "one fits at server 0");
        two.set_max_in_flight(ServerId(0), None);
        let picks = pick_times(&mut balancer, &mut two, 41);
        assert_eq!(picks[0], 0, "its turn is overdue");
        assert_eq!(longest_run(&picks, 0), 4, "one kept turn before a run of 3: {picks:?}");
        assert_eq!(picks.iter().filter(|pick| **pick == 0).count(), 31, "{picks:?}");
    }

    fn one_kind() -> Vec<crate::scenario::v1::KindV1> {
        vec![crate::scenario::v1::KindV1::Short]
    }

    #[test]
    fn another_weight_counts_from_the_next_turn_on() {
        let mut two = weighted(&[1.0, 1.0]);
        let mut balancer = balancer(&two, 0);
        let _ = pick_times(&mut balancer, &mut two, 9);
        two.set_weight(ServerId(0), 3.0);
        balancer.changed(&two, ServerId(0), false);
        let picks = pick_times(&mut balancer, &mut two, 80);
        let count = picks.iter().filter(|pick| **pick == 0).count();
        assert!((59..=61).contains(&count), "3 of 4 from now on, but {count} of 80");
    }

    /// A report of the application's utilisation, the processors', requests and errors a second.
    fn report(application: f64, cpu: f64, rps: f64, eps: f64) -> LoadReport {
        let mut loads = [None; 5];
        loads[ResourceV1::Cpu as usize] = Some(cpu);
        let application = Some(application);
        LoadReport { loads, application, requests_per_s: Some(rps), errors_per_s: Some(eps) }
    }

    #[test]
    fn a_weight_is_requests_over_utilisation_and_errors_count_as_utilisation() {
        let check = |report: &LoadReport, want: Option<f64>, what: &str| {
            let got = weight_of(report);
            let same = match (got, want) {
                (Some(got), Some(want)) => (got - want).abs() < 0.05,
                (got, want) => got == want,
            };
            assert!(same, "{what}: {got:?}, expected {want:?}");
        };
        check(&report(0.8, 0.7, 1000.0, 2.0), Some(1246.9), "1000 / (0.8 + 2 / 1000)");
        check(
            &report(0.0, 0.5, 1000.0, 0.0),
            Some(2000.0),
            "an application that says 0 leaves it to the processors",
        );
        check(&report(0.0, 0.0, 1000.0, 0.0), None, "no utilisation gives no weight, and not infinity");
        check(&report(0.8, 0.7, 0.0, 0.0), None, "nor do no requests");
        check(&LoadReport { requests_per_s: None, ..report(0.8, 0.7, 0.0, 0.0) }, None, "nor unknown ones");
        check(&report(1e-320, 0.7, 1e300, 0.0), None, "nor anything that is out of bounds");
    }

    /// Servers 0 and 1 of three report 0.2 and 0.8 at equal rates each second from the start; the shares of 100 picks
    /// so many seconds later.
    struct Bench {
        servers: Servers,
        balancer: Balancer,
        second: u64,
    }

    impl Bench {
        fn new() -> Self {
            let servers = servers(3, u32::MAX);
            let policy = wire(r#""weighted_round_robin","weights":"reported""#);
            Self { balancer: made(&policy, &servers, Seat(0)), servers, second: 0 }
        }

        fn until(&mut self, second: u64, reports: &[(u16, f64)]) {
            while self.second < second {
                self.second += 1;
                let now = Instant::from_nanos(self.second * 1_000_000_000);
                for &(server, load) in reports {
                    self.balancer.report(
                        now,
                        &self.servers,
                        ServerId(server),
                        &report(load, 0.0, 100.0, 0.0),
                    );
                }
                if self.balancer.next_at() <= now {
                    self.balancer.tick(now, &self.servers);
                    assert!(self.balancer.next_at() > now, "a tick must not ask for itself");
                }
            }
        }

        fn check(&mut self, what: &str, weights: [f64; 3]) {
            let now = Instant::from_nanos(self.second * 1_000_000_000);
            let view = |at| self.balancer.view(&self.servers, ServerId(at), now).weights[0];
            assert_eq!([0, 1, 2].map(view), weights, "{what}, at {} s", self.second);
            let sum: f64 = weights.iter().sum();
            let picks = pick_times(&mut self.balancer, &mut self.servers, 1_000);
            for (at, weight) in weights.into_iter().enumerate() {
                let count = picks.iter().filter(|pick| usize::from(**pick) == at).count() as f64;
                let want = 1_000.0 * weight / sum;
                assert!((count - want).abs() <= 2.0, "{what}: server {at} got {count}, expected {want:.0}");
            }
        }
    }

    #[test]
    fn reported_weights_count_after_ten_seconds_and_for_three_minutes() {
        let (alike, both) = ([1.0; 3], [500.0, 125.0, 312.5]);
        let mut bench = Bench::new();
        bench.check("nothing is known", alike);
        bench.until(10, &[(0, 0.2), (1, 0.8)]);
        bench.check("they have not reported for long", alike);
        bench.until(11, &[(0, 0.2), (1, 0.8)]);
        bench.check("4 to 1, and the mean for the third", both);
        bench.until(100, &[(0, 0.2)]);
        bench.check("the second has been silent for a while", both);
        bench.until(191, &[(0, 0.2)]);
        bench.check("its last report is three minutes old, and one weight says nothing", alike);
        bench.until(400, &[]);
        bench.check("silence", alike);
        assert_eq!(bench.balancer.next_at(), Instant::NEVER, "there is nothing to work out");
    }

    #[test]
    fn a_server_that_came_back_has_to_report_for_a_while_again() {
        let mut bench = Bench::new();
        let all = [(0, 0.2), (1, 0.8), (2, 0.4)];
        bench.until(20, &all);
        bench.check("all report", [500.0, 125.0, 250.0]);
        for up in [false, true] {
            bench.servers.set_up(ServerId(1), up);
            bench.balancer.changed(&bench.servers, ServerId(1), false);
        }
        bench.until(25, &all);
        bench.check("the mean of the others", [500.0, 375.0, 250.0]);
        bench.until(40, &all);
        bench.check("it has reported for long enough", [500.0, 125.0, 250.0]);
    }

    #[test]
    fn jobs_in_flight_do_not_matter_to_it() {
        let mut two = weighted(&[1.0, 1.0]);
        (0..9).for_each(|_| two.sent(ServerId(0), ClassId(0)));
        let mut balancer = balancer(&two, 0);
        assert_eq!(balancer.pick(&two, &ask(0)), Some(ServerId(0)));
    }
}
