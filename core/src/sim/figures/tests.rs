//! What a comparison promises, held against runs of queues that are known in closed form.

use crate::compare::{Alone, Comparison, Figure, Row, Scope, Verdict, figures_of};
use crate::measure::Summary;
use crate::scenario::{Parsed, Scenario, parse_json, presets};
use crate::sim::Simulation;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// One worker, Poisson arrivals, exponential work: the mean wait is known.
fn mm1(rate_per_s: f64, seed: u64) -> Scenario {
    let text = format!(
        r#"{{"tidegate":1,"run":{{"seed":{seed},"horizon_us":60000000,"mode":"transient"}},
        "classes":[{{"name":"Web","load":{{"kind":"poisson","rate_per_s":{rate_per_s}}},
        "service":{{"law":"exponential","mean_us":100000}}}}],
        "stages":[{{"name":"Serve","workers":1,"work":{{"at":"servers"}}}}],
        "servers":[{{"name":"api","slots":1}}]}}"#
    );
    parse_json(&text).and_then(Parsed::check).expect("a scenario")
}

fn figures(scenario: &Scenario, replication: u32) -> Vec<f64> {
    Simulation::new(scenario, replication, None).expect("runs").finish().figures(scenario)
}

fn compared(a: &Scenario, b: &Scenario, runs: u32, shift: u32) -> Comparison {
    let mut comparison = Comparison::new(a, b);
    for r in 0..runs {
        assert!(comparison.add(r, &figures(a, r), &figures(b, r + shift)));
    }
    comparison
}

fn row(comparison: &Comparison, figure: Figure) -> Row {
    comparison.rows().into_iter().find(|row| row.figure == figure).expect("a row")
}

#[test]
fn equal_scenarios_do_not_differ_in_the_least() {
    for name in ["strict-starvation", "mm1"] {
        let scenario = presets::get(name).expect("a preset").scenario();
        for row in compared(&scenario, &scenario, 2, 0).rows() {
            let said = row.n == 0 || row.verdict == Verdict::Equal;
            assert!(said && (row.n == 0 || row.difference == 0.0), "{name}: {row:?}");
        }
    }
}

#[test]
fn the_order_of_arrival_does_not_matter() {
    let (a, b) = (mm1(6.0, 3), mm1(7.0, 3));
    let forward = compared(&a, &b, 6, 0);
    let mut backward = Comparison::new(&a, &b);
    for r in (0..6).rev() {
        backward.add(r, &figures(&a, r), &figures(&b, r));
    }
    assert_eq!(forward.rows(), backward.rows());
    assert_eq!(backward.runs(), 6);
}

/// Runs that do not share their streams have intervals several times as wide.
#[test]
fn shared_streams_make_the_interval_narrow() {
    let (a, b) = (mm1(7.0, 11), mm1(7.2, 11));
    let half = |shift| {
        row(&compared(&a, &b, 20, shift), Figure::ClassWaitMean).half_width.expect("twenty runs have one")
    };
    let (shared, apart) = (half(0), half(1_000));
    assert!(shared < 0.4 * apart, "half width {shared} with shared streams, {apart} without");
}

/// Of 300 intervals for a known difference, about 285 hold it. What runs of a minute that begin empty differ by is no
/// closed form, so it is known from as many other runs, far more closely than any of the intervals.
#[test]
fn intervals_cover_the_true_difference() {
    let (runs, repetitions) = (8_u32, 300_u32);
    let pair = |seed: u64| (mm1(5.0, seed), mm1(4.0, seed));
    let means = |scenario: &Scenario, r: u32| {
        let run = Simulation::new(scenario, r, None).expect("runs").finish();
        run.classes[0].wait.mean_s().expect("somebody came")
    };
    let (a, b) = pair(1);
    let differences: Vec<f64> =
        (0..repetitions * runs).map(|r| means(&b, 50_000 + r) - means(&a, 50_000 + r)).collect();
    let truth = Summary::of(&differences);
    assert!(truth.ci99_9().expect("many").half_width() < 0.05 * truth.mean.abs(), "{truth:?}");
    let covered = (0..repetitions)
        .filter(|repetition| {
            let mut comparison = Comparison::new(&a, &b);
            for r in repetition * runs..(repetition + 1) * runs {
                comparison.add(r, &figures(&a, r), &figures(&b, r));
            }
            let row = row(&comparison, Figure::ClassWaitMean);
            row.interval().expect("eight runs").contains(truth.mean)
        })
        .count();
    // 99.9 % limits of a binomial number of 300 with 0.95.
    assert!((270..=297).contains(&covered), "{covered} of {repetitions} intervals hold {}", truth.mean);
}

#[test]
fn runs_needed_are_about_what_it_takes() {
    let (a, b) = (mm1(6.0, 5), mm1(6.3, 5));
    let few = row(&compared(&a, &b, 8, 0), Figure::ClassWaitMean);
    let more = few.more_for_precision.expect("a number would do");
    assert!(more > 0, "{few:?}");
    let runs = 8 + more;
    assert!(runs < 2_000, "{runs} runs");
    let many = row(&compared(&a, &b, runs, 0), Figure::ClassWaitMean);
    let reached = many.half_width.expect("many runs") / many.a.0;
    // The spread of eight runs is itself known only to a quarter or so.
    assert!((0.015..0.06).contains(&reached), "{reached} after {runs} runs");
}

#[test]
fn one_run_gives_no_interval_and_no_verdict() {
    let (a, b) = (mm1(6.0, 1), mm1(7.0, 1));
    let row = row(&compared(&a, &b, 1, 0), Figure::ClassWaitMean);
    assert_eq!((row.verdict, row.half_width, row.more_for_zero), (Verdict::TooFewRuns, None, None));
    assert!(row.difference > 0.0);
    let none = Comparison::new(&a, &b).rows();
    assert!(none.iter().all(|row| row.verdict == Verdict::TooFewRuns && row.difference.is_nan()));
}

#[test]
fn a_clear_difference_is_judged_by_what_is_good() {
    let comparison = compared(&mm1(5.0, 2), &mm1(8.0, 2), 10, 0);
    let verdict = |figure| row(&comparison, figure).verdict;
    assert_eq!(verdict(Figure::ClassWaitMean), Verdict::ABetter);
    assert_eq!(verdict(Figure::Goodput), Verdict::BBetter);
    assert_eq!(verdict(Figure::ServerBusy), Verdict::BMore);
    assert_eq!(verdict(Figure::TurnedAway), Verdict::Equal);
    assert!(row(&comparison, Figure::TurnedAway).is_nothing());
    assert!(row(&comparison, Figure::ClassWaitMean).together, "a difference that large holds for all rows");
}

#[test]
fn only_what_both_have_is_compared_and_the_rest_is_named() {
    let a = presets::get("four-classes").expect("a preset").scenario();
    let mut wire = a.wire().clone();
    let gone = wire.classes.remove(1).name;
    wire.events.clear();
    for stage in &mut wire.stages {
        stage.split.clear();
    }
    let Ok(b) = Scenario::check(wire) else { panic!("still a scenario") };
    let comparison = Comparison::new(&a, &b);
    assert_eq!(comparison.alone(), [Alone { in_a: true, scope: Scope::Class, name: gone.clone() }]);
    assert!(comparison.rows().iter().all(|row| row.name != gone));
    let moved: Vec<String> = a.classes[2..].iter().map(|class| class.name.clone()).collect();
    assert_eq!(comparison.apart(), moved);
}

#[test]
fn a_list_of_another_scenario_is_not_taken() {
    let (a, b) = (mm1(5.0, 1), mm1(6.0, 1));
    let mut comparison = Comparison::new(&a, &b);
    assert!(!comparison.add(0, &[1.0], &figures(&b, 0)));
    assert_eq!(comparison.runs(), 0);
}

#[test]
fn a_run_has_a_number_for_each_part_of_each_figure() {
    for preset in presets::ALL.iter().filter(|preset| preset.name != "trace-replay") {
        let scenario = preset.scenario();
        if scenario.estimated_events() > 3e5 {
            continue;
        }
        let run = Simulation::new(&scenario, 0, None).expect("runs").finish();
        let want: usize = figures_of(&scenario).iter().map(|key| key.parts).sum();
        assert_eq!(run.figures(&scenario).len(), want, "{}", preset.name);
    }
}
