//! `cargo xtask parity`: every preset gives the same run in native debug, native release, Node and Chromium.
//!
//! Node and Chromium run the very module that the page is served, not a build of their own.

use std::fmt::Write as _;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::module::{Node, Page};
use crate::workspace::Workspace;
use crate::{play, process, say, web};

/// Who runs a preset.
const PLACES: [&str; 4] = ["native debug", "native release", "Node", "Chromium"];

/// The hash of one preset in each place.
struct Row {
    preset: String,
    hashes: [String; 4],
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
    let of_module = names(&serde_json::from_str(&node.call("preset_names", &[])?)?);
    ensure!(of_module == presets, "the page's presets {of_module:?} are not the binary's {presets:?}");
    let mut rows = Vec::new();
    for preset in presets {
        if needs_traffic(workspace, &preset)? {
            say::note(&format!("{preset}: replays recorded traffic, of which a preset has none; not run"));
            continue;
        }
        let start = Instant::now();
        let scenario = format!("preset:{preset}");
        let hashes = [
            hash(&native(workspace, "debug", &scenario)?)?,
            hash(&native(workspace, "release", &scenario)?)?,
            hash(&node.call("simulate_json", &[&scenario])?)?,
            hash(&page.call("simulate_json", &[&scenario])?)?,
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

/// Whether a preset has classes whose requests come from a log.
fn needs_traffic(workspace: &Workspace, preset: &str) -> Result<bool> {
    let mut binary = Command::new(workspace.binary("release"));
    let text = process::output(binary.args(["presets", preset, "--format", "json"]))?;
    let scenario: Value = serde_json::from_str(&text).context("tidegate presets NAME --format json")?;
    let mut classes = scenario["classes"].as_array().into_iter().flatten();
    Ok(classes.any(|class| class["load"]["kind"] == "trace"))
}

/// The names in a list of names, or of objects that have one.
fn names(list: &Value) -> Vec<String> {
    let name = |entry: &Value| entry.as_str().or_else(|| entry["name"].as_str()).map(str::to_owned);
    list.as_array().into_iter().flatten().filter_map(name).collect()
}

fn native(workspace: &Workspace, profile: &str, scenario: &str) -> Result<String> {
    process::output(Command::new(workspace.binary(profile)).args(["simulate", scenario, "--format", "json"]))
}

fn hash(report: &str) -> Result<String> {
    let report: Value = serde_json::from_str(report).context("the report of a run")?;
    let hash = report["trace_hash"].as_str();
    hash.map(str::to_owned).with_context(|| format!("a report without trace_hash: {report}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn row(preset: &str, last: &str) -> Row {
        Row { preset: preset.into(), hashes: ["a1", "a1", "a1", last].map(str::to_owned) }
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
