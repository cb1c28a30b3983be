//! Peak EWMA: of two servers drawn at random, the one with the smaller product of latency and jobs in flight.
//!
//! The latency is an average that a slower answer replaces at once and that fades with time, `exp(-age / tau)`, whether
//! there are answers or not (Finagle's and Linkerd's balancer, by that name). A server that was slow is so tried again
//! in time: nothing starves. A server of which nothing is known counts as what all answers take on average, not as
//! the fastest of all, so that a new one is not flooded; and while it is idle that fades too, from when it was first
//! drawn, or idle servers that are known would always be preferred. Failures: see [`latency`](super::latency).

use super::latency::{Following, LEAST_S, Latency, Usual};
use super::{Ask, Candidate, Left, Pick, Servers, Setup, View};
use crate::id::ServerId;
use crate::scenario::v1::{BalancerV1, KindV1};
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// Draws that look for two servers with room, before the search goes on in order.
const DRAWS: u32 = 16;

/// Since when a server of which nothing is known has been drawn: it has not.
const NOT_DRAWN: Instant = Instant::START;

/// Latency of each server.
#[derive(Clone, Debug)]
pub struct PeakEwma {
    following: Following,
    each: Vec<Latency>,
    usual: Usual,
    /// Which could be reached, to notice who comes back.
    up: Vec<bool>,
}

impl PeakEwma {
    /// Nothing known of anyone.
    #[must_use]
    pub fn new(setup: &Setup<'_>, servers: &Servers) -> Self {
        let tau_us = match setup.wire {
            BalancerV1::PeakEwma { tau_us } => *tau_us,
            _ => 10_000_000,
        };
        let tau = Duration::from_micros(tau_us);
        let mut new = Self {
            following: Following { tau, peak: true },
            each: Vec::new(),
            usual: Usual::new(tau),
            up: Vec::new(),
        };
        new.grow(servers);
        new
    }

    fn grow(&mut self, servers: &Servers) {
        for server in servers.iter().skip(self.each.len()) {
            self.each.push(Latency::default());
            self.up.push(server.up);
        }
    }

    /// Latency that is expected of a server, in seconds.
    fn expected_s(&self, server: ServerId, now: Instant) -> f64 {
        let latency = self.each.get(usize::from(server.0)).copied().unwrap_or_default();
        let faded = |mean| mean * self.following.left_after(now.since(latency.at));
        match latency.mean_s {
            Some(mean) => faded(mean),
            None if latency.at == NOT_DRAWN => self.usual.s(),
            None => faded(self.usual.s()),
        }
        .max(LEAST_S)
    }

    /// Notes since when a server of which nothing is known could have had work and has none.
    fn note_drawn(&mut self, servers: &Servers, server: ServerId, now: Instant) {
        let busy = servers.get(server).in_flight > 0;
        match self.each.get_mut(usize::from(server.0)) {
            Some(Latency { mean_s: None, at }) if busy || *at == NOT_DRAWN => *at = now,
            _ => {}
        }
    }

    fn key(&self, servers: &Servers, server: ServerId, now: Instant) -> f64 {
        self.expected_s(server, now) * (f64::from(servers.get(server).in_flight) + 1.0)
    }
}

/// Up to two different servers that the ask allows: drawn, or where draws find too few, the next in order.
fn drawn(servers: &Servers, ask: &Ask) -> [Option<ServerId>; 2] {
    let n = servers.len();
    let mut found = [None; 2];
    if n == 0 || !servers.any_room() {
        return found;
    }
    let draws = (0..DRAWS).map(|k| (ask.draw(k) * n as f64) as usize);
    let begin = (ask.draw(DRAWS) * n as f64) as usize;
    let order = (0..n).map(|k| (begin + k) % n);
    for server in draws.chain(order).map(|at| ServerId(at as u16)) {
        if ask.allows(servers, server) && found[0] != Some(server) {
            if found[0].is_some() {
                found[1] = Some(server);
                break;
            }
            found[0] = Some(server);
        }
    }
    found
}

impl Pick for PeakEwma {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        let drawn = drawn(servers, ask);
        let picked = match drawn {
            [Some(one), Some(other)] => {
                let key = |server| self.key(servers, server, ask.now);
                Some(if key(one) <= key(other) { one } else { other })
            }
            [one, _] => one,
        };
        drawn.into_iter().flatten().for_each(|server| self.note_drawn(servers, server, ask.now));
        picked
    }

    #[inline]
    fn left(
        &mut self,
        now: Instant,
        _servers: &Servers,
        server: ServerId,
        kind: KindV1,
        how: Left,
        took: Duration,
    ) {
        if let Some(latency) = self.each.get_mut(usize::from(server.0)) {
            self.usual.left(latency, &self.following, now, (kind, how), took);
        }
    }

    fn changed(&mut self, servers: &Servers, server: ServerId, anew: bool) {
        self.grow(servers);
        let (at, up) = (usize::from(server.0), servers.get(server).up);
        if anew || (up && !self.up[at]) {
            self.each[at] = Latency::default();
        }
        self.up[at] = up;
    }

    fn view(&self, servers: &Servers, server: ServerId, now: Instant) -> View {
        let known = self.each.get(usize::from(server.0)).is_some_and(|latency| latency.mean_s.is_some());
        let latency_s = (known || self.usual.is_known()).then(|| self.expected_s(server, now));
        let weight = servers.get(server).weight;
        View { weights: [weight; 2], loads: [None; 2], group: 0, latency_s }
    }

    /// The two that were drawn; the first wins a tie.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        for server in drawn(servers, ask).into_iter().flatten() {
            out.push(Candidate { server, key: self.key(servers, server, ask.now), turn: 0.0, group: 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, made, pick_times, servers, spec, wire};
    use super::super::{Balancer, Seat};
    use super::*;
    use crate::id::ClassId;

    fn peak_ewma(servers: &Servers) -> PeakEwma {
        match made(&wire(r#""peak_ewma""#), servers, Seat(0)) {
            Balancer::PeakEwma(peak) => peak,
            other => panic!("asked for peak_ewma, got {other:?}"),
        }
    }

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn left(peak: &mut PeakEwma, servers: &Servers, at: u64, server: u16, how: Left, took: Duration) {
        let now = Instant::START + ms(at);
        peak.left(now, servers, ServerId(server), KindV1::Short, how, took);
    }

    /// Picks of `n` jobs at a moment, none of which stays.
    fn picks(peak: &mut PeakEwma, servers: &Servers, at: u64, n: u64) -> Vec<usize> {
        let mut counts = alloc::vec![0; servers.len()];
        for k in 0..n {
            let ask = Ask { now: Instant::START + ms(at), ..ask(k) };
            counts[usize::from(peak.pick(servers, &ask).unwrap().0)] += 1;
        }
        counts
    }

    #[test]
    fn the_smaller_product_of_latency_and_jobs_in_flight_wins() {
        let mut two = servers(2, u32::MAX);
        let mut peak = peak_ewma(&two);
        left(&mut peak, &two, 0, 0, Left::Answered, ms(10));
        left(&mut peak, &two, 0, 1, Left::Answered, ms(25));
        assert_eq!(picks(&mut peak, &two, 0, 50), [50, 0], "10 ms against 25 ms");
        two.sent(ServerId(0), ClassId(0));
        assert_eq!(picks(&mut peak, &two, 0, 50), [50, 0], "20 against 25");
        two.sent(ServerId(0), ClassId(0));
        assert_eq!(picks(&mut peak, &two, 0, 50), [0, 50], "30 against 25");
    }

    #[test]
    fn a_slow_answer_counts_at_once_and_is_forgotten_in_time() {
        let two = servers(2, u32::MAX);
        let mut peak = peak_ewma(&two);
        left(&mut peak, &two, 0, 0, Left::Answered, ms(10));
        left(&mut peak, &two, 1, 0, Left::Answered, ms(200));
        left(&mut peak, &two, 1, 1, Left::Answered, ms(20));
        assert_eq!(picks(&mut peak, &two, 1, 50), [0, 50], "the peak");
        // 200 ms exp(-t / 10 s) is below 20 ms after 23.03 s, if the other goes on answering.
        for (at, want) in [(23_000, [0, 50]), (23_100, [50, 0])] {
            left(&mut peak, &two, at, 1, Left::Answered, ms(20));
            assert_eq!(picks(&mut peak, &two, at, 50), want, "after {at} ms");
        }
    }

    #[test]
    fn a_new_server_is_taken_for_an_average_one() {
        let mut two = servers(2, u32::MAX);
        let mut peak = peak_ewma(&two);
        left(&mut peak, &two, 0, 0, Left::Answered, ms(10));
        left(&mut peak, &two, 0, 1, Left::Answered, ms(10));
        let third = two.add(&spec(2, u32::MAX, 1.0));
        peak.changed(&two, third, true);
        assert_eq!(peak.view(&two, third, Instant::START).latency_s, Some(0.01));
        let counts = picks(&mut peak, &two, 0, 3000);
        assert!(counts.iter().all(|n| (900..1100).contains(n)), "all alike: {counts:?}");
    }

    /// One job at a time, each of 10 ms: idle servers that are known fade, so one that did not would never be picked.
    #[test]
    fn a_new_server_has_its_part_among_idle_ones() {
        let mut two = servers(2, u32::MAX);
        let mut peak = peak_ewma(&two);
        let mut counts = [0; 3];
        for k in 0..3000 {
            if k == 100 {
                let third = two.add(&spec(2, u32::MAX, 1.0));
                peak.changed(&two, third, true);
            }
            let now = Instant::START + ms(10 * k);
            let server = peak.pick(&two, &Ask { now, ..ask(k) }).unwrap();
            counts[usize::from(server.0)] += 1;
            left(&mut peak, &two, 10 * (k + 1), server.0, Left::Answered, ms(10));
        }
        assert!(counts.iter().all(|n| (900..1100).contains(n)), "all alike: {counts:?}");
    }

    #[test]
    fn a_server_that_was_away_is_not_known_any_more() {
        let mut two = servers(2, u32::MAX);
        let mut peak = peak_ewma(&two);
        left(&mut peak, &two, 0, 0, Left::Answered, ms(10));
        left(&mut peak, &two, 0, 1, Left::Failed, ms(9000));
        for up in [false, true] {
            two.set_up(ServerId(1), up);
            peak.changed(&two, ServerId(1), false);
        }
        assert_eq!(peak.view(&two, ServerId(1), Instant::START).latency_s, Some(0.01));
    }

    /// The black hole: a server that fails at once has nothing in flight and would be everyone's favourite.
    #[test]
    fn a_server_that_fails_fast_does_not_win() {
        let mut two = servers(2, u32::MAX);
        let mut peak = peak_ewma(&two);
        let mut failures = 0;
        for k in 0..1000 {
            let now = Instant::START + ms(10 * k);
            let server = peak.pick(&two, &Ask { now, ..ask(k) }).unwrap();
            two.sent(server, ClassId(0));
            let fails = server == ServerId(1);
            failures += u32::from(fails);
            let (how, took) = if fails { (Left::Failed, ms(1)) } else { (Left::Answered, ms(20)) };
            two.left(server, ClassId(0), how);
            peak.left(now, &two, server, KindV1::Short, how, took);
        }
        assert!((2..20).contains(&failures), "of 1000 requests in 10 s, {failures} went to it");
    }

    #[test]
    fn without_a_second_server_the_only_one_is_picked() {
        let mut many = servers(200, 1);
        let mut peak = peak_ewma(&many);
        let mut picks = pick_times(&mut peak, &mut many, 300);
        picks.sort_unstable();
        assert_eq!(picks, (0..200).collect::<Vec<u16>>(), "each once, down to the last that has room");
    }

    #[test]
    fn the_pick_is_the_one_that_the_explanation_implies() {
        let mut five = servers(5, 3);
        let mut peak = peak_ewma(&five);
        let mut out = Vec::new();
        for k in 0..2000 {
            let ask = Ask { now: Instant::START + ms(k), ..ask(k) };
            out.clear();
            peak.explain(&five, &ask, &mut out);
            let least = out.iter().map(|c| c.key).fold(f64::INFINITY, f64::min);
            let want = out.iter().find(|c| c.key == least).map(|c| c.server);
            assert_eq!(peak.pick(&five, &ask), want, "ask {k}: {out:?}");
            if let Some(server) = want {
                five.sent(server, ClassId(0));
            }
            let server = ServerId((k % 5) as u16);
            if five.get(server).in_flight > 0 {
                five.left(server, ClassId(0), Left::Answered);
                left(&mut peak, &five, k, server.0, Left::Answered, ms(1 + k * k % 37));
            }
        }
    }
}
