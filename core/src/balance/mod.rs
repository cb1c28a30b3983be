//! Which server takes a job: one balancer a file, and [`Balancer`], the closed list of them.
//!
//! To add one: a file with a type that implements [`Pick`], an arm in [`Balancer`], and an arm of
//! `BalancerV1` that makes it. What they all share: the table of [`Servers`], the [`standing`] of each (overloaded,
//! silent, ejected, warming up), which no balancer judges for itself, and [`Balancing`], which puts the three together.

mod balancing;
mod buckets;
mod consistent_hash;
mod destination_hash;
mod dnf;
mod dnf_published;
mod join_shortest_queue;
mod latency;
mod least_connections;
mod least_time;
mod peak_ewma;
mod power_of_two;
mod random;
mod report;
mod round_robin;
mod search;
mod servers;
mod source_hash;
mod standing;
mod turns;
mod weigh;
mod weighted_least_connections;
mod weighted_round_robin;

pub use balancing::{Balancing, Decision};
pub use consistent_hash::ConsistentHash;
pub use destination_hash::DestinationHash;
pub use dnf::Dnf;
pub use dnf_published::DnfPublished;
pub use join_shortest_queue::JoinShortestQueue;
pub use least_connections::LeastConnections;
pub use least_time::LeastTime;
pub use peak_ewma::PeakEwma;
pub use power_of_two::PowerOfTwo;
pub use random::Random;
pub use report::LoadReport;
pub use round_robin::RoundRobin;
pub use servers::{Left, SHUT, Server, Servers, bar};
pub use source_hash::SourceHash;
pub use standing::Standing;
pub use weighted_least_connections::WeightedLeastConnections;
pub use weighted_round_robin::WeightedRoundRobin;

use crate::id::{ClassId, ServerId};
use crate::scenario::v1::{BalancerV1, FeedbackV1, HashByV1, KindV1};
use crate::time::{Duration, Instant};
use crate::unit::Chance;
use alloc::vec::Vec;

/// The first number of a job's [`Chance`] that belongs to balancing; stages use those below it.
pub(crate) const FIRST_DRAW: u32 = 256;

/// A job that asks for a server.
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// When.
    pub now: Instant,
    /// Its class.
    pub class: ClassId,
    /// What kind of work it is.
    pub kind: KindV1,
    /// What hashing balancers go by: see [`BalancerV1::hashes`].
    pub key: u32,
    /// Its luck. Decision numbers from `draw` on are the balancer's; see [`Ask::draw`].
    pub chance: Chance,
    /// How often it asked before: 0 at first, more when a server turned out to be unreachable or warming up.
    pub attempt: u32,
    /// A server that is no answer.
    pub except: Option<ServerId>,
}

impl Ask {
    /// The `n`-th uniform draw of this attempt, `n` below 32.
    #[must_use]
    #[inline]
    pub fn draw(&self, n: u32) -> f64 {
        self.chance.draw(FIRST_DRAW + self.attempt + 64 * n).get()
    }

    /// Whether this server is a possible answer.
    #[must_use]
    #[inline]
    pub fn allows(&self, servers: &Servers, server: ServerId) -> bool {
        servers.has_room(server) && self.except != Some(server)
    }
}

/// A place among the gateways in front of the same servers: where ties and turns begin, so that many gateways
/// that start together do not all begin with the same server. 0 begins with the first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seat(pub u64);

impl Seat {
    /// The index, below `n`, that it begins with.
    #[must_use]
    pub const fn first(self, n: usize) -> usize {
        if n == 0 { 0 } else { (self.0 % n as u64) as usize }
    }
}

/// What a balancer is made of.
#[derive(Clone, Copy, Debug)]
pub struct Setup<'a> {
    /// Its parameters.
    pub wire: &'a BalancerV1,
    /// How often servers report.
    pub feedback: &'a FeedbackV1,
    /// Its seat among the gateways in front of these servers.
    pub seat: Seat,
}

/// How a balancer came to its answer, for one server that it considered.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Candidate {
    /// Which.
    pub server: ServerId,
    /// What it is judged by: the smallest is picked (among those of the `group`).
    pub key: f64,
    /// What decides among equals, where there is such a number: the largest is picked.
    pub turn: f64,
    /// Whether it was among those that `turn` decides between; 1 for the top group.
    pub group: u8,
}

/// What a balancer makes of one server.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct View {
    /// By kind of work (short, session): larger gets more.
    pub weights: [f64; 2],
    /// By kind: the load it goes by, smoothed; `None` where it goes by none or nothing is known.
    pub loads: [Option<f64>; 2],
    /// The group it is in, 1 the one that gets new work; 0 where there are no groups.
    pub group: u8,
    /// Latency it expects, in seconds, where it measures one.
    pub latency_s: Option<f64>,
}

/// Picks a server for each job.
pub trait Pick {
    /// A server that the ask [allows](Ask::allows), or `None` if there is none. Never anything else, whatever was
    /// noted before.
    fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId>;

    /// Notes that a job went to a server; `servers` counts it already.
    #[inline]
    fn sent(&mut self, _servers: &Servers, _server: ServerId, _kind: KindV1) {}

    /// Notes that a job that was at a server for `took` is there no longer; `servers` counts it no longer.
    #[inline]
    fn left(
        &mut self,
        _now: Instant,
        _servers: &Servers,
        _server: ServerId,
        _kind: KindV1,
        _how: Left,
        _took: Duration,
    ) {
    }

    /// Notes that something other than a job changed at a server: it came, went, was barred, got another weight, or
    /// is a new one in an old place (`anew`).
    fn changed(&mut self, _servers: &Servers, _server: ServerId, _anew: bool) {}

    /// Notes what a server reports, after [`changed`](Self::changed) if the report changed its standing.
    fn report(&mut self, _now: Instant, _servers: &Servers, _server: ServerId, _report: &LoadReport) {}

    /// When [`tick`](Self::tick) wants to be called.
    fn next_at(&self) -> Instant {
        Instant::NEVER
    }

    /// Does what is due by now.
    fn tick(&mut self, _now: Instant, _servers: &Servers) {}

    /// What it makes of a server.
    fn view(&self, servers: &Servers, server: ServerId, _now: Instant) -> View {
        let weight = servers.get(server).weight;
        View { weights: [weight; 2], loads: [None; 2], group: 0, latency_s: None }
    }

    /// The servers it would consider for this ask, with what it would judge them by, before it picks.
    fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
        for at in (0..servers.len()).map(|at| ServerId(at as u16)) {
            if ask.allows(servers, at) {
                let key = f64::from(servers.get(at).in_flight);
                out.push(Candidate { server: at, key, turn: 0.0, group: 0 });
            }
        }
    }
}

/// Declares the closed list of balancers, and hands every question on to the one there is.
macro_rules! balancers {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// The balancer of a gateway.
        #[derive(Clone, Debug)]
        pub enum Balancer {
            $($(#[$doc])* $name($name),)*
        }

        impl Pick for Balancer {
            #[inline(never)]
            fn pick(&mut self, servers: &Servers, ask: &Ask) -> Option<ServerId> {
                match self { $(Self::$name(b) => b.pick(servers, ask),)* }
            }

            #[inline]
            fn sent(&mut self, servers: &Servers, server: ServerId, kind: KindV1) {
                match self { $(Self::$name(b) => b.sent(servers, server, kind),)* }
            }

            #[inline]
            fn left(
                &mut self,
                now: Instant,
                servers: &Servers,
                server: ServerId,
                kind: KindV1,
                how: Left,
                took: Duration,
            ) {
                match self { $(Self::$name(b) => b.left(now, servers, server, kind, how, took),)* }
            }

            fn changed(&mut self, servers: &Servers, server: ServerId, anew: bool) {
                match self { $(Self::$name(b) => b.changed(servers, server, anew),)* }
            }

            fn report(&mut self, now: Instant, servers: &Servers, server: ServerId, report: &LoadReport) {
                match self { $(Self::$name(b) => b.report(now, servers, server, report),)* }
            }

            fn next_at(&self) -> Instant {
                match self { $(Self::$name(b) => b.next_at(),)* }
            }

            fn tick(&mut self, now: Instant, servers: &Servers) {
                match self { $(Self::$name(b) => b.tick(now, servers),)* }
            }

            fn view(&self, servers: &Servers, server: ServerId, now: Instant) -> View {
                match self { $(Self::$name(b) => b.view(servers, server, now),)* }
            }

            fn explain(&self, servers: &Servers, ask: &Ask, out: &mut Vec<Candidate>) {
                match self { $(Self::$name(b) => b.explain(servers, ask, out),)* }
            }
        }
    };
}

balancers! {
    /// Each in turn.
    RoundRobin,
    /// Fewest in flight.
    LeastConnections,
    /// Each in turn, by weight.
    WeightedRoundRobin,
    /// Fewest in flight for its weight.
    WeightedLeastConnections,
    /// By who asks.
    SourceHash,
    /// By what is asked for.
    DestinationHash,
    /// By either, with few that move.
    ConsistentHash,
    /// Any.
    Random,
    /// The emptiest of a few.
    PowerOfTwo,
    /// Fewest there, ties by chance.
    JoinShortestQueue,
    /// Latency times jobs in flight, of two.
    PeakEwma,
    /// Latency times jobs in flight, of all.
    LeastTime,
    /// Dynamic negative feedback, as published.
    DnfPublished,
    /// Dynamic negative feedback, by kind of work.
    Dnf,
}

/// What a hashing balancer goes by.
pub type HashBy = HashByV1;

impl Balancer {
    /// The balancer that is asked for.
    #[must_use]
    pub fn new(setup: &Setup<'_>, servers: &Servers) -> Self {
        match setup.wire {
            BalancerV1::RoundRobin => Self::RoundRobin(RoundRobin::new(servers, setup.seat)),
            BalancerV1::LeastConnections => {
                Self::LeastConnections(LeastConnections::new(servers, setup.seat))
            }
            BalancerV1::WeightedRoundRobin { .. } => {
                Self::WeightedRoundRobin(WeightedRoundRobin::new(setup, servers))
            }
            BalancerV1::WeightedLeastConnections => {
                Self::WeightedLeastConnections(WeightedLeastConnections::new(setup, servers))
            }
            BalancerV1::SourceHash => Self::SourceHash(SourceHash::new(setup, servers)),
            BalancerV1::DestinationHash => Self::DestinationHash(DestinationHash::new(setup, servers)),
            BalancerV1::ConsistentHash { .. } => Self::ConsistentHash(ConsistentHash::new(setup, servers)),
            BalancerV1::Random => Self::Random(Random::new(setup, servers)),
            BalancerV1::PowerOfTwo { .. } => Self::PowerOfTwo(PowerOfTwo::new(setup, servers)),
            BalancerV1::JoinShortestQueue => Self::JoinShortestQueue(JoinShortestQueue::new(setup, servers)),
            BalancerV1::PeakEwma { .. } => Self::PeakEwma(PeakEwma::new(setup, servers)),
            BalancerV1::LeastTime { .. } => Self::LeastTime(LeastTime::new(setup, servers)),
            BalancerV1::DnfPublished { .. } => Self::DnfPublished(DnfPublished::new(setup, servers)),
            BalancerV1::Dnf { .. } => Self::Dnf(Dnf::new(setup, servers)),
        }
    }

    /// Whether it has to be told of jobs that come and go; else the counts of [`Servers`] are all it goes by.
    #[must_use]
    pub const fn follows_jobs(&self) -> bool {
        !matches!(
            self,
            Self::RoundRobin(_)
                | Self::LeastConnections(_)
                | Self::WeightedRoundRobin(_)
                | Self::WeightedLeastConnections(_)
                | Self::SourceHash(_)
                | Self::DestinationHash(_)
                | Self::ConsistentHash(_)
                | Self::Random(_)
                | Self::PowerOfTwo(_)
                | Self::JoinShortestQueue(_)
        )
    }
}

impl BalancerV1 {
    /// What of a request the balancer hashes, if it does.
    #[must_use]
    pub const fn hashes(&self) -> Option<HashBy> {
        match self {
            Self::SourceHash => Some(HashByV1::Source),
            Self::DestinationHash => Some(HashByV1::Target),
            Self::ConsistentHash { by, .. } => Some(*by),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::ServerSpec;
    use crate::scenario::v1::{CapacityV1, DisciplineV1};
    use alloc::string::ToString;
    use alloc::vec;

    /// A server.
    pub(super) fn spec(number: usize, max_in_flight: u32, weight: f64) -> ServerSpec {
        ServerSpec {
            name: number.to_string(),
            slots: 1,
            speed: 1.0,
            max_in_flight: (max_in_flight < u32::MAX).then_some(max_in_flight),
            weight,
            discipline: DisciplineV1::Slots,
            capacity: CapacityV1 { mem: None, net: None, disk: None, rooms: None },
        }
    }

    /// `n` idle servers of weight 1 that take at most `max_in_flight` each.
    pub(super) fn servers(n: usize, max_in_flight: u32) -> Servers {
        let specs: Vec<_> = (0..n).map(|i| spec(i, max_in_flight, 1.0)).collect();
        Servers::of(&specs, vec![KindV1::Short, KindV1::Session])
    }

    /// Idle servers of these weights.
    pub(super) fn weighted(weights: &[f64]) -> Servers {
        let specs: Vec<_> = weights.iter().enumerate().map(|(i, &w)| spec(i, u32::MAX, w)).collect();
        Servers::of(&specs, vec![KindV1::Short, KindV1::Session])
    }

    /// Job number `n` of class 0.
    pub(super) fn ask(n: u64) -> Ask {
        Ask {
            now: Instant::START,
            class: ClassId(0),
            kind: KindV1::Short,
            key: crate::unit::mix(n) as u32,
            chance: Chance(n),
            attempt: 0,
            except: None,
        }
    }

    /// Picks and sends up to `times` jobs of class 0; the servers they went to.
    pub(super) fn pick_times(balancer: &mut impl Pick, servers: &mut Servers, times: usize) -> Vec<u16> {
        (0..times as u64)
            .map_while(|n| {
                let server = balancer.pick(servers, &ask(n))?;
                servers.sent(server, ClassId(0));
                balancer.sent(servers, server, KindV1::Short);
                Some(server.0)
            })
            .collect()
    }

    /// A job of class 0 leaves a server with its answer after `took`.
    pub(super) fn answer(balancer: &mut impl Pick, servers: &mut Servers, server: u16, took: Duration) {
        let server = ServerId(server);
        servers.left(server, ClassId(0), Left::Answered);
        balancer.left(Instant::START, servers, server, KindV1::Short, Left::Answered, took);
    }

    /// Every balancer with its defaults.
    pub(super) fn all() -> Vec<BalancerV1> {
        [
            r#""round_robin""#,
            r#""least_connections""#,
            r#""weighted_round_robin""#,
            r#""weighted_round_robin","weights":"reported""#,
            r#""weighted_least_connections""#,
            r#""source_hash""#,
            r#""destination_hash""#,
            r#""consistent_hash""#,
            r#""consistent_hash","table":"ring","by":"target""#,
            r#""random""#,
            r#""power_of_two""#,
            r#""power_of_two","choices":3"#,
            r#""join_shortest_queue""#,
            r#""peak_ewma""#,
            r#""least_time""#,
            r#""dnf_published""#,
            r#""dnf_published","group_by":"rank""#,
            r#""dnf""#,
        ]
        .into_iter()
        .map(wire)
        .collect()
    }

    /// The balancer, for feedback by its defaults.
    pub(super) fn made(wire: &BalancerV1, servers: &Servers, seat: Seat) -> Balancer {
        Balancer::new(&Setup { wire, feedback: &FeedbackV1::default(), seat }, servers)
    }

    /// A balancer as it is written, without the outer braces.
    pub(super) fn wire(policy: &str) -> BalancerV1 {
        let text = alloc::format!(
            r#"{{"tidegate":1,"classes":[{{"name":"a"}}],"stages":[{{"name":"s","workers":1,"work":{{"at":"servers"}}}}],
            "servers":[{{"name":"x"}}],"balancer":{{"policy":{policy}}}}}"#
        );
        crate::scenario::parse_json(&text).unwrap().check().unwrap().balancer
    }

    #[test]
    fn every_balancer_obeys_room_exception_and_standing() {
        for wire in all() {
            let mut two = servers(2, 3);
            let mut balancer = made(&wire, &two, Seat(0));
            for n in 0..10 {
                let ask = Ask { except: Some(ServerId(0)), ..ask(n) };
                assert_eq!(balancer.pick(&two, &ask), Some(ServerId(1)), "{wire:?}: all but one is excepted");
            }
            assert_eq!(pick_times(&mut balancer, &mut two, 100).len(), 6, "{wire:?}: no more than fit");
            two.left(ServerId(1), ClassId(0), Left::Failed);
            balancer.left(
                Instant::START,
                &two,
                ServerId(1),
                KindV1::Short,
                Left::Failed,
                Duration::from_millis(1),
            );
            let excepted = Ask { except: Some(ServerId(1)), ..ask(1) };
            assert_eq!(balancer.pick(&two, &excepted), None, "{wire:?}: the only room is excepted");
            assert_eq!(balancer.pick(&two, &ask(1)), Some(ServerId(1)), "{wire:?}: the only room");
            two.set_bar(ServerId(1), bar::OVERLOADED, true);
            balancer.changed(&two, ServerId(1), false);
            assert_eq!(balancer.pick(&two, &ask(1)), None, "{wire:?}: barred");
            assert!(!two.any_room());
        }
    }

    #[test]
    fn a_balancer_that_does_not_follow_jobs_picks_alike_whether_it_is_told_of_them_or_not() {
        for wire in all() {
            let mut five = servers(5, 30);
            let mut told = made(&wire, &five, Seat(1));
            let mut untold = told.clone();
            let mut differs = false;
            for n in 0..100 {
                let server = told.pick(&five, &ask(n)).unwrap();
                differs |= untold.pick(&five, &ask(n)) != Some(server);
                five.sent(server, ClassId(0));
                told.sent(&five, server, KindV1::Short);
                let gone = ServerId((n * n % 5) as u16);
                if five.get(gone).in_flight > 0 {
                    answer(&mut told, &mut five, gone.0, Duration::from_millis(1 + n * n % 37));
                }
            }
            assert!(!differs || told.follows_jobs(), "{wire:?} has to be told of jobs and does not say so");
        }
    }

    #[test]
    fn every_balancer_takes_in_a_new_server_and_a_new_one_in_an_old_place() {
        for wire in all() {
            let mut one = servers(1, 2);
            let mut balancer = made(&wire, &one, Seat(3));
            let second = one.add(&spec(1, 2, 1.0));
            balancer.changed(&one, second, true);
            let mut picks = pick_times(&mut balancer, &mut one, 9);
            picks.sort_unstable();
            assert_eq!(picks, [0, 0, 1, 1], "{wire:?}");
        }
    }

    /// A hundred gateways that start together must not send all their first jobs to one server.
    #[test]
    fn first_picks_of_many_seats_spread_over_equal_servers() {
        for wire in all().into_iter().filter(|wire| wire.hashes().is_none()) {
            let mut counts = [0; 10];
            for seat in 0..100 {
                let ten = servers(10, u32::MAX);
                let seat = crate::unit::mix(seat);
                let server = made(&wire, &ten, Seat(seat)).pick(&ten, &ask(seat)).unwrap();
                counts[usize::from(server.0)] += 1;
            }
            // A binomial count is 10, give or take 3.
            let spread = counts.iter().all(|count| (1..=22).contains(count));
            assert!(spread, "{wire:?}: of 100 first jobs the ten servers got {counts:?}");
        }
    }
}
