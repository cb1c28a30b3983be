//! Source hash: by who asks, through 256 buckets, so that a client comes to the same server each time.
//!
//! Source: paper B, 2.3, after IPVS's `sh`: each server gets as many buckets in a row as its weight, rounded to a whole number of
//! at least 1, and then they begin again. Where the bucket's server may not be picked, the next bucket whose server may is used: the
//! fallback that newer kernels have as an option; older ones turn the client away.

use super::buckets::Buckets;
use super::{Ask, Candidate, Pick, Servers, Setup};
use crate::id::ServerId;
use alloc::vec::Vec;

/// Whether weights count.
const WEIGHT_COUNTS: bool = true;

/// Remembers whose buckets are whose.
#[derive(Clone, Debug)]
pub struct SourceHash(Buckets);

impl SourceHash {
    /// Hands the buckets out. The seat does not matter: every gateway sends a key to the same server.
    #[must_use]
    pub fn new(_setup: &Setup<'_>, servers: &Servers) -> Self {
        Self(Buckets::new(servers, WEIGHT_COUNTS))
    }
}

impl Pick for SourceHash {
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
    use super::super::tests::{ask, made, weighted, wire};
    use super::super::{Balancer, Seat};
    use super::*;

    fn shares(balancer: &mut Balancer, servers: &Servers) -> Vec<usize> {
        let picks: Vec<_> = (0..25_600).filter_map(|n| balancer.pick(servers, &ask(n))).collect();
        let share = |at| picks.iter().filter(|pick| usize::from(pick.0) == at).count();
        (0..servers.len()).map(share).collect()
    }

    #[test]
    fn clients_stay_and_are_shared_by_weight() {
        let mut two = weighted(&[3.0, 1.0]);
        let mut balancer = made(&wire(r#""source_hash""#), &two, Seat(0));
        let other_seat = &mut made(&wire(r#""source_hash""#), &two, Seat(1));
        let counts = shares(&mut balancer, &two);
        // Five standard deviations are 346.
        assert!(counts[0].abs_diff(19_200) < 350, "192 of 256 buckets, but {counts:?} of 25,600 clients");
        for n in 0..100 {
            let first = balancer.pick(&two, &ask(n));
            assert_eq!(balancer.pick(&two, &ask(n)), first, "client {n} comes again");
            assert_eq!(other_seat.pick(&two, &ask(n)), first, "client {n} comes through another gateway");
        }
        two.set_weight(ServerId(0), 1.0);
        balancer.changed(&two, ServerId(0), false);
        let counts = shares(&mut balancer, &two);
        assert!(counts[0].abs_diff(12_800) < 400, "half of them by equal weights, but {counts:?}");
    }
}
