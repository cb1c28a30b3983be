//! Least time: the smallest product of mean latency and jobs in flight, for its weight, of all servers. Ties go round.
//!
//! A server with nothing in flight is expected to have become faster by `exp(-idle / tau)`, so that one which was slow
//! is tried again in time: nothing starves (traefik#12306). The trial itself ends that: while a job is there, the
//! average counts in full, so one that hangs is sent no second one for being idle. What is not known counts as
//! what all answers take on average. Failures: see [`latency`](super::latency).
//!
//! Products are kept, and changed where a job comes or goes; idle servers and unknown ones are gone through once in a
//! thirty-second part of the time constant, when somebody asks. A pick searches a list of numbers.

use super::latency::{Following, LEAST_S, Latency, Usual};
use super::turns::Turns;
use super::{Ask, Candidate, Left, Pick, Seat, Servers, Setup, View};
use crate::id::ServerId;
use crate::scenario::v1::{BalancerV1, KindV1};
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// Times that idle servers are gone through in a time constant.
const LOOKS: u64 = 32;
/// An idle server is not expected to become faster than by this.
const FASTEST: f64 = 1e-6;
/// The largest product that is told from "may not be picked".
const WORST: f64 = 1e300;

/// Latency of each server.
#[derive(Clone, Debug)]
pub struct LeastTime {
    following: Following,
    each: Vec<Latency>,
    usual: Usual,
    /// By how much a server is expected to have become faster while it was idle. It counts when it is idle again or has
    /// answered, not while a job is there.
    idle: Vec<f64>,
    /// Products, as scores.
    turns: Turns,
    /// Which could be reached, to notice who comes back.
    up: Vec<bool>,
    /// Where the next search begins.
    next: usize,
    looked_at: Instant,
    lifted: u8,
}

impl LeastTime {
    /// Nothing known of anyone.
    #[must_use]
    pub fn new(setup: &Setup<'_>, servers: &Servers) -> Self {
        let tau_us = match setup.wire {
            BalancerV1::LeastTime { tau_us } => *tau_us,
            _ => 10_000_000,
        };
        let tau = Duration::from_micros(tau_us);
        let Seat(seat) = setup.seat;
        let mut new = Self {
            following: Following { tau, peak: false },
            each: Vec::new(),
            usual: Usual::new(tau),
            idle: Vec::new(),
            turns: Turns::default(),
            up: Vec::new(),
            next: Seat(seat).first(servers.len()),
            looked_at: Instant::START,
            lifted: 0,
        };
        new.refresh_all(servers);
        new
    }

    /// Works out all products, for new servers too.
    fn refresh_all(&mut self, servers: &Servers) {
        for server in servers.iter().skip(self.each.len()) {
            self.each.push(Latency::default());
            self.idle.push(1.0);
            self.up.push(server.up);
            self.turns.push(server.weight, 0.0);
        }
        self.lifted = servers.lifted();
        (0..self.each.len()).for_each(|at| self.refresh(servers, at));
    }

    #[inline]
    fn refresh(&mut self, servers: &Servers, at: usize) {
        if at < self.each.len() {
            let product = self.product(servers, at);
            self.turns.set_score(at, product);
        }
    }

    /// Latency that is expected of a server, in seconds.
    #[inline]
    fn expected_s(&self, servers: &Servers, at: usize) -> f64 {
        let is_idle = servers.get(ServerId(at as u16)).in_flight == 0;
        let idle = if is_idle { self.idle[at] } else { 1.0 };
        self.each[at].mean_s.map_or(self.usual.s(), |mean| mean * idle).max(LEAST_S * FASTEST)
    }

    #[inline]
    fn product(&self, servers: &Servers, at: usize) -> f64 {
        let id = ServerId(at as u16);
        if !servers.has_room(id) {
            return f64::INFINITY;
        }
        let server = servers.get(id);
        (self.expected_s(servers, at) * (f64::from(server.in_flight) + 1.0) / server.weight).min(WORST)
    }

    /// Goes through idle and unknown servers, if it is time or the table changed as a whole.
    #[inline]
    fn look(&mut self, now: Instant, servers: &Servers) {
        let age = now.since(self.looked_at);
        if age.as_nanos() >= self.following.tau.as_nanos() / LOOKS || self.lifted != servers.lifted() {
            self.look_at_all(now, age, servers);
        }
    }

    #[inline(never)]
    fn look_at_all(&mut self, now: Instant, age: Duration, servers: &Servers) {
        let left = self.following.left_after(age);
        // Only who has been idle since the last look: one that happens to be idle just now is not.
        let before = core::mem::replace(&mut self.looked_at, now);
        for (at, server) in servers.iter().enumerate().take(self.idle.len()) {
            if server.in_flight == 0 && self.each[at].at <= before {
                self.idle[at] = (self.idle[at] * left).max(FASTEST);
            }
        }
        self.refresh_all(servers);
    }

    fn choose(&mut self, ask: &Ask) -> Option<usize> {
        let next = self.next;
        self.turns.without(ask, |turns| {
            let least = turns.least();
            if least == f64::INFINITY { None } else { turns.first(next, least) }
        })
    }
}

impl Pick for LeastTime {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        self.look(ask.now, servers);
        let mut found = self.choose(ask);
        if !self.turns.agrees(servers, found, ask) {
            self.refresh_all(servers);
            found = self.choose(ask);
        }
        let at = found?;
        self.next = at + 1;
        Some(ServerId(at as u16))
    }

    #[inline]
    fn sent(&mut self, servers: &Servers, server: ServerId, _kind: KindV1) {
        self.refresh(servers, usize::from(server.0));
    }

    #[inline]
    fn left(
        &mut self,
        now: Instant,
        servers: &Servers,
        server: ServerId,
        kind: KindV1,
        how: Left,
        took: Duration,
    ) {
        let at = usize::from(server.0);
        let knew = self.usual.is_known();
        if let (Some(latency), Some(idle)) = (self.each.get_mut(at), self.idle.get_mut(at)) {
            // An answer goes on from what was expected; anything else from the worse that was known.
            if how == Left::Answered {
                latency.mean_s = latency.mean_s.map(|mean| mean * *idle);
            }
            *idle = 1.0;
            self.usual.left(latency, &self.following, now, (kind, how), took);
        }
        if knew == self.usual.is_known() {
            self.refresh(servers, at);
        } else {
            self.refresh_all(servers);
        }
    }

    fn changed(&mut self, servers: &Servers, server: ServerId, anew: bool) {
        let (at, up) = (usize::from(server.0), servers.get(server).up);
        if at >= self.each.len() {
            self.refresh_all(servers);
        }
        if anew || (up && !self.up[at]) {
            self.each[at] = Latency::default();
            self.idle[at] = 1.0;
        }
        self.up[at] = up;
        self.refresh(servers, at);
    }

    fn view(&self, servers: &Servers, server: ServerId, _now: Instant) -> View {
        let at = usize::from(server.0);
        let known = |latency: &Latency| latency.mean_s.is_some() || self.usual.is_known();
        let latency_s =
            self.each.get(at).filter(|&latency| known(latency)).map(|_| self.expected_s(servers, at));
        let weight = servers.get(server).weight;
        View { weights: [weight; 2], loads: [None; 2], group: 0, latency_s }
    }

    /// `key` is the product. Servers are listed in the order of their turns: the first with the smallest is picked.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        let mut then = self.clone();
        then.look(ask.now, servers);
        let n = then.each.len();
        let next = then.next.min(n);
        for at in (next..n).chain(0..next) {
            let server = ServerId(at as u16);
            if ask.allows(servers, server) {
                out.push(Candidate { server, key: then.turns.score(at), turn: 0.0, group: 0 });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Balancer;
    use super::super::tests::{ask, made, pick_times, servers, spec, weighted, wire};
    use super::*;
    use crate::id::ClassId;

    fn least_time(servers: &Servers) -> LeastTime {
        match made(&wire(r#""least_time""#), servers, Seat(0)) {
            Balancer::LeastTime(least) => least,
            other => panic!("asked for least_time, got {other:?}"),
        }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn at(at: u64) -> Instant {
        Instant::START + ms(at)
    }

    /// A job goes to a server and leaves it.
    fn visit(
        least: &mut LeastTime,
        servers: &mut Servers,
        now: u64,
        server: ServerId,
        how: Left,
        took: Duration,
    ) {
        servers.sent(server, ClassId(0));
        least.sent(servers, server, KindV1::Short);
        servers.left(server, ClassId(0), how);
        least.left(at(now), servers, server, KindV1::Short, how, took);
    }

    fn pick(least: &mut LeastTime, servers: &Servers, now: u64) -> u16 {
        least.pick(servers, &Ask { now: at(now), ..ask(now) }).unwrap().0
    }

    #[test]
    fn the_smallest_product_for_its_weight_wins() {
        let mut two = weighted(&[1.0, 2.0]);
        let mut least = least_time(&two);
        visit(&mut least, &mut two, 0, ServerId(0), Left::Answered, ms(10));
        visit(&mut least, &mut two, 0, ServerId(1), Left::Answered, ms(50));
        // Products: 10, 20, 30 ms against 25, 50 ms.
        assert_eq!(pick_times(&mut least, &mut two, 4), [0, 0, 1, 0]);
    }

    #[test]
    fn ties_go_round() {
        for seat in 0..3_u16 {
            let mut three = servers(3, u32::MAX);
            let mut least = made(&wire(r#""least_time""#), &three, Seat(seat.into()));
            let want: Vec<u16> = (0..7).map(|k| (seat + k) % 3).collect();
            assert_eq!(pick_times(&mut least, &mut three, 7), want, "seat {seat}");
        }
    }

    /// traefik#12306: of five equal servers one got 5 of 1500 requests and never recovered. Here, each trial after an idle
    /// time tells more of the truth, and the time to the next is the shorter: a matter of a few time constants.
    #[test]
    fn a_server_that_was_slow_once_is_tried_again_and_recovers() {
        let mut five = servers(5, u32::MAX);
        let mut least = least_time(&five);
        let mut counts = [0; 5];
        for k in 0..12_000_u64 {
            let server = ServerId(pick(&mut least, &five, 10 * k));
            let slow = server == ServerId(2) && 10 * k < 1000;
            let took = if slow { ms(400) } else { ms(20) };
            visit(&mut least, &mut five, 10 * k, server, Left::Answered, took);
            counts[usize::from(server.0)] += u32::from(k >= 10_000);
        }
        assert!(counts.iter().all(|n| *n > 200), "of 2000 requests after 100 s: {counts:?}");
    }

    #[test]
    fn a_slow_server_is_tried_once_in_a_while_and_only_once() {
        let mut two = servers(2, u32::MAX);
        let mut least = least_time(&two);
        let mut trials = 0;
        for k in 0..10_000_u64 {
            let server = ServerId(pick(&mut least, &two, 10 * k));
            trials += u32::from(server == ServerId(1));
            let took = if server == ServerId(1) { ms(200) } else { ms(20) };
            visit(&mut least, &mut two, 10 * k, server, Left::Answered, took);
        }
        // The first visit, then one each 10 s ln 10 = 23 s.
        assert_eq!(trials, 5, "in 100 s");
        // The next trial never ends: there is no other.
        let mut hung = 0;
        for k in 10_000..30_000_u64 {
            let server = ServerId(pick(&mut least, &two, 10 * k));
            if server == ServerId(1) {
                hung += 1;
                two.sent(server, ClassId(0));
                least.sent(&two, server, KindV1::Short);
            } else {
                visit(&mut least, &mut two, 10 * k, server, Left::Answered, ms(20));
            }
        }
        assert_eq!(hung, 1, "in 200 s");
    }

    #[test]
    fn a_new_server_is_taken_for_an_average_one() {
        let mut two = servers(2, u32::MAX);
        let mut least = least_time(&two);
        for server in [0, 1] {
            visit(&mut least, &mut two, 0, ServerId(server), Left::Answered, ms(10));
        }
        let third = two.add(&spec(2, u32::MAX, 1.0));
        least.changed(&two, third, true);
        assert_eq!(least.view(&two, third, at(0)).latency_s, Some(0.01));
        let mut picks = pick_times(&mut least, &mut two, 9);
        picks.sort_unstable();
        assert_eq!(picks, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
    }

    #[test]
    fn a_server_that_fails_fast_does_not_win() {
        let mut two = servers(2, u32::MAX);
        let mut least = least_time(&two);
        let mut failures = 0;
        for k in 0..1000 {
            let server = ServerId(pick(&mut least, &two, 10 * k));
            let fails = server == ServerId(1);
            failures += u32::from(fails);
            let (how, took) = if fails { (Left::Failed, ms(1)) } else { (Left::Answered, ms(20)) };
            visit(&mut least, &mut two, 10 * k, server, how, took);
        }
        assert!((1..20).contains(&failures), "of 1000 requests in 10 s, {failures} went to it");
    }

    #[test]
    fn the_pick_is_the_one_that_the_explanation_implies() {
        let mut five = weighted(&[1.0, 2.0, 0.5, 1.0, 3.0]);
        let mut least = least_time(&five);
        let mut out = Vec::new();
        for k in 0..3000 {
            let ask = Ask { now: at(40 * k), except: (k % 7 == 0).then_some(ServerId(1)), ..ask(k) };
            out.clear();
            least.explain(&five, &ask, &mut out);
            let smallest = out.iter().map(|c| c.key).fold(f64::INFINITY, f64::min);
            let want = out.iter().find(|c| c.key == smallest).map(|c| c.server);
            let got = least.pick(&five, &ask);
            assert_eq!(got, want, "ask {k}: {out:?}");
            five.sent(got.unwrap(), ClassId(0));
            least.sent(&five, got.unwrap(), KindV1::Short);
            let server = ServerId((k * k % 5) as u16);
            if five.get(server).in_flight > 0 {
                five.left(server, ClassId(0), Left::Answered);
                least.left(at(40 * k), &five, server, KindV1::Short, Left::Answered, ms(1 + k * k % 37));
            }
        }
    }
}
