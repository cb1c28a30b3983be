//! A running system as the page sees it: its scenario, the last frames, and its history. A simulated run and a
//! live server both come as one of these, so one renderer draws both.

use crate::draw::model::ServerView;
use crate::draw::{Cast, PictureModel};
use std::collections::VecDeque;
use tidegate_core::frame::{Frame, LoopFrame, SplitFrame, SplitState};
use tidegate_core::measure::{History, Names};
use tidegate_core::scenario::Scenario;
use tidegate_core::theory;
use tidegate_core::time::{Duration, Instant};

/// A running system.
#[derive(Clone, Debug)]
pub struct Feed {
    /// What runs, as it is in force at the last frame.
    pub scenario: Scenario,
    /// The same with its edits, if it has any.
    edited: Option<Scenario>,
    /// What the painter needs to know of it.
    pub cast: Cast,
    /// How it looks now.
    pub model: PictureModel,
    /// How it went.
    pub history: History,
    /// Which system: no two that the page has seen have the same number.
    pub number: u32,
    /// Goes up whenever the history changes.
    pub version: u64,
    window_s: f64,
    recent: VecDeque<Frame>,
    // Average and `max_p` of every class at every stage, a number for each point of the history.
    trails: Vec<[Vec<f64>; 2]>,
    splits: Vec<SplitTrail>,
}

/// How the controlled split of a stage went, with a number for each point of the history.
#[derive(Clone, Debug, Default)]
pub struct SplitTrail {
    /// Part of the time in which there was nothing to enforce, 0 to 1.
    pub idle: Vec<f64>,
    /// Logarithm of the delay over its target, by class.
    pub errors: Vec<Vec<f64>>,
    /// Model it began with, by class, if it was seen: what the output keeps of its last two changes, and how it
    /// answers the input.
    pub start: Vec<Option<([f64; 2], f64)>>,
}

impl SplitTrail {
    /// Brings the trail to `points` points, of which the last is `now`.
    fn remember(&mut self, now: &SplitFrame, points: usize) {
        keep(&mut self.idle, points, f64::from(u8::from(now.state == SplitState::Idle)));
        self.errors.resize(now.classes.len(), Vec::new());
        self.start.resize(now.classes.len(), None);
        for (class, seen) in now.classes.iter().enumerate() {
            keep(&mut self.errors[class], points, seen.error);
            if seen.flags & LoopFrame::LEARNED == 0 {
                self.start[class] = Some((seen.a, seen.b));
            }
        }
    }
}

/// Span that rates and means of the picture are taken over: short enough to follow, long enough to count.
#[must_use]
pub fn window_s(horizon_s: f64) -> f64 {
    (horizon_s / 90.0).clamp(0.25, 10.0)
}

impl Feed {
    /// A class that gets nothing through for so long is called starved, in seconds.
    pub const STARVED_S: f64 = 2.0;

    /// A system that has not been seen yet, with a history point every `step_s`.
    #[must_use]
    pub fn new(number: u32, scenario: Scenario, window_s: f64, step_s: f64) -> Self {
        let names = Names::from(&scenario);
        Self {
            cast: Cast::of(&scenario),
            model: PictureModel::default(),
            history: History::new(names, Duration::from_secs_f64(step_s)),
            number,
            version: 0,
            window_s,
            recent: VecDeque::new(),
            trails: Vec::new(),
            splits: Vec::new(),
            edited: (!scenario.edits.is_empty()).then(|| scenario.clone()),
            scenario,
        }
    }

    /// Whether servers report their load, or are expected to.
    #[must_use]
    pub fn reports(&self) -> bool {
        self.scenario.reports || self.model.servers.iter().any(ServerView::reports)
    }

    /// The last frame.
    #[must_use]
    pub fn now(&self) -> Option<&Frame> {
        self.recent.back()
    }

    /// Time of the last frame, in seconds; 0 before the first.
    #[must_use]
    pub fn now_s(&self) -> f64 {
        self.now().map_or(0.0, |f| f.now.as_secs_f64())
    }

    /// Forgets what was seen just now, for a jump; `before` is what rates are then taken against.
    pub fn jump(&mut self, before: Frame) {
        self.recent.clear();
        self.recent.push_back(before);
    }

    /// Shows another frame. One from before the last begins anew.
    pub fn show(&mut self, frame: Frame) {
        if self.recent.back().is_some_and(|last| frame.now < last.now) {
            self.recent.clear();
        }
        // Keep the newest and, every eighth of the window, one to compare with.
        let n = self.recent.len();
        if n >= 2 {
            let spacing = self.recent[n - 1].now.since(self.recent[n - 2].now).as_secs_f64();
            if spacing < self.window_s / 8.0 {
                self.recent.pop_back();
            }
        }
        self.put_in_force(frame.now);
        let from = frame.now.as_secs_f64() - self.window_s;
        self.recent.push_back(frame);
        while self.recent.len() > 2 && self.recent[1].now.as_secs_f64() <= from {
            self.recent.pop_front();
        }
        if let (Some(before), Some(now)) = (self.recent.front(), self.recent.back()) {
            self.model = PictureModel::new(&self.cast, before, now);
            if let [stage] = self.model.stages.as_mut_slice() {
                stage.theory = theory::heading(&self.scenario, now.now).ok().map(|rest| rest.workers);
            }
        }
    }

    /// Brings the scenario in force at a moment to the fore.
    fn put_in_force(&mut self, now: Instant) {
        let Some(edited) = &self.edited else { return };
        let version = edited.version_at(now);
        if *version != self.scenario {
            self.cast = Cast::of(version);
            self.scenario = version.clone();
        }
    }

    /// For how long no request of a class has been answered although some asked, in seconds; `None` below
    /// [`STARVED_S`](Self::STARVED_S), or if nothing was asked of it.
    #[must_use]
    pub fn starved_s(&self, class: usize) -> Option<f64> {
        let name = &self.scenario.classes.get(class)?.name;
        let column = |what: &str| self.history.column(&format!("{what}.{name}")).map(|c| c.v);
        let (done, asked) = (column("completed_per_s")?, column("arrived_per_s")?);
        let (t, now_s) = (self.history.t_s(), self.now_s());
        let end = t.iter().take_while(|&&at| at <= now_s).count().min(done.len()).min(asked.len());
        // Nothing can be said while the history is still being computed.
        let step_s = if end > 1 { t[end - 1] - t[end - 2] } else { self.window_s };
        if end == 0 || now_s - t[end - 1] > 2.0 * step_s {
            return None;
        }
        // A number that is not there counts as nothing done.
        let idle = done[..end].iter().rev().take_while(|&&rate| rate.is_nan() || rate <= 0.0).count();
        let waits = self.model.stages.iter().any(|s| s.classes.get(class).is_some_and(|c| c.waiting > 0));
        // Nobody starves who has not asked yet.
        let asks = asked[end - idle..end].iter().position(|&rate| rate > 0.0);
        let from = (end - idle) + asks.or(waits.then_some(0))?;
        let from_s = from.checked_sub(1).map_or(0.0, |last| t[last]);
        (now_s - from_s >= Self::STARVED_S).then_some(now_s - from_s)
    }

    /// Adds a frame to the history.
    pub fn remember(&mut self, frame: &Frame) {
        self.history.push(frame);
        self.version += 1;
        let points = self.history.t_s().len();
        let classes = self.cast.classes.len();
        self.trails.resize(frame.stages.len() * classes, [const { Vec::new() }; 2]);
        for (i, trail) in self.trails.iter_mut().enumerate() {
            let (k, class) = (i / classes, i % classes);
            let gauge = frame.stages[k].gauges.get(self.cast.level(k, class)).copied().unwrap_or_default();
            keep(&mut trail[0], points, gauge.average);
            keep(&mut trail[1], points, gauge.max_p);
        }
        self.splits.resize(frame.stages.len(), SplitTrail::default());
        for (trail, stage) in self.splits.iter_mut().zip(&frame.stages) {
            trail.remember(&stage.split, points);
        }
    }

    /// How the split of a stage went; `None` where no controller moves it.
    #[must_use]
    pub fn split(&self, stage: usize) -> Option<&SplitTrail> {
        self.splits.get(stage).filter(|trail| !trail.errors.is_empty())
    }

    /// The first stage whose split is controlled.
    #[must_use]
    pub fn controlled_stage(&self) -> Option<usize> {
        (0..self.splits.len()).find(|&k| self.split(k).is_some())
    }

    /// How the average and the `max_p` of a class's level at a stage went, in step with the history.
    #[must_use]
    pub fn trail(&self, stage: usize, class: usize) -> Option<&[Vec<f64>; 2]> {
        self.trails.get(stage * self.cast.classes.len() + class)
    }

    /// The stage whose averages are worth a track: `wanted` if it has any, else the last that has.
    #[must_use]
    pub fn averaging_stage(&self, wanted: Option<usize>) -> Option<usize> {
        let averages = |k: &usize| {
            self.model.stages.get(*k).is_some_and(|s| (0..s.classes.len()).any(|c| s.gauged_level(c)))
        };
        wanted.filter(averages).or_else(|| (0..self.model.stages.len()).rfind(averages))
    }

    /// Whether nobody sends anything: every load is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scenario.classes.iter().all(|c| crate::story::mean_rate(&c.load) == Some(0.0))
    }
}

/// Brings a trail to as many points as the history has: it gains one, or its neighbours were merged there.
fn keep(trail: &mut Vec<f64>, points: usize, value: f64) {
    if points < trail.len() {
        *trail = trail.chunks(2).map(|pair| pair.iter().sum::<f64>() / pair.len() as f64).collect();
    }
    trail.resize(points, value);
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::presets;
    use tidegate_core::sim::Simulation;

    /// For how long each class has been starved, every half second of a preset's first `seconds`.
    fn starved(preset: &str, seconds: u32) -> Vec<Vec<Option<f64>>> {
        let scenario = presets::get(preset).expect("a preset").scenario();
        let mut sim = Simulation::new(&scenario, 0, None).expect("runs");
        let mut feed = Feed::new(1, scenario, 2.0, 0.5);
        let half_seconds = (0..=2 * seconds).map(|step| {
            sim.run_until(Instant::START + Duration::from_secs_f64(f64::from(step) * 0.5));
            let mut frame = Frame::default();
            sim.frame(&mut frame);
            feed.remember(&frame);
            feed.show(frame);
            (0..feed.scenario.classes.len()).map(|c| feed.starved_s(c)).collect()
        });
        half_seconds.collect()
    }

    #[test]
    fn a_class_is_starved_since_its_last_answer() {
        let all = starved("strict-starvation", 40);
        assert!(all.iter().any(|s| s[s.len() - 1].is_some_and(|s| s > 3.0)), "{all:?}");
        assert!(all.iter().all(|s| s[0].is_none()), "the urgent class is served all along");
    }

    #[test]
    fn nobody_starves_before_asking() {
        // Low begins to ask at 5 s, and is never served.
        let last = starved("starvation", 30).pop().expect("a moment");
        let most = last.into_iter().flatten().fold(0.0, f64::max);
        assert!((24.0..=25.5).contains(&most), "{most} s at 30 s");
    }

    #[test]
    fn trails_keep_step_with_a_history_that_merges() {
        let mut trail = Vec::new();
        for (points, value) in [(0, 9.0), (1, 1.0), (2, 3.0), (3, 5.0), (4, 7.0), (2, 8.0), (3, 6.0)] {
            keep(&mut trail, points, value);
        }
        assert_eq!(trail, [2.0, 6.0, 6.0], "two means, and what came after");
    }

    #[test]
    fn a_split_is_remembered_with_the_model_it_began_with() {
        let frame = |state, error: f64, b: f64, flags| SplitFrame {
            state,
            classes: vec![LoopFrame { error, b, flags, ..LoopFrame::default() }],
            ..SplitFrame::default()
        };
        let mut trail = SplitTrail::default();
        trail.remember(&frame(SplitState::Idle, 0.5, -1.0, 0), 1);
        trail.remember(&frame(SplitState::Steering, 0.25, -2.0, LoopFrame::LEARNED), 2);
        assert_eq!((trail.idle, trail.errors), (vec![1.0, 0.0], vec![vec![0.5, 0.25]]));
        assert_eq!(trail.start, [Some(([0.0; 2], -1.0))], "not the one that was learned");
    }

    #[test]
    fn rates_are_taken_over_about_the_window_however_dense_the_frames() {
        for step_s in [0.016, 0.3, 5.0] {
            let scenario = presets::get("mm1").expect("a preset").scenario();
            let mut sim = Simulation::new(&scenario, 0, None).expect("runs");
            let mut feed = Feed::new(1, scenario, 2.0, 0.5);
            let mut s = 0.0;
            while s < 12.0 {
                sim.run_until(Instant::START + Duration::from_secs_f64(s));
                let mut frame = Frame::default();
                sim.frame(&mut frame);
                feed.show(frame);
                s += step_s;
            }
            let span = feed.model.span_s;
            assert!(
                (2.0..2.6).contains(&span) || step_s > 2.0 && (4.9..5.1).contains(&span),
                "{span} at {step_s}"
            );
            assert!(feed.recent.len() < 14, "{}", feed.recent.len());
        }
    }
}
