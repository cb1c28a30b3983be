//! `tidegate simulate`: a scenario in virtual time, on as many processors as there are.
//!
//! Replications run on threads and are put in order before anything is computed from them, so that the number of threads
//! changes nothing but the time it takes.

use std::num::NonZero;
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant as Clock;

use anyhow::{anyhow, bail};
use serde_json::{Map, Value, json};
use tidegate_core::frame::Frame;
use tidegate_core::measure::{History, Names};
use tidegate_core::scenario::Scenario;
use tidegate_core::sim::report::Report;
use tidegate_core::sim::{RunResult, Simulation};
use tidegate_core::time::{Duration, Instant};

use crate::cli::{Format, SimulateArgs};
use crate::progress::{Part, Progress};
use crate::recorded::Recorded;
use crate::tabulate::{self, Speed};
use crate::{output, source};

/// Points of a series unless the caller says otherwise.
const POINTS: u64 = 300;
/// Most points of a series.
const MOST_POINTS: u64 = 1_000_000;
/// How often a run looks up to say how far it is.
const LOOKS: u64 = 200;

/// Runs the scenario and prints what became of it.
///
/// # Errors
/// [`BadScenario`](crate::failure::BadScenario) for a wrong scenario; else what is wrong with input or output.
pub(crate) fn run(args: &SimulateArgs) -> anyhow::Result<()> {
    if args.scenario == "-" && args.input.input.as_deref() == Some("-") {
        bail!("standard input can be the scenario or the recorded traffic, not both");
    }
    let mut parsed = source::load(&args.scenario)?;
    if let Some(seed) = args.seed {
        parsed.wire.run.seed = seed;
    }
    let written = source::checked(Ok(parsed.clone()))?;
    let recorded = args.input.read(&written)?;
    args.input.set_horizon(&mut parsed.wire.run, recorded.as_ref())?;
    let scenario = source::checked(Ok(parsed))?;
    if let Some(recorded) = &recorded {
        recorded.note(&scenario);
    }
    if args.series && args.format != Format::Json {
        bail!("--series is for --format json");
    }
    let plan = Plan {
        scenario: &scenario,
        recorded: recorded.as_ref(),
        replications: args.replications,
        jobs: args.jobs.unwrap_or_else(processors).min(args.replications),
        step: args.series.then(|| series_step(args.series_step, scenario.horizon)).transpose()?,
        quiet: args.quiet,
    };
    let start = Clock::now();
    let Done { runs, history } = plan.run()?;
    let wall_s = start.elapsed().as_secs_f64();
    let report = Report::of(&scenario, &runs);
    let speed = Speed { wall_s, events_per_s: report.events as f64 / wall_s.max(1e-9) };
    let text = match args.format {
        Format::Csv => report.to_csv(),
        Format::Table => tabulate::table(&scenario, &report, speed),
        Format::Json => {
            let mut object = report.to_json(&scenario);
            object["wall_s"] = json!(speed.wall_s);
            object["events_per_s"] = json!(speed.events_per_s);
            if let Some(recorded) = &recorded {
                object["input"] = recorded.described();
            }
            if let Some(history) = &history {
                object["series"] = series(history, &scenario);
            }
            format!("{object:#}\n")
        }
    };
    output::deliver(args.output.as_deref(), &text)
}

/// The digest of one run of the scenario as it is: what a link carries as `h`.
///
/// # Errors
/// A scenario that needs recorded traffic.
pub(crate) fn trace_hash(scenario: &Scenario) -> anyhow::Result<u64> {
    let plan = Plan { scenario, recorded: None, replications: 1, jobs: 1, step: None, quiet: false };
    Ok(plan.run()?.runs.first().map_or(0, |run| run.trace_hash))
}

fn processors() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(NonZero::get(n)).unwrap_or(1))
}

fn series_step(seconds: Option<f64>, horizon: Duration) -> anyhow::Result<Duration> {
    let step = match seconds {
        Some(seconds) => Duration::from_secs_f64(seconds),
        None => Duration::from_nanos((horizon.as_nanos() / POINTS).max(1)),
    };
    if step.as_nanos() < (horizon.as_nanos() / MOST_POINTS).max(1) {
        bail!("--series-step: at least a millionth of the run, found {} s", seconds.unwrap_or_default());
    }
    Ok(step)
}

/// What is to be run.
struct Plan<'a> {
    scenario: &'a Scenario,
    recorded: Option<&'a Recorded>,
    replications: u32,
    jobs: u32,
    /// Step of the series to keep of the first replication.
    step: Option<Duration>,
    quiet: bool,
}

/// What was run.
struct Done {
    /// In the order of the replications.
    runs: Vec<RunResult>,
    history: Option<History>,
}

type One = (RunResult, Option<History>);

impl Plan<'_> {
    fn run(&self) -> anyhow::Result<Done> {
        let progress = Progress::new("simulating", u64::from(self.replications), self.quiet);
        let next = AtomicU32::new(0);
        let worker = || -> anyhow::Result<Vec<(u32, One)>> {
            let mut done = Vec::new();
            loop {
                let replication = next.fetch_add(1, Ordering::Relaxed);
                if replication >= self.replications {
                    return Ok(done);
                }
                done.push((replication, self.guarded(replication, progress.part())?));
            }
        };
        let mut all = Vec::new();
        std::thread::scope(|scope| -> anyhow::Result<()> {
            let workers: Vec<_> = (0..self.jobs).map(|_| scope.spawn(worker)).collect();
            for worker in workers {
                all.extend(worker.join().map_err(|_| anyhow!("a thread of the simulation stopped"))??);
            }
            Ok(())
        })?;
        progress.finish();
        all.sort_by_key(|(replication, _)| *replication);
        let (mut runs, mut history) = (Vec::with_capacity(all.len()), None);
        for (_, (run, of_run)) in all {
            runs.push(run);
            history = history.or(of_run);
        }
        Ok(Done { runs, history })
    }

    /// One replication. Should the engine find that it broke a law, that is this command's failure, with a
    /// message, and no half of a result.
    fn guarded(&self, replication: u32, part: Part<'_>) -> anyhow::Result<One> {
        std::panic::catch_unwind(AssertUnwindSafe(|| self.one(replication, part))).unwrap_or_else(|_| {
            bail!("replication {replication} broke a law of the engine; this is a defect of Tidegate")
        })
    }

    fn one(&self, replication: u32, mut part: Part<'_>) -> anyhow::Result<One> {
        let mut simulation = Simulation::new(self.scenario, replication, self.recorded.map(Recorded::rows))?;
        let horizon = self.scenario.horizon;
        let keep = self.step.filter(|_| replication == 0);
        let mut history = keep.map(|step| History::new(Names::from(self.scenario), step));
        let step = keep.unwrap_or(Duration::from_nanos((horizon.as_nanos() / LOOKS).max(1)));
        let mut frame = Frame::default();
        let mut at = Instant::START;
        loop {
            if let Some(history) = &mut history {
                simulation.frame(&mut frame);
                history.push(&frame);
            }
            part.at(at.as_secs_f64() / horizon.as_secs_f64());
            if simulation.is_over() {
                break;
            }
            at += step;
            simulation.run_until(at);
        }
        Ok((simulation.finish(), history))
    }
}

/// The columns of a history as the documented `series` object; what is not known is `null`. `slots.CLASS` are the
/// slots at the serving stage, whatever its name.
fn series(history: &History, scenario: &Scenario) -> Value {
    let numbers = |values: &[f64]| values.iter().map(|&v| json!(v)).collect::<Vec<_>>();
    let t_s = numbers(history.t_s());
    let columns = history.column_names().enumerate().filter_map(|(number, name)| {
        let column = history.column_at(number)?;
        Some((name.to_owned(), json!({"t_s": t_s, "v": numbers(column.v)})))
    });
    let mut columns: Map<_, _> = columns.collect();
    if let Some(stage) = scenario.serving_stage.and_then(|id| scenario.stages.get(usize::from(id.0))) {
        for class in &scenario.classes {
            if let Some(slots) = columns.get(&format!("slots.{}.{}", stage.name, class.name)).cloned() {
                columns.insert(format!("slots.{}", class.name), slots);
            }
        }
    }
    Value::Object(columns)
}
