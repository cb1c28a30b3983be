//! Turns among the servers with the smallest score: flat lists, searched in passes that compile to vector code.
//!
//! A balancer that judges each server by one number, which changes when a job comes or goes or a report arrives, keeps
//! that number here and pays nothing for it at a pick. A thousand servers are searched in well under a microsecond.

use super::{Ask, Servers};
use crate::id::ServerId;
use alloc::vec::Vec;

/// Servers whose turns are worked out together, as many as there are registers for.
const LANES: usize = 4;
/// Servers that are compared together.
const WIDE: usize = 16;
/// Turns this small are none. They are cleared before halving could make them denormal, which is slow to reckon with.
const NOTHING: f64 = 1e-100;
/// Picks between two clearings: `1e-100 / 2^512` is still a normal number.
const CLEAR_EVERY: u32 = 512;

/// Adds to the turns of those within the limit, and to `all` and `most` by lane; lets the other turns shrink.
///
/// Choices are made with masks of bits, since compilers turn `if` into branches here, at three times the cost.
#[inline(always)]
fn owe(
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
        turn[lane] = turn[lane] * f64::from_bits((one & mask) | (keep & !mask)) + weight;
        all[lane] += weight;
        let owed = turn[lane] + f64::from_bits(LOWEST & !mask);
        most[lane] = if owed > most[lane] { owed } else { most[lane] };
    }
}

/// A score, a weight and a turn for each server.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// The smallest is best; infinite for one that may not be picked.
    pub score: Vec<f64>,
    /// How much a turn counts.
    pub weight: Vec<f64>,
    /// Smooth weighted round robin: what a server is owed, in weights.
    pub turn: Vec<f64>,
    picks: u32,
}

impl Turns {
    /// Room for one more server, that may not be picked yet.
    pub(super) fn push(&mut self, weight: f64, turn: f64) {
        self.score.push(f64::INFINITY);
        self.weight.push(weight);
        self.turn.push(turn);
    }

    /// The smallest score; infinite if nobody may be picked.
    #[must_use]
    #[inline]
    pub(super) fn least(&self) -> f64 {
        let mut least = [f64::INFINITY; WIDE];
        let (chunks, rest) = self.score.as_chunks::<WIDE>();
        for chunk in chunks {
            for (least, &score) in least.iter_mut().zip(chunk) {
                *least = if score < *least { score } else { *least };
            }
        }
        least.iter().chain(rest).fold(f64::INFINITY, |a, &b| if b < a { b } else { a })
    }

    /// The first, from `from` on and round, whose score is exactly this.
    #[must_use]
    #[inline]
    pub(super) fn first(&self, from: usize, score: f64) -> Option<usize> {
        let from = from.min(self.score.len());
        let (before, after) = self.score.split_at(from);
        let find = |part: &[f64]| part.iter().position(|&s| s == score);
        find(after).map(|at| from + at).or_else(|| find(before))
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
        let (mut all, mut most) = ([0.0; LANES], [f64::NEG_INFINITY; LANES]);
        let (scores, last_scores) = self.score.as_chunks::<LANES>();
        let (weights, last_weights) = self.weight.as_chunks::<LANES>();
        let (turns, last_turns) = self.turn.as_chunks_mut::<LANES>();
        for ((score, weight), turn) in scores.iter().zip(weights).zip(turns) {
            owe(score, weight, turn, limit, keep, &mut all, &mut most);
        }
        for ((&score, &weight), turn) in last_scores.iter().zip(last_weights).zip(last_turns) {
            // The others of the chunk are none that could be picked.
            let (mut scores, mut turns) = ([f64::INFINITY; LANES], [*turn; LANES]);
            scores[0] = score;
            owe(&scores, &[weight; LANES], &mut turns, limit, keep, &mut all, &mut most);
            *turn = turns[0];
        }
        let most = most.iter().fold(f64::NEG_INFINITY, |a, &b| if b > a { b } else { a });
        let at = self.owed(most, limit)?;
        self.turn[at] -= all.iter().sum::<f64>();
        Some(at)
    }

    /// The first within the limit that is owed exactly this.
    #[inline]
    fn owed(&self, turn: f64, limit: f64) -> Option<usize> {
        let is = |at: &usize| self.turn[*at] == turn && self.score[*at] <= limit;
        let (chunks, _) = self.turn.as_chunks::<WIDE>();
        for (k, chunk) in chunks.iter().enumerate() {
            let any = chunk.iter().fold(0, |any, &t| any | u64::from(t == turn));
            let first = k * WIDE;
            if any != 0
                && let Some(at) = (first..first + WIDE).find(is)
            {
                return Some(at);
            }
        }
        (chunks.len() * WIDE..self.turn.len()).find(is)
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
        let out = ask.except.map(|server| usize::from(server.0)).filter(|&at| at < self.score.len());
        let Some(at) = out else { return search(self) };
        let score = core::mem::replace(&mut self.score[at], f64::INFINITY);
        let found = search(self);
        self.score[at] = score;
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
        Turns { score: score.to_vec(), weight: weight.to_vec(), turn: vec![0.0; score.len()], picks: 0 }
    }

    #[test]
    fn weights_are_served_evenly_spread() {
        let mut three = turns(&[1.0; 3], &[5.0, 1.0, 1.0]);
        let picks: Vec<_> = (0..7).map(|_| three.take(1.0, 0.5).unwrap()).collect();
        assert_eq!(picks, [0, 0, 1, 0, 2, 0, 0], "the sequence of nginx's example");
        assert!(three.turn.iter().all(|&turn| turn == 0.0), "a whole round leaves no debt");
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
        for n in 1..40 {
            let draw = |k: u32| Chance(n as u64).draw(k).get();
            let weight: Vec<f64> = (0..n).map(|i| 1.0 + (4.0 * draw(i as u32)) as u32 as f64).collect();
            let mut fast = turns(&vec![0.0; n], &weight);
            let mut turn = vec![0.0; n];
            for round in 0..50_u64 {
                for (at, score) in fast.score.iter_mut().enumerate() {
                    *score = (mix(round * 64 + at as u64) % 4) as f64;
                }
                let least = fast.least();
                assert_eq!(least, fast.score.iter().copied().fold(f64::INFINITY, f64::min));
                let group: Vec<usize> = (0..n).filter(|&i| fast.score[i] <= least + 1.0).collect();
                for i in 0..n {
                    turn[i] = if group.contains(&i) { turn[i] + weight[i] } else { turn[i] * 0.5 };
                }
                let most = group.iter().map(|&i| turn[i]).fold(f64::NEG_INFINITY, f64::max);
                let want = group.iter().copied().find(|&i| turn[i] == most).unwrap();
                turn[want] -= group.iter().map(|&i| weight[i]).sum::<f64>();
                assert_eq!(fast.take(least + 1.0, 0.5), Some(want), "{n} servers, round {round}");
                assert_eq!(fast.turn, turn, "{n} servers, round {round}");
            }
        }
    }

    #[test]
    fn what_is_owed_to_those_outside_fades_to_exactly_nothing() {
        let mut two = turns(&[1.0, 9.0], &[1.0, 1.0]);
        two.turn[1] = 64.0;
        assert_eq!(two.take(1.0, 0.5), Some(0));
        assert_eq!(two.turn[1], 32.0);
        for _ in 0..3000 {
            let _ = two.take(1.0, 0.5);
            let turn = two.turn[1];
            assert!(turn == 0.0 || turn.is_normal(), "{turn:e} is slow to reckon with");
        }
        assert_eq!(two.turn[1], 0.0);
    }
}
