//! `cargo xtask bench`: speed, measured side by side in one run, because figures of different days do not compare.

pub(crate) mod acceptance;
pub(crate) mod ratio;
pub(crate) mod seda;

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::module::{Node, Page};
use crate::workspace::Workspace;
use crate::{files, packages, parity, play, process, say, web};

/// Each figure is measured for about this long a turn.
const SECONDS: f64 = 3.0;
/// How often what runs the same scenario is measured, in turns.
const TURNS: usize = 3;
/// Goals of the four-class, eight-server scenario with statistics on.
const NATIVE_GOAL: f64 = 8e6;
const CHROMIUM_GOAL: f64 = 0.6;

/// The scenario, as the binary's `bench-sim` runs it.
const PRESET: &str = "four-classes";

const SIMPY: &str = "simpy==4.1.2";
const INSTALL_LIMIT: Duration = Duration::from_secs(180);

/// Runs a scenario by the module again and again for a time; the rates are whole runs, as in the binary.
const MEASURE: &str = "
    const measure = ({ run_hash }, scenario, seconds) => {
        const rates = [], begin = performance.now();
        let hash = '';
        while (rates.length < 3 || performance.now() - begin < seconds * 1000) {
            const start = performance.now();
            const [hash_of_run, events] = run_hash(scenario).split(' ');
            rates.push(events / (performance.now() - start) * 1000);
            hash = hash_of_run;
        }
        rates.sort((a, b) => a - b);
        const [best, median] = [rates.at(-1), rates[rates.length >> 1]];
        return { best_events_per_s: best, median_events_per_s: median, trace_hash: hash };
    };";

/// Events a second: the best and the median of the passes.
struct Rate {
    what: String,
    best: f64,
    median: f64,
}

impl Rate {
    fn read(what: impl Into<String>, report: &Value) -> Result<Self> {
        let figure = |name: &str| report[name].as_f64().with_context(|| format!("no {name} in {report}"));
        Ok(Self {
            what: what.into(),
            best: figure("best_events_per_s")?,
            median: figure("median_events_per_s")?,
        })
    }
}

/// Measures what a request costs a stage whose queue is short and whose queue is long.
///
/// # Errors
/// When the binary does not build or run.
pub(crate) fn queue(workspace: &Workspace) -> Result<()> {
    play::build_binary(workspace, "release")?;
    say::heading("Measuring the queue");
    process::run(Command::new(workspace.binary("release")).arg("bench-queue"))
}

/// Measures what it costs each balancer to pick a server.
///
/// # Errors
/// When the binary does not build or run.
pub(crate) fn balance(workspace: &Workspace) -> Result<()> {
    play::build_binary(workspace, "release")?;
    say::heading("Measuring the balancers");
    process::run(Command::new(workspace.binary("release")).arg("bench-balance"))
}

/// Measures the simulator natively, in Node and in Chromium, beside a bare M/M/1 loop and SimPy, and prints the table.
///
/// # Errors
/// When something does not build or run. A missed goal is printed, not an error: machines differ.
pub(crate) fn sim(workspace: &Workspace) -> Result<()> {
    web::build(workspace)?;
    play::build_binary(workspace, "release")?;
    // In turns, as the speed of a shared machine changes within seconds: a slow spell is to meet all of them, or none.
    let mut turns = Vec::new();
    for _ in 0..TURNS {
        turns.push([native(workspace)?, in_node(workspace)?, in_chromium(workspace)?]);
    }
    let [native, node, chromium] = quickest(turns);
    let simpy = simpy(workspace)?;
    for (place, report) in [("Node", &node), ("Chromium", &chromium)] {
        let same = report["trace_hash"] == native["trace_hash"];
        ensure!(same, "{place} ran something else: {} is not {}", report["trace_hash"], native["trace_hash"]);
    }
    let rates = [
        Rate::read("four classes, eight servers: native", &native)?,
        Rate::read("  the same in Node", &node)?,
        Rate::read("  the same in Chromium", &chromium)?,
        Rate::read("bare two-clock M/M/1 loop: native", &native["bare_mm1"])?,
        Rate::read(format!("M/M/1 in SimPy {}", simpy["version"].as_str().unwrap_or_default()), &simpy)?,
    ];
    print!("{}{}", table(&rates), goals(&rates[0], &rates[2]));
    Ok(())
}

fn table(rates: &[Rate]) -> String {
    let mut text = format!("{:<40} {:>14} {:>14} {:>10}\n", "events a second", "best", "median", "to native");
    for rate in rates {
        let ratio = rate.best / rates[0].best;
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{:<40} {:>14.0} {:>14.0} {ratio:>10.3}", rate.what, rate.best, rate.median);
    }
    text
}

fn goals(native: &Rate, chromium: &Rate) -> String {
    let met = |yes: bool| if yes { "met" } else { "MISSED" };
    let ratio = chromium.best / native.best;
    format!(
        "native, at least {:.0} M: {}\nChromium, at least {:.0} % of native: {} ({:.0} %)\n",
        NATIVE_GOAL / 1e6,
        met(native.best >= NATIVE_GOAL),
        CHROMIUM_GOAL * 100.0,
        met(ratio >= CHROMIUM_GOAL),
        ratio * 100.0,
    )
}

fn parsed(text: &str) -> Result<Value> {
    serde_json::from_str(text).with_context(|| format!("not JSON: {text}"))
}

/// Of what was measured in turns, the quickest of each.
fn quickest<const N: usize>(turns: Vec<[Value; N]>) -> [Value; N] {
    let best = |report: &Value| report["best_events_per_s"].as_f64().unwrap_or(0.0);
    turns
        .into_iter()
        .reduce(|mut kept, turn| {
            for (kept, report) in kept.iter_mut().zip(turn) {
                if best(&report) > best(kept) {
                    *kept = report;
                }
            }
            kept
        })
        .unwrap_or_else(|| std::array::from_fn(|_| Value::Null))
}

fn native(workspace: &Workspace) -> Result<Value> {
    say::heading("Measuring the binary");
    let mut binary = Command::new(workspace.binary("release"));
    parsed(&process::output(binary.args(["bench-sim", "--json", "--seconds", &SECONDS.to_string()]))?)
}

fn in_node(workspace: &Workspace) -> Result<Value> {
    say::heading("Measuring the module in Node");
    let script = format!("{MEASURE}\nreturn JSON.stringify(measure(tidegate, args[0], {SECONDS}));");
    let scenario = parity::scenario_of(workspace, PRESET)?;
    parsed(&Node::prepare(workspace)?.run(&script, &[&scenario])?)
}

fn in_chromium(workspace: &Workspace) -> Result<Value> {
    say::heading("Measuring the module in Chromium");
    let script = format!("{MEASURE}\nreturn measure(tidegate, arguments[0], arguments[1]);");
    let scenario = parity::scenario_of(workspace, PRESET)?;
    Page::open(&workspace.www())?.run(&script, &[json!(scenario), json!(SECONDS)])
}

fn simpy(workspace: &Workspace) -> Result<Value> {
    let python = python_with_simpy(workspace)?;
    say::heading("Measuring SimPy");
    let script = workspace.root.join("xtask/py/simpy_mm1.py");
    parsed(&process::output(Command::new(python).arg(script).arg(SECONDS.to_string()))?)
}

/// A Python of our own below `target`, with SimPy in it.
fn python_with_simpy(workspace: &Workspace) -> Result<PathBuf> {
    let folder = workspace.target.join("python");
    let python = folder.join("bin/python");
    let ready = folder.join(format!("{SIMPY}.ready"));
    if ready.is_file() {
        return Ok(python);
    }
    say::heading(&format!("Installing {SIMPY} below target/ (once)"));
    let make = || process::run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder));
    if make().is_err() {
        packages::install("Python, for the comparison with SimPy", &["python3", "python3-venv"])?;
        make()?;
    }
    let mut pip = Command::new(&python);
    process::run_within(pip.args(["-m", "pip", "install", "--quiet", SIMPY]), INSTALL_LIMIT)?;
    files::write_if_changed(&ready, b"")?;
    Ok(python)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(best: f64) -> Rate {
        Rate { what: "x".into(), best, median: best }
    }

    #[test]
    fn of_each_the_quickest_turn_is_kept() {
        let turn = |a: f64, b: f64| [a, b].map(|best| json!({ "best_events_per_s": best }));
        assert_eq!(quickest(vec![turn(5.0, 7.0), turn(8.0, 6.0), turn(6.0, 6.5)]), turn(8.0, 7.0));
    }

    #[test]
    fn goals_are_judged_by_the_best_pass() {
        let text = goals(&rate(10e6), &rate(5.9e6));
        assert!(text.contains("at least 8 M: met") && text.contains("MISSED (59 %)"), "{text}");
    }
}
