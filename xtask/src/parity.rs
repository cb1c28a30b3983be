//! `cargo xtask parity`: every preset gives the same run in native debug, native release, Node and Chromium, and by the
//! module for programs.
//!
//! Node and Chromium run the very modules that are served, not builds of their own.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::module::{Node, Page};
use crate::workspace::Workspace;
use crate::{files, play, process, say, web};

/// Who runs a preset.
const PLACES: [&str; 5] = ["native debug", "native release", "Node", "Chromium", "tidegate.js"];
/// A run by the module for programs, in two parts as a program would; its report is what the command line prints.
const BY_PROGRAM: &str = "const simulation = new programs.Simulation(args[0], { recorded: args[1] });
    simulation.runUntil(simulation.horizon / 2);
    while (simulation.step());
    return simulation.reportJson();";
/// A run by the page's module, which has recorded traffic read by the module for programs, as the page does.
const BY_PAGE: &str = "const { flat } = programs.readTrace(args[1]);
    return tidegate.run_hash(args[0], flat).split(' ')[0];";

/// The hash of one preset in each place.
struct Row {
    preset: String,
    hashes: [String; 5],
}

impl Row {
    fn is_equal(&self) -> bool {
        self.hashes.iter().all(|hash| *hash == self.hashes[0])
    }
}

/// Builds what is missing, runs every preset everywhere, and prints the table.
///
/// # Errors
/// When a hash differs, or something cannot run.
pub(crate) fn run(workspace: &Workspace) -> Result<()> {
    web::build(workspace)?;
    for profile in ["debug", "release"] {
        play::build_binary(workspace, profile)?;
    }
    say::heading("Comparing runs");
    let node = Node::prepare(workspace)?;
    let page = Page::open(&workspace.www())?;
    let rows = compare(workspace, &node, &page)?;
    print!("{}", table(&rows));
    ensure!(rows.iter().all(Row::is_equal), "the same scenario gave different runs");
    Ok(())
}

fn compare(workspace: &Workspace, node: &Node, page: &Page) -> Result<Vec<Row>> {
    let presets = native_presets(workspace)?;
    ensure!(!presets.is_empty(), "the binary knows no preset");
    let of_module =
        names(&serde_json::from_str(&node.run("return JSON.stringify(programs.presets());", &[])?)?);
    ensure!(of_module == presets, "the module's presets {of_module:?} are not the binary's {presets:?}");
    let traffic = traffic();
    let file = workspace.target.join("node").join("traffic.csv");
    files::write_if_changed(&file, traffic.as_bytes())?;
    let mut rows = Vec::new();
    for preset in presets {
        let start = Instant::now();
        let scenario = format!("preset:{preset}");
        let of_binary = native(workspace, "release", &scenario, &file)?;
        let json = scenario_of(workspace, &preset)?;
        let by_program = node.run(BY_PROGRAM, &[&scenario, &traffic])?;
        ensure!(
            figures(&of_binary)? == figures(&by_program)?,
            "{preset}: the module for programs reports other figures than the binary"
        );
        let hashes = [
            hash(&native(workspace, "debug", &scenario, &file)?)?,
            hash(&of_binary)?,
            node.run(BY_PAGE, &[&json, &traffic])?,
            page.run_text(BY_PAGE, &[&json, &traffic])?,
            hash(&by_program)?,
        ];
        say::note(&format!("{preset} in {}", say::seconds(start.elapsed())));
        rows.push(Row { preset, hashes });
    }
    Ok(rows)
}

fn table(rows: &[Row]) -> String {
    let mut text = format!("{:<28}", "preset");
    for place in PLACES {
        // Writing to a String cannot fail.
        let _ = write!(text, " {place:<18}");
    }
    text.push_str(" equal\n");
    for row in rows {
        let _ = write!(text, "{:<28}", row.preset);
        for hash in &row.hashes {
            let _ = write!(text, " {hash:<18}");
        }
        let _ = writeln!(text, " {}", if row.is_equal() { "yes" } else { "NO" });
    }
    let equal = rows.iter().filter(|row| row.is_equal()).count();
    let _ = writeln!(text, "{equal} of {} presets equal in all {} places", rows.len(), PLACES.len());
    text
}

fn native_presets(workspace: &Workspace) -> Result<Vec<String>> {
    let text =
        process::output(Command::new(workspace.binary("release")).args(["presets", "--format", "json"]))?;
    Ok(names(&serde_json::from_str(&text).context("tidegate presets --format json")?))
}

/// A preset as JSON.
pub(crate) fn scenario_of(workspace: &Workspace, preset: &str) -> Result<String> {
    process::output(Command::new(workspace.binary("release")).args(["presets", preset, "--format", "json"]))
}

/// Recorded traffic for the presets that replay traffic: two thousand requests at irregular times, from a small generator
/// of whole numbers.
fn traffic() -> String {
    let mut state: u64 = 1;
    let mut number = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % below
    };
    let mut text = String::from("t_s,class,service_s\n");
    let mut at_ms = 0;
    for _ in 0..2_000 {
        at_ms += number(1_400);
        let (class, service_ms) = (["page", "image", "cgi"][number(3) as usize], 1 + number(900));
        // Writing to a String cannot fail.
        let _ = writeln!(text, "{}.{:03},{class},0.{service_ms:03}", at_ms / 1_000, at_ms % 1_000);
    }
    text
}

/// The names in a list of names, or of objects that have one.
fn names(list: &Value) -> Vec<String> {
    let name = |entry: &Value| entry.as_str().or_else(|| entry["name"].as_str()).map(str::to_owned);
    list.as_array().into_iter().flatten().filter_map(name).collect()
}

fn native(workspace: &Workspace, profile: &str, scenario: &str, traffic: &Path) -> Result<String> {
    let mut binary = Command::new(workspace.binary(profile));
    process::output(binary.args(["simulate", scenario, "--format", "json", "--input"]).arg(traffic))
}

fn hash(report: &str) -> Result<String> {
    let report: Value = serde_json::from_str(report).context("the report of a run")?;
    let hash = report["trace_hash"].as_str();
    hash.map(str::to_owned).with_context(|| format!("a report without trace_hash: {report}"))
}

/// A report without what only the command line knows: how long it took, and what it read.
fn figures(report: &str) -> Result<Value> {
    let mut report: Value = serde_json::from_str(report).context("the report of a run")?;
    if let Some(object) = report.as_object_mut() {
        for key in ["wall_s", "events_per_s", "input"] {
            object.remove(key);
        }
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(preset: &str, last: &str) -> Row {
        Row { preset: preset.into(), hashes: ["a1", "a1", "a1", "a1", last].map(str::to_owned) }
    }

    #[test]
    fn one_different_hash_is_seen() {
        let text = table(&[row("calm", "a1"), row("storm", "a2")]);
        assert!(text.contains("1 of 2 presets equal"), "{text}");
        let storm = text.lines().find(|line| line.starts_with("storm")).expect("a line for each preset");
        assert!(storm.ends_with("NO"), "{storm}");
    }

    #[test]
    fn names_come_as_strings_or_in_objects() {
        assert_eq!(
            names(&json!(["a", "b"])),
            names(&json!([{ "name": "a" }, { "name": "b", "question": "?" }]))
        );
    }
}
