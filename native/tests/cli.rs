//! The binary as its users meet it: exit status, what goes to which stream, and the documented JSON.

#[allow(dead_code, reason = "each test binary uses a part of it")]
mod common;

use common::{Folder, TINY_JSON, TINY_TOML, tidegate, tidegate_with_input};
use serde_json::Value;

#[test]
fn a_result_has_the_documented_fields() {
    let report = tidegate(&["simulate", "preset:demo", "--format", "json", "--series"]).json();
    for field in [
        "scenario",
        "seed",
        "replications",
        "engine",
        "trace_hash",
        "events",
        "wall_s",
        "events_per_s",
        "warmup_s",
        "classes",
        "stages",
        "servers",
        "series",
    ] {
        assert!(!report[field].is_null(), "{field} is missing");
    }
    let hash = report["trace_hash"].as_str().unwrap();
    assert!(hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()), "trace_hash {hash}");
    for class in report["classes"].as_array().unwrap() {
        for field in ["name", "arrived", "completed", "shed", "goodput_per_s", "wait_s", "response_s"] {
            assert!(!class[field].is_null(), "classes[].{field} is missing");
        }
        for cause in ["early", "full", "forced", "deadline"] {
            assert!(class["shed"][cause].is_number(), "shed.{cause} is missing");
        }
        for time in ["wait_s", "response_s"] {
            for field in ["mean", "ci95", "p50", "p90", "p95", "p99"] {
                assert!(class[time].get(field).is_some(), "{time}.{field} is missing");
            }
        }
    }
    for field in ["name", "share", "utilisation", "weight"] {
        assert!(!report["servers"][0][field].is_null(), "servers[].{field} is missing");
    }
    for name in
        ["wait_s.Checkout", "wait_ratio.Crawlers", "slots.Browse", "goodput_per_s.Browse", "load.origin-1"]
    {
        assert!(report["series"][name].is_object(), "series {name} is missing");
    }
    for (name, column) in report["series"].as_object().unwrap() {
        let points = column["t_s"].as_array().unwrap().len();
        assert_eq!(column["v"].as_array().unwrap().len(), points, "series {name}");
        assert!(points > 200, "series {name} has {points} points");
    }
}

#[test]
fn threads_change_nothing_but_the_time_it_takes() {
    let run = |jobs: &str| {
        let mut report = tidegate(&[
            "simulate",
            "preset:four-classes",
            "--format",
            "json",
            "--replications",
            "4",
            "--jobs",
            jobs,
        ])
        .json();
        let report_fields = report.as_object_mut().unwrap();
        report_fields.remove("wall_s");
        report_fields.remove("events_per_s");
        report
    };
    assert_eq!(run("1"), run("2"));
}

#[test]
fn a_seed_changes_the_run_and_the_same_seed_repeats_it() {
    let hash = |seed: &str| {
        let report = tidegate(&["simulate", "preset:demo", "--format", "json", "--seed", seed]).json();
        assert_eq!(report["seed"].to_string(), seed);
        report["trace_hash"].clone()
    };
    assert_eq!(hash("7"), hash("7"));
    assert_ne!(hash("7"), hash("8"));
}

#[test]
fn toml_json_and_link_are_the_same_scenario() {
    let folder = Folder::new("same");
    let toml = folder.file("tiny.toml", TINY_TOML);
    let json = folder.file("tiny.json", TINY_JSON);
    let link = tidegate(&["link", "encode", &toml]).text();
    assert_eq!(link, tidegate(&["link", "encode", &json]).text());
    assert!(link.starts_with("#t1z."), "{link}");

    let hash =
        |reference: &str| tidegate(&["simulate", reference, "--format", "json"]).json()["trace_hash"].clone();
    let want = hash(&json);
    assert_eq!(hash(&toml), want);
    assert_eq!(hash(link.trim()), want);
    assert_eq!(hash(&format!("https://example.org/page/{}&at=3", link.trim())), want);
    let piped = tidegate_with_input(&["simulate", "-", "--format", "json"], TINY_TOML).json();
    assert_eq!(piped["trace_hash"], want);
}

#[test]
fn a_link_decodes_to_what_was_encoded_and_encodes_to_the_same_bytes() {
    for preset in tidegate(&["presets", "--format", "json"]).json().as_array().unwrap() {
        let link = preset["link"].as_str().unwrap();
        let decoded = tidegate(&["link", "decode", link]).text();
        let original = tidegate(&["presets", preset["name"].as_str().unwrap(), "--format", "json"]).text();
        assert_eq!(decoded, original, "{}", preset["name"]);
        let again = tidegate_with_input(&["link", "encode", "-"], &decoded).text();
        assert_eq!(again.trim(), link, "{}", preset["name"]);
    }
}

#[test]
fn a_verifiable_link_verifies_and_an_altered_one_does_not() {
    let link =
        tidegate(&["link", "encode", "preset:demo", "--verifiable", "--base", "http://127.0.0.1:7171/"])
            .text();
    let link = link.trim();
    let (body, hash) = link.rsplit_once("&h=").unwrap();
    assert_eq!(hash.len(), 12, "{link}");
    let full = tidegate(&["simulate", "preset:demo", "--format", "json"]).json();
    assert_eq!(hash, &full["trace_hash"].as_str().unwrap()[..12]);

    let same = tidegate(&["link", "verify", link]);
    assert_eq!(same.status, 0, "{}", same.stderr);
    assert!(same.stdout.contains("reproduced exactly"), "{}", same.stdout);
    let other = tidegate(&["link", "verify", &format!("{body}&h=000000000000")]);
    assert_eq!(other.status, 1);
    assert!(other.stderr.contains("differs"), "{}", other.stderr);
    let none = tidegate(&["link", "verify", body]);
    assert_eq!(none.status, 1);
    assert!(none.stderr.contains("no hash"), "{}", none.stderr);
}

#[test]
fn a_broken_link_is_a_bad_scenario() {
    let link = tidegate(&["link", "encode", "preset:mm1"]).text();
    let cut = &link.trim()[..link.len() - 3];
    let out = tidegate(&["simulate", cut]);
    assert_eq!((out.status, out.stdout.as_str()), (2, ""), "{}", out.stderr);
}

#[test]
fn a_bad_scenario_is_status_2_with_path_rule_and_value() {
    let folder = Folder::new("bad");
    let bad = TINY_JSON.replace("\"workers\": 2", "\"workers\": 0");
    assert_ne!(bad, TINY_JSON);
    let file = folder.file("bad.json", &bad);
    for command in ["simulate", "check"] {
        let out = tidegate(&[command, &file]);
        assert_eq!((out.status, out.stdout.as_str()), (2, ""), "{command}: {}", out.stderr);
        assert!(out.stderr.contains("stages[0].workers: "), "{command}: {}", out.stderr);
        assert!(out.stderr.contains(", found 0"), "{command}: {}", out.stderr);
    }
}

#[test]
fn check_lists_every_problem_and_passes_what_is_right() {
    let folder = Folder::new("check");
    let good = folder.file("good.toml", TINY_TOML);
    let bad = TINY_JSON
        .replace("\"workers\": 2", "\"workers\": 0, \"wrokers\": 2")
        .replace("\"seed\": 3", "\"seed\": -1");
    let bad = folder.file("bad.json", &bad);
    let out = tidegate(&["check", &good, &bad]);
    assert_eq!(out.status, 2);
    assert!(out.stdout.contains("good.toml: ok, 1 class, 1 stage, 1 server"), "{}", out.stdout);
    for path in ["run.seed: ", "stages[0].workers: ", "stages[0].wrokers: "] {
        assert!(out.stderr.contains(&format!("bad.json: {path}")), "{path} is missing in\n{}", out.stderr);
    }
}

#[test]
fn anything_else_is_status_1_with_nothing_on_standard_output() {
    for arguments in [
        &["simulate", "no-such-file.toml"][..],
        &["simulate", "preset:mm1", "--replications", "0"],
        &["no-such-command"],
        &["simulate", "preset:demo", "--output", "no/such/folder/out.json"],
        &["simulate", "preset:mm1", "--series"],
        &["simulate", "-", "--input", "-"],
        &["serve", "a.toml", "--scenario", "b.toml"],
    ] {
        let out = tidegate(arguments);
        assert_eq!((out.status, out.stdout.as_str()), (1, ""), "{arguments:?}: {}", out.stderr);
        assert!(!out.stderr.is_empty(), "{arguments:?}");
    }
}

#[test]
fn a_misspelt_preset_names_the_right_one() {
    let out = tidegate(&["simulate", "preset:flash-crwod"]);
    assert_eq!(out.status, 2);
    assert!(
        out.stderr
            .contains("preset: one of the built-in scenarios, found flash-crwod (did you mean flash-crowd?)")
    );
    let out = tidegate(&["simulate", "mm1"]);
    assert_eq!(out.status, 1);
    assert!(out.stderr.contains("did you mean preset:mm1?"), "{}", out.stderr);
}

#[test]
fn the_table_names_its_units_and_the_run() {
    let folder = Folder::new("table");
    let longer = TINY_TOML.replace("horizon_us = 5_000_000", "horizon_us = 500_000_000");
    let text = tidegate(&["simulate", &folder.file("tiny.toml", &longer)]).text();
    for part in ["Tiny", "seed 3", "trace hash", "±", " ms", "events", "exact means: M/M/2"] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    assert!(!text.contains('\u{1b}'), "no colours into a pipe");
}

/// Four requests of an access log, one line that is none, and nothing anybody ever asked.
const LOG: &str = r#"198.18.0.1 - - [01/Aug/1995:02:00:00 -0400] "GET /index.html HTTP/1.0" 200 1000
198.18.0.2 - - [01/Aug/1995:02:00:10 -0400] "GET /logo.gif HTTP/1.0" 200 2000
this is no request
198.18.0.1 - - [01/Aug/1995:02:00:20 -0400] "GET /cgi-bin/search HTTP/1.0" 200 500
198.18.0.3 - - [01/Aug/1995:02:01:40 -0400] "GET /late.html HTTP/1.0" 200 1000
"#;

#[test]
fn a_log_is_played_at_the_speed_asked_for() {
    let folder = Folder::new("log");
    let log = folder.file("access.log", LOG);
    let run = |more: &[&str]| {
        let arguments =
            [&["simulate", "preset:trace-replay", "--format", "json", "--input", &log], more].concat();
        tidegate(&arguments)
    };
    let out = run(&["--horizon", "50"]);
    assert!(out.stderr.contains("1 line was not understood: line 3"), "{}", out.stderr);
    assert!(out.stderr.contains("1 of 4 requests come after the run's end at 50 s"), "{}", out.stderr);
    let report = out.json();
    assert_eq!(report["classes"][0]["arrived"], 3.0);
    let input = &report["input"];
    assert_eq!(
        (&input["format"], &input["rows"], &input["rejects"]["count"]),
        (&"access".into(), &4.into(), &1.into())
    );
    assert_eq!(input["labels"], serde_json::json!(["page", "image", "cgi"]));

    let all = run(&["--horizon", "input", "--speed", "10", "--service-by-size"]).json();
    assert_eq!((&all["classes"][0]["arrived"], &all["horizon_s"]), (&4.0.into(), &11.0.into()));

    for (more, want) in [
        (&["--speed", "0"][..], "--speed: above 0, found 0"),
        (&["--service-by-tokens", "1,2"], "--service-by-tokens: three numbers, found 2"),
    ] {
        let out = run(more);
        assert_eq!((out.status, out.stdout.as_str()), (1, ""), "{more:?}");
        assert!(out.stderr.contains(want), "{more:?}: {}", out.stderr);
    }
}

#[test]
fn a_trace_scenario_without_a_trace_says_so() {
    let presets = tidegate(&["presets", "--format", "json"]).json();
    let needy: Vec<_> =
        presets.as_array().unwrap().iter().filter(|preset| preset["needs_input"] == true).collect();
    assert_eq!(needy.len(), 1);
    assert_eq!(needy[0]["name"], "trace-replay");
    let out = tidegate(&["simulate", "preset:trace-replay"]);
    assert_eq!((out.status, out.stdout.as_str()), (1, ""));
    assert!(out.stderr.contains("class `Requests` replays recorded traffic, and no log or trace was given"));
}

#[test]
fn csv_has_one_row_a_class() {
    let text = tidegate(&["simulate", "preset:demo", "--format", "csv"]).text();
    let rows: Vec<_> = text.lines().collect();
    assert_eq!(rows.len(), 4, "{text}");
    assert!(rows[0].starts_with("class,arrived,completed,"), "{}", rows[0]);
    let columns = rows[0].split(',').count();
    assert!(rows.iter().all(|row| row.split(',').count() == columns), "{text}");
}

#[test]
fn a_file_is_written_whole_and_replaces_the_old_one() {
    let folder = Folder::new("output");
    let file = folder.file("out.json", "old");
    let out = tidegate(&["simulate", "preset:demo", "--format", "json", "--output", &file]);
    assert_eq!((out.status, out.stdout.as_str()), (0, ""), "{}", out.stderr);
    let report: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    assert!(report["trace_hash"].is_string());
    assert_eq!(folder.entries(), ["out.json"], "no temporary file stays");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let out = common::closed_pipe(&["presets", "--format", "json"]);
    assert_eq!((out.status, out.stderr.as_str()), (0, ""));
}

#[test]
fn help_explains_itself() {
    let help = tidegate(&["--help"]).text();
    for command in ["play", "serve", "simulate", "link", "presets", "check", "load", "origin", "completions"]
    {
        assert!(help.contains(&format!("  {command} ")), "{command} is missing in\n{help}");
    }
    assert!(help.contains("SCENARIO, wherever it is asked for, is a file (TOML or JSON), `preset:NAME`"));
    assert!(help.contains("Exit status: 0; 2 for a scenario that cannot be used; 1 for anything else."));
    assert!(!help.contains("bench-sim"), "a chore of ours, hidden");
    for command in ["play", "serve", "simulate", "presets", "check", "load", "origin", "completions"] {
        let help = tidegate(&[command, "--help"]).text();
        assert!(help.contains("Examples:\n  tidegate "), "{command} has no examples");
    }
}

#[test]
fn a_gateway_that_cannot_be_is_status_2_before_the_first_request() {
    let folder = Folder::new("serve");
    let misspelt =
        folder.file("misspelt.toml", &TINY_TOML.replace("workers = 2", "workers = 2\nwrokers = 3"));
    let config = folder.file("config.toml", "lisen = '127.0.0.1:1'");
    let upstream = "http://127.0.0.1:1";
    for (arguments, want) in [
        (&["serve"][..], "upstreams: at least one, unless servers come by --servers-file"),
        (
            &["serve", "preset:demo", "--upstream", upstream],
            "upstreams: as many as the scenario has servers (3: ",
        ),
        (
            &["serve", "--upstream", "https://a"],
            "--upstream: http://HOST or http://HOST:PORT, found https://a",
        ),
        (&["serve", &misspelt, "--upstream", upstream], "stages[0].wrokers: no such field, found 3"),
        (
            &["serve", "--scenario", &misspelt, "--upstream", upstream],
            "stages[0].wrokers: no such field, found 3",
        ),
        (&["serve", "--config", &config], "config.toml: lisen: one of listen, admin, "),
        (
            &["serve", "--upstream", upstream, "--send-rate", "5000"],
            "--send-rate: only with files, found 5000",
        ),
    ] {
        let out = tidegate(arguments);
        assert_eq!((out.status, out.stdout.as_str()), (2, ""), "{arguments:?}: {}", out.stderr);
        assert!(out.stderr.contains(want), "{arguments:?}: {}", out.stderr);
    }
}

#[test]
fn files_are_served_from_a_folder_and_instead_of_upstreams() {
    let folder = Folder::new("files");
    let file = folder.file("file", "not a folder");
    for (arguments, status, want) in [
        (&["serve", "--files", "/nowhere/at/all"][..], 1, "cannot serve files from /nowhere/at/all: "),
        (&["serve", "--files", &file], 1, "cannot serve files from "),
        (&["serve", "--files", ".", "--upstream", "http://127.0.0.1:1"], 1, "cannot be used with"),
    ] {
        let out = tidegate(arguments);
        assert_eq!((out.status, out.stdout.as_str()), (status, ""), "{arguments:?}: {}", out.stderr);
        assert!(out.stderr.contains(want), "{arguments:?}: {}", out.stderr);
    }
}

#[test]
fn the_benchmark_of_the_simulator_runs() {
    let report = tidegate(&["bench-sim", "--json", "--scenario", "preset:demo", "--seconds", "0.01"]).json();
    for rate in [&report, &report["bare_mm1"]] {
        assert!(rate["best_events_per_s"].as_f64() >= rate["median_events_per_s"].as_f64(), "{report}");
    }
    let run = tidegate(&["simulate", "preset:demo", "--format", "json"]).json();
    assert_eq!((&report["trace_hash"], &report["events"]), (&run["trace_hash"], &run["events"]));
}

#[test]
fn completions_know_the_commands() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let script = tidegate(&["completions", shell]).text();
        assert!(script.contains("simulate"), "{shell}");
    }
}
