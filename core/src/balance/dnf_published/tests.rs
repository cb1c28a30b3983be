//! The published rules against the golden numbers of paper B.

use super::super::tests::{ask, made, pick_times, servers, spec, weighted, wire};
use super::super::{Balancer, Seat};
use super::*;
use crate::id::ClassId;
use crate::unit::Chance;

/// A `dnf_published` with further parameters, as they are written.
fn published(servers: &Servers, more: &str) -> DnfPublished {
    let wire = wire(&alloc::format!(r#""dnf_published"{more}"#));
    match made(&wire, servers, Seat(0)) {
        Balancer::DnfPublished(dnf) => dnf,
        other => panic!("asked for dnf_published, got {other:?}"),
    }
}

/// Coefficients by which the load is that of the processors.
const CPU: &str = r#","coefficients":{"cpu":1,"mem":0,"net":0,"disk":0,"rooms":0}"#;

fn s(seconds: u64) -> Instant {
    Instant::START + Duration::from_secs(seconds)
}

/// Reports of all servers at once, `None` for one that is silent, and the tick that follows if it is due.
fn report(dnf: &mut DnfPublished, servers: &Servers, seconds: u64, cpus: &[Option<f64>]) {
    for (at, cpu) in cpus.iter().enumerate().filter(|(_, cpu)| cpu.is_some()) {
        let report = LoadReport { loads: [*cpu, None, None, None, None], ..LoadReport::default() };
        dnf.report(s(seconds), servers, ServerId(at as u16), &report);
    }
    if dnf.next_at() <= s(seconds) {
        dnf.tick(s(seconds), servers);
    }
}

fn weights(dnf: &DnfPublished) -> Vec<f64> {
    dnf.known.iter().map(|known| known.weight).collect()
}

fn shown_groups(dnf: &DnfPublished, servers: &Servers) -> Vec<u8> {
    (0..servers.len()).map(|at| dnf.view(servers, ServerId(at as u16), s(0)).group).collect()
}

fn check(got: &[f64], want: &[f64], what: &str) {
    let near = got.len() == want.len() && got.iter().zip(want).all(|(a, b)| (a - b).abs() < 5e-3);
    assert!(near, "{what}: expected {want:?}, got {got:?}");
}

/// Paper B, 2.4: W = 50, A = 5, target 0.8.
#[test]
fn weights_move_as_in_the_papers_example() {
    let three = servers(3, u32::MAX);
    let mut dnf = published(&three, CPU);
    check(&weights(&dnf), &[50.0; 3], "unknown capacities make equal weights");
    report(&mut dnf, &three, 10, &[Some(0.5), Some(1.0), Some(0.8)]);
    check(&weights(&dnf), &[53.35, 47.08, 50.0], "one step");
    report(&mut dnf, &three, 20, &[Some(0.5), Some(1.0), None]);
    check(&weights(&dnf), &[56.69, 44.15, 50.0], "it integrates, where something is reported");
}

#[test]
fn weights_end_at_their_bounds() {
    let two = servers(2, u32::MAX);
    let mut dnf = published(&two, CPU);
    for k in 1..100 {
        report(&mut dnf, &two, 10 * k, &[Some(0.0), Some(1.0)]);
    }
    assert_eq!(weights(&dnf), [100.0, 1.0], "twice the initial weight, and the smallest");
}

#[test]
fn weights_begin_by_weight_or_alike() {
    let two = weighted(&[1.0, 4.0]);
    let begin = |how: &str| weights(&published(&two, &alloc::format!(r#","initial":"{how}""#)));
    check(&begin("weight"), &[20.0, 80.0], "in proportion to the configured ones");
    check(&begin("equal"), &[50.0, 50.0], "alike");
}

#[test]
fn a_configured_weight_that_changes_keeps_the_proportion_that_was_learned() {
    let mut two = weighted(&[1.0, 1.0]);
    let mut dnf = published(&two, &alloc::format!(r#"{CPU},"initial":"weight""#));
    report(&mut dnf, &two, 10, &[Some(0.5), Some(1.0)]);
    two.set_weight(ServerId(1), 3.0);
    dnf.changed(&two, ServerId(1), false);
    check(&weights(&dnf), &[26.67, 70.61], "25 and 75 times what was learned");
}

#[test]
fn the_target_may_be_the_mean_of_those_that_get_work() {
    let mut three = servers(3, u32::MAX);
    let mut dnf = published(&three, &alloc::format!(r#"{CPU},"target_mean":true,"gain":10"#));
    three.set_bar(ServerId(2), bar::OVERLOADED, true);
    dnf.changed(&three, ServerId(2), false);
    report(&mut dnf, &three, 10, &[Some(0.25), Some(0.5), Some(0.5)]);
    check(&weights(&dnf), &[55.0, 45.0, 45.0], "10 cbrt(0.125) either way from 0.375");
}

#[test]
fn all_reports_of_an_instant_are_seen_before_any_weight_moves_and_once_a_period() {
    let two = servers(2, u32::MAX);
    let mut dnf = published(&two, CPU);
    let idle = LoadReport { loads: [Some(0.0); 5], ..LoadReport::default() };
    dnf.report(s(10), &two, ServerId(0), &idle);
    assert_eq!((dnf.next_at(), weights(&dnf)[0]), (s(10), 50.0), "not before the tick");
    dnf.tick(s(10), &two);
    check(&weights(&dnf), &[54.64, 50.0], "5 cbrt(0.8)");
    dnf.report(s(13), &two, ServerId(1), &idle);
    assert_eq!(dnf.next_at(), s(20));
    dnf.tick(s(15), &two);
    assert_eq!((dnf.next_at(), weights(&dnf)[1]), (s(20), 50.0), "nor before its time");
    dnf.tick(s(20), &two);
    check(&weights(&dnf), &[54.64, 54.64], "then it does");
    assert_eq!(dnf.next_at(), Instant::NEVER);
}

#[test]
fn groups_are_equal_parts_of_the_range_or_equal_numbers() {
    let check = |weights: &[f64], by, want: &[u8]| {
        assert_eq!(groups(weights, 3, by), want, "{weights:?} by {by:?}");
    };
    check(&[100.0, 90.0, 50.0, 40.0, 70.0], GroupByV1::Width, &[1, 1, 3, 3, 2]);
    check(&[80.0, 70.0, 60.0, 50.0], GroupByV1::Width, &[1, 1, 2, 3]);
    check(&[100.0, 90.0, 50.0, 40.0, 70.0], GroupByV1::Rank, &[1, 1, 2, 3, 2]);
    check(&[5.0, 5.0 + 1e-10, 5.0], GroupByV1::Width, &[1, 1, 1]);
    check(&[5.0, 5.0, 5.0], GroupByV1::Rank, &[1, 2, 3]);
    check(&[], GroupByV1::Rank, &[]);
    assert_eq!(groups(&[3.0, 4.0], 1, GroupByV1::Width), [1, 1], "one group is everyone");
    assert_eq!(groups(&[3.0, 4.0], 16, GroupByV1::Width), [16, 1]);
}

/// Weights 50, 53.35, 53.35 and 47.08: three groups of a width of 2.09.
fn four() -> (Servers, DnfPublished) {
    let four = servers(4, 2);
    let mut dnf = published(&four, CPU);
    report(&mut dnf, &four, 10, &[Some(0.8), Some(0.5), Some(0.5), Some(1.0)]);
    (four, dnf)
}

#[test]
fn the_top_group_takes_turns_and_the_next_follows_when_it_is_full() {
    let (mut four, mut dnf) = four();
    assert_eq!(shown_groups(&dnf, &four), [2, 1, 1, 3]);
    assert_eq!(pick_times(&mut dnf, &mut four, 9), [1, 2, 1, 2, 0, 0, 3, 3]);
}

#[test]
fn the_cursor_survives_regrouping() {
    let (four, mut dnf) = four();
    assert_eq!(dnf.pick(&four, &ask(0)), Some(ServerId(1)));
    report(&mut dnf, &four, 20, &[Some(0.8), Some(0.5), Some(0.5), Some(1.0)]);
    assert_eq!(dnf.pick(&four, &ask(1)), Some(ServerId(2)), "its turn, not that of the first again");
}

#[test]
fn one_that_is_overloaded_leaves_at_once_and_has_its_group_back_afterwards() {
    let (mut four, mut dnf) = four();
    for (overloaded, want) in [(true, [2, 0, 1, 3]), (false, [2, 1, 1, 3])] {
        four.set_bar(ServerId(1), bar::OVERLOADED, overloaded);
        dnf.changed(&four, ServerId(1), false);
        let picks: Vec<_> = (0..4).map(|k| dnf.pick(&four, &ask(k)).unwrap().0).collect();
        assert!(picks.contains(&1) != overloaded, "overloaded {overloaded}: {picks:?}");
        assert_eq!(shown_groups(&dnf, &four), want, "overloaded {overloaded}");
    }
}

#[test]
fn turns_may_go_by_weight() {
    let mut two = servers(2, u32::MAX);
    let mut dnf = published(&two, &alloc::format!(r#"{CPU},"weighted":true,"groups":1,"gain":25"#));
    report(&mut dnf, &two, 10, &[Some(0.675), Some(0.925)]);
    check(&weights(&dnf), &[62.5, 37.5], "weights");
    let picks = pick_times(&mut dnf, &mut two, 80);
    assert_eq!(picks.iter().filter(|&&at| at == 0).count(), 50, "in proportion: {picks:?}");
}

/// Paper B, 2.5, trap 6.
#[test]
fn a_stale_server_keeps_its_weight_and_is_left_out_while_there_are_others() {
    let mut three = servers(3, 2);
    let mut dnf = published(&three, CPU);
    report(&mut dnf, &three, 10, &[Some(0.0), Some(0.5), Some(0.5)]);
    let held = weights(&dnf)[0];
    assert_eq!(shown_groups(&dnf, &three), [1, 3, 3]);
    for k in [20, 30] {
        report(&mut dnf, &three, k, &[None, Some(0.8), Some(0.8)]);
        assert_eq!(dnf.view(&three, ServerId(0), s(k)).group, 1, "{k} s: two reports missed at most");
    }
    report(&mut dnf, &three, 40, &[None, Some(0.8), Some(0.8)]);
    assert_eq!(shown_groups(&dnf, &three), [4, 1, 1], "three reports missed");
    assert_eq!(weights(&dnf)[0], held, "and not a bit was added");
    assert_eq!(pick_times(&mut dnf, &mut three, 7), [1, 2, 1, 2, 0, 0], "better than nobody");
}

#[test]
fn where_all_are_stale_all_have_groups() {
    let (mut four, mut dnf) = four();
    four.set_bar(ServerId(1), bar::OVERLOADED, true);
    dnf.changed(&four, ServerId(1), false);
    four.set_bar(ServerId(1), bar::OVERLOADED, false);
    dnf.changed(&four, ServerId(1), false);
    let late = Ask { now: s(1000), ..ask(0) };
    assert_eq!(dnf.pick(&four, &late), Some(ServerId(1)));
    assert_eq!(shown_groups(&dnf, &four), [2, 1, 1, 3]);
}

#[test]
fn a_server_that_comes_back_or_is_new_has_its_initial_weight_and_a_group() {
    let (mut four, mut dnf) = four();
    for up in [false, true] {
        four.set_up(ServerId(3), up);
        dnf.changed(&four, ServerId(3), false);
    }
    check(&weights(&dnf), &[50.0, 53.35, 53.35, 50.0], "back at W(0)");
    assert_eq!(dnf.view(&four, ServerId(3), s(10)).loads, [None; 2]);
    let fifth = four.add(&spec(5, 2, 1.0));
    dnf.changed(&four, fifth, true);
    let _ = dnf.pick(&four, &ask(0));
    assert_eq!(shown_groups(&dnf, &four), [3, 1, 1, 3, 3]);
}

#[test]
fn a_server_that_gets_no_work_is_not_raised_for_being_idle() {
    let mut two = servers(2, u32::MAX);
    let mut dnf = published(&two, CPU);
    two.set_bar(ServerId(1), bar::DRAINING, true);
    dnf.changed(&two, ServerId(1), false);
    report(&mut dnf, &two, 10, &[Some(0.5), Some(0.0)]);
    check(&weights(&dnf), &[53.35, 50.0], "draining");
}

/// Whoever reads an explanation can work out the pick: the first of the smallest group with the largest turn.
#[test]
fn the_pick_is_the_one_that_the_explanation_implies() {
    for more in ["", r#","weighted":true"#, r#","group_by":"rank","groups":2"#] {
        let mut five = servers(5, 4);
        let mut dnf = published(&five, more);
        let mut out = Vec::new();
        for k in 0..3000_u64 {
            let luck = |n: u32| Chance(k).draw(n).get();
            let except = (luck(1) < 0.2).then_some(ServerId((luck(2) * 5.0) as u16));
            let ask = Ask { now: s(k / 10), except, ..ask(k) };
            out.clear();
            dnf.explain(&five, &ask, &mut out);
            let top = out.iter().map(|c| c.group).min();
            let mut want: Option<Candidate> = None;
            for candidate in out.iter().filter(|c| Some(c.group) == top) {
                if want.is_none_or(|best| candidate.turn > best.turn) {
                    want = Some(*candidate);
                }
            }
            let got = dnf.pick(&five, &ask);
            assert_eq!(got, want.map(|c| c.server), "{more}, ask {k}: {out:?}");
            if let Some(server) = got {
                five.sent(server, ClassId(0));
                dnf.sent(&five, server, KindV1::Short);
            }
            let server = ServerId((luck(3) * 5.0) as u16);
            if five.get(server).in_flight > 0 {
                five.left(server, ClassId(0), Left::Answered);
                dnf.left(ask.now, &five, server, KindV1::Short, Left::Answered, Duration::ZERO);
            }
            if k % 100 == 0 {
                let cpus: Vec<_> = (5..10).map(|n| (luck(n) < 0.8).then(|| luck(n + 5))).collect();
                report(&mut dnf, &five, k / 10, &cpus);
                let flips = ServerId((luck(20) * 5.0) as u16);
                five.set_bar(flips, bar::OVERLOADED, luck(21) < 0.3);
                dnf.changed(&five, flips, false);
            }
        }
    }
}

/// Whatever is reported, weights are finite and within their bounds.
#[test]
fn weights_stay_within_bounds_whatever_is_reported() {
    const ODD: [f64; 9] = [0.0, 1.0, 0.5, 1.7, 1e300, f64::MAX, -1.0, f64::NAN, f64::INFINITY];
    for seed in 0..30_u64 {
        let mut four = weighted(&[1.0, 0.001, 65_535.0, 2.0]);
        let more = r#","initial":"weight","gain":1000,"target_mean":true,"smoothing":0.3"#;
        let mut dnf = published(&four, more);
        for k in 0..400_u64 {
            let luck = |n: u32| Chance(seed * 1000 + k).draw(n).get();
            let odd = |n: u32| (luck(n) < 0.8).then(|| ODD[(luck(n + 20) * 9.0) as usize]);
            let server = ServerId((luck(0) * 4.0) as u16);
            let loads = [odd(1), odd(2), odd(3), odd(4), odd(5)];
            let said = LoadReport { loads, application: odd(6), ..LoadReport::default() };
            dnf.report(s(k * 3), &four, server, &said);
            if luck(7) < 0.1 {
                four.set_up(server, luck(8) < 0.5);
                dnf.changed(&four, server, false);
            }
            if dnf.next_at() <= s(k * 3) {
                dnf.tick(s(k * 3), &four);
            }
            for (at, known) in dnf.known.iter().enumerate() {
                let high = (2.0 * known.initial).max(1.0);
                let ok = (1.0..=high).contains(&known.weight);
                assert!(
                    ok,
                    "seed {seed}, step {k}, server {at}: {} is not within 1 and {high}",
                    known.weight
                );
            }
            let _ = dnf.pick(&four, &ask(k));
        }
    }
}
