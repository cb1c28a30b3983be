//! Consistent hashing: by who asks or what is asked for, and few keys move when a server comes or goes.
//!
//! Two tables. The ring (Karger et al. 1997, with the many points a server of ketama): each server has points on
//! a circle, in proportion to its weight, and a key belongs to the next point. When one of n servers leaves, its keys alone move. Maglev
//! (Eisenbud et al. 2016, 3.4): servers take turns to claim the next free place of their own permutation of
//! a table, each as many as its weight says; shares are even to about 1 %, and a few keys of others move.
//!
//! The table is made when servers are registered, leave or get another weight. A server that is down or barred keeps its part:
//! a key whose server may not be picked walks on to the next entry, and comes back with its server. In the ring and in
//! the table alike the next entry is anybody's, so the keys of one server spread over all others. The walk is bounded; if it
//! finds nobody, the key goes to the allowed server with the largest hash of both (rendezvous hashing).

use super::{Ask, Candidate, Pick, Servers, Setup, bar, search};
use crate::id::ServerId;
use crate::scenario::v1::{BalancerV1, HashTableV1};
use crate::unit::mix;
use alloc::vec;
use alloc::vec::Vec;

/// Points of a server of weight 1 on the ring, ketama's number: shares vary by about 1 / sqrt(160) = 8 %.
const POINTS: f64 = 160.0;
/// Most points in all, reached by 819 servers of weight 1; they take a few milliseconds to sort. Beyond, all have half as
/// many, or a quarter, and so on.
const MOST_POINTS: f64 = 131_072.0;
/// Sizes of the Maglev table, primes: the first that has 100 places a server, so that shares differ by 1 % at most, as the
/// paper advises. The paper's own 65,537 takes a millisecond to fill, which is a lot for a handful of servers on a page.
const SIZES: [usize; 4] = [1_021, 4_093, 16_381, 65_521];
/// Entries a key walks past before it is settled by rendezvous hashing.
const WALK: usize = 64;

/// Remembers who has which part of all hashes.
#[derive(Clone, Debug)]
pub struct ConsistentHash {
    /// What each server counts; 0 for one that is gone.
    weights: Vec<f64>,
    table: Table,
}

/// Whose which hash is.
#[derive(Clone, Debug)]
enum Table {
    /// Points in the order of their hashes: 48 bits of hash, 16 bits of server.
    Ring(Vec<u64>),
    /// Places of equal size.
    Maglev(Vec<u16>),
}

impl ConsistentHash {
    /// The table of these servers. The seat does not matter: every gateway sends a key to the same server.
    #[must_use]
    pub fn new(setup: &Setup<'_>, servers: &Servers) -> Self {
        let weights: Vec<f64> = weights(servers).collect();
        let is_ring = matches!(setup.wire, BalancerV1::ConsistentHash { table: HashTableV1::Ring, .. });
        let table = if is_ring { Table::Ring(ring(&weights)) } else { Table::Maglev(maglev(&weights)) };
        Self { weights, table }
    }

    /// The server the key leads to, and how many entries are passed before.
    #[inline]
    fn find(&self, servers: &Servers, ask: &Ask) -> Option<(usize, ServerId)> {
        let hash = mix(u64::from(ask.key));
        match &self.table {
            Table::Ring(points) => {
                let at = points.partition_point(|point| point >> 16 < hash >> 16);
                walk(points, at, |point| ServerId(*point as u16), servers, ask)
            }
            Table::Maglev(places) => {
                let at = ((hash >> 32) * places.len() as u64) >> 32;
                walk(places, at as usize, |place| ServerId(*place), servers, ask)
            }
        }
    }
}

/// What each server counts, within bounds that keep the number of points one.
fn weights(servers: &Servers) -> impl Iterator<Item = f64> {
    servers.iter().map(|server| {
        let counts = server.bars & bar::GONE == 0 && server.weight > 0.0;
        if counts { server.weight.clamp(1e-9, 1e9) } else { 0.0 }
    })
}

/// The first server of the entries from `at` on that the ask allows.
#[inline]
fn walk<T>(
    entries: &[T],
    at: usize,
    server: impl Fn(&T) -> ServerId,
    servers: &Servers,
    ask: &Ask,
) -> Option<(usize, ServerId)> {
    let (before, from) = entries.split_at(at.min(entries.len()));
    let allowed = |at: &ServerId| usize::from(at.0) < servers.len() && ask.allows(servers, *at);
    let mut way = from.iter().chain(before).take(WALK).map(server).enumerate();
    way.find(|(_, server)| allowed(server))
        .or_else(|| search::by_hash(servers, ask).map(|server| (WALK, server)))
}

/// Hash number `n` of a server.
fn server_hash(server: usize, n: u64) -> u64 {
    mix(mix(server as u64 + 1) ^ n)
}

/// The points of these servers. Which points a server has depends on its number and its weight alone, so those of the others
/// stay when one leaves.
fn ring(weights: &[f64]) -> Vec<u64> {
    let per_weight = points_per_weight(weights);
    let of_one = |(server, &weight): (usize, &f64)| {
        let point = move |n| server_hash(server, n) & !0xFFFF | server as u64;
        (0..points(weight, per_weight) as u64).map(point)
    };
    let mut ring: Vec<u64> = weights.iter().enumerate().flat_map(of_one).collect();
    ring.sort_unstable();
    ring
}

/// Points of a server: a whole number, at least 1 if it has any weight.
fn points(weight: f64, per_weight: f64) -> f64 {
    if weight > 0.0 { libm::floor(weight * per_weight).max(1.0) } else { 0.0 }
}

/// Points of weight 1: in steps of a factor of 2, so that they seldom change with the servers.
fn points_per_weight(weights: &[f64]) -> f64 {
    let largest = weights.iter().copied().fold(0.0, f64::max);
    let mut per_weight = POINTS;
    while largest > 0.0 && largest * per_weight < POINTS {
        per_weight *= 2.0;
    }
    while weights.iter().map(|&weight| points(weight, per_weight)).sum::<f64>() > MOST_POINTS {
        per_weight /= 2.0;
    }
    per_weight
}

/// The table of these servers, empty if nobody counts.
fn maglev(weights: &[f64]) -> Vec<u16> {
    let wanted = 100 * weights.iter().filter(|weight| **weight > 0.0).count();
    let size = SIZES.into_iter().find(|&size| size >= wanted).unwrap_or(SIZES[SIZES.len() - 1]);
    let mut left = places(weights, size);
    let mut walks: Vec<_> = (0..weights.len()).map(|server| permutation(server, size)).collect();
    let mut active: Vec<usize> = (0..weights.len()).filter(|&server| left[server] > 0).collect();
    let mut table = vec![None; size];
    while !active.is_empty() {
        for &server in &active {
            // A permutation passes every place, and as many are free as are left to claim.
            if let Some(free) = walks[server].find(|&place| table[place].is_none()) {
                table[free] = Some(server as u16);
            }
            left[server] -= 1;
        }
        active.retain(|&server| left[server] > 0);
    }
    table.into_iter().flatten().collect()
}

/// How many places each server gets: in proportion to the weights, and all of them in all.
fn places(weights: &[f64], size: usize) -> Vec<usize> {
    let total: f64 = weights.iter().sum();
    let mut reached = 0.0;
    let mut given = 0;
    let upto = |weight: &f64| {
        reached += weight;
        let end = if total > 0.0 { libm::round(reached / total * size as f64) as usize } else { 0 };
        let mine = end - given;
        given = end;
        mine
    };
    weights.iter().map(upto).collect()
}

/// The order in which a server claims places of a table of prime size: from an offset by steps of 1 or more.
fn permutation(server: usize, size: usize) -> impl Iterator<Item = usize> {
    let first = (server_hash(server, 0) % size as u64) as usize;
    let step = (server_hash(server, 1) % (size as u64 - 1)) as usize + 1;
    let next = move |at: &usize| Some(if *at + step < size { *at + step } else { *at + step - size });
    core::iter::successors(Some(first), next).take(size)
}

impl Pick for ConsistentHash {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        self.find(servers, ask).map(|(_, server)| server)
    }

    fn changed(&mut self, servers: &Servers, _server: ServerId, _anew: bool) {
        if !weights(servers).eq(self.weights.iter().copied()) {
            self.weights = weights(servers).collect();
            match &mut self.table {
                Table::Ring(points) => *points = ring(&self.weights),
                Table::Maglev(places) => *places = maglev(&self.weights),
            }
        }
    }

    /// The server the key leads to; the candidate's key is how many entries are passed before one whose server may be
    /// picked, 64 if the walk ended before.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        let one = |(passed, server)| Candidate { server, key: passed as f64, ..Candidate::default() };
        out.extend(self.find(servers, ask).map(one));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, made, servers, weighted, wire};
    use super::super::{Balancer, Seat};
    use super::*;

    const TABLES: [&str; 2] =
        [r#""consistent_hash","table":"ring""#, r#""consistent_hash","table":"maglev""#];
    const KEYS: u64 = 40_000;

    fn balancer(policy: &str, servers: &Servers) -> Balancer {
        made(&wire(policy), servers, Seat(0))
    }

    fn picks(balancer: &mut Balancer, servers: &Servers) -> Vec<usize> {
        (0..KEYS)
            .filter_map(|n| balancer.pick(servers, &ask(n)))
            .map(|server| usize::from(server.0))
            .collect()
    }

    /// The largest distance of a share of keys from its server's share of the weights, as a part of that.
    fn unevenness(picks: &[usize], weights: &[f64]) -> f64 {
        let total: f64 = weights.iter().sum();
        let off = |(at, weight): (usize, &f64)| {
            let count = picks.iter().filter(|&&pick| pick == at).count() as f64;
            (count / (weight / total * KEYS as f64) - 1.0).abs()
        };
        weights.iter().enumerate().map(off).fold(0.0, f64::max)
    }

    #[test]
    fn shares_of_keys_are_those_of_the_weights() {
        for weights in [&[1.0; 10][..], &[4.0, 2.0, 2.0, 1.0, 1.0], &[0.1, 0.1, 0.2], &[100.0, 60.0, 60.0]] {
            // Drawing the keys alone gives 4,000 give or take 1.5 %; the ring adds 8 %, a table 1 %.
            for (policy, most) in TABLES.into_iter().zip([0.25, 0.06]) {
                let some = weighted(weights);
                let off = unevenness(&picks(&mut balancer(policy, &some), &some), weights);
                assert!(off < most, "{policy}, {weights:?}: a share is off by {:.1} %", 100.0 * off);
            }
        }
    }

    #[test]
    fn when_one_of_ten_leaves_few_keys_of_the_others_move_and_its_own_spread() {
        for (policy, most) in TABLES.into_iter().zip([0.0, 0.05]) {
            let mut ten = servers(10, u32::MAX);
            let mut balancer = balancer(policy, &ten);
            let before = picks(&mut balancer, &ten);
            ten.set_bar(ServerId(4), bar::GONE, true);
            balancer.changed(&ten, ServerId(4), false);
            let after = picks(&mut balancer, &ten);
            let kept = before.iter().zip(&after).filter(|(was, is)| **was != 4 && was != is).count();
            let moved = kept as f64 / KEYS as f64;
            assert!(moved <= most, "{policy}: {:.2} % of the keys moved without need", 100.0 * moved);
            let heirs = |at| before.iter().zip(&after).filter(|(was, is)| **was == 4 && **is == at).count();
            for at in (0..10).filter(|&at| at != 4) {
                assert!(heirs(at) > 150, "{policy}: {} of 4,000 keys went to {at}", heirs(at));
            }
            assert_eq!(heirs(4), 0, "{policy}: nothing stays with one that left");
        }
    }

    #[test]
    fn a_server_that_is_down_keeps_its_part_and_nobody_else_moves() {
        for policy in TABLES {
            let mut ten = servers(10, u32::MAX);
            let mut balancer = balancer(policy, &ten);
            let before = picks(&mut balancer, &ten);
            ten.set_up(ServerId(4), false);
            balancer.changed(&ten, ServerId(4), false);
            let without = picks(&mut balancer, &ten);
            let stayed = before.iter().zip(&without).all(|(was, is)| *was == 4 || was == is);
            assert!(stayed, "{policy}: a key moved whose server is up");
            let spread =
                (0..10).all(|at| at == 4 || without.iter().filter(|&&is| is == at).count() > 4_000 / 9);
            assert!(spread, "{policy}: somebody got none of its keys");
            ten.set_up(ServerId(4), true);
            balancer.changed(&ten, ServerId(4), false);
            assert_eq!(picks(&mut balancer, &ten), before, "{policy}: it is back");
        }
    }

    #[test]
    fn a_key_finds_the_only_server_that_is_up_among_many() {
        for policy in TABLES {
            let mut many = servers(500, u32::MAX);
            let mut balancer = balancer(policy, &many);
            (0..500).filter(|at| *at != 321).for_each(|at| many.set_up(ServerId(at), false));
            for n in 0..500 {
                assert_eq!(balancer.pick(&many, &ask(n)), Some(ServerId(321)), "{policy}, key {n}");
            }
        }
    }

    #[test]
    fn the_tables_are_bounded_and_full() {
        let heavy = ring(&[1e6; 40]);
        assert!((65_536..=131_072).contains(&heavy.len()), "{} points", heavy.len());
        assert_eq!(ring(&[0.0, 1.0, 0.004]).len(), 161, "160 points, none for weight 0, and at least one");
        assert_eq!(maglev(&vec![1.0; 2_000]).len(), 65_521);
        for weights in [&[1.0; 10][..], &[1e-9, 1e9, 3.0], &[1.0]] {
            assert_eq!(maglev(weights).len(), 1_021, "{weights:?}");
        }
        assert!((ring(&[0.0]).is_empty(), maglev(&[0.0; 3]).is_empty()) == (true, true));
    }
}
