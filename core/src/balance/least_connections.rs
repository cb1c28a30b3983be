//! Least connections: the server with the fewest jobs in flight.
//!
//! Ties go round: the search begins behind the server picked last, so that idle servers share a trickle of
//! requests evenly instead of all going to the first one.

use super::{Ask, Pick, Seat, Servers, search};
use crate::id::ServerId;

/// Remembers where the last search ended.
#[derive(Clone, Debug, Default)]
pub struct LeastConnections {
    /// Where the next begins; the number of servers stands for the first.
    next: usize,
}

impl LeastConnections {
    /// Begins the search at the server of its seat.
    #[must_use]
    pub fn new(servers: &Servers, seat: Seat) -> Self {
        Self { next: seat.first(servers.len()) }
    }

    /// The pick where nobody is excepted.
    #[inline]
    pub(super) fn emptiest(&mut self, servers: &Servers) -> Option<ServerId> {
        let open = servers.open();
        let at = if open.len() <= search::FEW {
            servers.next_idle(self.next).or_else(|| search::fewest_of_few(open, self.next))
        } else {
            self.emptiest_of_many(open)
        }?;
        self.next = at + 1;
        Some(search::id(at))
    }

    // Out of the way of picks among few servers.
    #[inline(never)]
    fn emptiest_of_many(&self, open: &[u32]) -> Option<usize> {
        search::fewest(open, search::round(open.len(), self.next, None))
    }
}

impl Pick for LeastConnections {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        if ask.except.is_none() {
            return self.emptiest(servers);
        }
        let open = servers.open();
        let at = search::fewest(open, search::round(open.len(), self.next, ask.except))?;
        self.next = at + 1;
        Some(search::id(at))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Left;
    use super::super::tests::{ask, pick_times, servers};
    use super::*;
    use crate::id::ClassId;

    #[test]
    fn the_emptiest_server_is_next() {
        let mut three = servers(3, u32::MAX);
        let mut balancer = LeastConnections::new(&three, Seat(0));
        assert_eq!(pick_times(&mut balancer, &mut three, 6), [0, 1, 2, 0, 1, 2]);
        three.left(ServerId(1), ClassId(0), Left::Answered);
        assert_eq!(pick_times(&mut balancer, &mut three, 1), [1]);
    }

    /// haproxy#1099 and its kind: sequential requests must not all hit the first of equal servers.
    #[test]
    fn idle_servers_share_sequential_requests_evenly() {
        let mut three = servers(3, u32::MAX);
        let mut balancer = LeastConnections::new(&three, Seat(0));
        let mut counts = [0; 3];
        for _ in 0..300 {
            let server = balancer.pick(&three, &ask(0)).unwrap();
            three.sent(server, ClassId(0));
            counts[usize::from(server.0)] += 1;
            three.left(server, ClassId(0), Left::Answered);
        }
        assert_eq!(counts, [100, 100, 100]);
    }
}
