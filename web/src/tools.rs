//! Whole runs without a page or a worker, for whoever checks that this very module gives the run that all others give.

use crate::engine::simulation;
use tidegate_core::import::flat;
use tidegate_core::scenario::{Parsed, parse};
use wasm_bindgen::prelude::*;

/// Runs a scenario to its end: its hash and its events, with a blank between. `scenario` is JSON, `rows` is recorded
/// traffic as the module for programs reads it.
///
/// # Errors
/// What is wrong with the scenario or the rows, in words.
#[wasm_bindgen]
pub fn run_hash(scenario: &str, rows: Option<Vec<u8>>) -> Result<String, JsValue> {
    hash_of(scenario, rows.as_deref()).map_err(|reason| JsValue::from_str(&reason))
}

fn hash_of(scenario: &str, rows: Option<&[u8]>) -> Result<String, String> {
    let scenario = parse::parse_json(scenario).and_then(Parsed::check).map_err(|e| e.to_string())?;
    let rows = rows.map(flat::decode).transpose().map_err(|e| e.to_string())?;
    let mut run = simulation(&scenario, 0, rows.as_ref())?;
    run.run_to_end();
    Ok(format!("{:016x} {}", run.trace_hash(), run.events()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::import::{Options, parse_trace};
    use tidegate_core::scenario::presets;

    #[test]
    fn a_whole_run_is_the_simulators() {
        let preset = presets::get("mm1").expect("a preset");
        let hash = hash_of(preset.json(), None).expect("runs");
        let mut plain = tidegate_core::sim::Simulation::new(&preset.scenario(), 0, None).expect("runs");
        plain.run_to_end();
        assert_eq!(hash, format!("{:016x} {}", plain.trace_hash(), plain.events()));
        assert!(hash_of("mm1", None).is_err());
    }

    #[test]
    fn recorded_rows_are_played() {
        let text = b"t_s,class,service_s\n0.5,a,0.01\n0.75,b,0.02\n";
        let trace = parse_trace(text, &Options::default()).expect("a table");
        let rows = flat::encode(&trace.rows, &trace.labels);
        let replay = presets::get("trace-replay").expect("a preset").json();
        assert!(hash_of(replay, Some(&rows)).is_ok());
        assert!(hash_of(replay, None).is_err(), "it has no traffic of its own");
        assert!(hash_of(replay, Some(text)).is_err(), "no rows");
    }
}
