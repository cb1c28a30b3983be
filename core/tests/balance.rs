//! Every balancer through random hours: servers go down, are barred, leave and come, change their weight and their
//! limit, report, and get jobs that come back in any order.
//!
//! Whatever happens, a balancer picks a server that may be picked, and one as long as there is one. And what becomes of a job that moves.
//!
//! To add a balancer: a line in [`POLICIES`].

use tidegate_core::balance::{Balancing, Left, LoadReport, Seat};
use tidegate_core::frame::Frame;
use tidegate_core::gateway::{Arrival, Asked, Gateway, Outcome, Output};
use tidegate_core::id::{ClassId, ServerId};
use tidegate_core::scenario::{Parsed, Scenario, parse_json};
use tidegate_core::time::{Duration, Instant};
use tidegate_core::unit::{Chance, mix};

/// Seeds tried of each balancer.
const SEEDS: u64 = 10;
/// Things that happen to each.
const STEPS: u32 = 2_000;

/// What goes between the braces of a balancer.
const POLICIES: [&str; 19] = [
    r#""policy":"round_robin""#,
    r#""policy":"least_connections""#,
    r#""policy":"weighted_round_robin""#,
    r#""policy":"weighted_round_robin","weights":"reported""#,
    r#""policy":"weighted_least_connections""#,
    r#""policy":"source_hash""#,
    r#""policy":"destination_hash""#,
    r#""policy":"consistent_hash","table":"ring""#,
    r#""policy":"consistent_hash","table":"maglev","by":"target""#,
    r#""policy":"random""#,
    r#""policy":"power_of_two""#,
    r#""policy":"power_of_two","choices":8"#,
    r#""policy":"join_shortest_queue""#,
    r#""policy":"peak_ewma""#,
    r#""policy":"least_time""#,
    r#""policy":"dnf_published""#,
    r#""policy":"dnf_published","group_by":"rank","weighted":true"#,
    r#""policy":"dnf""#,
    r#""policy":"dnf","short":["cpu"],"session":["rooms"]"#,
];

/// Weights servers are given: nothing, odd ones, whole ones, a large one.
const WEIGHTS: [f64; 6] = [0.0, 0.05, 1.0, 1.0, 3.0, 20.0];

/// A plain random number generator for tests.
struct Dice(u64);

impl Dice {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.bits() % n as u64) as usize
    }

    /// A part of 1.2, so that a load may be beyond its limit; sometimes nothing.
    fn load(&mut self) -> Option<f64> {
        (self.below(8) > 0).then(|| self.below(121) as f64 / 100.0)
    }
}

fn scenario(policy: &str, servers: usize) -> Scenario {
    let server = |n| format!(r#"{{"name":"s{n}","weight":{},"max_in_flight":{}}}"#, 1 + n % 3, 2 + n % 5);
    let servers: Vec<String> = (0..servers).map(server).collect();
    let text = format!(
        r#"{{"tidegate":1,"classes":[{{"name":"a"}},{{"name":"b","kind":"session"}}],
        "stages":[{{"name":"s","workers":1,"work":{{"at":"servers"}}}}],
        "balancer":{{{policy}}},"servers":[{}]}}"#,
        servers.join(",")
    );
    parse_json(&text).and_then(Parsed::check).unwrap_or_else(|error| panic!("{policy}: {error}"))
}

/// Servers, what is at them, and what happened last.
struct World<'a> {
    scenario: &'a Scenario,
    balancing: Balancing,
    dice: Dice,
    now: Instant,
    jobs: Vec<(ServerId, ClassId)>,
}

impl World<'_> {
    fn may_be_picked(&self, server: ServerId) -> bool {
        let (servers, s) = (self.balancing.servers(), self.balancing.servers().get(server));
        let is_barred = s.bars & !servers.lifted() != 0;
        s.up && !is_barred && s.weight > 0.0 && s.in_flight < s.max_in_flight
    }

    fn server(&mut self) -> ServerId {
        let n = self.balancing.servers().len();
        ServerId(self.dice.below(n) as u16)
    }

    /// Asks for a server, and says what is wrong with the answer.
    fn send(&mut self) -> Result<(), String> {
        let class = ClassId(self.dice.below(2) as u8);
        let except = (self.dice.below(4) == 0).then(|| self.server());
        let (key, chance) = (self.dice.bits() as u32, Chance(self.dice.bits()));
        let n = self.balancing.servers().len();
        let all = (0..n).map(|at| ServerId(at as u16));
        let allowed: Vec<ServerId> = all.filter(|&at| self.may_be_picked(at) && except != Some(at)).collect();
        let server = self.balancing.send(self.now, class, key, chance, except);
        let Some(server) = server else {
            return if allowed.is_empty() {
                Ok(())
            } else {
                Err(format!("nobody, but {allowed:?} may be picked"))
            };
        };
        if !allowed.contains(&server) {
            return Err(format!("{server:?}, but only {allowed:?} may be picked"));
        }
        self.jobs.push((server, class));
        let candidates =
            &self.balancing.last_decision().ok_or("the decision is not written down")?.candidates;
        let is_candidate = candidates.iter().any(|candidate| candidate.server == server);
        if is_candidate && candidates.iter().all(|candidate| allowed.contains(&candidate.server)) {
            Ok(())
        } else {
            Err(format!("{server:?} of the candidates {candidates:?}, where {allowed:?} may be picked"))
        }
    }

    fn leave(&mut self) {
        if self.jobs.is_empty() {
            return;
        }
        let at = self.dice.below(self.jobs.len());
        let (server, class) = self.jobs.swap_remove(at);
        let how = [Left::Answered, Left::Answered, Left::Failed, Left::Abandoned][self.dice.below(4)];
        let took = Duration::from_micros(self.dice.bits() % 5_000_000);
        self.balancing.left(self.now, server, class, how, took);
    }

    fn report(&mut self) {
        let server = self.server();
        let dice = &mut self.dice;
        let report = LoadReport {
            loads: [dice.load(), dice.load(), dice.load(), dice.load(), dice.load()],
            application: dice.load(),
            requests_per_s: dice.load().map(|load| 1_000.0 * load),
            errors_per_s: dice.load(),
        };
        self.balancing.report(self.now, server, &report);
    }

    fn step(&mut self) -> Result<(), String> {
        self.now += Duration::from_micros(self.dice.bits() % 100_000);
        if self.balancing.next_at() <= self.now {
            self.balancing.tick(self.now);
        }
        let (now, server) = (self.now, self.server());
        let yes = self.dice.below(3) > 0;
        match self.dice.below(40) {
            0 | 1 => self.balancing.set_up(now, server, yes),
            2 => self.balancing.set_draining(now, server, !yes),
            3 => {
                let weight = WEIGHTS[self.dice.below(WEIGHTS.len())];
                self.balancing.set_weight(now, server, weight);
            }
            4 => {
                let most = yes.then(|| self.dice.below(6) as u32);
                self.balancing.set_max_in_flight(now, server, most);
            }
            5 if !yes => self.balancing.remove(now, server),
            5 if self.balancing.servers().len() < 40 => {
                let spec = &self.scenario.servers[self.dice.below(self.scenario.servers.len())];
                self.balancing.add(now, spec);
            }
            6..10 => self.report(),
            10..24 => self.leave(),
            _ => return self.send(),
        }
        Ok(())
    }
}

/// One balancer through one random hour; how many jobs it sent.
fn check(policy: &str, seed: u64) -> usize {
    let scenario = scenario(policy, 1 + (seed as usize * 7) % 30);
    let balancing = Balancing::new(&scenario, Seat(seed));
    let dice = Dice(seed << 32);
    let mut world = World { scenario: &scenario, balancing, dice, now: Instant::START, jobs: Vec::new() };
    world.balancing.write_decisions(true);
    for step in 0..STEPS {
        if let Err(what) = world.step() {
            panic!("{policy}, seed {seed}, step {step}: {what}");
        }
    }
    world.balancing.servers().iter().map(|server| server.picked as usize).sum()
}

#[test]
fn every_balancer_picks_who_may_be_picked_as_long_as_there_is_someone() {
    for policy in POLICIES {
        let sent: usize = (0..SEEDS).map(|seed| check(policy, seed)).sum();
        // Counts of servers that left are gone with them.
        assert!(sent > 2_000, "{policy}: only {sent} jobs were sent, which says little");
    }
}

/// What a job lost at a server that could not be reached is not held against the one that answered it.
#[test]
fn a_job_that_moved_counts_from_when_it_was_sent_to_where_it_is() {
    let text = r#"{"tidegate":1,"classes":[{"name":"a"}],
        "stages":[{"name":"s","workers":9,"work":{"at":"servers"}}],
        "servers":[{"name":"x"},{"name":"y"}],"balancer":{"policy":"least_time"}}"#;
    let mut gateway = Gateway::new(&parse_json(text).unwrap().check().unwrap());
    let at = |ms| Instant::START + Duration::from_millis(ms);
    let arrival =
        Arrival { class: ClassId(0), deadline: None, chance: Chance(1), size: None, asked: Asked::default() };
    let job = gateway.arrive(at(0), arrival).unwrap();
    let Some(Output::Dispatch(dispatch)) = gateway.poll(at(0)) else { panic!("a server is idle") };
    let first = dispatch.server.unwrap();
    let second = gateway.retry(at(2_000), job).unwrap();
    assert_ne!(first, second);
    gateway.done(at(2_010), job, Outcome::Completed);
    let mut frame = Frame::default();
    gateway.frame(at(2_010), &mut frame);
    let latency_s = |server: ServerId| frame.servers[usize::from(server.0)].latency_s;
    assert!((latency_s(second) - 0.01).abs() < 1e-6, "{} s at the one that answered", latency_s(second));
    assert!(latency_s(first) > 0.05, "{} s at the one that failed", latency_s(first));
}
