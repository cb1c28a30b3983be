//! Paper P in whole runs: delays of classes in proportion to their weights, after loads that step, turn over and stop.
//!
//! What is demanded of the recommended controller is in `tidegate_tests::control::acceptance`; `cargo xtask bench control` has all
//! scenarios and twenty seeds, here are the most telling of them with a few.

use serde_json::{Value, json};
use tidegate_core::frame::Frame;
use tidegate_core::measure::proportion::pairwise_error;
use tidegate_core::report::Report;
use tidegate_core::scenario::{Scenario, parse_json, presets};
use tidegate_core::sim::Simulation;
use tidegate_core::theory;
use tidegate_tests::control::acceptance::{Compared, rows};
use tidegate_tests::control::{Second, case, order, outcomes, pooled, seconds, split_by};

const GOLD: usize = 0;
const SILVER: usize = 1;

/// A preset whose stage has other fields.
fn preset(name: &str, stage: &Value) -> Scenario {
    let text = presets::get(name).unwrap_or_else(|| panic!("no preset {name}")).json();
    let mut scenario: Value = serde_json::from_str(text).expect("a preset is JSON");
    for (field, value) in stage.as_object().expect("fields of a stage") {
        scenario["stages"][0][field] = value.clone();
    }
    let parsed = parse_json(&scenario.to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
    parsed.check().unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn as_it_is() -> Value {
    json!({})
}

/// Delay of Silver over that of Gold.
fn ratio(seconds: &[Second]) -> f64 {
    let delays = pooled(seconds);
    delays.mean_s(SILVER).expect("some of Silver are served") / delays.mean_s(GOLD).expect("some of Gold")
}

fn workers(seconds: &[Second], class: usize) -> f64 {
    seconds.iter().map(|second| f64::from(second.split[class])).sum::<f64>() / seconds.len() as f64
}

#[track_caller]
fn check_near(what: &str, got: f64, want: f64, by: f64) {
    assert!((got - want).abs() <= by, "{what}: {got:.3}, want {want} within {by}");
}

/// The last thirds before and after the step of `pdd-two-class` at 600 s.
fn last_thirds(run: &[Second]) -> [(&'static str, &[Second]); 2] {
    [("before the step", &run[400..600]), ("after the step", &run[1000..1200])]
}

/// Windows of 10 s from `from` on until the ratio of delays stays within 20 % of 2 for five in a row (paper P, 0.9).
fn windows_to_settle(run: &[Second], from: usize, to: usize) -> usize {
    let good: Vec<bool> =
        run[from..to].chunks(10).map(|window| (ratio(window) / 2.0 - 1.0).abs() <= 0.2).collect();
    good.windows(5).position(|five| five.iter().all(|&good| good)).unwrap_or(good.len())
}

fn median(mut figures: Vec<usize>) -> usize {
    figures.sort_unstable();
    figures[figures.len() / 2]
}

#[track_caller]
fn check_two_class(policy: &str) {
    let run = seconds(&preset("pdd-two-class", &split_by(policy)), 0);
    for ((when, part), [gold, silver]) in last_thirds(&run).into_iter().zip([[37.7, 26.3], [49.0, 15.0]]) {
        check_near(&format!("{policy}, ratio {when}"), ratio(part), 2.0, 0.1);
        check_near(&format!("{policy}, workers of Gold {when}"), workers(part, GOLD), gold, 2.0);
        check_near(&format!("{policy}, workers of Silver {when}"), workers(part, SILVER), silver, 2.0);
    }
}

#[test]
fn the_recommended_controller_comes_to_the_equilibrium() {
    check_two_class("stc_lead");
}

#[test]
fn the_controller_of_the_paper_comes_to_the_equilibrium() {
    check_two_class("stc_paper");
}

/// Paper P, 0.9: four to nine windows at the start, three to six after the step; the first six windows of a run are for
/// watching.
#[test]
fn the_controller_of_the_paper_settles_in_a_few_windows() {
    let scenario = preset("pdd-two-class", &split_by("stc_paper"));
    let runs: Vec<Vec<Second>> = (0..20).map(|replication| seconds(&scenario, replication)).collect();
    let settled = |from, to| median(runs.iter().map(|run| windows_to_settle(run, from, to)).collect());
    let (start, step) = (settled(60, 600), settled(600, 1200));
    assert!(start <= 8, "{start} windows after the first six");
    assert!(step <= 8, "{step} windows after the step");
}

#[test]
fn the_recommended_controller_settles_at_once() {
    let scenario = preset("pdd-two-class", &as_it_is());
    let runs: Vec<Vec<Second>> = (0..5).map(|replication| seconds(&scenario, replication)).collect();
    for (when, from, to) in [("at the start", 0, 600), ("after the step", 600, 1200)] {
        let windows = median(runs.iter().map(|run| windows_to_settle(run, from, to)).collect());
        assert!(windows <= 1, "{windows} windows of 10 s {when}");
    }
}

/// Paper P, 0.9: without control the ratio is 1, and turns upside down when Gold's clients double.
#[test]
fn a_split_left_alone_turns_the_ratio_upside_down() {
    let run = seconds(&preset("pdd-open-loop", &as_it_is()), 0);
    let [(_, before), (_, after)] = last_thirds(&run);
    check_near("ratio before the step", ratio(before), 1.0, 0.1);
    check_near("ratio after the step", ratio(after), 0.342, 0.03);
}

#[test]
fn quotas_are_right_for_one_load_and_one_line_for_none() {
    let run = seconds(&preset("pdd-reservation", &as_it_is()), 0);
    let [(_, before), (_, after)] = last_thirds(&run);
    check_near("quotas, ratio in the busy hour", ratio(after), 2.0, 0.15);
    assert!(ratio(before) > 5.0, "quotas, before: {:.2}", ratio(before));
    let run = seconds(&preset("pdd-best-effort", &as_it_is()), 0);
    for (when, part) in last_thirds(&run) {
        check_near(&format!("one line, ratio {when}"), ratio(part), 1.0, 0.03);
    }
}

/// Oracle 0.3: three classes, whose workers and ratios follow a load that doubles and falls back.
#[test]
fn three_classes_follow_a_load_that_comes_and_goes() {
    let run = seconds(&preset("pdd-three-class", &as_it_is()), 0);
    let weights = [1.0, 2.0, 4.0];
    let parts = [
        (&run[200..400], [29.6, 21.0, 13.3]),
        (&run[600..800], [42.6, 13.5, 7.8]),
        (&run[1000..], [29.6, 21.0, 13.3]),
    ];
    for (at, (part, want)) in parts.into_iter().enumerate() {
        let delays = pooled(part).means_s().expect("all are served");
        let error = pairwise_error(&delays, &weights);
        assert!(error <= 0.05, "phase {}: error {error:.3}, delays {delays:?}", at + 1);
        for (class, want) in want.into_iter().enumerate() {
            check_near(
                &format!("phase {}, workers of class {class}", at + 1),
                workers(part, class),
                want,
                1.5,
            );
        }
    }
}

/// A wrong first guess is learned away; without learning it costs.
#[test]
fn a_wrong_prior_is_unlearned() {
    let tune = |tune: bool| json!({ "split_by": { "policy": "stc_lead", "prior": 0.25, "tune": tune } });
    // Counted at every split: a split that swings to and fro within 5 s looks still from one look to the next.
    let moved = |policy: &Value| {
        let mut sim = Simulation::new(&case("closed2").scenario(policy, 1), 0, None).unwrap();
        sim.run_to_end();
        let mut frame = Frame::default();
        sim.frame(&mut frame);
        frame.stages[0].split.moved as f64 / frame.stages[0].split.samples as f64
    };
    let (tuned, stubborn, right) = (moved(&tune(true)), moved(&tune(false)), moved(&split_by("stc_lead")));
    assert!(
        stubborn > 1.5 * tuned,
        "workers moved a split: {stubborn:.2} without learning, {tuned:.2} with it"
    );
    assert!(tuned < 2.0 * right, "workers moved a split: {tuned:.2}, with the right guess {right:.2}");
}

/// The same equilibrium stands beside a steady run, as its theory, and the run agrees: waiting-time priority keeps
/// the ratio in the long run, and the workers are never idle.
#[test]
fn a_steady_run_agrees_with_the_equilibrium() {
    let stage = json!({ "order": "wtp", "split_by": { "policy": "fixed" } });
    let text = presets::get("pdd-two-class").unwrap().json();
    let mut json: Value = serde_json::from_str(text).unwrap();
    json["run"] = json!({ "horizon_us": 600_000_000, "warmup_us": 60_000_000 });
    json["events"] = json!([]);
    for (field, value) in stage.as_object().unwrap() {
        json["stages"][0][field] = value.clone();
    }
    let scenario = parse_json(&json.to_string()).unwrap().check().unwrap();
    let theory = theory::of(&scenario).unwrap_or_else(|why| panic!("{why}"));
    check_near("exact wait of Gold", theory.wait_s[GOLD], 0.576, 0.001);
    let runs: Vec<_> = (0..5).map(|r| Simulation::new(&scenario, r, None).unwrap().finish()).collect();
    let report = Report::of(&scenario, &runs);
    for class in [GOLD, SILVER] {
        let got = report.classes[class].wait_s.mean.expect("some wait");
        let want = theory.wait_s[class];
        check_near(&format!("mean wait of class {class}"), got, want, 0.02 * want);
    }
    let proportion = report.stages[0].proportion.as_ref().expect("delays are compared");
    let ratio = proportion.classes[SILVER].ratio.expect("both wait");
    check_near("ratio in the report", ratio, 2.0, 0.03);
    assert_eq!((proportion.moved, proportion.below_overload), (None, false), "one pool has no split");
    assert!(proportion.in_band[1] > Some(0.95), "{:?} of the windows within 20 %", proportion.in_band);
}

/// What the report says of delays is what an operator reads off the frames.
#[test]
fn the_report_agrees_with_the_frames() {
    let scenario = preset("pdd-open-loop", &as_it_is());
    let run = Simulation::new(&scenario, 0, None).unwrap().finish();
    let report = Report::of(&scenario, &[run]);
    let proportion =
        report.stages[0].proportion.as_ref().expect("a fixed split is what others are compared to");
    let run = seconds(&scenario, 0);
    let windows: Vec<Vec<f64>> =
        run.chunks(10).map(|window| pooled(window).means_s().expect("both are served")).collect();
    let mean = |class: usize| windows.iter().map(|delays| delays[class]).sum::<f64>() / windows.len() as f64;
    let from_frames = [mean(GOLD), mean(SILVER)];
    check_near(
        "ratio",
        proportion.classes[SILVER].ratio.unwrap(),
        from_frames[SILVER] / from_frames[GOLD],
        1e-6,
    );
    check_near("error", proportion.error.unwrap(), pairwise_error(&from_frames, &[1.0, 2.0]), 1e-6);
    check_near("target share of Gold", proportion.classes[GOLD].target_share, 1.0 / 3.0, 1e-12);
    assert_eq!(proportion.moved, Some(0.0), "nobody moves the workers");
    assert_eq!(proportion.in_band[0], Some(0.0), "it is never right");
}

/// A run whose load changes half-way and whose ratio is right throughout is said to be right.
#[test]
fn a_change_of_the_load_is_no_error() {
    let scenario = preset("pdd-two-class", &as_it_is());
    let run = Simulation::new(&scenario, 0, None).unwrap().finish();
    let report = Report::of(&scenario, &[run]);
    let proportion = report.stages[0].proportion.as_ref().unwrap();
    assert!(proportion.error < Some(0.03), "{:?}", proportion.error);
    assert!(proportion.in_band[0] > Some(0.95), "{:?}", proportion.in_band);
    assert!(proportion.moved > Some(0.1), "the split is steered: {:?}", proportion.moved);
}

#[test]
fn below_overload_the_report_says_so() {
    let quiet = json!({ "workers": 64 });
    let mut json: Value = serde_json::from_str(presets::get("pdd-open-loop").unwrap().json()).unwrap();
    json["classes"][0]["load"]["clients"] = json!(20);
    json["classes"][1]["load"]["clients"] = json!(20);
    json["stages"][0]["workers"] = quiet["workers"].clone();
    let scenario = parse_json(&json.to_string()).unwrap().check().unwrap();
    let run = Simulation::new(&scenario, 0, None).unwrap().finish();
    let report = Report::of(&scenario, &[run]);
    assert!(report.stages[0].proportion.as_ref().unwrap().below_overload);
    let loaded = preset("pdd-open-loop", &as_it_is());
    let run = Simulation::new(&loaded, 0, None).unwrap().finish();
    assert!(!Report::of(&loaded, &[run]).stages[0].proportion.as_ref().unwrap().below_overload);
}

/// The acceptance table on the scenarios that say most, with few seeds.
#[test]
fn the_recommended_controller_does_what_is_demanded() {
    let wrong = ["closed2", "w8n3"];
    let all: Vec<Compared> = ["closed2", "closed4", "mixflip", "svcstep", "open2", "w8n3", "empty"]
        .into_iter()
        .map(|name| Compared::run(case(name), 3, wrong.contains(&name)))
        .collect();
    let missed: Vec<String> = rows(&all)
        .into_iter()
        .filter(|row| !row.met)
        .map(|row| format!("{}: {}, demanded {}", row.measure, row.shown, row.demand))
        .collect();
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Without a controller nothing of it is met: the table is not one that anything passes.
#[test]
fn a_split_left_alone_does_not_do_what_is_demanded() {
    let still = outcomes(&case("closed2"), &json!({ "split": [16, 16] }), 2);
    for (phase, outcome) in still.iter().enumerate() {
        assert!(outcome.in_band[0] < 0.2 && outcome.error > 0.3, "phase {}: {outcome:?}", phase + 1);
    }
    let best = outcomes(&case("closed2"), &order("wtp"), 2);
    assert!(best.iter().all(|outcome| outcome.in_band[1] > 0.97), "wtp: {best:?}");
}
