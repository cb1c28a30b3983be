//! Turns among the servers with the smallest score: flat lists, searched in passes that compile to vector code.
//!
//! A balancer that judges each server by one number, which changes when a job comes or goes or a report arrives, keeps
//! that number here and pays nothing for it at a pick. Blocks without anybody within the limit are passed over: what their
//! servers are owed shrinks by one number for all. Halving is exact, so that this is the rule as it is written down, to the last bit.

use super::search::least;
use super::{Ask, Servers};
use crate::id::ServerId;
use alloc::vec::Vec;
use core::ops::Range;

/// Servers whose turns are worked out together, as many as there are registers for.
const LANES: usize = 4;
/// Servers of a block; a multiple of the lanes.
const BLOCK: usize = 32;
/// Turns this small are none. They are cleared before halving could make them denormal, which is slow to reckon with.
const NOTHING: f64 = 1e-100;
/// Picks between two clearings: `1e-100 / 2^512` is still a normal number.
const CLEAR_EVERY: u32 = 512;

/// Adds to the turns of those within the limit, and to `all` and `most` by lane; lets the other turns shrink, if they do.
///
/// Choices are made with masks of bits, since compilers turn `if` into branches here, at three times the cost.
#[inline(always)]
fn owe<const SHRINKS: bool>(
    score: &[f64; LANES],
    weight: &[f64; LANES],
    turn: &mut [f64; LANES],
    limit: f64,
    keep: f64,
    all: &mut [f64; LANES],
    most: &mut [f64; LANES],
) {
    const LOWEST: u64 = f64::NEG_INFINITY.to_bits();
    let (one, keep) = (1_f64.to_bits(), keep.to_bits());
    for lane in 0..LANES {
        // All ones within the limit, all zeros outside.
        let mask = u64::from(score[lane] <= limit).wrapping_neg();
        let weight = f64::from_bits(weight[lane].to_bits() & mask);
        let before = turn[lane];
        let kept = if SHRINKS { before * f64::from_bits((one & mask) | (keep & !mask)) } else { before };
        turn[lane] = kept + weight;
        all[lane] += weight;
        let owed = turn[lane] + f64::from_bits(LOWEST & !mask);
        most[lane] = if owed > most[lane] { owed } else { most[lane] };
    }
}

/// A score, a weight and a turn for each server, in blocks, so that a block that has nobody to offer is passed over.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// The smallest is best; infinite for one that may not be picked.
    score: Vec<f64>,
    /// How much a turn counts.
    pub weight: Vec<f64>,
    /// Smooth weighted round robin: what a server is owed, in weights, before its block's `shrink`.
    turn: Vec<f64>,
    /// The smallest score of each block.
    least: Vec<f64>,
    /// What turns of each block have shrunk to since the block was last gone through.
    shrink: Vec<f64>,
    picks: u32,
}

impl Turns {
    /// Room for one more server, that may not be picked yet.
    pub(super) fn push(&mut self, weight: f64, turn: f64) {
        if self.score.len().is_multiple_of(BLOCK) {
            self.least.push(f64::INFINITY);
            self.shrink.push(1.0);
        }
        self.score.push(f64::INFINITY);
        self.weight.push(weight);
        self.turn.push(0.0);
        self.set_turn(self.turn.len() - 1, turn);
    }

    /// How many servers there are.
    pub(super) fn len(&self) -> usize {
        self.score.len()
    }

    /// The score of a server.
    #[inline]
    pub(super) fn score(&self, at: usize) -> f64 {
        self.score[at]
    }

    /// What a server is judged by from now on.
    #[inline]
    pub(super) fn set_score(&mut self, at: usize, score: f64) {
        let block = at / BLOCK;
        let before = core::mem::replace(&mut self.score[at], score);
        if score <= self.least[block] {
            self.least[block] = score;
        } else if before == self.least[block] {
            self.least[block] = least(&self.score[self.places(block)]);
        }
    }

    /// What a server is owed.
    #[inline]
    pub(super) fn turn(&self, at: usize) -> f64 {
        self.turn[at] * self.shrink[at / BLOCK]
    }

    /// What a server is owed from now on.
    pub(super) fn set_turn(&mut self, at: usize, turn: f64) {
        self.settle(at / BLOCK);
        self.turn[at] = turn;
    }

    /// The smallest score; infinite if nobody may be picked.
    #[must_use]
    #[inline]
    pub(super) fn least(&self) -> f64 {
        least(&self.least)
    }

    /// The first, from `from` on and round, whose score is exactly this.
    #[must_use]
    #[inline]
    pub(super) fn first(&self, from: usize, score: f64) -> Option<usize> {
        let from = from.min(self.len());
        let block = from / BLOCK;
        let find = |mut places: Range<usize>| places.find(|&at| self.score[at] == score);
        let whole = |mut blocks: Range<usize>| {
            let block =
                blocks.find(|&block| self.least[block] <= score && find(self.places(block)).is_some());
            block.and_then(|block| find(self.places(block)))
        };
        find(from..self.places(block).end)
            .or_else(|| whole((block + 1).min(self.least.len())..self.least.len()))
            .or_else(|| whole(0..(block + 1).min(self.least.len())))
    }

    /// Whose turn it is among those with a score of at most `limit`, by smooth weighted round robin: each of them is
    /// owed its weight more, the one that is owed most pays for all. What others are owed shrinks to a part `keep`.
    ///
    /// `None` if the limit leaves nobody. Of equals, the first.
    #[inline]
    pub(super) fn take(&mut self, limit: f64, keep: f64) -> Option<usize> {
        if limit == f64::INFINITY {
            return None;
        }
        self.clear_now_and_then();
        let (mut all, mut most, mut best) = ([0.0; LANES], f64::NEG_INFINITY, None);
        for block in 0..self.least.len() {
            if self.least[block] > limit {
                let shrink = self.shrink[block] * keep;
                self.shrink[block] = if shrink < NOTHING { 0.0 } else { shrink };
                continue;
            }
            self.settle(block);
            let here = if keep == 1.0 {
                self.owe_block::<false>(block, limit, keep, &mut all)
            } else {
                self.owe_block::<true>(block, limit, keep, &mut all)
            };
            if here > most {
                (most, best) = (here, Some(block));
            }
        }
        let is = |at: &usize| self.turn[*at] == most && self.score[*at] <= limit;
        let at = self.places(best?).find(is)?;
        self.turn[at] -= all.iter().sum::<f64>();
        Some(at)
    }

    /// [`owe`] for a block: what is owed most in it.
    #[inline]
    fn owe_block<const SHRINKS: bool>(
        &mut self,
        block: usize,
        limit: f64,
        keep: f64,
        all: &mut [f64; LANES],
    ) -> f64 {
        let places = self.places(block);
        let mut most = [f64::NEG_INFINITY; LANES];
        let (scores, last_scores) = self.score[places.clone()].as_chunks::<LANES>();
        let (weights, last_weights) = self.weight[places.clone()].as_chunks::<LANES>();
        let (turns, last_turns) = self.turn[places].as_chunks_mut::<LANES>();
        if scores.iter().flatten().fold(true, |within, &score| within & (score <= limit)) {
            // All of them: nothing to choose.
            for (weight, turn) in weights.iter().zip(turns) {
                for lane in 0..LANES {
                    turn[lane] += weight[lane];
                    all[lane] += weight[lane];
                    most[lane] = if turn[lane] > most[lane] { turn[lane] } else { most[lane] };
                }
            }
        } else {
            for ((score, weight), turn) in scores.iter().zip(weights).zip(turns) {
                owe::<SHRINKS>(score, weight, turn, limit, keep, all, &mut most);
            }
        }
        for ((&score, &weight), turn) in last_scores.iter().zip(last_weights).zip(last_turns) {
            // The others of the chunk are none that could be picked.
            let (mut scores, mut turns) = ([f64::INFINITY; LANES], [*turn; LANES]);
            scores[0] = score;
            owe::<SHRINKS>(&scores, &[weight; LANES], &mut turns, limit, keep, all, &mut most);
            *turn = turns[0];
        }
        most.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a })
    }

    #[inline]
    fn places(&self, block: usize) -> Range<usize> {
        let end = self.len();
        (block * BLOCK).min(end)..(block * BLOCK + BLOCK).min(end)
    }

    /// Makes the turns of a block what they have shrunk to.
    #[inline]
    fn settle(&mut self, block: usize) {
        let shrink = core::mem::replace(&mut self.shrink[block], 1.0);
        if shrink != 1.0 {
            let places = self.places(block);
            self.turn[places].iter_mut().for_each(|turn| *turn *= shrink);
        }
    }

    #[inline]
    fn clear_now_and_then(&mut self) {
        self.picks += 1;
        if self.picks == CLEAR_EVERY {
            self.picks = 0;
            for turn in &mut self.turn {
                if turn.abs() < NOTHING {
                    *turn = 0.0;
                }
            }
        }
    }

    /// Does `search` without the server that an ask leaves out.
    #[inline]
    pub(super) fn without<T>(&mut self, ask: &Ask, search: impl FnOnce(&mut Self) -> T) -> T {
        let out = ask.except.map(|server| usize::from(server.0)).filter(|&at| at < self.len());
        let Some(at) = out else { return search(self) };
        let score = self.score(at);
        self.set_score(at, f64::INFINITY);
        let found = search(self);
        self.set_score(at, score);
        found
    }

    /// Whether it is known of every server whether it may be picked.
    ///
    /// One that was barred or freed without a word to the balancer is noticed here, not sent a job.
    #[must_use]
    #[inline]
    pub(super) fn agrees(&self, servers: &Servers, found: Option<usize>, ask: &Ask) -> bool {
        match found {
            Some(at) => ask.allows(servers, ServerId(at as u16)),
            None => !servers.any_room(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Chance, mix};
    use alloc::vec;

    fn turns(score: &[f64], weight: &[f64]) -> Turns {
        let mut turns = Turns::default();
        for (at, (&score, &weight)) in score.iter().zip(weight).enumerate() {
            turns.push(weight, 0.0);
            turns.set_score(at, score);
        }
        turns
    }

    #[test]
    fn weights_are_served_evenly_spread() {
        let mut three = turns(&[1.0; 3], &[5.0, 1.0, 1.0]);
        let picks: Vec<_> = (0..7).map(|_| three.take(1.0, 0.5).unwrap()).collect();
        assert_eq!(picks, [0, 0, 1, 0, 2, 0, 0], "the sequence of nginx's example");
        assert!((0..3).all(|at| three.turn(at) == 0.0), "a whole round leaves no debt");
    }

    #[test]
    fn nobody_within_the_limit_is_nobody() {
        assert_eq!(turns(&[], &[]).take(1.0, 0.5), None);
        assert_eq!(turns(&[f64::INFINITY; 2], &[1.0; 2]).take(f64::INFINITY, 0.5), None);
        assert_eq!(turns(&[f64::INFINITY; 2], &[1.0; 2]).take(3.0, 0.5), None);
    }

    /// The passes over chunks against the rule as it is written down, for every number of servers up to 40.
    #[test]
    fn the_chunked_search_is_the_plain_one() {
        for n in (1..40).chain([63, 64, 65, 100, 131]) {
            let draw = |k: u32| Chance(n as u64).draw(k).get();
            let weight: Vec<f64> = (0..n).map(|i| 1.0 + (4.0 * draw(i as u32)) as u32 as f64).collect();
            let mut fast = turns(&vec![0.0; n], &weight);
            let mut turn = vec![0.0; n];
            for round in 0..50_u64 {
                for at in 0..n {
                    // Good ones are rare in some rounds, so that whole blocks have none.
                    let score = mix(round * 1024 + at as u64) % (2 + 20 * (round % 3));
                    fast.set_score(at, score as f64);
                }
                let least = fast.least();
                let from = mix(round) as usize % (n + 1);
                let first = (from..n).chain(0..from).find(|&i| fast.score[i] == least);
                assert_eq!(fast.first(from, least), first, "{n} servers, round {round}, from {from}");
                assert_eq!(least, fast.score.iter().copied().fold(f64::INFINITY, f64::min));
                let group: Vec<usize> = (0..n).filter(|&i| fast.score[i] <= least + 1.0).collect();
                for i in 0..n {
                    turn[i] = if group.contains(&i) { turn[i] + weight[i] } else { turn[i] * 0.5 };
                }
                let most = group.iter().map(|&i| turn[i]).fold(f64::NEG_INFINITY, f64::max);
                let want = group.iter().copied().find(|&i| turn[i] == most).unwrap();
                turn[want] -= group.iter().map(|&i| weight[i]).sum::<f64>();
                assert_eq!(fast.take(least + 1.0, 0.5), Some(want), "{n} servers, round {round}");
                let owed: Vec<f64> = (0..n).map(|at| fast.turn(at)).collect();
                assert_eq!(owed, turn, "{n} servers, round {round}");
            }
        }
    }

    #[test]
    fn what_is_owed_to_those_outside_fades_to_exactly_nothing() {
        // In the block of the one that is picked, and in another.
        for (n, other) in [(2, 1), (40, 39)] {
            let scores: Vec<f64> = (0..n).map(|at| if at == 0 { 1.0 } else { 9.0 }).collect();
            let mut few = turns(&scores, &vec![1.0; n]);
            few.set_turn(other, 64.0);
            assert_eq!(few.take(1.0, 0.5), Some(0));
            assert_eq!(few.turn(other), 32.0);
            for _ in 0..3000 {
                let _ = few.take(1.0, 0.5);
                let turn = few.turn(other);
                assert!(turn == 0.0 || turn.is_normal(), "{turn:e} is slow to reckon with");
            }
            assert_eq!(few.turn(other), 0.0);
        }
    }
}
