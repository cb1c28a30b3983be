//! The clients of a scenario by themselves, for a driver that plays them against something real.
//!
//! Same seed, same traffic: requests arrive at the same moments and bring the same work as in a
//! [`Simulation`](super::Simulation) of the scenario (closed clients do as far as they are answered alike). Nothing
//! here knows what becomes of a request; the driver says when a waiting client has its answer.

use super::arrivals::Arrivals;
use super::clients::{Clients, Population};
use super::law::Law;
use super::random::{Purpose, Stream, key, nth};
use super::{WORK, largest_factor, times};
use crate::id::ClassId;
use crate::scenario::v1::{LawV1, LoadV1};
use crate::scenario::{Action, Scenario};
use crate::time::{Duration, Instant};
use alloc::collections::BinaryHeap;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// A request that is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ask {
    /// When.
    pub at: Instant,
    /// Of which class.
    pub class: ClassId,
    /// Its work at a server of speed 1.
    pub work: Duration,
    /// The closed client that makes it and waits for the answer, if one does.
    pub client: Option<u32>,
}

/// What is to come: events of the scenario before requests, then in the order they were entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Next {
    Timed(u32),
    Open { class: u8, redraw: u32 },
    Client(u32),
}

/// An event that changes what clients do, for one class or for all.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// How many or how often they ask.
    Load(Option<ClassId>, f64),
    /// How much work they ask for.
    Work(Option<ClassId>, f64),
}

/// Times drawn from a law, one after the other.
#[derive(Clone, Debug)]
pub struct Times {
    law: Law,
    stream: Stream,
}

impl Times {
    /// Times of a law whose parameters are in the ranges of a checked scenario.
    #[must_use]
    pub fn new(law: &LawV1, seed: u64) -> Self {
        Self { law: Law::new(law), stream: Stream::new(key(seed, 0, Purpose::Request, 0)) }
    }

    /// The next one.
    pub fn draw(&mut self) -> Duration {
        self.law.draw(&mut self.stream)
    }
}

/// The clients of a scenario.
#[derive(Clone, Debug)]
pub struct Traffic {
    horizon: Instant,
    coming: BinaryHeap<Reverse<(Instant, Next, u64)>>,
    entered: u64,
    arrivals: Vec<Arrivals>,
    /// For each class the arrival expected, and how often it was drawn anew.
    pending: Vec<(Option<Instant>, u32)>,
    /// For each class the requests made by open loop, and the key of what they are like.
    made: Vec<(u64, u64)>,
    service: Vec<Law>,
    /// What the work of each class's requests is multiplied by, if they ask now.
    work_factors: Vec<f64>,
    clients: Clients,
    /// Events that change what clients do.
    timed: Vec<(Instant, Change)>,
}

impl Traffic {
    /// The traffic of a scenario up to its horizon. Classes that replay a trace are silent.
    #[must_use]
    pub fn new(scenario: &Scenario, replication: u32) -> Self {
        let stream_key = |purpose, class: usize| key(scenario.seed, replication, purpose, class as u64);
        let classes = scenario.classes.len();
        let open = |at: usize| {
            Arrivals::new(&scenario.classes[at].load, Stream::new(stream_key(Purpose::Arrivals, at)), None)
        };
        let timed = scenario.events.iter().filter_map(|event| match event.action {
            Action::Load { class, factor } => Some((event.at, Change::Load(class, factor))),
            Action::Service { class, factor } => Some((event.at, Change::Work(class, factor))),
            _ => None,
        });
        let mut traffic = Self {
            horizon: Instant::START + scenario.horizon,
            coming: BinaryHeap::new(),
            entered: 0,
            arrivals: (0..classes).map(open).collect(),
            pending: alloc::vec![(None, 0); classes],
            made: (0..classes).map(|at| (0, stream_key(Purpose::Request, at))).collect(),
            service: scenario.classes.iter().map(|class| Law::new(&class.service)).collect(),
            work_factors: alloc::vec![1.0; classes],
            clients: Clients::default(),
            timed: timed.collect(),
        };
        for number in 0..traffic.timed.len() {
            traffic.enter(traffic.timed[number].0, Next::Timed(number as u32));
        }
        let mut first = 0;
        for (at, class) in scenario.classes.iter().enumerate() {
            if let LoadV1::Closed { clients, think, count } = &class.load {
                let keys = (stream_key(Purpose::Think, at), stream_key(Purpose::Request, at));
                let most = largest_factor(scenario, ClassId(at as u8));
                let people = Population::new(at as u8, *clients, Law::new(think), *count, keys, first, most);
                first += people.len();
                traffic.clients.populations.push(people);
                traffic.set_people(at, Instant::START, 1.0);
            } else {
                let next = traffic.arrivals[at].first();
                traffic.expect(at, next);
            }
        }
        traffic
    }

    /// When the next request is due, as far as it is known now: an answer to a waiting client may bring an
    /// earlier one. `None`: none before an answer comes, or the horizon is reached.
    pub fn due(&mut self) -> Option<Instant> {
        loop {
            let &Reverse((at, next, _)) = self.coming.peek()?;
            if at > self.horizon {
                return None;
            }
            match next {
                Next::Timed(number) => {
                    self.coming.pop();
                    self.change(number as usize);
                }
                Next::Open { class, redraw } if self.pending[usize::from(class)].1 != redraw => {
                    self.coming.pop();
                }
                _ => return Some(at),
            }
        }
    }

    /// Takes the request that is [`due`](Self::due) next.
    pub fn take(&mut self) -> Option<Ask> {
        loop {
            self.due()?;
            let Reverse((at, next, _)) = self.coming.pop()?;
            match next {
                Next::Timed(_) => (),
                Next::Open { class, .. } => {
                    let place = usize::from(class);
                    let (_, following) = self.arrivals[place].take(at);
                    self.expect(place, following);
                    let (n, class_key) = self.made[place];
                    self.made[place].0 += 1;
                    return Some(self.ask(at, ClassId(class), nth(class_key, n), None));
                }
                Next::Client(number) => {
                    let people = self.clients.of(number);
                    let class = ClassId(people.class);
                    if let Some(request) = people.asks(number) {
                        return Some(self.ask(at, class, request, Some(number)));
                    }
                }
            }
        }
    }

    /// A waiting client has its answer, or was refused: it thinks, then asks again.
    pub fn answered(&mut self, now: Instant, client: u32, refused: bool) {
        if let Some(think) = self.clients.of(client).answered(client, refused) {
            self.enter(Clients::asks_at(now, think), Next::Client(client));
        }
    }

    fn ask(&self, at: Instant, class: ClassId, request: u64, client: Option<u32>) -> Ask {
        let place = usize::from(class.0);
        let drawn = self.service[place].draw(&mut Stream::new(nth(request, WORK)));
        Ask { at, class, work: times(drawn, self.work_factors[place]), client }
    }

    fn enter(&mut self, at: Instant, next: Next) {
        self.coming.push(Reverse((at, next, self.entered)));
        self.entered += 1;
    }

    fn expect(&mut self, class: usize, at: Option<Instant>) {
        self.pending[class].0 = at;
        if let Some(at) = at {
            self.enter(at, Next::Open { class: class as u8, redraw: self.pending[class].1 });
        }
    }

    fn change(&mut self, number: usize) {
        let (now, change) = self.timed[number];
        let (Change::Load(only, factor) | Change::Work(only, factor)) = change;
        for class in 0..self.arrivals.len() {
            if only.is_some_and(|only| usize::from(only.0) != class) {
                continue;
            }
            match change {
                Change::Load(..) => self.set_load(class, now, factor),
                Change::Work(..) => self.work_factors[class] = factor,
            }
        }
    }

    fn set_load(&mut self, class: usize, now: Instant, factor: f64) {
        let pending = self.pending[class].0.filter(|&at| at >= now);
        let next = self.arrivals[class].set_factor(now, factor, pending);
        if next != pending {
            self.pending[class].1 += 1;
            self.expect(class, next);
        }
        self.set_people(class, now, factor);
    }

    fn set_people(&mut self, class: usize, now: Instant, factor: f64) {
        let mut starting = Vec::new();
        if let Some(people) = self.clients.populations.iter_mut().find(|p| usize::from(p.class) == class) {
            people.set_factor(factor, |client, think| starting.push((client, think)));
        }
        for (client, think) in starting {
            self.enter(Clients::asks_at(now, think), Next::Client(client));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{parse_json, presets};

    #[test]
    fn the_simulator_counts_the_same_requests() {
        for name in ["demo", "bursty", "mm1"] {
            let scenario = presets::get(name).unwrap().scenario();
            let mut traffic = Traffic::new(&scenario, 0);
            let mut asked = alloc::vec![0; scenario.classes.len()];
            let mut last = Instant::START;
            while let Some(ask) = traffic.take() {
                assert!(ask.at >= last, "{name}: time never steps back");
                last = ask.at;
                asked[usize::from(ask.class.0)] += 1;
            }
            let mut sim = crate::sim::Simulation::new(&scenario, 0, None).unwrap();
            sim.run_to_end();
            let mut frame = crate::frame::Frame::default();
            sim.frame(&mut frame);
            let arrived: Vec<u64> = frame.classes.iter().map(|class| class.arrived).collect();
            assert_eq!(asked, arrived, "{name}");
        }
    }

    #[test]
    fn requests_asked_after_an_event_bring_more_work() {
        let text = r#"{"tidegate":1,"run":{"horizon_us":4000000},"classes":[
            {"name":"a","load":{"kind":"deterministic","rate_per_s":1},"service":{"law":"constant","mean_us":1000}},
            {"name":"b","load":{"kind":"deterministic","rate_per_s":1},"service":{"law":"constant","mean_us":500}}],
            "stages":[{"name":"serve","workers":1,"work":{"at":"servers"}}],"servers":[{"name":"x"}],
            "events":[{"at_us":500000,"do":"service","class":"b","factor":3},
                      {"at_us":1500000,"do":"service","factor":0.5},
                      {"at_us":2500000,"do":"service","class":"a","factor":1}]}"#;
        let mut traffic = Traffic::new(&parse_json(text).unwrap().check().unwrap(), 0);
        let mut work = [alloc::vec![], alloc::vec![]];
        while let Some(ask) = traffic.take() {
            work[usize::from(ask.class.0)].push(ask.work.as_nanos() / 1_000);
        }
        assert_eq!(work[0][..4], [1000, 1000, 500, 1000], "microseconds of a, asked at 0, 1, 2, 3 s");
        assert_eq!(work[1][..4], [500, 1500, 250, 250], "microseconds of b");
    }

    #[test]
    fn a_closed_client_asks_again_only_after_its_answer() {
        let text = r#"{"tidegate":1,"run":{"horizon_us":1000000},"classes":[{"name":"all",
            "load":{"kind":"closed","clients":1,"think":{"law":"constant","mean_us":1000}}}],
            "stages":[{"name":"serve","workers":1,"work":{"at":"servers"}}],"servers":[{"name":"a"}]}"#;
        let scenario = parse_json(text).unwrap().check().unwrap();
        let mut traffic = Traffic::new(&scenario, 0);
        let first = traffic.take().unwrap();
        assert_eq!((first.at, first.client), (Instant::from_nanos(1_000_000), Some(0)));
        assert_eq!(traffic.take(), None, "it waits");
        traffic.answered(Instant::from_nanos(5_000_000), 0, false);
        assert_eq!(traffic.due(), Some(Instant::from_nanos(6_000_000)));
        traffic.take();
        traffic.answered(Instant::from_nanos(999_999_999), 0, false);
        assert_eq!(traffic.take(), None, "the horizon is reached");
    }
}
