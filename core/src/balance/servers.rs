//! What the gateway knows of its servers, laid out for the searches of balancers.

use crate::id::{ClassId, ServerId};
use crate::scenario::v1::{BalancerV1, CapacityV1, KindV1};
use crate::scenario::{Scenario, ServerSpec};
use alloc::vec;
use alloc::vec::Vec;

/// In the list of [`Servers::open`]: it may not be sent anything.
pub const SHUT: u32 = u32::MAX;

/// Why a server that can be reached is left out for the time being: bits of [`Server::bars`].
pub mod bar {
    /// A load it reported is above its limit.
    pub const OVERLOADED: u8 = 1;
    /// It used to report and no longer does.
    pub const SILENT: u8 = 2;
    /// It failed too often.
    pub const EJECTED: u8 = 4;
    /// It asked to get nothing new, or the operator did.
    pub const DRAINING: u8 = 8;
    /// It is registered no longer.
    pub const GONE: u8 = 16;
    /// Each with its stable name, as in metrics labels.
    pub const NAMES: [(u8, &str); 5] = [
        (OVERLOADED, "overloaded"),
        (SILENT, "silent"),
        (EJECTED, "ejected"),
        (DRAINING, "draining"),
        (GONE, "gone"),
    ];
    /// Bars that are lifted where too few servers would be left.
    pub const SOFT: u8 = OVERLOADED | SILENT | EJECTED;
}

/// What the gateway knows of one server.
#[derive(Clone, Debug)]
pub struct Server {
    /// Whether it can be reached.
    pub up: bool,
    /// Why it is left out although it can be: bits of [`bar`].
    pub bars: u8,
    /// Jobs it was sent and has not answered, sessions among them.
    pub in_flight: u32,
    /// Of those, sessions.
    pub sessions: u32,
    /// Most it may have in flight.
    pub max_in_flight: u32,
    /// The same where it is fit for work, else 0.
    bound: u32,
    /// What it counts, as configured (or as its agent says); 0 for nothing new.
    pub weight: f64,
    /// Requests it works on at once, or cores.
    pub slots: u32,
    /// How fast it is.
    pub speed: f64,
    /// What it has besides processors.
    pub capacity: CapacityV1,
    /// Jobs sent so far.
    pub picked: u64,
    /// Jobs answered so far.
    pub completed: u64,
    /// Jobs failed so far.
    pub failed: u64,
}

impl Server {
    fn new(spec: &ServerSpec) -> Self {
        Self {
            up: true,
            bars: 0,
            in_flight: 0,
            sessions: 0,
            max_in_flight: spec.max_in_flight.unwrap_or(u32::MAX - 1),
            bound: 0,
            weight: spec.weight,
            slots: spec.slots,
            speed: spec.speed,
            capacity: spec.capacity.clone(),
            picked: 0,
            completed: 0,
            failed: 0,
        }
    }

    /// Whether it may be sent something, if it has room; `lifted` bars do not count.
    #[must_use]
    #[inline]
    pub const fn is_fit(&self, lifted: u8) -> bool {
        self.up & (self.bars & !lifted == 0) & (self.weight > 0.0)
    }
}

/// The servers behind a balancer, with what is in flight at each.
#[derive(Clone, Debug)]
pub struct Servers {
    each: Vec<Server>,
    /// Jobs in flight of a server that may be picked, [`SHUT`] for one that may not.
    open: Vec<u32>,
    /// Of the first 64 servers, those that may be picked and have nothing to do, as bits.
    idle: u64,
    /// Jobs in flight over weight; infinite for one that may not be picked.
    per_weight: Vec<f64>,
    /// `by_class[server * classes + class]`: jobs in flight.
    by_class: Vec<u32>,
    /// The kind of each class.
    kinds: Vec<KindV1>,
    /// Servers that may be picked; kept so that a full house is known without a search.
    with_room: u32,
    /// Bars that do not count at present.
    lifted: u8,
    /// Whether anybody asks for `per_weight`.
    weighs: bool,
}

impl Servers {
    /// All servers of a scenario, up and idle.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        let kinds: Vec<KindV1> = scenario.classes.iter().map(|class| class.kind).collect();
        let weighs = scenario.balancer == BalancerV1::WeightedLeastConnections;
        Self { weighs, ..Self::of(&scenario.servers, kinds) }
    }

    /// These servers, up and idle, for classes of these kinds.
    #[must_use]
    pub fn of(specs: &[ServerSpec], kinds: Vec<KindV1>) -> Self {
        let mut servers = Self {
            each: Vec::new(),
            open: Vec::new(),
            idle: 0,
            per_weight: Vec::new(),
            by_class: Vec::new(),
            kinds,
            with_room: 0,
            lifted: 0,
            weighs: true,
        };
        for spec in specs {
            servers.add(spec);
        }
        servers
    }

    /// One more server, up and idle: in the place of one that is gone and empty, or behind all others.
    pub fn add(&mut self, spec: &ServerSpec) -> ServerId {
        let free = |server: &Server| server.bars & bar::GONE != 0 && server.in_flight == 0;
        let at = self.each.iter().position(free).unwrap_or_else(|| {
            let server = Server { bars: bar::GONE, ..Server::new(spec) };
            self.each.push(server);
            self.open.push(SHUT);
            self.per_weight.push(f64::INFINITY);
            self.by_class.extend(vec![0; self.kinds.len()]);
            self.each.len() - 1
        });
        let id = ServerId(at as u16);
        self.change(id, |server| *server = Server::new(spec));
        id
    }

    /// Goes on by other specifications of the same servers: whatever is specified otherwise than before changes, whatever
    /// else was said of a server since stays.
    pub(crate) fn reconfigure(&mut self, before: &Scenario, after: &Scenario) {
        self.weighs = after.balancer == BalancerV1::WeightedLeastConnections;
        for (at, (was, is)) in before.servers.iter().zip(&after.servers).enumerate().take(self.each.len()) {
            self.change(ServerId(at as u16), |server| {
                let Server { max_in_flight, weight, slots, speed, capacity, .. } = Server::new(is);
                let said = Server::new(was);
                if said.max_in_flight != max_in_flight {
                    server.max_in_flight = max_in_flight;
                }
                if said.weight != weight {
                    server.weight = weight;
                }
                (server.slots, server.speed, server.capacity) = (slots, speed, capacity);
            });
        }
        // Servers that came since are in the lists of the new balancer, too.
        (0..self.each.len()).for_each(|at| self.enter(at));
    }

    /// How many there are, gone ones included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.each.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.each.is_empty()
    }

    /// Whether any may be picked.
    #[must_use]
    #[inline]
    pub const fn any_room(&self) -> bool {
        self.with_room > 0
    }

    /// How many may be picked.
    #[must_use]
    #[inline]
    pub const fn open_count(&self) -> usize {
        self.with_room as usize
    }

    /// Whether any is fit, with room or without.
    #[must_use]
    pub fn any_fit(&self) -> bool {
        self.each.iter().any(|server| server.is_fit(self.lifted))
    }

    /// The servers in scenario order.
    pub fn iter(&self) -> core::slice::Iter<'_, Server> {
        self.each.iter()
    }

    /// One server.
    #[must_use]
    pub fn get(&self, server: ServerId) -> &Server {
        &self.each[usize::from(server.0)]
    }

    /// Jobs in flight at each server that may be picked, [`SHUT`] at the others.
    #[must_use]
    #[inline]
    pub fn open(&self) -> &[u32] {
        &self.open
    }

    /// Of at most 64 servers, the first that may be picked and has nothing to do, from `start` on and round to it again.
    #[inline]
    pub(super) fn next_idle(&self, start: usize) -> Option<usize> {
        // Turned, not parted: which side it is on cannot be foreseen.
        let turned = self.idle.rotate_right(start as u32);
        (turned != 0).then_some((start + turned.trailing_zeros() as usize) % 64)
    }

    /// Jobs in flight over the configured weight of each server that may be picked, infinite at the others. Kept for
    /// balancers that go by it.
    #[must_use]
    #[inline]
    pub fn per_weight(&self) -> &[f64] {
        &self.per_weight
    }

    /// Whether this server may be picked.
    #[must_use]
    #[inline]
    pub fn has_room(&self, server: ServerId) -> bool {
        self.open[usize::from(server.0)] != SHUT
    }

    /// Bars that do not count at present.
    #[must_use]
    pub const fn lifted(&self) -> u8 {
        self.lifted
    }

    /// The kind of work of a class.
    #[must_use]
    #[inline]
    pub fn kind(&self, class: ClassId) -> KindV1 {
        self.kinds[usize::from(class.0)]
    }

    /// The kinds of all classes.
    #[must_use]
    pub fn kinds(&self) -> &[KindV1] {
        &self.kinds
    }

    /// Jobs in flight at a server, by class.
    #[must_use]
    pub fn in_flight_by_class(&self, server: ServerId) -> &[u32] {
        let at = usize::from(server.0) * self.kinds.len();
        &self.by_class[at..at + self.kinds.len()]
    }

    /// Marks a server up or down; an id out of range is ignored.
    pub fn set_up(&mut self, server: ServerId, up: bool) {
        self.alter(server, |s| s.up = up);
    }

    /// Sets or takes away bars of a server; an id out of range is ignored.
    pub fn set_bar(&mut self, server: ServerId, bars: u8, on: bool) {
        self.alter(server, |s| if on { s.bars |= bars } else { s.bars &= !bars });
    }

    /// What a server counts from now on; an id out of range is ignored.
    pub fn set_weight(&mut self, server: ServerId, weight: f64) {
        self.alter(server, |s| s.weight = weight);
    }

    /// The most a server is sent at once from now on, `None` for no limit; an id out of range is ignored.
    pub fn set_max_in_flight(&mut self, server: ServerId, most: Option<u32>) {
        self.alter(server, |s| s.max_in_flight = most.unwrap_or(u32::MAX - 1));
    }

    /// Says which bars do not count from now on.
    pub fn lift(&mut self, bars: u8) {
        if bars != self.lifted {
            self.lifted = bars;
            for at in 0..self.each.len() {
                self.change(ServerId(at as u16), |_| ());
            }
        }
    }

    /// Notes that a job of `class` was sent to `server`.
    #[inline(always)]
    pub fn sent(&mut self, server: ServerId, class: ClassId) {
        let at = usize::from(server.0);
        let s = &mut self.each[at];
        s.in_flight += 1;
        s.picked += 1;
        if self.kinds[usize::from(class.0)] == KindV1::Session {
            s.sessions += 1;
        }
        self.by_class[at * self.kinds.len() + usize::from(class.0)] += 1;
        self.enter(at);
    }

    /// Notes that a job of `class` is no longer at `server`.
    #[inline(always)]
    pub fn left(&mut self, server: ServerId, class: ClassId, how: Left) {
        let at = usize::from(server.0);
        let s = &mut self.each[at];
        s.in_flight -= 1;
        match how {
            Left::Answered => s.completed += 1,
            Left::Failed => s.failed += 1,
            Left::Abandoned => {}
        }
        if self.kinds[usize::from(class.0)] == KindV1::Session {
            s.sessions -= 1;
        }
        self.by_class[at * self.kinds.len() + usize::from(class.0)] -= 1;
        self.enter(at);
    }

    fn alter(&mut self, server: ServerId, change: impl FnOnce(&mut Server)) {
        if usize::from(server.0) < self.each.len() {
            self.change(server, change);
        }
    }

    #[inline]
    fn change(&mut self, server: ServerId, change: impl FnOnce(&mut Server)) {
        let at = usize::from(server.0);
        let s = &mut self.each[at];
        change(s);
        s.bound = if s.is_fit(self.lifted) { s.max_in_flight } else { 0 };
        self.enter(at);
    }

    /// Enters a server into the lists that balancers search.
    #[inline(always)]
    fn enter(&mut self, at: usize) {
        let s = &self.each[at];
        let open = if s.in_flight < s.bound { s.in_flight } else { SHUT };
        if self.weighs {
            self.per_weight[at] =
                if open == SHUT { f64::INFINITY } else { f64::from(s.in_flight) / s.weight };
        }
        let had = core::mem::replace(&mut self.open[at], open);
        if let Some(bit) = 1_u64.checked_shl(at as u32) {
            self.idle = if open == 0 { self.idle | bit } else { self.idle & !bit };
        }
        if (had == SHUT) != (open == SHUT) {
            self.with_room = if open == SHUT { self.with_room - 1 } else { self.with_room + 1 };
        }
    }
}

/// How a job left a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    /// With its answer.
    Answered,
    /// Without: the server failed.
    Failed,
    /// Without: its client left, or it was sent elsewhere.
    Abandoned,
}

#[cfg(test)]
mod tests {
    use super::super::tests::{servers, spec};
    use super::*;
    use crate::unit::mix;

    #[test]
    fn counts_in_flight_by_class_and_kind_add_up() {
        let mut servers = Servers::of(&[spec(0, 9, 2.0)], vec![KindV1::Short, KindV1::Session]);
        servers.sent(ServerId(0), ClassId(0));
        servers.sent(ServerId(0), ClassId(1));
        servers.sent(ServerId(0), ClassId(1));
        servers.left(ServerId(0), ClassId(1), Left::Abandoned);
        assert_eq!(servers.in_flight_by_class(ServerId(0)), [1, 1]);
        let s = servers.get(ServerId(0));
        assert_eq!((s.in_flight, s.sessions, s.picked, s.completed, s.failed), (2, 1, 3, 0, 0));
        assert_eq!((servers.open()[0], servers.per_weight()[0]), (2, 1.0));
    }

    #[test]
    fn a_server_that_may_not_be_picked_is_shut_in_both_lists() {
        let mut three = servers(3, u32::MAX);
        let check = |servers: &Servers, shut: &[u16], what: &str| {
            for at in 0..3 {
                let is_shut = shut.contains(&at);
                assert_eq!(!servers.has_room(ServerId(at)), is_shut, "{what}: server {at}");
                assert_eq!(servers.per_weight()[usize::from(at)].is_infinite(), is_shut, "{what}");
            }
            assert_eq!(servers.any_room(), shut.len() < 3, "{what}");
        };
        check(&three, &[], "all well");
        three.set_up(ServerId(0), false);
        three.set_bar(ServerId(1), bar::EJECTED, true);
        three.set_weight(ServerId(2), 0.0);
        check(&three, &[0, 1, 2], "down, ejected, weight 0");
        three.lift(bar::SOFT);
        check(&three, &[0, 2], "ejections are lifted, nothing else is");
        three.set_bar(ServerId(1), bar::DRAINING, true);
        check(&three, &[0, 1, 2], "draining is not lifted");
        three.set_up(ServerId(9), false);
    }

    #[test]
    fn the_next_idle_server_is_the_one_that_a_search_finds() {
        for n in [1, 3, 63, 64] {
            let mut servers = servers(n, 2);
            for step in 0..600_u64 {
                let server = ServerId((mix(step) % n as u64) as u16);
                match mix(step ^ 77) % 8 {
                    0 => servers.set_up(server, !mix(step ^ 3).is_multiple_of(3)),
                    1 => servers.set_max_in_flight(server, Some((mix(step ^ 4) % 3) as u32)),
                    2..5 if servers.get(server).in_flight > 0 => {
                        servers.left(server, ClassId(0), Left::Answered);
                    }
                    _ if servers.has_room(server) => servers.sent(server, ClassId(0)),
                    _ => {}
                }
                let start = (step % (n as u64 + 1)) as usize;
                let want = (start..n).chain(0..start).find(|&at| servers.open()[at] == 0);
                assert_eq!(servers.next_idle(start), want, "{n} servers from {start} at step {step}");
            }
        }
    }

    #[test]
    fn the_place_of_a_server_that_is_gone_is_used_again_once_it_is_empty() {
        let mut two = servers(2, u32::MAX);
        two.sent(ServerId(0), ClassId(0));
        two.set_bar(ServerId(0), bar::GONE, true);
        assert_eq!(two.add(&spec(7, 9, 1.0)), ServerId(2), "the first still has a job");
        two.left(ServerId(0), ClassId(0), Left::Answered);
        assert_eq!(two.add(&spec(8, 9, 1.0)), ServerId(0));
        assert_eq!((two.get(ServerId(0)).completed, two.len()), (0, 3), "counts begin anew");
    }
}
