//! What a gateway is expected to do with the traffic it has: its scenario, played with the load measured lately, again and
//! again beside a live one. Where measured and expected part, the model is wrong or the system is.

use super::{App, Mode, start_worker};
use crate::feed::{Feed, window_s};
use crate::history::{Means, Plot};
use crate::protocol::{Answer, Note, Numbers, Order};
use tidegate_core::frame::Frame;
use tidegate_core::scenario::v1::LoadV1;
use tidegate_core::scenario::{Scenario, to_canonical_json};
use wasm_bindgen::prelude::*;
use web_sys::Worker;
use yew::prelude::*;

/// The worker of these runs; comparisons number theirs from below.
pub(super) const WORKER: usize = usize::MAX;
/// Load is measured over so long, in seconds; then there is another run.
const MEASURED_S: f64 = 10.0;
/// Length of a run, in seconds, and about the most requests in one.
const RUN_S: f64 = 40.0;
const MOST_REQUESTS: f64 = 60_000.0;
/// Runs whose means are kept: the axis of Live shows two minutes.
const KEPT: usize = 13;

/// Runs for the live system.
#[derive(Default)]
pub(super) struct State {
    worker: Option<Worker>,
    is_ready: bool,
    /// Number of the connection that all of this is about.
    system: u32,
    /// Number of the last run.
    number: u32,
    /// From where the load is measured.
    since: Option<Frame>,
    /// The run under way and the stretch of time it is for, in seconds.
    run: Option<(Feed, f64, f64)>,
    /// What came out, the oldest first.
    pub(super) means: Vec<Means>,
}

/// The scenario with the load measured between two frames; `None` if nobody asked, or no such scenario can be run.
fn with_load(scenario: &Scenario, since: &Frame, now: &Frame) -> Option<Scenario> {
    let span_s = now.now.as_secs_f64() - since.now.as_secs_f64();
    let mut wire = scenario.wire().clone();
    let mut sum = 0.0;
    for (class, (then, now)) in wire.classes.iter_mut().zip(since.classes.iter().zip(&now.classes)) {
        let rate_per_s = now.arrived.saturating_sub(then.arrived) as f64 / span_s;
        class.load = LoadV1::Poisson { rate_per_s };
        sum += rate_per_s;
    }
    if !(sum > 0.0 && sum.is_finite()) {
        return None;
    }
    wire.events.clear();
    wire.edits.clear();
    wire.run.horizon_us = (RUN_S.min(MOST_REQUESTS / sum) * 1e6) as u64;
    wire.run.warmup_us = None;
    Scenario::check(wire).ok()
}

impl App {
    /// Has the present load played, whenever enough of it was measured.
    pub(super) fn predict(&mut self, ctx: &Context<Self>) {
        let Some(feed) = self.live.feed.as_ref().filter(|_| self.mode == Mode::Live && self.live.is_on())
        else {
            return;
        };
        let Some(now) = feed.now() else { return };
        let state = &mut self.predict;
        // A server that began anew has a clock that did, too.
        let began_anew = state.since.as_ref().is_some_and(|since| now.now < since.now);
        if state.system != feed.number || began_anew {
            (state.system, state.since, state.run) = (feed.number, None, None);
            state.means.clear();
        }
        let since = state.since.get_or_insert_with(|| now.clone());
        let (from_s, to_s) = (since.now.as_secs_f64(), now.now.as_secs_f64());
        if state.run.is_some() || to_s - from_s < MEASURED_S {
            return;
        }
        let played = with_load(&feed.scenario, since, now);
        state.since = Some(now.clone());
        let Some(scenario) = played else { return };
        if state.worker.is_none() {
            state.worker = start_worker(ctx.link(), WORKER).ok();
        }
        state.number += 1;
        let horizon_s = scenario.horizon.as_secs_f64();
        let step_s = horizon_s / f64::from(crate::engine::STEPS);
        state.run = Some((Feed::new(state.number, scenario, window_s(horizon_s), step_s), from_s, to_s));
        if state.is_ready {
            state.send();
        }
    }

    /// Hears the worker of these runs.
    pub(super) fn hear_prediction(&mut self, data: &JsValue) -> bool {
        let state = &mut self.predict;
        if let Some(array) = data.dyn_ref::<js_sys::Float64Array>() {
            if let (Ok(Numbers::History(part)), Some((feed, ..))) =
                (Numbers::decode(&array.to_vec()), &mut state.run)
                && part.run == state.number
            {
                part.frames.iter().for_each(|frame| feed.remember(frame));
            }
            return false;
        }
        match crate::worker::heard(data).and_then(Note::answer) {
            Some(Answer::Ready) => {
                state.is_ready = true;
                state.send();
            }
            Some(Answer::Done { run, .. }) if run == state.number => {
                if let Some((feed, from_s, to_s)) = state.run.take() {
                    state.means.push(Plot::new(&feed, None, None).means(from_s, to_s));
                    let spare = state.means.len().saturating_sub(KEPT);
                    state.means.drain(..spare);
                }
            }
            Some(Answer::Refused { run, .. }) if run == state.number => state.run = None,
            _ => {}
        }
        false
    }
}

impl State {
    /// Sends the run under way to the worker.
    fn send(&self) {
        let (Some(worker), Some((feed, ..))) = (&self.worker, &self.run) else { return };
        let scenario = to_canonical_json(feed.scenario.wire());
        let order = Order::Load { run: self.number, scenario, at_s: 0.0, with_log: false };
        if let Ok(note) = crate::worker::to_js(&order.into()) {
            let _ = worker.post_message(&note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::frame::ClassFrame;
    use tidegate_core::scenario::presets;
    use tidegate_core::time::{Duration, Instant};

    fn frame(at_s: u64, arrived: &[u64]) -> Frame {
        Frame {
            now: Instant::START + Duration::from_secs(at_s),
            classes: arrived.iter().map(|&arrived| ClassFrame { arrived, ..ClassFrame::default() }).collect(),
            ..Frame::default()
        }
    }

    #[test]
    fn the_load_is_what_was_measured_and_nothing_is_planned() {
        let scenario = presets::get("flash-crowd").expect("a preset").scenario();
        let made =
            with_load(&scenario, &frame(20, &[5, 50, 7]), &frame(30, &[1005, 50, 2007])).expect("a scenario");
        let rates: Vec<_> = made.wire().classes.iter().map(|class| class.load.clone()).collect();
        let poisson = |rate_per_s| LoadV1::Poisson { rate_per_s };
        assert_eq!(rates, [poisson(100.0), poisson(0.0), poisson(200.0)]);
        assert!(made.wire().events.is_empty());
        assert_eq!(made.wire().run.horizon_us, 40_000_000);
        assert_eq!(made.wire().stages, scenario.wire().stages, "the policies stay");
    }

    #[test]
    fn a_run_is_short_where_much_is_asked_and_none_where_nothing_is() {
        let scenario = presets::get("mm1").expect("a preset").scenario();
        let much = with_load(&scenario, &frame(0, &[0]), &frame(10, &[200_000])).expect("a scenario");
        assert_eq!(much.wire().run.horizon_us, 3_000_000);
        assert!(with_load(&scenario, &frame(0, &[9]), &frame(10, &[9])).is_none());
        assert!(
            with_load(&scenario, &frame(0, &[9]), &frame(10, &[2])).is_none(),
            "a server that began anew"
        );
    }
}
