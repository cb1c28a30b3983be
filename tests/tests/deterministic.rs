//! Oracles that are exact to the nanosecond (oracle table 6.1), on whole scenarios.

use tidegate_core::frame::{Cause, Frame};
use tidegate_core::scenario::Scenario;
use tidegate_core::sim::Simulation;
use tidegate_core::time::Instant;
use tidegate_tests::scenario;

const MS: u64 = 1_000_000;

/// Every time a job started, as (when, class): read off by stepping the run event by event.
fn starts(scenario: &Scenario) -> Vec<(u64, usize)> {
    let mut sim = Simulation::new(scenario, 0, None).unwrap();
    let (mut before, mut frame, mut starts) = (Frame::default(), Frame::default(), Vec::new());
    sim.frame(&mut before);
    while let Some(at) = sim.next_event_at() {
        sim.run_until(at);
        sim.frame(&mut frame);
        for class in 0..frame.classes.len() {
            let new = frame.stages[0].classes[class].started - before.stages[0].classes[class].started;
            starts.extend((0..new).map(|_| (at.as_nanos(), class)));
        }
        std::mem::swap(&mut before, &mut frame);
    }
    starts
}

/// D/D/1: arrivals every 100 ms from 0, service 150 ms, 10 requests: waits 0, 50, ..., 450 ms.
#[test]
fn one_server_that_is_half_as_fast_as_its_clients() {
    let scenario = scenario(
        r#"{"tidegate":1,"run":{"horizon_us":2000000,"mode":"transient"},
            "classes":[{"name":"all","load":{"kind":"deterministic","rate_per_s":10,"count":10}}],
            "stages":[{"name":"serve","workers":1,
                       "work":{"at":"stage","service":{"law":"constant","mean_us":150000}}}]}"#,
    );
    let want: Vec<(u64, usize)> = (0..10).map(|n| (n * 150 * MS, 0)).collect();
    assert_eq!(starts(&scenario), want, "request n starts at 150 n ms: it has waited 50 n ms");
    let mut sim = Simulation::new(&scenario, 0, None).unwrap();
    sim.run_until(Instant::from_nanos(1_500 * MS - 1));
    let mut frame = Frame::default();
    sim.frame(&mut frame);
    assert_eq!(frame.classes[0].completed, 9, "the last one leaves at 1,500 ms and not before");
    let run = sim.finish();
    assert_eq!(run.classes[0].completed, 10);
    assert_eq!(run.classes[0].wait.sum(), u128::from((0..10).map(|n| n * 50 * MS).sum::<u64>()));
    assert_eq!(run.classes[0].wait.max(), Some(450 * MS));
    assert_eq!(run.classes[0].response.max(), Some(600 * MS));
}

/// Fluid overload: capacity 8/s, arrivals 12/s for 10 s, then 4/s: backlog 40 at 10 s, empty at 20 s.
#[test]
fn a_backlog_builds_and_drains_as_a_bath_does() {
    let scenario = scenario(
        r#"{"tidegate":1,"run":{"horizon_us":30000000,"mode":"transient"},
            "classes":[{"name":"all","load":{"kind":"deterministic","rate_per_s":12}}],
            "stages":[{"name":"serve","workers":8,
                       "work":{"at":"stage","service":{"law":"constant","mean_us":1000000}}}],
            "events":[{"at_us":10000000,"do":"load","factor":0.3333333333333333}]}"#,
    );
    let mut sim = Simulation::new(&scenario, 0, None).unwrap();
    let mut frame = Frame::default();
    let mut waiting_at = |second: u64| {
        sim.run_until(Instant::from_nanos(second * 1_000 * MS));
        sim.frame(&mut frame);
        frame.stages[0].waiting.iter().sum::<u32>()
    };
    let at_10 = waiting_at(10);
    assert!((32..=40).contains(&at_10), "backlog of 40 less the 8 in service, give or take: {at_10}");
    assert!(waiting_at(15) > 8, "half drained at 15 s");
    assert_eq!(waiting_at(21), 0, "empty at 20 s, give or take one service");
}

/// Slotted arrivals and services: at every whole 100 ms a job ends and one arrives. The end comes first, so
/// the arrival finds the worker free and never waits.
#[test]
fn an_end_and_an_arrival_at_the_same_instant_leave_no_wait() {
    let scenario = scenario(
        r#"{"tidegate":1,"run":{"horizon_us":10000000,"mode":"transient"},
            "classes":[{"name":"all","load":{"kind":"deterministic","rate_per_s":10}}],
            "stages":[{"name":"serve","workers":1,"queue":{"policy":"tail_drop","limit":0},
                       "work":{"at":"stage","service":{"law":"constant","mean_us":100000}}}]}"#,
    );
    let run = Simulation::new(&scenario, 0, None).unwrap().finish();
    assert_eq!(run.classes[0].shed, [0; 4], "nobody may wait, and nobody has to");
    assert_eq!(run.classes[0].arrived, 101);
    assert_eq!(run.classes[0].wait.max(), Some(0));
}

/// Two classes arrive together every 100 ms at a worker that takes 100 ms each: the urgent one always goes
/// first, under strict priority; first come (written first) goes first, under fifo.
#[test]
fn simultaneous_arrivals_are_ordered_by_priority_or_as_written() {
    let text = |order: &str| {
        format!(
            r#"{{"tidegate":1,"run":{{"horizon_us":1000000,"mode":"transient"}},
            "classes":[{{"name":"low","load":{{"kind":"deterministic","rate_per_s":5,"count":3}}}},
                       {{"name":"high","priority":1,"load":{{"kind":"deterministic","rate_per_s":5,"count":3}}}}],
            "stages":[{{"name":"serve","workers":1,"order":"{order}",
                       "work":{{"at":"stage","service":{{"law":"constant","mean_us":100000}}}}}}]}}"#
        )
    };
    // Both arrive at 0: the low class is written first and finds the worker idle. At 200 ms the worker ends
    // the high one of the round before, and again the low class, written first, finds it idle.
    let at = |ms: u64, class| (ms * MS, class);
    let each_round = [at(0, 0), at(100, 1), at(200, 0), at(300, 1), at(400, 0), at(500, 1)];
    assert_eq!(starts(&scenario(&text("strict_priority"))), each_round);
    assert_eq!(starts(&scenario(&text("fifo"))), each_round);
}

/// Strict priority against fifo when a backlog is there: a burst of five lows, then one high.
#[test]
fn an_urgent_job_overtakes_the_queue_but_not_the_work_begun() {
    let text = |order: &str| {
        format!(
            r#"{{"tidegate":1,"run":{{"horizon_us":2000000,"mode":"transient"}},
            "classes":[{{"name":"low","load":{{"kind":"closed","clients":5,"count":1}}}},
                       {{"name":"high","priority":1,"load":{{"kind":"closed","clients":1,"count":1,
                         "think":{{"law":"constant","mean_us":50000}}}}}}],
            "stages":[{{"name":"serve","workers":1,"order":"{order}",
                       "work":{{"at":"stage","service":{{"law":"constant","mean_us":100000}}}}}}]}}"#
        )
    };
    let at = |ms: u64, class| (ms * MS, class);
    assert_eq!(
        starts(&scenario(&text("strict_priority"))),
        [at(0, 0), at(100, 1), at(200, 0), at(300, 0), at(400, 0), at(500, 0)]
    );
    assert_eq!(
        starts(&scenario(&text("fifo"))),
        [at(0, 0), at(100, 0), at(200, 0), at(300, 0), at(400, 0), at(500, 1)]
    );
}

/// Deadlines: 100 ms of service, a request every 60 ms, answer wanted within 150 ms. A request that has
/// waited 150 ms is turned away and never reaches the worker.
#[test]
fn a_request_whose_deadline_passed_is_never_served() {
    let scenario = scenario(
        r#"{"tidegate":1,"run":{"horizon_us":1200000,"mode":"transient"},
            "classes":[{"name":"all","deadline_us":150000,
                        "load":{"kind":"closed","clients":6,"count":1}}],
            "stages":[{"name":"serve","workers":1,
                       "work":{"at":"stage","service":{"law":"constant","mean_us":100000}}}]}"#,
    );
    assert_eq!(starts(&scenario), [(0, 0), (100 * MS, 0)], "the third would start at 200 ms");
    let mut sim = Simulation::new(&scenario, 0, None).unwrap();
    sim.run_until(Instant::from_nanos(150 * MS));
    let mut frame = Frame::default();
    sim.frame(&mut frame);
    assert_eq!(frame.classes[0].shed[Cause::Deadline as usize], 4, "all four at 150 ms, at once");
    assert_eq!(frame.stages[0].waiting.iter().sum::<u32>(), 0);
    let run = sim.finish();
    assert_eq!((run.classes[0].completed, run.classes[0].good), (2, 1), "the second answer came at 200 ms");
}

/// A server fails with work in flight; its requests fail, the rest go on, and it comes back.
#[test]
fn a_server_that_goes_down_fails_what_it_has_and_gets_nothing_more() {
    let scenario = scenario(
        r#"{"tidegate":1,"run":{"horizon_us":1000000,"mode":"transient"},
            "classes":[{"name":"all","load":{"kind":"deterministic","rate_per_s":20},
                        "service":{"law":"constant","mean_us":80000}}],
            "stages":[{"name":"serve","workers":2,"work":{"at":"servers"}}],
            "servers":[{"name":"a"},{"name":"b"}],
            "events":[{"at_us":410000,"do":"server_down","server":"a"},
                      {"at_us":610000,"do":"server_up","server":"a"}]}"#,
    );
    let run = Simulation::new(&scenario, 0, None).unwrap().finish();
    assert_eq!(run.classes[0].failed, 1, "the one request that `a` was working on");
    assert_eq!(run.servers[0].failed, 1);
    assert!(run.servers[0].completed < run.servers[1].completed, "`a` was away for a fifth of the run");
    let mut sim = Simulation::new(&scenario, 0, None).unwrap();
    let mut frame = Frame::default();
    sim.run_until(Instant::from_nanos(420 * MS));
    sim.frame(&mut frame);
    let picked = frame.servers[0].picked;
    assert!(!frame.servers[0].up && frame.servers[1].up);
    sim.run_until(Instant::from_nanos(605 * MS));
    sim.frame(&mut frame);
    assert_eq!(frame.servers[0].picked, picked, "nothing was sent to a server that is down");
}

/// Two stages: what the second turns away cost the first its work.
#[test]
fn a_full_second_stage_sheds_work_already_paid_for() {
    let scenario = scenario(
        r#"{"tidegate":1,"run":{"horizon_us":10000000,"mode":"transient"},
            "classes":[{"name":"all","load":{"kind":"deterministic","rate_per_s":20}}],
            "stages":[{"name":"receive","workers":1,
                       "work":{"at":"stage","service":{"law":"constant","mean_us":10000}}},
                      {"name":"serve","workers":1,"queue":{"policy":"tail_drop","limit":2},
                       "work":{"at":"stage","service":{"law":"constant","mean_us":100000}}}]}"#,
    );
    let run = Simulation::new(&scenario, 0, None).unwrap().finish();
    assert_eq!(run.stages[0].shed, [0]);
    assert_eq!(run.stages[1].shed[0], run.classes[0].shed[Cause::Full as usize]);
    assert!(run.stages[1].shed[0] > 90, "half of 200 are too many: {}", run.stages[1].shed[0]);
    assert!((run.stages[1].utilisation - 1.0).abs() < 0.01);
}

/// Work that begins after the event is longer, at a stage and at a server; what was begun before is not, and the other class
/// is left alone.
#[test]
fn a_class_asks_for_more_work_from_an_event_on() {
    let scenario = scenario(
        r#"{"tidegate":1,"run":{"horizon_us":1000000,"mode":"transient"},
            "classes":[{"name":"a","load":{"kind":"deterministic","rate_per_s":5},
                        "service":{"law":"constant","mean_us":80000}},
                       {"name":"b","load":{"kind":"deterministic","rate_per_s":5},
                        "service":{"law":"constant","mean_us":40000}}],
            "stages":[{"name":"receive","workers":2,
                       "work":{"at":"stage","service":{"law":"constant","mean_us":10000}}},
                      {"name":"serve","workers":2,"work":{"at":"servers"}}],
            "servers":[{"name":"x","slots":2}],
            "events":[{"at_us":450000,"do":"service","class":"a","factor":2},
                      {"at_us":700000,"do":"service","factor":1}]}"#,
    );
    let run = Simulation::new(&scenario, 0, None).unwrap().finish();
    let [a, b] = [&run.classes[0].response, &run.classes[1].response];
    // Asked at 0, 200 and 400 ms: 90 ms. At 600 ms: twice 10 and twice 80 ms, as the second event comes when it is at the
    // server already. At 800 ms: 90 ms.
    assert_eq!(a.sum(), u128::from((4 * 90 + 180) * MS), "responses of a");
    assert_eq!((a.min(), a.max()), (Some(90 * MS), Some(180 * MS)));
    assert_eq!(b.sum(), u128::from(5 * 50 * MS), "b was not meant, and then restored to what it was");
}
