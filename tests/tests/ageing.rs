//! Ageing in whole runs: what it promises holds, and what it costs the urgent is known.

use tidegate_core::frame::Cause;
use tidegate_core::id::ClassId;
use tidegate_core::import::TraceRow;
use tidegate_core::scenario::Scenario;
use tidegate_core::sim::{RunResult, Simulation};
use tidegate_core::theory::ageing_bound;
use tidegate_core::time::{Duration, Instant};
use tidegate_tests::scenario;

/// One worker, 10 ms a request, two levels; `high` and `low` are the fields of the two classes, `ageing` that of the stage.
fn two_levels(high: &str, low: &str, ageing: &str, limit: u32) -> Scenario {
    scenario(&format!(
        r#"{{"tidegate":1,"run":{{"horizon_us":60000000,"mode":"transient"}},
            "classes":[{{"name":"high","priority":1,{high}}},{{"name":"low","priority":0,{low}}}],
            "stages":[{{"name":"serve","workers":1,"queue":{{"policy":"tail_drop","limit":{limit}}},
                       "ageing":{ageing},
                       "work":{{"at":"stage","service":{{"law":"constant","mean_us":10000}}}}}}]}}"#
    ))
}

const NONE: &str = r#"{"rule":"none"}"#;
const PROMOTE: &str = r#"{"rule":"promote","after_us":[500000]}"#;
const SHARE: &str = r#"{"rule":"share","after_us":500000,"share":0.2}"#;

/// Longest wait of a class's answered requests in seconds.
fn longest_wait_s(run: &RunResult, class: ClassId) -> f64 {
    run.classes[usize::from(class.0)].wait.max().expect("some are answered") as f64 / 1e9
}

const HIGH: ClassId = ClassId(0);
const LOW: ClassId = ClassId(1);

/// Urgent requests every 9.5 ms, which is more than the worker can do, and one other at 5 ms with further fields `low`.
fn flood(ageing: &str, low: &str) -> RunResult {
    let high = r#""load":{"kind":"deterministic","rate_per_s":105.26315789473684}"#;
    let low = format!(r#""load":{{"kind":"trace","label":"low"}}{low}"#);
    let scenario = two_levels(high, &low, ageing, 1_000_000);
    let at = Instant::START + Duration::from_millis(5);
    let rows = [TraceRow { at, label: 0, service: None, bytes: None }];
    let labels = [String::from("low")];
    let run = Simulation::new(&scenario, 0, Some((&rows, &labels))).unwrap().finish();
    assert_eq!(run.classes[usize::from(LOW.0)].arrived, 1, "one request of the low class");
    run
}

/// When the low request starts, in ms after the beginning, if it does within 60 s.
#[track_caller]
fn check_flood(ageing: &str, want_ms: Option<f64>) {
    let run = flood(ageing, "");
    let got = run.classes[usize::from(LOW.0)].wait.mean_s().map(|wait| wait * 1e3 + 5.0);
    assert_eq!(got, want_ms, "start of the low request in ms, ageing {ageing}");
}

#[test]
fn an_endless_flood_does_not_hold_up_an_old_request() {
    check_flood(NONE, None);
    // Promoted at 505 ms to the tail of the urgent, of whom three wait: they start at 510, 520 and 530 ms.
    check_flood(PROMOTE, Some(540.0));
    // The same by another rule: three of the urgent were overdue before it was.
    check_flood(SHARE, Some(540.0));
}

#[test]
fn a_promoted_request_is_still_turned_away_at_its_deadline() {
    for (deadline_us, completed) in [(520_000, 0), (560_000, 1)] {
        let run = flood(PROMOTE, &format!(r#","deadline_us":{deadline_us}"#));
        let low = &run.classes[usize::from(LOW.0)];
        let (got, shed) = (low.completed, low.shed[Cause::Deadline as usize]);
        assert_eq!(
            (got, shed),
            (completed, 1 - completed),
            "answered and turned away by a deadline of {deadline_us} us"
        );
    }
}

/// One request in a hundred is low, the worker is busy 95 % of the time.
#[test]
fn a_few_old_requests_cost_the_urgent_little() {
    let load = |rate: f64| format!(r#""load":{{"kind":"poisson","rate_per_s":{rate}}}"#);
    let run = |ageing: &str| {
        let scenario = two_levels(&load(94.0), &load(0.95), ageing, 1_000_000);
        Simulation::new(&scenario, 0, None).unwrap().finish()
    };
    let high_p99 = |run: &RunResult| run.classes[usize::from(HIGH.0)].wait.quantile_s(0.99).unwrap();
    let without = run(NONE);
    for ageing in [PROMOTE, SHARE] {
        let with = run(ageing);
        let (before, after) = (high_p99(&without), high_p99(&with));
        assert!(
            after < before + 0.02,
            "p99 of the urgent: {before} s without ageing, {after} s with {ageing}"
        );
        // Its time, then at most what an urgent request finds that comes when the low one's time is up.
        let (longest, urgent) = (longest_wait_s(&with, LOW), longest_wait_s(&with, HIGH));
        let before = longest_wait_s(&without, LOW);
        assert!(before > 1.2, "without ageing the longest wait is {before} s, too short to prove anything");
        assert!(longest <= 0.5 + urgent + 0.03, "longest wait of the low: {longest} s with {ageing}");
    }
}

/// Both classes ask for more than the worker can do, at most a hundred wait in each level.
#[test]
fn the_overdue_get_their_share_of_the_work_and_wait_no_longer_than_its_bound() {
    let load = r#""load":{"kind":"poisson","rate_per_s":200}"#;
    let run = |ageing: &str| Simulation::new(&two_levels(load, load, ageing, 100), 0, None).unwrap().finish();
    let part = |run: &RunResult| {
        let done = |class: ClassId| run.classes[usize::from(class.0)].completed as f64;
        done(LOW) / (done(LOW) + done(HIGH))
    };
    assert!(part(&run(NONE)) < 0.01, "without ageing the low get {} of the work", part(&run(NONE)));
    let with = run(SHARE);
    // Nobody is overdue in the first half second.
    assert!((0.18..0.22).contains(&part(&with)), "the low get {} of the work, 0.2 is theirs", part(&with));
    let bound = ageing_bound(0.5, 2.0, 0.01, 0.2, 1);
    let longest = longest_wait_s(&with, LOW);
    assert!(longest <= 1.05 * bound, "longest wait of the low: {longest} s, the bound is {bound} s");
}
