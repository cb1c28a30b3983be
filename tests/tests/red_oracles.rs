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
use tidegate_core::scenario::Scenario;
use tidegate_core::sim::RunResult;
use tidegate_core::theory::birth_death;
use tidegate_tests::oracle::{check, runs};
use tidegate_tests::scenario;

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
    /// The scenario, with services of mean 1 ms, and arrivals in so many classes of one priority.
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

fn loss_of(class: usize) -> impl Fn(&RunResult) -> f64 {
    move |run| run.classes[class].shed.iter().sum::<u64>() as f64 / run.classes[class].arrived as f64
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

/// Two classes, `low` and `high`, at one worker of mean 1 ms, under a queue control. Rates in units of its rate.
fn two_levels(low: f64, high: f64, queue: &str) -> Scenario {
    scenario(&format!(
        r#"{{"tidegate":1,"run":{{"horizon_us":{}}},
            "classes":[{{"name":"low","load":{{"kind":"poisson","rate_per_s":{}}}}},
                       {{"name":"high","priority":1,"load":{{"kind":"poisson","rate_per_s":{}}}}}],
            "stages":[{{"name":"serve","workers":1,"queue":{queue},
                "work":{{"at":"stage","service":{{"law":"exponential","mean_us":1000}}}}}}]}}"#,
        (REQUESTS / (low + high) * 1e3) as u64,
        low * 1e3,
        high * 1e3
    ))
}

/// Curves by level on the number of all who wait: still one chain, in which each class loses by its own curve.
#[test]
fn wred_loses_by_class_as_its_chain_says() {
    let rates = [0.7, 0.6];
    let ramps = [(Ramp::new(2.0, 8.0, false), 0.5), (Ramp::new(6.0, 14.0, false), 0.3)];
    let refused = |class: usize, n: u32| match n.saturating_sub(1) {
        0 | 1 => 0.0,
        waiting => ramps[class].0.at(f64::from(waiting), ramps[class].1),
    };
    let lambda = rates[0] + rates[1];
    let share = |n| (rates[0] * refused(0, n) + rates[1] * refused(1, n)) / lambda;
    let chain = birth_death(lambda, 1.0, 1, 40, share);
    let runs = runs(&two_levels(
        rates[0],
        rates[1],
        r#"{"policy":"wred","weight":1,"average":"all","limit":39,
            "curves":[{"min":2,"max":8,"max_p":0.5},{"min":6,"max":14,"max_p":0.3}]}"#,
    ));
    for class in 0..2 {
        let want = (0..).zip(&chain.states).map(|(n, state)| state * refused(class, n)).sum();
        check(&format!("wred, class {class}, loss"), &runs, loss_of(class), want, 0.06);
    }
}

/// Losses of two levels under priority RED with weight 1 at one worker of rate 1, the upper served first: each arrival
/// is refused by the number waiting at its level and above. The low level's rate first.
///
/// The chain has two dimensions, so it is iterated: `pi <- pi P`, `P` of the chain looked at all jumps of rate
/// low + high + 1.
fn priority_red_losses(rates: [f64; 2], limit: usize, refused: impl Fn(usize) -> f64) -> [f64; 2] {
    const SIDE: usize = 16;
    let at = |low: usize, high: usize| 1 + low * SIDE + high;
    // State 0: idle; else the worker is busy and so many wait.
    let mut states = vec![0.0; 1 + SIDE * SIDE];
    states[0] = 1.0;
    let chance = |class: usize, low: usize, high: usize| {
        let waiting = if class == 0 { low + high } else { high };
        if low + high >= limit { 1.0 } else { refused(waiting) }
    };
    let all = rates[0] + rates[1] + 1.0;
    let places = || (0..=limit).flat_map(|low| (0..=limit - low).map(move |high| (low, high)));
    for _ in 0..4_000 {
        let mut next = vec![0.0; states.len()];
        next[0] += states[0] / all;
        next[at(0, 0)] += states[0] * (rates[0] + rates[1]) / all;
        for (low, high) in places() {
            let p = states[at(low, high)] / all;
            let after = match (low, high) {
                (0, 0) => 0,
                (_, 0) => at(low - 1, 0),
                _ => at(low, high - 1),
            };
            next[after] += p;
            for (class, rate) in rates.into_iter().enumerate() {
                let lost = chance(class, low, high);
                next[at(low, high)] += p * rate * lost;
                if lost < 1.0 {
                    next[at(low + (1 - class), high + class)] += p * rate * (1.0 - lost);
                }
            }
        }
        states = next;
    }
    [0, 1].map(|class| places().map(|(low, high)| states[at(low, high)] * chance(class, low, high)).sum())
}

#[test]
fn priority_red_counts_a_level_and_all_above_it() {
    let ramp = Ramp::new(2.0, 8.0, false);
    let refused = |waiting: usize| if waiting <= 1 { 0.0 } else { ramp.at(waiting as f64, 0.6) };
    let want = priority_red_losses([0.8, 0.7], 12, refused);
    let runs = runs(&two_levels(
        0.8,
        0.7,
        r#"{"policy":"priority_red","min":2,"max":8,"max_p":0.6,"weight":1,"adapt":{"rule":"none"},"limit":12}"#,
    ));
    for (class, want) in want.into_iter().enumerate() {
        check(&format!("priority_red, class {class}, loss"), &runs, loss_of(class), want, 0.06);
    }
}
