//! Balancers and server disciplines against their closed forms (oracle table 6.8, and processor sharing).
//!
//! Everything here queues inside the servers, so the response time is what the formulas are about. Work has a mean of 1 ms,
//! which is the unit of all times.

use tidegate_core::report::Report;
use tidegate_core::scenario::Scenario;
use tidegate_core::sim::RunResult;
use tidegate_tests::oracle::{check, runs};
use tidegate_tests::scenario;

/// Poisson arrivals at `servers` servers of one slot, each of which would get `lambda` for each mean service time, from
/// `requests` requests.
fn dealt(balancer: &str, servers: u32, lambda: f64, requests: f64, law: &str, server: &str) -> Scenario {
    let rate = lambda * f64::from(servers) * 1_000.0;
    let horizon_us = (requests / rate * 1e6) as u64;
    let names: Vec<String> = (0..servers).map(|n| format!(r#"{{"name":"s{n}"{server}}}"#)).collect();
    scenario(&format!(
        r#"{{"tidegate":1,"run":{{"horizon_us":{horizon_us}}},
            "classes":[{{"name":"all","load":{{"kind":"poisson","rate_per_s":{rate}}},"service":{law}}}],
            "stages":[{{"name":"serve","workers":100000,"work":{{"at":"servers"}}}}],
            "balancer":{balancer},"servers":[{}]}}"#,
        names.join(",")
    ))
}

const EXPONENTIAL: &str = r#"{"law":"exponential","mean_us":1000}"#;

/// The usual: exponential work, a line at each server.
fn lines(balancer: &str, servers: u32, lambda: f64, requests: f64) -> Scenario {
    dealt(balancer, servers, lambda, requests, EXPONENTIAL, "")
}

/// Mean response in mean service times.
fn response(run: &RunResult) -> f64 {
    run.classes[0].response.mean_s().unwrap() * 1e3
}

/// The closed form that is shown beside the figure is the one that was checked.
#[track_caller]
fn shown(scenario: &Scenario, runs: &[RunResult], model: &str, want: f64) {
    let report = Report::of(scenario, &runs[..1]);
    let theory =
        report.theory.as_ref().unwrap_or_else(|why| panic!("{model}: no closed form is shown: {why}"));
    assert!(theory.model.starts_with(model), "shown is {}, want {model}", theory.model);
    let got = report.classes[0].response_s.theory.unwrap() * 1e3;
    assert!((got - want).abs() < 1e-6 * want, "{model}: shown is {got}, want {want}");
}

#[test]
fn round_robin_makes_arrivals_regular() {
    for (k, lambda, wait, tight) in [
        (2, 0.8, 2.843_979_767, 0.04),
        (4, 0.8, 2.267_383_61, 0.04),
        (8, 0.8, 1.979_728_891, 0.04),
        (4, 0.9, 5.383_049_518, 0.08),
    ] {
        let scenario = lines(r#"{"policy":"round_robin"}"#, k, lambda, 200e3);
        let (runs, want) = (runs(&scenario), wait + 1.0);
        check(&format!("E{k}/M/1 at {lambda}"), &runs, response, want, tight);
        shown(&scenario, &runs, &format!("E{k}/M/1"), want);
    }
}

#[test]
fn a_random_server_is_a_queue_of_its_own() {
    for (servers, lambda) in [(2, 0.5), (4, 0.8)] {
        let scenario = lines(r#"{"policy":"random"}"#, servers, lambda, 200e3);
        let (runs, want) = (runs(&scenario), 1.0 / (1.0 - lambda));
        check(&format!("M/M/1 at {lambda}"), &runs, response, want, 0.05);
        shown(&scenario, &runs, "M/M/1", want);
    }
}

/// Two servers and the shorter queue: a numeric chain; between a random server and one line for both.
#[test]
fn the_shorter_of_two_queues() {
    for (lambda, want, random, central, tight) in [
        (1.0, 1.426_321, 2.0, 1.333_333, 0.02),
        (1.6, 2.955_737, 5.0, 2.777_778, 0.04),
        (1.8, 5.474_909, 10.0, 5.263_158, 0.08),
    ] {
        let runs = runs(&lines(r#"{"policy":"join_shortest_queue"}"#, 2, lambda / 2.0, 200e3));
        check(&format!("the shorter of two at {lambda}"), &runs, response, want, tight);
        let mean = runs.iter().map(response).sum::<f64>() / runs.len() as f64;
        assert!(central < mean && mean < random, "{mean} at {lambda}: between {central} and {random}");
    }
}

/// Mitzenmacher 2001: the emptiest of two or three out of infinitely many.
///
/// With n servers the mean exceeds that by about c / n, so it is extrapolated from 32 and 64 servers: 2 E(64) - E(32).
#[test]
fn the_emptiest_of_a_few() {
    for (choices, lambda, want, requests, tight) in [
        (2, 0.5, 1.265_69, 60e3, 0.02),
        (2, 0.7, 1.614_45, 60e3, 0.02),
        (2, 0.8, 1.947_36, 60e3, 0.03),
        (2, 0.9, 2.614_06, 120e3, 0.04),
        (3, 0.7, 1.356_84, 60e3, 0.02),
        (3, 0.9, 2.027_86, 120e3, 0.04),
    ] {
        let balancer = format!(r#"{{"policy":"power_of_two","choices":{choices}}}"#);
        let half = runs(&lines(&balancer, 32, lambda, requests));
        let full = runs(&lines(&balancer, 64, lambda, 2.0 * requests));
        let limit = |run: &RunResult| 2.0 * response(run) - response(&half[run.replication as usize]);
        check(&format!("the emptiest of {choices} at {lambda}"), &full, limit, want, tight);
        let mean = |runs: &[RunResult]| runs.iter().map(response).sum::<f64>() / runs.len() as f64;
        assert!(mean(&half) > mean(&full), "more servers are better: {choices} choices at {lambda}");
    }
}

/// M/M/1-PS has the mean of M/M/1 (3 against 5 and 4 against 5 jobs a second: 0.5 s and 1 s), and M/G/1-PS has it too,
/// whatever the law: S / (1 - rho) (Kleinrock 1976, 4.4).
#[test]
fn shared_cores_answer_in_a_mean_time_that_no_law_changes() {
    const SHARING: &str = r#","discipline":"sharing""#;
    for (law, lambda, model, tight) in [
        (EXPONENTIAL, 0.6, "M/M/1-PS", 0.02),
        (EXPONENTIAL, 0.8, "M/M/1-PS", 0.04),
        (r#"{"law":"constant","mean_us":1000}"#, 0.8, "M/G/1-PS", 0.04),
        (r#"{"law":"hyperexponential","mean_us":1000,"cv":2}"#, 0.8, "M/G/1-PS", 0.06),
    ] {
        let scenario = dealt(r#"{"policy":"round_robin"}"#, 1, lambda, 200e3, law, SHARING);
        let (runs, want) = (runs(&scenario), 1.0 / (1.0 - lambda));
        check(&format!("{model} with {law} at {lambda}"), &runs, response, want, tight);
        shown(&scenario, &runs, model, want);
        // The utilisation law: lambda E[S] of the core is in use.
        check(
            &format!("{model} with {law}, utilisation"),
            &runs,
            |run| run.servers[0].utilisation,
            lambda,
            0.01,
        );
    }
}

/// Several shared cores are M/M/c as long as work is exponential: the number there changes alike.
#[test]
fn several_shared_cores_are_as_good_as_a_line() {
    // 7.2 jobs at 8 cores of a service time each: Erlang C.
    let scenario = dealt(
        r#"{"policy":"round_robin"}"#,
        1,
        7.2,
        250e3,
        EXPONENTIAL,
        r#","discipline":"sharing","slots":8"#,
    );
    let runs = runs(&scenario);
    check("M/M/8-PS at 7.2", &runs, response, 1.876_916_237_7, 0.04);
    shown(&scenario, &runs, "M/M/8-PS", 1.876_916_237_7);
    check("M/M/8-PS at 7.2, utilisation", &runs, |run| run.servers[0].utilisation, 0.9, 0.01);
}

/// Sessions stay as long as they stay: their number is that of M/G/infinity, and what they hold of the cores follows by
/// Little's law. What is left is shared by the rest.
#[test]
fn sessions_hold_what_little_says() {
    // 500 sessions a second of 20 ms each are 10 on average, which hold 0.05 of the one core each.
    let scenario = scenario(
        r#"{"tidegate":1,"run":{"horizon_us":30000000},"classes":[
            {"name":"stay","kind":"session","demand":{"cpu":0.05,"net":3},
             "load":{"kind":"poisson","rate_per_s":500},"service":{"law":"exponential","mean_us":20000}}],
            "stages":[{"name":"serve","workers":100000,"work":{"at":"servers"}}],
            "servers":[{"name":"s","discipline":"sharing","slots":4,"capacity":{"net":1000}}]}"#,
    );
    let runs = runs(&scenario);
    let net = |run: &RunResult| run.servers[0].net_needed / 27.0 / 3.0;
    check("sessions present", &runs, net, 10.0, 0.02);
    check("cores they hold", &runs, |run| run.servers[0].utilisation * 4.0, 0.5, 0.02);
    for run in &runs {
        let [class] = run.classes.as_slice() else { panic!("one class") };
        assert_eq!(class.arrived, class.completed + class.in_system, "nobody is lost");
        assert_eq!(run.servers[0].net_missed, 0.0, "there is enough for all");
    }
    assert_eq!(Report::of(&scenario, &runs[..1]).theory.err(), Some("sessions"), "no closed form is claimed");
}
