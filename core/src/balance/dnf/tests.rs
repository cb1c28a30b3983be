//! `dnf` against the numbers of its specification, computed by hand.

use super::super::Balancer;
use super::super::tests::{answer, ask, made, pick_times, servers, spec, weighted, wire};
use super::*;
use crate::id::ClassId;
use crate::unit::Chance;
use alloc::vec;

const PERIOD: u64 = 10;

/// A `dnf` with further parameters, as they are written.
fn dnf(servers: &Servers, more: &str) -> Dnf {
    let wire = wire(&alloc::format!(r#""dnf"{more}"#));
    match made(&wire, servers, Seat(0)) {
        Balancer::Dnf(dnf) => dnf,
        other => panic!("asked for dnf, got {other:?}"),
    }
}

fn s(seconds: u64) -> Instant {
    Instant::START + Duration::from_secs(seconds)
}

/// A report of processors and network.
fn loads(cpu: f64, net: f64) -> LoadReport {
    LoadReport { loads: [Some(cpu), None, Some(net), None, None], ..LoadReport::default() }
}

/// Reports of all servers at once, `None` for one that is silent, and the tick that follows if it is due.
fn report(dnf: &mut Dnf, servers: &Servers, now: Instant, cpus: &[Option<f64>]) {
    for (at, cpu) in cpus.iter().enumerate() {
        if let Some(cpu) = cpu {
            dnf.report(now, servers, ServerId(at as u16), &loads(*cpu, 0.0));
        }
    }
    run(dnf, servers, now);
}

/// The ticks that are due by now.
fn run(dnf: &mut Dnf, servers: &Servers, now: Instant) {
    while dnf.next_at() <= now {
        let at = if dnf.next_at() == Instant::START { now } else { dnf.next_at() };
        dnf.tick(at, servers);
        assert!(dnf.next_at() > at, "a tick at {at} asks for another at once");
    }
}

fn weights(dnf: &Dnf, servers: &Servers, kind: KindV1) -> Vec<f64> {
    (0..servers.len())
        .map(|at| dnf.view(servers, ServerId(at as u16), Instant::START).weights[kind as usize])
        .collect()
}

fn check(got: &[f64], want: &[f64], what: &str) {
    let near = got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-4);
    assert!(near, "{what}: expected {want:?}, got {got:?}");
}

#[test]
fn a_report_moves_weights_by_the_cube_root_of_the_distance_from_the_mean() {
    let two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    report(&mut dnf, &two, s(10), &[Some(0.8), Some(0.4)]);
    // 0.2 cbrt(0.2) = 0.11696
    check(&weights(&dnf, &two, KindV1::Short), &[0.88304, 1.11696], "after the first report");
    check(&weights(&dnf, &two, KindV1::Session), &[1.0, 1.0], "sessions go by the network: no spread");
    report(&mut dnf, &two, s(20), &[Some(0.4), Some(0.4)]);
    // Smoothed 0.6 and 0.4: 0.2 cbrt(0.1) = 0.09283
    check(&weights(&dnf, &two, KindV1::Short), &[0.80107, 1.22065], "smoothed loads");
    report(&mut dnf, &two, s(30), &[Some(0.4), Some(0.55)]);
    check(&weights(&dnf, &two, KindV1::Short), &[0.80107, 1.22065], "0.5 and 0.475 are within the dead band");
}

#[test]
fn a_weight_moves_by_no_more_than_a_step_and_stays_within_its_bounds() {
    let two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, r#","gain":5,"min":0.5,"max":1.5,"smoothing":0"#);
    report(&mut dnf, &two, s(10), &[Some(1.0), Some(0.0)]);
    check(&weights(&dnf, &two, KindV1::Short), &[0.7, 1.3], "a step of 30 %");
    report(&mut dnf, &two, s(20), &[Some(1.0), Some(0.0)]);
    check(&weights(&dnf, &two, KindV1::Short), &[0.5, 1.5], "the bounds");
}

#[test]
fn all_reports_of_an_instant_are_seen_before_any_weight_moves() {
    let two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    dnf.report(s(10), &two, ServerId(0), &loads(0.8, 0.0));
    check(&weights(&dnf, &two, KindV1::Short), &[1.0, 1.0], "before the tick");
    assert_eq!(dnf.next_at(), s(10), "the first report is followed at once");
    dnf.report(s(10), &two, ServerId(1), &loads(0.4, 0.0));
    run(&mut dnf, &two, s(10));
    check(&weights(&dnf, &two, KindV1::Short), &[0.88304, 1.11696], "both seen");
    dnf.report(s(12), &two, ServerId(0), &loads(0.9, 0.0));
    assert_eq!(dnf.next_at(), s(20), "not more often than once a period");
    let before = weights(&dnf, &two, KindV1::Short);
    dnf.tick(s(15), &two);
    check(&weights(&dnf, &two, KindV1::Short), &before, "a tick between");
    assert_eq!(dnf.next_at(), s(20), "the report is not forgotten");
    run(&mut dnf, &two, s(20));
    let after = weights(&dnf, &two, KindV1::Short);
    assert!(after[0] < before[0], "the fresh report counts: {after:?}");
    assert_eq!(after[1], before[1], "the other has said nothing new");
}

#[test]
fn each_kind_has_its_own_loads_weights_and_counts() {
    let mut two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    dnf.report(s(10), &two, ServerId(0), &loads(0.8, 0.1));
    dnf.report(s(10), &two, ServerId(1), &loads(0.4, 0.9));
    run(&mut dnf, &two, s(10));
    check(&weights(&dnf, &two, KindV1::Short), &[0.88304, 1.11696], "by processors");
    // 0.2 cbrt(0.4) = 0.14736
    check(&weights(&dnf, &two, KindV1::Session), &[1.14736, 0.85264], "by the network");
    let view = dnf.view(&two, ServerId(1), s(10));
    assert_eq!(view.loads, [Some(0.4), Some(0.9)]);
    // Ten sessions at the server that short requests go to make no difference to them.
    for _ in 0..10 {
        two.sent(ServerId(1), ClassId(1));
        dnf.sent(&two, ServerId(1), KindV1::Session);
    }
    assert_eq!(dnf.pick(&two, &ask(0)), Some(ServerId(1)));
    let session = Ask { class: ClassId(1), kind: KindV1::Session, ..ask(0) };
    assert_eq!(dnf.pick(&two, &session), Some(ServerId(0)));
}

#[test]
fn the_loads_of_a_kind_depend_on_which_kinds_there_are() {
    use ResourceV1::{Cpu, Disk, Mem, Net, Rooms};
    let of = |kinds: Vec<KindV1>, more: &str| {
        let dnf = dnf(&Servers::of(&[spec(0, 9, 1.0)], kinds), more);
        dnf.work.map(|work| work.loads)
    };
    let both = vec![KindV1::Short, KindV1::Session];
    assert_eq!(of(both.clone(), ""), [vec![Cpu, Disk], vec![Net, Rooms, Mem]]);
    assert_eq!(of(vec![KindV1::Short], "")[0], ResourceV1::FIVE);
    assert_eq!(of(vec![KindV1::Session], "")[1], ResourceV1::FIVE);
    assert_eq!(of(both, r#","short":["mem"]"#), [vec![Mem], vec![Net, Rooms, Mem]]);
}

#[test]
fn what_a_report_does_not_say_changes_nothing() {
    let two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    dnf.report(s(10), &two, ServerId(0), &LoadReport::default());
    assert_eq!(dnf.next_at(), Instant::NEVER, "an empty report");
    let memory = LoadReport { loads: [None, Some(0.9), None, None, None], ..LoadReport::default() };
    dnf.report(s(10), &two, ServerId(0), &memory);
    dnf.report(s(10), &two, ServerId(1), &LoadReport { application: Some(0.2), ..LoadReport::default() });
    run(&mut dnf, &two, s(10));
    assert_eq!(dnf.view(&two, ServerId(0), s(10)).loads, [None, Some(0.9)], "memory is for sessions");
    assert_eq!(dnf.view(&two, ServerId(1), s(10)).loads, [Some(0.2), None], "its own view is for short ones");
}

#[test]
fn the_mean_is_that_of_servers_that_get_work_and_large_ones_count_more_for_short_requests() {
    let mut three = weighted(&[1.0, 3.0, 1.0]);
    let mut dnf = dnf(&three, r#","smoothing":0"#);
    three.set_bar(ServerId(2), bar::OVERLOADED, true);
    dnf.changed(&three, ServerId(2), false);
    report(&mut dnf, &three, s(10), &[Some(0.8), Some(0.4), Some(1.0)]);
    // The mean is (0.8 + 3 * 0.4) / 4 = 0.5: distances -0.3, 0.1 and -0.5.
    check(&weights(&dnf, &three, KindV1::Short), &[0.86612, 3.27850, 0.84126], "weights");
}

#[test]
fn a_server_that_gets_no_work_is_not_raised_for_being_idle() {
    let mut two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    two.set_bar(ServerId(1), bar::DRAINING, true);
    dnf.changed(&two, ServerId(1), false);
    for k in 1..20 {
        report(&mut dnf, &two, s(k * PERIOD), &[Some(0.8), Some(0.0)]);
    }
    check(&weights(&dnf, &two, KindV1::Short), &[1.0, 1.0], "the one alone is its own mean");
}

/// Paper B, 2.5, trap 6.
#[test]
fn a_stale_report_never_raises_a_weight() {
    let two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    report(&mut dnf, &two, s(10), &[Some(0.8), Some(0.2)]);
    let [low, high] = weights(&dnf, &two, KindV1::Short)[..] else { panic!("two servers") };
    run(&mut dnf, &two, s(49));
    check(&weights(&dnf, &two, KindV1::Short), &[low, high], "three periods are waited for, and one begun");
    run(&mut dnf, &two, s(50));
    check(&weights(&dnf, &two, KindV1::Short), &[low, 0.9 * high + 0.1], "a tenth of the way down");
    run(&mut dnf, &two, s(60));
    check(&weights(&dnf, &two, KindV1::Short), &[low, 0.81 * high + 0.19], "and again");
    run(&mut dnf, &two, s(100_000));
    check(&weights(&dnf, &two, KindV1::Short), &[low, 1.0], "down to neutral, the small one held");
    assert_eq!(dnf.next_at(), Instant::NEVER, "and nothing more to do");
}

#[test]
fn one_silent_server_among_others_is_no_part_of_the_mean() {
    let three = servers(3, u32::MAX);
    let mut dnf = dnf(&three, r#","smoothing":0"#);
    report(&mut dnf, &three, s(10), &[Some(0.5), Some(0.5), Some(0.5)]);
    let mut last = f64::INFINITY;
    for k in 2..30 {
        report(&mut dnf, &three, s(k * PERIOD), &[Some(0.9), Some(0.9), None]);
        let weights = weights(&dnf, &three, KindV1::Short);
        assert!(weights[2] <= last.min(1.0), "the silent one rises at {k}: {weights:?}");
        last = weights[2];
    }
    let before = weights(&dnf, &three, KindV1::Short);
    report(&mut dnf, &three, s(300), &[Some(0.9), Some(0.9), None]);
    check(&weights(&dnf, &three, KindV1::Short), &before, "0.9 is the mean of those that report");
}

#[test]
fn a_server_that_comes_back_or_is_new_begins_at_a_quarter() {
    let mut two = weighted(&[2.0, 2.0]);
    let mut dnf = dnf(&two, r#","smoothing":0"#);
    report(&mut dnf, &two, s(10), &[Some(0.5), Some(0.5)]);
    for (up, want) in [(false, 2.0), (true, 0.5)] {
        two.set_up(ServerId(1), up);
        dnf.changed(&two, ServerId(1), false);
        check(&weights(&dnf, &two, KindV1::Short), &[2.0, want], "down keeps, back begins");
    }
    assert_eq!(dnf.view(&two, ServerId(1), s(10)).loads, [None; 2], "nothing is known of it");
    report(&mut dnf, &two, s(20), &[Some(0.5), Some(0.1)]);
    assert!(weights(&dnf, &two, KindV1::Short)[1] > 0.55, "it grows with its first report");
    let third = two.add(&spec(2, u32::MAX, 1.0));
    dnf.changed(&two, third, true);
    assert_eq!(weights(&dnf, &two, KindV1::Short)[2], 0.25, "a new one");
    assert_eq!(dnf.view(&two, third, s(20)).loads, [None; 2]);
}

#[test]
fn a_server_that_comes_back_and_says_nothing_is_not_left_at_a_quarter_for_ever() {
    let mut two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    let flap = |dnf: &mut Dnf, two: &mut Servers| {
        for up in [false, true] {
            two.set_up(ServerId(1), up);
            dnf.changed(two, ServerId(1), false);
        }
    };
    flap(&mut dnf, &mut two);
    check(&weights(&dnf, &two, KindV1::Short), &[1.0, 1.0], "without reports there is nothing to grow by");
    report(&mut dnf, &two, s(10), &[Some(0.5), None]);
    flap(&mut dnf, &mut two);
    for k in 2..80 {
        report(&mut dnf, &two, s(k * PERIOD), &[Some(0.5), None]);
        let want = if k < 6 { 0.25 } else { 0.3 };
        let weight = weights(&dnf, &two, KindV1::Short)[1];
        assert!((k >= 6) == (weight > want), "period {k}: {weight}");
    }
    check(&weights(&dnf, &two, KindV1::Short), &[1.0, 1.0], "neutral in the end");
}

#[test]
fn overload_and_draining_leave_the_weight_as_it_is() {
    let mut two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    report(&mut dnf, &two, s(10), &[Some(0.8), Some(0.4)]);
    for bars in [bar::OVERLOADED, bar::DRAINING] {
        for on in [true, false] {
            two.set_bar(ServerId(0), bars, on);
            dnf.changed(&two, ServerId(0), false);
        }
    }
    check(&weights(&dnf, &two, KindV1::Short), &[0.88304, 1.11696], "its reports went on");
}

#[test]
fn weights_keep_in_proportion_to_the_configured_ones() {
    let mut two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    report(&mut dnf, &two, s(10), &[Some(0.8), Some(0.4)]);
    for (weight, want) in [(3.0, 3.35088), (0.0, 0.0), (1.0, 1.11696)] {
        two.set_weight(ServerId(1), weight);
        dnf.changed(&two, ServerId(1), false);
        check(&weights(&dnf, &two, KindV1::Short), &[0.88304, want], "configured weight changes");
    }
}

#[test]
fn equal_and_idle_servers_take_strict_turns() {
    for n in [1, 3, 10] {
        // A weight that is no sum of powers of two, so that sums of it are rounded.
        let mut all = weighted(&vec![0.1; n]);
        let mut dnf = dnf(&all, "");
        for k in 0..2000 {
            let at = dnf.pick(&all, &ask(k)).unwrap();
            assert_eq!(usize::from(at.0), k as usize % n, "pick {k} of {n} servers");
            all.sent(at, ClassId(0));
            dnf.sent(&all, at, KindV1::Short);
            answer(&mut dnf, &mut all, at.0, Duration::from_millis(1));
        }
    }
}

#[test]
fn gateways_at_other_seats_begin_with_other_servers() {
    for seat in 0..5 {
        let mut five = servers(5, u32::MAX);
        let mut dnf = made(&wire(r#""dnf""#), &five, Seat(seat));
        let picks = pick_times(&mut dnf, &mut five, 2);
        assert_eq!(picks, [seat as u16, (seat as u16 + 1) % 5], "seat {seat}");
    }
}

#[test]
fn jobs_in_flight_spread_in_proportion_to_weights() {
    let mut three = weighted(&[1.0, 2.0, 5.0]);
    let mut dnf = dnf(&three, "");
    pick_times(&mut dnf, &mut three, 80);
    let share: Vec<f64> = three.iter().map(|server| f64::from(server.in_flight) / server.weight).collect();
    assert!(share.iter().all(|share| (9.0..=11.0).contains(share)), "within a tenth of 10: {share:?}");
}

/// Whoever reads an explanation can work out the pick: the first in group 1 with the largest turn; and group 1 is all
/// whose key is at most 1.1 times the least.
#[test]
fn the_pick_is_the_one_that_the_explanation_implies() {
    let mut five = weighted(&[1.0, 1.5, 2.0, 0.3, 4.0]);
    let mut dnf = dnf(&five, "");
    let mut out = Vec::new();
    for k in 0..5000_u64 {
        let luck = |n: u32| Chance(k).draw(n).get();
        let session = luck(0) < 0.3;
        let class = ClassId(u8::from(session));
        let kind = if session { KindV1::Session } else { KindV1::Short };
        let except = (luck(1) < 0.2).then_some(ServerId((luck(2) * 5.0) as u16));
        let ask = Ask { class, kind, except, ..ask(k) };
        out.clear();
        dnf.explain(&five, &ask, &mut out);
        let least = out.iter().map(|c| c.key).fold(f64::INFINITY, f64::min);
        let mut want: Option<Candidate> = None;
        for candidate in &out {
            assert_eq!(
                candidate.group == 1,
                candidate.key <= least * 1.1,
                "ask {k}: {candidate:?} of {out:?}"
            );
            if candidate.group == 1 && want.is_none_or(|best| candidate.turn > best.turn) {
                want = Some(*candidate);
            }
        }
        let got = dnf.pick(&five, &ask);
        assert_eq!(got, want.map(|candidate| candidate.server), "ask {k}: {out:?}");
        if let Some(server) = got {
            five.sent(server, class);
            dnf.sent(&five, server, kind);
        }
        let server = ServerId((luck(3) * 5.0) as u16);
        let free = five.in_flight_by_class(server)[usize::from(class.0)] > 0;
        if free && luck(4) < 0.98 {
            five.left(server, class, Left::Answered);
            dnf.left(ask.now, &five, server, kind, Left::Answered, Duration::from_millis(1));
        }
        if k % 50 == 0 {
            let now = s(10 * (1 + k / 50));
            let cpus: Vec<_> = (5..10).map(|n| (luck(n) < 0.9).then(|| luck(n + 5))).collect();
            report(&mut dnf, &five, now, &cpus);
        }
    }
}

#[test]
fn the_group_shown_is_the_one_that_takes_turns() {
    let mut three = servers(3, 1);
    let mut dnf = dnf(&three, "");
    let groups = |dnf: &Dnf, servers: &Servers| {
        (0..3).map(|at| dnf.view(servers, ServerId(at), s(0)).group).collect::<Vec<_>>()
    };
    assert_eq!(groups(&dnf, &three), [1, 1, 1]);
    pick_times(&mut dnf, &mut three, 1);
    assert_eq!(groups(&dnf, &three), [0, 1, 1], "a full one is in none");
    three.set_max_in_flight(ServerId(0), None);
    dnf.changed(&three, ServerId(0), false);
    assert_eq!(groups(&dnf, &three), [2, 1, 1]);
}

/// The table may change without a word, as when a bar is lifted for all; what is picked is right all the same.
#[test]
fn a_change_that_nobody_told_of_is_noticed() {
    let mut two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    for at in 0..2 {
        two.set_bar(ServerId(at), bar::SILENT, true);
    }
    assert_eq!(dnf.pick(&two, &ask(0)), None, "barred");
    two.lift(bar::SOFT);
    assert!(dnf.pick(&two, &ask(1)).is_some(), "lifted");
    two.lift(0);
    two.set_bar(ServerId(1), bar::SILENT, false);
    for k in 0..5 {
        assert_eq!(dnf.pick(&two, &ask(k)), Some(ServerId(1)), "one is free again");
    }
}

/// Whatever is reported, and whatever else happens, weights are finite and within their bounds.
#[test]
fn weights_stay_within_bounds_whatever_is_reported() {
    const ODD: [f64; 10] = [0.0, 1.0, 0.5, 1.7, 1e300, f64::MAX, -1.0, f64::NAN, f64::INFINITY, 1e-300];
    for seed in 0..30_u64 {
        let mut four = weighted(&[1.0, 0.001, 65_535.0, 2.0]);
        let mut dnf = dnf(&four, r#","gain":10,"step":1,"min":0.2,"max":3"#);
        for k in 0..400_u64 {
            let luck = |n: u32| Chance(seed * 1000 + k).draw(n).get();
            let odd = |n: u32| (luck(n) < 0.8).then(|| ODD[(luck(n + 20) * 10.0) as usize]);
            let server = ServerId((luck(0) * 4.0) as u16);
            let now = s(k * 3);
            let report = LoadReport {
                loads: [odd(1), odd(2), odd(3), odd(4), odd(5)],
                application: odd(6),
                ..LoadReport::default()
            };
            dnf.report(now, &four, server, &report);
            if luck(7) < 0.1 {
                four.set_up(server, luck(8) < 0.5);
                dnf.changed(&four, server, false);
            }
            run(&mut dnf, &four, now);
            for (at, server) in four.iter().enumerate() {
                let view = dnf.view(&four, ServerId(at as u16), now);
                for weight in view.weights {
                    let (low, high) = (0.2 * server.weight, 3.0 * server.weight);
                    let ok = weight >= low * 0.999 && weight <= high * 1.001;
                    assert!(
                        ok,
                        "seed {seed}, step {k}, server {at}: {weight} is not within {low} and {high}"
                    );
                }
                assert!(view.loads.iter().flatten().all(|load| load.is_finite()), "seed {seed}, step {k}");
            }
            let _ = dnf.pick(&four, &ask(k));
        }
    }
}

#[test]
fn a_report_that_is_stuck_raises_no_weight_for_long_but_may_lower_it() {
    let two = servers(2, u32::MAX);
    let mut dnf = dnf(&two, "");
    // The first says 0.2 again and again; the second is busier each time.
    for n in 1..=20_u32 {
        let busy = 0.5 + f64::from(n) / 50.0;
        report(&mut dnf, &two, s(u64::from(10 * n)), &[Some(0.2), Some(busy)]);
        if n == 4 {
            assert!(weights(&dnf, &two, KindV1::Short)[0] > 1.4, "believed for three periods");
        }
    }
    let [stuck, busy] = weights(&dnf, &two, KindV1::Short)[..] else { panic!("two servers") };
    assert!((1.0..1.15).contains(&stuck), "back to neutral, near enough: {stuck}");
    assert!(busy < 0.2, "the other is still believed: {busy}");
    // Stuck at full load: that may be true.
    let mut dnf = self::dnf(&two, "");
    for n in 1..=20_u32 {
        let idle = 0.5 - f64::from(n) / 50.0;
        report(&mut dnf, &two, s(u64::from(10 * n)), &[Some(1.0), Some(idle)]);
    }
    assert!(weights(&dnf, &two, KindV1::Short)[0] < 0.2, "lowered all the way");
}
