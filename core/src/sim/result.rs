//! What a run amounts to, and the two laws that hold in every run.

use super::{CAUSES, Proportion, Simulation};
use crate::frame::Frame;
use crate::measure::{BatchMeans, Histogram};
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// A finished run.
#[derive(Clone, Debug)]
pub struct RunResult {
    /// Seed of the scenario.
    pub seed: u64,
    /// Which independent run of the seed.
    pub replication: u32,
    /// Events that happened.
    pub events: u64,
    /// Digest of every event and decision.
    pub trace_hash: u64,
    /// Length of the run.
    pub horizon: Duration,
    /// Left out at the start by everything that says "measured".
    pub warmup: Duration,
    /// One entry a class.
    pub classes: Vec<ClassResult>,
    /// One entry a stage.
    pub stages: Vec<StageResult>,
    /// One entry a server.
    pub servers: Vec<ServerResult>,
}

/// One class of a finished run. Counts are of the whole run and add up:
/// `arrived = completed + shed + failed + in_system`.
#[derive(Clone, Debug)]
pub struct ClassResult {
    /// Requests that asked.
    pub arrived: u64,
    /// Requests answered.
    pub completed: u64,
    /// Of those, within their deadline; sessions, with their first answer within it.
    pub good: u64,
    /// Requests turned away, by [`Cause`](crate::frame::Cause).
    pub shed: [u64; CAUSES],
    /// Requests that failed at a server.
    pub failed: u64,
    /// Requests inside at the end.
    pub in_system: u64,
    /// Requests that asked in the measured part.
    pub measured_arrived: u64,
    /// Requests answered in the measured part.
    pub measured_completed: u64,
    /// Of those, within their deadline.
    pub measured_good: u64,
    /// Time in queues of requests that arrived in the measured part and were answered.
    pub wait: Histogram,
    /// The same, for an interval of the mean.
    pub wait_batches: BatchMeans,
    /// Time from arrival to answer of the same requests; of sessions at servers, to the first answer, of all whose session
    /// began.
    pub response: Histogram,
    /// The same, for an interval of the mean.
    pub response_batches: BatchMeans,
}

/// One stage of a finished run.
#[derive(Clone, Debug)]
pub struct StageResult {
    /// Share of worker time in use, in the measured part; of a controlled pool, of the most workers it may have.
    pub utilisation: f64,
    /// Time that workers have spent on jobs whose work here ended, in seconds, over the whole run.
    pub worked_s: f64,
    /// Time that earlier stages had spent on jobs that were turned away here, in seconds, over the whole run.
    pub wasted_s: f64,
    /// Jobs promoted from one level to the next.
    pub promoted: u64,
    /// Jobs handed to a worker, by class.
    pub started: Vec<u64>,
    /// Jobs turned away here, by class.
    pub shed: Vec<u64>,
    /// Mean wait of started jobs in this queue over the whole run, in seconds, by class; `None` without any.
    pub mean_wait_s: Vec<Option<f64>>,
    /// How well delays were in proportion, where they are compared.
    pub proportion: Option<Proportion>,
}

/// One server of a finished run.
#[derive(Clone, Debug)]
pub struct ServerResult {
    /// Its part of all jobs sent to servers.
    pub share: f64,
    /// Share of slot time (or core time, by whomever) in use, in the measured part.
    pub utilisation: f64,
    /// Bandwidth of the network that was wanted in the measured part, in its unit times seconds.
    pub net_needed: f64,
    /// Of that, what was beyond the capacity.
    pub net_missed: f64,
    /// The most requests that were there at once.
    pub most_in_flight: u32,
    /// What the balancer made of it at the end.
    pub weight: f64,
    /// Jobs sent to it.
    pub picked: u64,
    /// Jobs it answered.
    pub completed: u64,
    /// Jobs that failed at it.
    pub failed: u64,
}

/// Checks the laws that hold in every run, then gathers its figures.
pub(super) fn sum_up(sim: &mut Simulation) -> RunResult {
    let mut frame = Frame::default();
    sim.frame(&mut frame);
    let (seed, replication, now) = (sim.seed, sim.replication, sim.now);
    for (at, class) in frame.classes.iter().enumerate() {
        let out = class.completed + class.shed.iter().sum::<u64>() + class.failed + class.cancelled;
        assert_eq!(
            class.arrived,
            out + class.in_system,
            "class {at}: requests lost or doubled (seed {seed}, replication {replication})"
        );
        check_little(sim, at, class.in_system);
    }
    let stages = frame
        .stages
        .iter()
        .zip(sim.stage_busy.iter().zip(&sim.stage_places))
        .enumerate()
        .map(|(at, (stage, (busy, most)))| {
            let wait =
                |c: &crate::frame::StageClassFrame| (c.started > 0).then(|| c.wait_sum_s / c.started as f64);
            StageResult {
                utilisation: most.share(busy.integral_ns(now) as f64, sim.measure_from, now),
                worked_s: stage.worked_s,
                wasted_s: stage.wasted_s,
                promoted: stage.gauges.iter().map(|level| level.promoted).sum(),
                started: stage.classes.iter().map(|c| c.started).collect(),
                shed: stage.classes.iter().map(|c| c.shed).collect(),
                mean_wait_s: stage.classes.iter().map(wait).collect(),
                proportion: sim.watches.iter().find_map(|watch| watch.result(now, at)),
            }
        })
        .collect();
    let sent: u64 = frame.servers.iter().map(|s| s.picked).sum();
    let servers = frame
        .servers
        .iter()
        .zip(sim.servers.iter().zip(&sim.server_places))
        .map(|(seen, (server, slots))| ServerResult {
            share: if sent > 0 { seen.picked as f64 / sent as f64 } else { 0.0 },
            utilisation: slots.share(server.busy_ns(now), sim.measure_from, now),
            net_needed: server.net_ns(now).0 / 1e9,
            net_missed: server.net_ns(now).1 / 1e9,
            most_in_flight: server.most(),
            weight: seen.weight,
            picked: seen.picked,
            completed: seen.completed,
            failed: seen.failed,
        })
        .collect();
    let classes = frame
        .classes
        .iter()
        .zip(&sim.tallies)
        .map(|(seen, tally)| ClassResult {
            arrived: seen.arrived,
            completed: seen.completed,
            good: if tally.sessions { tally.good_sessions } else { seen.good },
            shed: seen.shed,
            failed: seen.failed,
            in_system: seen.in_system,
            measured_arrived: tally.arrived,
            measured_completed: tally.completed,
            measured_good: tally.good,
            wait: tally.wait.clone(),
            wait_batches: tally.wait_batches.clone(),
            response: tally.response.clone(),
            response_batches: tally.response_batches.clone(),
        })
        .collect();
    RunResult {
        seed,
        replication,
        events: sim.events(),
        trace_hash: sim.trace_hash(),
        horizon: now.since(Instant::START),
        warmup: sim.measure_from.since(Instant::START),
        classes,
        stages,
        servers,
    }
}

/// Little's law as an identity of integers: the integral of the number inside equals the time spent inside,
/// added up over everybody who was, those still inside until now.
fn check_little(sim: &mut Simulation, class: usize, in_system: u64) {
    let now = sim.now;
    let still: Vec<Instant> = sim
        .requests
        .iter()
        .filter(|request| request.inside && usize::from(request.class.0) == class)
        .map(|request| request.arrived)
        .collect();
    let tally = &sim.tallies[class];
    let staying: u128 = still.iter().map(|&arrived| u128::from(now.since(arrived).as_nanos())).sum();
    assert_eq!(
        still.len() as u64,
        in_system,
        "class {class}: simulator and gateway count different requests"
    );
    assert_eq!(
        tally.inside.integral_ns(now),
        tally.stayed_ns + staying,
        "class {class}: Little's law fails (seed {}, replication {})",
        sim.seed,
        sim.replication
    );
}
