//! RED in simulated queues against exact birth-death values (oracle table 6.7).
//!
//! With weight 1 the average is the length, and with independent coins the queue is a birth-death chain. The table
//! judges by the number in the system and a stage by the number waiting. For one worker without `gentle` the two agree
//! once both thresholds are one lower, and row 1 is checked as printed; elsewhere the chain is solved for the number
//! waiting. The chain itself is checked against the table in `core/src/theory.rs`.
//!
//! Rule: the exact value lies inside the 99.9 % interval of 20 replications, and the interval is tight enough to prove
//! something. Seeds are fixed, so a failure means that code changed, never bad luck.

use tidegate_core::admission::Ramp;
use tidegate_core::measure::Summary;
use tidegate_core::scenario::Scenario;
use tidegate_core::sim::{RunResult, Simulation};
use tidegate_core::theory::birth_death;
use tidegate_tests::scenario;

const REPLICATIONS: u32 = 20;
/// Requests in a replication.
const REQUESTS: f64 = 120e3;

/// A RED queue on the number waiting. Rates are in units of the service rate of one worker.
#[derive(Clone, Copy, Debug)]
struct Queue {
    lambda: f64,
    workers: u32,
    limit: u32,
    min: f64,
    max: f64,
    max_p: f64,
    gentle: bool,
}

impl Queue {
    /// The scenario, with services of mean 1 ms, and arrivals in `classes` classes whose priorities differ.
    fn scenario(&self, policy: &str, classes: u32) -> Scenario {
        let Self { lambda, workers, limit, min, max, max_p, gentle } = *self;
        let rate = lambda * 1_000.0 / f64::from(classes);
        let horizon_us = (REQUESTS / (lambda * 1_000.0) * 1e6) as u64;
        let classes: Vec<String> = (0..classes)
            .map(|n| format!(r#"{{"name":"c{n}","load":{{"kind":"poisson","rate_per_s":{rate}}}}}"#))
            .collect();
        scenario(&format!(
            r#"{{"tidegate":1,"run":{{"horizon_us":{horizon_us}}},"classes":[{}],
                "stages":[{{"name":"serve","workers":{workers},
                    "queue":{{"policy":"{policy}","min":{min},"max":{max},"max_p":{max_p},"gentle":{gentle},
                              "weight":1,"spacing":"bernoulli","adapt":{{"rule":"none"}},"limit":{limit}}},
                    "work":{{"at":"stage","service":{{"law":"exponential","mean_us":1000}}}}}}]}}"#,
            classes.join(",")
        ))
    }

    /// Exact loss, and mean wait in units of the mean service time.
    fn exact(&self) -> (f64, f64) {
        let ramp = Ramp::new(self.min, self.max, self.gentle);
        let refused = |n: u32| match n.saturating_sub(self.workers) {
            // While no more than one waits there is no random drop.
            0 | 1 => 0.0,
            waiting => ramp.at(f64::from(waiting), self.max_p),
        };
        let chain = birth_death(self.lambda, 1.0, self.workers, self.workers + self.limit, refused);
        (chain.loss, chain.response - 1.0)
    }
}

fn runs(scenario: &Scenario) -> Vec<RunResult> {
    (0..REPLICATIONS).map(|r| Simulation::new(scenario, r, None).unwrap().finish()).collect()
}

/// The 99.9 % interval of a figure over the runs holds `want` and is at most `tight` of it to either side.
#[track_caller]
fn check(what: &str, runs: &[RunResult], figure: impl Fn(&RunResult) -> f64, want: f64, tight: f64) {
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

fn loss(run: &RunResult) -> f64 {
    let shed: u64 = run.classes.iter().flat_map(|class| class.shed).sum();
    shed as f64 / run.classes.iter().map(|class| class.arrived).sum::<u64>() as f64
}

fn wait(run: &RunResult) -> f64 {
    run.classes[0].wait.mean_s().unwrap() * 1e3
}

/// Simulates the queue under `policy` and checks loss and wait against the chain.
#[track_caller]
fn check_queue(queue: Queue, policy: &str, classes: u32, tight: f64) {
    let runs = runs(&queue.scenario(policy, classes));
    let (want_loss, want_wait) = queue.exact();
    check(&format!("{policy}, {queue:?}, loss"), &runs, loss, want_loss, tight);
    check(&format!("{policy}, {queue:?}, wait"), &runs, wait, want_wait, tight);
}

/// Row 1 of the table: 1.2 erlang at one worker, 20 places, 5 to 15 in the system, 0.1, not gentle.
const ROW_1: Queue =
    Queue { lambda: 1.2, workers: 1, limit: 19, min: 4.0, max: 14.0, max_p: 0.1, gentle: false };

#[test]
fn red_loses_and_waits_as_the_table_says() {
    let (want_loss, want_wait) = ROW_1.exact();
    assert!((want_loss - 0.178_366_914_6).abs() < 1e-9, "the chain is that of the table: {want_loss}");
    assert!((want_wait - 9.478_520_41).abs() < 1e-7, "the chain is that of the table: {want_wait}");
    check_queue(ROW_1, "red", 1, 0.02);
}

#[test]
fn gentle_red_loses_and_waits_as_its_chain_says() {
    let queue = Queue { lambda: 1.2, workers: 1, limit: 39, min: 5.0, max: 15.0, max_p: 0.1, gentle: true };
    check_queue(queue, "red", 1, 0.02);
    check_queue(Queue { lambda: 1.5, max_p: 0.5, ..queue }, "red", 1, 0.02);
    check_queue(Queue { lambda: 12.0, workers: 8, limit: 52, min: 10.0, max: 30.0, ..queue }, "red", 1, 0.02);
}

/// Classes of one priority share a level: priority RED is then RED, whoever arrives.
#[test]
fn priority_red_with_one_level_is_red() {
    check_queue(ROW_1, "priority_red", 2, 0.03);
}
