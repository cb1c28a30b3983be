//! Simulated figures against exact ones.
//!
//! Rule: the exact value lies inside the 99.9 % interval of 20 replications, and the interval is tight
//! enough to prove something. Seeds are fixed, so a failure means that code changed, never bad luck.

use tidegate_core::measure::Summary;
use tidegate_core::scenario::Scenario;
use tidegate_core::sim::{RunResult, Simulation};

const REPLICATIONS: u32 = 20;

/// Twenty runs of a scenario without a trace.
///
/// # Panics
/// If the scenario needs a trace.
#[must_use]
pub fn runs(scenario: &Scenario) -> Vec<RunResult> {
    (0..REPLICATIONS).map(|r| Simulation::new(scenario, r, None).unwrap().finish()).collect()
}

/// The 99.9 % interval of a figure over the runs holds `want` and is at most `tight` of it to either side.
///
/// # Panics
/// If it does not.
#[track_caller]
pub fn check(what: &str, runs: &[RunResult], figure: impl Fn(&RunResult) -> f64, want: f64, tight: f64) {
    let figures: Vec<f64> = runs.iter().map(figure).collect();
    let interval = Summary::of(&figures).ci99_9().expect("twenty replications make an interval");
    assert!(
        interval.contains(want),
        "{what}: exact {want}, simulated {:.6} in [{:.6}, {:.6}] (20 replications, 99.9 %)",
        interval.mean,
        interval.lo,
        interval.hi
    );
    let half = interval.half_width() / want.abs();
    assert!(half <= tight, "{what}: half width {half:.4} of the value proves nothing, want {tight}");
}

/// Mean wait of class `class` in milliseconds: with a mean service time of 1 ms, in mean service times.
pub fn wait(class: usize) -> impl Fn(&RunResult) -> f64 {
    move |run| run.classes[class].wait.mean_s().unwrap() * 1e3
}
