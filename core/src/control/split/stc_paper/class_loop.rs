//! The loop of one class: it identifies, designs and controls by itself.

use super::design::Design;
use super::identify::{Identification, Orders};
use super::watchdog::Watchdog;
use crate::control::split::closed_loop::{Model, Regulator, gain_margin, is_stable_up_to};
use crate::frame::LoopFrame;
use alloc::vec;
use alloc::vec::Vec;

/// Most a class's share of the workers is changed at once (paper P, 0.6).
const MOST_STEP: f64 = 0.15;
/// Bounds of a share as a loop asks for it (paper P, 0.7).
const SHARE: (f64, f64) = (0.02, 0.98);

/// Least gain margin of a controller made of a learned model. One below it would be unstable if the true gain were a fifth
/// larger than estimated, which no estimate here excludes; models of more terms than the plant has give such controllers.
const LEAST_MARGIN: f64 = 1.2;

/// One class in one window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Its share of the sum of delays, 0 to 1.
    pub(super) output: f64,
    /// What that should be, 0 to 1.
    pub(super) set_point: f64,
    /// Its share of the workers in the window, 0 to 1.
    pub(super) input: f64,
    /// Least change of the input that is one.
    pub(super) least_change: f64,
    /// Whether the delay is of this window, and something may be learned of it.
    pub(super) may_learn: bool,
}

/// A model and the controller made of it.
#[derive(Clone, Debug)]
struct Tuning {
    model: Model,
    regulator: Regulator,
}

impl Tuning {
    fn new(model: Model, design: Design) -> Option<Self> {
        let regulator = design.regulator(&model)?;
        Some(Self { model, regulator })
    }

    fn is_robust(&self) -> bool {
        is_stable_up_to(&self.model, &self.regulator, LEAST_MARGIN)
    }
}

/// A self-tuning regulator. It knows nothing of the others, and takes what they do for disturbances (paper P, 0.4).
#[derive(Clone, Debug)]
pub(super) struct ClassLoop {
    design: Design,
    identification: Identification,
    watchdog: Watchdog,
    /// Of the model it began with; `None` only if the design gives nothing for that, which then holds the share.
    start: Option<Tuning>,
    /// Of the last learned model that the design had a good controller for; later models without one change nothing.
    learned: Option<Tuning>,
    /// Set point less output, newest first, one for each gain; none before the first window or after a break.
    errors: Vec<f64>,
    gains: usize,
    /// Bits of [`LoopFrame::FLAGS`].
    flags: u32,
}

impl ClassLoop {
    pub(super) fn new(orders: Orders, design: Design, forgetting: f64) -> Self {
        Self {
            design,
            identification: Identification::new(orders, forgetting),
            watchdog: Watchdog::new(),
            start: Tuning::new(orders.start_model(), design),
            learned: None,
            errors: Vec::new(),
            gains: orders.a_terms + 1,
            flags: 0,
        }
    }

    /// Notes a window without an output.
    pub(super) fn on_nothing(&mut self, input: f64) {
        self.identification.note(None, input);
        self.flags = 0;
    }

    /// Forgets the outputs so far, as those to come are not of the same scale. What was learned stays.
    pub(super) fn break_off(&mut self) {
        self.identification.break_off();
        self.errors.clear();
    }

    /// Notes a window, and gives the share of the workers the class should have in the next.
    pub(super) fn on_window(&mut self, seen: Seen) -> f64 {
        self.flags = if seen.may_learn { 0 } else { LoopFrame::STALE };
        // A delay of an earlier window is no answer to what was applied in this one.
        self.identification.note(seen.may_learn.then_some(seen.output), seen.input);
        self.learn(seen.least_change);
        self.note_error(seen.set_point - seen.output);
        (seen.input + self.step()).clamp(SHARE.0, SHARE.1)
    }

    fn learn(&mut self, least_change: f64) {
        let Some(lesson) = self.identification.learn(least_change) else { return };
        self.watchdog.on_lesson(&lesson);
        if lesson.was_cut {
            self.flags |= LoopFrame::ESTIMATE_CUT;
        }
        let tuning = Tuning::new(self.identification.model(), self.design);
        if let Some(good) = tuning.filter(Tuning::is_robust) {
            self.learned = Some(good);
        }
    }

    /// The first error stands for those before it: what was before the beginning is no change.
    fn note_error(&mut self, error: f64) {
        if self.errors.is_empty() {
            self.errors = vec![error; self.gains];
        } else if let [.., last] = &mut self.errors[..] {
            *last = error;
            self.errors.rotate_right(1);
        }
    }

    fn step(&mut self) -> f64 {
        let Some(Tuning { regulator, .. }) = self.tuning() else { return 0.0 };
        let changes: Vec<f64> =
            (0..regulator.f.len()).map(|ago| self.identification.input_change(ago)).collect();
        let step = regulator.step(&self.errors, &changes);
        let limited = step.clamp(-MOST_STEP, MOST_STEP);
        if limited != step {
            self.flags |= LoopFrame::STEP_CUT;
        }
        if limited.is_finite() { limited } else { 0.0 }
    }

    /// Whether the learned model may be used.
    pub(super) fn is_credible(&self) -> bool {
        self.watchdog.trusts()
    }

    /// What is in use: what was last learned that gives a controller, if it is trusted; else what it began with.
    fn tuning(&self) -> Option<&Tuning> {
        self.learned.as_ref().filter(|_| self.is_credible()).or(self.start.as_ref())
    }

    /// Writes model, gains, trust and flags.
    pub(super) fn describe(&self, out: &mut LoopFrame) {
        if let Some(Tuning { model, regulator }) = self.tuning() {
            let at = |of: &[f64], i: usize| of.get(i).copied().unwrap_or(0.0);
            out.a = [0, 1].map(|i| 0.0 - at(&model.a, i));
            out.b = model.b[0];
            out.gains = [0, 1, 2].map(|i| at(&regulator.g, i));
            out.margin = gain_margin(model, regulator);
        }
        out.trust = self.watchdog.ratio();
        out.uncertainty = self.identification.uncertainty();
        out.output = -self.errors.first().copied().unwrap_or(0.0);
        out.flags |= self.flags;
        if self.learned.is_some() && self.is_credible() {
            out.flags |= LoopFrame::LEARNED;
        }
    }
}
