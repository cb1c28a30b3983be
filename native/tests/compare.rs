//! `compare` and `replay` as their users meet them.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod common;

use common::{Folder, TINY_JSON, tidegate, tidegate_with_input};
use serde_json::{Value, json};
use tidegate_core::link;
use tidegate_core::scenario::parse_json;

/// The same with half the workers.
fn tight() -> String {
    let text = TINY_JSON.replace("\"workers\": 2", "\"workers\": 1");
    assert_ne!(text, TINY_JSON);
    text
}

fn row<'a>(object: &'a Value, figure: &str) -> &'a Value {
    let rows = object["rows"].as_array().expect("rows");
    rows.iter().find(|row| row["figure"] == figure).unwrap_or_else(|| panic!("no {figure}"))
}

#[test]
fn a_comparison_says_which_is_better_where_they_differ_and_how_it_was_found() {
    let folder = Folder::new("compare");
    let (a, b) = (folder.file("a.json", TINY_JSON), folder.file("b.json", &tight()));
    let text = tidegate(&["compare", &a, &b, "--replications", "6"]).text();
    let verdict = text.lines().nth(3).expect("a verdict");
    assert!(verdict.starts_with("A is better in ") && verdict.contains("furthest: "), "{text}");
    for said in ["stages[0].workers", "A better *", "6 runs of each", "seed 3, engine 1", "trace hash  A "] {
        assert!(text.contains(said), "no {said:?} in\n{text}");
    }
    let object = tidegate(&["compare", &a, &b, "--replications", "6", "--format", "json"]).json();
    assert_eq!(object["settings"], json!([{ "path": "stages[0].workers", "a": 2, "b": 1 }]));
    let wait = row(&object, "class_wait");
    assert_eq!(
        (&wait["verdict"], &wait["runs"], &wait["name"]),
        (&json!("a_better"), &json!(6), &json!("all"))
    );
    assert!(wait["ci95"][0].as_f64() > Some(0.0), "{wait}");
    let csv = tidegate(&["compare", &a, &b, "--replications", "2", "--format", "csv"]).text();
    assert!(csv.starts_with("scope,name,figure,unit,"), "{csv}");
    assert_eq!(csv.lines().count(), 1 + object["rows"].as_array().map_or(0, Vec::len));
}

/// The hash of A is that of `simulate`, and threads change nothing.
#[test]
fn runs_are_those_of_simulate_whatever_the_number_of_threads() {
    let folder = Folder::new("compare-hash");
    let (a, b) = (folder.file("a.json", TINY_JSON), folder.file("b.json", &tight()));
    let compared = |jobs: &str| {
        let args = ["compare", &a, &b, "--replications", "3", "--format", "json", "--jobs", jobs];
        let mut object = tidegate(&args).json();
        object.as_object_mut().expect("an object").remove("wall_s");
        object
    };
    let object = compared("1");
    assert_eq!(object, compared("2"));
    for (side, file) in [("a", &a), ("b", &b)] {
        let alone = tidegate(&["simulate", file, "--replications", "3", "--format", "json"]).json();
        assert_eq!(object[side]["trace_hash"], alone["trace_hash"]);
    }
}

#[test]
fn equal_scenarios_are_equal_and_one_run_tells_nothing() {
    let folder = Folder::new("compare-equal");
    let (a, b) = (folder.file("a.json", TINY_JSON), folder.file("b.json", &tight()));
    let text = tidegate(&["compare", &a, &a, "--replications", "2"]).text();
    assert!(
        text.lines().nth(3).is_some_and(|line| line.starts_with("A and B are equal in every run")),
        "{text}"
    );
    let text = tidegate(&["compare", &a, &b, "--replications", "1"]).text();
    assert!(text.contains("an interval takes two runs") && text.contains("too few runs"), "{text}");
    assert!(!text.contains("A better"), "{text}");
}

#[test]
fn a_shared_comparison_and_a_seed_are_taken_for_both() {
    let parsed = |text: &str| parse_json(text).expect("a scenario");
    let (a, b) = (parsed(TINY_JSON), parsed(&tight()));
    let link = format!("#{}&cmp=1&b={}", link::encode_parsed(&a), link::encode_other(&a, &b));
    let object =
        tidegate(&["compare", &link, "--replications", "2", "--seed", "9", "--format", "json"]).json();
    assert_eq!((&object["seed"], &object["settings"][0]["b"]), (&json!(9), &json!(1)));
    let alone = tidegate(&["compare", "preset:mm1"]);
    assert!(alone.status == 1 && alone.stderr.contains("the second is missing"), "{}", alone.stderr);
}

#[test]
fn as_many_runs_as_a_precision_takes() {
    let folder = Folder::new("compare-until");
    // Of two that are much alike, as the precision is a part of A's means.
    let b = TINY_JSON.replace("8000", "7600");
    let (a, b) = (folder.file("a.json", TINY_JSON), folder.file("b.json", &b));
    let object = tidegate(&["compare", &a, &b, "--until", "5%", "--format", "json"]).json();
    let runs = object["runs"].as_u64().expect("a number");
    assert!(object["until"]["reached"] == json!(true) && (10..=1_000).contains(&runs), "{runs}");
    for figure in ["goodput", "response", "class_wait"] {
        let row = row(&object, figure);
        let half = row["ci95"][1].as_f64().unwrap() - row["difference"].as_f64().unwrap();
        assert!(half <= 0.05 * row["a"]["mean"].as_f64().unwrap() + 1e-12, "{row}");
    }
    assert_eq!(tidegate(&["compare", &a, &b, "--until", "none"]).status, 1);
}

#[test]
fn a_wrong_scenario_is_told_by_its_status() {
    let folder = Folder::new("compare-wrong");
    let a = folder.file("a.json", TINY_JSON);
    let wrong = folder.file("b.json", &TINY_JSON.replace("100", "-1"));
    let outcome = tidegate(&["compare", &a, &wrong]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (2, ""));
    assert!(outcome.stderr.contains("classes[0].load.rate_per_s"), "{}", outcome.stderr);
    assert_eq!(tidegate(&["compare", &a, "/nowhere/at.all"]).status, 1);
    let twice = tidegate_with_input(&["compare", "-", "-"], TINY_JSON);
    assert!(twice.status == 1 && twice.stderr.contains("standard input"), "{}", twice.stderr);
}

/// Forty requests in four seconds: pages, images and one line that is none.
fn log() -> String {
    let line = |i: usize| {
        let path = if i.is_multiple_of(4) { "/index.html" } else { "/logo.png" };
        format!("192.0.2.7 - - [10/Oct/2025:13:55:{:02} +0000] \"GET {path} HTTP/1.1\" 200 2326\n", i / 10)
    };
    let mut text: String = (0..40).map(line).collect();
    text.insert_str(0, "nonsense\n");
    text
}

#[test]
fn a_log_is_played_with_the_classes_it_suggests() {
    let folder = Folder::new("replay");
    let file = folder.file("access.log", &log());
    let outcome = tidegate(&["replay", &file, "--format", "json"]);
    for said in ["1 line was not understood: line 1: ", "image 30, page 10", "service times are a model"] {
        assert!(outcome.stderr.contains(said), "no {said:?} in\n{}", outcome.stderr);
    }
    let object = outcome.json();
    let classes: Vec<&str> =
        object["classes"].as_array().unwrap().iter().filter_map(|class| class["name"].as_str()).collect();
    assert_eq!(classes, ["image", "page"]);
    assert_eq!(object["classes"][0]["arrived"], json!(30.0));
    assert_eq!(object["input"]["rejects"]["count"], json!(1));
    let piped = tidegate_with_input(&["replay", "-", "--format", "json"], &log()).json();
    assert_eq!(piped["trace_hash"], object["trace_hash"]);
}

#[test]
fn a_log_is_played_under_two_policies() {
    let folder = Folder::new("replay-two");
    let file = folder.file("access.log", &log());
    let one = folder.file("one.json", TINY_JSON);
    let args = ["replay", &file, "--against", &one, "--speed", "20", "--replications", "2"];
    let text = tidegate(&args).text();
    assert!(text.contains("the log is one sample") && text.contains("A is better in "), "{text}");
    let none = tidegate(&["replay", "/nowhere/at.log"]);
    assert!(none.status == 1 && none.stderr.contains("cannot read /nowhere/at.log"), "{}", none.stderr);
}
