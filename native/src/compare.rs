//! `tidegate compare`: two scenarios on the same traffic, in pairs of runs.
//!
//! Pairs run on threads and are kept by their number, so that neither the number of threads nor who is first changes
//! anything. With `--until`, how many runs follow depends on the figures alone.

use std::time::Instant as Clock;

use anyhow::bail;
use serde_json::{Value, json};
use tidegate_core::compare::settings::{self, Setting};
use tidegate_core::compare::{self, CONFIDENCE, Comparison, Outcome, Row};
use tidegate_core::link;
use tidegate_core::scenario::{Parsed, Scenario, presets};
use tidegate_core::sim::ENGINE;
use tidegate_core::unit::mix;

use crate::cli::{CompareArgs, Format, PairsArgs};
use crate::compare_table;
use crate::output;
use crate::progress::Progress;
use crate::recorded::Recorded;
use crate::simulate::{Plan, on_threads, processors};
use crate::source::{self, Document};

/// Most runs of each with `--until`.
const MOST_UNTIL: u32 = 1_000;

/// Compares and prints.
///
/// # Errors
/// [`BadScenario`](crate::failure::BadScenario) for a wrong scenario; else what is wrong with input or output.
pub(crate) fn run(args: &CompareArgs) -> anyhow::Result<()> {
    let from_input = args.input.input.as_deref() == Some("-");
    if [Some(args.a.as_str()), args.b.as_deref()].iter().filter(|of| **of == Some("-")).count()
        + usize::from(from_input)
        > 1
    {
        bail!("standard input can be one of the scenarios or the recorded traffic, not several");
    }
    let mut a = source::load(&args.a)?;
    let mut b = match &args.b {
        Some(b) => source::load(b)?,
        None => beside(&args.a, &a)?,
    };
    if let Some(seed) = args.pairs.seed {
        a.wire.run.seed = seed;
    }
    b.wire.run.seed = a.wire.run.seed;
    // The rules of A label the rows, so that both meet the same classes.
    let recorded = args.input.read(&source::checked(Ok(a.clone()))?)?;
    for of in [&mut a, &mut b] {
        args.input.set_horizon(&mut of.wire.run, recorded.as_ref())?;
    }
    pairs([a, b], recorded.as_ref(), &args.pairs)
}

/// The second scenario of a link that carries a comparison.
fn beside(reference: &str, a: &Parsed) -> anyhow::Result<Parsed> {
    let other = match source::document(reference) {
        Ok(Document::Link(link)) => link.view.other.into_iter().find(|(key, _)| key == "b"),
        _ => None,
    };
    match other {
        Some((_, text)) => Ok(link::decode_other(a, &text, built_in).map_err(source::bad)?),
        None => {
            bail!("compare takes two scenarios: the second is missing, and the first is no link with `&b=`")
        }
    }
}

fn built_in(name: &str) -> Option<Parsed> {
    Some(Parsed::from(presets::get(name)?.scenario().wire().clone()))
}

/// What became of all pairs.
pub(crate) struct Compared<'a> {
    /// As they were read.
    pub(crate) parsed: &'a [Parsed; 2],
    /// As they were run.
    pub(crate) scenarios: &'a [Scenario; 2],
    /// Recorded traffic that was played.
    pub(crate) recorded: Option<&'a Recorded>,
    /// Settings that differ.
    pub(crate) settings: Vec<Setting>,
    /// The runs.
    pub(crate) comparison: Comparison,
    /// The figures.
    pub(crate) rows: Vec<Row>,
    /// All digests folded together, as `simulate` prints them.
    pub(crate) hashes: [u64; 2],
    /// Events of all runs.
    pub(crate) events: u64,
    /// How long it took, in seconds.
    pub(crate) wall_s: f64,
    /// Precision that was asked for, and whether it was reached.
    pub(crate) until: Option<(f64, bool)>,
}

/// Runs two scenarios in pairs and prints how they differ.
///
/// # Errors
/// As [`run`].
pub(crate) fn pairs(
    parsed: [Parsed; 2],
    recorded: Option<&Recorded>,
    args: &PairsArgs,
) -> anyhow::Result<()> {
    let [a, b] = &parsed;
    let scenarios = [source::checked(Ok(a.clone()))?, source::checked(Ok(b.clone()))?];
    if let Some(recorded) = recorded {
        recorded.note(&scenarios[0]);
    }
    let mut settings = settings::differences(&a.wire, &b.wire);
    settings.retain(Setting::matters);
    let start = Clock::now();
    let mut done = Compared {
        parsed: &parsed,
        scenarios: &scenarios,
        recorded,
        settings,
        comparison: Comparison::new(&scenarios[0], &scenarios[1]),
        rows: Vec::new(),
        hashes: [0; 2],
        events: 0,
        wall_s: 0.0,
        until: args.until.map(|part| (part, false)),
    };
    done.run(args)?;
    done.wall_s = start.elapsed().as_secs_f64();
    let text = match args.format {
        Format::Table => compare_table::table(&done, args.all),
        Format::Csv => compare::csv(&done.rows),
        Format::Json => format!("{:#}\n", done.to_json()),
    };
    output::deliver(args.output.as_deref(), &text)
}

impl Compared<'_> {
    fn run(&mut self, args: &PairsArgs) -> anyhow::Result<()> {
        let Some((precision, _)) = self.until else {
            self.run_to(args.replications.unwrap_or(compare::RUNS), args)?;
            return Ok(());
        };
        self.comparison.aim(precision);
        let mut runs = compare::RUNS;
        loop {
            self.run_to(runs, args)?;
            let open = || self.rows.iter().filter(|row| row.figure.can_be_precise() && row.n > 0);
            let more = open().map(|row| row.more_for_precision.unwrap_or(MOST_UNTIL)).max().unwrap_or(0);
            if more == 0 || runs >= MOST_UNTIL {
                self.until = Some((precision, more == 0));
                return Ok(());
            }
            // No leap far beyond what is known: the spread of few runs is itself a guess.
            runs = (runs + more).min(2 * runs).min(MOST_UNTIL);
        }
    }

    /// Brings both to so many runs.
    fn run_to(&mut self, runs: u32, args: &PairsArgs) -> anyhow::Result<()> {
        let from = self.comparison.runs() as u32;
        let progress = Progress::new("comparing", 2 * u64::from(runs.saturating_sub(from)), args.quiet);
        let plans = self.scenarios.each_ref().map(|scenario| Plan {
            scenario,
            recorded: self.recorded,
            replications: 1,
            jobs: 1,
            step: None,
            quiet: true,
        });
        let one = |number: u32| {
            let plan = &plans[(number % 2) as usize];
            let (run, _) = plan.guarded(number / 2, progress.part())?;
            Ok((run.figures(plan.scenario), run.trace_hash, run.events))
        };
        let jobs = args.jobs.unwrap_or_else(processors);
        let all = on_threads(jobs, 2 * from..2 * runs, one)?;
        progress.finish();
        for (pair, replication) in all.chunks_exact(2).zip(from..) {
            self.comparison.add(replication, &pair[0].0, &pair[1].0);
            for (hash, (_, run, events)) in self.hashes.iter_mut().zip(pair) {
                *hash = if replication == 0 { *run } else { mix(hash.rotate_left(1) ^ run) };
                self.events += events;
            }
        }
        self.rows = self.comparison.rows();
        Ok(())
    }

    fn to_json(&self) -> Value {
        let side = |at: usize| {
            json!({
                "scenario": self.parsed[at].wire.title,
                "trace_hash": format!("{:016x}", self.hashes[at]),
                "horizon_s": self.scenarios[at].horizon.as_secs_f64(),
                "warmup_s": self.scenarios[at].warmup.as_secs_f64(),
                "link": link::encode_parsed(&self.parsed[at]),
            })
        };
        let outcome = Outcome::of(&self.rows);
        json!({
            "a": side(0),
            "b": side(1),
            "seed": self.scenarios[0].seed,
            "runs": self.comparison.runs(),
            "engine": ENGINE,
            "events": self.events,
            "wall_s": self.wall_s,
            "method": "paired Student t over runs that share all random streams",
            "confidence": CONFIDENCE,
            "until": self.until.map(|(part, reached)| json!({ "part": part, "reached": reached })),
            "settings": self.settings.iter().map(|of| json!({ "path": of.path, "a": of.a, "b": of.b })).collect::<Vec<_>>(),
            "only_in_one": self.comparison.alone().iter().map(|alone| json!({
                "in": if alone.in_a { "a" } else { "b" },
                "scope": alone.scope.name(),
                "name": alone.name,
            })).collect::<Vec<_>>(),
            "streams_apart": self.comparison.apart(),
            "outcome": {
                "a_better": outcome.better[0],
                "b_better": outcome.better[1],
                "unclear": outcome.unclear,
                "equal": outcome.equal,
                "figures": outcome.all,
            },
            "rows": self.rows.iter().map(row_json).collect::<Vec<_>>(),
            "input": self.recorded.map(Recorded::described),
        })
    }
}

fn row_json(row: &Row) -> Value {
    let known = |number: f64| number.is_finite().then_some(number);
    json!({
        "scope": row.figure.scope().name(),
        "name": row.name,
        "figure": row.figure.id(),
        "unit": row.figure.unit().name(),
        "runs": row.n,
        "a": { "mean": known(row.a.0), "half_width": row.a.1 },
        "b": { "mean": known(row.b.0), "half_width": row.b.1 },
        "difference": known(row.difference),
        "ci95": row.interval().map(|interval| [interval.lo, interval.hi]),
        "verdict": row.verdict.name(),
        "holds_together": row.together,
        "more_runs": { "for_zero": row.more_for_zero, "for_precision": row.more_for_precision },
    })
}
