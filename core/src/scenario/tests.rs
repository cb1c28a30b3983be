//! Scenarios that are wrong in one way each, and what is said about them.

use super::parse::{check_all, parse_lenient};
use super::*;
use alloc::format;
use alloc::string::ToString;
use serde_json::{Value, json};

/// A scenario with two classes, two stages, two servers and one event of each kind.
fn sample() -> Value {
    json!({
        "tidegate": 1,
        "title": "Sample",
        "run": { "horizon_us": 10_000_000, "mode": "transient" },
        "classes": [
            { "name": "Gold", "priority": 1, "load": { "kind": "poisson", "rate_per_s": 10.5 } },
            { "name": "Bronze", "load": { "kind": "closed", "clients": 5 }, "rules": [{ "path": "/a/*" }] },
        ],
        "stages": [
            { "name": "Accept", "workers": 2, "work": { "at": "stage", "service": { "law": "constant", "mean_us": 50 } } },
            { "name": "Serve", "workers": 4, "split": [3, 1], "work": { "at": "servers" } },
        ],
        "servers": [{ "name": "api-1" }, { "name": "api-2", "slots": 2 }],
        "events": [
            { "at_us": 5, "do": "load", "class": "Gold", "factor": 2 },
            { "at_us": 6, "do": "server_down", "server": "api-1" },
        ],
    })
}

/// Replaces the value at `pointer` (RFC 6901) of the sample and gives the first complaint.
fn complaint(pointer: &str, value: Value) -> String {
    let mut scenario = sample();
    let (parent, key) = pointer.rsplit_once('/').unwrap();
    match scenario.pointer_mut(parent).unwrap() {
        Value::Object(map) if value.is_null() => drop(map.remove(key)),
        Value::Object(map) => drop(map.insert(key.to_string(), value)),
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
        other => panic!("{parent} is {other}"),
    }
    let first = match from_value(&scenario).and_then(Parsed::deny_unknown).and_then(Parsed::check) {
        Ok(_) => String::from("nothing wrong"),
        Err(error) => error.to_string(),
    };
    let all = check_all(&scenario);
    match all.is_empty() {
        true => assert_eq!(first, "nothing wrong", "check_all has to find it too"),
        false => assert!(all.iter().any(|e| e.to_string() == first), "{first} is not among {all:?}"),
    }
    first
}

#[test]
fn the_sample_is_right() {
    assert_eq!(complaint("/title", json!("Sample")), "nothing wrong");
}

#[test]
fn complaints_name_path_rule_and_value() {
    for (pointer, value, want) in [
        // Kinds of value.
        ("/classes", json!(3), "classes: a list of 1 to 16 entries, found 3"),
        ("/classes/0", json!("x"), "classes[0]: an object (class), found \"x\""),
        ("/classes/0/priority", json!(1.5), "classes[0].priority: a whole number from 0 to 15, found 1.5"),
        ("/classes/0/priority", json!(-1), "classes[0].priority: a whole number from 0 to 15, found -1"),
        (
            "/classes/0/delay_weight",
            json!("2"),
            "classes[0].delay_weight: a number above 0 and at most 1000, found \"2\"",
        ),
        (
            "/stages/1/workers",
            json!(5e12),
            "stages[1].workers: a whole number from 1 to 100000, found 5000000000000",
        ),
        ("/title", json!([1, 2]), "title: a text of at most 80 characters, found a list of 2"),
        (
            "/classes/0/name",
            Value::Null,
            "classes[0].name: required: a text of 1 to 40 characters, found nothing",
        ),
        ("/stages/0/work", Value::Null, "stages[0].work: required: an object (work), found nothing"),
        (
            "/classes/0/load",
            json!({}),
            "classes[0].load.kind: required: one of poisson, deterministic, mmpp, closed, trace, found nothing",
        ),
        // Names.
        (
            "/classes/0/delay_wieght",
            json!(2),
            "classes[0].delay_wieght: no such field, found 2 (did you mean delay_weight?)",
        ),
        ("/run/horizon_s", json!(10), "run.horizon_s: no such field, found 10 (did you mean horizon_us?)"),
        ("/colour", json!("red"), "colour: no such field, found \"red\""),
        (
            "/stages/0/order",
            json!("fifp"),
            "stages[0].order: one of strict_priority, fifo, weighted_fair, wtp, pad, hpd, earliest_deadline, adaptive_lifo, found \"fifp\" (did you mean \"fifo\"?)",
        ),
        (
            "/balancer",
            json!({ "policy": "fair" }),
            "balancer.policy: one of round_robin, least_connections, weighted_round_robin, weighted_least_connections, source_hash, destination_hash, consistent_hash, random, power_of_two, join_shortest_queue, peak_ewma, least_time, dnf_published, dnf, found \"fair\"",
        ),
        ("/tidegate", Value::Null, "tidegate: required: 1, found nothing"),
        ("/tidegate", json!("1"), "tidegate: 1, found \"1\""),
        // Limits of one field.
        ("/classes/0/delay_weight", json!(0), "classes[0].delay_weight: above 0 and at most 1000, found 0"),
        (
            "/classes/0/load/rate_per_s",
            json!(-0.5),
            "classes[0].load.rate_per_s: from 0 to 1000000, found -0.5",
        ),
        ("/classes/1/load/clients", json!(0), "classes[1].load.clients: from 1 to 100000, found 0"),
        ("/classes/0/name", json!(""), "classes[0].name: 1 to 40 characters, found 0 characters"),
        ("/classes/0/name", json!("a\nb"), "classes[0].name: no control characters, found \"a\\nb\""),
        ("/title", json!("ü".repeat(81)), "title: at most 80 characters, found 81 characters"),
        ("/stages", json!([]), "stages: 1 to 16 entries, found 0"),
        (
            "/run/horizon_us",
            json!(604_800_000_001_u64),
            "run.horizon_us: from 1 to 604800000000, found 604800000001",
        ),
        // What has to fit together.
        ("/run/warmup_us", json!(5), "run.warmup_us: 0 or left out when mode is transient, found 5"),
        (
            "/run",
            json!({ "warmup_us": 60_000_000 }),
            "run.warmup_us: below horizon_us (60000000), found 60000000",
        ),
        ("/classes/1/name", json!("Gold"), "classes[1].name: unlike every other name here, found \"Gold\""),
        ("/stages/1/split", json!([4]), "stages[1].split: one entry for each of the 2 classes, found 1"),
        ("/stages/1/split", json!([4, 1]), "stages[1].split: a sum of 4 (workers), found 5"),
        (
            "/stages/0/work",
            json!({ "at": "servers" }),
            "stages[1].work: at servers in one stage at most, found a second one",
        ),
        ("/servers", json!([]), "servers: 1 to 64 entries, as a stage works at servers, found 0"),
        (
            "/stages/1/work",
            json!({ "at": "stage", "service": { "law": "constant", "mean_us": 1 } }),
            "servers: none, as no stage works at servers, found 2",
        ),
        (
            "/events/0/class",
            json!("gold"),
            "events[0].class: the name of a class (Gold, Bronze), found \"gold\" (did you mean Gold?)",
        ),
        (
            "/events/1/server",
            json!("web-9"),
            "events[1].server: the name of a server (api-1, api-2), found \"web-9\"",
        ),
        (
            "/events/1/at_us",
            json!(10_000_001),
            "events[1].at_us: at most horizon_us (10000000), found 10000001",
        ),
        (
            "/classes/0/service",
            json!({ "law": "uniform", "min_us": 5, "max_us": 4 }),
            "classes[0].service.max_us: at least min_us (5), found 4",
        ),
        (
            "/classes/1/rules/0",
            json!({}),
            "classes[1].rules[0]: at least one of path, host, method, header, client, found none of them",
        ),
        (
            "/classes/1/rules/0",
            json!({ "value": "x" }),
            "classes[1].rules[0].header: required when value is given, found nothing",
        ),
        (
            "/classes/1/rules/0/path",
            json!("a/***"),
            "classes[1].rules[0].path: a path that begins with / or *, where * stands alone or doubled, found \"a/***\"",
        ),
        (
            "/classes/1/rules/0/client",
            json!("10.0.0.0/33"),
            "classes[1].rules[0].client: an address or CIDR block such as 10.0.0.0/8, found \"10.0.0.0/33\"",
        ),
        (
            "/classes/1/rules/0/host",
            json!("example.org:80"),
            "classes[1].rules[0].host: a host name without port, possibly after *., found \"example.org:80\"",
        ),
        (
            "/classes/1/rules/0/method",
            json!("get"),
            "classes[1].rules[0].method: a method in upper case, found \"get\"",
        ),
        (
            "/classes/1/rules/0/header",
            json!("User-Agent"),
            "classes[1].rules[0].header: a header name in lower case, found \"User-Agent\"",
        ),
    ] {
        assert_eq!(complaint(pointer, value.clone()), want, "{pointer} = {value}");
    }
}

#[test]
fn values_at_the_limits_are_taken() {
    for (pointer, value) in [
        ("/classes/0/priority", json!(15)),
        ("/classes/0/priority", json!(2.0)),
        ("/classes/0/delay_weight", json!(1000)),
        ("/title", json!("ü".repeat(80))),
        ("/run/horizon_us", json!(604_800_000_000_u64)),
        ("/run/seed", json!(9_007_199_254_740_991_u64)),
        ("/events/1/at_us", json!(10_000_000)),
        ("/classes/1/rules/0/client", json!("2001:db8::/32")),
        ("/classes/1/rules/0/host", json!("*.example.org")),
        ("/classes/1/rules/0/host", json!("[::1]")),
        ("/classes/1/rules/0/path", json!("/**/x.*")),
    ] {
        assert_eq!(complaint(pointer, value.clone()), "nothing wrong", "{pointer} = {value}");
    }
}

#[test]
fn defaults_are_what_links_without_them_mean() {
    let scenario = from_value(&sample()).unwrap().check().unwrap();
    assert_eq!((scenario.seed, scenario.warmup), (1, Duration::ZERO));
    assert_eq!(scenario.balancer, BalancerV1::LeastConnections);
    assert_eq!(scenario.classes[0].service, LawV1::Exponential { mean_us: 10_000 });
    assert_eq!(scenario.classes[0].delay_weight.get(), 1.0);
    assert_eq!(scenario.stages[0].queue, QueueV1::TailDrop { limit: 1_000, per: v1::PerV1::Level });
    assert_eq!(scenario.stages[0].order, OrderV1::StrictPriority);
    assert_eq!((scenario.servers[0].slots, scenario.servers[0].speed), (1, 1.0));
    let LoadV1::Closed { think, count, .. } = &scenario.classes[1].load else { panic!("closed") };
    assert_eq!((think, count), (&LawV1::Constant { mean_us: 0 }, &None));

    let mut steady = sample();
    steady["run"] = json!({});
    let steady = from_value(&steady).unwrap().check().unwrap();
    assert_eq!((steady.horizon, steady.warmup), (Duration::from_secs(60), Duration::from_secs(6)));
    assert_eq!(steady.mode, ModeV1::Steady);
}

#[test]
fn names_are_resolved_and_events_sorted() {
    let mut wire = sample();
    wire["events"][0]["at_us"] = json!(7);
    let scenario = from_value(&wire).unwrap().check().unwrap();
    assert_eq!(scenario.serving_stage, Some(StageId(1)));
    assert_eq!(scenario.stages[1].split, Some(alloc::vec![3, 1]));
    assert_eq!(scenario.stages[0].levels, 2);
    let actions: Vec<Action> = scenario.events.iter().map(|e| e.action).collect();
    let load = Action::Load { class: Some(ClassId(0)), factor: 2.0 };
    assert_eq!(actions, [Action::ServerDown(ServerId(0)), load]);
}

#[test]
fn canonical_text_has_schema_order_no_spaces_and_no_defaults() {
    let mut wire = sample();
    wire["run"]["seed"] = json!(1);
    wire["classes"][0]["delay_weight"] = json!(1.0);
    wire["balancer"] = json!({ "policy": "least_connections" });
    wire["stages"][0]["queue"] = json!({ "policy": "tail_drop", "per": "level", "limit": 1000 });
    let text = from_value(&wire).unwrap().to_canonical_json();
    assert_eq!(
        text,
        concat!(
            r#"{"tidegate":1,"title":"Sample","run":{"horizon_us":10000000,"mode":"transient"},"classes":["#,
            r#"{"name":"Gold","priority":1,"load":{"kind":"poisson","rate_per_s":10.5}},"#,
            r#"{"name":"Bronze","load":{"kind":"closed","clients":5},"rules":[{"path":"/a/*"}]}],"#,
            r#""stages":[{"name":"Accept","workers":2,"work":{"at":"stage","service":{"law":"constant","mean_us":50}}},"#,
            r#"{"name":"Serve","workers":4,"split":[3,1],"work":{"at":"servers"}}],"#,
            r#""servers":[{"name":"api-1"},{"name":"api-2","slots":2}],"#,
            r#""events":[{"at_us":5,"do":"load","class":"Gold","factor":2},{"at_us":6,"do":"server_down","server":"api-1"}]}"#,
        )
    );
    assert_eq!(parse_json(&text).unwrap().to_canonical_json(), text);
}

#[test]
fn unknown_fields_survive_in_their_places() {
    let mut wire = sample();
    wire["colour"] = json!({ "b": 1, "a": [null, true] });
    wire["classes"][1]["badge"] = json!("B");
    wire["classes"][1]["load"]["retry"] = json!(3);
    // Inside something that would be left out.
    wire["balancer"] = json!({ "policy": "least_connections", "x": 0.5 });
    wire["classes"][0]["service"] = json!({ "law": "exponential", "mean_us": 10_000, "a\"b": 1 });
    let parsed = from_value(&wire).unwrap();
    let mut unknown = parsed.unknown.clone();
    unknown.sort();
    assert_eq!(
        unknown,
        [
            "balancer.x",
            "classes[0].service[\"a\\\"b\"]",
            "classes[1].badge",
            "classes[1].load.retry",
            "colour"
        ]
    );
    let text = parsed.to_canonical_json();
    let again = parse_json(&text).unwrap();
    assert_eq!(again.to_canonical_json(), text);
    assert_eq!(again, parsed);
    let value: Value = serde_json::from_str(&text).unwrap();
    for (pointer, want) in [
        ("/colour/a/1", json!(true)),
        ("/classes/1/badge", json!("B")),
        ("/classes/1/load/retry", json!(3)),
        ("/balancer/x", json!(0.5)),
        ("/classes/0/service/a\"b", json!(1)),
    ] {
        assert_eq!(value.pointer(pointer), Some(&want), "{pointer} of {text}");
    }
}

#[test]
fn a_newer_version_is_shown_but_not_guessed_at() {
    let wire = json!({ "tidegate": 3, "title": "From tomorrow", "eng": "9.1", "classes": "?" });
    let error = from_value(&wire).unwrap_err();
    assert_eq!(error.to_string(), "tidegate: 1, found 3");
    let newer = error.newer.unwrap();
    assert_eq!((newer.version, &*newer.title, &*newer.engine), (3, "From tomorrow", "9.1"));
    assert_eq!(serde_json::from_str::<Value>(&newer.json).unwrap(), wire);
    assert_eq!(from_value(&json!({ "tidegate": 0 })).unwrap_err().newer, None);
}

#[test]
fn an_editor_can_open_what_is_half_right() {
    let mut wire = sample();
    wire["balancer"] = json!({ "policy": "p2c" });
    wire["classes"][0]["priority"] = json!("high");
    let (parsed, errors) = parse_lenient(&wire.to_string()).unwrap();
    let paths: Vec<&str> = errors.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(paths, ["classes[0].priority", "balancer.policy"]);
    assert_eq!(parsed.wire.classes[1].name, "Bronze");
    assert!(parsed.unknown.is_empty());
}

#[test]
fn every_complaint_is_collected_in_order() {
    let mut wire = sample();
    wire["run"]["warmup_us"] = json!(1);
    wire["classes"][0]["load"]["rate_per_s"] = json!(1e7);
    wire["stages"][1]["split"] = json!([9, 9]);
    wire["servers"][1]["name"] = json!("api-1");
    wire["events"][0]["factor"] = json!(-1);
    let paths: Vec<String> = check_all(&wire).into_iter().map(|e| e.path).collect();
    assert_eq!(
        paths,
        [
            "run.warmup_us",
            "classes[0].load.rate_per_s",
            "stages[1].split",
            "servers[1].name",
            "events[0].factor"
        ]
    );
}

#[test]
fn size_and_depth_are_bounded() {
    let long = format!("{{\"tidegate\":1,\"x\":\"{}\"}}", "y".repeat(parse::MAX_JSON_BYTES));
    assert!(parse_json(&long).unwrap_err().to_string().starts_with("scenario: at most 262144 bytes of JSON"));
    let deep = format!("{{\"tidegate\":1,\"x\":{}{}}}", "[".repeat(16), "]".repeat(16));
    assert_eq!(parse_json(&deep).unwrap_err().to_string(), "scenario: at most 16 levels deep, found more");
    let allowed = format!("{{\"tidegate\":1,\"x\":{}{}}}", "[".repeat(15), "]".repeat(15));
    assert_ne!(parse_json(&allowed).unwrap_err().path, "scenario");
    for text in ["", "{", "[]", "null", "{\"tidegate\":1e999}", "\u{feff}{}"] {
        assert!(parse_json(text).is_err(), "{text}");
    }
}

#[test]
fn a_field_given_twice_is_no_choice_of_the_last() {
    let text = sample().to_string().replacen("\"workers\":4", "\"workers\":4,\"workers\":5", 1);
    let error = parse_json(&text).unwrap_err();
    assert_eq!(error.to_string(), "stages[1].workers: given once, found the same key again");
}

#[test]
fn events_are_estimated_by_class_and_load() {
    // Gold: 10.5/s for 10 s, doubled after 5 us; Bronze: 5 clients of 10.05 ms, within 3 slots of 10 ms.
    let scenario = from_value(&sample()).unwrap().check().unwrap();
    let estimate = scenario.estimated_events();
    assert!((estimate - (210.0 + 3_000.0) * 3.0).abs() < 10.0, "{estimate}");
}
