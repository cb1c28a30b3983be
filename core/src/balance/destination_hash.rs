//! Destination hash: by what is asked for, through 256 buckets, so that each server caches its own part.
//!
//! Source: paper B, 2.3, after IPVS's `dh`: as [`SourceHash`](super::SourceHash), but weights are ignored: each server gets one
//! bucket in turn. A server of weight 0 keeps its buckets and gets nothing new: its keys go on to the next.

use super::buckets::Buckets;
use super::{Ask, Candidate, Pick, Servers, Setup};
use crate::id::ServerId;
use alloc::vec::Vec;

/// Whether weights count.
const WEIGHT_COUNTS: bool = false;

/// Remembers whose buckets are whose.
#[derive(Clone, Debug)]
pub struct DestinationHash(Buckets);

impl DestinationHash {
    /// Hands the buckets out. The seat does not matter: every gateway sends a key to the same server.
    #[must_use]
    pub fn new(_setup: &Setup<'_>, servers: &Servers) -> Self {
        Self(Buckets::new(servers, WEIGHT_COUNTS))
    }
}

impl Pick for DestinationHash {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        self.0.pick(servers, ask)
    }

    fn changed(&mut self, servers: &Servers, _server: ServerId, _anew: bool) {
        self.0.changed(servers, WEIGHT_COUNTS);
    }

    /// The server the key leads to; the candidate's key is how many buckets are passed before one whose server may be
    /// picked, 256 if there is none.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        self.0.explain(servers, ask, out);
    }
}

#[cfg(test)]
mod tests {
    use super::super::Seat;
    use super::super::tests::{ask, made, weighted, wire};
    use super::*;

    #[test]
    fn a_thing_is_always_found_at_the_same_server_and_weights_do_not_count() {
        let mut three = weighted(&[9.0, 1.0, 1.0]);
        let mut balancer = made(&wire(r#""destination_hash""#), &three, Seat(0));
        let picks = |balancer: &mut super::super::Balancer, servers: &Servers| -> Vec<_> {
            (0..30_000).filter_map(|n| balancer.pick(servers, &ask(n))).collect()
        };
        let before = picks(&mut balancer, &three);
        for at in 0..3 {
            let count = before.iter().filter(|pick| pick.0 == at).count();
            // 86 or 85 buckets of 256 each; five standard deviations are 408.
            assert!(count.abs_diff(10_000) < 500, "server {at} has {count} of 30,000 things");
        }
        three.set_weight(ServerId(0), 1.0);
        balancer.changed(&three, ServerId(0), false);
        assert_eq!(picks(&mut balancer, &three), before, "another weight moves nothing");
    }
}
