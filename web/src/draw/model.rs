//! What the picture says at one moment, computed from two frames and the scenario.
//!
//! Levels (who waits, who is in work) are those of the later frame. Rates, shares and waits are
//! differences over the time between the two, and nothing else: no smoothing that the policies
//! themselves do not do. With no time between them every rate is 0 and every wait unknown.

use tidegate_core::admission::MAX_P_STOP;
use tidegate_core::balance::bar;
use tidegate_core::frame::{
    Frame, Gauged, LevelFrame, ServerFrame, SplitFrame, SplitState, StageClassFrame, StageFrame,
};
use tidegate_core::id::StageId;
use tidegate_core::scenario::v1::{AdaptV1, AgeingV1, CountV1, KindV1, PerV1, QueueV1};
use tidegate_core::scenario::{Class, Scenario, StageSpec};

/// What the picture needs to know of a scenario; made once, used for every frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cast {
    /// Classes from the highest priority down: the order of rows and cells. Equal priorities keep the order
    /// of the scenario.
    pub order: Vec<usize>,
    /// The classes, by index.
    pub classes: Vec<CastClass>,
    /// The stages, from the entry on.
    pub stages: Vec<CastStage>,
    /// Requests each server works on at once.
    pub server_slots: Vec<u32>,
    /// Whether the balancer changes weights by itself.
    pub moves_weights: bool,
    /// Whether there are short requests, and whether there are sessions.
    pub kinds: [bool; 2],
    /// A report older than this is stale, in seconds: two were missed.
    pub stale_s: f64,
}

/// A class of the scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CastClass {
    /// Its priority: the level it queues at.
    pub level: usize,
    /// Its delay weight; smaller waits less.
    pub delay_weight: f64,
}

/// A stage of the scenario.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CastStage {
    /// What its limit counts.
    pub counted: Counted,
    /// Whether its queue control judges a level by who waits there and above it.
    pub cumulative: bool,
    /// Whether its drop curve rises slowly from `max` on.
    pub gentle: bool,
    /// The most that its `max_p` may become, if it adapts.
    pub max_p_stop: Option<f64>,
    /// Whether requests move up a level after a while.
    pub promotes: bool,
    /// Level that each class queues at here; empty stands for the classes' own.
    pub levels: Vec<usize>,
    /// Whether each class has workers of its own.
    pub split: bool,
    /// Whether its workers hand requests to the servers.
    pub serving: bool,
}

impl Cast {
    /// The cast of a scenario.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        let class =
            |c: &Class| CastClass { level: usize::from(c.priority.0), delay_weight: c.delay_weight.get() };
        let stage = |(k, s): (usize, &StageSpec)| CastStage {
            counted: match s.queue {
                QueueV1::TailDrop { per: PerV1::Level, .. } => Counted::Level,
                _ => Counted::Stage,
            },
            cumulative: matches!(
                s.queue,
                QueueV1::PriorityRed { .. }
                    | QueueV1::PdtRed { .. }
                    | QueueV1::WorkRed { .. }
                    | QueueV1::Wred { average: CountV1::Above, .. }
            ),
            gentle: matches!(
                s.queue,
                QueueV1::Red { gentle: true, .. } | QueueV1::PriorityRed { gentle: true, .. }
            ),
            max_p_stop: max_p_stop(&s.queue),
            promotes: matches!(s.ageing, AgeingV1::Promote { .. }),
            levels: (scenario.classes.iter())
                .map(|c| usize::from(scenario.levels.at(c.priority, StageId(k as u8), 0).0))
                .collect(),
            split: s.is_split(),
            serving: scenario.serving_stage.is_some_and(|serving| usize::from(serving.0) == k),
        };
        let has = |kind| scenario.classes.iter().any(|c| c.kind == kind);
        Self {
            moves_weights: scenario.balancer.goes_by_reports(),
            kinds: [has(KindV1::Short), has(KindV1::Session)],
            stale_s: 2.0 * scenario.feedback.period_us as f64 * 1e-6,
            ..Self::new(
                scenario.classes.iter().map(class).collect(),
                scenario.stages.iter().enumerate().map(stage).collect(),
                scenario.servers.iter().map(|s| s.slots).collect(),
            )
        }
    }

    /// A cast from its parts.
    #[must_use]
    pub fn new(classes: Vec<CastClass>, stages: Vec<CastStage>, server_slots: Vec<u32>) -> Self {
        let mut order: Vec<usize> = (0..classes.len()).collect();
        super::geom::sort_few(&mut order, |&a, &b| classes[a].level > classes[b].level);
        Self { order, classes, stages, server_slots, stale_s: f64::INFINITY, ..Self::default() }
    }

    /// Level that a class queues at, at a stage.
    #[must_use]
    pub fn level(&self, stage: usize, class: usize) -> usize {
        let here = self.stages.get(stage).and_then(|s| s.levels.get(class)).copied();
        here.unwrap_or_else(|| self.classes.get(class).map_or(0, |c| c.level))
    }

    /// Rank of a class by priority, 0 the highest: which look of the theme it has.
    #[must_use]
    pub fn rank(&self, class: usize) -> usize {
        self.order.iter().position(|&c| c == class).unwrap_or(class)
    }

    /// Whether the classes ask for different waits, so that a target for the shares of wait exists.
    fn has_wait_targets(&self) -> bool {
        self.classes.windows(2).any(|pair| pair[0].delay_weight != pair[1].delay_weight)
    }
}

/// The most that the `max_p` of a control may become; `None` if it stays as it is.
fn max_p_stop(queue: &QueueV1) -> Option<f64> {
    match queue {
        QueueV1::Red { adapt, max_p, .. }
        | QueueV1::PriorityRed { adapt, max_p, .. }
        | QueueV1::WorkRed { adapt, max_p, .. } => (*adapt != AdaptV1::None).then_some(max_p.max(MAX_P_STOP)),
        _ => None,
    }
}

/// A counter and how fast it rises.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Flow {
    /// Since the run began.
    pub total: u64,
    /// Over the interval, per second of the run.
    pub per_s: f64,
}

/// The running system as it is drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PictureModel {
    /// Time of the later frame, in seconds of the run.
    pub now_s: f64,
    /// Length of the interval the rates are taken over, in seconds of the run.
    pub span_s: f64,
    /// Classes from the highest priority down: the order of rows and cells. Equal priorities keep the order
    /// of the scenario.
    pub order: Vec<usize>,
    /// The classes, by index.
    pub classes: Vec<ClassView>,
    /// The stages, from the entry on.
    pub stages: Vec<StageView>,
    /// The servers.
    pub servers: Vec<ServerView>,
    /// Whether the classes ask for different waits, so that a target for the shares of wait exists.
    pub has_wait_targets: bool,
    /// Whether servers are told apart by weight.
    pub weighed: bool,
}

/// One class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassView {
    /// Place in [`PictureModel::order`]: which look of the theme it has.
    pub rank: usize,
    /// Its delay weight.
    pub delay_weight: f64,
    /// Requests that asked.
    pub offered: Flow,
    /// Requests answered.
    pub completed: Flow,
    /// Of those, answered in time.
    pub good: Flow,
    /// Requests turned away, for whatever cause.
    pub shed: Flow,
    /// Mean time in queues of the requests answered in the interval, in seconds.
    pub wait_s: Option<f64>,
    /// Mean time from arrival to answer of the same, in seconds.
    pub response_s: Option<f64>,
}

/// What a queue limit counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Each priority level by itself.
    #[default]
    Level,
    /// All levels together.
    Stage,
}

/// One stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageView {
    /// Most that may wait, per level or in all.
    pub limit: u32,
    /// What the limit counts.
    pub counted: Counted,
    /// Whether its queue control judges a level by who waits there and above it: then a lane begins after them.
    pub cumulative: bool,
    /// What the figures of [`StageClassView::gauge`] count.
    pub gauged: Gauged,
    /// Whether its drop curve rises slowly from `max` on.
    pub gentle: bool,
    /// The most that its `max_p` may become, if it adapts.
    pub max_p_stop: Option<f64>,
    /// Share of the time spent in the interval at the stages before that was for requests turned away here.
    pub wasted: f64,
    /// Whether requests move up a level after a while.
    pub promotes: bool,
    /// Requests waiting, all classes and levels.
    pub waiting: u32,
    /// Workers in all.
    pub workers: u32,
    /// Requests that a worker takes at once.
    pub batch: u32,
    /// Whether each class has workers of its own.
    pub split: bool,
    /// What the controller of the split makes of it.
    pub control: SplitFrame,
    /// Workers each class would come to have if waits were in proportion, where theory knows.
    pub theory: Option<Vec<f64>>,
    /// Whether its workers hand requests to the servers.
    pub serving: bool,
    /// One entry a class.
    pub classes: Vec<StageClassView>,
}

/// One class at one stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageClassView {
    /// Requests of the class waiting here, wherever they stand.
    pub waiting: u32,
    /// What stands in the class's lane, head first: class and number. All lanes together hold exactly what
    /// waits. A request that was moved up stands in the lane it was moved to.
    pub lane: Vec<(usize, u32)>,
    /// What the limit counts for an arrival of this class: a level's requests, or the whole stage's.
    pub counted: u32,
    /// Requests that wait at levels above those of the lane.
    pub ahead: u32,
    /// What the queue control makes of the level of the class.
    pub gauge: LevelFrame,
    /// Requests promoted out of the levels that belong to the lane.
    pub promoted: Flow,
    /// Requests that came to this stage.
    pub offered: Flow,
    /// Requests turned away here, for whatever cause.
    pub shed: Flow,
    /// Requests handed to a worker.
    pub started: Flow,
    /// Share of those that came in the interval and were turned away, 0 to 1; 0 if none came.
    pub shed_share: f64,
    /// On a worker now.
    pub busy: u32,
    /// Workers the class may use.
    pub slots: u32,
    /// Mean wait of the requests started in the interval, in seconds; `None` if none was.
    pub wait_s: Option<f64>,
    /// How long the oldest has waited, in seconds.
    pub oldest_wait_s: f64,
}

/// How a server stands: the first that is true of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// It takes work.
    #[default]
    Fit,
    /// It has just come back and gets a growing part of its share.
    Warming,
    /// It asked to get nothing new.
    Draining,
    /// A load it reported is above its limit.
    Overloaded,
    /// It used to report and no longer does.
    Silent,
    /// It failed too often.
    Ejected,
    /// It is registered no longer.
    Gone,
    /// It cannot be reached.
    Down,
}

/// One server.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ServerView {
    /// Whether it can be reached.
    pub up: bool,
    /// How it stands.
    pub standing: Standing,
    /// Share of its share that it gets while it warms up, 0 to 1.
    pub warm: f64,
    /// What the balancer makes of it, larger gets more: for sessions, where there are no other requests.
    pub weight: f64,
    /// The same for sessions, if it is another.
    pub session_weight: Option<f64>,
    /// The group it is in, 1 the one that gets new work; 0 where there are no groups.
    pub group: u8,
    /// What it reported last: processors, memory, network, disk, rooms.
    pub loads: [Option<f64>; 5],
    /// Age of that report, in seconds.
    pub report_age_s: Option<f64>,
    /// Whether reports are overdue.
    pub stale: bool,
    /// Sessions there, of those in flight.
    pub sessions: u32,
    /// Requests it works on at once.
    pub slots: u32,
    /// Requests in flight, by class.
    pub in_flight: Vec<u32>,
    /// Requests it was sent.
    pub picked: Flow,
    /// Requests it answered.
    pub completed: Flow,
    /// Share of all picks in the interval, 0 to 1.
    pub share: f64,
}

impl StageView {
    /// Whether its queue control reads a drop chance off a curve.
    #[must_use]
    pub fn has_curve(&self) -> bool {
        self.gauged != Gauged::Nothing && self.classes.iter().any(|c| c.gauge.max > 0.0)
    }

    /// Whether there is an average to show at the level of a class: a rate is none.
    #[must_use]
    pub fn gauged_level_of(&self, class: &StageClassView) -> bool {
        match self.gauged {
            Gauged::Nothing => false,
            Gauged::Jobs => class.gauge.max > 0.0,
            Gauged::Seconds => true,
        }
    }

    /// The same of a class by its index.
    #[must_use]
    pub fn gauged_level(&self, class: usize) -> bool {
        self.classes.get(class).is_some_and(|c| self.gauged_level_of(c))
    }

    /// Whether a controller moves its workers from class to class.
    #[must_use]
    pub fn is_controlled(&self) -> bool {
        self.control.state != SplitState::None && self.control.classes.len() == self.classes.len()
    }

    /// Whether enough wait for a ratio of waits to mean anything: what a controller says, elsewhere by their number.
    #[must_use]
    pub const fn has_ratio(&self) -> bool {
        match self.control.state {
            SplitState::None => self.waiting >= PictureModel::RATIO_NEEDS_WAITING,
            SplitState::Idle => false,
            _ => true,
        }
    }

    /// Requests in work beyond what the workers of their class are: so many finish before they change class, or are
    /// on a worker that was lent.
    #[must_use]
    pub fn over(&self) -> u32 {
        let over = |c: &StageClassView| c.busy.saturating_sub(c.slots);
        if self.split { total(self.classes.iter().map(over)) } else { 0 }
    }
}

impl ServerView {
    /// Requests in flight, all classes.
    #[must_use]
    pub fn in_flight_sum(&self) -> u32 {
        total(self.in_flight.iter().copied())
    }

    /// Whether it gets nothing new, for whatever reason.
    #[must_use]
    pub const fn is_left_out(&self) -> bool {
        !matches!(self.standing, Standing::Fit | Standing::Warming)
    }

    /// Whether it says anything about its load.
    #[must_use]
    pub fn reports(&self) -> bool {
        self.loads.iter().any(Option::is_some)
    }

    /// Share of its places in use now, 0 to 1.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        (f64::from(self.in_flight_sum()) / f64::from(self.slots.max(1))).min(1.0)
    }
}

impl PictureModel {
    /// Below this many waiting a ratio of waits says nothing and is not drawn.
    pub const RATIO_NEEDS_WAITING: u32 = 24;

    /// The picture of `now`, with rates over the time since `before`. Both are frames of one run; parts
    /// that one of them lacks count as 0.
    #[must_use]
    pub fn new(cast: &Cast, before: &Frame, now: &Frame) -> Self {
        let span_s = now.now.as_secs_f64() - before.now.as_secs_f64();
        let rate = Rate { cast, span_s, before, now };
        Self {
            now_s: now.now.as_secs_f64(),
            span_s: span_s.max(0.0),
            order: cast.order.clone(),
            classes: (0..cast.classes.len()).map(|c| rate.class(c)).collect(),
            stages: (0..now.stages.len()).map(|k| rate.stage(k)).collect(),
            weighed: cast.moves_weights || uneven(now.servers.iter().map(|s| s.weight)),
            servers: rate.servers(),
            has_wait_targets: cast.has_wait_targets(),
        }
    }

    /// Each class's share of the sum of mean waits at a stage, by class; `None` while there is none to speak of: the
    /// controller of a split says so, elsewhere it is while too few wait.
    /// A class of which some wait and none started counts with how long its oldest has waited: it would be nothing
    /// otherwise, of all classes.
    #[must_use]
    pub fn wait_shares(&self, stage: usize) -> Option<Vec<f64>> {
        let stage = self.stages.get(stage)?;
        let wait = |c: &StageClassView| match c.wait_s {
            None if c.waiting > 0 => c.oldest_wait_s,
            wait => wait.unwrap_or(0.0),
        };
        let sum: f64 = stage.classes.iter().map(wait).sum();
        let enough = stage.has_ratio() && sum > 0.0;
        enough.then(|| stage.classes.iter().map(|c| wait(c) / sum).collect())
    }

    /// The shares of wait the delay weights ask for at a stage, by class; `None` if nobody goes by them.
    #[must_use]
    pub fn wait_targets(&self, stage: usize) -> Option<Vec<f64>> {
        let sum: f64 = self.classes.iter().map(|c| c.delay_weight).sum();
        let asked = self.has_wait_targets || self.stages.get(stage).is_some_and(StageView::is_controlled);
        (asked && sum > 0.0).then(|| self.classes.iter().map(|c| c.delay_weight / sum).collect())
    }
}

/// Turns two frames into flows.
struct Rate<'a> {
    cast: &'a Cast,
    span_s: f64,
    before: &'a Frame,
    now: &'a Frame,
}

impl Rate<'_> {
    fn flow(&self, before: u64, now: u64) -> Flow {
        let per_s = if self.span_s > 0.0 { now.saturating_sub(before) as f64 / self.span_s } else { 0.0 };
        Flow { total: now, per_s }
    }

    fn class(&self, c: usize) -> ClassView {
        let a = self.before.classes.get(c).copied().unwrap_or_default();
        let b = self.now.classes.get(c).copied().unwrap_or_default();
        let answered = b.completed.saturating_sub(a.completed);
        ClassView {
            rank: self.cast.rank(c),
            delay_weight: self.cast.classes[c].delay_weight,
            offered: self.flow(a.arrived, b.arrived),
            completed: self.flow(a.completed, b.completed),
            good: self.flow(a.good, b.good),
            shed: self.flow(all(&a.shed), all(&b.shed)),
            wait_s: mean(b.wait_sum_s - a.wait_sum_s, answered),
            response_s: mean(b.response_sum_s - a.response_sum_s, answered),
        }
    }

    fn stage(&self, k: usize) -> StageView {
        let (empty, stage) = (StageFrame::default(), &self.now.stages[k]);
        let before = self.before.stages.get(k).unwrap_or(&empty);
        let usual = CastStage::default();
        let cast = self.cast.stages.get(k).unwrap_or(&usual);
        let waiting = total(stage.waiting.iter().copied());
        let classes = (lanes(self.cast, k, stage).into_iter().enumerate())
            .map(|(c, lane)| {
                let level = self.cast.level(k, c);
                let counted = match cast.counted {
                    Counted::Stage => waiting,
                    Counted::Level => level_sum(stage, level),
                };
                let above = self.next_level(stage, k, level)..usize::from(stage.levels);
                StageClassView {
                    lane,
                    counted,
                    ahead: total(above.map(|l| level_sum(stage, l))),
                    gauge: stage.gauges.get(level).copied().unwrap_or_default(),
                    promoted: self.promoted(before, stage, k, c),
                    ..self.at_stage(before, stage, k, c)
                }
            })
            .collect();
        StageView {
            limit: stage.limit,
            counted: cast.counted,
            cumulative: cast.cumulative,
            gauged: stage.gauged,
            gentle: cast.gentle,
            max_p_stop: cast.max_p_stop,
            wasted: self.wasted(k),
            promotes: cast.promotes,
            waiting,
            workers: stage.workers,
            batch: stage.batch,
            split: cast.split,
            control: stage.split.clone(),
            theory: None,
            serving: cast.serving,
            classes,
        }
    }

    /// The next level above `level` that belongs to another lane; those between have no class of their own.
    fn next_level(&self, stage: &StageFrame, k: usize, level: usize) -> usize {
        let others = (0..self.cast.classes.len()).map(|other| self.cast.level(k, other));
        others.filter(|&l| l > level).min().unwrap_or(usize::from(stage.levels))
    }

    /// Promotions out of the levels that belong to a class's lane: its own, and those above it that no class has.
    fn promoted(&self, before: &StageFrame, now: &StageFrame, k: usize, c: usize) -> Flow {
        // Only who leaves the last of them is seen to climb into the next lane.
        let last = self.next_level(now, k, self.cast.level(k, c)).saturating_sub(1);
        let count = |s: &StageFrame| s.gauges.get(last).map_or(0, |g| g.promoted);
        self.flow(count(before), count(now))
    }

    /// Share of the time that the stages before `k` spent in the interval that was for requests turned away at `k`.
    fn wasted(&self, k: usize) -> f64 {
        let grown = |of: fn(&StageFrame) -> f64, k: usize| {
            let at = |frame: &Frame| frame.stages.get(k).map_or(0.0, of);
            at(self.now) - at(self.before)
        };
        let spent: f64 = (0..k).map(|j| grown(|s| s.worked_s, j)).sum();
        if spent > 0.0 { (grown(|s| s.wasted_s, k) / spent).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The flows of one class at stage `k`, without its lane.
    fn at_stage(&self, before: &StageFrame, now: &StageFrame, k: usize, c: usize) -> StageClassView {
        let (a, waited) = part(before, c);
        let (b, waiting) = part(now, c);
        let offered = if k == 0 {
            self.flow(arrived(self.before, c), arrived(self.now, c))
        } else {
            // What came to a later stage has started, was turned away, or still waits.
            self.flow(all(&[a.started, a.shed, waited.into()]), all(&[b.started, b.shed, waiting.into()]))
        };
        let shed = self.flow(a.shed, b.shed);
        StageClassView {
            waiting,
            offered,
            shed,
            started: self.flow(a.started, b.started),
            shed_share: if offered.per_s > 0.0 { (shed.per_s / offered.per_s).min(1.0) } else { 0.0 },
            busy: b.busy,
            slots: b.slots,
            wait_s: mean(b.wait_sum_s - a.wait_sum_s, b.started.saturating_sub(a.started)),
            oldest_wait_s: b.oldest_wait_s,
            ..StageClassView::default()
        }
    }

    fn servers(&self) -> Vec<ServerView> {
        let mut servers: Vec<ServerView> = (self.now.servers.iter().enumerate())
            .map(|(i, b)| {
                let a = self.before.servers.get(i);
                let (weight, session_weight) = match self.cast.kinds {
                    [false, true] => (b.session_weight, None),
                    [_, sessions] => {
                        (b.weight, Some(b.session_weight).filter(|&s| sessions && s != b.weight))
                    }
                };
                ServerView {
                    up: b.up,
                    standing: standing(b),
                    warm: b.warm,
                    weight,
                    session_weight,
                    group: b.group,
                    loads: b.loads.map(|load| load.is_finite().then_some(load)),
                    report_age_s: b.report_age_s.is_finite().then_some(b.report_age_s),
                    stale: b.report_age_s > self.cast.stale_s,
                    sessions: b.sessions,
                    slots: self.cast.server_slots.get(i).copied().unwrap_or(1),
                    in_flight: b.in_flight.clone(),
                    picked: self.flow(a.map_or(0, |a| a.picked), b.picked),
                    completed: self.flow(a.map_or(0, |a| a.completed), b.completed),
                    share: 0.0,
                }
            })
            .collect();
        let all: f64 = servers.iter().map(|s| s.picked.per_s).sum();
        if all > 0.0 {
            servers.iter_mut().for_each(|s| s.share = s.picked.per_s / all);
        }
        servers
    }
}

/// Whether these are not all alike.
fn uneven(mut values: impl Iterator<Item = f64>) -> bool {
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// How a server stands.
fn standing(server: &ServerFrame) -> Standing {
    const BARS: [(u8, Standing); 5] = [
        (bar::GONE, Standing::Gone),
        (bar::EJECTED, Standing::Ejected),
        (bar::SILENT, Standing::Silent),
        (bar::OVERLOADED, Standing::Overloaded),
        (bar::DRAINING, Standing::Draining),
    ];
    let barred = BARS.into_iter().find(|(bar, _)| server.bars & bar != 0);
    match barred {
        _ if !server.up => Standing::Down,
        Some((_, standing)) => standing,
        None if server.warm < 1.0 => Standing::Warming,
        None => Standing::Fit,
    }
}

/// A sum that stays at the largest number rather than wrap: frames also come over the network.
fn total(numbers: impl Iterator<Item = u32>) -> u32 {
    numbers.fold(0, u32::saturating_add)
}

fn all(numbers: &[u64]) -> u64 {
    numbers.iter().copied().fold(0, u64::saturating_add)
}

fn mean(sum_s: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| (sum_s / count as f64).max(0.0))
}

fn arrived(frame: &Frame, class: usize) -> u64 {
    frame.classes.get(class).map_or(0, |c| c.arrived)
}

/// A class's counters at a stage, and how many of it wait there.
fn part(stage: &StageFrame, class: usize) -> (StageClassFrame, u32) {
    let counters = stage.classes.get(class).copied().unwrap_or_default();
    (counters, total((0..usize::from(stage.levels)).map(|level| at_level(stage, level, class))))
}

fn at_level(stage: &StageFrame, level: usize, class: usize) -> u32 {
    stage.waiting.get(level * stage.classes.len() + class).copied().unwrap_or(0)
}

fn level_sum(stage: &StageFrame, level: usize) -> u32 {
    total((0..stage.classes.len()).map(|class| at_level(stage, level, class)))
}

/// What stands in each class's lane. A class's own requests stand in its own lane while they are at its own
/// level; one that was moved to another level stands in the lane of that level's first class (or, where a
/// level belongs to no class, of the next class below it, else in its own).
fn lanes(cast: &Cast, k: usize, stage: &StageFrame) -> Vec<Vec<(usize, u32)>> {
    let mut lanes = vec![Vec::new(); cast.classes.len()];
    let level_of = |c: usize| cast.level(k, c);
    for level in 0..usize::from(stage.levels) {
        // Highest priority first, so the first class at or below the level is its host.
        let host = cast.order.iter().copied().find(|&c| level_of(c) <= level);
        for &class in &cast.order {
            let lane = if level_of(class) == level { class } else { host.unwrap_or(class) };
            let n = at_level(stage, level, class);
            if n > 0 {
                lanes[lane].push((class, n));
            }
        }
    }
    lanes
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tidegate_core::frame::ClassFrame;
    use tidegate_core::time::Instant;

    /// Classes 0, 1, 2 at levels 0, 2, 1; an entry stage and a serving stage; two servers.
    pub(crate) fn cast() -> Cast {
        let class = |level, delay_weight| CastClass { level, delay_weight };
        Cast::new(
            vec![class(0, 4.0), class(2, 1.0), class(1, 2.0)],
            vec![CastStage::default(), CastStage { serving: true, ..CastStage::default() }],
            vec![2, 4],
        )
    }

    /// A frame in which `scale` of everything has happened by `at_s`.
    pub(crate) fn frame(at_s: f64, scale: u64) -> Frame {
        let class = |n: u64| ClassFrame {
            arrived: 10 * n * scale,
            completed: 6 * n * scale,
            good: 5 * n * scale,
            shed: [0, 2 * n * scale, 0, 0],
            wait_sum_s: 1.5 * (n * scale) as f64,
            response_sum_s: 3.0 * (n * scale) as f64,
            ..ClassFrame::default()
        };
        let at_stage = |n: u64| StageClassFrame {
            busy: 2,
            slots: 6,
            started: 7 * n * scale,
            shed: 2 * n * scale,
            wait_sum_s: 0.7 * (n * scale) as f64,
            oldest_wait_s: 0.25,
        };
        let stage = |waiting: Vec<u32>| StageFrame {
            workers: 6,
            limit: 100,
            levels: 3,
            waiting,
            classes: (1..=3).map(at_stage).collect(),
            ..StageFrame::default()
        };
        let server = |in_flight: Vec<u32>| ServerFrame {
            up: true,
            weight: 1.0,
            warm: 1.0,
            max_in_flight: u32::MAX,
            in_flight,
            picked: 5 * scale,
            completed: 4 * scale,
            ..ServerFrame::default()
        };
        Frame {
            now: Instant::from_nanos((at_s * 1e9) as u64),
            classes: (1..=3).map(class).collect(),
            stages: vec![stage(vec![0; 9]), stage(vec![30, 0, 0, 7, 0, 20, 1, 10, 0])],
            servers: vec![server(vec![1, 0, 0]), server(vec![0, 3, 5])],
            decision: None,
        }
    }

    #[test]
    fn rates_are_differences_over_the_interval() {
        let model = PictureModel::new(&cast(), &frame(10.0, 1), &frame(12.0, 3));
        assert_eq!(model.span_s, 2.0);
        assert_eq!(model.order, [1, 2, 0]);
        assert_eq!(model.classes[1].rank, 0);
        assert_eq!(model.classes[0].offered, Flow { total: 30, per_s: 10.0 });
        assert_eq!(model.classes[2].shed.per_s, 6.0);
        assert_eq!(model.classes[0].wait_s, Some(0.25));
        assert_eq!(model.stages[0].classes[0].shed_share, 0.2);
        assert!((model.stages[1].classes[1].wait_s.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(model.servers[0].share, 0.5);
        assert_eq!(model.servers[0].utilisation(), 0.5);
        assert_eq!(model.servers[1].utilisation(), 1.0);
    }

    #[test]
    fn without_an_interval_nothing_flows() {
        let model = PictureModel::new(&cast(), &frame(10.0, 3), &frame(10.0, 3));
        assert_eq!(model.classes[0].offered, Flow { total: 30, per_s: 0.0 });
        assert_eq!(model.classes[0].wait_s, None);
        assert_eq!(model.stages[0].classes[0].shed_share, 0.0);
        let back = PictureModel::new(&cast(), &frame(11.0, 3), &frame(10.0, 1));
        assert_eq!((back.span_s, back.classes[0].offered.per_s), (0.0, 0.0));
    }

    #[test]
    fn every_waiting_request_stands_in_one_lane() {
        let model = PictureModel::new(&cast(), &frame(0.0, 1), &frame(1.0, 2));
        let stage = &model.stages[1];
        let in_lanes: u32 = stage.classes.iter().flat_map(|c| &c.lane).map(|(_, n)| n).sum();
        assert_eq!(in_lanes, stage.waiting);
        assert_eq!(stage.waiting, 68);
        // Class 0 was moved up: 7 to the lane of class 2, and 1 to that of class 1.
        assert_eq!(stage.classes[0].lane, [(0, 30)]);
        assert_eq!(stage.classes[1].lane, [(1, 10), (0, 1)]);
        assert_eq!(stage.classes[2].lane, [(2, 20), (0, 7)]);
        assert_eq!(stage.classes[2].counted, 27);
    }

    #[test]
    fn shares_of_wait_need_a_queue_worth_the_name() {
        let mut now = frame(12.0, 3);
        let model = PictureModel::new(&cast(), &frame(10.0, 1), &now);
        let shares = model.wait_shares(1).expect("68 wait");
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let targets = model.wait_targets(1).expect("weights differ");
        assert_eq!(targets, [4.0 / 7.0, 1.0 / 7.0, 2.0 / 7.0]);
        now.stages[1].classes[0] =
            StageClassFrame { oldest_wait_s: 9.8, ..frame(10.0, 1).stages[1].classes[0] };
        let starved = PictureModel::new(&cast(), &frame(10.0, 1), &now).wait_shares(1).expect("68 wait");
        assert!((starved[0] - 0.98).abs() < 1e-9, "{starved:?}");
        now.stages[1].waiting = vec![23, 0, 0, 0, 0, 0, 0, 0, 0];
        assert_eq!(PictureModel::new(&cast(), &frame(10.0, 1), &now).wait_shares(1), None);
    }

    #[test]
    fn a_controller_says_whether_there_is_a_ratio() {
        let with = |state: SplitState, waiting: u32| {
            let mut now = frame(12.0, 3);
            let stage = &mut now.stages[1];
            stage.split = SplitFrame { state, classes: vec![Default::default(); 3], ..SplitFrame::default() };
            stage.waiting = vec![waiting, 0, 0, 0, 0, 0, 0, 0, 0];
            PictureModel::new(&cast(), &frame(10.0, 1), &now)
        };
        assert!(with(SplitState::Steering, 3).wait_shares(1).is_some(), "it steers, though only three wait");
        assert_eq!(
            with(SplitState::Idle, 300).wait_shares(1),
            None,
            "it says that there is nothing to enforce"
        );
        assert!(with(SplitState::Steering, 3).stages[1].is_controlled());
        assert!(!with(SplitState::None, 3).stages[1].is_controlled());
    }

    #[test]
    fn a_lane_shows_its_own_level_and_folds_those_nobody_has() {
        let mut cast = cast();
        // Of five levels the classes 0, 1, 2 have 0, 3 and 1.
        cast.stages[1] = CastStage { levels: vec![0, 3, 1], cumulative: true, ..CastStage::default() };
        let with_gauges = |at_s: f64, scale: u64| {
            let mut frame = frame(at_s, scale);
            let stage = &mut frame.stages[1];
            stage.levels = 5;
            stage.gauged = Gauged::Jobs;
            stage.waiting = vec![1, 0, 0, 0, 2, 0, 0, 0, 4, 0, 8, 0, 0, 16, 0];
            stage.gauges = (0..5)
                .map(|l| LevelFrame {
                    average: f64::from(l),
                    promoted: scale * (l as u64 + 1),
                    ..LevelFrame::default()
                })
                .collect();
            frame
        };
        let model = PictureModel::new(&cast, &with_gauges(10.0, 1), &with_gauges(12.0, 3));
        let stage = &model.stages[1];
        let averages: Vec<f64> = stage.classes.iter().map(|c| c.gauge.average).collect();
        assert_eq!(averages, [0.0, 3.0, 1.0], "each lane reads the gauge of its class's level");
        let ahead: Vec<u32> = stage.classes.iter().map(|c| c.ahead).collect();
        assert_eq!(ahead, [30, 0, 24], "who waits above, and in no lane twice");
        // Level 2 belongs to nobody: who leaves it climbs out of the lane of class 2.
        let climbed: Vec<f64> = stage.classes.iter().map(|c| c.promoted.per_s).collect();
        assert_eq!(climbed, [1.0, 5.0, 3.0], "levels 0, 4 and 2, two of each in two seconds");
        let in_lanes: u32 = stage.classes.iter().flat_map(|c| &c.lane).map(|(_, n)| n).sum();
        assert_eq!(in_lanes, 31);
    }

    #[test]
    fn waste_is_a_share_of_what_was_spent_before_the_stage() {
        let spent = |at_s: f64, scale: u64, worked_s: f64, wasted_s: f64| {
            let mut frame = frame(at_s, scale);
            frame.stages[0].worked_s = worked_s;
            frame.stages[1].wasted_s = wasted_s;
            frame
        };
        let model = PictureModel::new(&cast(), &spent(10.0, 1, 5.0, 1.0), &spent(12.0, 3, 9.0, 2.0));
        assert_eq!((model.stages[0].wasted, model.stages[1].wasted), (0.0, 0.25));
    }

    /// The view of a server of which `change` is told.
    fn server(cast: &Cast, change: impl Fn(&mut ServerFrame)) -> ServerView {
        let mut now = frame(1.0, 1);
        change(&mut now.servers[0]);
        PictureModel::new(cast, &now, &now).servers[0].clone()
    }

    #[test]
    fn the_gravest_of_what_bars_a_server_is_shown() {
        let check = |change: fn(&mut ServerFrame), want| {
            assert_eq!(server(&cast(), change).standing, want);
        };
        check(|_| (), Standing::Fit);
        check(|s| s.warm = 0.4, Standing::Warming);
        check(|s| (s.warm, s.bars) = (0.4, bar::DRAINING), Standing::Draining);
        check(|s| s.bars = bar::OVERLOADED | bar::DRAINING, Standing::Overloaded);
        check(|s| s.bars = bar::OVERLOADED | bar::SILENT, Standing::Silent);
        check(|s| s.bars = bar::SILENT | bar::EJECTED, Standing::Ejected);
        check(|s| s.bars = bar::EJECTED | bar::GONE, Standing::Gone);
        check(|s| (s.up, s.bars) = (false, bar::OVERLOADED), Standing::Down);
    }

    #[test]
    fn a_report_is_stale_when_two_are_missed() {
        let cast = Cast { stale_s: 20.0, ..cast() };
        let at = |age_s: f64| {
            let view = server(&cast, |s| {
                s.report_age_s = age_s;
                s.loads = [0.5, f64::NAN, 0.0, f64::NAN, f64::NAN];
            });
            (view.stale, view.report_age_s, view.loads.map(|load| load.is_some()))
        };
        let known = [true, false, true, false, false];
        assert_eq!(at(20.0), (false, Some(20.0), known));
        assert_eq!(at(20.5), (true, Some(20.5), known));
        assert_eq!(at(f64::NAN), (false, None, known), "nothing is late that never came");
    }

    #[test]
    fn the_weight_shown_is_that_of_the_work_there_is() {
        let of = |kinds| {
            let view = server(&Cast { kinds, ..cast() }, |s| (s.weight, s.session_weight) = (0.5, 2.0));
            (view.weight, view.session_weight)
        };
        assert_eq!(of([true, false]), (0.5, None));
        assert_eq!(of([false, true]), (2.0, None));
        assert_eq!(of([true, true]), (0.5, Some(2.0)));
        let mut now = frame(1.0, 1);
        assert!(!PictureModel::new(&cast(), &now, &now).weighed, "all alike");
        now.servers[1].weight = 3.0;
        assert!(PictureModel::new(&cast(), &now, &now).weighed);
    }

    #[test]
    fn frames_of_another_shape_do_not_panic() {
        let empty = Frame::default();
        let _ = PictureModel::new(&cast(), &empty, &frame(1.0, 1));
        let _ = PictureModel::new(&cast(), &frame(1.0, 1), &empty);
        let _ = PictureModel::new(&Cast::default(), &empty, &empty);
    }
}
