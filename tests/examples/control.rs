//! Prints the acceptance table of proportional delay: what is demanded of `stc_lead`, and what it shows beside `wtp` and `pid`.
//!
//! `cargo xtask bench control` runs it. Arguments: seeds (default 20), then names of cases (default: all).

use std::process::ExitCode;
use tidegate_tests::control::acceptance::{Compared, Row, rows};
use tidegate_tests::control::{Outcome, cases};

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
