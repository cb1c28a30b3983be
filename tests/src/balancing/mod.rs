//! Balancers compared in whole runs: the scenarios, the figures, and what is demanded of the recommended one.

pub mod acceptance;
pub mod cases;
pub mod red5;

use serde_json::Value;
use tidegate_core::id::ServerId;
use tidegate_core::measure::Histogram;
use tidegate_core::scenario::{Scenario, parse_json};
use tidegate_core::sim::{RunResult, Simulation};
use tidegate_core::time::{Duration, Instant};

/// A scenario as it is written, with another balancer.
///
/// # Panics
/// With the scenario's own error, if it is none.
#[must_use]
pub fn under(scenario: &Value, balancer: &Value) -> Scenario {
    let mut scenario = scenario.clone();
    scenario["balancer"] = balancer.clone();
    let parsed = parse_json(&scenario.to_string()).unwrap_or_else(|error| panic!("{error}\n{scenario}"));
    parsed.check().unwrap_or_else(|error| panic!("{error}\n{scenario}"))
}

/// What some runs of one scenario under one balancer come to.
#[derive(Clone, Debug)]
pub struct Figures {
    /// Response times of the short requests of all runs, in the measured part.
    pub responses: Histogram,
    /// Spread of utilisation among servers over their mean, by samples of 1 s, mean over samples and runs.
    pub spread: f64,
    /// Part of the bandwidth that sessions wanted and did not get.
    pub lost: f64,
    /// Part of the short requests that were turned away or failed.
    pub turned_away: f64,
    /// Most jobs that were in one server at once.
    pub most_in_flight: u32,
}

impl Figures {
    /// Mean response time, in milliseconds.
    ///
    /// # Panics
    /// If nobody was answered.
    #[must_use]
    pub fn mean_ms(&self) -> f64 {
        self.responses.mean_s().expect("somebody was answered") * 1e3
    }

    /// The response time that one in a hundred exceeds, in milliseconds.
    ///
    /// # Panics
    /// If nobody was answered.
    #[must_use]
    pub fn p99_ms(&self) -> f64 {
        self.responses.quantile_s(0.99).expect("somebody was answered") * 1e3
    }
}

/// Runs a scenario with seeds 1 to `seeds` as replications of its own; class 0 is the short requests.
///
/// # Panics
/// If the scenario needs a trace.
#[must_use]
pub fn figures(scenario: &Scenario, seeds: u32) -> Figures {
    let runs: Vec<(RunResult, f64)> = (0..seeds).map(|seed| run(scenario, seed)).collect();
    let mut responses = Histogram::default();
    let (mut spread, mut lost, mut asked, mut refused, mut most) = (0.0, 0.0, 0, 0, 0);
    for (result, one) in &runs {
        let short = &result.classes[0];
        responses.merge(&short.response);
        spread += one / f64::from(seeds);
        let (needed, missed) = result.servers.iter().fold((0.0, 0.0), |(needed, missed), server| {
            (needed + server.net_needed, missed + server.net_missed)
        });
        lost += if needed > 0.0 { missed / needed } else { 0.0 } / f64::from(seeds);
        asked += short.arrived;
        refused += short.shed.iter().sum::<u64>() + short.failed;
        most = result.servers.iter().map(|server| server.most_in_flight).fold(most, u32::max);
    }
    let turned_away = refused as f64 / asked.max(1) as f64;
    Figures { responses, spread, lost, turned_away, most_in_flight: most }
}

/// One run, with the spread of utilisation among its servers.
fn run(scenario: &Scenario, replication: u32) -> (RunResult, f64) {
    let mut sim = Simulation::new(scenario, replication, None).expect("no trace is replayed");
    let second = Duration::from_secs(1);
    let from = Instant::START + scenario.warmup;
    let servers = scenario.servers.len();
    let mut before = vec![0.0; servers];
    let (mut sum, mut samples, mut at) = (0.0, 0.0, Instant::START);
    while at < sim.horizon() {
        at += second;
        sim.run_until(at);
        let used: Vec<f64> = (0..servers)
            .map(|server| {
                let busy_s = sim.server_busy_s(ServerId(server as u16));
                let used = (busy_s - before[server]) / f64::from(scenario.servers[server].slots);
                before[server] = busy_s;
                used
            })
            .collect();
        let mean = used.iter().sum::<f64>() / servers as f64;
        if at > from && mean > 0.0 {
            let variance = used.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / servers as f64;
            sum += variance.sqrt() / mean;
            samples += 1.0;
        }
    }
    (sim.finish(), sum / f64::max(samples, 1.0))
}
