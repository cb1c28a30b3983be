//! The guided tour: one idea at a time, on the running page.

use super::{App, Prefs};
use wasm_bindgen::JsCast;
use yew::prelude::*;

/// One step.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// The scenario it is shown on.
    pub preset: &'static str,
    /// The moment, in seconds.
    pub at_s: f64,
    /// Whether it plays; most figures are told of a moment.
    pub plays: bool,
    /// The part of the page it is about, as a selector.
    pub part: &'static str,
}

const fn step(preset: &'static str, at_s: f64, part: &'static str) -> Step {
    Step { preset, at_s, plays: false, part }
}

/// The steps, in the order of their texts.
pub const STEPS: [Step; 10] = [
    Step { plays: true, ..step("flash-crowd", 20.0, ".cols") },
    step("flash-crowd", 75.0, ".story"),
    step("flash-crowd", 75.0, ".stage:not(.early)"),
    step("starvation", 30.0, ".stage"),
    step("starvation-aged", 30.0, ".stage"),
    step("pdd-two-class", 660.0, ".pool"),
    step("slow-backend", 200.0, ".cards"),
    step("flash-crowd", 110.0, ".modes"),
    step("flash-crowd", 110.0, "#share"),
    step("flash-crowd", 110.0, "#serve"),
];

/// Where the tour stands.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The step that is shown, from 0.
    pub step: Option<usize>,
    /// Whether it is offered, as to somebody who is here for the first time.
    pub offered: bool,
    /// Whether the step is to be focused once it is rendered.
    fresh: bool,
}

/// A command.
#[derive(Clone, Debug, PartialEq)]
pub enum Do {
    /// To a step, from 0.
    To(usize),
    /// To the next (or previous) step.
    By(bool),
    /// Ends it, or stops offering it.
    Leave,
}

impl State {
    /// The tour of a page that was just opened; in a page inside another nobody is taken by the hand.
    #[must_use]
    pub fn new(embedded: bool) -> Self {
        Self { offered: !embedded && Prefs::kept("tour").is_none(), ..Self::default() }
    }
}

impl App {
    pub(super) fn tour(&mut self, ctx: &Context<Self>, command: Do) {
        match (command, self.tour.step) {
            (Do::To(at), _) => self.show_step(ctx, at),
            (Do::By(true), Some(at)) => self.show_step(ctx, at + 1),
            (Do::By(false), Some(at)) => self.show_step(ctx, at.saturating_sub(1)),
            (Do::By(_), None) => {}
            (Do::Leave, _) => {
                self.tour = State::default();
                Prefs::keep("tour", "seen");
                self.write_address(false);
            }
        }
    }

    fn show_step(&mut self, ctx: &Context<Self>, at: usize) {
        let Some(step) = STEPS.get(at) else { return };
        if !self.have_preset(ctx, step.preset, super::Do::Tour(Do::To(at))) {
            return self.stand();
        }
        let before = self.tour.step.and_then(|at| STEPS.get(at));
        self.tour = State { step: Some(at), offered: false, fresh: true };
        Prefs::keep("tour", "seen");
        self.dialog = None;
        self.sheet = false;
        self.focus = false;
        self.playing = step.plays && !self.prefs.still;
        // The same scenario at another moment need not begin again.
        if self.preset == Some(step.preset) && before.is_some() {
            self.seek(step.at_s);
        } else {
            self.open_preset(step.preset, step.at_s);
        }
        self.write_address(false);
    }

    /// Brings the step and what it points at into view.
    pub(super) fn point_at_step(&mut self) {
        let Some(step) = self.tour.step.filter(|_| core::mem::take(&mut self.tour.fresh)) else { return };
        let Some(document) = web_sys::window().and_then(|w| w.document()) else { return };
        if let Ok(Some(part)) = document.query_selector(STEPS.get(step).map_or("", |step| step.part)) {
            part.scroll_into_view();
        }
        if let Some(next) =
            document.get_element_by_id("tour-next").and_then(|e| e.dyn_into::<web_sys::HtmlElement>().ok())
        {
            let _ = next.focus();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::presets;

    #[test]
    fn every_step_shows_a_preset_at_a_moment_of_it() {
        for step in STEPS {
            let scenario = presets::get(step.preset).expect("a preset").scenario();
            assert!(step.at_s < scenario.horizon.as_secs_f64(), "{}", step.preset);
        }
        assert_eq!(STEPS.len(), crate::view::tour::TEXTS.len());
    }
}
