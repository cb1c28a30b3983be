//! Balancing on sockets: real servers of different speed behind the gateway, with clients who always wait for one answer.
//!
//! Case 34: fewest connections means equal numbers in flight, not equal rates; feedback finds the rates and rests there.
//! Service times are so long that timers and a busy machine matter little; what is asserted are counts and ratios.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::Value;
use tidegate_tests::wire::{Gateway, Origin};

/// Between two reports that move a weight, and between two samples.
const PERIOD: Duration = Duration::from_millis(250);
/// No single thing takes longer than this in any test.
const LONGEST: Duration = Duration::from_secs(20);
/// A fifth of a second, divided by the speed; not to the millisecond, or all would ask at the same moments and a count
/// would depend on where in a round it begins and ends.
const WORK: [&str; 4] = ["--service", "uniform:150ms..250ms", "--slots", "16"];

fn at_speed(speed: &'static str) -> Vec<&'static str> {
    [&WORK[..], &["--speed", speed]].concat()
}

/// Clients who ask, wait for the answer and ask again, each on a connection of its own.
struct Clients {
    stop: Arc<AtomicBool>,
    threads: Vec<JoinHandle<Vec<String>>>,
}

impl Clients {
    fn start(gateway: &Gateway, clients: usize) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let one = |_| {
            let (mut client, stop) = (gateway.connect(), Arc::clone(&stop));
            thread::spawn(move || {
                let mut wrong = Vec::new();
                while !stop.load(Ordering::Relaxed) {
                    client.get("/");
                    let response = client.response();
                    if response.status != 200 {
                        wrong.push(response.head);
                    }
                }
                wrong
            })
        };
        let threads = (0..clients).map(one).collect();
        Self { stop, threads }
    }

    /// Lets them have their last answers, and tells which of all were no good.
    fn end(self) -> Vec<String> {
        self.stop.store(true, Ordering::Relaxed);
        self.threads.into_iter().flat_map(|client| client.join().expect("a client was answered")).collect()
    }
}

/// One look at the two servers.
#[derive(Clone, Copy, Debug)]
struct Look {
    picked: f64,
    in_flight: f64,
    weight: f64,
    warm: f64,
    up: bool,
}

fn look(gateway: &Gateway) -> [Look; 2] {
    let state: Value = serde_json::from_str(&gateway.admin("/state").text()).expect("JSON");
    [0, 1].map(|at| {
        let server = &state["frame"]["servers"][at];
        let in_flight = server["in_flight"].as_array().expect("a number for each class");
        Look {
            picked: server["picked"].as_f64().expect("a count"),
            in_flight: in_flight.iter().filter_map(Value::as_f64).sum(),
            weight: server["weight"].as_f64().expect("a weight"),
            warm: server["warm"].as_f64().expect("a part"),
            up: server["up"] == true,
        }
    })
}

/// A slow server and one of twice its speed, from what was seen of them.
#[derive(Debug)]
struct Seen {
    looks: Vec<[Look; 2]>,
}

impl Seen {
    fn series(&self, server: usize, what: impl Fn(&Look) -> f64) -> Vec<f64> {
        self.looks.iter().map(|look| what(&look[server])).collect()
    }

    /// Requests that the fast server got for each that the slow one got.
    fn split(&self) -> f64 {
        let [slow, fast] = [0, 1].map(|server| {
            let picked = self.series(server, |look| look.picked);
            picked[picked.len() - 1] - picked[0]
        });
        fast / slow
    }

    /// The slow server's part of what is in flight, on average.
    fn held_by_slow(&self) -> f64 {
        let [slow, fast] =
            [0, 1].map(|server| self.series(server, |look| look.in_flight).iter().sum::<f64>());
        slow / (slow + fast)
    }

    /// Standard deviation of a server's weight over its mean.
    fn unrest(&self, server: usize) -> f64 {
        let weights = self.series(server, |look| look.weight);
        let n = weights.len() as f64;
        let mean = weights.iter().sum::<f64>() / n;
        let variance = weights.iter().map(|weight| (weight - mean).powi(2)).sum::<f64>() / n;
        variance.sqrt() / mean
    }
}

/// Runs a balancer in front of servers of speed 1 and 2 that have these weights: so many periods to settle, so many more
/// that count.
fn run(balancer: &str, weights: [f64; 2], clients: usize, (settle, count): (u32, u32)) -> Seen {
    let (slow, fast) = (Origin::start(&at_speed("1")), Origin::start(&at_speed("2")));
    let scenario = format!(
        r#"{{"tidegate":1,"classes":[{{"name":"all"}}],
        "stages":[{{"name":"serve","workers":64,"work":{{"at":"servers"}}}}],
        "servers":[{{"name":"slow","weight":{}}},{{"name":"fast","weight":{}}}],
        "balancer":{balancer},"feedback":{{"period_us":{}}}}}"#,
        weights[0],
        weights[1],
        PERIOD.as_micros()
    );
    let gateway = Gateway::start(&scenario, &[slow.address, fast.address]);
    let clients = Clients::start(&gateway, clients);
    thread::sleep(PERIOD * settle);
    let looks = (0..=count).map(|_| {
        let look = look(&gateway);
        thread::sleep(PERIOD);
        look
    });
    let seen = Seen { looks: looks.collect() };
    assert_eq!(clients.end(), [""; 0], "{balancer}: everybody is answered");
    gateway.metrics().assert_adds_up();
    seen
}

#[track_caller]
fn check(what: &str, got: f64, range: std::ops::RangeInclusive<f64>) {
    assert!(range.contains(&got), "{what} is {got:.3}, which is not within {range:?}");
}

/// What is demanded of feedback, from weights in any proportion: within twenty periods the fast server has twice the
/// requests, and in the next twenty weights rest.
#[track_caller]
fn feedback_settles(weights: [f64; 2]) {
    let seen = run(r#"{"policy":"dnf"}"#, weights, 28, (20, 20));
    check("requests of the fast server for each of the slow one's", seen.split(), 1.8..=2.2);
    for server in 0..2 {
        check("deviation of a weight over its mean", seen.unrest(server), 0.0..=0.1);
    }
}

#[test]
fn case_34_feedback_keeps_weights_that_are_right() {
    feedback_settles([1.0, 1.0]);
}

/// By these weights alone the slow server would have two thirds of what is in flight, and both would get alike.
#[test]
fn case_34_feedback_finds_the_rates_from_weights_that_are_wrong() {
    feedback_settles([2.0, 1.0]);
}

#[test]
fn case_34_fewest_connections_are_equal_numbers_and_in_turn_the_slow_one_holds_two_thirds() {
    let fewest = run(r#"{"policy":"least_connections"}"#, [1.0, 1.0], 20, (4, 16));
    check("fewest connections: the slow one's part of what is in flight", fewest.held_by_slow(), 0.47..=0.53);
    // A busy machine adds the same to both service times.
    check("fewest connections: requests of the fast one", fewest.split(), 1.7..=2.2);
    let in_turn = run(r#"{"policy":"round_robin"}"#, [1.0, 1.0], 20, (4, 12));
    check("in turn: the slow one's part of what is in flight", in_turn.held_by_slow(), 0.61..=0.72);
    check("in turn: requests of the fast one", in_turn.split(), 0.95..=1.05);
}

/// Clients never notice; the dead server gets nothing once it is known to be dead, and then its share over three seconds.
#[test]
fn a_server_killed_among_many_requests_costs_none_and_comes_back_slowly() {
    const FAST: [&str; 4] = ["--service", "const:20ms", "--slots", "16"];
    let (stays, dies) = (Origin::start(&FAST), Origin::start(&FAST));
    let scenario = r#"{"tidegate":1,"classes":[{"name":"all"}],
        "stages":[{"name":"serve","workers":64,"work":{"at":"servers"}}],
        "servers":[{"name":"stays"},{"name":"dies"}],"balancer":{"policy":"round_robin"},
        "feedback":{"slow_start_us":3000000}}"#;
    let gateway = Gateway::start(scenario, &[stays.address, dies.address]);
    let clients = Clients::start(&gateway, 6);
    let all = |looks: &[Look; 2]| looks[0].picked + looks[1].picked;
    let await_look = |what: &str, is: &dyn Fn(&[Look; 2]) -> bool| {
        let begun = Instant::now();
        loop {
            let looks = look(&gateway);
            if is(&looks) {
                return looks;
            }
            assert!(begun.elapsed() < LONGEST, "never: {what}; {looks:?}");
            thread::sleep(Duration::from_millis(10));
        }
    };
    await_look("both are used", &|looks| looks.iter().all(|one| one.picked > 20.0));

    let address = dies.address;
    drop(dies);
    let found_out = await_look("it is found out", &|looks| !looks[1].up);
    let later = await_look("others go on", &|looks| all(looks) > all(&found_out) + 100.0);
    assert_eq!(later[1].picked, found_out[1].picked, "it gets nothing since");
    assert!(!later[1].up, "nobody brought it back");

    let _back = Origin::start_at(address, &FAST);
    let back = await_look("it is brought back", &|looks| looks[1].up);
    let mut steps = vec![(back, 0.0)];
    // By what the gateway says of its warmth, not by the clock.
    for warm in [0.4, 0.7, 1.0] {
        let is_warm = |looks: &[Look; 2]| looks[1].warm >= warm;
        steps.push((await_look("it warms up", &is_warm), warm));
    }
    let full = steps[3].0;
    steps.push((await_look("a third more", &|looks| all(looks) > all(&full) + 200.0), 1.0));
    let shares: Vec<f64> = steps
        .windows(2)
        .map(|pair| (pair[1].0[1].picked - pair[0].0[1].picked) / (all(&pair[1].0) - all(&pair[0].0)))
        .collect();
    check("its part of the requests in the first third", shares[0], 0.03..=0.3);
    assert!(shares[0] < shares[1] && shares[1] < shares[3], "it grows: {shares:?}");
    check("its part in the last third", shares[2], 0.38..=0.52);
    check("its part when it is warm", shares[3], 0.47..=0.53);
    assert_eq!(clients.end(), [""; 0], "no client sees that a server died");
    gateway.metrics().assert_adds_up();
}
