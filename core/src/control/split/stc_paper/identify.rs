//! What an input does to an output, learned while the loop runs.

use super::history::History;
use crate::control::split::closed_loop::Model;
use crate::control::split::rls::Rls;
use alloc::vec;
use alloc::vec::Vec;

/// What the model begins with: half of the last change is kept, and the first input lowers the output by half of
/// its own change; all else is 0 (paper P, 0.5).
const START_A1: f64 = -0.5;
const START_B0: f64 = -0.5;
/// How uncertain each of these is, and the most that the trace of the covariance may grow to (paper P, 0.5).
const START_P: f64 = 100.0;
const MOST_TRACE: f64 = 1e4;

/// Bounds of `a1`, of the other parameters of `A`, of `b0` and of the others of `B` (paper P, 0.5; those of orders
/// above the default by the same measure). More workers never make a class slower, so the sign of `b0` is known; what later
/// effects take back of the first is not.
const A1: (f64, f64) = (-1.8, 0.9);
const A: (f64, f64) = (-0.9, 0.9);
const B0: (f64, f64) = (-3.0, -0.05);
const B: (f64, f64) = (-3.0, 3.0);

/// How many terms a model has.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orders {
    /// Past outputs, at least 1.
    pub(super) a_terms: usize,
    /// Past inputs, at least 1.
    pub(super) b_terms: usize,
    /// Windows from an input to its first effect, at least 1.
    pub(super) lag: usize,
}

impl Orders {
    /// Parameters of a model: those of `A`, then those of `B`.
    fn start(self) -> Vec<f64> {
        let mut theta = vec![0.0; self.a_terms + self.b_terms];
        theta[0] = START_A1;
        theta[self.a_terms] = START_B0;
        theta
    }

    fn model(self, theta: &[f64]) -> Model {
        let (a, b) = theta.split_at(self.a_terms);
        Model { a: a.to_vec(), b: b.to_vec(), lag: self.lag }
    }

    /// The model before anything is learned, without the terms that are 0: a root that `A` and `B` share, at 0 as it is, would
    /// leave the controller undetermined.
    pub(super) fn start_model(self) -> Model {
        Model { a: vec![START_A1], b: vec![START_B0], lag: self.lag }
    }

    fn bounds(self, parameter: usize) -> (f64, f64) {
        match parameter {
            0 => A1,
            i if i < self.a_terms => A,
            i if i == self.a_terms => B0,
            _ => B,
        }
    }
}

/// What came of one window in which something was learned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Lesson {
    /// Error of what the learned model had predicted.
    pub(super) learned_error: f64,
    /// Error of what the model of the beginning predicts.
    pub(super) start_error: f64,
    /// A parameter left its bounds and was put back.
    pub(super) was_cut: bool,
    /// One was put back to where the controller made of it would be hotter than it should be.
    pub(super) is_pinned: bool,
}

/// Identifies a model by recursive least squares on first differences (paper P, 0.4 and 0.5):
/// `dy(k) = -a1 dy(k-1) - a2 dy(k-2) + b0 du(k-lag) + ...`. Input and output hover around an operating point that
/// is not 0 and not known; differences need no offset for it.
///
/// A window is skipped if one of these differences is not known; and if every change of the input is less than what the
/// caller says is a change at all, since what the output does then is noise. The covariance stays as it is in both cases, so
/// it cannot wind up over a quiet night.
#[derive(Clone, Debug)]
pub(super) struct Identification {
    orders: Orders,
    rls: Rls,
    outputs: History,
    inputs: History,
}

impl Identification {
    pub(super) fn new(orders: Orders, forgetting: f64) -> Self {
        // One change needs two values.
        Self {
            orders,
            rls: Rls::new(&orders.start(), START_P, forgetting, MOST_TRACE),
            outputs: History::new(orders.a_terms + 2),
            inputs: History::new(orders.b_terms + orders.lag),
        }
    }

    /// Notes the output of a window and the input that was applied in it.
    pub(super) fn note(&mut self, output: Option<f64>, input: f64) {
        self.outputs.push(output);
        self.inputs.push(Some(input));
    }

    /// Forgets the outputs so far, as those to come are not of the same scale.
    pub(super) fn break_off(&mut self) {
        self.outputs = History::new(self.orders.a_terms + 2);
    }

    /// The applied change of the input `ago` windows before the last.
    pub(super) fn input_change(&self, ago: usize) -> f64 {
        self.inputs.change(ago).unwrap_or(0.0)
    }

    /// Learns from the last window noted, if it has anything to teach. Changes of the input up to `least` are none.
    pub(super) fn learn(&mut self, least: f64) -> Option<Lesson> {
        let (output, regressors) = self.regression()?;
        let (_, inputs) = regressors.split_at(self.orders.a_terms);
        if inputs.iter().all(|change| change.abs() <= least) {
            return None;
        }
        let start: f64 = self.orders.start().iter().zip(&regressors).map(|(theta, x)| theta * x).sum();
        let learned_error = self.rls.update(&regressors, output)?;
        let mut lesson =
            Lesson { learned_error, start_error: output - start, was_cut: false, is_pinned: false };
        for parameter in 0..regressors.len() {
            let bounds = self.orders.bounds(parameter);
            if self.rls.confine(parameter, bounds) {
                lesson.was_cut = true;
                // A gain at its largest makes the most careful controller there is; the one of the beginning is hotter.
                let is_careful = parameter == self.orders.a_terms && self.rls.theta()[parameter] == bounds.0;
                lesson.is_pinned |= !is_careful;
            }
        }
        Some(lesson)
    }

    /// Change of the output, and the changes it is to be explained by.
    fn regression(&self) -> Option<(f64, Vec<f64>)> {
        let Orders { a_terms, b_terms, lag } = self.orders;
        let outputs = (1..=a_terms).map(|ago| self.outputs.change(ago).map(|change| -change));
        let inputs = (0..b_terms).map(|ago| self.inputs.change(lag - 1 + ago));
        let regressors: Option<Vec<f64>> = outputs.chain(inputs).collect();
        Some((self.outputs.change(0)?, regressors?))
    }

    /// The model as learned so far.
    pub(super) fn model(&self) -> Model {
        self.orders.model(self.rls.theta())
    }

    /// How uncertain it is: trace of the covariance.
    pub(super) fn uncertainty(&self) -> f64 {
        self.rls.trace()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::unit::{Draw, mix};

    const DEFAULT: Orders = Orders { a_terms: 2, b_terms: 1, lag: 1 };
    const ALL: [Orders; 6] = [
        DEFAULT,
        Orders { a_terms: 1, b_terms: 1, lag: 1 },
        Orders { a_terms: 1, b_terms: 3, lag: 2 },
        Orders { a_terms: 2, b_terms: 2, lag: 3 },
        Orders { a_terms: 3, b_terms: 1, lag: 2 },
        Orders { a_terms: 3, b_terms: 3, lag: 1 },
    ];

    /// A plant around an operating point of 0.3 in and 0.4 out.
    struct Plant {
        model: Model,
        outputs: Vec<f64>,
        inputs: Vec<f64>,
    }

    impl Plant {
        fn new(model: Model) -> Self {
            Self { model, outputs: vec![0.0; 4], inputs: vec![0.0; 6] }
        }

        /// The output after a window with this input.
        fn window(&mut self, input: f64) -> f64 {
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            self.inputs.insert(0, input - 0.3);
            let output =
                dot(&self.model.b, &self.inputs[self.model.lag - 1..]) - dot(&self.model.a, &self.outputs);
            self.outputs.insert(0, output);
            0.4 + output
        }
    }

    /// A random input around 0.3.
    fn input(k: u64) -> f64 {
        0.3 + 0.4 * (Draw::from_bits(mix(k)).get() - 0.5)
    }

    #[track_caller]
    fn check_finds(orders: Orders, model: &Model, mut identification: Identification) {
        let mut plant = Plant::new(model.clone());
        for k in 0..400 {
            let input = input(k);
            identification.note(Some(plant.window(input)), input);
            identification.learn(0.001);
        }
        let got = identification.model();
        let pairs = || got.a.iter().zip(&model.a).chain(got.b.iter().zip(&model.b));
        let off = pairs().map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-3, "{orders:?}: found {got:?} for {model:?}");
        assert_eq!((got.a.len(), got.b.len()), (orders.a_terms, orders.b_terms), "terms of {orders:?}");
    }

    fn plant_of(orders: Orders) -> Model {
        let a = [-0.7, 0.2, -0.1][..orders.a_terms].to_vec();
        Model { a, b: [-1.2, 0.4, -0.3][..orders.b_terms].to_vec(), lag: orders.lag }
    }

    #[test]
    fn a_known_plant_is_found_whatever_its_operating_point() {
        for orders in ALL {
            check_finds(orders, &plant_of(orders), Identification::new(orders, 0.95));
        }
    }

    #[test]
    fn a_start_of_the_wrong_sign_recovers() {
        let mut identification = Identification::new(DEFAULT, 0.95);
        identification.rls = Rls::new(&[-0.5, 0.0, 2.0], START_P, 0.95, MOST_TRACE);
        for k in 0..8 {
            // The first lessons do not contradict the sign.
            identification.note(Some(0.4), input(k));
            let lesson = identification.learn(0.001);
            let b0 = identification.model().b[0];
            assert!(lesson.is_none() || (-3.0..=-0.05).contains(&b0), "b0 is {b0} after window {k}");
        }
        check_finds(DEFAULT, &plant_of(DEFAULT), identification);
    }

    #[test]
    fn no_change_of_the_input_teaches_nothing() {
        let mut identification = Identification::new(DEFAULT, 0.9);
        let mut plant = Plant::new(plant_of(DEFAULT));
        for k in 0..30 {
            identification.note(Some(plant.window(input(k))), input(k));
            identification.learn(0.001);
        }
        let before = (identification.model(), identification.uncertainty());
        for k in 0..1_000 {
            identification.note(Some(0.4 + 0.1 * input(k)), 0.3 + 0.0005 * (k % 2) as f64);
            let lesson = identification.learn(0.001);
            // The last change of the input that was one is in the regressors for as long as the lag says.
            assert!(k == 0 || lesson.is_none(), "window {k} taught {lesson:?}");
            if k == 0 {
                assert_ne!(identification.model(), before.0, "the last change was not used");
            }
        }
        let after = (identification.model(), identification.uncertainty());
        assert!(after.1 < 1.1 * before.1, "uncertainty went from {} to {}", before.1, after.1);
    }

    #[test]
    fn a_window_with_a_gap_among_its_regressors_is_skipped() {
        let mut identification = Identification::new(DEFAULT, 0.98);
        let mut lessons = Vec::new();
        for k in 0..12 {
            identification.note((k != 5).then(|| input(k + 50)), input(k));
            lessons.push(identification.learn(0.001).is_some());
        }
        // Four outputs make three changes; the gap is in them for four windows.
        let want = [false, false, false, true, true, false, false, false, false, true, true, true];
        assert_eq!(lessons, want, "windows that taught something");
    }

    #[test]
    fn what_is_no_number_is_a_gap() {
        let mut identification = Identification::new(DEFAULT, 0.98);
        for k in 0..50 {
            let bad = [f64::NAN, f64::INFINITY, 0.4][k % 3];
            identification.note(Some(bad), bad);
            assert_eq!(identification.learn(0.001), None, "window {k} of {bad}");
        }
        assert_eq!(identification.rls.theta(), DEFAULT.start(), "the model moved");
    }

    #[test]
    fn estimates_stay_within_their_bounds() {
        for orders in ALL {
            let mut identification = Identification::new(orders, 0.9);
            let mut cuts = 0;
            for k in 0..500 {
                // The output rises with the input, which it cannot.
                identification.note(Some(4.0 * input(k) + input(k + 1_000)), input(k));
                let lesson = identification.learn(0.001);
                cuts += u32::from(lesson.is_some_and(|lesson| lesson.was_cut));
                let Model { a, b, .. } = identification.model();
                let theta: Vec<f64> = a.into_iter().chain(b).collect();
                for (i, &x) in theta.iter().enumerate() {
                    let (low, high) = orders.bounds(i);
                    assert!((low..=high).contains(&x), "parameter {i} of {orders:?} is {x}");
                }
            }
            assert!(cuts > 10, "{orders:?}: only {cuts} windows were cut");
        }
    }

    #[test]
    fn a_gain_at_its_largest_is_cut_and_not_pinned() {
        let lesson = |gain: f64| {
            let mut identification = Identification::new(DEFAULT, 0.98);
            let mut plant = Plant::new(Model { a: vec![-0.5, 0.0], b: vec![gain], lag: 1 });
            let mut last = None;
            for k in 0..60 {
                identification.note(Some(plant.window(input(k))), input(k));
                last = identification.learn(0.001);
            }
            last.map(|lesson| (lesson.was_cut, lesson.is_pinned))
        };
        assert_eq!(lesson(-6.0), Some((true, false)), "a gain of -6");
        assert_eq!(lesson(-1.0), Some((false, false)), "a gain of -1");
        assert_eq!(lesson(0.5), Some((true, true)), "a gain of 0.5");
    }

    #[test]
    fn both_models_are_judged_by_what_they_predict() {
        let mut identification = Identification::new(DEFAULT, 0.98);
        let start = DEFAULT.start_model();
        let mut plant = Plant::new(start);
        for k in 0..20 {
            identification.note(Some(plant.window(input(k))), input(k));
            if let Some(lesson) = identification.learn(0.001) {
                assert!(lesson.start_error.abs() < 1e-12, "the plant is the start, and yet {lesson:?}");
                assert!(lesson.learned_error.abs() < 1e-12, "nothing was to be learned, and yet {lesson:?}");
            }
        }
    }
}
