//! Prints how controllers of a split do: the table of paper P, 0.9; the acceptance table of proportional delay, what is demanded
//! of `stc_lead` and what it shows beside `wtp` and `pid`; and what a step of each controller costs.
//!
//! `cargo xtask bench control` runs it. Arguments: seeds (default 20), then names of cases (default: all).

use serde_json::{Value, json};
use std::hint::black_box;
use std::process::ExitCode;
use std::time::{Duration, Instant as Clock};
use tidegate_core::control::split::{ClassSample, SplitSample};
use tidegate_core::control::{Split, SplitControl, apportion};
use tidegate_core::scenario::{Parsed, Scenario, parse_json};
use tidegate_core::unit::{DelayWeight, mix};
use tidegate_tests::control::acceptance::{Compared, Row, rows};
use tidegate_tests::control::{Outcome, cases, two_class};

/// Cases that are run with wrong first gains too.
const WRONG: [&str; 9] =
    ["closed2", "closed2-w16", "closed3", "closed4", "mixflip", "svcstep", "think10", "slowsvc", "w8n3"];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1).peekable();
    let seeds = arguments.peek().and_then(|word| word.parse().ok());
    if seeds.is_some() {
        arguments.next();
    }
    let (seeds, names) = (seeds.unwrap_or(20), arguments.collect::<Vec<String>>());
    if names.is_empty() {
        print_two_class(seeds);
        print_steps();
    }
    println!(
        "in each phase: pairwise error, in band 10 and 20, settled after (median, 90th percentile), moved each 5 s, delay"
    );
    let mut all = Vec::new();
    for case in cases() {
        if !names.is_empty() && !names.iter().any(|name| name == case.name) {
            continue;
        }
        let wrong = WRONG.contains(&case.name);
        let compared = Compared::run(case, seeds, wrong);
        print(&compared);
        all.push(compared);
    }
    let rows = rows(&all);
    println!();
    rows.iter().for_each(show);
    if rows.iter().all(|row| row.met) { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The table of paper P, 0.9.
fn print_two_class(seeds: u64) {
    println!("two classes at 1 to 2, the first has 200 clients, 400 after 60 windows of 10 s; paper P, 0.9");
    println!(
        "  ratio before, after | error in windows 20-60, 60-70, 75-120 | windows to settle: start, step"
    );
    for (name, stage) in two_class::rows() {
        let two_class::Entry { ratio, error, settled } = two_class::run(&stage, seeds.min(20) as u32);
        let windows = |settled: Option<usize>| settled.map_or_else(|| "never".into(), |n| n.to_string());
        println!(
            "  {name:<16} {:5.2} {:5.2} | {:.3} {:.3} {:.3} | {:>5} {:>5}",
            ratio[0],
            ratio[1],
            error[0],
            error[1],
            error[2],
            windows(settled[0]),
            windows(settled[1])
        );
    }
    println!();
}

/// What a step of each controller costs with sixteen classes.
fn print_steps() {
    println!("a step for sixteen classes, whole workers included, best of 20 passes");
    for (name, stage) in two_class::rows() {
        let scenario = sixteen(&stage["split_by"]);
        let weights: Vec<DelayWeight> = scenario.classes.iter().map(|class| class.delay_weight).collect();
        if let Some(mut split) = Split::new(&scenario.stages[0].split_by, &weights) {
            let best = (0..20).map(|pass| pass_us(&mut split, pass)).fold(f64::INFINITY, f64::min);
            println!("  {name:<16} {best:6.2} us");
        }
    }
    println!();
}

/// Sixteen classes on 256 workers.
fn sixteen(split_by: &Value) -> Scenario {
    let classes: Vec<Value> =
        (0..16).map(|n| json!({ "name": n.to_string(), "delay_weight": 1 + n % 4 })).collect();
    let scenario = json!({ "tidegate": 1, "classes": classes, "servers": [{ "name": "origin" }],
        "stages": [{ "name": "serve", "workers": 256, "split_by": split_by, "work": { "at": "servers" } }] });
    parse_json(&scenario.to_string()).and_then(Parsed::check).expect("a scenario of sixteen classes")
}

/// Mean time of a step, over a thousand in which every class waits, is served and never rests.
fn pass_us(split: &mut Split, pass: u64) -> f64 {
    const STEPS: u64 = 1_000;
    let (mut shares, mut workers) = (vec![1.0 / 16.0; 16], vec![16; 16]);
    let mut took = Duration::ZERO;
    for step in 0..STEPS {
        let classes: Vec<ClassSample> =
            (0..16).map(|class| sample(mix(pass << 32 | step << 8 | class))).collect();
        let begin = Clock::now();
        split.on_sample(SplitSample { workers: 256, classes: black_box(&classes) }, &mut shares);
        workers = apportion(256, &shares);
        split.on_applied(&workers);
        took += begin.elapsed();
    }
    black_box(workers);
    took.as_secs_f64() * 1e6 / STEPS as f64
}

fn sample(chance: u64) -> ClassSample {
    let part = |n: u32| (chance >> (8 * n) & 0xFF) as u32;
    ClassSample {
        joined: 10 + part(0),
        started: 10 + part(1),
        delay_s: f64::from(10 + part(1)) * (1.0 + f64::from(part(2)) / 256.0),
        waiting: 20 + part(3),
        oldest_s: 2.0,
        completed: 10 + part(1),
        service_s: f64::from(10 + part(1)) * 0.1,
        busy: 16,
        workers: 8.0 + f64::from(part(4)) / 16.0,
    }
}

fn print(compared: &Compared) {
    let policies = [("stc_lead", &compared.lead), ("wtp", &compared.wtp), ("pid", &compared.pid)];
    let wrong = compared.wrong.iter().flatten().zip(["prior 0.25", "prior 4"]).map(|(run, name)| (name, run));
    for (policy, outcomes) in policies.into_iter().chain(wrong) {
        let phases: Vec<String> = outcomes.iter().map(phase).collect();
        println!("{:<12} {policy:<11} {}", compared.case.name, phases.join(" | "));
    }
}

fn phase(outcome: &Outcome) -> String {
    let [ten, twenty] = outcome.in_band.map(|part| 100.0 * part);
    let [median, ninetieth] = outcome.settle_s;
    format!(
        "{:5.1} % {ten:3.0} {twenty:3.0} {median:3}/{ninetieth:3} s {:4.1} {:5.2} s",
        100.0 * outcome.error,
        outcome.moved,
        outcome.delay_s
    )
}

fn show(row: &Row) {
    let verdict = if row.met { "met" } else { "MISSED" };
    println!("{:<52} {:<58} {:<28} {verdict}", row.measure, row.shown, row.demand);
}
