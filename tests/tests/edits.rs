//! Edits while a run goes on: what they may say, that they leave what was before them alone, and that whatever is edited,
//! no request is lost and Little's law holds.

use serde_json::{Value, json};
use tidegate_core::frame::Frame;
use tidegate_core::link;
use tidegate_core::scenario::edits::{apply, difference};
use tidegate_core::scenario::v1::{EditV1, ScenarioV1, SetV1};
use tidegate_core::scenario::{Scenario, parse, parse_json, presets};
use tidegate_core::sim::Simulation;
use tidegate_core::time::{Duration, Instant};

/// A source of choices.
struct Choices(u64);

impl Choices {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> &'a T {
        &all[self.below(all.len())]
    }
}

fn set(pairs: &[(&str, Value)]) -> SetV1 {
    SetV1(pairs.iter().map(|(path, value)| ((*path).to_owned(), value.clone())).collect())
}

/// The presets that need no recording, no longer than `most_s`.
fn all(most_s: u64) -> Vec<(&'static str, ScenarioV1)> {
    let runs = |wire: &ScenarioV1| !wire.classes.iter().any(|class| class.load.word() == "trace");
    presets::ALL
        .iter()
        .map(|preset| (preset.name, preset.scenario().wire().clone()))
        .filter(|(_, wire)| runs(wire))
        .map(|(name, mut wire)| {
            wire.run.horizon_us = wire.run.horizon_us.min(most_s * 1_000_000);
            wire.run.warmup_us = None;
            let within = wire.run.horizon_us;
            wire.events.retain(|event| event.at_us <= within);
            (name, wire)
        })
        .collect()
}

fn scenario(wire: &ScenarioV1) -> Scenario {
    Scenario::check(wire.clone()).unwrap_or_else(|error| panic!("{error}"))
}

fn edited(wire: &ScenarioV1, edits: &[(u64, SetV1)]) -> Scenario {
    let edits = edits.iter().map(|(at_us, set)| EditV1 { at_us: *at_us, set: set.clone() }).collect();
    scenario(&ScenarioV1 { edits, ..wire.clone() })
}

fn run(scenario: &Scenario) -> Simulation {
    Simulation::new(scenario, 0, None).expect("no recording is needed")
}

fn at(us: u64) -> Instant {
    Instant::START + Duration::from_micros(us)
}

/// A frame's numbers as they are written: what is not known is then equal to itself.
fn frame(sim: &Simulation) -> Vec<u64> {
    let mut frame = Frame::default();
    sim.frame(&mut frame);
    let mut numbers = Vec::new();
    frame.encode(&mut numbers);
    numbers.into_iter().map(f64::to_bits).collect()
}

/// Something to change, whatever the scenario; what does not fit is passed over by the caller.
fn any_change(choices: &mut Choices, wire: &ScenarioV1) -> (String, Value) {
    let class = format!("classes[{}]", choices.below(wire.classes.len()));
    let stage = format!("stages[{}]", choices.below(wire.stages.len()));
    let number = [0, 1, 2, 3, 5, 8, 13, 40][choices.below(8)];
    let law = choices
        .of(&[
            json!({"law":"exponential","mean_us":4_000}),
            json!({"law":"constant","mean_us":9_000}),
            json!({"law":"uniform","min_us":0,"max_us":30_000}),
        ])
        .clone();
    let (path, value) = match choices.below(22) {
        0 => (format!("{class}.load.rate_per_s"), json!(f64::from(number) * 7.5)),
        1 => (
            format!("{class}.load"),
            json!({"kind":"mmpp","phases":[{"rate_per_s":90,"mean_us":500_000},{"rate_per_s":1,"mean_us":900_000}]}),
        ),
        2 => (format!("{class}.load"), json!({"kind":"deterministic","rate_per_s":50,"count":300})),
        3 => (format!("{class}.load.clients"), json!(number.max(1) * 9)),
        4 => (format!("{class}.service"), law),
        5 => (format!("{class}.priority"), json!(number % 6)),
        6 => (format!("{class}.delay_weight"), json!(f64::from(number) + 0.5)),
        7 => (format!("{class}.deadline_us"), if number < 3 { Value::Null } else { json!(number * 40_000) }),
        8 => (format!("{class}.retry"), if number < 3 { Value::Null } else { json!({"times":2}) }),
        9 => (format!("{class}.demand"), json!({"mem":number,"net":number})),
        10 => (format!("{stage}.workers"), json!(number.max(1))),
        11 => (
            format!("{stage}.queue"),
            choices
                .of(&[
                    json!({"policy":"tail_drop","limit":30}),
                    json!({"policy":"tail_drop","limit":9,"per":"stage"}),
                    json!({"policy":"enqueue_rate","rate_per_s":40}),
                    json!({"policy":"red","min":5,"max":40}),
                    json!({"policy":"priority_red","min":5,"max":40}),
                    json!({"policy":"pdt_red"}),
                    json!({"policy":"wred","curves":[{"min":4,"max":30}]}),
                    json!({"policy":"codel"}),
                    json!({"policy":"pie"}),
                    json!({"policy":"work_red"}),
                    json!({"policy":"adaptive_rate","target_us":200_000}),
                    json!({"policy":"adaptive_rate","rule":"mm1","target_us":200_000}),
                    json!({"policy":"admission_window","target_us":100_000}),
                    json!({"policy":"length_threshold","threshold":20}),
                ])
                .clone(),
        ),
        12 => (
            format!("{stage}.order"),
            json!(*choices.of(&[
                "strict_priority",
                "fifo",
                "weighted_fair",
                "wtp",
                "pad",
                "hpd",
                "earliest_deadline",
                "adaptive_lifo"
            ])),
        ),
        13 => (
            format!("{stage}.ageing"),
            choices
                .of(&[
                    json!({"rule":"none"}),
                    json!({"rule":"promote","after_us":[400_000]}),
                    json!({"rule":"share","after_us":300_000}),
                ])
                .clone(),
        ),
        14 => (
            format!("{stage}.pool"),
            choices
                .of(&[
                    json!({"control":"fixed"}),
                    json!({"control":"threads","min":5,"max":60,"period_us":500_000,"threshold":3}),
                    json!({"control":"aimd","min":5,"max":60,"target_us":30_000}),
                    json!({"control":"gradient","min":5,"max":60}),
                ])
                .clone(),
        ),
        15 => (
            format!("{stage}.batch"),
            choices
                .of(&[
                    json!({"control":"one"}),
                    json!({"control":"fixed","size":4}),
                    json!({"control":"adaptive","max":20}),
                ])
                .clone(),
        ),
        16 => (format!("{stage}.starts_per_s"), if number < 3 { Value::Null } else { json!(number * 10) }),
        17 => (
            format!("{stage}.split_by"),
            choices
                .of(&[
                    json!({"policy":"fixed"}),
                    json!({"policy":"stc_lead"}),
                    json!({"policy":"stc_served"}),
                    json!({"policy":"pid","period_us":500_000}),
                    json!({"policy":"pairwise_pi","period_us":500_000}),
                    json!({"policy":"feed_forward"}),
                ])
                .clone(),
        ),
        18 => (format!("{stage}.expired"), json!(*choices.of(&["shed", "serve"]))),
        19 => (
            String::from("balancer"),
            choices
                .of(&[
                    json!({"policy":"round_robin"}),
                    json!({"policy":"least_connections"}),
                    json!({"policy":"weighted_round_robin"}),
                    json!({"policy":"weighted_round_robin","weights":"reported"}),
                    json!({"policy":"weighted_least_connections"}),
                    json!({"policy":"source_hash"}),
                    json!({"policy":"consistent_hash","by":"target"}),
                    json!({"policy":"random"}),
                    json!({"policy":"power_of_two"}),
                    json!({"policy":"join_shortest_queue"}),
                    json!({"policy":"peak_ewma"}),
                    json!({"policy":"least_time"}),
                    json!({"policy":"dnf"}),
                    json!({"policy":"dnf_published"}),
                ])
                .clone(),
        ),
        20 => (
            String::from("feedback"),
            choices
                .of(&[
                    Value::Null,
                    json!({"period_us":700_000,"silence_us":900_000}),
                    json!({"eject_after":2,"eject_us":2_000_000,"slow_start_us":3_000_000}),
                ])
                .clone(),
        ),
        _ if wire.servers.is_empty() => {
            (String::from("priority"), json!({"levels":(number % 16).max(1),"clamp":true}))
        }
        _ => {
            let server = format!("servers[{}]", choices.below(wire.servers.len()));
            choices
                .of(&[
                    (format!("{server}.slots"), json!(number.max(1))),
                    (format!("{server}.speed"), json!(f64::from(number) * 0.3 + 0.1)),
                    (format!("{server}.weight"), json!(number)),
                    (format!("{server}.max_in_flight"), if number < 3 { Value::Null } else { json!(number) }),
                    (format!("{server}.capacity"), json!({"mem":50,"net":40})),
                ])
                .clone()
        }
    };
    (path, value)
}

/// Edits that fit a scenario, at growing times.
fn any_edits(choices: &mut Choices, wire: &ScenarioV1, most: usize) -> Vec<(u64, SetV1)> {
    let mut now = wire.clone();
    let mut edits = Vec::new();
    let step = wire.run.horizon_us / (most as u64 + 1);
    let mut at_us = step / 3;
    for _ in 0..40 * most {
        let (path, value) = any_change(choices, wire);
        let set = set(&[(&path, value)]);
        if let Ok(next) = apply(&now, &set) {
            now = next;
            edits.push((at_us, set));
            at_us += step * choices.below(3) as u64 / 2;
            if edits.len() == most {
                break;
            }
        }
    }
    edits
}

#[test]
fn whatever_is_edited_no_request_is_lost_and_little_s_law_holds() {
    let mut choices = Choices(11);
    let mut kinds = std::collections::BTreeSet::new();
    for (name, wire) in all(4) {
        for seed in 0..4 {
            let wire = ScenarioV1 {
                run: tidegate_core::scenario::v1::RunV1 { seed, ..wire.run.clone() },
                ..wire.clone()
            };
            let edits = any_edits(&mut choices, &wire, 12);
            for (_, set) in &edits {
                kinds.extend(set.0.iter().map(|(path, value)| {
                    let word =
                        ["policy", "control", "rule", "kind"].iter().find_map(|tag| value[*tag].as_str());
                    format!("{}:{}", path.rsplit('.').next().unwrap_or(path), word.unwrap_or("-"))
                }));
            }
            let shown: Vec<String> = edits.iter().map(|(at, set)| format!("{at}: {:?}", set.0)).collect();
            let scenario = edited(&wire, &edits);
            let ended = std::panic::catch_unwind(|| run(&scenario).finish().trace_hash);
            let hash = ended.unwrap_or_else(|_| panic!("{name}, seed {seed}: {shown:#?}"));
            if seed == 0 {
                assert_eq!(hash, run(&scenario).finish().trace_hash, "{name}: the same again");
            }
        }
    }
    assert!(kinds.len() > 50, "{} kinds of edits were tried: {kinds:?}", kinds.len());
}

#[test]
fn before_an_edit_the_run_is_the_one_without_it() {
    let mut choices = Choices(5);
    for (name, wire) in all(5) {
        let plain = scenario(&wire);
        let edits = any_edits(&mut choices, &wire, 2);
        let edited = edited(&wire, &edits);
        let (mut a, mut b) = (run(&plain), run(&edited));
        let just_before = Instant::from_nanos(at(edits[0].0).as_nanos() - 1);
        for t in [at(edits[0].0 / 2), just_before] {
            a.run_until(t);
            b.run_until(t);
            assert_eq!((a.trace_hash(), frame(&a)), (b.trace_hash(), frame(&b)), "{name} at {t}");
        }
    }
}

#[test]
fn an_edit_that_changes_nothing_changes_nothing_afterwards() {
    for (name, wire) in all(5) {
        let same = set(&[
            ("stages[0].workers", json!(wire.stages[0].workers)),
            ("classes[0].priority", json!(wire.classes[0].priority)),
        ]);
        let half = wire.run.horizon_us / 2;
        let (mut a, mut b) = (run(&scenario(&wire)), run(&edited(&wire, &[(half, same)])));
        assert_eq!(a.finish().trace_hash, b.finish().trace_hash, "{name}");
        assert_eq!(frame(&a), frame(&b), "{name}");
    }
}

#[test]
fn a_fork_is_the_run_from_zero() {
    let mut choices = Choices(23);
    for (name, wire) in all(3) {
        let edits = any_edits(&mut choices, &wire, 3);
        for keep in 0..edits.len() {
            // One run goes on by its later edits, the other is edited otherwise after the first `keep`.
            let old = edited(&wire, &edits);
            let mut other = edits[..keep].to_vec();
            let moment = edits[keep].0.max(edits[keep.saturating_sub(1)].0 + 1);
            let at_us = moment + (wire.run.horizon_us - moment) / 7;
            let change = set(&[("classes[0].service", json!({"law":"constant","mean_us":3_000}))]);
            other.push((at_us, change));
            let new = edited(&wire, &other);
            let mut snapshot = run(&old);
            snapshot.run_until(Instant::from_nanos(at(edits[keep].0.min(at_us)).as_nanos() - 1));
            let mut forked =
                snapshot.fork(&new).unwrap_or_else(|| panic!("{name}: a fork after {keep} edits"));
            let mut whole = run(&new);
            assert_eq!(forked.finish().trace_hash, whole.finish().trace_hash, "{name}, after {keep} edits");
            assert_eq!(frame(&forked), frame(&whole), "{name}, after {keep} edits");
            snapshot.run_until(at(edits[keep].0));
            assert!(snapshot.fork(&new).is_none(), "{name}: the old edit is done");
        }
    }
}

#[test]
fn a_difference_applied_is_the_other_scenario() {
    let mut choices = Choices(3);
    let mut tried = 0;
    for (name, wire) in all(5) {
        for _ in 0..20 {
            let mut after = wire.clone();
            for (_, set) in any_edits(&mut choices, &wire, 3) {
                after = apply(&after, &set).unwrap_or(after);
            }
            let set = difference(&wire, &after).unwrap_or_else(|error| panic!("{name}: {error}"));
            if set.0.is_empty() {
                assert_eq!(after, wire, "{name}");
                continue;
            }
            let back = apply(&wire, &set).unwrap_or_else(|error| panic!("{name}: {error}, {set:?}"));
            assert_eq!(back, after, "{name}: {set:?}");
            // What is written reads back.
            let whole = ScenarioV1 { edits: vec![EditV1 { at_us: 1, set }], ..wire.clone() };
            let text = parse::to_canonical_json(&whole);
            assert_eq!(parse_json(&text).expect("reads").wire, whole, "{name}");
            tried += 1;
        }
    }
    assert!(tried > 100, "{tried} differences");
}

/// One queue and one worker: 40 a second at 10 ms, and then 80 a second.
#[test]
fn a_rate_edited_at_half_time_gives_the_theory_of_both_halves() {
    let text = r#"{"tidegate":1,"run":{"seed":4,"horizon_us":4000000000,"mode":"transient"},
        "classes":[{"name":"a","load":{"kind":"poisson","rate_per_s":40}}],
        "stages":[{"name":"s","workers":1,"queue":{"policy":"tail_drop","limit":1000000},
            "work":{"at":"stage","service":{"law":"exponential","mean_us":10000}}}]}"#;
    let wire = parse_json(text).expect("reads").wire;
    let half = 2_000_000_000;
    let mut sim = run(&edited(&wire, &[(half, set(&[("classes[0].load.rate_per_s", json!(80))]))]));
    let counts = |sim: &Simulation| {
        let mut frame = Frame::default();
        sim.frame(&mut frame);
        (frame.classes[0].arrived as f64, frame.classes[0].completed as f64, frame.classes[0].response_sum_s)
    };
    sim.run_until(at(half));
    let first = counts(&sim);
    sim.run_to_end();
    let all = counts(&sim);
    let second = (all.0 - first.0, all.1 - first.1, all.2 - first.2);
    for (rate, (arrived, completed, sum_s)) in [(40.0, first), (80.0, second)] {
        let want = 1.0 / (100.0 - rate);
        assert!((arrived / 2_000.0 / rate - 1.0).abs() < 0.02, "{arrived} arrivals at {rate} a second");
        let got = sum_s / completed;
        assert!((got / want - 1.0).abs() < 0.08, "response {got} s, want {want} s at {rate} a second");
    }
}

/// The error of an edit of a small scenario.
#[track_caller]
fn refused(path: &str, value: Value, want: &str) {
    let text = r#"{"tidegate":1,"classes":[{"name":"a","load":{"kind":"poisson","rate_per_s":9}},
            {"name":"b","load":{"kind":"closed","clients":4}}],
        "stages":[{"name":"s","workers":4,"split":[2,2],"work":{"at":"servers"}}],"servers":[{"name":"x"}]}"#;
    let mut value_of = serde_json::from_str::<Value>(text).expect("JSON");
    value_of["edits"] = json!([{"at_us":5,"set":{path:value}}]);
    let parsed = parse::from_value(&value_of).expect("reads");
    let error = parsed.check().expect_err("may not be edited");
    assert_eq!(error.to_string(), want);
    let listed = parse::check_all(&value_of);
    assert_eq!(listed.first().map(ToString::to_string).as_deref(), Some(want), "the list of all errors");
}

#[test]
fn what_may_not_be_edited_is_refused_with_the_rule() {
    refused(
        "classes",
        json!([{"name":"a"}]),
        r#"edits[0].set["classes"]: as many as when the run began (2), found 1"#,
    );
    refused(
        "run.seed",
        json!(7),
        r#"edits[0].set["run.seed"]: run: what it was when the run began, found another value"#,
    );
    refused(
        "events",
        json!([{"at_us":9,"do":"load","factor":2}]),
        r#"edits[0].set["events"]: what it was when the run began, found another value"#,
    );
    refused("edits", json!([]), r#"edits[0].set["edits"]: left out of an edit, found []"#);
    refused(
        "servers[0].name",
        json!("y"),
        r#"edits[0].set["servers[0].name"]: what it was when the run began, found "y""#,
    );
    refused(
        "classes[1].load",
        json!({"kind":"poisson","rate_per_s":4}),
        r#"edits[0].set["classes[1].load"].kind: closed, as closed clients and recorded rows stay what they are, found "poisson""#,
    );
    refused(
        "stages[0].workers",
        json!(6),
        r#"edits[0].set["stages[0].workers"]: stages[0].split: a sum of 6 (workers), found 4"#,
    );
    refused(
        "stages[0].wrokers",
        json!(6),
        r#"edits[0].set["stages[0].wrokers"]: no such field, found 6 (did you mean workers?)"#,
    );
    refused(
        "stages[3].workers",
        json!(6),
        r#"edits[0].set["stages[3].workers"]: the path of a value of the scenario, found 6"#,
    );
    refused(
        "stages[0]workers..",
        json!(6),
        r#"edits[0].set["stages[0]workers.."]: the path of a value of the scenario, found 6"#,
    );
    refused(
        "stages[0].workers",
        json!("six"),
        r#"edits[0].set["stages[0].workers"]: a whole number from 1 to 100000, found "six""#,
    );
    refused(
        "classes[0].load.rate_per_s",
        json!(-1),
        r#"edits[0].set["classes[0].load.rate_per_s"]: from 0 to 1000000, found -1"#,
    );
}

#[test]
fn edits_come_in_order_and_within_the_run() {
    let edit = |at_us| json!({"at_us":at_us,"set":{"classes[0].priority":1}});
    let mut value: Value = serde_json::from_str(
        r#"{"tidegate":1,"run":{"horizon_us":1000},"classes":[{"name":"a"}],
        "stages":[{"name":"s","workers":1,"work":{"at":"stage","service":{"law":"constant","mean_us":1}}}]}"#,
    )
    .expect("JSON");
    let mut check = |edits: &[u64], want: Option<&str>| {
        value["edits"] = edits.iter().map(|&at| edit(at)).collect();
        let all = parse::check_all(&value);
        assert_eq!(all.first().map(ToString::to_string).as_deref(), want, "edits at {edits:?}");
    };
    check(&[5, 5, 1000], None);
    check(&[5, 4], Some("edits[1].at_us: at least the one before (5), found 4"));
    check(&[1001], Some("edits[0].at_us: at most horizon_us (1000), found 1001"));
    check(&[1; 65], Some("edits: at most 64 entries, found 65"));
}

/// Paths and values of the numbers in `value` that stand at `path`.
fn numbers(value: &Value, path: &str, found: &mut Vec<(String, f64)>) {
    match value {
        Value::Number(number) => found.extend(number.as_f64().map(|n| (path.to_owned(), n))),
        Value::Array(all) => {
            for (i, one) in all.iter().enumerate() {
                numbers(one, &format!("{path}[{i}]"), found);
            }
        }
        Value::Object(fields) => {
            for (key, one) in fields {
                numbers(one, &format!("{path}.{key}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn the_link_of_every_preset_with_edits_is_short() {
    /// What chats and mails take without breaking it.
    const LONGEST: usize = 800;
    const EDITS: usize = 5;
    for preset in presets::ALL {
        let mut wire = preset.scenario().wire().clone();
        let value: Value = serde_json::from_str(preset.json()).expect("a preset is JSON");
        let mut places = Vec::new();
        for part in ["stages", "classes", "servers"] {
            numbers(&value[part], part, &mut places);
        }
        let mut before = wire.clone();
        for ((path, number), factor) in
            [1.25, 2.5, 5.0].iter().flat_map(|f| places.iter().map(move |p| (p, f)))
        {
            let set = set(&[(path, json!((number * factor).ceil() as u64))]);
            let Ok(after) = apply(&before, &set) else { continue };
            before = after;
            let at_us = (wire.edits.len() as u64 + 1) * (wire.run.horizon_us / 7);
            wire.edits.push(EditV1 { at_us, set });
            if wire.edits.len() == EDITS {
                break;
            }
        }
        assert_eq!(wire.edits.len(), EDITS, "{}", preset.name);
        let link = link::encode(scenario(&wire).wire());
        let whole = format!("https://tidegate.example/play/#{link}&at=117.5&h=0123456789abcdef");
        assert!(whole.len() < LONGEST, "{}: {} characters: {whole}", preset.name, whole.len());
        assert_eq!(link::open(&link).expect("opens").parsed.wire, wire, "{}", preset.name);
    }
}
