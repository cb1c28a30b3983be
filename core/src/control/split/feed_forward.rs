//! A split from a queueing model: how many workers each class needs for its delay, given who is there.
//!
//! It answers a change of the load at once, as it need not wait for delays to show it. What the model does not know
//! (think times other than assumed, queues that grow or drain) a slow correction from the delays of those served makes
//! up for.

use super::ground::{Ground, finish};
use super::sense::ServiceTime;
use super::{ClassSample, SplitControl, SplitSample, errors};
use crate::frame::LoopFrame;
use crate::time::Duration;
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;

/// Part of the past that the delays behind the correction keep.
const KEPT: f64 = 0.8;
/// Weight of the newest sample in the number of clients and in the throughput.
const NEWEST: f64 = 0.5;
/// Service time of a class nobody of which was served yet, in seconds; keeps the model's terms finite.
const LEAST_SERVICE_S: f64 = 1e-9;
/// Clients below which a class is taken for empty.
const NOBODY: f64 = 0.5;
/// Largest correction, as a logarithm.
const LARGEST_TRIM: f64 = 1.0;
/// Halvings in the search for the common delay: the interval shrinks to the resolution of its upper end.
const HALVINGS: u32 = 60;

/// Feed-forward with a slow correction (paper P, 0.3 and 0.8, `FeedForward`).
///
/// `c_i` clients of class i who think for `Z` and are served for `S_i` wait `c_i S_i / n_i - S_i - Z` if `n_i` workers are
/// too few. Delays `p_i D` use the whole pool where `sum c_i S_i / (p_i D + S_i + Z) = N`, whose terms are the workers
/// of the classes. `c_i` is estimated as jobs inside plus throughput times `Z`. If no `D` above zero solves it, there
/// are workers for everybody, nobody need wait, and the split is held.
#[derive(Clone, Debug)]
pub struct FeedForward {
    period: Duration,
    think_s: f64,
    gain: f64,
    ground: Ground,
    classes: Vec<Model>,
    errors: Vec<f64>,
}

/// What is known of one class.
#[derive(Clone, Copy, Debug, Default)]
struct Model {
    service: ServiceTime,
    /// Completions a second.
    throughput: f64,
    /// Clients, those who think included.
    clients: f64,
    /// Correction, as a logarithm.
    trim: f64,
}

impl Model {
    fn on_sample(&mut self, seen: &ClassSample, period_s: f64, think_s: f64) {
        self.service.on_sample(seen);
        self.throughput += NEWEST * (f64::from(seen.completed) / period_s - self.throughput);
        let inside = f64::from(seen.waiting) + f64::from(seen.busy);
        self.clients += NEWEST * (inside + self.throughput * think_s - self.clients);
    }

    /// Workers it needs for a delay, in seconds.
    fn workers_for(&self, delay_s: f64, think_s: f64) -> f64 {
        let service_s = self.service.get().unwrap_or(LEAST_SERVICE_S);
        self.clients * service_s / (delay_s + service_s + think_s)
    }

    fn lacks_service_time(&self) -> bool {
        self.service.get().is_none() && self.clients >= NOBODY
    }
}

impl FeedForward {
    /// For classes with these weights, whose clients think for `think`; `trim` is the gain of the correction a sample.
    #[must_use]
    pub fn new(weights: &[DelayWeight], period: Duration, think: Duration, trim: f64) -> Self {
        Self {
            period,
            think_s: think.as_secs_f64(),
            gain: trim,
            ground: Ground::new(weights, KEPT),
            classes: vec![Model::default(); weights.len()],
            errors: vec![0.0; weights.len()],
        }
    }

    fn models(&self) -> impl Iterator<Item = (&Model, f64)> {
        self.classes.iter().zip(self.ground.weights().iter().map(|weight| weight.get()))
    }

    /// Workers that all need for a delay of `delay_s` for each unit of weight.
    fn workers_for(&self, delay_s: f64) -> f64 {
        self.models().map(|(class, weight)| class.workers_for(weight * delay_s, self.think_s)).sum()
    }

    /// Delay for each unit of weight that uses `workers`, in seconds; `None` if they are enough for no delay at all.
    ///
    /// The need falls as the delay grows, and each term is below `c_i S_i / (p_i D)`, which bounds the search.
    fn common_delay_s(&self, workers: f64) -> Option<f64> {
        if self.workers_for(0.0) <= workers {
            return None;
        }
        let need =
            |(class, weight): (&Model, f64)| class.clients * class.service.get().unwrap_or(0.0) / weight;
        let (mut low, mut high) = (0.0, self.models().map(need).sum::<f64>() / workers);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if self.workers_for(middle) > workers {
                low = middle;
            } else {
                high = middle;
            }
        }
        Some(high)
    }

    /// Moves the corrections by the errors of the delays of those served.
    fn correct(&mut self) {
        errors(self.ground.delays_s(), self.ground.weights(), &mut self.errors);
        for (class, error) in self.classes.iter_mut().zip(&self.errors) {
            class.trim = (class.trim + self.gain * error).clamp(-LARGEST_TRIM, LARGEST_TRIM);
        }
        let mean = self.classes.iter().map(|class| class.trim).sum::<f64>() / self.classes.len() as f64;
        self.classes.iter_mut().for_each(|class| class.trim -= mean);
    }
}

impl SplitControl for FeedForward {
    fn period(&self) -> Duration {
        self.period
    }

    fn on_sample(&mut self, seen: SplitSample<'_>, shares: &mut [f64]) {
        if !self.ground.observe(seen) {
            return;
        }
        let period_s = self.period.as_secs_f64();
        for (class, seen) in self.classes.iter_mut().zip(seen.classes) {
            class.on_sample(seen, period_s, self.think_s);
        }
        if self.is_learning() {
            return;
        }
        let Some(delay_s) = self.common_delay_s(f64::from(seen.workers)) else { return };
        self.correct();
        for (share, (class, weight)) in shares.iter_mut().zip(self.models()) {
            *share = class.workers_for(weight * delay_s, self.think_s) * libm::exp(class.trim);
        }
        finish(shares, seen.workers);
    }

    /// While a class has clients and none of them has been served.
    fn is_learning(&self) -> bool {
        self.classes.iter().any(Model::lacks_service_time)
    }

    /// The correction, and the error it follows.
    fn describe(&self, class: usize, out: &mut LoopFrame) {
        out.bias = self.classes[class].trim;
        out.output = self.errors[class];
        if self.ground.delays_s()[class].is_none() {
            out.flags |= LoopFrame::STALE;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{Closed, weights};
    use super::*;

    fn control(p: &[f64], think_ms: u64, trim: f64) -> FeedForward {
        FeedForward::new(&weights(p), Duration::from_secs(1), Duration::from_millis(think_ms), trim)
    }

    /// Workers of 64 for so many clients each, served for 0.25 s and thinking for 0.5 s (paper P, 0.9).
    #[track_caller]
    fn check_oracle(p: &[f64], clients: &[f64], want: &[f64]) {
        let mut control = control(p, 500, 0.0);
        for (class, &clients) in control.classes.iter_mut().zip(clients) {
            *class = Model { service: ServiceTime::of(0.25), clients, ..Model::default() };
        }
        let delay_s = control.common_delay_s(64.0).expect("64 workers are too few");
        let workers = control.models().map(|(class, weight)| class.workers_for(weight * delay_s, 0.5));
        let got: Vec<f64> = workers.collect();
        let close = got.iter().zip(want).all(|(got, want)| (got - want).abs() < 0.06);
        assert!(close, "{clients:?} clients who wait {delay_s} s need {got:?} workers, published {want:?}");
        assert!((got.iter().sum::<f64>() - 64.0).abs() < 1e-9, "the whole pool is used: {got:?}");
    }

    #[test]
    fn the_model_is_solved_as_published() {
        check_oracle(&[1.0, 2.0], &[200.0, 200.0], &[37.7, 26.3]);
        check_oracle(&[1.0, 2.0], &[400.0, 200.0], &[49.0, 15.0]);
        check_oracle(&[1.0, 2.0, 4.0], &[150.0; 3], &[29.6, 21.1, 13.3]);
        check_oracle(&[1.0, 2.0, 4.0], &[300.0, 150.0, 150.0], &[42.6, 13.5, 7.8]);
    }

    #[test]
    fn it_steers_two_and_four_classes_to_the_ratio() {
        for p in [&[1.0, 2.0][..], &[1.0, 2.0, 4.0, 8.0]] {
            Closed::crowded(p).check_settles(&mut control(p, 500, 0.02), 5, 0.12);
            Closed::crowded(p).noisy(0.1).check_settles(&mut control(p, 500, 0.02), 5, 0.2);
        }
    }

    #[test]
    fn a_wrong_think_time_costs_speed_but_no_accuracy() {
        // Clients inside are counted, so the fixed point of model and plant is the target whatever `Z` is.
        let p = [1.0, 2.0];
        for think_ms in [0, 500, 5_000] {
            let off = Closed::crowded(&p).worst_error_after(&mut control(&p, think_ms, 0.0), 100);
            assert!(off < 0.05, "with {think_ms} ms for 500 it ends {off} off");
        }
    }

    #[test]
    fn the_correction_makes_up_for_wrong_service_times() {
        let p = [1.0, 2.0];
        let off =
            |trim| Closed::crowded(&p).misreading(1.5).worst_error_after(&mut control(&p, 500, trim), 400);
        let (wrong, corrected) = (off(0.0), off(0.02));
        assert!(wrong > 0.15, "without correction it is only {wrong} off");
        assert!(corrected < 0.05, "with correction it is {corrected} off");
    }

    #[test]
    fn the_split_is_held_where_the_model_has_no_answer() {
        let clients = |waiting, completed| ClassSample {
            waiting,
            busy: 4,
            completed,
            service_s: f64::from(completed) * 0.25,
            started: completed,
            delay_s: f64::from(completed),
            ..ClassSample::default()
        };
        let check = |classes: [ClassSample; 2], learning: bool, why: &str| {
            let mut control = control(&[1.0, 2.0], 0, 0.02);
            let mut shares = [0.6, 0.4];
            for _ in 0..5 {
                control.on_sample(SplitSample { workers: 16, classes: &classes }, &mut shares);
            }
            assert_eq!(shares, [0.6, 0.4], "{why}");
            assert_eq!(control.is_learning(), learning, "{why}: learning");
        };
        check([clients(0, 8); 2], false, "there are workers for everybody");
        check([clients(50, 8), clients(50, 0)], true, "nobody of the second class was served");
        check([ClassSample::default(); 2], false, "nobody is there");
    }

    #[test]
    fn an_empty_class_is_left_one_worker() {
        let mut control = control(&[1.0, 2.0], 0, 0.02);
        let full = ClassSample {
            waiting: 80,
            busy: 8,
            completed: 40,
            service_s: 10.0,
            started: 40,
            delay_s: 80.0,
            ..ClassSample::default()
        };
        let mut shares = [0.5; 2];
        control.on_sample(SplitSample { workers: 16, classes: &[full, ClassSample::default()] }, &mut shares);
        assert_eq!(super::super::apportion(16, &shares), [15, 1], "shares {shares:?}");
    }
}
