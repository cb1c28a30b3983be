//! `tidegate replay`: a log or trace under one policy, or two.

use anyhow::Context as _;
use tidegate_core::import::{Durations, Format, Options, TimeUnit};
use tidegate_core::scenario::Parsed;

use crate::cli::ReplayArgs;
use crate::recorded::{self, Recorded};
use crate::simulate::{self, Plan, Printed, processors};
use crate::text::{WARN, grouped, styled};
use crate::{compare, source};

/// What a log meets unless a policy is named.
const POLICY: &str = "preset:trace-replay";
/// The class of all labels that have none of their own.
const OTHERS: &str = "others";

/// Plays the log and prints what became of it.
///
/// # Errors
/// [`BadScenario`](crate::failure::BadScenario) for a wrong policy; else what is wrong with the log or the output.
pub(crate) fn run(args: &ReplayArgs) -> anyhow::Result<()> {
    let recorded = read(args)?;
    let a = policy(args, args.policy.as_deref(), &recorded)?;
    if let Some(against) = &args.against {
        let mut b = policy(args, Some(against), &recorded)?;
        b.wire.run.seed = a.wire.run.seed;
        return compare::pairs([a, b], Some(&recorded), &args.pairs);
    }
    let scenario = source::checked(Ok(a))?;
    recorded.note(&scenario);
    let replications = args.pairs.replications.unwrap_or(1);
    let plan = Plan {
        scenario: &scenario,
        recorded: Some(&recorded),
        replications,
        jobs: args.pairs.jobs.unwrap_or_else(processors).min(replications),
        step: None,
        quiet: args.pairs.quiet,
    };
    simulate::report(&plan, Printed { format: args.pairs.format, output: args.pairs.output.as_deref() })
}

fn read(args: &ReplayArgs) -> anyhow::Result<Recorded> {
    let bytes = recorded::read(&args.log).with_context(|| format!("cannot read {}", args.log))?;
    let unit = args.time_unit.as_deref().and_then(TimeUnit::from_name);
    let options = Options {
        format: args.input_format.as_deref().and_then(Format::from_name),
        durations: unit.map(|unit| Durations { unit, stamped_at_end: args.stamped_at_end }),
        ..Options::to_play()
    };
    Recorded::of(&args.log, &bytes, &options, args.speed)
}

/// A policy with the classes that the log suggests, or its own if it plays recorded traffic whose labels are there.
fn policy(args: &ReplayArgs, reference: Option<&str>, recorded: &Recorded) -> anyhow::Result<Parsed> {
    let mut parsed = source::load(reference.unwrap_or(POLICY))?;
    let contents = recorded.contents();
    if reference.is_some() && contents.fits(&parsed.wire) {
        parsed.wire.run.horizon_us = recorded.horizon_us();
    } else {
        contents.play(&mut parsed.wire, OTHERS);
        let count = |label: &(String, u64)| format!("{} {}", name(&label.0), grouped(label.1 as f64));
        let labels: Vec<String> = contents.labels.iter().take(6).map(count).collect();
        let more = if contents.labels.len() > labels.len() { ", …" } else { "" };
        anstream::eprintln!(
            "{} {}: classes by label, the most frequent first: {}{more}",
            styled(WARN, "note:"),
            args.log,
            labels.join(", ")
        );
    }
    if let Some(seed) = args.pairs.seed {
        parsed.wire.run.seed = seed;
    }
    Ok(parsed)
}

fn name(label: &str) -> &str {
    if label.is_empty() { "(none)" } else { label }
}
