//! The 256 buckets of IPVS's hashing schedulers, and the way through them.

use super::{Ask, Candidate, Servers, bar, search};
use crate::id::ServerId;
use alloc::vec::Vec;

/// How many buckets there are (IPVS: `1 << 8`).
const BUCKETS: usize = 256;
/// Knuth's multiplicative hash: the prime next to 2^32 over the golden ratio.
const GOLDEN: u32 = 2_654_435_761;
/// In a bucket: nobody.
const NOBODY: u16 = u16::MAX;

/// Buckets that servers were handed in turn, so many in a row each.
#[derive(Clone, Debug)]
pub(super) struct Buckets {
    /// How many in a row each server gets.
    shares: Vec<u32>,
    buckets: Vec<u16>,
    /// How many buckets from each on are the same server's, so that the rest of a row need not be tried.
    rows: Vec<u16>,
}

/// How many buckets in a row each server gets: none if it is not registered, or has weight 0 and that counts.
fn shares(servers: &Servers, weight_counts: bool) -> impl Iterator<Item = u32> {
    servers.iter().map(move |server| {
        let whole = (server.weight + 0.5) as u32;
        match (server.bars & bar::GONE == 0, weight_counts) {
            (false, _) => 0,
            (true, false) => 1,
            (true, true) if server.weight > 0.0 => whole.max(1),
            (true, true) => 0,
        }
    })
}

/// The bucket of a key: `key * 2654435761 mod 2^32`, of which the upper 8 bits count.
///
/// Paper B, 2.3, prints `mod 256`, which takes the lower 8 bits. Bits of a product depend only on bits of the factors
/// that are as low or lower, so those would leave three quarters of the key unused, and clients whose addresses end alike would
/// share a bucket. The upper bits depend on all.
fn bucket_of(key: u32) -> usize {
    (key.wrapping_mul(GOLDEN) >> 24) as usize
}

impl Buckets {
    /// Buckets handed out to these servers, as many in a row as their weight says if that counts, else one.
    pub(super) fn new(servers: &Servers, weight_counts: bool) -> Self {
        let shares: Vec<u32> = shares(servers, weight_counts).collect();
        let row = |at: usize| core::iter::repeat_n(at as u16, shares[at].min(BUCKETS as u32) as usize);
        let mut buckets: Vec<u16> = (0..shares.len()).flat_map(row).take(BUCKETS).collect();
        if buckets.is_empty() {
            buckets.push(NOBODY);
        }
        let buckets: Vec<u16> = buckets.iter().copied().cycle().take(BUCKETS).collect();
        let row_from = |at: usize| (1..BUCKETS).find(|way| buckets[(at + way) % BUCKETS] != buckets[at]);
        let rows = (0..BUCKETS).map(|at| row_from(at).unwrap_or(BUCKETS) as u16).collect();
        Self { shares, buckets, rows }
    }

    /// Hands the buckets out again, if it is not as it was. Buckets of a server that is down stay its own, so that its keys
    /// come back to it.
    pub(super) fn changed(&mut self, servers: &Servers, weight_counts: bool) {
        if !shares(servers, weight_counts).eq(self.shares.iter().copied()) {
            *self = Self::new(servers, weight_counts);
        }
    }

    /// The server of the key's bucket, or of the next bucket whose server may be picked, and how many that is further;
    /// where none of these may, any by its hash (there can be more servers than buckets).
    #[inline]
    fn find(&self, servers: &Servers, ask: &Ask) -> Option<(usize, ServerId)> {
        let (first, mut passed) = (bucket_of(ask.key), 0);
        while passed < BUCKETS {
            let bucket = (first + passed) % BUCKETS;
            let server = ServerId(self.buckets[bucket]);
            if usize::from(server.0) < servers.len() && ask.allows(servers, server) {
                return Some((passed, server));
            }
            passed += usize::from(self.rows[bucket]);
        }
        search::by_hash(servers, ask).map(|server| (BUCKETS, server))
    }

    /// The server the key leads to.
    #[inline]
    pub(super) fn pick(&self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        self.find(servers, ask).map(|(_, server)| server)
    }

    /// The server the key leads to; the key of the candidate is how many buckets are passed, 256 if all.
    pub(super) fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        let one = |(passed, server)| Candidate { server, key: passed as f64, ..Candidate::default() };
        out.extend(self.find(servers, ask).map(one));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, servers, weighted};
    use super::*;

    /// A key of each bucket.
    fn keys() -> Vec<u32> {
        let key = |bucket| (0..).find(|&key| bucket_of(key) == bucket);
        (0..BUCKETS).filter_map(key).collect()
    }

    fn picks(buckets: &Buckets, servers: &Servers) -> Vec<u16> {
        let pick = |key| buckets.pick(servers, &Ask { key, ..ask(0) }).map(|server| server.0);
        keys().into_iter().filter_map(pick).collect()
    }

    #[test]
    fn the_bucket_is_the_top_of_the_product() {
        assert_eq!([0, 1, 2, 3].map(bucket_of), [0, 0x9E, 0x3C, 0xDA], "2654435761 is 0x9E3779B1");
        let mut counts = [0; BUCKETS];
        (0..256).for_each(|n: u32| counts[bucket_of(0x0A00_0000 | n << 8)] += 1);
        let most = counts.iter().max().copied();
        assert!(most <= Some(3), "256 clients whose addresses end alike: {most:?} in one bucket");
    }

    #[test]
    fn each_server_gets_as_many_in_a_row_as_it_weighs_and_then_again() {
        let four = weighted(&[2.0, 0.0, 0.3, 2.6]);
        let got = picks(&Buckets::new(&four, true), &four);
        assert_eq!(got[..8], [0, 0, 2, 3, 3, 3, 0, 0], "weights 2, 0, 0.3 and 2.6 count 2, nothing, 1 and 3");
        assert_eq!(got[252..], [0, 0, 2, 3]);
        let got = picks(&Buckets::new(&four, false), &four);
        assert_eq!(
            got[..8],
            [0, 2, 2, 3, 0, 2, 2, 3],
            "without weights one each; nothing new goes to weight 0"
        );
    }

    #[test]
    fn keys_of_a_server_that_is_down_go_on_to_the_next_and_come_back() {
        let mut three = servers(3, u32::MAX);
        let mut buckets = Buckets::new(&three, true);
        let before = picks(&buckets, &three);
        three.set_up(ServerId(1), false);
        buckets.changed(&three, true);
        let without: Vec<u16> = before.iter().map(|&at| if at == 1 { 2 } else { at }).collect();
        assert_eq!(picks(&buckets, &three), without);
        three.set_up(ServerId(1), true);
        buckets.changed(&three, true);
        assert_eq!(picks(&buckets, &three), before);
    }

    #[test]
    fn buckets_are_handed_out_again_when_a_server_leaves_for_good() {
        let mut three = servers(3, u32::MAX);
        let mut buckets = Buckets::new(&three, false);
        three.set_bar(ServerId(1), bar::GONE, true);
        buckets.changed(&three, false);
        assert_eq!(picks(&buckets, &three)[..4], [0, 2, 0, 2]);
        three.set_bar(ServerId(0), bar::GONE, true);
        three.set_bar(ServerId(2), bar::GONE, true);
        buckets.changed(&three, false);
        assert!(picks(&buckets, &three).is_empty(), "nobody is left");
    }

    #[test]
    fn servers_beyond_the_last_bucket_are_found_when_the_others_are_down() {
        let mut many = servers(300, u32::MAX);
        let buckets = Buckets::new(&many, false);
        (0..256).for_each(|at| many.set_up(ServerId(at), false));
        let got = picks(&buckets, &many);
        assert!(got.iter().all(|&at| at >= 256), "{got:?}");
        let mut different = got.clone();
        different.sort_unstable();
        different.dedup();
        assert!((got.len(), different.len() > 30) == (256, true), "all keys, spread: {got:?}");
    }
}
