//! The table of paper P, 0.9: what each controller makes of two classes at 1 to 2 when the first has twice as many clients.

use super::{Second, pooled, seconds};
use serde_json::{Value, json};
use tidegate_core::scenario::{Scenario, parse_json, presets};

/// Seconds of a window of the table.
const WINDOW: usize = 10;

/// A row: a name and the fields of the stage that make it.
#[must_use]
pub fn rows() -> Vec<(&'static str, Value)> {
    let by = |policy: Value| json!({ "split_by": policy });
    vec![
        ("split 32/32", json!({ "split_by": { "policy": "fixed" }, "split": [32, 32] })),
        ("split 49/15", json!({ "split_by": { "policy": "fixed" }, "split": [49, 15] })),
        ("one line", json!({ "split_by": { "policy": "fixed" }, "order": "fifo" })),
        ("pid, as in 0.9", by(json!({ "policy": "pid", "period_us": 10_000_000, "kp": 0.3, "ki": 0.2 }))),
        ("pid, hot", by(json!({ "policy": "pid", "period_us": 10_000_000, "kp": 0.6, "ki": 0.35 }))),
        ("pid", by(json!({ "policy": "pid" }))),
        ("pairwise_pi", by(json!({ "policy": "pairwise_pi" }))),
        ("pairwise_stc", by(json!({ "policy": "pairwise_stc" }))),
        ("feed_forward", by(json!({ "policy": "feed_forward", "think_us": 500_000 }))),
        ("stc_paper", by(json!({ "policy": "stc_paper" }))),
        ("stc_served", by(json!({ "policy": "stc_served" }))),
        ("stc_lead", by(json!({ "policy": "stc_lead" }))),
        ("wtp", json!({ "split_by": { "policy": "fixed" }, "order": "wtp" })),
        ("pad", json!({ "split_by": { "policy": "fixed" }, "order": "pad" })),
        ("hpd", json!({ "split_by": { "policy": "fixed" }, "order": "hpd" })),
    ]
}

/// What a policy makes of it, over several seeds.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Delay of the second class over that of the first, before and after the step.
    pub ratio: [f64; 2],
    /// Mean size of the logarithm of the ratio over its target, in windows 20 to 60, 60 to 70 and 75 to 120.
    pub error: [f64; 3],
    /// Median number of windows until five in a row are within a fifth of the target, from the start and from the step;
    /// `None` if most runs never are.
    pub settled: [Option<usize>; 2],
}

/// `pdd-two-class` with other fields of its stage.
///
/// # Panics
/// If they make no scenario.
#[must_use]
pub fn scenario(stage: &Value) -> Scenario {
    let preset = presets::get("pdd-two-class").expect("it is a preset");
    let mut scenario: Value = serde_json::from_str(preset.json()).expect("a preset is JSON");
    for (field, value) in stage.as_object().expect("fields of a stage") {
        scenario["stages"][0][field] = value.clone();
    }
    let parsed = parse_json(&scenario.to_string()).unwrap_or_else(|error| panic!("{error}: {scenario}"));
    parsed.check().unwrap_or_else(|error| panic!("{error}: {scenario}"))
}

/// Runs it with so many seeds.
#[must_use]
pub fn run(stage: &Value, seeds: u32) -> Entry {
    let scenario = scenario(stage);
    let runs: Vec<Vec<Second>> = (0..seeds).map(|replication| seconds(&scenario, replication)).collect();
    let mean = |of: &dyn Fn(&[Second]) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / f64::from(seeds);
    let part = |from: usize, to: usize| mean(&|run| ratio(&run[from..to]));
    let error = |from: usize, to: usize| {
        mean(&|run| {
            let windows = run[from * WINDOW..to * WINDOW].chunks(WINDOW);
            windows.map(|window| (ratio(window) / 2.0).ln().abs()).sum::<f64>() / (to - from) as f64
        })
    };
    let settled = |from: usize, to: usize| {
        let mut all: Vec<usize> = runs.iter().map(|run| windows_to_settle(&run[from..to])).collect();
        all.sort_unstable();
        Some(all[all.len() / 2]).filter(|&windows| windows < (to - from) / WINDOW)
    };
    Entry {
        ratio: [part(400, 600), part(750, 1200)],
        error: [error(20, 60), error(60, 70), error(75, 120)],
        settled: [settled(60, 600), settled(600, 1200)],
    }
}

fn ratio(seconds: &[Second]) -> f64 {
    let delays = pooled(seconds);
    match (delays.mean_s(0), delays.mean_s(1)) {
        (Some(first), Some(second)) => second / first.max(1e-6),
        _ => f64::INFINITY,
    }
}

fn windows_to_settle(run: &[Second]) -> usize {
    let good: Vec<bool> = run.chunks(WINDOW).map(|window| (ratio(window) / 2.0 - 1.0).abs() <= 0.2).collect();
    good.windows(5).position(|five| five.iter().all(|&good| good)).unwrap_or(good.len())
}
