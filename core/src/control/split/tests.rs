//! A small plant that all controllers are tried on, and what must hold of every one of them.

use super::*;
use crate::scenario::v1::DesignV1;
use crate::unit::{Draw, mix};
use alloc::vec;
use alloc::vec::Vec;

/// Weights from numbers.
pub(super) fn weights(p: &[f64]) -> Vec<DelayWeight> {
    p.iter().map(|&p| DelayWeight::new(p).unwrap()).collect()
}

/// Clients who think and wait for a split pool, in the steady state of each split: `d_i = c_i S / n_i - S - Z`, or 0
/// (paper P, 0.3). Whole workers, window after window.
pub(super) struct Closed {
    p: Vec<f64>,
    pub(super) clients: Vec<f64>,
    workers: u32,
    service_s: f64,
    think_s: f64,
    /// Delays are off by up to this part, either way.
    noise: f64,
    /// Factor by which the first class's service times are reported.
    misread: f64,
    slots: Vec<u32>,
    pub(super) shares: Vec<f64>,
    windows: u64,
}

impl Closed {
    /// As many clients in each class, far too many for the pool: equal parts have everybody wait for 4.25 s.
    pub(super) fn crowded(p: &[f64]) -> Self {
        let workers = 100 * p.len() as u32;
        Self {
            p: p.to_vec(),
            clients: vec![2_000.0; p.len()],
            workers,
            service_s: 0.25,
            think_s: 0.5,
            noise: 0.0,
            misread: 1.0,
            slots: apportion(workers, &vec![1.0; p.len()]),
            shares: vec![1.0 / p.len() as f64; p.len()],
            windows: 0,
        }
    }

    pub(super) fn noisy(mut self, noise: f64) -> Self {
        self.noise = noise;
        self
    }

    pub(super) fn misreading(mut self, factor: f64) -> Self {
        self.misread = factor;
        self
    }

    pub(super) fn with_clients(mut self, clients: f64) -> Self {
        self.clients.fill(clients);
        self
    }

    fn delay_s(&self, class: usize) -> f64 {
        let n = f64::from(self.slots[class]);
        (self.clients[class] * self.service_s / n - self.service_s - self.think_s).max(0.0)
    }

    /// What a class went through in a window.
    fn class(&self, class: usize, window_s: f64) -> ClassSample {
        let (n, delay_s) = (f64::from(self.slots[class]), self.delay_s(class));
        let flow = self.clients[class] / (delay_s + self.service_s + self.think_s);
        let jobs = (flow * window_s) as u32;
        let off = 2.0 * Draw::from_bits(mix(mix(self.windows) ^ class as u64)).get() - 1.0;
        ClassSample {
            joined: jobs,
            started: jobs,
            delay_s: f64::from(jobs) * delay_s * (1.0 + self.noise * off),
            waiting: (flow * delay_s + 0.5) as u32,
            oldest_s: delay_s,
            completed: jobs,
            service_s: f64::from(jobs) * self.service_s * if class == 0 { self.misread } else { 1.0 },
            busy: (flow * self.service_s + 0.5) as u32,
            workers: n,
        }
    }

    /// One window, and the split after it.
    pub(super) fn step(&mut self, control: &mut impl SplitControl) {
        self.windows += 1;
        let window_s = control.period().as_secs_f64();
        let classes: Vec<ClassSample> = (0..self.p.len()).map(|class| self.class(class, window_s)).collect();
        self.feed(control, &classes);
    }

    /// A window in which the classes are said to have gone through this.
    pub(super) fn feed(&mut self, control: &mut impl SplitControl, classes: &[ClassSample]) {
        control.on_sample(SplitSample { workers: self.workers, classes }, &mut self.shares);
        check_shares(&self.shares, self.workers);
        self.slots = apportion(self.workers, &self.shares);
        control.on_applied(&self.slots);
    }

    /// Largest error of a class's true delay, in logarithms.
    pub(super) fn worst_error(&self) -> f64 {
        let delays: Vec<Option<f64>> = (0..self.p.len()).map(|class| Some(self.delay_s(class))).collect();
        let mut out = vec![0.0; self.p.len()];
        errors(&delays, &weights(&self.p), &mut out);
        out.iter().fold(0.0, |worst, error| error.abs().max(worst))
    }

    /// That error after so many windows.
    pub(super) fn worst_error_after(&mut self, control: &mut impl SplitControl, windows: u32) -> f64 {
        (0..windows).for_each(|_| self.step(control));
        self.worst_error()
    }

    /// Windows until the error is within `near` and stays there for 200.
    pub(super) fn settles_after(&mut self, control: &mut impl SplitControl, near: f64) -> Option<u32> {
        let mut last_far = 0;
        for window in 1..=3_000 {
            self.step(control);
            if self.worst_error() > near {
                last_far = window;
            } else if window - last_far >= 200 {
                return Some(last_far);
            }
        }
        None
    }

    /// Checks that it does so within so many windows.
    #[track_caller]
    pub(super) fn check_settles(&mut self, control: &mut impl SplitControl, windows: u32, near: f64) {
        let got = self.settles_after(control, near);
        assert!(
            got.is_some_and(|got| got <= windows),
            "weights {:?}, noise {}: within {near} after {got:?} windows, wanted {windows}; ends with {:?}, {} off",
            self.p,
            self.noise,
            self.slots,
            self.worst_error()
        );
    }
}

/// Every controller there is, as a scenario names it.
fn all() -> [SplitByV1; 7] {
    let tune = true;
    [
        SplitByV1::StcLead { period_us: 250_000, prior: 1.0, tune },
        SplitByV1::StcServed { period_us: 1_000_000, tune },
        SplitByV1::StcPaper {
            period_us: 10_000_000,
            warm_up: 6,
            design: DesignV1::PolePlacement,
            pole: 0.6,
            forgetting: 0.98,
            a_terms: 2,
            b_terms: 1,
            lag: 1,
        },
        SplitByV1::Pid { period_us: 5_000_000, kp: 0.2, ki: 0.2, kd: 0.05 },
        SplitByV1::PairwisePi { period_us: 30_000_000, gain: 0.3, zero: 0.05 },
        SplitByV1::PairwiseStc { period_us: 5_000_000, pole: 0.5, forgetting: 0.98 },
        SplitByV1::FeedForward { period_us: 1_000_000, think_us: 500_000, trim: 0.02 },
    ]
}

/// Those of this list that answer for themselves what odd samples do to them over a long time.
fn baselines() -> impl Iterator<Item = SplitByV1> {
    all().into_iter().skip(3)
}

fn control(split_by: &SplitByV1, p: &[f64]) -> Split {
    Split::new(split_by, &weights(p)).expect("every one of these is a controller")
}

#[track_caller]
fn check_shares(shares: &[f64], workers: u32) {
    assert!(shares.iter().all(|&share| share.is_finite() && share > 0.0), "shares {shares:?}");
    let counts = apportion(workers, shares);
    assert_eq!(counts.iter().sum::<u32>(), workers, "{counts:?} of shares {shares:?}");
    if workers as usize >= shares.len() {
        assert!(counts.iter().all(|&count| count >= 1), "{counts:?} of shares {shares:?}");
    }
}

/// Random samples, odd figures among them.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 += 1;
        mix(self.0) % n
    }

    /// Mostly a number of seconds; if `odd`, now and then what is none.
    fn seconds(&mut self, odd: bool) -> f64 {
        let strange = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -1.0, 1e300, 5e-324];
        match self.below(20) {
            n @ 0..6 if odd => strange[n as usize],
            0..8 => 0.0,
            _ => libm::exp(self.below(2_000) as f64 / 100.0 - 10.0),
        }
    }

    fn count(&mut self) -> u32 {
        match self.below(8) {
            0..3 => 0,
            3 => u32::MAX,
            _ => self.below(1_000) as u32,
        }
    }

    fn class(&mut self, odd: bool) -> ClassSample {
        ClassSample {
            joined: self.count(),
            started: self.count(),
            delay_s: self.seconds(odd),
            waiting: self.count(),
            oldest_s: self.seconds(odd),
            completed: self.count(),
            service_s: self.seconds(odd),
            busy: self.count(),
            workers: self.seconds(odd),
        }
    }

    fn classes(&mut self, classes: usize) -> Vec<ClassSample> {
        let odd = self.below(2) == 0;
        (0..classes).map(|_| self.class(odd)).collect()
    }
}

/// A run of random samples; gives the shares after each.
fn random_run(split_by: &SplitByV1, seed: u64) -> Vec<Vec<f64>> {
    let mut dice = Dice(mix(seed));
    let classes = 1 + dice.below(6) as usize;
    let workers = (classes as u64 + dice.below(3) * dice.below(60)) as u32;
    let p: Vec<f64> = (0..classes).map(|_| [1.0, 2.0, 0.001, 1_000.0][dice.below(4) as usize]).collect();
    let mut control = control(split_by, &p);
    let mut shares = vec![1.0 / classes as f64; classes];
    let mut out = Vec::new();
    for _ in 0..300 {
        control.on_sample(SplitSample { workers, classes: &dice.classes(classes) }, &mut shares);
        check_shares(&shares, workers);
        control.on_applied(&apportion(workers, &shares));
        let mut frame = LoopFrame::default();
        (0..classes).for_each(|class| control.describe(class, &mut frame));
        out.push(shares.clone());
    }
    out
}

#[test]
fn any_samples_give_shares_and_the_same_ones_again() {
    for split_by in all() {
        for seed in 0..60 {
            assert_eq!(random_run(&split_by, seed), random_run(&split_by, seed), "{split_by:?}, seed {seed}");
        }
    }
}

#[test]
fn one_class_has_all_workers_and_as_many_classes_as_workers_one_each() {
    for split_by in all() {
        for p in [&[1.0][..], &[1.0, 2.0, 4.0, 8.0]] {
            let mut plant = Closed::crowded(p);
            plant.workers = p.len() as u32;
            plant.slots = vec![1; p.len()];
            let mut control = control(&split_by, p);
            (0..50).for_each(|_| plant.step(&mut control));
            assert_eq!(plant.slots, vec![1; p.len()], "{split_by:?} with {} workers", p.len());
        }
    }
}

/// Most windows a controller may take to come back from odd samples.
///
/// What has learned or averages them has to unlearn them first, the self-tuned ratio with a model that is wrong.
fn recovery_windows(split_by: &SplitByV1) -> u32 {
    match split_by {
        SplitByV1::PairwiseStc { .. } => 450,
        SplitByV1::FeedForward { .. } => 150,
        _ => 30,
    }
}

/// Steers a plant, shows 50,000 windows of odd samples, and then the plant again.
#[track_caller]
fn check_recovery(split_by: &SplitByV1, name: &str, odd: impl Fn(&mut Dice) -> [ClassSample; 2]) {
    let mut control = control(split_by, &[1.0, 2.0]);
    let mut plant = Closed::crowded(&[1.0, 2.0]);
    (0..30).for_each(|_| plant.step(&mut control));
    let mut dice = Dice(7);
    for _ in 0..50_000 {
        plant.feed(&mut control, &odd(&mut dice));
    }
    let (got, most) = (plant.settles_after(&mut control, 0.2), recovery_windows(split_by));
    assert!(
        got.is_some_and(|got| got <= most),
        "{split_by:?} after {name}: settles after {got:?}, not {most}"
    );
}

#[test]
fn nothing_winds_up_however_long_the_samples_are_odd() {
    let idle = ClassSample::default();
    let stuck = ClassSample { waiting: 100, oldest_s: 1e6, ..idle };
    let quick = ClassSample { started: 100, completed: 100, service_s: 1.0, ..idle };
    let no_number = ClassSample { delay_s: f64::NAN, started: 5, ..idle };
    let endless = ClassSample { delay_s: f64::INFINITY, oldest_s: f64::INFINITY, started: 5, ..idle };
    for split_by in baselines() {
        for (name, samples) in [
            ("empty", [idle, idle]),
            ("one stuck", [stuck, quick]),
            ("the other stuck", [quick, stuck]),
            ("no number", [no_number, quick]),
            ("endless", [quick, endless]),
        ] {
            check_recovery(&split_by, name, |_| samples);
        }
        check_recovery(&split_by, "anything", |dice| [dice.class(true), dice.class(true)]);
    }
}
