//! Join the shortest queue: the server with the fewest jobs there, ties by chance.
//!
//! The policy of queueing theory (Winston 1977; paper B, 2.3 has it as least connections), which assumes that a
//! tie goes to each of the tied alike and that no server remembers the last one. Where requests come one by one and that does
//! not matter, [`LeastConnections`](super::LeastConnections) is the same with ties that go round.

use super::{Ask, Pick, Servers, Setup, search};
use crate::id::ServerId;

/// Remembers nothing.
#[derive(Clone, Debug)]
pub struct JoinShortestQueue;

impl JoinShortestQueue {
    /// The one there is.
    #[must_use]
    pub const fn new(_setup: &Setup<'_>, _servers: &Servers) -> Self {
        Self
    }
}

impl Pick for JoinShortestQueue {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        let open = servers.open();
        let places = || search::round(open.len(), 0, ask.except);
        let fewest = open[search::fewest(open, places())?];
        let is_tied = |jobs| jobs == fewest;
        let tied = search::count(open, places(), is_tied);
        let mut place = [(ask.draw(0) * tied as f64) as usize];
        search::ranks_to_places::<{ search::BLOCK }>(open, places(), is_tied, &mut place);
        Some(search::id(place[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, made, pick_times, servers, wire};
    use super::super::{Balancer, Left, Seat};
    use super::*;
    use crate::id::ClassId;
    use alloc::vec;

    fn balancer(servers: &Servers) -> Balancer {
        made(&wire(r#""join_shortest_queue""#), servers, Seat(0))
    }

    #[test]
    fn the_emptiest_server_is_next() {
        let mut five = servers(5, u32::MAX);
        let mut balancer = balancer(&five);
        let mut picks = pick_times(&mut balancer, &mut five, 5);
        picks.sort_unstable();
        assert_eq!(picks, [0, 1, 2, 3, 4], "everybody gets one before anybody gets two");
        five.left(ServerId(3), ClassId(0), Left::Answered);
        assert_eq!(pick_times(&mut balancer, &mut five, 1), [3]);
    }

    #[test]
    fn a_tie_goes_to_each_alike() {
        let mut five = servers(5, u32::MAX);
        for busy in [1, 3] {
            five.sent(ServerId(busy), ClassId(0));
        }
        let mut balancer = balancer(&five);
        let mut counts = vec![0; 5];
        for n in 0..30_000 {
            counts[usize::from(balancer.pick(&five, &ask(n)).unwrap().0)] += 1;
        }
        for (server, count) in counts.into_iter().enumerate() {
            // Five standard deviations of a binomial count are 408.
            let want = if server % 2 == 0 { 9_600..10_400 } else { 0..1 };
            assert!(want.contains(&count), "server {server} got {count} of 30,000, expected {want:?}");
        }
    }
}
