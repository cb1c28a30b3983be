//! Least connections: the server with the fewest jobs in flight.
//!
//! Ties go round: the search begins behind the server picked last, so that idle servers share a trickle of
//! requests evenly instead of all going to the first one.

use super::{Pick, Servers};
use crate::id::ServerId;
use crate::unit::Draw;

/// Remembers where the last search ended.
#[derive(Clone, Debug, Default)]
pub struct LeastConnections {
    /// Where the next begins; the number of servers stands for the first.
    next: usize,
}

impl LeastConnections {
    /// Begins the search at the first server.
    #[must_use]
    pub const fn new() -> Self {
        Self { next: 0 }
    }
}

impl Pick for LeastConnections {
    #[inline]
    fn pick(&mut self, servers: &Servers, except: Option<ServerId>, _draw: Draw) -> Option<ServerId> {
        let skip = except.map_or(usize::MAX, |server| usize::from(server.0));
        let (before, from) = servers.split_at(self.next);
        let (mut best, mut fewest) = (usize::MAX, u32::MAX);
        for (first, part) in [(servers.len() - from.len(), from), (0, before)] {
            for (at, server) in part.iter().enumerate() {
                if server.in_flight < fewest && server.has_room() && first + at != skip {
                    (best, fewest) = (first + at, server.in_flight);
                    if fewest == 0 {
                        break;
                    }
                }
            }
            if fewest == 0 {
                break;
            }
        }
        if best == usize::MAX {
            return None;
        }
        self.next = best + 1;
        Some(ServerId(best as u16))
    }
}

#[cfg(test)]
mod tests {
    use super::super::Left;
    use super::super::tests::{pick_times, servers};
    use super::*;
    use crate::id::ClassId;

    #[test]
    fn the_emptiest_server_is_next() {
        let mut three = servers(3, u32::MAX);
        let mut balancer = LeastConnections::new();
        assert_eq!(pick_times(&mut balancer, &mut three, 6), [0, 1, 2, 0, 1, 2]);
        three.left(ServerId(1), ClassId(0), Left::Answered);
        assert_eq!(pick_times(&mut balancer, &mut three, 1), [1]);
    }

    /// haproxy#1099 and its kind: sequential requests must not all hit the first of equal servers.
    #[test]
    fn idle_servers_share_sequential_requests_evenly() {
        let mut three = servers(3, u32::MAX);
        let mut balancer = LeastConnections::new();
        let mut counts = [0; 3];
        for _ in 0..300 {
            let server = balancer.pick(&three, None, Draw::from_bits(0)).unwrap();
            three.sent(server, ClassId(0));
            counts[usize::from(server.0)] += 1;
            three.left(server, ClassId(0), Left::Answered);
        }
        assert_eq!(counts, [100, 100, 100]);
    }
}
