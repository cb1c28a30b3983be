//! Paper B, 2.4: mean response times of the preset `red5-dnf` by number of users and balancer.

use super::under;
use serde_json::{Value, json};
use tidegate_core::scenario::presets;
use tidegate_core::sim::Simulation;

/// Users of the table.
pub const USERS: [u32; 7] = [50, 100, 200, 300, 350, 400, 450];

/// One line of the table: what it is called, and the balancer; the last tells whether all weights are 1.
#[must_use]
pub fn balancers() -> Vec<(&'static str, Value, bool)> {
    let named = |policy: &str| json!({ "policy": policy });
    vec![
        ("round robin", named("round_robin"), false),
        ("wlc, all weights 1", named("weighted_least_connections"), true),
        ("wlc, weights 100 and 60", named("weighted_least_connections"), false),
        ("dnf_published", named("dnf_published"), false),
        ("dnf_published, rank", json!({ "policy": "dnf_published", "group_by": "rank" }), false),
        (
            "dnf_published, mean, turns by weight",
            json!({ "policy": "dnf_published", "target_mean": true, "gain": 2, "groups": 1, "weighted": true }),
            false,
        ),
        ("dnf", named("dnf"), false),
    ]
}

/// The preset with so many users.
///
/// # Panics
/// If there is no such preset.
#[must_use]
pub fn preset(users: u32, equal_weights: bool) -> Value {
    let text = presets::get("red5-dnf").expect("a preset").json();
    let mut scenario: Value = serde_json::from_str(text).expect("a preset is JSON");
    for (class, tenths) in [(0, 5), (1, 3), (2, 2)] {
        scenario["classes"][class]["load"]["clients"] = (users * tenths / 10).into();
    }
    if equal_weights {
        for server in scenario["servers"].as_array_mut().expect("servers") {
            server["weight"] = 1.into();
        }
    }
    scenario
}

/// Mean time to the first answer over all sessions of `seeds` runs, in milliseconds.
///
/// # Panics
/// If nobody is answered.
#[must_use]
pub fn mean_ms(users: u32, balancer: &Value, equal_weights: bool, seeds: u32) -> f64 {
    let scenario = under(&preset(users, equal_weights), balancer);
    let (mut sum_s, mut count) = (0.0, 0.0);
    for seed in 0..seeds {
        let run = Simulation::new(&scenario, seed, None).expect("no trace is replayed").finish();
        for class in run.classes {
            let n = class.response.count() as f64;
            sum_s += class.response.mean_s().unwrap_or(0.0) * n;
            count += n;
        }
    }
    assert!(count > 0.0, "somebody is answered");
    sum_s / count * 1e3
}
