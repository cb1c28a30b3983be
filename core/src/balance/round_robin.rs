//! Round robin: each server in turn, skipping those without room.
//!
//! `i <- (i + 1) mod n` (paper B, 2.3; the printed "mod i" is a misprint).

use super::{Ask, Candidate, Pick, Seat, Servers, search};
use crate::id::ServerId;
use alloc::vec::Vec;

/// Remembers whose turn is next.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    next: usize,
}

impl RoundRobin {
    /// Begins with the server of its seat.
    #[must_use]
    pub fn new(servers: &Servers, seat: Seat) -> Self {
        Self { next: seat.first(servers.len()) }
    }
}

impl Pick for RoundRobin {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        let at = search::next_allowed(servers, ask, self.next)?;
        self.next = if at + 1 < servers.len() { at + 1 } else { 0 };
        Some(search::id(at))
    }

    /// The key is how many places a server is behind the one whose turn it is.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        let n = servers.len();
        let next = if self.next < n { self.next } else { 0 };
        for server in (0..n).map(search::id).filter(|&server| ask.allows(servers, server)) {
            let key = ((usize::from(server.0) + n - next) % n) as f64;
            out.push(Candidate { server, key, ..Candidate::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{pick_times, servers};
    use super::*;

    fn round_robin() -> RoundRobin {
        RoundRobin::new(&servers(3, 1), Seat(0))
    }

    #[test]
    fn each_server_gets_its_turn() {
        let picks = pick_times(&mut round_robin(), &mut servers(3, u32::MAX), 7);
        assert_eq!(picks, [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn a_server_that_is_down_loses_its_turn_and_gets_it_back() {
        let mut three = servers(3, u32::MAX);
        let mut balancer = round_robin();
        three.set_up(ServerId(1), false);
        assert_eq!(pick_times(&mut balancer, &mut three, 4), [0, 2, 0, 2]);
        three.set_up(ServerId(1), true);
        assert_eq!(pick_times(&mut balancer, &mut three, 3), [0, 1, 2]);
    }

    #[test]
    fn gateways_at_other_seats_begin_with_other_servers() {
        for seat in 0..5 {
            let mut five = servers(5, u32::MAX);
            let mut balancer = RoundRobin::new(&five, Seat(seat));
            assert_eq!(pick_times(&mut balancer, &mut five, 1), [seat as u16]);
        }
    }

    #[test]
    fn a_full_house_takes_nobody() {
        let mut two = servers(2, 1);
        assert_eq!(pick_times(&mut round_robin(), &mut two, 5), [0, 1]);
        assert!(!two.any_room());
    }
}
