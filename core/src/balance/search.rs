//! Searches that balancers share, over the flat lists of [`Servers`] and lists of the same layout.
//!
//! They go a block at a time: within a block there is no branch, so the compiler can use wide registers, and a
//! thousand servers are looked through in well under a microsecond. Linear searches, because room comes and goes with every job:
//! an ordered structure would have to be told each time, or else would find the full servers first, again and again.

use super::{Ask, SHUT, Servers};
use crate::id::ServerId;
use crate::unit::mix;
use core::ops::Range;

/// Servers that are looked at together where one is searched that is the least of all.
pub(super) const BLOCK: usize = 64;
/// The same where those that are open are searched: once a block has one, it is looked through one by one.
pub(super) const SMALL_BLOCK: usize = 16;
/// Servers that are looked at one by one rather than by the block.
pub(super) const FEW: usize = BLOCK;
/// Minima that are kept side by side.
const LANES: usize = 8;

/// Places in up to three pieces, searched in this order.
pub(super) type Places = [Range<usize>; 3];

/// The places from `start` on and round to it again, without the one that the ask excepts.
#[inline]
pub(super) fn round(n: usize, start: usize, except: Option<ServerId>) -> Places {
    let start = if start < n { start } else { 0 };
    let skip = except.map_or(n, |server| usize::from(server.0));
    if skip < start {
        [start..n, 0..skip, skip + 1..start]
    } else if skip < n {
        [start..skip, skip + 1..n, 0..start]
    } else {
        [start..n, 0..start, 0..0]
    }
}

#[inline]
fn blocks<const N: usize>(places: Places) -> impl Iterator<Item = Range<usize>> {
    places.into_iter().flat_map(|piece| {
        let end = piece.end;
        piece.step_by(N).map(move |at| at..end.min(at + N))
    })
}

/// The first place with the smallest key below `worst`. `least` is the smallest key of a block, `key` that of
/// a place; the search ends early at a key of `perfect`.
#[inline]
pub(super) fn first_least<K: Copy + PartialOrd>(
    places: Places,
    [perfect, worst]: [K; 2],
    least: impl Fn(Range<usize>) -> K,
    key: impl Fn(usize) -> K,
) -> Option<usize> {
    let (mut best, mut block) = (worst, 0..0);
    for here in blocks::<BLOCK>(places) {
        let smallest = least(here.clone());
        if smallest < best {
            (best, block) = (smallest, here);
            if best <= perfect {
                break;
            }
        }
    }
    block.into_iter().find(|&at| key(at) <= best)
}

/// The first place with the smallest number in a list of jobs in flight.
#[inline]
pub(super) fn fewest(open: &[u32], places: Places) -> Option<usize> {
    first_least(places, [0, SHUT], |block| fewest_of(&open[block]), |at| open[at])
}

/// The smallest number of a list of jobs in flight.
#[inline]
fn fewest_of(open: &[u32]) -> u32 {
    let (chunks, rest) = open.as_chunks::<SMALL_BLOCK>();
    let mut lanes = [SHUT; SMALL_BLOCK];
    for chunk in chunks {
        for (lane, &n) in lanes.iter_mut().zip(chunk) {
            *lane = n.min(*lane);
        }
    }
    lanes.iter().chain(rest).fold(SHUT, |least, &n| least.min(n))
}

/// The same from `start` on and round to it again, one by one, which is less to do for [`FEW`] servers.
#[inline]
pub(super) fn fewest_of_few(open: &[u32], start: usize) -> Option<usize> {
    let start = if start < open.len() { start } else { 0 };
    let (before, from) = open.split_at(start);
    let (mut best, mut fewest) = (open.len(), SHUT);
    for (first, piece) in [(start, from), (0, before)] {
        for (at, &n) in piece.iter().enumerate() {
            if n < fewest {
                (best, fewest) = (first + at, n);
            }
        }
    }
    (best < open.len()).then_some(best)
}

/// The smallest number of a list.
#[inline]
pub(super) fn least(list: &[f64]) -> f64 {
    let (chunks, rest) = list.as_chunks::<LANES>();
    let mut lanes = [f64::INFINITY; LANES];
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = if x < *lane { x } else { *lane };
        }
    }
    lanes.iter().chain(rest).fold(f64::INFINITY, |least, &x| if x < least { x } else { least })
}

/// The smallest number of a list among the places that are open.
#[inline]
pub(super) fn least_open(list: &[f64], open: &[u32]) -> f64 {
    let ((chunks, rest), (open_chunks, open_rest)) = (list.as_chunks::<LANES>(), open.as_chunks::<LANES>());
    let mut lanes = [f64::INFINITY; LANES];
    for (chunk, open) in chunks.iter().zip(open_chunks) {
        for ((lane, &x), &open) in lanes.iter_mut().zip(chunk).zip(open) {
            let x = if open == SHUT { f64::INFINITY } else { x };
            *lane = if x < *lane { x } else { *lane };
        }
    }
    let rest = rest.iter().zip(open_rest).filter(|(_, open)| **open != SHUT).map(|(x, _)| x);
    lanes.iter().chain(rest).fold(f64::INFINITY, |least, &x| if x < least { x } else { least })
}

/// The sum of a list over the places that are open.
#[inline]
pub(super) fn sum_open(list: &[f64], open: &[u32]) -> f64 {
    let ((chunks, rest), (open_chunks, open_rest)) = (list.as_chunks::<LANES>(), open.as_chunks::<LANES>());
    let mut lanes = [0.0; LANES];
    for (chunk, open) in chunks.iter().zip(open_chunks) {
        for ((lane, &x), &open) in lanes.iter_mut().zip(chunk).zip(open) {
            *lane += if open == SHUT { 0.0 } else { x };
        }
    }
    let rest = rest.iter().zip(open_rest).filter(|(_, open)| **open != SHUT).map(|(x, _)| x);
    lanes.iter().chain(rest).sum()
}

/// The first server from `start` on, and round to it again, that the ask allows.
#[inline]
pub(super) fn next_allowed(servers: &Servers, ask: &Ask, start: usize) -> Option<usize> {
    let open = servers.open();
    let mut block = blocks::<SMALL_BLOCK>(round(open.len(), start, ask.except))
        .find(|block| any_open(&open[block.clone()]))?;
    block.find(|&at| is_open(open[at]))
}

#[inline]
fn any_open(open: &[u32]) -> bool {
    open.iter().fold(false, |any, &jobs| any | is_open(jobs))
}

/// How many numbers of a list are as wanted.
#[inline]
pub(super) fn count(open: &[u32], places: Places, is_wanted: impl Fn(u32) -> bool) -> usize {
    places.into_iter().map(|piece| count_in(&open[piece], &is_wanted)).sum()
}

#[inline]
fn count_in(open: &[u32], is_wanted: impl Fn(u32) -> bool) -> usize {
    open.iter().fold(0, |n: u32, &x| n + u32::from(is_wanted(x))) as usize
}

/// Replaces ranks (ascending, from 0, each below the [`count`]) among the numbers that are as wanted by their places.
/// Goes by blocks of `N`: large ones for few ranks.
#[inline]
pub(super) fn ranks_to_places<const N: usize>(
    open: &[u32],
    places: Places,
    is_wanted: impl Fn(u32) -> bool,
    ranks: &mut [usize],
) {
    let (mut passed, mut ranks) = (0, ranks.iter_mut().peekable());
    for block in blocks::<N>(places) {
        let here = count_in(&open[block.clone()], &is_wanted);
        while let Some(rank) = ranks.next_if(|rank| **rank < passed + here) {
            let mut wanted = block.clone().filter(|&at| is_wanted(open[at]));
            *rank = wanted.nth(*rank - passed).unwrap_or(block.start);
        }
        if ranks.peek().is_none() {
            return;
        }
        passed += here;
    }
}

/// The place at this share of the sum of a list over the places that are open, a share of 0 to 1: each is found as
/// often as its number is large, for shares drawn evenly.
pub(super) fn by_share(list: &[f64], open: &[u32], places: Places, share: f64) -> Option<usize> {
    let sum = |block: Range<usize>| sum_open(&list[block.clone()], &open[block]);
    let mut left = share * blocks::<BLOCK>(places.clone()).map(sum).sum::<f64>();
    let mut goes_on = |part: f64| {
        let beyond = left >= part;
        left -= if beyond { part } else { 0.0 };
        beyond
    };
    // Whoever is last takes what rounding leaves over.
    let mut last = 0..0;
    for block in blocks::<BLOCK>(places) {
        let here = sum(block.clone());
        if here > 0.0 {
            last = block;
            if !goes_on(here) {
                break;
            }
        }
    }
    let mut found = None;
    for at in last.filter(|&at| open[at] != SHUT && list[at] > 0.0) {
        found = Some(at);
        if !goes_on(list[at]) {
            break;
        }
    }
    found
}

/// The allowed server whose hash together with the key is largest (rendezvous hashing, Thaler and Ravishankar 1998): the
/// same for the same key as long as it is there, and alike for all keys on average.
pub(super) fn by_hash(servers: &Servers, ask: &Ask) -> Option<ServerId> {
    let open = servers.open();
    let hash = |at: usize| (mix(u64::from(ask.key) << 32 | at as u64), at);
    let best_of = |first: usize, part: &[u32]| {
        let places = part.iter().enumerate().filter(|(_, jobs)| is_open(**jobs)).map(|(at, _)| first + at);
        places.filter(|&at| ask.except != Some(id(at))).map(hash).max()
    };
    let (blocks, rest) = open.as_chunks::<SMALL_BLOCK>();
    let mut best = best_of(open.len() - rest.len(), rest);
    for (number, block) in blocks.iter().enumerate() {
        // A block of fixed length, so that this is one comparison of wide registers.
        if block.iter().fold(0, |any, jobs| any | (jobs ^ SHUT)) != 0 {
            best = best.max(best_of(number * SMALL_BLOCK, block));
        }
    }
    best.map(|(_, at)| id(at))
}

/// Whether a number of a list of jobs in flight is of a server that may be picked.
#[inline]
pub(super) const fn is_open(jobs: u32) -> bool {
    jobs != SHUT
}

/// The server at a place.
#[inline]
pub(super) const fn id(at: usize) -> ServerId {
    ServerId(at as u16)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    #[test]
    fn a_round_passes_every_place_but_the_excepted_one_once() {
        for n in 0..6 {
            for start in 0..8 {
                for except in [None, Some(0), Some(2), Some(5), Some(9)] {
                    let got: Vec<usize> =
                        round(n, start, except.map(ServerId)).into_iter().flatten().collect();
                    let from = if start < n { start } else { 0 };
                    let all = (from..n).chain(0..from);
                    let want: Vec<usize> = all.filter(|at| except.map(usize::from) != Some(*at)).collect();
                    assert_eq!(got, want, "{n} places from {start} without {except:?}");
                }
            }
        }
    }

    /// Numbers with many that are equal, across the borders of blocks and lanes.
    fn numbers(n: usize, seed: u64) -> Vec<u32> {
        let number = |at| (mix(seed * 1_000 + at as u64) % 7) as u32;
        (0..n).map(number).map(|x| if x > 4 { SHUT } else { x + 1 }).collect()
    }

    #[test]
    fn searches_by_the_block_find_what_plain_ones_find() {
        for n in [0, 1, 7, 8, 63, 64, 65, 200] {
            for seed in 0..20 {
                let open = numbers(n, seed);
                let list: Vec<f64> = open.iter().map(|&x| f64::from(x % 5)).collect();
                let start = seed as usize * 11;
                let places = || round(n, start, Some(ServerId(3)));
                let plain = || places().into_iter().flatten().filter(|&at| open[at] != SHUT);
                assert_eq!(fewest(&open, places()), plain().min_by_key(|&at| open[at]), "fewest of {n}");
                let all = || round(n, start, None).into_iter().flatten().filter(|&at| open[at] != SHUT);
                assert_eq!(
                    fewest_of_few(&open, start),
                    all().min_by_key(|&at| open[at]),
                    "fewest of {n} one by one"
                );
                let fit = |at: &usize| open[*at] != SHUT;
                let want = (0..n).filter(fit).map(|at| list[at]).fold(f64::INFINITY, f64::min);
                assert_eq!(least_open(&list, &open), want, "least open of {n}");
                assert_eq!(
                    sum_open(&list, &open),
                    (0..n).filter(fit).map(|at| list[at]).sum::<f64>(),
                    "sum of {n}"
                );
                assert_eq!(least(&list), list.iter().copied().fold(f64::INFINITY, f64::min), "least of {n}");
                let mut ranks: Vec<usize> = (0..count(&open, places(), |x| x != SHUT)).collect();
                ranks_to_places::<SMALL_BLOCK>(&open, places(), |x| x != SHUT, &mut ranks);
                assert_eq!(ranks, plain().collect::<Vec<_>>(), "all ranks of {n}");
            }
        }
    }
}
