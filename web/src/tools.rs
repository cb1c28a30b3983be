//! The simulator for programs: whole runs as text, without a page or a worker.

use serde_json::{Value, json};
use tidegate_core::import::{Options, parse_trace};
use tidegate_core::link;
use tidegate_core::scenario::{Scenario, presets};
use tidegate_core::sim::{ENGINE, Simulation};
use wasm_bindgen::prelude::*;

/// Names of the presets, as a JSON array.
#[wasm_bindgen]
#[must_use]
pub fn preset_names() -> String {
    let names: Vec<&str> = presets::names().collect();
    Value::from(names).to_string()
}

/// Runs a scenario to its end and returns its hash as JSON: fields of what `tidegate simulate --format json` prints, without
/// figures of classes; the module for programs has those. `scenario` is `preset:NAME`, a share link or JSON; `recorded` is the text of a log or trace, read as `--input`
/// reads it, for classes that replay one.
///
/// # Errors
/// What is wrong with the scenario or the record, in words.
#[wasm_bindgen]
pub fn simulate_json(scenario: &str, recorded: Option<String>) -> Result<String, JsError> {
    simulate(scenario, recorded.as_deref()).map_err(|reason| JsError::new(&reason))
}

/// As [`simulate_json`], for the host.
///
/// # Errors
/// What is wrong with the scenario or the record, in words.
pub fn simulate(scenario: &str, recorded: Option<&str>) -> Result<String, String> {
    let scenario = open(scenario)?;
    let read = |text: &str| parse_trace(text.as_bytes(), &Options::default()).map_err(|e| e.to_string());
    let trace = recorded.map(read).transpose()?;
    let rows = trace.as_ref().map(|trace| (trace.rows.as_slice(), trace.labels.as_slice()));
    let mut run = Simulation::new(&scenario, 0, rows).map_err(|e| e.to_string())?;
    run.run_to_end();
    let report = json!({
        "scenario": scenario.wire().title, "seed": scenario.seed, "engine": ENGINE,
        "trace_hash": format!("{:016x}", run.trace_hash()), "events": run.events(),
    });
    Ok(report.to_string())
}

fn open(text: &str) -> Result<Scenario, String> {
    if let Some(name) = text.trim().strip_prefix("preset:") {
        return presets::get(name)
            .map(presets::Preset::scenario)
            .ok_or_else(|| format!("no preset `{name}`"));
    }
    let link = link::open(text).map_err(|e| e.to_string())?;
    link.parsed.check().map_err(|e| e.to_string())
}

/// Plays the four-class scenario over and over and returns the events of one run and of all, for whoever holds
/// the clock: `{"events": …, "runs": …, "trace_hash": "…"}`.
///
/// # Errors
/// If the preset is missing.
#[wasm_bindgen]
pub fn bench_sim(runs: u32) -> Result<String, JsError> {
    let scenario = open("preset:four-classes").map_err(|reason| JsError::new(&reason))?;
    let (mut events, mut hash) = (0, 0);
    for replication in 0..runs.max(1) {
        let mut sim =
            Simulation::new(&scenario, replication, None).map_err(|e| JsError::new(&e.to_string()))?;
        sim.run_to_end();
        events += sim.events();
        hash ^= sim.trace_hash();
    }
    Ok(json!({ "runs": runs.max(1), "events": events, "trace_hash": format!("{hash:016x}") }).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_preset_a_link_and_its_json_are_the_same_run() {
        let preset = presets::get("mm1").expect("a preset");
        let by_name = simulate("preset:mm1", None).expect("runs");
        assert_eq!(simulate(preset.json, None).as_deref(), Ok(by_name.as_str()));
        assert_eq!(simulate(&link::encode(preset.scenario().wire()), None).as_deref(), Ok(by_name.as_str()));
        assert!(by_name.contains("trace_hash"));
        assert!(simulate("preset:nothing", None).is_err() && simulate("nonsense", None).is_err());
    }
    #[test]
    fn a_recorded_run_is_another_run() {
        let csv = "t_s,class,service_s\n0.5,a,0.01\n0.75,b,0.02\n";
        let run = simulate("preset:trace-replay", Some(csv)).expect("runs");
        assert!(run.contains("trace_hash"));
        assert!(simulate("preset:trace-replay", None).is_err(), "it has no traffic of its own");
    }
}
