//! `tidegate bench-balance`: what it costs to pick one of a thousand servers.
//!
//! Every balancer, with servers of random weights, some hundred jobs at each, and all of them reporting. Two
//! situations: all servers may be picked, and only one in fifty may. `cargo xtask bench balance` prints the table.

use std::hint::black_box;
use std::time::Instant as Clock;

use anyhow::ensure;
use serde_json::json;
use tidegate_core::balance::{Ask, Balancer, Left, LoadReport, Pick as _, Seat, Servers, Setup};
use tidegate_core::id::{ClassId, ServerId};
use tidegate_core::scenario::v1::{BalancerV1, CapacityV1, DisciplineV1, FeedbackV1, KindV1};
use tidegate_core::scenario::{Parsed, ServerSpec, parse_json};
use tidegate_core::time::{Duration, Instant};
use tidegate_core::unit::{Chance, mix};

use crate::cli::BenchBalanceArgs;
use crate::output;
use crate::text::{Cell, Table};

/// Servers behind the balancer.
const SERVERS: u16 = 1_000;
/// Of these, one in so many may be picked where few may.
const FEW: u16 = 50;
/// Most jobs at a server at the beginning.
const JOBS: u64 = 100;
/// Picks before the clock is read: a fraction of a millisecond, so that most turns pass without an interruption.
const TURN: u64 = 200;
/// Turns of one pass, of which the median counts.
const TURNS: usize = 101;
/// Passes of each balancer, of which the best counts.
const PASSES: u32 = 5;
/// What a pick may cost, in nanoseconds.
const GOAL_NS: f64 = 1_000.0;

/// Every balancer, and the variants that work differently.
const POLICIES: [&str; 18] = [
    r#""policy":"round_robin""#,
    r#""policy":"least_connections""#,
    r#""policy":"weighted_round_robin""#,
    r#""policy":"weighted_round_robin","weights":"reported""#,
    r#""policy":"weighted_least_connections""#,
    r#""policy":"source_hash""#,
    r#""policy":"destination_hash""#,
    r#""policy":"consistent_hash","table":"ring""#,
    r#""policy":"consistent_hash","table":"maglev""#,
    r#""policy":"random""#,
    r#""policy":"power_of_two""#,
    r#""policy":"power_of_two","choices":8"#,
    r#""policy":"join_shortest_queue""#,
    r#""policy":"peak_ewma""#,
    r#""policy":"least_time""#,
    r#""policy":"dnf_published""#,
    r#""policy":"dnf_published","weighted":true"#,
    r#""policy":"dnf""#,
];

/// What it costs, in nanoseconds.
#[derive(Clone, Copy)]
struct Cost {
    /// To pick, and nothing else.
    pick: f64,
    /// To pick, to count the job, and to count it out again.
    job: f64,
}

impl Cost {
    const WORST: Self = Self { pick: f64::INFINITY, job: f64::INFINITY };

    fn or_less(self, other: Self) -> Self {
        Self { pick: self.pick.min(other.pick), job: self.job.min(other.job) }
    }
}

/// Measures and prints.
///
/// # Errors
/// Never but for printing.
pub(crate) fn run(args: &BenchBalanceArgs) -> anyhow::Result<()> {
    let rows = POLICIES
        .into_iter()
        .map(|policy| Ok((policy, [best(policy, 1)?, best(policy, FEW)?])))
        .collect::<anyhow::Result<Vec<_>>>()?;
    output::print(&if args.json { as_json(&rows) } else { as_table(&rows) })
}

fn as_json(rows: &[(&str, [Cost; 2])]) -> String {
    let cost = |cost: Cost| json!({ "pick_ns": cost.pick, "job_ns": cost.job });
    let row = |(policy, [all, few]): &(&str, [Cost; 2])| {
        let wire: serde_json::Value = serde_json::from_str(&format!("{{{policy}}}")).unwrap_or_default();
        json!({ "balancer": wire, "all_open": cost(*all), "few_open": cost(*few) })
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    format!("{:#}\n", json!({ "servers": SERVERS, "few": SERVERS / FEW, "balancers": rows }))
}

fn as_table(rows: &[(&str, [Cost; 2])]) -> String {
    let mut table = Table::new([
        "<balancer",
        "pick, all open",
        "whole job",
        "pick, few open",
        "whole job",
        "longest pick to 1 us",
    ]);
    for (policy, [all, few]) in rows {
        let ns = |x: f64| Cell::from(format!("{x:.0} ns"));
        let ratio = all.pick.max(few.pick) / GOAL_NS;
        let name = policy.replace(r#""policy":"#, "").replace('"', "").replace(',', ", ");
        let numbers = [ns(all.pick), ns(all.job), ns(few.pick), ns(few.job)];
        table.row([Cell::from(name)].into_iter().chain(numbers).chain([Cell::from(format!("{ratio:.2}"))]));
    }
    format!(
        "{SERVERS} servers, of which all or {} may be picked; to pick alone, and to pick a server, count a job there and \
         count another one out;\nreports of all servers come between, and are not measured; best of {PASSES} passes, \
         of each the median of {TURNS} turns of {TURN}\n{}",
        SERVERS / FEW,
        table.render()
    )
}

/// A balancer among busy servers.
struct Bench {
    servers: Servers,
    balancer: Balancer,
    n: u64,
    /// Where the last jobs of a turn are, to be counted out.
    at: Vec<ServerId>,
}

fn spec(n: u16) -> ServerSpec {
    ServerSpec {
        name: n.to_string(),
        slots: 8,
        speed: 1.0,
        max_in_flight: None,
        weight: (1 + mix(u64::from(n)) % 10) as f64,
        discipline: DisciplineV1::Slots,
        capacity: CapacityV1 { mem: None, net: None, disk: None, rooms: None },
    }
}

/// The balancer of a scenario, as scenarios write it.
fn wire(policy: &str) -> anyhow::Result<BalancerV1> {
    let text = format!(
        r#"{{"tidegate":1,"classes":[{{"name":"a"}}],"stages":[{{"name":"s","workers":1,"work":{{"at":"servers"}}}}],
            "servers":[{{"name":"x"}}],"balancer":{{{policy}}}}}"#
    );
    Ok(parse_json(&text).and_then(Parsed::check)?.balancer)
}

impl Bench {
    /// All servers busy, one in `one_in` open, and reports of twenty seconds heard.
    fn new(policy: &str, one_in: u16) -> anyhow::Result<Self> {
        let wire = wire(policy)?;
        let specs: Vec<ServerSpec> = (0..SERVERS).map(spec).collect();
        let servers = Servers::of(&specs, vec![KindV1::Short]);
        let setup = Setup { wire: &wire, feedback: &FeedbackV1::default(), seat: Seat(7) };
        let balancer = Balancer::new(&setup, &servers);
        let mut bench = Self { servers, balancer, n: 0, at: Vec::new() };
        for server in (0..SERVERS).map(ServerId) {
            for _ in 0..1 + mix(u64::from(server.0) + 5_000) % JOBS {
                bench.servers.sent(server, ClassId(0));
                bench.balancer.sent(&bench.servers, server, KindV1::Short);
            }
            let is_up = (server.0 + 1) % one_in == 0;
            bench.servers.set_up(server, is_up);
            bench.balancer.changed(&bench.servers, server, false);
        }
        for second in 0..20 {
            bench.n = second * 1_000_000;
            bench.report();
        }
        let picked = bench.balancer.pick(&bench.servers, &bench.ask());
        ensure!(picked.is_some(), "{policy}: some server is up");
        Ok(bench)
    }

    /// A request comes every microsecond.
    fn ask(&self) -> Ask {
        let chance = mix(self.n);
        Ask {
            now: Instant::from_nanos(self.n * 1_000),
            class: ClassId(0),
            kind: KindV1::Short,
            key: chance as u32,
            chance: Chance(chance),
            attempt: 0,
            except: None,
        }
    }

    fn pick(&mut self) -> Option<ServerId> {
        self.n += 1;
        self.balancer.pick(&self.servers, &self.ask())
    }

    /// Picks a server and counts a job there, and one out that came a turn ago.
    fn job(&mut self, place: usize) {
        if let Some(server) = self.pick() {
            self.servers.sent(server, ClassId(0));
            self.balancer.sent(&self.servers, server, KindV1::Short);
            let gone = std::mem::replace(&mut self.at[place], server);
            self.servers.left(gone, ClassId(0), Left::Answered);
            let (now, took) = (Instant::from_nanos(self.n * 1_000), Duration::from_micros(TURN));
            self.balancer.left(now, &self.servers, gone, KindV1::Short, Left::Answered, took);
        }
    }

    /// Every server says how busy it is.
    fn report(&mut self) {
        let now = Instant::from_nanos(self.n * 1_000);
        for server in (0..SERVERS).map(ServerId) {
            let part = |n| Some((mix((self.n * 8 + n) ^ (u64::from(server.0) << 40)) % 90) as f64 / 100.0);
            let report = LoadReport {
                loads: [part(0), part(1), part(2), part(3), part(4)],
                application: part(5).map(|load| load + 0.05),
                requests_per_s: part(6).map(|load| 100.0 + load * 1_000.0),
                errors_per_s: part(7),
            };
            self.balancer.report(now, &self.servers, server, &report);
        }
        if self.balancer.next_at() <= now {
            self.balancer.tick(now, &self.servers);
        }
    }

    /// One turn of picks and one of whole jobs: nanoseconds of each.
    fn turn(&mut self) -> [f64; 2] {
        while self.at.len() < TURN as usize {
            let Some(server) = self.pick() else { break };
            self.servers.sent(server, ClassId(0));
            self.balancer.sent(&self.servers, server, KindV1::Short);
            self.at.push(server);
        }
        let begin = Clock::now();
        for _ in 0..TURN {
            black_box(self.pick());
        }
        let between = Clock::now();
        for place in 0..self.at.len() {
            self.job(place);
        }
        [between - begin, between.elapsed()].map(|time| time.as_nanos() as f64)
    }

    fn pass(&mut self) -> Cost {
        let turns: [[f64; 2]; TURNS] = std::array::from_fn(|_| {
            self.report();
            self.turn()
        });
        let [pick, job] = [0, 1].map(|which| {
            let mut times = turns.map(|turn| turn[which]);
            times.sort_by(f64::total_cmp);
            times[TURNS / 2] / TURN as f64
        });
        Cost { pick, job }
    }
}

/// What it costs where one server in `one_in` may be picked, best pass of each.
fn best(policy: &str, one_in: u16) -> anyhow::Result<Cost> {
    let mut bench = Bench::new(policy, one_in)?;
    Ok((0..PASSES).fold(Cost::WORST, |best, _| best.or_less(bench.pass())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_picks_open_servers_and_leaves_as_many_jobs_as_there_were() {
        for policy in POLICIES {
            let mut bench = Bench::new(policy, FEW).unwrap();
            let jobs = |bench: &Bench| bench.servers.iter().map(|server| server.in_flight).sum::<u32>();
            bench.turn();
            let before = jobs(&bench);
            bench.report();
            bench.turn();
            assert_eq!(jobs(&bench), before, "{policy}: as many came as left");
            let is_up = |server: &ServerId| bench.servers.get(*server).up;
            assert!(bench.at.iter().all(is_up), "{policy}: jobs are at servers that are up");
        }
    }
}
