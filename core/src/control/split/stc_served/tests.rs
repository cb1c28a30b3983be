//! The controller on a deterministic stage, and its model by itself.

use super::super::test_queue::{Clients, Stage, check_ratio, check_shares, odd_sample};
use super::*;
use crate::unit::{Draw, mix};

const PERIOD: Duration = Duration::from_millis(1_000);

fn control(weights: &[f64], tune: bool) -> StcServed {
    let weights: Vec<DelayWeight> = weights.iter().map(|&weight| DelayWeight::new(weight).unwrap()).collect();
    StcServed::new(&weights, PERIOD, tune)
}

fn shown(control: &StcServed, class: usize) -> LoopFrame {
    let mut frame = LoopFrame::default();
    control.describe(class, &mut frame);
    frame
}

/// Everything a controller holds and shows is finite and within its bounds.
#[track_caller]
fn check_state(control: &StcServed) {
    for class in 0..control.loops.len() {
        let frame = shown(control, class);
        let figures = [frame.output, frame.b, frame.trust, frame.margin, frame.a[0], frame.a[1]];
        let all = figures.iter().chain(&frame.gains);
        assert!(all.clone().all(|figure| figure.is_finite()), "class {class}: {frame:?}");
        assert!((0.0..0.2201).contains(&frame.uncertainty), "class {class}: {frame:?}");
        let learned = control.loops[class].learned.model;
        assert_eq!(learned, learned.projected(), "class {class}: the model is within its bounds");
    }
}

/// Runs for `seconds`, then measures for a minute.
#[track_caller]
fn check_stage(what: &str, stage: &mut Stage, control: &mut StcServed, weights: &[f64], seconds: f64) {
    stage.run(control, seconds);
    let delays_s = stage.run(control, 60.0);
    check_state(control);
    check_ratio(what, &delays_s, weights, 0.1);
}

#[test]
fn delays_come_to_the_ratio_of_the_weights() {
    for (workers, counts, weights) in [
        (32, vec![600, 600], vec![1.0, 2.0]),
        (32, vec![750, 150], vec![1.0, 2.0]),
        (32, vec![400; 3], vec![1.0, 2.0, 3.0]),
        (64, vec![600; 4], vec![1.0, 2.0, 4.0, 8.0]),
        (32, vec![600, 600], vec![500.0, 1000.0]),
    ] {
        let mut stage = Stage::new(workers, counts.iter().map(|&n| Clients::new(n, 0.1, 1.0)).collect());
        let what = alloc::format!("{counts:?} clients");
        check_stage(&what, &mut stage, &mut control(&weights, true), &weights, 90.0);
    }
}

/// Delays that answer the workers as a model says, with noise; how often the learned model was used in 3,000 samples.
fn open_in(plant: [f64; 3], noise: f64, tune: bool) -> (u32, StcServed) {
    let mut control = control(&[1.0, 1.0], tune);
    let mut shares = [0.5, 0.5];
    // Outputs and inputs of the first class; those of the second are the opposite.
    let (mut y, mut x, mut open) = ([0.0; 3], [0.0; 2], 0);
    for k in 0..3_000_u64 {
        let slots = crate::control::apportion(64, &shares).into_iter().map(f64::from).collect::<Vec<_>>();
        x = [libm::log(slots[0] / slots[1]) / 2.0, x[0]];
        let random = noise * (Draw::from_bits(mix(k)).get() * 2.0 - 1.0);
        let change = plant[0] * (y[0] - y[1]) + plant[1] * (y[1] - y[2]) + plant[2] * (x[0] - x[1]) + random;
        y = [y[0] + change, y[0], y[1]];
        let classes = [(1.0, slots[0]), (-1.0, slots[1])].map(|(sign, workers)| ClassSample {
            started: 10,
            delay_s: 10.0 * libm::exp(sign * y[0]),
            workers,
            ..ClassSample::default()
        });
        control.on_sample(SplitSample { workers: 64, classes: &classes }, &mut shares);
        check_shares(&shares);
        let frame = shown(&control, 0);
        let is_open = frame.flags & LoopFrame::LEARNED != 0;
        assert!(is_open || frame.b == -0.7, "a shut gate leaves the prior: {frame:?}");
        open += u32::from(is_open);
    }
    check_state(&control);
    (open, control)
}

#[test]
fn a_model_is_learned_where_the_prior_is_wrong_and_not_where_it_is_right() {
    for plant in [[0.0, 0.0, -2.2], [0.1, 0.1, -1.6]] {
        let (open, control) = open_in(plant, 0.1, true);
        let frame = shown(&control, 0);
        assert!(open > 1_500, "plant {plant:?}: the gate was open in {open} samples");
        assert!((frame.b - plant[2]).abs() < 0.4, "plant {plant:?}: {frame:?}");
    }
    let (open, _) = open_in(Model::PRIOR.0, 0.1, true);
    assert!(open < 150, "noise opened the gate in {open} samples");
}

#[test]
fn without_tuning_the_model_stays() {
    let (open, control) = open_in([0.0, 0.0, -2.2], 0.1, false);
    let frame = shown(&control, 1);
    assert_eq!((open, frame.a, frame.b), (0, [0.3, 0.0], -0.7), "{frame:?}");
}

/// 50,000 samples made by `sample` of a running number; afterwards the split works as ever.
#[track_caller]
fn check_odd(what: &str, sample: impl Fn(u64) -> ClassSample) {
    let weights = [1.0, 2.0];
    let mut control = control(&weights, true);
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
    check_stage(what, &mut stage, &mut control, &weights, 120.0);
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

/// The shares after one sample.
#[track_caller]
fn check_held(what: &str, classes: [ClassSample; 2], is_credible: bool) {
    let mut control = control(&[1.0, 2.0], true);
    let mut shares = [0.4, 0.6];
    control.on_sample(SplitSample { workers: 8, classes: &classes }, &mut shares);
    assert!((shares[0] - 0.4).abs() < 1e-12 && (shares[1] - 0.6).abs() < 1e-12, "{what}: {shares:?}");
    assert_eq!(control.is_credible(), is_credible, "{what}");
}

#[test]
fn shares_are_held_where_nothing_can_be_said() {
    let fine = odd_sample(11);
    for kind in 1..5 {
        check_held("no number", [fine, odd_sample(kind)], false);
    }
    let at_once = ClassSample { delay_s: 0.0, ..fine };
    check_held("nobody waits", [at_once, at_once], true);
    check_held("nobody comes", [ClassSample::default(); 2], true);
    check_held("only one has a delay", [fine, ClassSample::default()], true);
}

#[test]
fn a_class_without_a_delay_sits_out() {
    let weights = [1.0, 2.0, 4.0];
    let mut control = control(&weights, true);
    let classes = [600, 600, 0].map(|count| Clients::new(count, 0.1, 1.0));
    let mut stage = Stage::new(32, classes.into());
    stage.run(&mut control, 90.0);
    let delays_s = stage.run(&mut control, 60.0);
    check_ratio("the two that send", &delays_s[..2], &weights[..2], 0.1);
    assert!(stage.split[2] > 1, "it keeps its share: {:?}", stage.split);
    stage.join(2, 600);
    check_stage("all three", &mut stage, &mut control, &weights, 120.0);
}

/// Corner cases of numbers: whatever the weights and the workers, `want` are made of the shares.
#[track_caller]
fn check_corner(workers: u32, weights: &[f64], want: &[u32]) {
    let mut control = control(weights, true);
    let mut stage = Stage::new(workers, vec![Clients::new(100, 0.1, 1.0); weights.len()]);
    stage.run(&mut control, 120.0);
    check_state(&control);
    assert_eq!(stage.split, want, "{workers} workers, weights {weights:?}");
}

#[test]
fn few_classes_few_workers_and_far_weights_are_split() {
    check_corner(1, &[1.0], &[1]);
    check_corner(8, &[5.0], &[8]);
    check_corner(3, &[1.0, 2.0, 4.0], &[1, 1, 1]);
    check_corner(8, &[0.001, 1000.0], &[7, 1]);
}
