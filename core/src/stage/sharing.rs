//! How the workers of a split stage go to the classes: the controller of the split, what it is shown, who gets the next
//! worker, and what is lent.

use super::{ClassSet, Lanes, Slots};
use crate::control::split::{Carry, ClassSample, SplitSample, Standing, resolution};
use crate::control::{Split, SplitControl, apportion};
use crate::frame::{LoopFrame, SplitFrame, SplitState};
use crate::id::ClassId;
use crate::jobs::Jobs;
use crate::scenario::{Class, StageSpec};
use crate::time::{Duration, Instant};
use crate::unit::DelayWeight;
use alloc::vec;
use alloc::vec::Vec;

/// Fewest workers of a class: one, so that nobody is starved.
const FLOOR: u32 = 1;

/// One class since the last sample.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    joined: u32,
    started: u32,
    delay_ns: u128,
    completed: u32,
    service_ns: u128,
    /// Workers times nanoseconds, up to the last change.
    worker_ns: u128,
    /// When it last had an arrival.
    last_joined: Option<Instant>,
    /// Delay in the last window in which somebody was handed over, in seconds.
    delay_s: Option<f64>,
}

/// The split of a stage whose split is controlled, or whose workers may be lent.
#[derive(Clone, Debug)]
pub(crate) struct Sharing {
    control: Option<Split>,
    weights: Vec<DelayWeight>,
    /// Longest a class can wait here before it is turned away or gets ahead, in seconds.
    longest_s: Vec<f64>,
    at: Instant,
    since: Instant,
    changed: Instant,
    seen: Vec<Seen>,
    shares: Vec<f64>,
    carry: Option<Carry>,
    lend_after: Option<Duration>,
    lend_at: Instant,
    standing: Standing,
    errors: Vec<f64>,
    samples: u64,
    moved: u64,
}

impl Sharing {
    /// What a stage asks for; `None` if its workers are shared by all, or each class keeps its own for good. Gives the
    /// slots their first split if the scenario has none.
    pub(crate) fn new(spec: &StageSpec, classes: &[Class], slots: &mut Slots, now: Instant) -> Option<Self> {
        let weights: Vec<DelayWeight> = classes.iter().map(|class| class.delay_weight).collect();
        let control = Split::new(&spec.split_by, &weights);
        if control.is_none() && spec.lend_after.is_none() {
            return None;
        }
        if slots.split().is_empty() {
            slots.set_split(apportion(slots.workers(), &vec![1.0; classes.len()]));
        }
        let workers = f64::from(slots.workers());
        let shares: Vec<f64> = slots.split().iter().map(|&n| f64::from(n) / workers).collect();
        slots.set_shares(&shares);
        let at = control.as_ref().map_or(Instant::NEVER, |control| now + control.period());
        Some(Self {
            longest_s: classes.iter().map(|class| longest_s(spec, class)).collect(),
            at,
            since: now,
            changed: now,
            seen: vec![Seen::default(); classes.len()],
            carry: spec.dither.then(|| Carry::new(classes.len())),
            lend_after: spec.lend_after,
            lend_at: Instant::NEVER,
            standing: Standing::new(),
            errors: vec![0.0; classes.len()],
            samples: 0,
            moved: 0,
            control,
            weights,
            shares,
        })
    }

    /// Goes on by the settings of `after` where the controller is the same.
    pub(crate) fn reconfigure(
        &mut self,
        now: Instant,
        before: &StageSpec,
        after: &StageSpec,
        classes: &[Class],
    ) {
        self.longest_s = classes.iter().map(|class| longest_s(after, class)).collect();
        if before.dither != after.dither {
            self.carry = after.dither.then(|| Carry::new(classes.len()));
        }
        if before.lend_after != after.lend_after {
            self.lend_after = after.lend_after;
            self.lend_at = now;
        }
    }

    pub(crate) fn on_joined(&mut self, now: Instant, class: ClassId) {
        let seen = &mut self.seen[usize::from(class.0)];
        seen.joined = seen.joined.saturating_add(1);
        seen.last_joined = Some(now);
    }

    pub(crate) fn on_started(&mut self, class: ClassId, wait: Duration) {
        let seen = &mut self.seen[usize::from(class.0)];
        seen.started = seen.started.saturating_add(1);
        seen.delay_ns += u128::from(wait.as_nanos());
    }

    pub(crate) fn on_done(&mut self, class: ClassId, took: Duration) {
        let seen = &mut self.seen[usize::from(class.0)];
        seen.completed = seen.completed.saturating_add(1);
        seen.service_ns += u128::from(took.as_nanos());
    }

    /// When the controller wants its next sample, or a worker may be lent that could not be before.
    pub(crate) fn next_at(&self) -> Instant {
        self.at.min(self.lend_at)
    }

    /// Notes what each class had until now, before it may change.
    pub(crate) fn note_workers(&mut self, now: Instant, slots: &Slots) {
        let nanos = u128::from(now.since(self.changed).as_nanos());
        for (seen, &own) in self.seen.iter_mut().zip(slots.split()) {
            seen.worker_ns += u128::from(own) * nanos;
        }
        self.changed = now;
    }

    /// Does what is due; `true` if a job may be able to start that was not.
    pub(crate) fn control(&mut self, now: Instant, slots: &mut Slots, lanes: &Lanes, jobs: &Jobs) -> bool {
        let mut more = false;
        if self.lend_at <= now {
            self.lend_at = Instant::NEVER;
            more = true;
        }
        if self.at <= now && self.control.is_some() {
            self.sample(now, slots, lanes, jobs);
            more = true;
        }
        more
    }

    fn sample(&mut self, now: Instant, slots: &mut Slots, lanes: &Lanes, jobs: &Jobs) {
        self.note_workers(now, slots);
        let Some(control) = &mut self.control else { return };
        let window_ns = now.since(self.since).as_nanos().max(1) as f64;
        let classes: Vec<ClassSample> = (0..self.seen.len())
            .map(|at| {
                let (class, seen) = (ClassId(at as u8), &self.seen[at]);
                let oldest = lanes.heads_of(class).map(|slot| now.since(jobs[slot].queued)).max();
                ClassSample {
                    joined: seen.joined,
                    started: seen.started,
                    delay_s: seen.delay_ns as f64 / 1e9,
                    waiting: (0..lanes.level_count()).map(|level| lanes.lane_len(level, at)).sum(),
                    oldest_s: oldest.unwrap_or_default().as_secs_f64(),
                    completed: seen.completed,
                    service_s: seen.service_ns as f64 / 1e9,
                    busy: slots.busy_of(class),
                    workers: seen.worker_ns as f64 / window_ns,
                }
            })
            .collect();
        control.on_sample(SplitSample { workers: slots.workers(), classes: &classes }, &mut self.shares);
        let split = match &mut self.carry {
            Some(carry) => carry.apportion(slots.workers(), &self.shares),
            None => apportion(slots.workers(), &self.shares),
        };
        control.on_applied(&split);
        let period = control.period();
        slots.set_shares(&self.shares);
        self.moved += u64::from(slots.set_split(split));
        self.samples += 1;
        for (seen, sample) in self.seen.iter_mut().zip(&classes) {
            if sample.started > 0 {
                seen.delay_s = Some(sample.delay_s / f64::from(sample.started));
            }
            let (last_joined, delay_s) = (seen.last_joined, seen.delay_s);
            *seen = Seen { last_joined, delay_s, ..Seen::default() };
        }
        let delays: Vec<Option<f64>> = self.seen.iter().map(|seen| seen.delay_s).collect();
        crate::control::split::errors(&delays, &self.weights, &mut self.errors);
        self.standing.on_sample(&classes, &self.errors, slots.split(), FLOOR);
        self.since = now;
        let next = self.at + period;
        self.at = if next > now { next } else { now + period };
    }

    /// Of the classes with somebody waiting, those that may have the next worker, as bits: of those with a worker of
    /// their own free, the one furthest below its part (control of transitions: workers that come free go where they
    /// are missed most); else, if workers are lent, the one that has waited longest for its weight.
    pub(crate) fn grant(&mut self, now: Instant, slots: &Slots, lanes: &Lanes, jobs: &Jobs) -> ClassSet {
        let waiting = lanes.classes();
        let own = slots.free() & waiting;
        if own != 0 {
            if own & (own - 1) == 0 {
                return own;
            }
            let lack = |class: u8| {
                f64::from(slots.idle_of(ClassId(class))) / f64::from(slots.slots_of(ClassId(class)))
            };
            return best(own, lack);
        }
        let Some(after) = self.lend_after.filter(|_| slots.busy() < slots.workers() && waiting != 0) else {
            return 0;
        };
        if !self.may_lend(now, after, slots, waiting) {
            return 0;
        }
        best(waiting, |class| {
            let oldest = lanes.heads_of(ClassId(class)).map(|slot| now.since(jobs[slot].queued)).max();
            oldest.unwrap_or_default().as_secs_f64() / self.weights[usize::from(class)].get()
        })
    }

    /// Whether a worker is idle that may be lent and is not; if there will be one without anything else happening, sets
    /// the alarm for it.
    fn may_lend(&mut self, now: Instant, after: Duration, slots: &Slots, waiting: ClassSet) -> bool {
        let (mut ready, mut soonest) = (0, Instant::NEVER);
        let mut lent = 0;
        for (at, seen) in self.seen.iter().enumerate() {
            let class = ClassId(at as u8);
            lent += slots.busy_of(class).saturating_sub(slots.slots_of(class));
            let idle = slots.idle_of(class);
            if idle == 0 || waiting & (1 << at) != 0 {
                continue;
            }
            let from = seen.last_joined.unwrap_or(Instant::START) + after;
            if from <= now {
                ready += idle;
            } else {
                soonest = soonest.min(from);
            }
        }
        self.lend_at = soonest;
        ready > lent
    }

    /// Writes the present state.
    pub(crate) fn frame(&self, slots: &Slots, out: &mut SplitFrame) {
        out.classes.clear();
        let Some(control) = &self.control else {
            out.state = SplitState::None;
            return;
        };
        out.state = self.state(control);
        let stuck = self.standing.stuck_class().filter(|_| out.state == SplitState::Infeasible);
        out.stuck = stuck.unwrap_or(self.seen.len()) as u32;
        out.samples = self.samples;
        out.moved = self.moved;
        out.resolution = resolution(slots.split());
        let (shares, weights): (f64, f64) =
            (self.shares.iter().sum(), self.weights.iter().map(|w| w.get()).sum());
        // Where each class would be if all were on target, given what they wait in all.
        let scale = self.scale_s();
        for (at, seen) in self.seen.iter().enumerate() {
            let weight = self.weights[at].get();
            let mut entry = LoopFrame {
                share: self.shares[at] / shares,
                target: weight / weights,
                delay_s: seen.delay_s.unwrap_or_default(),
                error: self.errors[at],
                output: self.errors[at],
                trust: 1.0,
                ..LoopFrame::default()
            };
            control.describe(at, &mut entry);
            if slots.split()[at] <= FLOOR {
                entry.flags |= LoopFrame::AT_FLOOR;
            }
            if scale * weight > self.longest_s[at] {
                entry.flags |= LoopFrame::WAIT_LIMITED;
            }
            out.classes.push(entry);
        }
    }

    /// Delay of a class of weight 1 if the present delays were shared out on target (geometric mean), in seconds.
    fn scale_s(&self) -> f64 {
        let logs: Vec<f64> = self
            .seen
            .iter()
            .zip(&self.weights)
            .filter_map(|(seen, weight)| seen.delay_s.map(|delay| libm::log(delay.max(1e-9) / weight.get())))
            .collect();
        if logs.is_empty() { 0.0 } else { libm::exp(logs.iter().sum::<f64>() / logs.len() as f64) }
    }

    fn state(&self, control: &Split) -> SplitState {
        match self.standing.state() {
            SplitState::Idle => SplitState::Idle,
            _ if control.is_learning() => SplitState::Learning,
            _ if !control.is_credible() => SplitState::Fallback,
            state => state,
        }
    }
}

/// The member of a set with the largest figure, as bits; the lowest class among equals.
fn best(set: ClassSet, figure: impl Fn(u8) -> f64) -> ClassSet {
    let mut left = set;
    let mut found = (f64::NEG_INFINITY, 0);
    while left != 0 {
        let class = left.trailing_zeros() as u8;
        left &= left - 1;
        let value = figure(class);
        if value > found.0 {
            found = (value, 1 << class);
        }
    }
    found.1
}

/// How long a class can wait at a stage before its deadline or ageing cuts the wait short, in seconds.
fn longest_s(spec: &StageSpec, class: &Class) -> f64 {
    spec.longest_wait(class).map_or(f64::INFINITY, |(limit, _)| limit.as_secs_f64())
}
