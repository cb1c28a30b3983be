//! How a run went, as columns over time: frames at equal steps, differenced.
//!
//! A [`Frame`] holds counters since the start and what is there now. A history takes one a step, keeps for
//! each step the rate, mean or level that can be drawn, and nothing of the frames. Memory is bounded: when
//! the columns are full, neighbouring points are merged, so a long run loses resolution and never its
//! beginning. Merging keeps the extremes beside the mean, so that a peak does not vanish from the picture.
//!
//! The same columns feed `simulate --series`, the page's tracks and the live view.

use crate::frame::{ClassFrame, Frame, LevelFrame, LoopFrame, SplitState, StageClassFrame, StageFrame};
use crate::scenario::v1::{KindV1, QueueV1, SplitByV1};
use crate::scenario::{Scenario, StageSpec};
use crate::time::{Duration, Instant};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Points a column holds by default before neighbours are merged.
const DEFAULT_POINTS: usize = 4_096;
/// Requests that must be queued, in all, for the ratio of two waits to say anything.
///
/// With a few in the queue the ratio is noise; a controller that holds one has nothing to hold.
const QUEUE_FOR_RATIO: f64 = 24.0;

/// What the columns are named after, and which class the others are compared to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// Class names, by class.
    pub classes: Vec<String>,
    /// Delay weights, by class.
    pub delay_weights: Vec<f64>,
    /// Stage names, by stage.
    pub stages: Vec<String>,
    /// Priority levels whose queue control has figures, by stage; none where it has none. Shorter than the stages
    /// if the last ones have none.
    pub gauged_levels: Vec<u8>,
    /// What is known of the delays of the classes, by stage. Shorter than the stages if nothing is of the last ones.
    pub compared: Vec<Compared>,
    /// Server names, by server.
    pub servers: Vec<String>,
    /// Whether there are sessions, for which servers have weights of their own.
    pub sessions: bool,
}

/// What is known of how a stage's delays compare.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Compared {
    /// Nothing.
    #[default]
    Nothing,
    /// The delays themselves.
    Delays,
    /// The delays, and what the controller of its split makes of them.
    Controlled,
}

impl From<&Scenario> for Names {
    fn from(scenario: &Scenario) -> Self {
        Self {
            classes: scenario.classes.iter().map(|c| c.name.clone()).collect(),
            delay_weights: scenario.classes.iter().map(|c| c.delay_weight.get()).collect(),
            stages: scenario.stages.iter().map(|s| s.name.clone()).collect(),
            gauged_levels: most(scenario, |_, s| if has_gauges(&s.queue) { s.levels } else { 0 }),
            compared: most(scenario, |scenario, stage| match stage.split_by {
                SplitByV1::Fixed if scenario.compares_delays(stage) => Compared::Delays,
                SplitByV1::Fixed => Compared::Nothing,
                _ => Compared::Controlled,
            }),
            servers: scenario.servers.iter().map(|s| s.name.clone()).collect(),
            sessions: scenario.classes.iter().any(|c| c.kind == KindV1::Session),
        }
    }
}

/// The most of something there is at each stage in any version of a scenario.
fn most<T: Ord>(scenario: &Scenario, of: impl Fn(&Scenario, &StageSpec) -> T) -> Vec<T> {
    let of = |at: usize| scenario.all_versions().map(|version| of(version, &version.stages[at])).max();
    (0..scenario.stages.len()).filter_map(of).collect()
}

/// Whether a queue control goes by figures of its own for each level.
const fn has_gauges(queue: &QueueV1) -> bool {
    !matches!(queue, QueueV1::TailDrop { .. } | QueueV1::LengthThreshold { .. } | QueueV1::EnqueueRate { .. })
}

impl Names {
    /// Every level that has figures, as stage and level.
    fn gauged(&self) -> impl Iterator<Item = (usize, u8)> {
        let stages = self.gauged_levels.iter().enumerate();
        stages.flat_map(|(stage, &levels)| (0..levels).map(move |level| (stage, level)))
    }

    /// Stages of which at least so much is known.
    fn compared(&self, least: Compared) -> impl Iterator<Item = usize> {
        let stages = self.compared.iter().enumerate();
        stages
            .filter(move |&(_, &known)| {
                known == Compared::Controlled || (known == Compared::Delays && least == Compared::Delays)
            })
            .map(|(stage, _)| stage)
    }

    /// The class that ratios are taken to: smallest delay weight, the first of equals. `None` without classes.
    #[must_use]
    pub fn reference_class(&self) -> Option<usize> {
        let weight = |&class: &usize| self.delay_weights.get(class).copied().unwrap_or(f64::INFINITY);
        (0..self.classes.len()).min_by(|a, b| weight(a).total_cmp(&weight(b)))
    }

    /// Whether a frame has the parts these names are for.
    fn fit(&self, frame: &Frame) -> bool {
        let (classes, servers) = (self.classes.len(), self.servers.len());
        frame.classes.len() == classes
            && frame.stages.len() == self.stages.len()
            && frame.stages.iter().all(|s| s.classes.len() == classes)
            && frame.servers.len() == servers
    }
}

/// One column, read-only. The three slices have a point each, in step with [`History::t_s`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column<'a> {
    /// Mean over the point; NaN where there is none (nobody started, so nobody waited).
    pub v: &'a [f64],
    /// Least step within the point; NaN where `v` is.
    pub lo: &'a [f64],
    /// Greatest step within the point; NaN where `v` is.
    pub hi: &'a [f64],
}

/// Columns over time, made from frames.
///
/// | column | is |
/// |---|---|
/// | `arrived_per_s.CLASS`, `completed_per_s.CLASS`, `goodput_per_s.CLASS`, `shed_per_s.CLASS` | rates |
/// | `wait_s.CLASS` | mean wait of jobs that started in the step, summed over the stages; where none did and some wait, how long the oldest has waited |
/// | `wait_s.STAGE.CLASS` | the same at one stage; only there with more than one stage |
/// | `response_s.CLASS` | mean time from arrival to answer of jobs answered in the step |
/// | `wait_ratio.CLASS` | `wait_s` over that of the class with the smallest delay weight; NaN below 24 queued |
/// | `in_system.CLASS` | jobs inside |
/// | `queue.STAGE.CLASS`, `busy.STAGE.CLASS`, `slots.STAGE.CLASS` | jobs waiting, jobs on a worker, workers it may use |
/// | `utilisation.STAGE` | share of the workers that are busy |
/// | `workers.STAGE`, `promoted_per_s.STAGE`, `wasted.STAGE` | workers, promotions a second, time at earlier stages spent on jobs turned away here (seconds a second) |
/// | `average.STAGE.LEVEL`, `drop_p.STAGE.LEVEL`, `max_p.STAGE.LEVEL` | what the queue control goes by, the probability that who asks is turned away, the height of its curve; only where the control has them |
/// | `delay_ratio.STAGE.CLASS` | delay over its weight, over the (geometric) mean of the classes: 1 is on target. Where a split is controlled, as its controller last saw it; where delays are compared otherwise, of jobs that started in the step; NaN while there is nothing to compare |
/// | `share.STAGE.CLASS`, `output.STAGE.CLASS`, `b.STAGE.CLASS`, `trust.STAGE.CLASS` | of a controlled split: share of the workers it should have, what its controller acts on, how the model in use says the output answers, and how well the learned model predicts against the first |
/// | `weight.SERVER`, `load.SERVER`, `picked_per_s.SERVER` | balancer weight (for short requests), jobs in flight, jobs sent a second |
/// | `session_weight.SERVER` | balancer weight for sessions; only where there are sessions |
/// | `up.SERVER` | 1 if it takes jobs, 0 if not |
///
/// Levels (queues, slots, weights, ...) are what the frame at the end of the step shows.
#[derive(Clone, Debug)]
pub struct History {
    names: Names,
    step: Duration,
    most: usize,
    // The frame the next one is compared to.
    last: Option<Frame>,
    // Steps merged into each point: a power of two.
    steps_a_point: u32,
    // End of each point.
    t_s: Vec<f64>,
    measured: Vec<Series>,
    derived: Vec<Derived>,
    // Names of `measured`, then of `derived`.
    column_names: Vec<String>,
    // Steps in the unfinished point.
    pending: u32,
    // One step's samples, in the order of `measured`; kept to reuse its memory.
    samples: Vec<Sample>,
    // Column numbers of the levels `queue.STAGE.CLASS`.
    queues: core::ops::Range<usize>,
}

/// One step of one column: a value, and how much it weighs when steps are merged.
#[derive(Clone, Copy, Debug)]
struct Sample {
    v: f64,
    weight: f64,
}

/// A column that is measured, with the weights to merge it by.
#[derive(Clone, Debug, Default)]
struct Series {
    v: Vec<f64>,
    lo: Vec<f64>,
    hi: Vec<f64>,
    weight: Vec<f64>,
    open: Point,
}

/// A column that follows from others, point by point.
#[derive(Clone, Debug)]
struct Derived {
    kind: DerivedKind,
    v: Vec<f64>,
}

#[derive(Clone, Debug)]
enum DerivedKind {
    /// Sum of measured columns, leaving out those without a figure.
    Sum(Vec<usize>),
    /// One class's wait over another's: columns in the order of all columns.
    Ratio { of: usize, to: usize },
}

/// A point being merged.
#[derive(Clone, Copy, Debug)]
struct Point {
    sum: f64,
    weight: f64,
    lo: f64,
    hi: f64,
}

impl Default for Point {
    fn default() -> Self {
        Self { sum: 0.0, weight: 0.0, lo: f64::INFINITY, hi: f64::NEG_INFINITY }
    }
}

impl Point {
    fn add(&mut self, v: f64, weight: f64, lo: f64, hi: f64) {
        if weight > 0.0 {
            self.sum += v * weight;
            self.weight += weight;
            self.lo = self.lo.min(lo);
            self.hi = self.hi.max(hi);
        }
    }

    /// Mean, least and greatest; NaN if nothing weighed anything.
    fn figures(&self) -> (f64, f64, f64) {
        if self.weight > 0.0 {
            (self.sum / self.weight, self.lo, self.hi)
        } else {
            (f64::NAN, f64::NAN, f64::NAN)
        }
    }
}

impl Series {
    fn push(&mut self, point: Point) {
        let (v, lo, hi) = point.figures();
        self.v.push(v);
        self.lo.push(lo);
        self.hi.push(hi);
        self.weight.push(point.weight);
    }

    /// Merges points 0 and 1, 2 and 3, ...
    fn halve(&mut self) {
        let old = core::mem::take(self);
        for i in (0..old.v.len()).step_by(2) {
            let mut point = Point::default();
            for j in i..(i + 2).min(old.v.len()) {
                point.add(old.v[j], old.weight[j], old.lo[j], old.hi[j]);
            }
            self.push(point);
        }
        self.open = old.open;
    }
}

/// Which columns are measured, in the order of the samples of one step.
fn measured_names(names: &Names) -> Vec<String> {
    let per_class =
        |what: &str| -> Vec<String> { names.classes.iter().map(|c| format!("{what}.{c}")).collect() };
    let per_stage_class = |what: &str| -> Vec<String> {
        let of =
            |s: &String| -> Vec<String> { names.classes.iter().map(|c| format!("{what}.{s}.{c}")).collect() };
        names.stages.iter().flat_map(of).collect()
    };
    let per_server =
        |what: &str| -> Vec<String> { names.servers.iter().map(|s| format!("{what}.{s}")).collect() };
    let mut all = Vec::new();
    for what in ["arrived_per_s", "completed_per_s", "goodput_per_s", "shed_per_s", "response_s", "in_system"]
    {
        all.extend(per_class(what));
    }
    // With one stage the stage's wait is the class's wait.
    all.extend(if names.stages.len() == 1 { per_class("wait_s") } else { per_stage_class("wait_s") });
    for what in ["queue", "busy", "slots"] {
        all.extend(per_stage_class(what));
    }
    for what in ["utilisation", "workers", "promoted_per_s", "wasted"] {
        all.extend(names.stages.iter().map(|s| format!("{what}.{s}")));
    }
    for what in ["average", "drop_p", "max_p"] {
        all.extend(names.gauged().map(|(stage, level)| format!("{what}.{}.{level}", names.stages[stage])));
    }
    let compared = |what: &str, least: Compared| -> Vec<String> {
        let of = |stage: usize| {
            let stage = &names.stages[stage];
            names.classes.iter().map(|class| format!("{what}.{stage}.{class}")).collect::<Vec<_>>()
        };
        names.compared(least).flat_map(of).collect()
    };
    all.extend(compared("delay_ratio", Compared::Delays));
    for (what, _) in LOOP_COLUMNS {
        all.extend(compared(what, Compared::Controlled));
    }
    for what in ["weight", "load", "picked_per_s", "up"] {
        all.extend(per_server(what));
    }
    if names.sessions {
        all.extend(per_server("session_weight"));
    }
    all
}

impl History {
    /// An empty history of a system with these names, a point every `step`, at most 4,096 points a column.
    #[must_use]
    pub fn new(names: Names, step: Duration) -> Self {
        Self::with_points(names, step, DEFAULT_POINTS)
    }

    /// The same with at most `points` points a column (at least 2).
    #[must_use]
    pub fn with_points(names: Names, step: Duration, points: usize) -> Self {
        let (classes, stages) = (names.classes.len(), names.stages.len());
        let mut column_names = measured_names(&names);
        let measured = column_names.iter().map(|_| Series::default()).collect();
        let stage_waits = 6 * classes;
        let queues = stage_waits + stages * classes..stage_waits + 2 * stages * classes;

        let mut derived = Vec::new();
        let mut waits: Vec<usize> = (stage_waits..stage_waits + classes).collect();
        if stages != 1 {
            for (class, wait) in waits.iter_mut().enumerate() {
                *wait = column_names.len();
                column_names.push(format!("wait_s.{}", names.classes[class]));
                let parts = (0..stages).map(|stage| stage_waits + stage * classes + class).collect();
                derived.push(Derived { kind: DerivedKind::Sum(parts), v: Vec::new() });
            }
        }
        if let Some(reference) = names.reference_class() {
            for class in (0..classes).filter(|&class| class != reference) {
                column_names.push(format!("wait_ratio.{}", names.classes[class]));
                let kind = DerivedKind::Ratio { of: waits[class], to: waits[reference] };
                derived.push(Derived { kind, v: Vec::new() });
            }
        }
        Self {
            names,
            step,
            most: points.max(2),
            last: None,
            steps_a_point: 1,
            t_s: Vec::new(),
            measured,
            derived,
            column_names,
            pending: 0,
            samples: Vec::new(),
            queues,
        }
    }

    /// Takes the frame at the end of a step.
    ///
    /// The first frame is only what the second is compared to, so push the frame at time 0 first. A frame that
    /// comes less than half a step after the one before is left out; one that comes late makes a longer step,
    /// with right rates. A frame from before the last one begins a new run: what was there is forgotten. Counters
    /// that fell while time went on are a gap without points. A frame of another system (other numbers of classes,
    /// stages or servers) is ignored.
    pub fn push(&mut self, frame: &Frame) {
        if !self.names.fit(frame) {
            return;
        }
        let Some(last) = self.last.as_mut() else {
            self.last = Some(frame.clone());
            return;
        };
        if frame.now < last.now {
            self.clear();
            self.last = Some(frame.clone());
            return;
        }
        if counters_fell(last, frame) {
            last.clone_from(frame);
            return;
        }
        let passed = frame.now.since(last.now);
        if passed == Duration::ZERO || passed.as_nanos() < self.step.as_nanos() / 2 {
            return;
        }
        self.samples.clear();
        take_samples(&self.names, last, frame, &mut self.samples);
        last.clone_from(frame);
        self.add_step(frame.now);
    }

    /// Adds the step in `samples` to the open point, and ends the point if it has all its steps.
    fn add_step(&mut self, now: Instant) {
        for (series, sample) in self.measured.iter_mut().zip(&self.samples) {
            series.open.add(sample.v, sample.weight, sample.v, sample.v);
        }
        self.pending += 1;
        if self.pending < self.steps_a_point {
            return;
        }
        self.pending = 0;
        if self.t_s.len() == self.most {
            self.halve();
            // The point just ended is now half a point: leave it open for its second half.
            self.pending = self.steps_a_point / 2;
            return;
        }
        for series in &mut self.measured {
            let point = core::mem::take(&mut series.open);
            series.push(point);
        }
        self.t_s.push(now.as_secs_f64());
        self.derive(self.t_s.len() - 1);
    }

    /// Halves the resolution of everything.
    fn halve(&mut self) {
        self.steps_a_point = self.steps_a_point.saturating_mul(2);
        for series in &mut self.measured {
            series.halve();
        }
        // A point ends where the second of its two did; the last may be alone if `most` is odd.
        let ends: Vec<f64> = self.t_s.chunks(2).map(|pair| pair[pair.len() - 1]).collect();
        self.t_s = ends;
        self.derive(0);
    }

    /// Works out the derived columns again from point `first` on.
    fn derive(&mut self, first: usize) {
        for number in 0..self.derived.len() {
            let mut v = core::mem::take(&mut self.derived[number].v);
            v.truncate(first);
            for point in first..self.t_s.len() {
                v.push(match &self.derived[number].kind {
                    DerivedKind::Sum(parts) => self.sum_at(parts, point),
                    &DerivedKind::Ratio { of, to } => self.ratio_at(of, to, point),
                });
            }
            self.derived[number].v = v;
        }
    }

    fn value_at(&self, column: usize, point: usize) -> f64 {
        match self.measured.get(column) {
            Some(series) => series.v[point],
            // A derived column is worked out after those it follows from.
            None => self.derived[column - self.measured.len()].v.get(point).copied().unwrap_or(f64::NAN),
        }
    }

    fn sum_at(&self, parts: &[usize], point: usize) -> f64 {
        let known = || parts.iter().map(|&c| self.value_at(c, point)).filter(|v| !v.is_nan());
        if known().next().is_some() { known().sum() } else { f64::NAN }
    }

    fn ratio_at(&self, of: usize, to: usize, point: usize) -> f64 {
        let queued: f64 = self.queues.clone().map(|c| self.measured[c].v[point]).sum();
        let (of, to) = (self.value_at(of, point), self.value_at(to, point));
        if queued >= QUEUE_FOR_RATIO && to > 0.0 { of / to } else { f64::NAN }
    }

    /// How many points each column has.
    #[must_use]
    pub fn len(&self) -> usize {
        self.t_s.len()
    }

    /// Whether there is no point yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.t_s.is_empty()
    }

    /// Steps merged into each point: 1, 2, 4, ...
    #[must_use]
    pub const fn steps_a_point(&self) -> u32 {
        self.steps_a_point
    }

    /// The end of each point, in seconds since the run began.
    #[must_use]
    pub fn t_s(&self) -> &[f64] {
        &self.t_s
    }

    /// The names the columns were made from.
    #[must_use]
    pub const fn names(&self) -> &Names {
        &self.names
    }

    /// Names of all columns; a column's place is its number for [`column_at`](Self::column_at).
    pub fn column_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.column_names.iter().map(String::as_str)
    }

    /// The column of this name, if there is one.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<Column<'_>> {
        self.column_at(self.column_number(name)?)
    }

    /// Number of the column of this name, for those who ask often.
    #[must_use]
    pub fn column_number(&self, name: &str) -> Option<usize> {
        self.column_names.iter().position(|n| n == name)
    }

    /// The column of this number, if there is one.
    #[must_use]
    pub fn column_at(&self, number: usize) -> Option<Column<'_>> {
        match self.measured.get(number) {
            Some(s) => Some(Column { v: &s.v, lo: &s.lo, hi: &s.hi }),
            None => {
                self.derived.get(number - self.measured.len()).map(|d| Column { v: &d.v, lo: &d.v, hi: &d.v })
            }
        }
    }

    /// Forgets every point and the last frame, as for a new run.
    pub fn clear(&mut self) {
        *self = Self::with_points(core::mem::take(&mut self.names), self.step, self.most);
    }
}

/// Whether a counter of `next` is below that of `last`.
fn counters_fell(last: &Frame, next: &Frame) -> bool {
    next.now < last.now
        || last
            .classes
            .iter()
            .zip(&next.classes)
            .any(|(l, n)| n.arrived < l.arrived || n.completed < l.completed)
        || last.servers.iter().zip(&next.servers).any(|(l, n)| n.picked < l.picked)
}

/// What happened between two frames, in the order of [`measured_names`].
fn take_samples(names: &Names, last: &Frame, next: &Frame, out: &mut Vec<Sample>) {
    let dt = next.now.since(last.now).as_secs_f64();
    // A level or rate weighs as much as the time it stands for.
    let level = |v: f64| Sample { v, weight: dt };
    let rate = |last: u64, next: u64| level(next.saturating_sub(last) as f64 / dt);
    // A mean weighs as much as the jobs it is over.
    let mean = |sum: f64, jobs: u64| Sample {
        v: if jobs > 0 { sum / jobs as f64 } else { f64::NAN },
        weight: jobs as f64,
    };

    let classes = || last.classes.iter().zip(&next.classes);
    let shed = |c: &ClassFrame| c.shed.iter().sum();
    out.extend(classes().map(|(l, n)| rate(l.arrived, n.arrived)));
    out.extend(classes().map(|(l, n)| rate(l.completed, n.completed)));
    out.extend(classes().map(|(l, n)| rate(l.good, n.good)));
    out.extend(classes().map(|(l, n)| rate(shed(l), shed(n))));
    out.extend(
        classes()
            .map(|(l, n)| mean(n.response_sum_s - l.response_sum_s, n.completed.saturating_sub(l.completed))),
    );
    out.extend(classes().map(|(_, n)| level(n.in_system as f64)));

    let at_stages =
        || last.stages.iter().zip(&next.stages).flat_map(|(l, n)| l.classes.iter().zip(&n.classes));
    out.extend(at_stages().map(|(l, n)| match n.started.saturating_sub(l.started) {
        // Nobody was served although somebody waits: how long the oldest has waited so far. Left out, a starved
        // class would look as if it did not wait at all.
        0 if n.oldest_wait_s > 0.0 => Sample { v: n.oldest_wait_s, weight: 1.0 },
        started => mean(n.wait_sum_s - l.wait_sum_s, started),
    }));
    for stage in &next.stages {
        let classes = stage.classes.len();
        let queued = |class: usize| -> u64 {
            stage.waiting.iter().skip(class).step_by(classes).map(|&n| u64::from(n)).sum()
        };
        out.extend((0..classes).map(|class| level(queued(class) as f64)));
    }
    let now_at_stages = |of: fn(&StageClassFrame) -> u32| {
        next.stages.iter().flat_map(|s| &s.classes).map(move |c| f64::from(of(c)))
    };
    out.extend(now_at_stages(|c| c.busy).map(level));
    out.extend(now_at_stages(|c| c.slots).map(level));
    for stage in &next.stages {
        let busy: u64 = stage.classes.iter().map(|c| u64::from(c.busy)).sum();
        out.push(level(if stage.workers > 0 { busy as f64 / f64::from(stage.workers) } else { 0.0 }));
    }
    out.extend(next.stages.iter().map(|s| level(f64::from(s.workers))));
    let stages = || last.stages.iter().zip(&next.stages);
    let promoted = |s: &StageFrame| s.gauges.iter().map(|level| level.promoted).sum();
    out.extend(stages().map(|(l, n)| rate(promoted(l), promoted(n))));
    out.extend(stages().map(|(l, n)| level((n.wasted_s - l.wasted_s).max(0.0) / dt)));
    for of in [|l: &LevelFrame| l.average, |l: &LevelFrame| l.drop_p, |l: &LevelFrame| l.max_p] {
        out.extend(names.gauged().map(|(stage, at)| {
            let gauge = next.stages.get(stage).and_then(|s| s.gauges.get(usize::from(at)));
            level(gauge.map_or(f64::NAN, of))
        }));
    }

    for stage in names.compared(Compared::Delays) {
        delay_ratios(&names.delay_weights, &last.stages[stage], &next.stages[stage], |ratio| {
            // Without a ratio there is nothing to weigh.
            out.push(Sample { v: ratio, weight: if ratio.is_nan() { 0.0 } else { dt } });
        });
    }
    for (_, of) in LOOP_COLUMNS {
        for stage in names.compared(Compared::Controlled) {
            let loops = &next.stages[stage].split.classes;
            out.extend((0..names.classes.len()).map(|class| match loops.get(class) {
                Some(one) => level(of(one)),
                None => Sample { v: f64::NAN, weight: 0.0 },
            }));
        }
    }

    let in_flight = |n: &[u32]| n.iter().map(|&n| u64::from(n)).sum::<u64>() as f64;
    out.extend(next.servers.iter().map(|s| level(s.weight)));
    out.extend(next.servers.iter().map(|s| level(in_flight(&s.in_flight))));
    out.extend(last.servers.iter().zip(&next.servers).map(|(l, n)| rate(l.picked, n.picked)));
    out.extend(next.servers.iter().map(|s| level(f64::from(u8::from(s.up)))));
    if names.sessions {
        out.extend(next.servers.iter().map(|s| level(s.session_weight)));
    }
}

/// A column's name and where it is read.
type LoopColumn = (&'static str, fn(&LoopFrame) -> f64);

/// What is shown of the controller of a split, by class, in the order of the columns.
const LOOP_COLUMNS: [LoopColumn; 4] = [
    ("share", |one| one.share),
    ("output", |one| one.output),
    ("b", |one| one.b),
    ("trust", |one| one.trust),
];

/// Hands over the delay of each class over its weight, over the geometric mean of those that have one; NaN for a class
/// without, and for all while next to nobody waits.
fn delay_ratios(weights: &[f64], last: &StageFrame, next: &StageFrame, mut take: impl FnMut(f64)) {
    if !next.split.classes.is_empty() {
        let known = next.split.state != SplitState::Idle;
        for one in &next.split.classes {
            // What was not seen yet has no delay, and its error is 0 by convention.
            let seen = known && one.delay_s > 0.0;
            take(if seen { libm::exp(one.error) } else { f64::NAN });
        }
        return;
    }
    let log = |class: usize| -> Option<f64> {
        let (last, next) = (&last.classes[class], &next.classes[class]);
        let started = next.started.saturating_sub(last.started);
        let waited_s = next.wait_sum_s - last.wait_sum_s;
        (started > 0 && waited_s > 0.0).then(|| libm::log(waited_s / started as f64 / weights[class]))
    };
    let logs = || (0..next.classes.len()).map(log);
    let known = logs().flatten().count();
    // A ratio needs two.
    let mean = if known > 1 { logs().flatten().sum::<f64>() / known as f64 } else { f64::NAN };
    logs().for_each(|log| take(log.map_or(f64::NAN, |log| libm::exp(log - mean))));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::{ServerFrame, SplitFrame};
    use alloc::string::ToString;
    use alloc::vec;

    const STEP: Duration = Duration::from_millis(500);

    fn names(stages: &[&str]) -> Names {
        let own = |names: &[&str]| names.iter().map(ToString::to_string).collect();
        Names {
            classes: own(&["gold", "free"]),
            delay_weights: vec![1.0, 4.0],
            gauged_levels: Vec::new(),
            compared: Vec::new(),
            stages: own(stages),
            servers: own(&["a"]),
            sessions: false,
        }
    }

    /// A steady system after `steps` steps: 4 arrivals a step and class, gold waits 1 s a job, free 3 s, at every stage.
    fn steady(stages: usize, steps: u64, queued: u32) -> Frame {
        let class = |wait: f64| ClassFrame {
            arrived: 4 * steps,
            completed: 2 * steps,
            good: steps,
            shed: [steps, 0, 0, steps],
            response_sum_s: 5.0 * 2.0 * steps as f64,
            wait_sum_s: wait * 2.0 * steps as f64,
            in_system: 7,
            ..ClassFrame::default()
        };
        let at_stage = |wait: f64| StageClassFrame {
            busy: 1,
            slots: 2,
            started: 2 * steps,
            wait_sum_s: wait * 2.0 * steps as f64,
            ..StageClassFrame::default()
        };
        let stage = StageFrame {
            workers: 4,
            limit: 100,
            levels: 2,
            waiting: vec![queued, 1, 2, 3],
            classes: vec![at_stage(1.0), at_stage(3.0)],
            ..StageFrame::default()
        };
        Frame {
            now: Instant::from_nanos(steps * STEP.as_nanos()),
            classes: vec![class(1.0), class(3.0)],
            stages: vec![stage; stages],
            servers: vec![ServerFrame {
                up: true,
                weight: 0.5,
                session_weight: 2.5,
                in_flight: vec![1, 2],
                picked: 3 * steps,
                ..ServerFrame::default()
            }],
            decision: None,
        }
    }

    #[track_caller]
    fn check(history: &History, name: &str, want: &[f64]) {
        let got = history.column(name).unwrap_or_else(|| panic!("no column {name}")).v;
        let same = |(g, w): (&f64, &f64)| (g - w).abs() < 1e-9 || (g.is_nan() && w.is_nan());
        assert!(got.len() == want.len() && got.iter().zip(want).all(same), "{name}: {got:?}, want {want:?}");
    }

    #[test]
    fn a_steady_system_gives_level_columns_of_the_right_height() {
        let mut history = History::new(names(&["serve"]), STEP);
        (0..=3).for_each(|n| history.push(&steady(1, n, 20)));
        assert_eq!(history.t_s(), [0.5, 1.0, 1.5]);
        check(&history, "arrived_per_s.gold", &[8.0; 3]);
        check(&history, "completed_per_s.free", &[4.0; 3]);
        check(&history, "goodput_per_s.gold", &[2.0; 3]);
        check(&history, "shed_per_s.free", &[4.0; 3]);
        check(&history, "response_s.gold", &[5.0; 3]);
        check(&history, "in_system.gold", &[7.0; 3]);
        check(&history, "wait_s.gold", &[1.0; 3]);
        check(&history, "wait_s.free", &[3.0; 3]);
        check(&history, "wait_ratio.free", &[3.0; 3]);
        check(&history, "queue.serve.gold", &[22.0; 3]);
        check(&history, "queue.serve.free", &[4.0; 3]);
        check(&history, "busy.serve.free", &[1.0; 3]);
        check(&history, "slots.serve.gold", &[2.0; 3]);
        check(&history, "utilisation.serve", &[0.5; 3]);
        check(&history, "weight.a", &[0.5; 3]);
        check(&history, "load.a", &[3.0; 3]);
        check(&history, "picked_per_s.a", &[6.0; 3]);
        check(&history, "up.a", &[1.0; 3]);
        assert_eq!(history.column("wait_ratio.gold"), None, "gold is what the others are compared to");
        assert_eq!(history.column("wait_s.serve.gold"), None);
        for (number, name) in history.column_names().enumerate() {
            assert_eq!(history.column_number(name), Some(number), "{name} is there once");
            assert_eq!(history.column_at(number).unwrap().v.len(), 3, "{name}");
        }
    }

    #[test]
    fn waits_at_several_stages_add_up() {
        let mut history = History::new(names(&["accept", "serve"]), STEP);
        (0..=2).for_each(|n| history.push(&steady(2, n, 20)));
        check(&history, "wait_s.serve.free", &[3.0; 2]);
        check(&history, "wait_s.free", &[6.0; 2]);
        check(&history, "wait_s.gold", &[2.0; 2]);
        check(&history, "wait_ratio.free", &[3.0; 2]);
        check(&history, "queue.accept.gold", &[22.0; 2]);
    }

    #[test]
    fn a_step_in_which_nobody_started_has_no_wait_and_a_short_queue_no_ratio() {
        let mut history = History::new(names(&["serve"]), STEP);
        history.push(&steady(1, 0, 18));
        history.push(&steady(1, 1, 17)); // 17 + 1 + 2 + 3 = 23 queued
        let mut idle = steady(1, 1, 18);
        idle.now += STEP;
        history.push(&idle);
        check(&history, "wait_s.gold", &[1.0, f64::NAN]);
        check(&history, "wait_ratio.free", &[f64::NAN, f64::NAN]);
        check(&history, "arrived_per_s.gold", &[8.0, 0.0]);
    }

    #[test]
    fn a_class_nobody_of_which_is_served_waits_as_long_as_its_oldest() {
        let mut history = History::new(names(&["accept", "serve"]), STEP);
        history.push(&steady(2, 0, 30));
        let mut starved = steady(2, 1, 30);
        starved.stages[1].classes[1] = StageClassFrame { oldest_wait_s: 9.0, ..StageClassFrame::default() };
        history.push(&starved);
        check(&history, "wait_s.serve.free", &[9.0]);
        check(&history, "wait_s.free", &[3.0 + 9.0]);
    }

    #[test]
    fn full_columns_halve_their_resolution_and_keep_totals_and_extremes() {
        let mut history = History::with_points(names(&["serve"]), STEP, 4);
        let mut frame = steady(1, 0, 20);
        history.push(&frame);
        for step in 1..=21u32 {
            frame.now += STEP;
            frame.classes[0].arrived += u64::from(step);
            frame.stages[0].waiting[0] = step;
            // Steps with more starts weigh more in the mean wait.
            frame.stages[0].classes[0].started += u64::from(step);
            frame.stages[0].classes[0].wait_sum_s += f64::from(step) * f64::from(step);
            history.push(&frame);
            assert!(history.len() <= 4);
        }
        // 21 steps, 8 a point: two full points and five steps pending.
        assert_eq!(history.steps_a_point(), 8);
        assert_eq!(history.t_s(), [4.0, 8.0]);
        check(&history, "arrived_per_s.gold", &[36.0 / 4.0, 100.0 / 4.0]);
        check(&history, "queue.serve.gold", &[4.5 + 2.0, 12.5 + 2.0]);
        let queue = history.column("queue.serve.gold").unwrap();
        assert_eq!((queue.lo, queue.hi), (&[3.0, 11.0][..], &[10.0, 18.0][..]));
        let squares = |from: u32, to: u32| f64::from((from..=to).map(|n| n * n).sum::<u32>());
        check(&history, "wait_s.gold", &[squares(1, 8) / 36.0, squares(9, 16) / 100.0]);
        for step in 22..=24u32 {
            frame.now += STEP;
            frame.classes[0].arrived += u64::from(step);
            history.push(&frame);
        }
        check(&history, "arrived_per_s.gold", &[36.0 / 4.0, 100.0 / 4.0, 164.0 / 4.0]);
    }

    #[test]
    fn late_and_early_frames_give_right_rates() {
        let mut history = History::new(names(&["serve"]), STEP);
        let mut early = steady(1, 0, 0);
        history.push(&early);
        early.now = Instant::from_nanos(STEP.as_nanos() / 3);
        early.classes[0].arrived = 4;
        history.push(&early); // too early: left out, its arrivals are seen by the next
        history.push(&steady(1, 1, 0));
        history.push(&steady(1, 4, 0)); // two steps late
        check(&history, "arrived_per_s.gold", &[8.0, 8.0]);
        assert_eq!(history.t_s(), [0.5, 2.0]);
    }

    #[test]
    fn a_restart_or_a_strange_frame_is_no_spike() {
        let mut history = History::new(names(&["serve"]), STEP);
        (0..=2).for_each(|n| history.push(&steady(1, n, 0)));
        let mut restarted = steady(1, 0, 0);
        restarted.now = Instant::from_nanos(3 * STEP.as_nanos());
        history.push(&restarted);
        let mut next = steady(1, 1, 0);
        next.now = Instant::from_nanos(4 * STEP.as_nanos());
        history.push(&next);
        history.push(&steady(2, 9, 0)); // another number of stages
        history.push(&Frame::default());
        check(&history, "arrived_per_s.gold", &[8.0; 3]);
        (0..=1).for_each(|n| history.push(&steady(1, n, 0)));
        check(&history, "arrived_per_s.gold", &[8.0]);
        history.clear();
        assert!(history.is_empty() && history.column("arrived_per_s.gold").is_some());
    }

    /// Gold (weight 1) waits 1 s and free (weight 4) 3 s: 1 and 0.75 normalised, geometric mean 0.866.
    #[test]
    fn delays_are_compared_where_they_are_to_be() {
        let compared = |what: &[Compared]| Names { compared: what.to_vec(), ..names(&["serve"]) };
        let mut history = History::new(compared(&[Compared::Delays]), STEP);
        (0..=2).for_each(|n| history.push(&steady(1, n, 20)));
        let mut idle = steady(1, 2, 20);
        idle.now += STEP;
        history.push(&idle);
        let mean = libm::sqrt(0.75);
        check(&history, "delay_ratio.serve.gold", &[1.0 / mean, 1.0 / mean, f64::NAN]);
        check(&history, "delay_ratio.serve.free", &[mean, mean, f64::NAN]);
        assert_eq!(history.column("share.serve.gold"), None, "nobody controls a split here");
        assert_eq!(History::new(names(&["serve"]), STEP).column("delay_ratio.serve.gold"), None);
    }

    #[test]
    fn what_the_controller_of_a_split_shows_is_kept() {
        let names = Names { compared: alloc::vec![Compared::Controlled], ..names(&["serve"]) };
        let mut history = History::new(names, STEP);
        let with = |n: u64, state: SplitState| {
            let mut frame = steady(1, n, 20);
            let one = |error: f64, share: f64| LoopFrame {
                share,
                error,
                output: 2.0 * error,
                b: -1.5,
                trust: 0.5,
                delay_s: 1.0,
                ..LoopFrame::default()
            };
            let classes = vec![one(0.25, 0.4), one(-0.25, 0.6)];
            frame.stages[0].split = SplitFrame { state, classes, ..SplitFrame::default() };
            frame
        };
        history.push(&steady(1, 0, 20));
        history.push(&with(1, SplitState::Steering));
        history.push(&with(2, SplitState::Idle));
        history.push(&steady(1, 3, 20)); // from another gateway: no controller
        check(&history, "delay_ratio.serve.gold", &[libm::exp(0.25), f64::NAN, 1.0 / libm::sqrt(0.75)]);
        check(&history, "share.serve.free", &[0.6, 0.6, f64::NAN]);
        check(&history, "output.serve.free", &[-0.5, -0.5, f64::NAN]);
        check(&history, "b.serve.gold", &[-1.5, -1.5, f64::NAN]);
        check(&history, "trust.serve.gold", &[0.5, 0.5, f64::NAN]);
        check(&history, "slots.serve.gold", &[2.0, 2.0, 2.0]);
        check(&history, "weight.a", &[0.5; 3]);
    }

    #[test]
    fn sessions_have_a_weight_of_their_own() {
        let mut history = History::new(Names { sessions: true, ..names(&["serve"]) }, STEP);
        (0..=2).for_each(|n| history.push(&steady(1, n, 0)));
        check(&history, "weight.a", &[0.5; 2]);
        check(&history, "session_weight.a", &[2.5; 2]);
        check(&history, "up.a", &[1.0; 2]);
        let without = History::new(names(&["serve"]), STEP);
        assert_eq!(without.column("session_weight.a"), None, "no column where there are no sessions");
    }

    #[test]
    fn a_system_without_servers_or_waiting_still_has_columns() {
        let bare = Names { classes: vec!["all".to_string()], delay_weights: vec![1.0], ..Names::default() };
        let mut history = History::new(bare, STEP);
        let mut frame = Frame { classes: vec![ClassFrame::default()], ..Frame::default() };
        history.push(&frame);
        frame.now += STEP;
        history.push(&frame);
        check(&history, "wait_s.all", &[f64::NAN]);
        check(&history, "response_s.all", &[f64::NAN]);
        assert_eq!(History::new(Names::default(), STEP).column_at(0), None);
    }
}
