//! The controller as a whole, in front of a plant in closed form.

use super::*;
use crate::control::split::apportion;

const PAPER: SplitByV1 = SplitByV1::StcPaper {
    period_us: 10_000_000,
    warm_up: 6,
    design: DesignV1::PolePlacement,
    pole: 0.6,
    forgetting: 0.98,
    a_terms: 2,
    b_terms: 1,
    lag: 1,
};

fn controller(weights: &[f64], split_by: &SplitByV1) -> StcPaper {
    let weights: Vec<DelayWeight> =
        weights.iter().map(|&weight| DelayWeight::new(weight).expect("above zero")).collect();
    StcPaper::new(&weights, split_by).expect("the policy is stc_paper")
}

/// A stage whose delays are those of a closed system: `d = clients * service / workers - service - think` (paper P, 0.3).
struct Bench {
    control: StcPaper,
    workers: u32,
    clients: Vec<f64>,
    shares: Vec<f64>,
    split: Vec<u32>,
    /// Windows until a split takes effect, beyond the first, and the splits that have not yet.
    late: usize,
    pending: Vec<Vec<u32>>,
    delays_s: Vec<f64>,
}

const SERVICE_S: f64 = 0.25;
const THINK_S: f64 = 0.5;

impl Bench {
    fn new(weights: &[f64], split_by: &SplitByV1, workers: u32, clients: &[f64]) -> Self {
        let shares = vec![1.0 / weights.len() as f64; weights.len()];
        Self {
            control: controller(weights, split_by),
            workers,
            clients: clients.to_vec(),
            split: apportion(workers, &shares),
            late: 0,
            pending: Vec::new(),
            delays_s: vec![0.0; shares.len()],
            shares,
        }
    }

    /// One window; classes without clients hand nobody over.
    fn window(&mut self) {
        let mut classes = Vec::new();
        self.pending.insert(0, self.split.clone());
        self.pending.truncate(self.late + 1);
        for (i, &clients) in self.clients.iter().enumerate() {
            let (own, in_effect) =
                (f64::from(self.split[i]), f64::from(self.pending[self.pending.len() - 1][i]));
            self.delays_s[i] = (clients * SERVICE_S / in_effect - SERVICE_S - THINK_S).max(0.0);
            let started = if clients > 0.0 { 40 * self.split[i] } else { 0 };
            classes.push(ClassSample {
                started,
                delay_s: self.delays_s[i] * f64::from(started),
                workers: own,
                ..ClassSample::default()
            });
        }
        self.sample(&classes);
    }

    fn sample(&mut self, classes: &[ClassSample]) {
        self.control.on_sample(SplitSample { workers: self.workers, classes }, &mut self.shares);
        let sum: f64 = self.shares.iter().sum();
        assert!(
            (sum - 1.0).abs() < 1e-9 && self.shares.iter().all(|share| (0.0..=1.0).contains(share)),
            "shares {:?} of {classes:?}",
            self.shares
        );
        self.split = apportion(self.workers, &self.shares);
    }

    fn windows(&mut self, n: u32) -> &mut Self {
        (0..n).for_each(|_| self.window());
        self
    }

    #[track_caller]
    fn check_split(&self, want: &[u32], within: u32) {
        let is_near = self.split.iter().zip(want).all(|(got, want)| got.abs_diff(*want) <= within);
        assert!(is_near, "the workers are {:?}, not {want:?} within {within}", self.split);
    }

    fn describe(&self, class: usize) -> LoopFrame {
        let mut out = LoopFrame::default();
        self.control.describe(class, &mut out);
        out
    }
}

/// The preset of paper P, 0.9.
fn two_classes() -> Bench {
    Bench::new(&[1.0, 2.0], &PAPER, 64, &[200.0, 200.0])
}

#[test]
fn the_operating_points_of_the_paper_are_reached() {
    let mut bench = two_classes();
    bench.windows(60).check_split(&[38, 26], 1);
    bench.clients[0] = 400.0;
    bench.windows(60).check_split(&[49, 15], 1);
}

#[test]
fn three_classes_are_led_by_three_loops() {
    let mut bench = Bench::new(&[1.0, 2.0, 4.0], &PAPER, 64, &[150.0, 150.0, 150.0]);
    bench.windows(80).check_split(&[30, 21, 13], 1);
}

#[test]
fn higher_orders_and_the_other_design_get_there_too() {
    for design in [DesignV1::PolePlacement, DesignV1::MinimumVariance] {
        for (a_terms, b_terms, lag) in (0..27).map(|n| (n / 9 + 1, n / 3 % 3 + 1, n % 3 + 1)) {
            let policy = SplitByV1::StcPaper {
                period_us: 10_000_000,
                warm_up: 6,
                design,
                pole: 0.6,
                forgetting: 0.98,
                a_terms,
                b_terms,
                lag,
            };
            let mut bench = Bench::new(&[1.0, 2.0], &policy, 64, &[200.0, 200.0]);
            bench.late = lag as usize - 1;
            bench.windows(120);
            let ratio = bench.delays_s[1] / bench.delays_s[0];
            assert!((1.6..2.5).contains(&ratio), "{design:?} {a_terms} {b_terms} {lag}: ratio {ratio}");
        }
    }
}

#[test]
fn the_first_windows_are_only_watched() {
    let mut bench = two_classes();
    for window in 1..=5 {
        bench.window();
        assert!(bench.control.is_learning(), "after window {window}");
        assert_eq!(bench.shares, [0.5, 0.5], "after window {window}");
    }
    bench.window();
    assert!(!bench.control.is_learning(), "after the last window of the warm-up");
    assert!(bench.shares[0] > 0.51, "it does not steer: {:?}", bench.shares);
}

#[test]
fn a_step_is_limited() {
    let mut bench = Bench::new(&[1.0, 100.0], &PAPER, 64, &[200.0, 200.0]);
    bench.windows(6);
    // 0.15 up and 0.15 down, whatever the error.
    assert_eq!(bench.shares, [0.65, 0.35], "the first step");
    assert_ne!(bench.describe(0).flags & LoopFrame::STEP_CUT, 0, "the cut is not shown");
    bench.windows(60);
    assert!(bench.shares[0] <= 0.98 && bench.shares[1] >= 0.02 - 1e-9, "shares {:?}", bench.shares);
}

#[test]
fn a_step_starts_from_what_was_applied() {
    let mut bench = two_classes();
    bench.windows(6);
    // Whatever was asked for, the stage went by another split.
    bench.split = vec![10, 54];
    bench.window();
    assert!(bench.shares[0] < 0.4, "it went on from its own wish: {:?}", bench.shares);
}

#[test]
fn without_delays_the_split_is_held() {
    let mut bench = two_classes();
    bench.windows(40);
    let (shares, before) = (bench.shares.clone(), bench.describe(0));
    bench.clients = vec![5.0, 5.0];
    // Both wait 0 s: no ratio.
    bench.windows(50_000);
    assert_eq!(bench.shares, shares, "shares of an idle stage");
    let after = bench.describe(0);
    assert_eq!(
        (after.a, after.b, after.gains),
        (before.a, before.b, before.gains),
        "the model of an idle stage"
    );
    assert_eq!(after.uncertainty, before.uncertainty, "the covariance wound up");
    bench.clients = vec![200.0, 200.0];
    bench.windows(40).check_split(&[38, 26], 1);
}

#[test]
fn a_class_that_stops_keeps_its_delay() {
    let mut bench = two_classes();
    bench.windows(40);
    bench.clients[1] = 0.0;
    bench.window();
    assert_ne!(bench.describe(1).flags & LoopFrame::STALE, 0, "the class that stopped is not marked");
    assert_eq!(bench.describe(0).flags & LoopFrame::STALE, 0, "the class that sends is marked");
    bench.windows(100);
    // Were its delay taken for 0, its workers would be taken from it down to the last.
    bench.check_split(&[38, 26], 3);
}

#[test]
fn a_class_that_never_sends_takes_no_part_until_it_does() {
    let mut bench = Bench::new(&[1.0, 2.0, 2.0], &PAPER, 60, &[200.0, 200.0, 0.0]);
    bench.windows(60);
    bench.check_split(&[24, 16, 20], 2);
    let ratio = bench.delays_s[1] / bench.delays_s[0];
    assert!((1.8..2.2).contains(&ratio), "ratio of the two that send: {ratio}");
    bench.clients[2] = 200.0;
    bench.windows(60);
    let [d0, d1, d2] = [0, 1, 2].map(|i| bench.delays_s[i]);
    assert!((1.8..2.2).contains(&(d1 / d0)) && (1.8..2.2).contains(&(d2 / d0)), "delays {d0} {d1} {d2}");
}

#[test]
fn one_class_has_everything() {
    let mut bench = Bench::new(&[3.0], &PAPER, 8, &[200.0]);
    bench.windows(50);
    assert_eq!(bench.shares, [1.0], "the only class");
    assert!(bench.control.is_credible(), "there is nothing to doubt");
}

#[test]
fn what_is_no_number_does_no_harm() {
    let mut bench = two_classes();
    bench.windows(30);
    let bad = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, f64::MAX];
    for delay_s in bad {
        for workers in bad {
            for started in [0, 1, u32::MAX] {
                let odd = ClassSample { started, delay_s, workers, ..ClassSample::default() };
                let fine =
                    ClassSample { started: 10, delay_s: 10.0, workers: 30.0, ..ClassSample::default() };
                bench.sample(&[odd, fine]);
                bench.sample(&[odd, odd]);
            }
        }
    }
    bench.sample(&[ClassSample::default(); 2]);
    let shown = bench.describe(0);
    let numbers = [shown.b, shown.trust, shown.uncertainty, shown.margin, shown.output];
    assert!(numbers.iter().chain(&shown.gains).all(|x| x.is_finite()), "{shown:?}");
    bench.windows(60).check_split(&[38, 26], 2);
}

#[test]
fn a_sample_of_another_number_of_classes_is_ignored() {
    let mut bench = two_classes();
    bench.windows(30);
    let before = bench.shares.clone();
    bench.control.on_sample(SplitSample { workers: 64, classes: &[] }, &mut bench.shares);
    assert_eq!(bench.shares, before, "shares after a sample of nothing");
}

#[test]
fn what_is_shown_is_what_is_in_use() {
    let mut bench = two_classes();
    bench.windows(6);
    let shown = bench.describe(0);
    // The closed form for a1 = -0.5, b0 = -0.5 and a pole at 0.6.
    assert_eq!((shown.a, shown.b), ([0.5, 0.0], -0.5), "the model it begins with");
    let want = [-1.8, 1.0, 0.0];
    let off = shown.gains.iter().zip(want).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(off < 1e-12, "gains {:?}, not {want:?}", shown.gains);
    assert_eq!((shown.flags, shown.trust, shown.uncertainty), (0, 1.0, 300.0), "nothing is learned yet");
    assert!((shown.output - (0.5 - 1.0 / 3.0)).abs() < 1e-12, "output {}", shown.output);
    // Equations of the margin: 1 - (1.5 - 0.9 k) q^-1 + (0.5 - 0.5 k) q^-2 has a root at -1 if 3 = 1.4 k.
    assert!((shown.margin - 3.0 / 1.4).abs() < 1e-5, "margin {}", shown.margin);
    bench.windows(20);
    let shown = bench.describe(0);
    assert_ne!(shown.flags & LoopFrame::LEARNED, 0, "the learned model is in use: {shown:?}");
    assert_ne!(shown.b, -0.5, "nothing was learned");
}

#[test]
fn a_model_that_fails_gives_way_to_the_one_of_the_beginning() {
    let mut bench = two_classes();
    bench.windows(20);
    assert!(bench.control.is_credible(), "a clean plant is learned");
    // Shares of the delay as if more workers made a class slower: the estimates run against their bounds.
    let mut windows = 0;
    while bench.control.is_credible() {
        windows += 1;
        assert!(windows < 100, "it goes on trusting what is wrong: {:?}", bench.describe(0));
        bench.split = vec![22 + (windows * 7) % 20, 42 - (windows * 7) % 20];
        let classes = [0, 1].map(|i| {
            let workers = f64::from(bench.split[i]);
            ClassSample { started: 100, delay_s: workers, workers, ..ClassSample::default() }
        });
        bench.sample(&classes);
    }
    assert!(windows >= 4, "it gives up after {windows} windows");
    let shown = bench.describe(0);
    assert_eq!((shown.a, shown.b), ([0.5, 0.0], -0.5), "the model in use");
    assert_eq!(shown.flags & LoopFrame::LEARNED, 0, "the learned model is shown as in use");
    bench.split = apportion(bench.workers, &bench.shares);
    bench.windows(80).check_split(&[38, 26], 1);
    assert!(bench.control.is_credible(), "it does not come back: {:?}", bench.describe(0));
}
