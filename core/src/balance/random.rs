//! Random: any server that may be picked, as likely as its weight says.
//!
//! A weighted draw takes one step whatever the number of servers, by the alias method (Walker 1977, as built by
//! Vose 1991), from a table of all servers. A draw of a server that may not be picked is drawn again a few times, and then
//! exactly among those that may: each way leaves the chances of those in the same proportion, so the mixture does.

use super::{Ask, Candidate, Pick, Server, Servers, Setup, bar, search};
use crate::id::ServerId;
use alloc::vec::Vec;

/// Draws from the table before the exact search. With half of the servers open, one pick in 256 needs that.
const TRIES: u32 = 8;

/// A table to draw from.
#[derive(Clone, Debug, Default)]
pub struct Random {
    /// What each server counts; 0 for one that is gone.
    weights: Vec<f64>,
    /// For each place: below which part of it the draw is the place itself, and what it is above.
    table: Vec<(f64, u16)>,
}

impl Random {
    /// A table of these servers.
    #[must_use]
    pub fn new(_setup: &Setup<'_>, servers: &Servers) -> Self {
        let mut random = Self { weights: weights(servers).collect(), table: Vec::new() };
        random.build();
        random
    }

    /// Vose's method: places that are too small are filled up by ones that are too large.
    fn build(&mut self) {
        let n = self.weights.len();
        let total: f64 = self.weights.iter().sum();
        if total <= 0.0 {
            self.table.clear();
            return;
        }
        let mut parts: Vec<f64> = self.weights.iter().map(|weight| weight / total * n as f64).collect();
        self.table = (0..n).map(|at| (1.0, at as u16)).collect();
        let (mut small, mut large): (Vec<usize>, Vec<usize>) = (0..n).partition(|&at| parts[at] < 1.0);
        while let (Some(&to), Some(&from)) = (small.last(), large.last()) {
            small.pop();
            self.table[to] = (parts[to], from as u16);
            parts[from] -= 1.0 - parts[to];
            if parts[from] < 1.0 {
                large.pop();
                small.push(from);
            }
        }
        // What is left over is 1 but for rounding, or has weight 0 and lends its place to the last that has some.
        for at in small.into_iter().filter(|&at| self.weights[at] <= 0.0) {
            let heir = self.weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(at);
            self.table[at] = (0.0, heir as u16);
        }
    }

    /// The server of one draw from the table.
    #[inline]
    fn drawn(&self, draw: f64) -> Option<ServerId> {
        let x = draw * self.table.len() as f64;
        let at = x as usize;
        let (part, other) = self.table.get(at)?;
        Some(ServerId(if x - (at as f64) < *part { at as u16 } else { *other }))
    }

    /// The server that is drawn, and how many draws missed before.
    #[inline]
    fn find(&self, servers: &Servers, ask: &Ask) -> Option<(u32, ServerId)> {
        let allowed =
            |server: &ServerId| usize::from(server.0) < servers.len() && ask.allows(servers, *server);
        (0..TRIES)
            .find_map(|n| self.drawn(ask.draw(n)).filter(allowed).map(|server| (n, server)))
            .or_else(|| self.exactly(servers, ask).map(|server| (TRIES, server)))
    }

    /// One draw among exactly those the ask allows.
    #[cold]
    fn exactly(&self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        let n = self.weights.len().min(servers.len());
        let (weights, open) = (&self.weights[..n], &servers.open()[..n]);
        let found = search::by_share(weights, open, search::round(n, 0, ask.except), ask.draw(TRIES));
        // Nothing is found only where the table does not know a server yet.
        found.or_else(|| search::next_allowed(servers, ask, 0)).map(search::id)
    }
}

/// What each server counts.
fn weights(servers: &Servers) -> impl Iterator<Item = f64> {
    let counts = |server: &Server| server.bars & bar::GONE == 0 && server.weight.is_finite();
    servers.iter().map(move |server| if counts(server) { server.weight.max(0.0) } else { 0.0 })
}

impl Pick for Random {
    #[inline]
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
        self.find(servers, ask).map(|(_, server)| server)
    }

    fn changed(&mut self, servers: &Servers, _server: ServerId, _anew: bool) {
        if !weights(servers).eq(self.weights.iter().copied()) {
            self.weights = weights(servers).collect();
            self.build();
        }
    }

    /// The one that is drawn; the key is how many draws before were of servers that may not be picked.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        let one = |(missed, server)| Candidate { server, key: f64::from(missed), ..Candidate::default() };
        out.extend(self.find(servers, ask).map(one));
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{ask, made, spec, weighted, wire};
    use super::super::{Balancer, Seat};
    use super::*;
    use crate::id::ClassId;
    use alloc::vec;

    fn balancer(servers: &Servers) -> Balancer {
        made(&wire(r#""random""#), servers, Seat(0))
    }

    /// Draws of jobs that leave at once must come in these proportions, give or take five standard deviations.
    fn check(what: &str, balancer: &mut Balancer, servers: &Servers, except: Option<u16>, want: &[f64]) {
        const TIMES: u32 = 40_000;
        let mut counts = vec![0; servers.len()];
        for n in 0..TIMES {
            let ask = Ask { except: except.map(ServerId), ..ask(u64::from(n)) };
            counts[usize::from(balancer.pick(servers, &ask).unwrap().0)] += 1;
        }
        let total: f64 = want.iter().sum();
        for (server, (count, want)) in counts.into_iter().zip(want).enumerate() {
            let p = want / total;
            let off = f64::from(count) - p * f64::from(TIMES);
            let sd = (p * (1.0 - p) * f64::from(TIMES)).sqrt();
            assert!(
                off.abs() <= 5.0 * sd,
                "{what}: server {server} got {count} of {TIMES}, expected a share of {p:.4}"
            );
        }
    }

    #[test]
    fn each_is_as_likely_as_its_weight_says() {
        let weights = [5.0, 0.25, 0.0, 1.0, 1.0, 3.5];
        let mut six = weighted(&weights);
        let mut balancer = balancer(&six);
        check("all", &mut balancer, &six, None, &weights);
        check("one is excepted", &mut balancer, &six, Some(0), &[0.0, 0.25, 0.0, 1.0, 1.0, 3.5]);
        six.set_up(ServerId(0), false);
        six.set_up(ServerId(3), false);
        check("two are down", &mut balancer, &six, None, &[0.0, 0.25, 0.0, 0.0, 1.0, 3.5]);
    }

    #[test]
    fn what_is_left_after_most_went_down_is_drawn_in_proportion_too() {
        let weights: Vec<f64> = (0..300).map(|at| f64::from(1 + at % 3)).collect();
        let mut many = weighted(&weights);
        let mut balancer = balancer(&many);
        let mut want = vec![0.0; 300];
        for at in 0..300 {
            let up = at % 97 == 2;
            many.set_up(search::id(at), up);
            want[at] = if up { weights[at] } else { 0.0 };
        }
        check("four of 300 are up", &mut balancer, &many, None, &want);
    }

    #[test]
    fn the_table_follows_weights_and_servers() {
        let mut two = weighted(&[1.0, 1.0]);
        let mut balancer = balancer(&two);
        two.set_weight(ServerId(0), 4.0);
        balancer.changed(&two, ServerId(0), false);
        check("another weight", &mut balancer, &two, None, &[4.0, 1.0]);
        let third = two.add(&spec(2, 9, 5.0));
        check("one it was not told of", &mut balancer, &two, None, &[4.0, 1.0, 0.0]);
        balancer.changed(&two, third, true);
        check("one more", &mut balancer, &two, None, &[4.0, 1.0, 5.0]);
        two.set_weight(ServerId(0), 0.0);
        balancer.changed(&two, ServerId(0), false);
        two.sent(ServerId(1), ClassId(0));
        check("the first left", &mut balancer, &two, None, &[0.0, 1.0, 5.0]);
    }
}
