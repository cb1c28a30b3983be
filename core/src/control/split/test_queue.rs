//! A stage for tests of split controllers: clients in closed loops, first come first served, and no chance.

use super::{ClassSample, SplitControl, SplitSample, apportion};
use alloc::collections::VecDeque;
use alloc::vec;
use alloc::vec::Vec;

/// Time between two looks at the clock, in seconds.
const TICK_S: f64 = 0.01;

/// Clients of a class: each thinks, waits, is served, and thinks again.
#[derive(Clone, Debug)]
pub(super) struct Clients {
    service_s: f64,
    think_s: f64,
    /// When each of those who think comes, in order.
    thinking: VecDeque<f64>,
    /// Since when each of those who wait does.
    waiting: VecDeque<f64>,
    /// When each of those in work leaves, in order.
    in_work: VecDeque<f64>,
    seen: ClassSample,
}

impl Clients {
    /// So many, whose first requests come evenly over the time they think.
    pub(super) fn new(count: u32, service_s: f64, think_s: f64) -> Self {
        let mut clients = Self {
            service_s,
            think_s,
            thinking: VecDeque::new(),
            waiting: VecDeque::new(),
            in_work: VecDeque::new(),
            seen: ClassSample::default(),
        };
        clients.join(0.0, count);
        clients
    }

    fn join(&mut self, now: f64, count: u32) {
        self.thinking.extend((0..count).map(|i| now + self.think_s * f64::from(i) / f64::from(count)));
        self.thinking.make_contiguous().sort_by(f64::total_cmp);
    }

    fn pass(&mut self, now: f64, workers: u32) {
        while self.in_work.front().is_some_and(|&end| end <= now) {
            self.in_work.pop_front();
            self.seen.completed += 1;
            self.seen.service_s += self.service_s;
            self.thinking.push_back(now + self.think_s);
        }
        while self.thinking.front().is_some_and(|&comes| comes <= now) {
            self.waiting.extend(self.thinking.pop_front());
            self.seen.joined += 1;
        }
        while self.in_work.len() < workers as usize {
            let Some(since) = self.waiting.pop_front() else { return };
            self.in_work.push_back(now + self.service_s);
            self.seen.started += 1;
            self.seen.delay_s += now - since;
        }
    }

    fn sample(&mut self, now: f64, workers: u32) -> ClassSample {
        let oldest_s = self.waiting.front().map_or(0.0, |since| now - since);
        let (waiting, busy) = (self.waiting.len() as u32, self.in_work.len() as u32);
        let seen = ClassSample { waiting, oldest_s, busy, workers: f64::from(workers), ..self.seen };
        self.seen = ClassSample::default();
        seen
    }
}

/// A stage whose workers are split among the clients' classes by a controller.
#[derive(Clone, Debug)]
pub(super) struct Stage {
    now_s: f64,
    pub(super) classes: Vec<Clients>,
    pub(super) workers: u32,
    pub(super) split: Vec<u32>,
    pub(super) shares: Vec<f64>,
}

impl Stage {
    /// Begins with equal parts.
    pub(super) fn new(workers: u32, classes: Vec<Clients>) -> Self {
        let shares = vec![1.0 / classes.len() as f64; classes.len()];
        Self { now_s: 0.0, split: apportion(workers, &shares), classes, workers, shares }
    }

    /// More clients of a class.
    pub(super) fn join(&mut self, class: usize, count: u32) {
        let now = self.now_s;
        self.classes[class].join(now, count);
    }

    /// The clients of a class leave as soon as they are not in work.
    pub(super) fn leave(&mut self, class: usize) {
        self.classes[class].thinking.clear();
        self.classes[class].waiting.clear();
    }

    /// Lets the controller split for so long; the mean delay of each class over that time, in seconds.
    pub(super) fn run(&mut self, control: &mut impl SplitControl, seconds: f64) -> Vec<f64> {
        let period_s = control.period().as_secs_f64();
        let mut sums = vec![(0.0, 0.0); self.classes.len()];
        let until = self.now_s + seconds;
        while self.now_s < until {
            let seen = self.window(period_s);
            for (sum, seen) in sums.iter_mut().zip(&seen) {
                *sum = (sum.0 + seen.delay_s, sum.1 + f64::from(seen.started));
            }
            self.split(control, &seen);
        }
        sums.iter().map(|(delay_s, started)| delay_s / started).collect()
    }

    fn window(&mut self, seconds: f64) -> Vec<ClassSample> {
        let ticks = libm::round(seconds / TICK_S) as u32;
        for _ in 0..ticks {
            self.now_s += TICK_S;
            for (class, &workers) in self.classes.iter_mut().zip(&self.split) {
                class.pass(self.now_s, workers);
            }
        }
        let now = self.now_s;
        self.classes.iter_mut().zip(&self.split).map(|(class, &workers)| class.sample(now, workers)).collect()
    }

    fn split(&mut self, control: &mut impl SplitControl, seen: &[ClassSample]) {
        control.on_sample(SplitSample { workers: self.workers, classes: seen }, &mut self.shares);
        check_shares(&self.shares);
        self.split = apportion(self.workers, &self.shares);
        control.on_applied(&self.split);
    }
}

/// Shares are finite, positive and sum to 1.
#[track_caller]
pub(super) fn check_shares(shares: &[f64]) {
    assert!(shares.iter().all(|share| share.is_finite() && *share > 0.0), "not all are shares: {shares:?}");
    let sum: f64 = shares.iter().sum();
    assert!((sum - 1.0).abs() < 1e-9, "{shares:?} sum to {sum}");
}

/// Delays keep to the ratio of the weights: largest over smallest normalised delay at most `1 + off`.
#[track_caller]
pub(super) fn check_ratio(what: &str, delays_s: &[f64], weights: &[f64], off: f64) {
    let normalised = || delays_s.iter().zip(weights).map(|(delay, weight)| delay / weight);
    let (least, most) = (normalised().fold(f64::INFINITY, f64::min), normalised().fold(0.0, f64::max));
    assert!(most / least <= 1.0 + off, "{what}: delays {delays_s:?} s for weights {weights:?}");
}

/// Samples that no stage sends, or that a broken one might: `kind` chooses.
pub(super) fn odd_sample(kind: u64) -> ClassSample {
    let busy = ClassSample {
        joined: 9,
        started: 9,
        delay_s: 3.0,
        waiting: 30,
        oldest_s: 1.0,
        completed: 9,
        service_s: 0.9,
        busy: 4,
        workers: 4.0,
    };
    let floats = |x| ClassSample { delay_s: x, oldest_s: x, service_s: x, workers: x, ..busy };
    match kind % 12 {
        0 => ClassSample::default(),
        1 => floats(f64::NAN),
        2 => floats(f64::INFINITY),
        3 => floats(f64::NEG_INFINITY),
        4 => floats(f64::MAX),
        5 => floats(0.0),
        6 => floats(1e15),
        7 => floats(5e-324),
        8 => ClassSample {
            started: u32::MAX,
            waiting: u32::MAX,
            completed: u32::MAX,
            joined: u32::MAX,
            ..busy
        },
        9 => ClassSample { waiting: u32::MAX, started: 0, delay_s: 0.0, oldest_s: 1e15, ..busy },
        10 => ClassSample { workers: 0.0, ..busy },
        _ => busy,
    }
}
