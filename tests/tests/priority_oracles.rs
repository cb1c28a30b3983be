//! Priorities, proportional delays and ageing at one worker against what is known exactly (oracle table 6.5).
//!
//! Service is exponential with a mean of 1 ms, so rates in requests per ms are utilisations and waits in ms are in
//! units of the mean service time.

use tidegate_core::scenario::Scenario;
use tidegate_core::sim::RunResult;
use tidegate_tests::oracle::{check, runs, wait};
use tidegate_tests::scenario;

/// Poisson classes at a worker: `class` gives the fields of each besides name and load, `stage` those of the stage
/// besides its queue and work.
fn queue(lambdas: &[f64], class: impl Fn(usize) -> String, stage: &str, horizon_s: u64) -> Scenario {
    let classes: Vec<String> = lambdas
        .iter()
        .enumerate()
        .map(|(n, lambda)| {
            let (rate, fields) = (lambda * 1_000.0, class(n));
            format!(r#"{{"name":"c{n}",{fields},"load":{{"kind":"poisson","rate_per_s":{rate}}}}}"#)
        })
        .collect();
    scenario(&format!(
        r#"{{"tidegate":1,"run":{{"horizon_us":{horizon_s}000000}},"classes":[{}],
            "stages":[{{"name":"serve","workers":1,{stage},
                       "queue":{{"policy":"tail_drop","limit":1000000}},
                       "work":{{"at":"stage","service":{{"law":"exponential","mean_us":1000}}}}}}]}}"#,
        classes.join(",")
    ))
}

/// Sum of utilisation times mean wait over the classes: the same under every order that neither knows service
/// times in advance nor lets the worker rest (Kleinrock's conservation law).
fn conserved(lambdas: &[f64]) -> impl Fn(&RunResult) -> f64 {
    move |run| lambdas.iter().enumerate().map(|(class, rho)| rho * wait(class)(run)).sum()
}

/// What the sum comes to for exponential service with mean 1.
fn conserved_sum(lambdas: &[f64]) -> f64 {
    let rho: f64 = lambdas.iter().sum();
    rho * rho / (1.0 - rho)
}

/// Kleinrock 1964: the priority of a waiting request is `b` times its wait. That is waiting-time priority with
/// weights of 1 over `b`.
#[test]
fn waiting_time_priority_is_accumulating_priority() {
    for (lambdas, b, waits, tight) in [
        (&[0.6, 0.2][..], &[1.0, 4.0][..], &[4.705_882_353, 1.882_352_941][..], 0.05),
        (&[0.45, 0.45], &[1.0, 2.0], &[11.612_903_23, 6.387_096_774], 0.10),
        (&[0.45, 0.45], &[1.0, 4.0], &[13.584_905_66, 4.415_094_34], 0.10),
        (&[0.3, 0.3, 0.3], &[1.0, 2.0, 4.0], &[14.4, 8.047_058_824, 4.552_941_176], 0.10),
    ] {
        let class = |n: usize| format!(r#""delay_weight":{}"#, 1.0 / b[n]);
        let runs = runs(&queue(lambdas, class, r#""order":"wtp""#, 250));
        for (n, &want) in waits.iter().enumerate() {
            check(&format!("wtp, {lambdas:?} with b {b:?}, class {n}"), &runs, wait(n), want, tight);
        }
    }
}

/// Whoever is next, waits are only handed from one class to another.
#[test]
fn every_order_conserves_the_waits() {
    for (lambdas, horizon_s, tight) in [(&[0.2, 0.6][..], 60, 0.08), (&[0.1, 0.2, 0.25, 0.35], 100, 0.14)] {
        for order in [
            "strict_priority",
            "fifo",
            "weighted_fair",
            "wtp",
            "pad",
            "hpd",
            "earliest_deadline",
            "adaptive_lifo",
        ] {
            let class = |n: usize| {
                format!(r#""priority":{n},"delay_weight":{},"share":{}"#, n + 1, (lambdas.len() - n) * 2)
            };
            let runs = runs(&queue(lambdas, class, &format!(r#""order":"{order}""#), horizon_s));
            let what = format!("conservation under {order}, {lambdas:?}");
            check(&what, &runs, conserved(lambdas), conserved_sum(lambdas), tight);
        }
    }
}

/// Two classes of equal load 0.45: average delays in a ratio of 2 are 6 and 12 by the conservation law, and within
/// reach, as strict priority separates them by a factor of 10.
#[test]
fn proportional_average_delay_holds_the_ratio() {
    for (weight, waits) in [(2.0, [6.0, 12.0]), (4.0, [3.6, 14.4])] {
        let class = |n: usize| format!(r#""delay_weight":{}"#, [1.0, weight][n]);
        let runs = runs(&queue(&[0.45, 0.45], class, r#""order":"pad""#, 250));
        for (n, want) in waits.into_iter().enumerate() {
            check(&format!("pad, weights 1 and {weight}, class {n}"), &runs, wait(n), want, 0.10);
        }
        let ratio = |run: &RunResult| wait(1)(run) / wait(0)(run);
        let mean = runs.iter().map(ratio).sum::<f64>() / runs.len() as f64;
        assert!((mean / weight - 1.0).abs() < 0.02, "pad, ratio of mean waits: {mean}, wanted {weight}");
    }
}

/// Shares of work decide when both classes are always waiting: throughput comes out as the shares.
#[test]
fn weighted_fair_splits_the_worker_by_share() {
    let class = |n: usize| format!(r#""share":{}"#, [1.0, 3.0][n]);
    let runs = runs(&queue(&[1.0, 1.0], class, r#""order":"weighted_fair""#, 20));
    for (n, want) in [0.25, 0.75].into_iter().enumerate() {
        let part = |run: &RunResult| {
            run.classes[n].completed as f64 / run.classes.iter().map(|c| c.completed as f64).sum::<f64>()
        };
        check(&format!("part of the completions, class {n}"), &runs, part, want, 0.02);
    }
}

/// Classes of rates 0.2 (urgent) and 0.6, promoted after `after_us`.
fn promotion(after_us: u64) -> Vec<RunResult> {
    let class = |n: usize| format!(r#""priority":{}"#, 1 - n);
    let stage = format!(r#""ageing":{{"rule":"promote","after_us":[{after_us}]}}"#);
    runs(&queue(&[0.2, 0.6], class, &stage, 250))
}

/// Nobody waits for a week: Cobham's waits.
#[test]
fn promotion_after_ever_is_strict_priority() {
    let runs = promotion(604_800_000_000);
    check("promotion after a week, class 0", &runs, wait(0), 1.0, 0.05);
    check("promotion after a week, class 1", &runs, wait(1), 5.0, 0.05);
}

/// A thousandth of a service time: first come, first served.
#[test]
fn promotion_at_once_is_first_come_first_served() {
    let runs = promotion(1);
    check("promotion after 1 us, class 0", &runs, wait(0), 4.0, 0.05);
    check("promotion after 1 us, class 1", &runs, wait(1), 4.0, 0.05);
}

/// In between there is no closed form, but waits are conserved and lie between the two ends.
#[test]
fn promotion_in_between_conserves_the_waits() {
    for after_us in [500, 2_000, 8_000] {
        let runs = promotion(after_us);
        let what = format!("conservation with promotion after {after_us} us");
        check(&what, &runs, conserved(&[0.2, 0.6]), 3.2, 0.05);
        let mean = runs.iter().map(wait(0)).sum::<f64>() / runs.len() as f64;
        assert!(
            1.1 < mean && mean < 3.9,
            "promotion after {after_us} us: the urgent wait {mean}, between 1 and 4"
        );
    }
}
