//! Which server takes a job: one balancer a file, and [`Balancer`], the closed list of them.
//!
//! To add one: a file with a type that implements [`Pick`], an arm in [`Balancer`], and an arm of
//! `BalancerV1` that makes it. The table of servers ([`Servers`]) is the same for all.

mod least_connections;
mod round_robin;

pub use least_connections::LeastConnections;
pub use round_robin::RoundRobin;

use crate::id::{ClassId, ServerId};
use crate::scenario::ServerSpec;
use crate::scenario::v1::BalancerV1;
use crate::unit::Draw;
use alloc::vec;
use alloc::vec::Vec;

/// What the gateway knows of one server.
#[derive(Clone, Debug)]
pub struct Server {
    /// Whether it may be sent anything.
    pub up: bool,
    /// Jobs it was sent and has not answered.
    pub in_flight: u32,
    /// Most it may have in flight.
    pub max_in_flight: u32,
    /// Jobs sent so far.
    pub picked: u64,
    /// Jobs answered so far.
    pub completed: u64,
    /// Jobs failed so far.
    pub failed: u64,
}

impl Server {
    /// Whether it may be sent one more job.
    #[must_use]
    #[inline]
    pub const fn has_room(&self) -> bool {
        self.up & (self.in_flight < self.max_in_flight)
    }
}

/// The servers behind a balancer, with what is in flight at each.
#[derive(Clone, Debug)]
pub struct Servers {
    servers: Vec<Server>,
    /// `in_flight[server * classes + class]`.
    in_flight: Vec<u32>,
    classes: usize,
    /// Servers with room; kept so that a full house is known without a search.
    with_room: u32,
}

impl Servers {
    /// All servers of a scenario, up and idle.
    #[must_use]
    pub fn new(specs: &[ServerSpec], classes: usize) -> Self {
        let servers: Vec<Server> = specs
            .iter()
            .map(|spec| Server {
                up: true,
                in_flight: 0,
                max_in_flight: spec.max_in_flight.unwrap_or(u32::MAX),
                picked: 0,
                completed: 0,
                failed: 0,
            })
            .collect();
        let with_room = servers.iter().filter(|s| s.has_room()).count() as u32;
        Self { in_flight: vec![0; servers.len() * classes], servers, classes, with_room }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.servers.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Whether any has room.
    #[must_use]
    pub const fn any_room(&self) -> bool {
        self.with_room > 0
    }

    /// The servers in scenario order.
    pub fn iter(&self) -> core::slice::Iter<'_, Server> {
        self.servers.iter()
    }

    /// The servers before `at` and those from it on.
    #[must_use]
    #[inline]
    pub fn split_at(&self, at: usize) -> (&[Server], &[Server]) {
        self.servers.split_at(at.min(self.servers.len()))
    }

    /// One server.
    #[must_use]
    pub fn get(&self, server: ServerId) -> &Server {
        &self.servers[usize::from(server.0)]
    }

    /// Jobs in flight at a server, by class.
    #[must_use]
    pub fn in_flight_by_class(&self, server: ServerId) -> &[u32] {
        let at = usize::from(server.0) * self.classes;
        &self.in_flight[at..at + self.classes]
    }

    /// Marks a server up or down; an id out of range is ignored.
    pub fn set_up(&mut self, server: ServerId, up: bool) {
        if usize::from(server.0) < self.servers.len() {
            self.change(server, |s| s.up = up);
        }
    }

    /// Notes that a job of `class` was sent to `server`.
    #[inline]
    pub fn sent(&mut self, server: ServerId, class: ClassId) {
        self.change(server, |s| {
            s.in_flight += 1;
            s.picked += 1;
        });
        *self.cell(server, class) += 1;
    }

    /// Notes that a job of `class` is no longer at `server`.
    #[inline]
    pub fn left(&mut self, server: ServerId, class: ClassId, how: Left) {
        self.change(server, |s| {
            s.in_flight -= 1;
            match how {
                Left::Answered => s.completed += 1,
                Left::Failed => s.failed += 1,
                Left::Abandoned => {}
            }
        });
        *self.cell(server, class) -= 1;
    }

    #[inline]
    fn cell(&mut self, server: ServerId, class: ClassId) -> &mut u32 {
        &mut self.in_flight[usize::from(server.0) * self.classes + usize::from(class.0)]
    }

    #[inline]
    fn change(&mut self, server: ServerId, change: impl FnOnce(&mut Server)) {
        let s = &mut self.servers[usize::from(server.0)];
        let before = s.has_room();
        change(s);
        match (before, s.has_room()) {
            (true, false) => self.with_room -= 1,
            (false, true) => self.with_room += 1,
            _ => {}
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

/// Picks a server for each job.
pub trait Pick {
    /// A server with room, other than `except`, or `None` if there is none. `draw` is there to be used
    /// or not.
    fn pick(&mut self, servers: &Servers, except: Option<ServerId>, draw: Draw) -> Option<ServerId>;

    /// What it makes of a server: larger gets more. 1 where the policy has no weights.
    fn weight(&self, _server: ServerId) -> f64 {
        1.0
    }
}

/// The balancer of a gateway.
#[derive(Clone, Debug)]
pub enum Balancer {
    /// Each in turn.
    RoundRobin(RoundRobin),
    /// Fewest in flight.
    LeastConnections(LeastConnections),
}

impl Balancer {
    /// The balancer a scenario asks for.
    #[must_use]
    pub const fn new(wire: &BalancerV1) -> Self {
        match wire {
            BalancerV1::RoundRobin => Self::RoundRobin(RoundRobin::new()),
            BalancerV1::LeastConnections => Self::LeastConnections(LeastConnections::new()),
        }
    }
}

impl Pick for Balancer {
    #[inline]
    fn pick(&mut self, servers: &Servers, except: Option<ServerId>, draw: Draw) -> Option<ServerId> {
        match self {
            Self::RoundRobin(balancer) => balancer.pick(servers, except, draw),
            Self::LeastConnections(balancer) => balancer.pick(servers, except, draw),
        }
    }

    fn weight(&self, server: ServerId) -> f64 {
        match self {
            Self::RoundRobin(balancer) => balancer.weight(server),
            Self::LeastConnections(balancer) => balancer.weight(server),
        }
    }
}

/// The servers in ring order from `from` on, each once.
#[inline]
fn ring(from: usize, servers: &Servers) -> impl Iterator<Item = (ServerId, &Server)> {
    let (before, after) = servers.servers.split_at(from.min(servers.len()));
    let number = |(at, server): (usize, _)| (ServerId(at as u16), server);
    let after = (from..).zip(after).map(number);
    after.chain(before.iter().enumerate().map(number))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    /// `n` idle servers that take at most `max_in_flight` each.
    pub(super) fn servers(n: usize, max_in_flight: u32) -> Servers {
        let spec = |i: usize| ServerSpec {
            name: i.to_string(),
            slots: 1,
            speed: 1.0,
            max_in_flight: Some(max_in_flight),
        };
        Servers::new(&(0..n).map(spec).collect::<Vec<_>>(), 1)
    }

    /// Picks and sends up to `times` jobs of class 0; the servers they went to.
    pub(super) fn pick_times(balancer: &mut impl Pick, servers: &mut Servers, times: usize) -> Vec<u16> {
        (0..times)
            .map_while(|_| {
                let server = balancer.pick(servers, None, Draw::from_bits(0))?;
                servers.sent(server, ClassId(0));
                Some(server.0)
            })
            .collect()
    }

    #[test]
    fn every_balancer_obeys_room_and_exception() {
        for wire in [BalancerV1::RoundRobin, BalancerV1::LeastConnections] {
            let mut balancer = Balancer::new(&wire);
            let mut two = servers(2, 3);
            let draw = Draw::from_bits(0);
            for _ in 0..10 {
                assert_eq!(balancer.pick(&two, Some(ServerId(0)), draw), Some(ServerId(1)), "{wire:?}");
            }
            assert_eq!(pick_times(&mut balancer, &mut two, 100).len(), 6, "{wire:?}");
            two.left(ServerId(1), ClassId(0), Left::Failed);
            assert_eq!(balancer.pick(&two, Some(ServerId(1)), draw), None, "{wire:?}");
            assert_eq!(balancer.pick(&two, None, draw), Some(ServerId(1)), "{wire:?}");
            two.set_up(ServerId(1), false);
            assert_eq!(balancer.pick(&two, None, draw), None, "{wire:?}");
            assert!(!two.any_room());
        }
    }

    #[test]
    fn counts_in_flight_by_class_add_up() {
        let spec = ServerSpec { name: "a".to_string(), slots: 1, speed: 1.0, max_in_flight: None };
        let mut servers = Servers::new(&[spec], 2);
        servers.sent(ServerId(0), ClassId(0));
        servers.sent(ServerId(0), ClassId(1));
        servers.sent(ServerId(0), ClassId(1));
        servers.left(ServerId(0), ClassId(1), Left::Abandoned);
        assert_eq!(servers.in_flight_by_class(ServerId(0)), [1, 1]);
        let s = servers.get(ServerId(0));
        assert_eq!((s.in_flight, s.picked, s.completed, s.failed), (2, 3, 0, 0));
    }
}
