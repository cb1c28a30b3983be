//! A run is a function of scenario, seed and engine version, and of nothing else.

use std::fmt::Write as _;
use std::path::Path;
use tidegate_core::frame::Frame;
use tidegate_core::scenario::{Scenario, presets};
use tidegate_core::sim::{ENGINE, Simulation};
use tidegate_core::time::{Duration, Instant};
use tidegate_core::unit::mix;
use tidegate_tests::scenario;

fn hash(scenario: &Scenario) -> u64 {
    Simulation::new(scenario, 0, None).unwrap().finish().trace_hash
}

/// Presets that need no recorded traffic.
fn runnable() -> impl Iterator<Item = (&'static str, Scenario)> {
    presets::names()
        .map(|name| (name, presets::get(name).unwrap().scenario()))
        .filter(|(_, scenario)| Simulation::new(scenario, 0, None).is_ok())
}

/// The digest of every preset is committed. When a change moves one, either it is a defect, or the meaning of
/// a seed has changed: then `ENGINE` goes up and the file is written anew (run with `TIDEGATE_BLESS=1`).
#[test]
fn presets_run_as_they_always_did() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("golden/hashes.txt");
    let mut now = format!("engine {ENGINE}\n");
    for (name, scenario) in runnable() {
        let run = Simulation::new(&scenario, 0, None).unwrap().finish();
        writeln!(now, "{name} {:016x} {}", run.trace_hash, run.events).unwrap();
    }
    if std::env::var_os("TIDEGATE_BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).expect("tests/golden/hashes.txt is committed");
    assert_eq!(now, golden, "runs have changed; see the comment above this test");
}

#[test]
fn the_same_seed_gives_the_same_run_and_another_seed_another() {
    let mut flash = presets::get("flash-crowd").unwrap().scenario();
    let first = hash(&flash);
    assert_eq!(first, hash(&flash));
    flash.seed += 1;
    assert_ne!(first, hash(&flash));
    flash.seed -= 1;
    let other = Simulation::new(&flash, 1, None).unwrap().finish().trace_hash;
    assert_ne!(first, other, "replication 1 is another run");
}

/// Stepping, running in slices and running at once are the same run; so is going on from a snapshot.
#[test]
fn how_a_run_is_driven_does_not_change_it() {
    for (name, scenario) in
        runnable().filter(|(name, _)| ["flash-crowd", "server-down", "demo"].contains(name))
    {
        let want = hash(&scenario);
        let mut stepped = Simulation::new(&scenario, 0, None).unwrap();
        while stepped.step() {}
        assert_eq!(stepped.finish().trace_hash, want, "{name}, event by event");

        let mut sliced = Simulation::new(&scenario, 0, None).unwrap();
        let mut frame = Frame::default();
        let mut snapshot = None;
        let mut n = 0;
        while !sliced.is_over() {
            n += 1;
            let slice = Duration::from_nanos(mix(n) % 50_000_000);
            sliced.run_until(sliced.now() + slice);
            sliced.frame(&mut frame);
            if snapshot.is_none() && sliced.now() > Instant::from_nanos(7_000_000_000) {
                snapshot = Some(sliced.clone());
            }
        }
        assert_eq!(sliced.finish().trace_hash, want, "{name}, in random slices");
        assert_eq!(
            snapshot.expect("the run passes 7 s").finish().trace_hash,
            want,
            "{name}, from a snapshot"
        );
    }
}

/// Common random numbers: another order, limit or balancer leaves every arrival and every demand as it was.
#[test]
fn a_policy_change_leaves_the_traffic_alone() {
    let text = |order: &str, limit: u32, balancer: &str, load: &str| {
        scenario(&format!(
            r#"{{"tidegate":1,"run":{{"horizon_us":20000000,"mode":"transient"}},
            "classes":[{{"name":"a","priority":1,"load":{load}}},
                       {{"name":"b","load":{{"kind":"mmpp","phases":[{{"rate_per_s":50,"mean_us":500000}},
                                                               {{"rate_per_s":400,"mean_us":200000}}]}}}}],
            "stages":[{{"name":"s","workers":3,"order":"{order}","queue":{{"policy":"tail_drop","limit":{limit}}},
                       "work":{{"at":"servers"}}}}],
            "balancer":{{"policy":"{balancer}"}},"servers":[{{"name":"x"}},{{"name":"y","speed":2}}]}}"#
        ))
    };
    let poisson = r#"{"kind":"poisson","rate_per_s":120}"#;
    let arrived = |scenario: &Scenario| -> Vec<u64> {
        let run = Simulation::new(scenario, 0, None).unwrap().finish();
        run.classes.iter().map(|class| class.arrived).collect()
    };
    let base = text("strict_priority", 1_000_000, "least_connections", poisson);
    let other = text("fifo", 5, "round_robin", poisson);
    assert_eq!(arrived(&base), arrived(&other));
    assert_ne!(hash(&base), hash(&other));
    // Open loop and generous limits: the work that was asked for is the same to the nanosecond.
    let work = |order: &str| {
        let scenario = scenario(&format!(
            r#"{{"tidegate":1,"run":{{"horizon_us":30000000,"mode":"transient"}},
            "classes":[{{"name":"a","priority":1,"load":{{"kind":"poisson","rate_per_s":300}}}},
                       {{"name":"b","load":{{"kind":"poisson","rate_per_s":400}}}}],
            "stages":[{{"name":"s","workers":1,"order":"{order}","queue":{{"policy":"tail_drop","limit":1000000}},
                       "work":{{"at":"stage","service":{{"law":"exponential","mean_us":1000}}}}}}],
            "events":[{{"at_us":29000000,"do":"load","factor":0}}]}}"#
        ));
        let run = Simulation::new(&scenario, 0, None).unwrap().finish();
        assert_eq!(run.classes.iter().map(|c| c.in_system).sum::<u64>(), 0, "the run drains");
        run.classes.iter().map(|c| c.response.sum() - c.wait.sum()).collect::<Vec<_>>()
    };
    assert_eq!(work("strict_priority"), work("fifo"));
}

/// Whatever the scenario, nobody is lost and Little's law holds: `finish` asserts it.
#[test]
fn random_scenarios_keep_the_two_laws() {
    for seed in 0..300_u64 {
        let mut n = mix(seed);
        let mut below = |most: u64| {
            n = mix(n);
            n % most
        };
        let law = |n: u64| match n % 7 {
            0 => r#"{"law":"constant","mean_us":3000}"#,
            1 => r#"{"law":"exponential","mean_us":5000}"#,
            2 => r#"{"law":"uniform","min_us":0,"max_us":9000}"#,
            3 => r#"{"law":"erlang","mean_us":4000,"k":3}"#,
            4 => r#"{"law":"hyperexponential","mean_us":4000,"cv":3}"#,
            5 => r#"{"law":"lognormal","mean_us":4000,"cv":2}"#,
            _ => r#"{"law":"pareto","mean_us":4000,"alpha":1.3}"#,
        };
        let load = |n: u64| match n % 4 {
            0 => r#"{"kind":"poisson","rate_per_s":300}"#,
            1 => r#"{"kind":"deterministic","rate_per_s":250}"#,
            2 => {
                r#"{"kind":"mmpp","phases":[{"rate_per_s":0,"mean_us":50000},{"rate_per_s":900,"mean_us":30000}]}"#
            }
            _ => r#"{"kind":"closed","clients":7}"#,
        };
        let mut class = |name: &str| {
            let deadline = if below(2) == 0 {
                format!(r#","deadline_us":{}"#, below(20_000) + 1)
            } else {
                String::new()
            };
            format!(
                r#"{{"name":"{name}","priority":{},"load":{},"service":{}{deadline}}}"#,
                below(3),
                load(below(4)),
                law(below(7))
            )
        };
        let classes = [class("a"), class("b"), class("c")].join(",");
        let text = format!(
            r#"{{"tidegate":1,"run":{{"seed":{seed},"horizon_us":2000000,"mode":"transient"}},"classes":[{classes}],
            "stages":[{{"name":"s","workers":2,"queue":{{"policy":"tail_drop","limit":{}}},
                       "work":{{"at":"stage","service":{}}}}},
                      {{"name":"t","workers":{},"queue":{{"policy":"tail_drop","limit":{}}},"work":{{"at":"servers"}}}}],
            "balancer":{{"policy":"{}"}},
            "servers":[{{"name":"x","slots":2}},{{"name":"y","max_in_flight":1}}],
            "events":[{{"at_us":300000,"do":"load","factor":2.5}},
                      {{"at_us":500000,"do":"server_down","server":"x"}},
                      {{"at_us":600000,"do":"server_down","server":"y"}},
                      {{"at_us":800000,"do":"server_up","server":"x"}},
                      {{"at_us":900000,"do":"server_speed","server":"y","speed":0.5}},
                      {{"at_us":1000000,"do":"load","class":"a","factor":0}},
                      {{"at_us":1300000,"do":"server_up","server":"y"}},
                      {{"at_us":1400000,"do":"load","factor":0.7}}]}}"#,
            below(30),
            law(below(7)),
            1 + below(5),
            below(30),
            ["round_robin", "least_connections"][below(2) as usize],
        );
        let run = Simulation::new(&scenario(&text), 0, None).unwrap().finish();
        assert!(run.events > 100, "seed {seed}: hardly anything happened\n{text}");
    }
}
