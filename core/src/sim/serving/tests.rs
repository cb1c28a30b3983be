//! Small runs whose every time can be worked out by hand.

use crate::frame::Frame;
use crate::id::ServerId;
use crate::scenario::{Parsed, parse_json};
use crate::sim::{RunResult, Simulation};
use crate::time::{Duration, Instant};
use alloc::format;
use alloc::string::String;

/// Ten seconds of `classes` at one server with these fields, under these events.
fn simulation(classes: &str, server: &str, rest: &str) -> Simulation {
    let text = format!(
        r#"{{"tidegate":1,"run":{{"mode":"transient","horizon_us":10000000}},"classes":[{classes}],
            "stages":[{{"name":"serve","workers":1000,"work":{{"at":"servers"}}}}],
            "servers":[{{"name":"x"{server}}}]{rest}}}"#
    );
    let scenario = parse_json(&text).and_then(Parsed::check);
    Simulation::new(&scenario.unwrap_or_else(|why| panic!("{why}\n{text}")), 0, None).unwrap()
}

fn run(classes: &str, server: &str, rest: &str) -> RunResult {
    simulation(classes, server, rest).finish()
}

/// So many short requests, one each `1 / rate` seconds from the start on, of 100 ms of work.
fn short(rate: u32, count: u32, more: &str) -> String {
    format!(
        r#"{{"name":"short","load":{{"kind":"deterministic","rate_per_s":{rate},"count":{count}}},
            "service":{{"law":"constant","mean_us":100000}}{more}}}"#
    )
}

/// The same for sessions, which stay a second and hold half a core and 3 units of bandwidth.
fn session(rate: u32, count: u32, more: &str) -> String {
    format!(
        r#"{{"name":"session","kind":"session","demand":{{"cpu":0.5,"net":3}},
            "load":{{"kind":"deterministic","rate_per_s":{rate},"count":{count}}},
            "service":{{"law":"constant","mean_us":1000000}}{more}}}"#
    )
}

const SHARING: &str = r#","discipline":"sharing""#;

/// Mean and longest response of the last class, in milliseconds.
#[track_caller]
fn check(run: &RunResult, want_mean_ms: f64, want_max_ms: f64) {
    let response = &run.classes.last().unwrap().response;
    let (mean, max) = (response.mean_s().unwrap() * 1e3, response.max().unwrap() as f64 / 1e6);
    assert!((mean - want_mean_ms).abs() < 1e-4, "mean response {mean} ms, want {want_mean_ms}");
    assert!((max - want_max_ms).abs() < 1e-4, "longest response {max} ms, want {want_max_ms}");
}

#[track_caller]
fn near(got: f64, want: f64, what: &str) {
    assert!((got - want).abs() < 1e-6, "{what}: {got}, want {want}");
}

#[test]
fn jobs_share_the_cores() {
    // The first has 50 ms left when the second comes, and takes 100 ms for them; the second has 50 ms left then.
    let two = run(&short(20, 2, ""), SHARING, "");
    check(&two, 150.0, 150.0);
    near(two.servers[0].utilisation, 0.02, "200 ms of 10 s");
    assert_eq!(two.servers[0].most_in_flight, 2);
    // With a core for each they do not meet; with a line they wait.
    check(&run(&short(20, 2, ""), r#","discipline":"sharing","slots":2"#, ""), 100.0, 100.0);
    check(&run(&short(20, 2, ""), "", ""), 125.0, 150.0);
    assert_eq!(run(&short(20, 4, ""), "", "").servers[0].most_in_flight, 3);
}

#[test]
fn a_neighbour_or_a_change_of_speed_slows_shared_work_at_once_and_other_work_from_its_beginning() {
    let neighbour = r#","events":[{"at_us":50000,"do":"neighbour","server":"x","share":0.5},
        {"at_us":1200000,"do":"neighbour","server":"x","share":0}]"#;
    // 50 ms done by 50, the rest at half of the pace.
    let shared = run(&short(20, 1, ""), SHARING, neighbour);
    check(&shared, 150.0, 150.0);
    near(shared.servers[0].utilisation, (0.05 + 0.1 * 0.5 + 1.15 * 0.5) / 10.0, "work and neighbour");
    // Begun before it came, while it is there, and after it has gone: 100, 200 and 100 ms.
    check(&run(&short(1, 3, ""), "", neighbour), 400.0 / 3.0, 200.0);
    let faster = r#","events":[{"at_us":50000,"do":"server_speed","server":"x","speed":2}]"#;
    check(&run(&short(1, 1, ""), SHARING, faster), 75.0, 75.0);
    check(&run(&short(1, 2, ""), "", faster), 75.0, 100.0);
    // Whatever the neighbour takes, a twentieth is left.
    let crowded = r#","events":[{"at_us":0,"do":"neighbour","server":"x","share":0.99}]"#;
    check(&run(&short(1, 1, ""), SHARING, crowded), 2_000.0, 2_000.0);
}

#[test]
fn sessions_hold_what_they_need_and_answer_by_the_fullest_resource() {
    // At 0 s: half of the core, three quarters of the network: 50 ms / (1 - 0.75). At 0.5 s: 6 of 4 units.
    let both = run(&session(2, 2, r#","deadline_us":300000"#), r#","capacity":{"net":4}"#, "");
    check(&both, f64::midpoint(200.0, 6_500.0), 6_500.0);
    let class = &both.classes[0];
    assert_eq!(
        (class.completed, class.good, class.measured_good),
        (2, 1, 1),
        "the first answer is what counts"
    );
    let server = &both.servers[0];
    near(server.net_needed, 6.0, "3 units for 1 s, twice");
    near(server.net_missed, 1.0, "2 units too many for half a second");
    near(server.utilisation, 0.1, "half a core for 1 s, twice");
    assert_eq!(server.most_in_flight, 2, "no session waits for a slot");
    // Work on a short request is use of the core like any other.
    let busy = format!("{},{}", short(1, 1, ""), session(20, 1, r#","answer_us":1000"#));
    check(&run(&busy, r#","slots":2,"discipline":"sharing""#, ""), 4.0, 4.0);
}

#[test]
fn sessions_slow_short_requests() {
    let both = format!("{},{}", session(1, 1, ""), short(1, 1, ""));
    for (discipline, mean_ms) in [(SHARING, 200.0), ("", 200.0)] {
        check(&run(&both, discipline, ""), mean_ms, mean_ms);
    }
}

#[test]
fn a_server_that_stops_fails_its_sessions_too() {
    let down = r#","events":[{"at_us":250000,"do":"server_down","server":"x"},
        {"at_us":2000000,"do":"server_up","server":"x"}]"#;
    for discipline in [SHARING, ""] {
        let both = format!("{},{}", session(1, 4, ""), short(5, 11, ""));
        let result = run(&both, discipline, down);
        let [sessions, shorts] = result.classes.as_slice() else { panic!("two classes") };
        assert_eq!((sessions.failed, sessions.completed), (1, 3), "the session of 1 s waits until 2 s");
        assert!(shorts.failed >= 1, "{} failed", shorts.failed);
        assert_eq!(shorts.failed + shorts.completed, 11, "all are over in the end");
        // 0.25 s until it stopped, then 2 to 3 s for two sessions and 3 to 4 s for one.
        let alone = run(&session(1, 4, ""), discipline, down);
        near(alone.servers[0].utilisation, 0.5 * (0.25 + 2.0 + 1.0) / 10.0, "core time of sessions");
    }
}

#[test]
fn the_use_of_cores_can_be_read_as_it_grows() {
    for discipline in [SHARING, ""] {
        let mut sim = simulation(&short(1, 9, ""), discipline, "");
        for s in 1..=5 {
            sim.run_until(Instant::START + Duration::from_secs(s));
            near(sim.server_busy_s(ServerId(0)), 0.1 * s as f64, "0.1 s each second");
        }
    }
}

/// The loads that the gateway was told of, second by second, and how old they are.
fn reported(rest: &str) -> alloc::vec::Vec<(f64, f64, f64)> {
    let both = format!("{},{}", session(1, 1, ""), short(4, 100, ""));
    let rest = format!(r#","feedback":{{"period_us":1000000}}{rest}"#);
    let mut sim = simulation(&both, r#","slots":2,"capacity":{"net":2}"#, &rest);
    let mut frame = Frame::default();
    (1..=5)
        .map(|s| {
            sim.run_until(Instant::START + Duration::from_secs(s));
            sim.frame(&mut frame);
            let [cpu, mem, net, ..] = frame.servers[0].loads;
            assert!(mem.is_nan(), "nothing is said of what has no capacity");
            (cpu, net, frame.servers[0].report_age_s)
        })
        .collect()
}

#[test]
fn servers_report_mean_use_of_cores_and_present_use_of_the_rest() {
    let seen = reported("");
    // In the first second the session holds half a core and work goes at 3/4 of the pace, so for 4/3 as long: 0.4 cores
    // of work in all. The session is over when the first report is made.
    near(seen[0].0, (0.5 + 0.4) / 2.0, "cores in use in the first second");
    near(seen[1].0, 0.4 / 2.0, "in the second");
    near(seen[0].1, 0.0, "network");
    assert!(seen.iter().all(|&(.., age)| age == 0.0), "each report is the newest: {seen:?}");
}

#[test]
fn reports_get_stuck_or_lost() {
    let event = |state: &str| {
        format!(
            r#","events":[{{"at_us":1500000,"do":"server_reports","server":"x","state":"{state}"}},
                {{"at_us":1600000,"do":"load","factor":0}},
                {{"at_us":3500000,"do":"server_reports","server":"x","state":"normal"}}]"#
        )
    };
    let stuck = reported(&event("stuck"));
    assert_eq!(stuck[1], stuck[0], "the report of 1 s once more");
    assert_eq!(stuck[2], stuck[0], "and once more, although the server is idle");
    near(stuck[3].0, 0.0, "normal again");
    let lost = reported(&event("lost"));
    assert_eq!((lost[1].2, lost[2].2, lost[3].2), (1.0, 2.0, 0.0), "ages of what is known: {lost:?}");
}

#[test]
fn only_scenarios_that_ask_for_reports_have_them() {
    let events = |rest: &str| run(&short(1, 3, ""), "", rest).events;
    let without = events("");
    assert_eq!(events(r#","feedback":{"period_us":3000000}"#), without + 3, "at 3, 6 and 9 s");
}
