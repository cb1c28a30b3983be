//! The controller on a deterministic stage: what it comes to, what it learns, and what no sample does to it.

use super::super::test_queue::{Clients, Stage, check_ratio, check_shares, odd_sample};
use super::*;
use crate::unit::{Draw, mix};
use alloc::vec;

const PERIOD: Duration = Duration::from_millis(250);

fn control(weights: &[f64], prior: f64, tune: bool) -> StcLead {
    let weights: Vec<DelayWeight> = weights.iter().map(|&weight| DelayWeight::new(weight).unwrap()).collect();
    StcLead::new(&weights, PERIOD, prior, tune)
}

fn shown(control: &StcLead, class: usize) -> LoopFrame {
    let mut frame = LoopFrame::default();
    control.describe(class, &mut frame);
    frame
}

/// Everything a controller holds and shows is finite and within its bounds.
#[track_caller]
fn check_state(control: &StcLead) {
    for class in 0..control.loops.len() {
        let frame = shown(control, class);
        let figures = [frame.output, frame.b, frame.gains[0], frame.trust, frame.uncertainty, frame.bias];
        assert!(figures.iter().all(|figure| figure.is_finite()), "class {class}: {frame:?}");
        assert!(frame.bias.abs() <= MOST_BIAS, "class {class}: a bias of {}", frame.bias);
        assert!(frame.uncertainty > 0.0, "class {class}: a variance of {}", frame.uncertainty);
        assert!(
            frame.uncertainty <= Gain::MOST_VARIANCE,
            "class {class}: a variance of {}",
            frame.uncertainty
        );
        let factor = control.loops[class].gain.factor;
        assert!((Gain::LEAST..=Gain::MOST).contains(&factor), "class {class}: a factor of {factor}");
    }
}

/// Runs for `seconds`, then measures for a minute.
#[track_caller]
fn check_stage(what: &str, stage: &mut Stage, control: &mut StcLead, weights: &[f64], seconds: f64) {
    stage.run(control, seconds);
    let delays_s = stage.run(control, 60.0);
    check_state(control);
    check_ratio(what, &delays_s, weights, 0.05);
}

#[test]
fn delays_come_to_the_ratio_of_the_weights() {
    for (workers, counts, weights) in [
        (32, vec![600, 600], vec![1.0, 2.0]),
        (32, vec![750, 150], vec![1.0, 2.0]),
        (32, vec![400; 3], vec![1.0, 2.0, 3.0]),
        (64, vec![600; 4], vec![1.0, 2.0, 4.0, 8.0]),
        (32, vec![600, 600], vec![3.0, 1.0]),
        // The unit of the weights does not count.
        (32, vec![600, 600], vec![0.001, 0.002]),
        (32, vec![600, 600], vec![500.0, 1000.0]),
    ] {
        let mut stage = Stage::new(workers, counts.iter().map(|&n| Clients::new(n, 0.1, 1.0)).collect());
        let what = alloc::format!("{counts:?} clients");
        check_stage(&what, &mut stage, &mut control(&weights, 1.0, true), &weights, 40.0);
    }
}

#[test]
fn a_change_of_load_is_followed_within_seconds() {
    let weights = [1.0, 2.0];
    let mut control = control(&weights, 1.0, true);
    let mut stage = Stage::new(32, vec![Clients::new(300, 0.1, 1.0), Clients::new(300, 0.1, 1.0)]);
    check_stage("before", &mut stage, &mut control, &weights, 30.0);
    stage.join(0, 500);
    stage.run(&mut control, 8.0);
    check_ratio("after ten seconds", &stage.run(&mut control, 3.0), &weights, 0.15);
}

/// Begins with `prior` where the gain is 1, lets the load change a few times, and says what came of it.
fn learned(prior: f64, tune: bool) -> StcLead {
    let mut control = control(&[1.0, 2.0], prior, tune);
    let mut stage = Stage::new(32, vec![Clients::new(300, 0.1, 1.0), Clients::new(300, 0.1, 1.0)]);
    for class in [0, 1, 0, 1] {
        stage.run(&mut control, 15.0);
        stage.join(class, 300);
    }
    stage.run(&mut control, 15.0);
    control
}

#[test]
fn a_prior_off_by_four_is_put_right() {
    for prior in [0.25, 4.0] {
        for class in 0..2 {
            let frame = shown(&learned(prior, true), class);
            assert!(frame.flags & LoopFrame::LEARNED != 0, "prior {prior}, class {class}: {frame:?}");
            assert!((-1.5..-0.65).contains(&frame.b), "prior {prior}, class {class}: a gain of {}", frame.b);
            assert!((frame.gains[0] * frame.b - 0.5).abs() < 1e-12, "the pole is placed for the gain in use");
        }
    }
}

#[test]
fn without_tuning_the_prior_stays() {
    for prior in [0.25, 4.0] {
        let frame = shown(&learned(prior, false), 0);
        assert_eq!((frame.b, frame.flags & LoopFrame::LEARNED), (-prior, 0), "prior {prior}");
    }
}

/// A class whose backlog is noise around what gives the delays their ratio at equal shares.
fn noisy(seed: u64, workers: f64) -> ClassSample {
    let noise = Draw::from_bits(mix(seed)).get();
    let waiting = (40.0 * (0.7 + 0.6 * noise)) as u32;
    ClassSample {
        started: 20,
        completed: 20,
        service_s: 2.0,
        waiting,
        delay_s: 20.0 * (f64::from(waiting) + 1.0) * 0.1 / workers,
        workers,
        ..ClassSample::default()
    }
}

#[test]
fn noise_does_not_open_the_gate() {
    for seed in 0..5_u64 {
        let mut control = control(&[1.0, 1.0], 1.0, true);
        let mut shares = [0.5, 0.5];
        let mut open = 0;
        for k in 0..4_000 {
            let slots = crate::control::apportion(32, &shares);
            let classes = [0, 1].map(|i: u64| noisy(mix(seed) ^ (k * 2 + i), f64::from(slots[i as usize])));
            control.on_sample(SplitSample { workers: 32, classes: &classes }, &mut shares);
            let frame = shown(&control, 0);
            let is_open = frame.flags & LoopFrame::LEARNED != 0;
            assert!(is_open || frame.b == -1.0, "seed {seed}: a shut gate leaves the prior: {frame:?}");
            open += u32::from(is_open);
        }
        // The prior is right here, and a model that is no better must not be used but by chance.
        assert!(open < 200, "seed {seed}: open in {open} of 4000 samples, {:?}", control.loops[0].gain);
    }
}

#[test]
fn a_class_that_leaves_keeps_a_worker_and_returns_without_upset() {
    let weights = [1.0, 2.0, 1.0];
    let mut control = control(&weights, 1.0, true);
    let mut stage = Stage::new(32, vec![Clients::new(400, 0.1, 1.0); 3]);
    check_stage("before", &mut stage, &mut control, &weights, 30.0);
    stage.leave(2);
    stage.run(&mut control, 60.0);
    let delays_s = stage.run(&mut control, 60.0);
    check_ratio("the others meanwhile", &delays_s[..2], &weights[..2], 0.05);
    assert_eq!(stage.split[2], 1, "the empty class is left a worker: {:?}", stage.split);
    assert!(stage.shares[2] >= 1.0 / 32.0 / 2.0, "its share can come back from {}", stage.shares[2]);
    stage.join(2, 400);
    stage.run(&mut control, 15.0);
    check_ratio("fifteen seconds after the return", &stage.run(&mut control, 5.0), &weights, 0.25);
}

#[test]
fn a_class_that_never_sends_stops_nobody() {
    let weights = [1.0, 2.0, 4.0];
    let mut control = control(&weights, 1.0, true);
    let mut stage = Stage::new(
        32,
        vec![Clients::new(600, 0.1, 1.0), Clients::new(600, 0.1, 1.0), Clients::new(0, 0.1, 1.0)],
    );
    stage.run(&mut control, 40.0);
    let delays_s = stage.run(&mut control, 60.0);
    check_ratio("the two that send", &delays_s[..2], &weights[..2], 0.05);
    assert_eq!(stage.split[2], 1, "a worker for whoever comes: {:?}", stage.split);
}

/// 50,000 samples made by `sample` of a running number; afterwards the split works as ever.
#[track_caller]
fn check_odd(what: &str, sample: impl Fn(u64) -> ClassSample) {
    let weights = [1.0, 2.0];
    let mut control = control(&weights, 1.0, true);
    let mut shares = [0.5, 0.5];
    for k in 0..50_000 {
        let classes = [sample(2 * k), sample(2 * k + 1)];
        control.on_sample(SplitSample { workers: 32, classes: &classes }, &mut shares);
        check_shares(&shares);
        if k % 1_000 < 50 {
            check_state(&control);
        }
    }
    let mut stage = Stage::new(32, vec![Clients::new(600, 0.1, 1.0), Clients::new(600, 0.1, 1.0)]);
    stage.shares.copy_from_slice(&shares);
    check_stage(what, &mut stage, &mut control, &weights, 60.0);
    assert!(control.is_credible(), "{what}: it goes by what it learned again");
}

#[test]
fn nothing_it_is_fed_stays_with_it() {
    check_odd("nothing", |_| ClassSample::default());
    check_odd("one odd kind each", |k| odd_sample(mix(k)));
    for kind in 0..12 {
        check_odd("the same odd sample", |_| odd_sample(kind));
    }
    check_odd("one class fine, one odd", |k| if k % 2 == 0 { odd_sample(11) } else { odd_sample(mix(k)) });
    check_odd("a class that never sends", |k| if k % 2 == 0 { odd_sample(11) } else { odd_sample(0) });
}

#[test]
fn what_is_no_number_holds_the_shares_and_is_shown() {
    let mut control = control(&[1.0, 2.0], 1.0, true);
    let mut shares = [0.4, 0.6];
    let fine = odd_sample(11);
    for kind in 1..5 {
        let classes = [fine, odd_sample(kind)];
        control.on_sample(SplitSample { workers: 8, classes: &classes }, &mut shares);
        assert_eq!(shares, [0.4, 0.6], "kind {kind}");
        assert!(!control.is_credible(), "kind {kind}");
    }
    control.on_sample(SplitSample { workers: 8, classes: &[fine, fine] }, &mut shares);
    assert!(control.is_credible() && shares != [0.4, 0.6], "it goes on with the next: {shares:?}");
}

#[test]
fn what_the_backlog_does_not_tell_is_corrected_by_the_delays() {
    // Classes of equal backlogs whose delays are so many times what backlog and workers say.
    let factors = [1.5, 1.0];
    let mut control = control(&[1.0, 1.0], 1.0, true);
    let (mut shares, mut delays_s) = ([0.5, 0.5], [0.0; 2]);
    for _ in 0..600 {
        let slots = crate::control::apportion(200, &shares);
        delays_s = [0, 1].map(|i| factors[i] * 41.0 * 0.1 / f64::from(slots[i]));
        let classes = [0, 1].map(|i| ClassSample {
            delay_s: 9.0 * delays_s[i],
            waiting: 40,
            workers: f64::from(slots[i]),
            ..odd_sample(11)
        });
        control.on_sample(SplitSample { workers: 200, classes: &classes }, &mut shares);
    }
    check_ratio("one of which waits half as long again", &delays_s, &[1.0, 1.0], 0.03);
    let between = shown(&control, 0).bias - shown(&control, 1).bias;
    assert!((between - libm::log(1.5)).abs() < 0.02, "the correction is that factor: {between}");
}

#[test]
fn a_class_nobody_was_served_of_is_corrected_like_the_others() {
    let mut control = control(&[1.0; 3], 1.0, true);
    let mut shares = [1.0 / 3.0; 3];
    let sending = ClassSample { delay_s: 9.0 * 3.0, waiting: 40, ..odd_sample(11) };
    let silent = ClassSample { workers: 1.0, ..ClassSample::default() };
    for _ in 0..600 {
        let classes = [sending, sending, silent];
        control.on_sample(SplitSample { workers: 9, classes: &classes }, &mut shares);
    }
    let [other, own] = [0, 2].map(|class| shown(&control, class).bias);
    assert!(other > 0.5, "delays are longer than the backlog tells: {other}");
    assert!((own - other).abs() < 0.01, "{own} beside {other} of the others");
}

#[test]
fn nobody_waiting_holds_the_shares() {
    let mut control = control(&[1.0, 2.0], 1.0, true);
    let mut shares = [0.4, 0.6];
    let light = ClassSample { waiting: 0, oldest_s: 0.0, ..odd_sample(11) };
    for _ in 0..50 {
        control.on_sample(SplitSample { workers: 8, classes: &[light, light] }, &mut shares);
    }
    assert_eq!(shares, [0.4, 0.6], "there is no ratio to keep");
}

/// Corner cases of numbers: whatever the weights and the workers, shares are shares, and `want` of them are made.
#[track_caller]
fn check_corner(workers: u32, weights: &[f64], want: &[u32]) {
    let mut control = control(weights, 1.0, true);
    let mut stage = Stage::new(workers, vec![Clients::new(100, 0.1, 1.0); weights.len()]);
    stage.run(&mut control, 60.0);
    check_state(&control);
    assert_eq!(stage.split, want, "{workers} workers, weights {weights:?}");
}

#[test]
fn few_classes_few_workers_and_far_weights_are_split() {
    check_corner(1, &[1.0], &[1]);
    check_corner(8, &[5.0], &[8]);
    check_corner(3, &[1.0, 2.0, 4.0], &[1, 1, 1]);
    check_corner(8, &[0.001, 1000.0], &[7, 1]);
    check_corner(8, &[1000.0, 0.001, 1000.0], &[1, 6, 1]);
}

#[test]
fn the_correction_is_bounded_both_ways() {
    for (served_s, want) in [(1e6, MOST_BIAS), (1e-6, -MOST_BIAS)] {
        let mut control = control(&[1.0, 2.0], 1.0, true);
        let mut shares = [0.5, 0.5];
        let class = ClassSample { delay_s: 9.0 * served_s, ..odd_sample(11) };
        for _ in 0..1_000 {
            control.on_sample(SplitSample { workers: 8, classes: &[class, class] }, &mut shares);
        }
        let frame = shown(&control, 0);
        assert_eq!(frame.bias, want, "delays of {served_s} s");
        assert!(frame.flags & LoopFrame::ESTIMATE_CUT != 0, "and it is shown");
    }
}

#[test]
fn a_step_is_cut_and_shown() {
    let mut control = control(&[1.0, 1.0], 1.0, true);
    let mut shares = [0.5, 0.5];
    let (long, short) = (ClassSample { waiting: 3_000, ..odd_sample(11) }, odd_sample(11));
    control.on_sample(SplitSample { workers: 8, classes: &[long, short] }, &mut shares);
    let factor = shares[0] / shares[1];
    assert!((factor - libm::exp(1.0)).abs() < 1e-9, "half up and half down, as logarithms: {factor}");
    assert!(shown(&control, 0).flags & LoopFrame::STEP_CUT != 0, "{:?}", shown(&control, 0));
}

/// A plant of the model's form with `times` the gain of the model, from an output of 1; the output after 60 periods.
fn left_after(times: f64) -> f64 {
    let frame = shown(&control(&[1.0], 1.0, false), 0);
    let mut output = 1.0;
    for _ in 0..60 {
        output += times * frame.b * (frame.gains[0] * -output);
    }
    output.abs()
}

#[test]
fn the_margin_is_where_the_loop_begins_to_swing() {
    let margin = shown(&control(&[1.0], 1.0, false), 0).margin;
    assert!(left_after(0.98 * margin) < 1.0, "within the margin of {margin} it settles");
    assert!(left_after(1.02 * margin) > 1.0, "beyond the margin of {margin} it grows");
}
