//! A bench for what keeps delays in proportion: scenarios that are hard on it, and how well a policy did in each phase.
//!
//! The measures are those of the acceptance table in the book (Proportional delay): windows of 5 s and their pairs, the last 60 %
//! of a phase for what is steady, windows of 1 s for how soon it settles. Everything is read off frames, as an operator would.

pub mod acceptance;
mod cases;
pub mod two_class;

pub use cases::{case, cases};

use serde_json::{Map, Value, json};
use tidegate_core::frame::Frame;
use tidegate_core::measure::proportion::{BANDS, Delays, moved, pairwise_error, share_error};
use tidegate_core::scenario::{Scenario, parse_json};
use tidegate_core::sim::Simulation;
use tidegate_core::time::{Duration, Instant};

/// Seconds of a window that is judged by itself, and of the two that are joined to be in band or not.
const WINDOW: usize = 5;
/// Part of a phase that is left out of what is steady.
const UNSTEADY: f64 = 0.4;
/// Settled: this long a window is within [`SETTLED`], at so many seconds in a row.
const SETTLING: usize = 3;
const STAYS: usize = 5;
const SETTLED: f64 = 0.15;

/// A stretch of a case with one load.
#[derive(Clone, Debug)]
pub struct Phase {
    /// When it begins, in seconds.
    pub start_s: u64,
    /// Clients of each class, or arrivals a second.
    pub load: Vec<f64>,
    /// Mean service time of each class, in seconds.
    pub service_s: Vec<f64>,
}

/// A scenario of the table.
#[derive(Clone, Debug)]
pub struct Case {
    /// Its name in the table.
    pub name: &'static str,
    /// Delay weights.
    pub weights: Vec<f64>,
    /// Workers to be divided.
    pub workers: u32,
    /// Mean time that a client thinks, in seconds; `None` for open arrivals.
    pub think_s: Option<f64>,
    /// Law of the service times, but for its mean.
    pub law: Value,
    /// Most of one class that may wait.
    pub limit: Option<u32>,
    /// The phases, the first from 0 s on.
    pub phases: Vec<Phase>,
    /// Length in seconds.
    pub end_s: u64,
}

/// What a policy made of a phase.
#[derive(Clone, Debug)]
pub struct Metrics {
    /// Largest over smallest delay for its weight, less 1, over the steady part; infinite if some class was not served.
    pub error: f64,
    /// Part of its windows of 10 s with a share error of at most 10 %, and at most 20 %.
    pub in_band: [f64; 2],
    /// Seconds from the start of the phase until the delays have settled; the length of the phase if they never do.
    pub settle_s: f64,
    /// Workers that changed class from one 5 s to the next, on average.
    pub moved: f64,
    /// Answers a second.
    pub throughput_per_s: f64,
    /// Mean delay in the steady part, in seconds.
    pub delay_s: f64,
    /// Mean workers of each class in the steady part.
    pub workers: Vec<f64>,
}

/// A second of a run.
#[derive(Clone, Debug)]
pub struct Second {
    /// Delays of those handed over.
    pub delays: Delays,
    /// Jobs handed over.
    pub started: f64,
    /// Workers of each class at its end.
    pub split: Vec<u32>,
    /// Jobs answered.
    pub completed: u64,
}

/// The seconds of a run at its first stage.
///
/// # Panics
/// If the scenario needs a trace.
#[must_use]
pub fn seconds(scenario: &Scenario, replication: u32) -> Vec<Second> {
    let mut sim = Simulation::new(scenario, replication, None).expect("no trace is needed");
    let (mut last, mut next) = (Frame::default(), Frame::default());
    sim.frame(&mut last);
    let mut all = Vec::new();
    let mut at = Instant::START;
    while !sim.is_over() {
        at += Duration::from_secs(1);
        sim.run_until(at);
        sim.frame(&mut next);
        all.push(between(&last, &next));
        std::mem::swap(&mut last, &mut next);
    }
    all
}

fn between(last: &Frame, next: &Frame) -> Second {
    let classes = next.classes.len();
    let mut second = Second { delays: Delays::new(classes), started: 0.0, split: Vec::new(), completed: 0 };
    for class in 0..classes {
        let (was, is) = (&last.stages[0].classes[class], &next.stages[0].classes[class]);
        let started = (is.started - was.started) as f64;
        second.started += started;
        second.delays.add(class, started, (is.wait_sum_s - was.wait_sum_s).max(0.0));
        second.split.push(is.slots);
        second.completed += next.classes[class].completed - last.classes[class].completed;
    }
    second
}

/// The delays of several seconds together.
#[must_use]
pub fn pooled(seconds: &[Second]) -> Delays {
    let mut all = Delays::new(seconds.first().map_or(0, |second| second.split.len()));
    seconds.iter().for_each(|second| all.merge(&second.delays));
    all
}

/// The share error of several seconds together; infinite if there are no shares.
#[must_use]
pub fn error_of(seconds: &[Second], weights: &[f64]) -> f64 {
    pooled(seconds).means_s().map_or(f64::INFINITY, |delays| share_error(&delays, weights))
}

impl Metrics {
    /// Of the seconds of one phase.
    #[must_use]
    pub fn of(seconds: &[Second], weights: &[f64]) -> Self {
        let windows: Vec<&[Second]> = seconds.chunks(WINDOW).collect();
        let first = (windows.len() as f64 * UNSTEADY) as usize * WINDOW;
        let steady = &seconds[first.min(seconds.len())..];
        let all = pooled(steady);
        let pairs: Vec<f64> = steady.chunks(2 * WINDOW).map(|pair| error_of(pair, weights)).collect();
        let within =
            |band: f64| pairs.iter().filter(|&&error| error <= band).count() as f64 / pairs.len() as f64;
        let looks: Vec<&[u32]> = windows.iter().map(|window| window[0].split.as_slice()).collect();
        let moves: u32 = looks.windows(2).map(|two| moved(two[0], two[1])).sum();
        let started: f64 = steady.iter().map(|second| second.started).sum();
        let completed: u64 = seconds.iter().map(|second| second.completed).sum();
        let mean_workers = |class: usize| {
            steady.iter().map(|second| f64::from(second.split[class])).sum::<f64>() / steady.len() as f64
        };
        Self {
            error: all.means_s().map_or(f64::INFINITY, |delays| pairwise_error(&delays, weights)),
            in_band: BANDS.map(within),
            settle_s: settled(seconds, weights).unwrap_or(seconds.len()) as f64,
            moved: f64::from(moves) / (looks.len().max(2) - 1) as f64,
            throughput_per_s: completed as f64 / seconds.len() as f64,
            delay_s: all.sum_s() / started.max(1.0),
            workers: (0..weights.len()).map(mean_workers).collect(),
        }
    }
}

/// The first second from which on windows of [`SETTLING`] seconds are within [`SETTLED`] for [`STAYS`] seconds.
fn settled(seconds: &[Second], weights: &[f64]) -> Option<usize> {
    let good: Vec<bool> = (0..seconds.len())
        .map(|at| error_of(&seconds[at..(at + SETTLING).min(seconds.len())], weights) <= SETTLED)
        .collect();
    good.windows(STAYS).position(|stretch| stretch.iter().all(|&good| good))
}

impl Case {
    /// The scenario under a policy: fields of the stage, such as `{"split_by": {"policy": "stc_lead"}}`.
    ///
    /// # Panics
    /// If they make no scenario.
    #[must_use]
    pub fn scenario(&self, policy: &Value, seed: u64) -> Scenario {
        let first = &self.phases[0];
        let classes: Vec<Value> = (0..self.weights.len())
            .map(|class| {
                let mut service = self.law.clone();
                service["mean_us"] = json!(micros(first.service_s[class]));
                let load = match self.think_s {
                    None => json!({ "kind": "poisson", "rate_per_s": first.load[class] }),
                    Some(think_s) => json!({
                        "kind": "closed", "clients": first.load[class] as u64,
                        "think": { "law": "exponential", "mean_us": micros(think_s) },
                    }),
                };
                // A level for each, so that a limit is one for each class; no order here goes by level.
                let priority = if self.limit.is_some() { class } else { 0 };
                json!({ "name": name(class), "priority": priority, "delay_weight": self.weights[class],
                    "load": load, "service": service })
            })
            .collect();
        let per = if self.limit.is_some() { "level" } else { "stage" };
        let mut stage = json!({
            "name": "serve", "workers": self.workers, "work": { "at": "servers" },
            "queue": { "policy": "tail_drop", "limit": self.limit.unwrap_or(1_000_000), "per": per },
        });
        let fields: &Map<String, Value> = policy.as_object().expect("fields of a stage");
        fields.iter().for_each(|(field, value)| stage[field] = value.clone());
        let scenario = json!({
            "tidegate": 1, "title": self.name,
            "run": { "seed": seed, "horizon_us": self.end_s * 1_000_000, "mode": "transient" },
            "classes": classes, "stages": [stage],
            "servers": [{ "name": "origin", "slots": self.workers }],
            "events": self.events(),
        });
        let parsed = parse_json(&scenario.to_string()).unwrap_or_else(|error| panic!("{error}: {scenario}"));
        parsed.check().unwrap_or_else(|error| panic!("{error}: {scenario}"))
    }

    /// What changes from phase to phase.
    fn events(&self) -> Vec<Value> {
        let first = &self.phases[0];
        let mut events = Vec::new();
        for (before, phase) in self.phases.iter().zip(&self.phases[1..]) {
            let at_us = phase.start_s * 1_000_000;
            for class in 0..self.weights.len() {
                let mut change = |what: &str, of: fn(&Phase) -> &Vec<f64>| {
                    let (was, is, base) = (of(before)[class], of(phase)[class], of(first)[class]);
                    if was != is {
                        let factor = is / base;
                        events.push(
                            json!({ "at_us": at_us, "do": what, "class": name(class), "factor": factor }),
                        );
                    }
                };
                change("load", |phase| &phase.load);
                change("service", |phase| &phase.service_s);
            }
        }
        events
    }

    /// What a policy makes of each phase with this seed.
    #[must_use]
    pub fn run(&self, policy: &Value, seed: u64) -> Vec<Metrics> {
        let seconds = seconds(&self.scenario(policy, seed), 0);
        let ends = self.phases[1..].iter().map(|phase| phase.start_s).chain([self.end_s]);
        let phases = self.phases.iter().zip(ends);
        phases
            .map(|(phase, end)| Metrics::of(&seconds[phase.start_s as usize..end as usize], &self.weights))
            .collect()
    }
}

fn name(class: usize) -> String {
    format!("class {class}")
}

fn micros(seconds: f64) -> u64 {
    (seconds * 1e6).round() as u64
}

/// What a policy made of a phase, over several seeds.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Mean of [`Metrics::error`].
    pub error: f64,
    /// Means of [`Metrics::in_band`].
    pub in_band: [f64; 2],
    /// Median and 90th percentile of [`Metrics::settle_s`].
    pub settle_s: [f64; 2],
    /// Mean of [`Metrics::moved`].
    pub moved: f64,
    /// Mean of [`Metrics::throughput_per_s`].
    pub throughput_per_s: f64,
    /// Mean of [`Metrics::delay_s`].
    pub delay_s: f64,
    /// Mean of [`Metrics::workers`].
    pub workers: Vec<f64>,
}

impl Outcome {
    /// Sums up what several seeds made of one phase.
    #[must_use]
    pub fn of(runs: &[&Metrics]) -> Self {
        let mean = |of: &dyn Fn(&Metrics) -> f64| runs.iter().map(|m| of(m)).sum::<f64>() / runs.len() as f64;
        let mut settle: Vec<f64> = runs.iter().map(|run| run.settle_s).collect();
        settle.sort_by(f64::total_cmp);
        Self {
            error: mean(&|m| m.error),
            in_band: [mean(&|m| m.in_band[0]), mean(&|m| m.in_band[1])],
            settle_s: [settle[settle.len() / 2], settle[(settle.len() * 9 / 10).min(settle.len() - 1)]],
            moved: mean(&|m| m.moved),
            throughput_per_s: mean(&|m| m.throughput_per_s),
            delay_s: mean(&|m| m.delay_s),
            workers: (0..runs[0].workers.len()).map(|class| mean(&|m| m.workers[class])).collect(),
        }
    }
}

/// What a policy makes of each phase of a case, over seeds 1, 2, ...
#[must_use]
pub fn outcomes(case: &Case, policy: &Value, seeds: u64) -> Vec<Outcome> {
    let runs: Vec<Vec<Metrics>> = (1..=seeds).map(|seed| case.run(policy, seed)).collect();
    (0..case.phases.len())
        .map(|phase| Outcome::of(&runs.iter().map(|run| &run[phase]).collect::<Vec<_>>()))
        .collect()
}

/// A controller of the split by its name, with its defaults.
#[must_use]
pub fn split_by(policy: &str) -> Value {
    json!({ "split_by": { "policy": policy } })
}

/// An order of one shared pool by its name.
#[must_use]
pub fn order(order: &str) -> Value {
    json!({ "order": order })
}
