//! Weighted least connections: the server with the fewest jobs in flight for its weight.
//!
//! Source: paper B, 2.3, after IPVS's `wlc`: the smallest overhead over weight, where the overhead is the number of active
//! connections (IPVS also counts the inactive ones a little; a gateway has none) and weight 0 gets nothing new. IPVS leaves
//! a tie to the first server; here ties go round, idle servers among them, as in
//! [`LeastConnections`](super::LeastConnections).

use super::{Ask, Candidate, Pick, Servers, Setup, search};
use crate::id::ServerId;
use alloc::vec::Vec;

/// Remembers where the last search ended.
#[derive(Clone, Debug)]
pub struct WeightedLeastConnections {
    /// Where the next begins; the number of servers stands for the first.
    next: usize,
}

impl WeightedLeastConnections {
    /// Begins the search at the server of its seat.
    #[must_use]
    pub fn new(setup: &Setup<'_>, servers: &Servers) -> Self {
        Self { next: setup.seat.first(servers.len()) }
    }
}

impl Pick for WeightedLeastConnections {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        let keys = servers.per_weight();
        let places = search::round(keys.len(), self.next, ask.except);
        let least = |block| search::least(&keys[block]);
        let at = search::first_least(places, [0.0, f64::INFINITY], least, |at| keys[at])?;
        self.next = at + 1;
        Some(search::id(at))
    }

    /// The key is jobs in flight over weight.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        for server in (0..servers.len()).map(search::id).filter(|&server| ask.allows(servers, server)) {
            let key = servers.per_weight()[usize::from(server.0)];
            out.push(Candidate { server, key, ..Candidate::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{answer, made, pick_times, servers, weighted, wire};
    use super::super::{Balancer, Left, Seat};
    use super::*;
    use crate::id::ClassId;
    use crate::time::Duration;

    fn balancer(servers: &Servers, seat: u64) -> Balancer {
        made(&wire(r#""weighted_least_connections""#), servers, Seat(seat))
    }

    #[test]
    fn jobs_in_flight_stand_as_the_weights_do() {
        let mut three = weighted(&[4.0, 2.0, 0.5]);
        let mut balancer = balancer(&three, 0);
        let picks = pick_times(&mut balancer, &mut three, 65);
        let counts = [0, 1, 2].map(|server| picks.iter().filter(|&&pick| pick == server).count());
        assert_eq!(counts, [40, 20, 5], "65 jobs that stay, among weights 4, 2 and 0.5");
    }

    #[test]
    fn a_server_that_answers_is_the_next_one() {
        let mut two = weighted(&[3.0, 1.0]);
        let mut balancer = balancer(&two, 0);
        let _ = pick_times(&mut balancer, &mut two, 8);
        answer(&mut balancer, &mut two, 1, Duration::ZERO);
        assert_eq!(pick_times(&mut balancer, &mut two, 1), [1], "1 of 1 against 6 of 3");
    }

    #[test]
    fn idle_servers_share_sequential_requests_evenly_whoever_is_first() {
        let mut three = servers(3, u32::MAX);
        let mut balancer = balancer(&three, 1);
        let mut picks = Vec::new();
        for _ in 0..6 {
            picks.extend(pick_times(&mut balancer, &mut three, 1));
            three.left(ServerId(picks[picks.len() - 1]), ClassId(0), Left::Answered);
        }
        assert_eq!(picks, [1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn what_it_considers_says_whom_it_picks() {
        let mut three = weighted(&[4.0, 0.0, 1.0]);
        let mut balancer = balancer(&three, 2);
        let _ = pick_times(&mut balancer, &mut three, 7);
        let mut out = Vec::new();
        balancer.explain(&three, &super::super::tests::ask(0), &mut out);
        let got: Vec<(u16, f64)> = out.iter().map(|c| (c.server.0, c.key)).collect();
        assert_eq!(got, [(0, 1.25), (2, 2.0)], "weight 0 is not considered");
    }
}
