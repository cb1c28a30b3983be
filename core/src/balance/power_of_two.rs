//! The power of two choices: the emptiest of a few servers drawn at random.
//!
//! Source: Mitzenmacher 2001 (and Vvedenskaya, Dobrushin and Karpelevich 1996): of d servers drawn alike, the one with
//! the fewest jobs. They are drawn without putting any back, from those that may be picked only; a tie goes to each of the tied alike.
//! Many gateways that each know only their own jobs herd less this way than when each looks for the emptiest of all.

use super::{Ask, Candidate, Pick, Servers, Setup, search};
use crate::id::ServerId;
use crate::scenario::v1::BalancerV1;
use crate::unit::{Draw, mix};
use alloc::vec::Vec;

/// Most that are drawn.
const MOST: usize = 8;
/// Draws that may fail, and one more for each that is wanted, before the exact search. A draw fails where it hits one that
/// may not be picked or is there already.
const MISSES: usize = 8;

/// Knows how many to draw.
#[derive(Clone, Debug)]
pub struct PowerOfTwo {
    choices: usize,
}

/// Servers that were drawn, all different.
struct Drawn {
    places: [usize; MOST],
    len: usize,
}

impl Drawn {
    fn as_slice(&self) -> &[usize] {
        &self.places[..self.len]
    }

    fn push(&mut self, at: usize) {
        self.places[self.len] = at;
        self.len += 1;
    }

    /// Puts the `n`-th of the numbers that are not there yet between the smaller and the larger ones.
    fn insert_new(&mut self, n: usize) {
        let (mut new, mut to) = (n, 0);
        while to < self.len && self.places[to] <= new {
            (new, to) = (new + 1, to + 1);
        }
        for at in (to..self.len).rev() {
            self.places[at + 1] = self.places[at];
        }
        self.places[to] = new;
        self.len += 1;
    }
}

/// As many draws as are needed, from one of the job's.
struct Draws(u64);

impl Draws {
    /// A number below `n`.
    fn below(&mut self, n: usize) -> usize {
        self.0 = mix(self.0);
        (Draw::from_bits(self.0).get() * n as f64) as usize
    }
}

impl PowerOfTwo {
    /// Draws as many as the scenario says.
    #[must_use]
    pub fn new(setup: &Setup<'_>, _servers: &Servers) -> Self {
        let choices = if let BalancerV1::PowerOfTwo { choices } = setup.wire { *choices } else { 2 };
        Self { choices: usize::from(choices).clamp(1, MOST) }
    }

    /// Those that are drawn for this ask, and what comes after them by chance.
    #[inline]
    fn draw(&self, servers: &Servers, ask: &Ask) -> (Drawn, Draws) {
        let (n, tries) = (servers.len(), MISSES + 2 * self.choices);
        // Where so few are open that it would miss, it need not try.
        let may_hit = tries * servers.open_count() >= self.choices * n;
        let mut draws = Draws(ask.draw(0).to_bits());
        let mut drawn = Drawn { places: [0; MOST], len: 0 };
        if n > self.choices && may_hit {
            for _ in 0..tries {
                let at = draws.below(n);
                if ask.allows(servers, search::id(at)) && !drawn.as_slice().contains(&at) {
                    drawn.push(at);
                    if drawn.len == self.choices {
                        return (drawn, draws);
                    }
                }
            }
        }
        (self.exactly(servers, ask, &mut draws), draws)
    }

    /// Draws ranks among exactly those the ask allows: each from those not drawn yet.
    #[cold]
    fn exactly(&self, servers: &Servers, ask: &Ask, draws: &mut Draws) -> Drawn {
        let open = servers.open();
        let places = || search::round(open.len(), 0, ask.except);
        let is_excepted = ask
            .except
            .is_some_and(|server| open.get(usize::from(server.0)).is_some_and(|&n| search::is_open(n)));
        let allowed = servers.open_count() - usize::from(is_excepted);
        let mut drawn = Drawn { places: [0; MOST], len: 0 };
        while drawn.len < self.choices.min(allowed) {
            drawn.insert_new(draws.below(allowed - drawn.len));
        }
        search::ranks_to_places::<{ search::SMALL_BLOCK }>(
            open,
            places(),
            search::is_open,
            &mut drawn.places[..drawn.len],
        );
        drawn
    }
}

impl Pick for PowerOfTwo {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        let (drawn, mut draws) = self.draw(servers, ask);
        let jobs = |at: &usize| servers.open()[*at];
        let fewest = drawn.as_slice().iter().map(jobs).min()?;
        let tied = || drawn.as_slice().iter().filter(|at| jobs(at) == fewest);
        let winner = draws.below(tied().count());
        tied().nth(winner).map(|&at| search::id(at))
    }

    /// Those drawn for this ask; the key is jobs in flight.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        for &at in self.draw(servers, ask).0.as_slice() {
            let key = f64::from(servers.open()[at]);
            out.push(Candidate { server: search::id(at), key, ..Candidate::default() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, made, servers, wire};
    use super::super::{Balancer, Seat};
    use super::*;
    use crate::id::ClassId;
    use alloc::vec;

    fn balancer(servers: &Servers, policy: &str) -> Balancer {
        made(&wire(policy), servers, Seat(0))
    }

    const TWO: &str = r#""power_of_two""#;
    const FIVE: &str = r#""power_of_two","choices":5"#;

    fn drawn(balancer: &Balancer, servers: &Servers, ask: &Ask) -> Vec<u16> {
        let mut out = Vec::new();
        balancer.explain(servers, ask, &mut out);
        out.into_iter().map(|candidate| candidate.server.0).collect()
    }

    #[test]
    fn it_picks_the_emptiest_of_those_it_draws() {
        let mut many = servers(40, u32::MAX);
        for at in 0..40 {
            (0..at * 7 % 40).for_each(|_| many.sent(ServerId(at), ClassId(0)));
        }
        for (policy, choices) in [(TWO, 2), (FIVE, 5)] {
            let mut balancer = balancer(&many, policy);
            for n in 0..500 {
                let drawn = drawn(&balancer, &many, &ask(n));
                assert_eq!(drawn.len(), choices, "{policy}: {drawn:?}");
                let want = drawn.iter().copied().min_by_key(|&at| many.open()[usize::from(at)]);
                assert_eq!(balancer.pick(&many, &ask(n)), want.map(ServerId), "{policy}: of {drawn:?}");
            }
        }
    }

    /// Each pair of those that may be picked must come as often, by single draws and by the exact search.
    fn check_pairs(what: &str, n: usize, up: &[u16]) {
        const TIMES: u64 = 30_000;
        let mut some = servers(n, u32::MAX);
        (0..n as u16).for_each(|at| some.set_up(ServerId(at), up.contains(&at)));
        let mut balancer = balancer(&some, TWO);
        let (mut pairs, mut picks) = (vec![0; n * n], vec![0; n]);
        for n_ask in 0..TIMES {
            let mut pair = drawn(&balancer, &some, &ask(n_ask));
            pair.sort_unstable();
            pairs[usize::from(pair[0]) * n + usize::from(pair[1])] += 1;
            picks[usize::from(balancer.pick(&some, &ask(n_ask)).unwrap().0)] += 1;
        }
        let near = |count: i32, p: f64| {
            let mean = p * TIMES as f64;
            (f64::from(count) - mean).abs() < 5.0 * (mean * (1.0 - p)).sqrt()
        };
        let m = up.len() as f64;
        for (at, &a) in up.iter().enumerate() {
            let count = picks[usize::from(a)];
            assert!(near(count, 1.0 / m), "{what}: a tie went to {a} {count} times of {TIMES}");
            for &b in &up[at + 1..] {
                let count = pairs[usize::from(a) * n + usize::from(b)];
                assert!(near(count, 2.0 / (m * (m - 1.0))), "{what}: {a} and {b} were drawn {count} times");
            }
        }
    }

    #[test]
    fn every_pair_is_drawn_alike_and_a_tie_goes_to_either() {
        check_pairs("all are up", 5, &[0, 1, 2, 3, 4]);
        check_pairs("half are up", 8, &[0, 3, 4, 7]);
        check_pairs("four of 200 are up", 200, &[0, 64, 130, 199]);
    }

    #[test]
    fn where_there_are_fewer_than_it_draws_it_considers_them_all() {
        let mut six = servers(6, 1);
        let mut balancer = balancer(&six, FIVE);
        six.sent(ServerId(4), ClassId(0));
        six.set_up(ServerId(1), false);
        let ask = Ask { except: Some(ServerId(0)), ..ask(7) };
        assert_eq!(drawn(&balancer, &six, &ask), [2, 3, 5]);
        assert!(balancer.pick(&six, &ask).is_some());
    }
}
