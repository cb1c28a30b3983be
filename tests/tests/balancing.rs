//! Balancing in whole runs: what is demanded of `dnf`, what herds, and Paper B's table.
//!
//! The rows are in `tidegate_tests::balancing::acceptance`; `cargo xtask bench balancing` prints all of them with more seeds.

use serde_json::{Value, json};
use tidegate_core::frame::{Frame, ServerFrame};
use tidegate_core::sim::Simulation;
use tidegate_core::time::{Duration, Instant};
use tidegate_tests::balancing::acceptance::{
    Row, disturbed, herding, named, sessions, static_by_kind, steady,
};
use tidegate_tests::balancing::red5::{self, USERS};
use tidegate_tests::balancing::under;

const SEEDS: u32 = 3;

#[track_caller]
fn check(rows: &[Row]) {
    let missed: Vec<String> = rows.iter().filter(|row| !row.is_met()).map(Row::line).collect();
    assert!(missed.is_empty(), "not met:\n{}", missed.join("\n"));
}

#[test]
fn where_nothing_goes_wrong_feedback_costs_nothing() {
    check(&steady(SEEDS));
}

#[test]
fn a_server_that_others_use_gets_less_before_anybody_waits() {
    check(&disturbed(SEEDS));
}

#[test]
fn each_kind_of_work_goes_where_there_is_room_for_it() {
    check(&sessions(SEEDS));
}

#[test]
fn thirds_by_rank_herd_and_the_recommended_rule_does_not() {
    let row = herding(SEEDS);
    check(core::slice::from_ref(&row));
    assert!(row.most * 20.0 >= 400.0, "the herd is to be seen: {}", row.line());
}

/// Paper B, 2.4: which line, for so many users.
fn line(of: &str, users: u32) -> f64 {
    let (_, balancer, equal) = red5::balancers().into_iter().find(|(name, ..)| *name == of).expect("a line");
    red5::mean_ms(users, &balancer, equal, 4)
}

#[test]
fn with_few_users_all_balancers_are_alike() {
    for users in [50, 100] {
        let all: Vec<(&str, f64)> = red5::balancers()
            .into_iter()
            .filter(|(name, ..)| !name.contains("rank"))
            .map(|(name, balancer, equal)| (name, red5::mean_ms(users, &balancer, equal, 4)))
            .collect();
        let (least, most) = all.iter().fold((f64::MAX, 0.0), |(lo, hi), (_, ms)| (ms.min(lo), ms.max(hi)));
        assert!(most <= 1.15 * least, "{users} users: {all:?}");
    }
}

#[test]
fn with_many_users_published_feedback_beats_counting_connections() {
    for users in [400, 450] {
        let (dnf, unit) = (line("dnf_published", users), line("wlc, all weights 1", users));
        let correct = line("wlc, weights 100 and 60", users);
        assert!(dnf <= 0.6 * unit, "{users} users: {dnf:.0} ms, wlc with equal weights {unit:.0} ms");
        assert!(dnf < correct, "{users} users: {dnf:.0} ms, wlc with correct weights {correct:.0} ms");
    }
}

#[test]
fn thirds_by_rank_herd_with_sessions_too() {
    for users in [200, 300] {
        let (rank, width) = (line("dnf_published, rank", users), line("dnf_published", users));
        assert!(rank >= 1.25 * width, "{users} users: by rank {rank:.0} ms, by width {width:.0} ms");
    }
}

#[test]
fn the_recommended_rule_never_loses_to_correct_weights_by_more_than_a_tenth() {
    for users in USERS {
        let ours = red5::mean_ms(users, &named("dnf"), false, 4);
        let correct = line("wlc, weights 100 and 60", users);
        assert!(
            ours <= 1.1 * correct,
            "{users} users: {ours:.0} ms, wlc with correct weights {correct:.0} ms"
        );
    }
}

/// One look at the servers of a run.
type Look = Vec<ServerFrame>;

/// Clients who wait for one answer each and ask again after `think_us`, at servers of these speeds and weights, under a
/// balancer; a look every 0.13 s, which keeps no step with anything here.
fn looks(clients: u32, think_us: u32, work_us: u32, servers: &[(f64, f64)], balancer: &Value) -> Vec<Look> {
    let servers: Vec<Value> = (servers.iter().enumerate())
        .map(|(n, (speed, weight))| {
            json!({ "name": format!("s{n}"), "slots": 20, "speed": speed, "weight": weight })
        })
        .collect();
    let scenario = json!({
        "tidegate": 1,
        "run": { "horizon_us": 60_000_000 },
        "classes": [{
            "name": "all",
            "load": { "kind": "closed", "clients": clients, "think": { "law": "constant", "mean_us": think_us } },
            "service": { "law": "constant", "mean_us": work_us },
        }],
        "stages": [{ "name": "serve", "workers": 64, "work": { "at": "servers" } }],
        "servers": servers,
        "feedback": { "period_us": 1_000_000 },
    });
    let mut sim = Simulation::new(&under(&scenario, balancer), 0, None).expect("no trace is replayed");
    let mut frame = Frame::default();
    let mut looks = Vec::new();
    let mut at = Instant::START;
    while at < sim.horizon() {
        at += Duration::from_millis(130);
        sim.run_until(at);
        sim.frame(&mut frame);
        looks.push(frame.servers.clone());
    }
    looks
}

/// Requests that each server got between the first look and the last, for each that the first server got.
fn picks(looks: &[Look]) -> Vec<f64> {
    let (first, last) = (&looks[0], &looks[looks.len() - 1]);
    let picked: Vec<f64> = first.iter().zip(last).map(|(a, b)| (b.picked - a.picked) as f64).collect();
    picked.iter().map(|picks| picks / picked[0]).collect()
}

fn mean(looks: &[Look], what: impl Fn(&ServerFrame) -> f64, server: usize) -> f64 {
    looks.iter().map(|look| what(&look[server])).sum::<f64>() / looks.len() as f64
}

fn in_flight(server: &ServerFrame) -> f64 {
    server.in_flight.iter().sum::<u32>().into()
}

#[track_caller]
fn within(what: &str, got: f64, want: f64, part: f64) {
    assert!((got - want).abs() <= part * want, "{what} is {got:.4}, want {want:.4} within {part} of it");
}

/// Case 34: 200 ms at one, 100 ms at the other.
const UNLIKE: [(f64, f64); 2] = [(1.0, 1.0), (2.0, 1.0)];

#[test]
fn case_34_fewest_connections_are_equal_numbers_and_so_unequal_rates() {
    let looks = looks(20, 0, 200_000, &UNLIKE, &named("least_connections"));
    let steady = &looks[100..];
    within("in flight at the slow one", mean(steady, in_flight, 0), 10.0, 0.02);
    within("in flight at the fast one", mean(steady, in_flight, 1), 10.0, 0.02);
    within("requests for each of the slow one's", picks(steady)[1], 2.0, 0.02);
}

#[test]
fn case_34_in_turn_the_slow_one_holds_two_thirds() {
    let looks = looks(20, 0, 200_000, &UNLIKE, &named("round_robin"));
    let steady = &looks[100..];
    within("in flight at the slow one", mean(steady, in_flight, 0), 20.0 * 2.0 / 3.0, 0.03);
    within("requests for each of the slow one's", picks(steady)[1], 1.0, 0.02);
}

/// Weights in any proportion to begin with: 20 periods later, rates are as speeds, and weights rest.
#[test]
fn case_34_feedback_finds_the_rates_and_rests() {
    for weights in [[1.0, 1.0], [3.0, 1.0], [1.0, 3.0]] {
        let servers = [(1.0, weights[0]), (2.0, weights[1])];
        let looks = looks(20, 0, 200_000, &servers, &named("dnf"));
        let steady = &looks[20_000 / 130..];
        within(&format!("with {weights:?}, the split"), picks(steady)[1], 2.0, 0.1);
        for server in 0..2 {
            let weight = mean(steady, |server| server.weight, server);
            let variance = mean(steady, |server| (server.weight - weight).powi(2), server);
            let unrest = variance.sqrt() / weight;
            assert!(unrest < 0.1, "with {weights:?}, the weight of s{server} deviates by {unrest:.3}");
        }
        // It is feedback that did it.
        let fixed = looks_of_fixed(&servers);
        let split = picks(&fixed[20_000 / 130..])[1];
        assert!(
            weights[0] == weights[1] || !(1.5..2.5).contains(&split),
            "with {weights:?} fixed: {split:.2}"
        );
    }
}

fn looks_of_fixed(servers: &[(f64, f64)]) -> Vec<Look> {
    looks(20, 0, 200_000, servers, &static_by_kind())
}

#[test]
fn case_34_idle_servers_that_are_alike_get_alike() {
    for policy in [
        "round_robin",
        "weighted_round_robin",
        "least_connections",
        "weighted_least_connections",
        "join_shortest_queue",
        "random",
        "power_of_two",
        "peak_ewma",
        "least_time",
        "dnf_published",
        "dnf",
    ] {
        let looks = looks(1, 1_000, 1_000, &[(1.0, 1.0); 3], &named(policy));
        let picked: Vec<f64> = looks[looks.len() - 1].iter().map(|server| server.picked as f64).collect();
        let all: f64 = picked.iter().sum();
        assert!(all > 20_000.0, "{policy}: {all} requests say enough");
        for (server, picked) in picked.iter().enumerate() {
            within(&format!("{policy}: the part of s{server}"), picked / all, 1.0 / 3.0, 0.03);
        }
    }
}
