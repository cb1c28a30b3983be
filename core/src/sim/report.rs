//! What finished runs say, with the interval each figure carries, or the reason why it carries none.
//!
//! One run in steady mode: batch means. Several runs, or a transient: Student's t over replications. Counts are
//! means over the replications.

use crate::frame::Cause;
use crate::measure::proportion::shares;
use crate::measure::{BatchMeans, Histogram, Summary};
use crate::scenario::Scenario;
use crate::scenario::v1::ModeV1;
use crate::sim::{ClassResult, ENGINE, Proportion, RunResult};
use crate::theory::{self, Theory};
use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use serde_json::{Map, Value, json};

/// A time with what is known about it. Seconds throughout; `None` where nothing was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// Mean.
    pub mean: Option<f64>,
    /// 95 % interval of the mean, or why there is none.
    pub ci95: Result<(f64, f64), String>,
    /// Quantiles .5, .9, .95 and .99; means over the replications.
    pub quantiles: [Option<f64>; 4],
    /// The longest of all.
    pub max: Option<f64>,
    /// The exact mean, where a closed form applies.
    pub theory: Option<f64>,
}

/// Names of [`Figure::quantiles`].
pub const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p95", 0.95), ("p99", 0.99)];

/// One class over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassReport {
    /// Name.
    pub name: String,
    /// Requests that asked.
    pub arrived: f64,
    /// Requests answered.
    pub completed: f64,
    /// Of those, within their deadline.
    pub good: f64,
    /// Requests turned away, by [`Cause`].
    pub shed: [f64; 4],
    /// Requests that failed at a server.
    pub failed: f64,
    /// Requests inside at the end.
    pub in_system: f64,
    /// Requests a second in the measured part.
    pub arrivals_per_s: f64,
    /// Answers a second in the measured part.
    pub throughput_per_s: f64,
    /// Answers within the deadline a second in the measured part.
    pub goodput_per_s: f64,
    /// Time in queues.
    pub wait_s: Figure,
    /// Time from arrival to answer.
    pub response_s: Figure,
}

/// One stage over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct StageReport {
    /// Name.
    pub name: String,
    /// Share of worker time in use.
    pub utilisation: f64,
    /// Time of workers spent on requests whose work here ended, in seconds.
    pub worked_s: f64,
    /// Time at earlier stages spent on requests that were turned away here, in seconds.
    pub wasted_s: f64,
    /// Requests promoted from one level to the next.
    pub promoted: f64,
    /// Longest wait here of a request that is let in, in seconds, where the rules of the stage bound it.
    pub wait_bound_s: Option<f64>,
    /// By class: jobs handed to a worker, jobs turned away here, mean wait here in seconds.
    pub classes: Vec<(f64, f64, Option<f64>)>,
    /// How well delays were in proportion, where they are compared.
    pub proportion: Option<ProportionReport>,
}

/// How well delays were in proportion to the delay weights at a stage, over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ProportionReport {
    /// The largest mean delay over its weight, over the smallest, less 1; means over windows of 10 s.
    pub error: Option<f64>,
    /// Part of the windows of 10 s in which every share of the delay was within 10 %, and within 20 %, of its target.
    pub in_band: [Option<f64>; 2],
    /// Workers that changed class, each 5 s; `None` where none has a class.
    pub moved: Option<f64>,
    /// Whether less than one job waited on average: there is next to no delay to keep in proportion.
    pub below_overload: bool,
    /// The classes.
    pub classes: Vec<ProportionClass>,
}

/// One class of a [`ProportionReport`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProportionClass {
    /// Share of the sum of mean delays it should have, 0 to 1.
    pub target_share: f64,
    /// Share it had.
    pub share: Option<f64>,
    /// Delay it should have, over that of the first class.
    pub target_ratio: f64,
    /// Delay it had, over that of the first class.
    pub ratio: Option<f64>,
}

/// One server over all runs.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerReport {
    /// Name.
    pub name: String,
    /// Its part of all jobs sent.
    pub share: f64,
    /// Share of slot time (or core time, by whomever) in use.
    pub utilisation: f64,
    /// Part of the network's bandwidth that was wanted and not there; `None` where none was wanted.
    pub net_lost: Option<f64>,
    /// The most requests that were there at once in any run.
    pub most_in_flight: u32,
    /// What the balancer made of it at the end.
    pub weight: f64,
    /// Jobs it answered.
    pub completed: f64,
    /// Jobs that failed at it.
    pub failed: f64,
}

/// What one or more runs of a scenario say.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Seed.
    pub seed: u64,
    /// Number of runs.
    pub replications: usize,
    /// Digest of the first run; all digests are folded in when there are more.
    pub trace_hash: u64,
    /// Events of all runs.
    pub events: u64,
    /// Left out at the start.
    pub warmup_s: f64,
    /// Length of each run.
    pub horizon_s: f64,
    /// The classes.
    pub classes: Vec<ClassReport>,
    /// The stages.
    pub stages: Vec<StageReport>,
    /// The servers.
    pub servers: Vec<ServerReport>,
    /// The closed form that applies, or which assumption fails.
    pub theory: Result<Theory, theory::WhyNot>,
}

impl Report {
    /// Sums up runs of one scenario.
    ///
    /// # Panics
    /// If `runs` is empty or of another scenario.
    #[must_use]
    pub fn of(scenario: &Scenario, runs: &[RunResult]) -> Self {
        let first = runs.first().expect("a report is about at least one run");
        let theory = theory::of(scenario);
        let window_s = first.horizon.as_secs_f64() - first.warmup.as_secs_f64();
        Self {
            seed: scenario.seed,
            replications: runs.len(),
            trace_hash: runs[1..]
                .iter()
                .fold(first.trace_hash, |hash, run| crate::unit::mix(hash.rotate_left(1) ^ run.trace_hash)),
            events: runs.iter().map(|run| run.events).sum(),
            warmup_s: first.warmup.as_secs_f64(),
            horizon_s: first.horizon.as_secs_f64(),
            classes: scenario
                .classes
                .iter()
                .enumerate()
                .map(|(at, class)| {
                    class_report(&class.name, at, scenario.mode, runs, theory.as_ref().ok(), window_s)
                })
                .collect(),
            stages: scenario
                .stages
                .iter()
                .enumerate()
                .map(|(at, stage)| StageReport {
                    name: stage.name.clone(),
                    utilisation: mean(runs, |run| run.stages[at].utilisation),
                    worked_s: mean(runs, |run| run.stages[at].worked_s),
                    wasted_s: mean(runs, |run| run.stages[at].wasted_s),
                    promoted: mean(runs, |run| run.stages[at].promoted as f64),
                    wait_bound_s: theory::waiting_bound(scenario, stage),
                    classes: (0..scenario.classes.len())
                        .map(|class| {
                            let waits: Vec<f64> =
                                runs.iter().filter_map(|run| run.stages[at].mean_wait_s[class]).collect();
                            (
                                mean(runs, |run| run.stages[at].started[class] as f64),
                                mean(runs, |run| run.stages[at].shed[class] as f64),
                                (!waits.is_empty()).then(|| Summary::of(&waits).mean),
                            )
                        })
                        .collect(),
                    proportion: proportion(scenario, at, runs),
                })
                .collect(),
            servers: scenario
                .servers
                .iter()
                .enumerate()
                .map(|(at, server)| ServerReport {
                    name: server.name.clone(),
                    share: mean(runs, |run| run.servers[at].share),
                    utilisation: mean(runs, |run| run.servers[at].utilisation),
                    net_lost: net_lost(runs, at),
                    most_in_flight: runs.iter().map(|run| run.servers[at].most_in_flight).max().unwrap_or(0),
                    weight: mean(runs, |run| run.servers[at].weight),
                    completed: mean(runs, |run| run.servers[at].completed as f64),
                    failed: mean(runs, |run| run.servers[at].failed as f64),
                })
                .collect(),
            theory,
        }
    }

    /// The object that `simulate --format json` prints, without what only a driver knows (`wall_s`,
    /// `events_per_s`, `series`).
    #[must_use]
    pub fn to_json(&self, scenario: &Scenario) -> Value {
        let classes: Vec<Value> = self.classes.iter().map(ClassReport::to_json).collect();
        let names: Vec<&str> = self.classes.iter().map(|class| class.name.as_str()).collect();
        json!({
            "scenario": scenario.wire().title,
            "seed": self.seed,
            "replications": self.replications,
            "engine": ENGINE,
            "trace_hash": format!("{:016x}", self.trace_hash),
            "events": self.events,
            "warmup_s": self.warmup_s,
            "horizon_s": self.horizon_s,
            "classes": classes,
            "stages": self.stages.iter().map(|stage| stage.to_json(&names)).collect::<Vec<_>>(),
            "servers": self.servers.iter().map(ServerReport::to_json).collect::<Vec<_>>(),
            "theory": match &self.theory {
                Ok(theory) => json!({ "model": theory.model, "loss": theory.loss }),
                Err(why) => json!({ "none_because": why }),
            },
        })
    }
}

/// The mean over replications.
fn mean(runs: &[RunResult], of: impl Fn(&RunResult) -> f64) -> f64 {
    runs.iter().map(of).sum::<f64>() / runs.len() as f64
}

/// Part of the bandwidth wanted of a server that was beyond its capacity.
fn net_lost(runs: &[RunResult], server: usize) -> Option<f64> {
    let needed = mean(runs, |run| run.servers[server].net_needed);
    (needed > 0.0).then(|| mean(runs, |run| run.servers[server].net_missed) / needed)
}

/// The mean of what runs know, over those that know it.
fn mean_of<'a>(known: impl Iterator<Item = &'a Option<f64>>) -> Option<f64> {
    let known: Vec<f64> = known.copied().flatten().collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

fn proportion(scenario: &Scenario, stage: usize, runs: &[RunResult]) -> Option<ProportionReport> {
    let parts: Vec<&Proportion> =
        runs.iter().map(|run| run.stages[stage].proportion.as_ref()).collect::<Option<_>>()?;
    let weights: Vec<f64> = scenario.classes.iter().map(|class| class.delay_weight.get()).collect();
    let of = |class: usize| {
        let delays: Vec<f64> = parts.iter().filter_map(|part| Some(part.delay_s.as_ref()?[class])).collect();
        (!delays.is_empty()).then(|| Summary::of(&delays).mean)
    };
    let delays: Option<Vec<f64>> = (0..weights.len()).map(of).collect();
    let measured = delays.as_ref().map(|delays| shares(delays));
    let classes = shares(&weights).into_iter().enumerate().map(|(at, target_share)| ProportionClass {
        target_share,
        share: measured.as_ref().map(|shares| shares[at]).filter(|share| share.is_finite()),
        target_ratio: weights[at] / weights[0],
        ratio: delays.as_ref().map(|delays| delays[at] / delays[0]).filter(|ratio| ratio.is_finite()),
    });
    Some(ProportionReport {
        error: mean_of(parts.iter().map(|part| &part.error)).filter(|error| error.is_finite()),
        in_band: core::array::from_fn(|band| mean_of(parts.iter().map(|part| &part.in_band[band]))),
        moved: mean_of(parts.iter().map(|part| &part.moved)),
        below_overload: parts.iter().map(|part| part.waiting).sum::<f64>() < parts.len() as f64,
        classes: classes.collect(),
    })
}

fn class_report(
    name: &str,
    at: usize,
    mode: ModeV1,
    runs: &[RunResult],
    theory: Option<&Theory>,
    window_s: f64,
) -> ClassReport {
    let count = |of: fn(&ClassResult) -> u64| mean(runs, |run| of(&run.classes[at]) as f64);
    let rate = |of: fn(&ClassResult) -> u64| if window_s > 0.0 { count(of) / window_s } else { 0.0 };
    let parts = |of: fn(&ClassResult) -> (&Histogram, &BatchMeans)| -> Vec<(&Histogram, &BatchMeans)> {
        runs.iter().map(|run| of(&run.classes[at])).collect()
    };
    ClassReport {
        name: name.to_owned(),
        arrived: count(|c| c.arrived),
        completed: count(|c| c.completed),
        good: count(|c| c.good),
        shed: core::array::from_fn(|cause| mean(runs, |run| run.classes[at].shed[cause] as f64)),
        failed: count(|c| c.failed),
        in_system: count(|c| c.in_system),
        arrivals_per_s: rate(|c| c.measured_arrived),
        throughput_per_s: rate(|c| c.measured_completed),
        goodput_per_s: rate(|c| c.measured_good),
        wait_s: figure(&parts(|c| (&c.wait, &c.wait_batches)), mode, theory.map(|t| t.wait_s[at])),
        response_s: figure(
            &parts(|c| (&c.response, &c.response_batches)),
            mode,
            theory.map(|t| t.response_s[at]),
        ),
    }
}

/// A time over one or more runs.
fn figure(parts: &[(&Histogram, &BatchMeans)], mode: ModeV1, theory: Option<f64>) -> Figure {
    let means: Vec<f64> = parts.iter().filter_map(|(histogram, _)| histogram.mean_s()).collect();
    let quantile = |q| {
        let seen: Vec<f64> = parts.iter().filter_map(|(histogram, _)| histogram.quantile_s(q)).collect();
        (!seen.is_empty()).then(|| Summary::of(&seen).mean)
    };
    let ci95 = match (parts, mode) {
        _ if means.is_empty() => Err("nothing measured".to_owned()),
        ([(_, batches)], ModeV1::Steady) => {
            batches.interval(0.95).map(|i| (i.lo / 1e9, i.hi / 1e9)).map_err(|why| why.to_string())
        }
        ([_], ModeV1::Transient) => Err("one run of a transient: ask for more replications".to_owned()),
        _ => Summary::of(&means)
            .ci95()
            .map(|i| (i.lo, i.hi))
            .ok_or_else(|| "measured in fewer than two replications".to_owned()),
    };
    let longest = parts.iter().filter_map(|(histogram, _)| histogram.max()).max();
    Figure {
        max: longest.map(|ns| ns as f64 / 1e9),
        mean: (!means.is_empty()).then(|| Summary::of(&means).mean),
        ci95,
        quantiles: QUANTILES.map(|(_, q)| quantile(q)),
        theory,
    }
}

impl Figure {
    fn to_json(&self) -> Value {
        let mut out = Map::new();
        out.insert("mean".to_owned(), json!(self.mean));
        match &self.ci95 {
            Ok((lo, hi)) => out.insert("ci95".to_owned(), json!([lo, hi])),
            Err(why) => {
                out.insert("ci95".to_owned(), Value::Null);
                out.insert("no_interval_because".to_owned(), json!(why))
            }
        };
        for ((name, _), value) in QUANTILES.iter().zip(self.quantiles) {
            out.insert((*name).to_owned(), json!(value));
        }
        out.insert("max".to_owned(), json!(self.max));
        if let Some(theory) = self.theory {
            out.insert("theory".to_owned(), json!(theory));
        }
        Value::Object(out)
    }
}

impl ClassReport {
    fn to_json(&self) -> Value {
        let shed: Map<String, Value> =
            Cause::ALL.iter().zip(self.shed).map(|(cause, n)| (cause.name().to_owned(), json!(n))).collect();
        json!({
            "name": self.name,
            "arrived": self.arrived,
            "completed": self.completed,
            "good": self.good,
            "shed": shed,
            "failed": self.failed,
            "in_system": self.in_system,
            "arrivals_per_s": self.arrivals_per_s,
            "throughput_per_s": self.throughput_per_s,
            "goodput_per_s": self.goodput_per_s,
            "wait_s": self.wait_s.to_json(),
            "response_s": self.response_s.to_json(),
        })
    }
}

impl StageReport {
    fn to_json(&self, names: &[&str]) -> Value {
        let classes: Vec<Value> = names
            .iter()
            .zip(&self.classes)
            .map(|(name, &(started, shed, wait))| {
                json!({ "name": name, "started": started, "shed": shed, "mean_wait_s": wait })
            })
            .collect();
        json!({
            "name": self.name,
            "utilisation": self.utilisation,
            "worked_s": self.worked_s,
            "wasted_s": self.wasted_s,
            "promoted": self.promoted,
            "wait_bound_s": self.wait_bound_s,
            "classes": classes,
            "proportion": self.proportion.as_ref().map(|proportion| proportion.to_json(names)),
        })
    }
}

impl ProportionReport {
    fn to_json(&self, names: &[&str]) -> Value {
        let classes: Vec<Value> = names
            .iter()
            .zip(&self.classes)
            .map(|(name, class)| {
                json!({
                    "name": name,
                    "target_share": class.target_share,
                    "share": class.share,
                    "target_ratio": class.target_ratio,
                    "ratio": class.ratio,
                })
            })
            .collect();
        json!({
            "error": self.error,
            "in_band_10": self.in_band[0],
            "in_band_20": self.in_band[1],
            "moved_per_5_s": self.moved,
            "below_overload": self.below_overload,
            "classes": classes,
        })
    }
}

impl ServerReport {
    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "share": self.share,
            "utilisation": self.utilisation,
            "net_lost": self.net_lost,
            "most_in_flight": self.most_in_flight,
            "weight": self.weight,
            "completed": self.completed,
            "failed": self.failed,
        })
    }
}
