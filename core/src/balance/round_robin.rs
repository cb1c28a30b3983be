//! Round robin: each server in turn, skipping those without room.
//!
//! `i <- (i + 1) mod n` (paper B, 2.3; the printed "mod i" is a misprint).

use super::{Pick, Servers, ring};
use crate::id::ServerId;
use crate::unit::Draw;

/// Remembers whose turn is next.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    next: usize,
}

impl RoundRobin {
    /// Begins with the first server.
    #[must_use]
    pub const fn new() -> Self {
        Self { next: 0 }
    }
}

impl Pick for RoundRobin {
    #[inline]
    fn pick(&mut self, servers: &Servers, except: Option<ServerId>, _draw: Draw) -> Option<ServerId> {
        let (id, _) = ring(self.next, servers).find(|&(id, s)| s.has_room() && Some(id) != except)?;
        self.next = (usize::from(id.0) + 1) % servers.len();
        Some(id)
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{pick_times, servers};
    use super::*;

    #[test]
    fn each_server_gets_its_turn() {
        let picks = pick_times(&mut RoundRobin::new(), &mut servers(3, u32::MAX), 7);
        assert_eq!(picks, [0, 1, 2, 0, 1, 2, 0]);
    }

    #[test]
    fn a_server_that_is_down_loses_its_turn_and_gets_it_back() {
        let mut three = servers(3, u32::MAX);
        let mut balancer = RoundRobin::new();
        three.set_up(ServerId(1), false);
        assert_eq!(pick_times(&mut balancer, &mut three, 4), [0, 2, 0, 2]);
        three.set_up(ServerId(1), true);
        assert_eq!(pick_times(&mut balancer, &mut three, 3), [0, 1, 2]);
    }

    #[test]
    fn a_full_house_takes_nobody() {
        let mut two = servers(2, 1);
        assert_eq!(pick_times(&mut RoundRobin::new(), &mut two, 5), [0, 1]);
        assert!(!two.any_room());
    }
}
