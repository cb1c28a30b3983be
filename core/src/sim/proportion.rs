//! What a run says of the delays of classes that are to be in proportion.
//!
//! Sums of a window at a time, and nothing kept of single jobs: it costs a comparison and two additions a job, at stages
//! where delays are compared at all. Delays of a run are means over its windows, not over its jobs: where the load changes,
//! the classes have their jobs at different times, and means over jobs would be out of proportion although delays were in
//! proportion all the time.

use crate::gateway::Gateway;
use crate::id::{ClassId, StageId};
use crate::measure::proportion::{BANDS, Delays, LOOK_S, WINDOW_S, moved, pairwise_error, share_error};
use crate::scenario::Scenario;
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// How well delays were in proportion to the delay weights at a stage, in the measured part of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Proportion {
    /// Mean delay in seconds, by class, over the windows of 10 s in which all classes were served; `None` without any.
    pub delay_s: Option<Vec<f64>>,
    /// The largest of these over its weight, over the smallest, less 1.
    pub error: Option<f64>,
    /// Part of the windows of 10 s in which every class's share of the delay was within 10 %, and within 20 %, of its
    /// target; `None` without a whole window.
    pub in_band: [Option<f64>; 2],
    /// Workers that changed class from one look to the next, 5 s later, on average; `None` where none has a class.
    pub moved: Option<f64>,
    /// Jobs waiting, on average.
    pub waiting: f64,
}

/// One stage under observation.
#[derive(Clone, Debug)]
pub(super) struct Watch {
    stage: StageId,
    weights: Vec<f64>,
    from: Instant,
    /// Sums over windows of the mean delays in each.
    means: Delays,
    waited_s: f64,
    window: Delays,
    window_ends: Instant,
    windows: u32,
    in_band: [u32; 2],
    look_at: Instant,
    split: Vec<u32>,
    looks: u32,
    moved: u32,
}

impl Watch {
    /// One for each stage whose delays are compared, from `from` on.
    pub(super) fn all(scenario: &Scenario, from: Instant) -> Vec<Self> {
        let compared =
            scenario.stages.iter().enumerate().filter(|(_, stage)| scenario.compares_delays(stage));
        let classes = scenario.classes.len();
        compared
            .map(|(at, _)| Self {
                stage: StageId(at as u8),
                weights: scenario.classes.iter().map(|class| class.delay_weight.get()).collect(),
                from,
                means: Delays::new(classes),
                waited_s: 0.0,
                window: Delays::new(classes),
                window_ends: from + Duration::from_secs_f64(WINDOW_S),
                windows: 0,
                in_band: [0; 2],
                look_at: from,
                split: Vec::new(),
                looks: 0,
                moved: 0,
            })
            .collect()
    }

    /// Whether another observes the same in the same way, whenever it began.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.stage == other.stage && self.weights == other.weights
    }

    /// The stage that is watched.
    pub(super) const fn stage(&self) -> StageId {
        self.stage
    }

    /// A job is handed to a worker of the stage.
    pub(super) fn on_dispatch(&mut self, now: Instant, class: ClassId, waited: Duration, gateway: &Gateway) {
        if now < self.from {
            return;
        }
        self.close_windows(now);
        self.window.add(usize::from(class.0), 1.0, waited.as_secs_f64());
        if self.look_at <= now {
            self.look(now, gateway.split(self.stage));
        }
    }

    fn look(&mut self, now: Instant, split: &[u32]) {
        if !self.split.is_empty() {
            self.looks += 1;
            self.moved += moved(&self.split, split);
        }
        self.split.clear();
        self.split.extend_from_slice(split);
        while self.look_at <= now {
            self.look_at += Duration::from_secs_f64(LOOK_S);
        }
    }

    /// Judges the windows that have ended.
    fn close_windows(&mut self, now: Instant) {
        while self.window_ends <= now {
            self.windows += 1;
            if let Some(delays) = self.sum_window() {
                let error = share_error(&delays, &self.weights);
                for (count, band) in self.in_band.iter_mut().zip(BANDS) {
                    *count += u32::from(error <= band);
                }
            }
            self.window_ends += Duration::from_secs_f64(WINDOW_S);
        }
    }

    /// Adds the window to what is known of the run and begins it anew; its mean delays, if all classes have one.
    fn sum_window(&mut self) -> Option<Vec<f64>> {
        let delays = self.window.means_s();
        for (class, &delay) in delays.iter().flatten().enumerate() {
            self.means.add(class, 1.0, delay);
        }
        self.waited_s += self.window.sum_s();
        self.window.clear();
        delays
    }

    /// What it amounts to at the end of the run, if it is of this stage.
    pub(super) fn result(&self, now: Instant, stage: usize) -> Option<Proportion> {
        if usize::from(self.stage.0) != stage {
            return None;
        }
        let mut done = self.clone();
        done.close_windows(now);
        let windows = done.windows;
        if windows == 0 {
            // Of a run that short, the part of a window there is.
            let _ = done.sum_window();
        }
        let part = |count: u32| (windows > 0).then(|| f64::from(count) / f64::from(windows));
        let measured_s = now.since(done.from).as_secs_f64();
        let delay_s = done.means.means_s();
        Some(Proportion {
            error: delay_s.as_ref().map(|delays| pairwise_error(delays, &done.weights)),
            delay_s,
            in_band: done.in_band.map(part),
            moved: (done.looks > 0).then(|| f64::from(done.moved) / f64::from(done.looks)),
            waiting: if measured_s > 0.0 { (done.waited_s + done.window.sum_s()) / measured_s } else { 0.0 },
        })
    }
}
