//! One stage: a queue with a lane per priority level, in front of a pool of workers.
//!
//! A stage decides who waits and who is next; what a worker does with a job is the driver's business.

mod ageing;
mod ahead;
#[cfg(test)]
mod by_hand;
mod cost;
mod lanes;
mod order;
mod sharing;
mod slots;
mod workers;

pub use order::Order;
pub use slots::Slots;

pub(crate) use lanes::Lanes;

use crate::admission::{Control, Found, Gauge, Judged, QueueControl, Taken, Verdict, chance_of};
use crate::frame::{Cause, Gauged, LevelFrame, SplitFrame, StageFrame};
use crate::id::{ClassId, StageId};
use crate::jobs::{Job, Jobs, Place};
use crate::scenario::v1::{AgeingV1, ExpiredV1, OrderV1, QueueV1, SplitByV1};
use crate::scenario::{Class, Levels, Scenario, StageSpec, Work};
use crate::time::{Duration, Instant};
use crate::unit::{Chance, DelayWeight};
use ageing::Ageing;
use alloc::vec;
use alloc::vec::Vec;
use cost::Costs;
use order::{Discipline, Waiting};
use sharing::Sharing;
use workers::Workers;

/// Classes as a set of bits; a scenario has at most 16.
pub(crate) type ClassSet = u16;

/// Counts of one class at one stage, since the run began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub started: u64,
    pub shed: u64,
    /// Sum of the waits of started jobs.
    pub wait_ns: u128,
}

/// Where a job stands among the levels of a stage.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// Level it waits in.
    pub level: u8,
    /// Level it is judged at.
    pub judged_at: u8,
}

/// A job that left the queue when a worker was free.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Next {
    /// It is on a worker, after so long a wait.
    Started(u32, Duration),
    /// Its queue control turned it away at the last moment; it is out of the queue.
    Shed(u32, Cause),
}

/// A stage at work.
#[derive(Clone, Debug)]
pub(crate) struct Stage {
    pub lanes: Lanes,
    pub slots: Slots,
    pub control: Control,
    order: Order,
    ageing: Ageing,
    workers: Workers,
    sharing: Option<Sharing>,
    costs: Costs,
    /// The level of each class without its correction for size, not limited to those there are.
    base_of: Vec<u8>,
    levels: Levels,
    pub counts: Vec<Counts>,
    /// Jobs promoted out of each level so far.
    pub promoted: Vec<u64>,
    /// Time in work at earlier stages of jobs turned away here.
    pub wasted_ns: u128,
    /// Time in work here of jobs whose work ended.
    pub worked_ns: u128,
    /// Its number, which is that of its decision about an arrival in a job's [`Chance`].
    number: u32,
    /// Whether its workers hand jobs to servers.
    pub serving: bool,
    /// Whether a job whose deadline passes is turned away.
    pub sheds_expired: bool,
    /// Whether its queue control judges jobs once more when a worker is free for them.
    judges_taken: bool,
    /// Whether some policy goes by the cost of jobs.
    prices: bool,
    /// Whether some policy goes by the cost of jobs or the pace of completions.
    measures: bool,
    /// Whether something happens here by itself as time passes.
    timed: bool,
    /// Whether there is any of that, or ageing: if not, most of what is done for a job need not be looked at.
    special: bool,
}

impl Stage {
    pub(crate) fn new(scenario: &Scenario, id: StageId) -> Self {
        let spec = &scenario.stages[usize::from(id.0)];
        let classes = &scenario.classes;
        let levels = usize::from(spec.levels);
        let workers = Workers::new(spec, Instant::START);
        let mut slots = Slots::new(spec.workers, spec.split.as_deref(), classes.len());
        let sharing = Sharing::new(spec, classes, &mut slots, Instant::START);
        let timed = is_timed(spec, &workers, sharing.as_ref());
        let weights: Vec<DelayWeight> = classes.iter().map(|class| class.delay_weight).collect();
        let control = Control::new(&spec.queue, levels, &weights);
        let (prices, measures) = (prices(spec), measures(spec));
        let passed = if scenario.levels.per_stage { id.0 } else { 0 };
        Self {
            lanes: Lanes::new(levels, classes.len()),
            slots,
            sharing,
            judges_taken: control.judges_taken(),
            control,
            prices,
            order: Order::new(spec.order, classes),
            ageing: Ageing::new(&spec.ageing, levels),
            timed,
            special: timed || measures || spec.ageing != AgeingV1::None,
            workers,
            costs: Costs::new(spec, classes),
            base_of: classes.iter().map(|class: &Class| class.priority.0.saturating_add(passed)).collect(),
            levels: scenario.levels.clone(),
            counts: classes.iter().map(|_| Counts::default()).collect(),
            promoted: vec![0; levels],
            wasted_ns: 0,
            worked_ns: 0,
            number: u32::from(id.0),
            serving: spec.work == Work::Servers,
            sheds_expired: spec.expired == ExpiredV1::Shed,
            measures,
        }
    }

    /// Goes on at `now` by another scenario of the same shape. Who waits and who is in work stays, and so does what
    /// every policy knows whose settings are the same.
    pub(crate) fn reconfigure(&mut self, jobs: &mut Jobs, now: Instant, before: &Scenario, after: &Scenario) {
        let at = self.number as usize;
        let (was, is) = (&before.stages[at], &after.stages[at]);
        let classes = &after.classes;
        let differ =
            |what: fn(&Class, &Class) -> bool| before.classes.iter().zip(classes).any(|(a, b)| !what(a, b));
        let reweighed = differ(|a, b| a.delay_weight == b.delay_weight);
        let releveled = was.levels != is.levels;
        let levels = usize::from(is.levels);

        // Workers first: the controllers of a split share out those there are.
        if let Some(sharing) = &mut self.sharing {
            sharing.note_workers(now, &self.slots);
        }
        let workers = self.workers.reconfigure(now, was, is, &self.slots);
        let same_split = was.split_by == is.split_by
            && was.split == is.split
            && was.lend_after.is_some() == is.lend_after.is_some();
        let keeps_split = same_split || (was.split_by == is.split_by && is.split_by != SplitByV1::Fixed);
        if keeps_split {
            self.slots.resize(workers);
        } else {
            self.slots.reconfigure(is.workers, is.split.as_deref());
            self.slots.resize(workers);
        }
        if keeps_split && !reweighed && self.sharing.is_some() {
            self.sharing.iter_mut().for_each(|sharing| sharing.reconfigure(now, was, is, classes));
        } else {
            self.sharing = Sharing::new(is, classes, &mut self.slots, now);
        }

        let (prices, measures) = (prices(is), measures(is));
        self.costs.reconfigure(is, classes, measures && !self.measures);
        if prices && !self.prices {
            self.price(jobs);
            self.lanes.relevel(jobs, levels);
        } else if releveled {
            self.lanes.relevel(jobs, levels);
        }
        (self.prices, self.measures) = (prices, measures);
        let by_weight = matches!(is.queue, QueueV1::AdmissionWindow { .. });
        if was.queue != is.queue || releveled || (by_weight && reweighed) {
            let weights: Vec<DelayWeight> = classes.iter().map(|class| class.delay_weight).collect();
            self.control = Control::new(&is.queue, levels, &weights).beginning_at(now);
            self.judges_taken = self.control.judges_taken();
        }
        let reordered = match is.order {
            OrderV1::WeightedFair => differ(|a, b| a.share == b.share),
            OrderV1::Wtp | OrderV1::Pad | OrderV1::Hpd => reweighed,
            _ => false,
        };
        if was.order != is.order || reordered {
            self.order = Order::new(is.order, classes);
        }
        if was.ageing != is.ageing || releveled {
            self.ageing = Ageing::new(&is.ageing, levels);
            for slot in self.lanes.heads() {
                self.ageing.on_joined(jobs[slot].level, jobs[slot].since);
            }
        }
        if releveled {
            let beyond: u64 = self.promoted.iter().skip(levels).sum();
            self.promoted.resize(levels, 0);
            self.promoted[levels - 1] += beyond;
        }
        let passed = if after.levels.per_stage { self.number as u8 } else { 0 };
        self.base_of = classes.iter().map(|class| class.priority.0.saturating_add(passed)).collect();
        self.levels = after.levels.clone();
        self.sheds_expired = is.expired == ExpiredV1::Shed;
        self.timed = is_timed(is, &self.workers, self.sharing.as_ref());
        self.special = self.timed || measures || is.ageing != AgeingV1::None;
    }

    /// Works out anew what each job that waits is expected to cost. The lanes have to be made anew, too.
    fn price(&self, jobs: &mut Jobs) {
        let workers = self.slots.workers();
        for slot in self.lanes.all(jobs) {
            let job = &mut jobs[slot];
            job.cost_ns = self.costs.of(job.class, job.known_size(), workers);
        }
    }

    /// Where a job of a class with this correction for size stands here.
    #[inline(always)]
    pub(crate) fn standing(&self, class: ClassId, correction: u8) -> Standing {
        let base = self.base_of[usize::from(class.0)];
        let top = self.levels.count - 1;
        let raised = base.saturating_add(correction);
        let level = if self.levels.size_in_queue { raised } else { base };
        Standing { level: level.min(top), judged_at: raised.min(top) }
    }

    /// Judges a job that would join the queue now.
    #[inline(always)]
    pub(crate) fn judge(
        &mut self,
        now: Instant,
        class: ClassId,
        standing: Standing,
        can_start: bool,
        chance: Chance,
    ) -> Verdict {
        let found = found(&self.lanes, &self.slots, self.costs.gap(), class, standing, can_start);
        let verdict = if let Control::TailDrop(control) = &self.control {
            // The usual control needs no draw, and making one costs more than the rest of it.
            control.judge(&found)
        } else {
            self.control.on_arrival(now, found, chance.draw(self.number))
        };
        self.count(class, verdict)
    }

    /// The same, telling what the job found and by what chance it was let in or not.
    pub(crate) fn judge_aloud(
        &mut self,
        now: Instant,
        class: ClassId,
        standing: Standing,
        can_start: bool,
        chance: Chance,
    ) -> Judged {
        let found = found(&self.lanes, &self.slots, self.costs.gap(), class, standing, can_start);
        let draw = chance.draw(self.number);
        let mut judged = Judged {
            at: now,
            class,
            stage: StageId(self.number as u8),
            level: standing.level,
            judged_at: standing.judged_at,
            waiting: found.queue.len,
            ahead: found.queue.at_or_above(standing.judged_at),
            would_wait: found.would_wait,
            gauge: None,
            chance: chance_of(&self.control, now, &found),
            draw: draw.get(),
            verdict: self.control.on_arrival(now, found, draw),
        };
        judged.gauge = self.control.gauge(now, standing.judged_at);
        judged.verdict = self.count(class, judged.verdict);
        judged
    }

    /// Judges a job that was let in at the entry and has come here.
    pub(crate) fn judge_late(
        &mut self,
        now: Instant,
        class: ClassId,
        standing: Standing,
        can_start: bool,
    ) -> Verdict {
        let found = found(&self.lanes, &self.slots, self.costs.gap(), class, standing, can_start);
        let verdict = self.control.on_late_arrival(now, found);
        self.count(class, verdict)
    }

    #[inline]
    fn count(&mut self, class: ClassId, verdict: Verdict) -> Verdict {
        if let Verdict::Shed(_) = verdict {
            self.counts[usize::from(class.0)].shed += 1;
        }
        verdict
    }

    /// Puts an admitted job at the tail of its lane; its `correction`, `size` and `ticket` are set.
    #[inline(always)]
    pub(crate) fn join(&mut self, jobs: &mut Jobs, slot: u32, now: Instant) {
        let job = &mut jobs[slot];
        let standing = self.standing(job.class, job.correction);
        job.judged_at = standing.judged_at;
        job.queued = now;
        job.since = now;
        if self.special {
            if self.prices {
                job.cost_ns = self.costs.of(job.class, job.known_size(), self.slots.workers());
            }
            self.ageing.on_joined(standing.level, now);
            if let Some(sharing) = &mut self.sharing {
                sharing.on_joined(now, job.class);
            }
        }
        self.lanes.push(jobs, slot, standing.level);
    }

    /// Whether a job that comes may be put on a worker; if not, none can until a worker is free.
    #[inline]
    pub(crate) const fn may_start(&self) -> bool {
        self.special || self.slots.free() != 0
    }

    /// Takes the next job for which a worker is free and puts it on that worker.
    #[inline(always)]
    pub(crate) fn take(&mut self, jobs: &mut Jobs, now: Instant) -> Option<Next> {
        if self.special {
            return self.take_specially(jobs, now);
        }
        let free = self.slots.free();
        if free == 0 || self.lanes.len() == 0 {
            return None;
        }
        let slot = self.order.next(now, Waiting { lanes: &self.lanes, jobs, free })?;
        self.leave(jobs, slot, now);
        let wait = self.start(&mut jobs[slot], now);
        Some(Next::Started(slot, wait))
    }

    /// Puts a job that has left the queue to work; its wait here.
    #[inline(always)]
    fn start(&mut self, job: &mut Job, now: Instant) -> Duration {
        let (class, wait) = (job.class, now.since(job.queued));
        job.place = Place::Working;
        job.waited += wait;
        job.since = now;
        self.order.on_taken(now, job);
        // Whoever joins a batch is on the worker of who was first.
        if self.workers.open().is_none() {
            self.slots.occupy(class);
        }
        let counts = &mut self.counts[usize::from(class.0)];
        counts.started += 1;
        counts.wait_ns += u128::from(wait.as_nanos());
        wait
    }

    /// The same where batches, paces, costs or ageing have a say.
    #[inline(never)]
    fn take_specially(&mut self, jobs: &mut Jobs, now: Instant) -> Option<Next> {
        let batch = self.workers.open();
        let free = match &mut self.sharing {
            _ if batch.is_some() => ClassSet::MAX,
            Some(sharing) => sharing.grant(now, &self.slots, &self.lanes, jobs),
            None => self.slots.free(),
        };
        if free == 0 || self.lanes.len() == 0 || (batch.is_none() && !self.workers.start_or_hold(now)) {
            return None;
        }
        let waiting = Waiting { lanes: &self.lanes, jobs, free };
        let normal = self.order.next(now, waiting)?;
        let choice = self.ageing.choose(now, normal, waiting);
        let slot = choice.slot();
        let job = &jobs[slot];
        let (class, wait) = (job.class, now.since(job.queued));
        if self.judges_taken {
            let queue = self.lanes.queue(self.costs.gap());
            let taken = Taken { class, level: job.level, waited: wait, queue };
            if let Verdict::Shed(cause) = self.control.on_take(now, taken, job.chance.draw(TAKE_DRAW)) {
                self.leave(jobs, slot, now);
                self.counts[usize::from(class.0)].shed += 1;
                return Some(Next::Shed(slot, cause));
            }
        }
        self.leave(jobs, slot, now);
        let job = &mut jobs[slot];
        self.start(job, now);
        self.ageing.on_taken(now, choice, job);
        if let Some(sharing) = &mut self.sharing {
            sharing.on_started(class, wait);
        }
        if self.timed {
            job.batch = self.workers.on_taken(now, class);
            self.workers.note_busy(self.slots.busy());
        }
        Some(Next::Started(slot, wait))
    }

    /// Nobody else joins the batch that was being filled.
    #[inline]
    pub(crate) fn close_batch(&mut self) {
        if self.timed {
            self.workers.close_batch();
        }
    }

    /// The work on a job ended, or its client left while it lasted: its worker is free, unless others of its batch
    /// are still in work.
    #[inline(always)]
    pub(crate) fn release(&mut self, job: &mut Job, now: Instant, ended: Ended) {
        let took = now.since(job.since);
        job.worked += took;
        self.worked_ns += u128::from(took.as_nanos());
        if job.batch == 0 {
            self.slots.release(job.class);
        } else if let Some(class) = self.workers.leave_batch(core::mem::take(&mut job.batch)) {
            self.slots.release(class);
        }
        if self.special {
            if self.measures && ended == Ended::Answered {
                if self.prices {
                    self.costs.note_took(job.class, took);
                }
                self.costs.on_done(now, self.lanes.len() > 0);
            }
            if self.timed && ended != Ended::Abandoned {
                self.workers.on_done(took, ended == Ended::Answered);
                if let Some(sharing) = self.sharing.as_mut().filter(|_| ended == Ended::Answered) {
                    sharing.on_done(job.class, took);
                }
            }
        }
    }

    /// Takes a job out of the queue, wherever it stands.
    #[inline(always)]
    pub(crate) fn leave(&mut self, jobs: &mut Jobs, slot: u32, now: Instant) {
        let level = jobs[slot].level;
        self.lanes.remove(jobs, slot);
        self.control.on_departure(now, level, self.lanes.queue(self.costs.gap()));
    }

    /// When something is to happen here although nobody comes or goes; perhaps too early, never too late.
    #[inline]
    pub(crate) fn next_at(&self) -> Instant {
        if !self.timed {
            return Instant::NEVER;
        }
        let waiting = self.lanes.len() > 0 && self.slots.free() != 0;
        let sharing = self.sharing.as_ref().map_or(Instant::NEVER, Sharing::next_at);
        self.workers.next_at(waiting).min(sharing).min(self.ageing.next_at().unwrap_or(Instant::NEVER))
    }

    /// Whether something happens here by itself as time passes.
    pub(crate) const fn is_timed(&self) -> bool {
        self.timed
    }

    /// Does what time brings: controllers first, then promotions. `true` if a dispatch may be possible that was not.
    pub(crate) fn tick(&mut self, jobs: &mut Jobs, now: Instant, next_ticket: &mut u64) -> bool {
        if !self.timed {
            return false;
        }
        if let Some(sharing) = self.sharing.as_mut().filter(|_| self.workers.next_at(false) <= now) {
            sharing.note_workers(now, &self.slots);
        }
        let mut more = self.workers.control(now, &mut self.slots, self.lanes.len());
        if let Some(sharing) = &mut self.sharing {
            more |= sharing.control(now, &mut self.slots, &self.lanes, jobs);
        }
        while let Some(slot) = self.ageing.due(now, &self.lanes, jobs) {
            let level = jobs[slot].level;
            self.lanes.remove(jobs, slot);
            let job = &mut jobs[slot];
            job.ticket = *next_ticket;
            *next_ticket += 1;
            job.since = now;
            self.lanes.push(jobs, slot, level + 1);
            self.ageing.on_joined(level + 1, now);
            self.promoted[usize::from(level)] += 1;
        }
        more
    }

    /// Writes what the queue control makes of each level.
    pub(crate) fn gauges(&self, now: Instant, out: &mut StageFrame) {
        out.gauged = Gauged::Nothing;
        out.gauges.clear();
        for (level, &promoted) in self.promoted.iter().enumerate() {
            let gauge = self.control.gauge(now, level as u8);
            if let Some(gauge) = gauge {
                out.gauged = if gauge.seconds { Gauged::Seconds } else { Gauged::Jobs };
            }
            let Gauge { average, min, max, drop_p, max_p, .. } = gauge.unwrap_or_default();
            out.gauges.push(LevelFrame { average, min, max, drop_p, max_p, promoted });
        }
    }

    /// Writes what the controller of the split makes of it.
    pub(crate) fn split_frame(&self, out: &mut SplitFrame) {
        match &self.sharing {
            Some(sharing) => sharing.frame(&self.slots, out),
            None => *out = SplitFrame::default(),
        }
    }

    /// Jobs a worker takes at once.
    pub(crate) fn batch_size(&self) -> u32 {
        self.workers.batch_size()
    }

    /// How long the oldest waiting job of a class has waited here.
    pub(crate) fn oldest_wait(&self, jobs: &Jobs, class: ClassId, now: Instant) -> Duration {
        self.lanes.heads_of(class).map(|slot| now.since(jobs[slot].queued)).max().unwrap_or_default()
    }
}

/// How work on a job came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ended {
    /// It is done.
    Answered,
    /// It failed.
    Failed,
    /// Its client left.
    Abandoned,
}

/// The decision number, in a job's chance, of being turned away when a worker is free; stages judge arrivals by theirs.
const TAKE_DRAW: u32 = 128;

#[inline]
fn found<'a>(
    lanes: &'a Lanes,
    slots: &Slots,
    gap: Duration,
    class: ClassId,
    standing: Standing,
    can_start: bool,
) -> Found<'a> {
    Found {
        class,
        level: standing.level,
        judged_at: standing.judged_at,
        would_wait: !(can_start && slots.has_free(class)),
        queue: lanes.queue(gap),
    }
}

/// Whether something happens at a stage by itself as time passes.
const fn is_timed(spec: &StageSpec, workers: &Workers, sharing: Option<&Sharing>) -> bool {
    sharing.is_some() || workers.is_controlled() || matches!(spec.ageing, AgeingV1::Promote { .. })
}

/// Whether some policy of a stage goes by the cost of jobs or the pace of completions.
fn measures(spec: &StageSpec) -> bool {
    let plain_queue = matches!(
        spec.queue,
        QueueV1::TailDrop { .. } | QueueV1::LengthThreshold { .. } | QueueV1::EnqueueRate { .. }
    );
    !plain_queue || prices(spec)
}

/// Whether some policy of a stage goes by the cost of jobs.
fn prices(spec: &StageSpec) -> bool {
    matches!(spec.queue, QueueV1::WorkRed { .. })
        || spec.order == OrderV1::WeightedFair
        || matches!(spec.ageing, AgeingV1::Share { .. })
}
