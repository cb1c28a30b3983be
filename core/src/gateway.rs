//! The gateway: a pipeline of stages with a balancer behind the serving one.
//!
//! A pure state machine. A driver tells it what happened and when ([`arrive`](Gateway::arrive),
//! [`done`](Gateway::done), [`cancel`](Gateway::cancel), [`set_server`](Gateway::set_server)); it answers with
//! decisions. The contract in one sentence: **change, then drain** — after every such call, and again at
//! [`poll_at`](Gateway::poll_at), call [`poll`](Gateway::poll) until it gives `None`.
//!
//! ```
//! use tidegate_core::gateway::{Arrival, Asked, Gateway, Outcome, Output, Step};
//! use tidegate_core::{id::ClassId, scenario, time::Instant, unit::Chance};
//!
//! let scenario = scenario::Scenario::check(scenario::parse_json(
//!     r#"{"tidegate":1,"classes":[{"name":"all"}],"stages":[{"name":"serve","workers":1,
//!         "work":{"at":"stage","service":{"law":"constant","mean_us":1000}}}]}"#).unwrap().wire).unwrap();
//! let mut gateway = Gateway::new(&scenario);
//! let now = Instant::START;
//! let arrival = Arrival { class: ClassId(0), deadline: None, chance: Chance(7), size: None, asked: Asked::default() };
//! let job = gateway.arrive(now, arrival).unwrap();
//! let Some(Output::Dispatch(dispatch)) = gateway.poll(now) else { panic!("a worker is free") };
//! assert_eq!(dispatch.job, job);
//! let later = Instant::from_nanos(1_000_000);
//! assert!(matches!(gateway.done(later, job, Outcome::Completed), Step::Left(left) if left.good));
//! ```

use crate::admission::{About, QueueControl, Told, Verdict};
use crate::balance::{Balancing, Decision, FIRST_DRAW, HashBy, Left, LoadReport, Seat, Servers};
use crate::frame::{Cause, ClassFrame, DecisionFrame, Frame, ServerFrame, StageClassFrame, StageFrame};
use crate::id::{ClassId, JobId, ServerId, StageId};
use crate::jobs::{Job, Jobs, NONE, Place};
use crate::scenario::v1::QueueV1;
use crate::scenario::{Levels, Scenario, ScenarioError, ServerSpec, edits};
use crate::stage::{Ended, Next, Stage};
use crate::time::{Duration, Instant};
use crate::unit::{Chance, mix};
use alloc::boxed::Box;
use alloc::collections::BinaryHeap;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// The decision in a job's [`Chance`] that says which of several gateways it comes to.
const GATEWAY_DRAW: u32 = FIRST_DRAW + 63;

/// What the gateway wants its driver to do or to know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A job goes to a worker now.
    Dispatch(Dispatch),
    /// A queued job was turned away; it is gone.
    Shed {
        /// Which.
        job: JobId,
        /// Its class.
        class: ClassId,
        /// Where it waited.
        stage: StageId,
        /// Why.
        cause: Cause,
    },
}

/// A job that goes to a worker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// Which.
    pub job: JobId,
    /// Its class.
    pub class: ClassId,
    /// The stage whose worker takes it.
    pub stage: StageId,
    /// The server that gets it, or `None` if the stage works on it itself.
    pub server: Option<ServerId>,
    /// Its wait in this stage's queue.
    pub waited: Duration,
    /// The batch it goes with, if workers of the stage take several jobs at once: dispatches of the same stage that
    /// follow each other with the same number go to one worker. A number is used again once its batch is done.
    pub batch: Option<u32>,
}

/// A job that asks to come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its class.
    pub class: ClassId,
    /// The moment after which its answer is worth nothing.
    pub deadline: Option<Instant>,
    /// 64 random bits that decide whatever is decided by chance about it.
    pub chance: Chance,
    /// Bytes it asks for, if that is known.
    pub size: Option<u64>,
    /// Who asks, and what for.
    pub asked: Asked,
}

/// Who asks and what for, as numbers that balancers hash: equal for equal clients (or things asked for), any otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Asked {
    /// The client.
    pub source: u32,
    /// What is asked for.
    pub target: u32,
}

/// How work on a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Completed,
    /// The server failed; the job leaves without its answer.
    Failed,
}

/// What became of a job whose work ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// It waits at the next stage.
    Queued(StageId),
    /// The next stage turned it away; the work so far was for nothing.
    Shed(StageId, Cause),
    /// It left the gateway.
    Left(Departure),
    /// It had left before; nothing changed.
    Stale,
}

/// A job that left the gateway after its last stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Departure {
    /// Its class.
    pub class: ClassId,
    /// With its answer or without.
    pub outcome: Outcome,
    /// Time spent in queues.
    pub waited: Duration,
    /// Time from arrival to now.
    pub response: Duration,
    /// Completed within its deadline, if it had one.
    pub good: bool,
}

/// Where a job inside is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whereabouts {
    /// On a worker, not waiting.
    pub working: bool,
    /// Its stage.
    pub stage: StageId,
    /// The priority level it waits in, or waited in.
    pub level: u8,
    /// The server it is at, if it is at one.
    pub server: Option<ServerId>,
    /// When it came to where it is: into its level, or to its worker.
    pub since: Instant,
    /// Waits at the stages before, and at this one once it works.
    pub waited: Duration,
}

/// Counts of one class over all stages, since the run began.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    arrived: u64,
    completed: u64,
    good: u64,
    shed: [u64; 4],
    failed: u64,
    cancelled: u64,
    in_system: u64,
    wait_ns: u128,
    response_ns: u128,
}

/// When a queued job's deadline passes: earliest first, then first come.
type Expiry = Reverse<(Instant, u64, JobId)>;

/// The policy engine behind simulator, server and replay.
#[derive(Clone, Debug)]
pub struct Gateway {
    /// What it runs, without edits.
    scenario: Arc<Scenario>,
    seat: u64,
    jobs: Jobs,
    stages: Vec<Stage>,
    /// The servers as each of the gateways in front of them sees them; mostly one.
    balancing: Vec<Balancing>,
    /// What of a request the balancer hashes.
    hashes: Option<HashBy>,
    counts: Vec<Counts>,
    levels: Levels,
    /// Whether more than the first stage's verdict is wanted at the entry: a stage is asked about jobs that are still
    /// to come to it, or verdicts are written down.
    asks_more: bool,
    /// What was decided last, if that is being written down.
    told: Option<Box<Told>>,
    /// Whether a queue control wants to know response times.
    hears_responses: bool,
    /// Whether something happens at a stage by itself as time passes.
    timed: bool,
    /// Stages where a dispatch may be possible.
    dirty: u16,
    next_ticket: u64,
    /// Deadlines of queued jobs; entries of jobs that left the queue go when they surface or when they
    /// outnumber the queue.
    expiries: BinaryHeap<Expiry>,
}

impl Gateway {
    /// An idle gateway with every server up.
    #[must_use]
    pub fn new(scenario: &Scenario) -> Self {
        Self::seated(scenario, 0)
    }

    /// The same, at a seat among the gateways in front of these servers: any number that the others do not have, so
    /// that not all begin with the same server.
    #[must_use]
    pub fn seated(scenario: &Scenario, seat: u64) -> Self {
        let stages: Vec<Stage> =
            (0..scenario.stages.len()).map(|at| Stage::new(scenario, StageId(at as u8))).collect();
        Self {
            scenario: Arc::new(scenario.without_edits()),
            seat,
            jobs: Jobs::default(),
            levels: scenario.levels.clone(),
            asks_more: stages.iter().any(|stage| stage.control.at_entry()),
            told: None,
            hears_responses: hears_responses(scenario),
            timed: scenario.reports || stages.iter().any(Stage::is_timed) || Balancing::is_timed(scenario),
            stages,
            balancing: (0..u64::from(scenario.gateways))
                .map(|at| Balancing::new(scenario, Seat(seat.wrapping_add(at))))
                .collect(),
            hashes: scenario.balancer.hashes(),
            counts: vec![Counts::default(); scenario.classes.len()],
            dirty: 0,
            next_ticket: 0,
            expiries: BinaryHeap::new(),
        }
    }

    /// Goes on by another scenario of the same shape, from `now` on.
    ///
    /// Who waits keeps waiting where it does, and was judged once; what is in work stays there, and workers that are too
    /// many are given up as they finish. Policies whose settings are the same keep what they know, others begin anew; what
    /// is in flight, which servers are up and what jobs were found to cost is known to all of them. `poll` afterwards.
    ///
    /// # Errors
    /// What differs and may not, as [`edits::may_follow`] says; then nothing has changed.
    pub fn reconfigure(&mut self, now: Instant, scenario: &Scenario) -> Result<(), ScenarioError> {
        let (before, scenario) = (Arc::clone(&self.scenario), &scenario.without_edits());
        edits::may_follow(before.wire(), scenario.wire())?;
        if *before == *scenario {
            return Ok(());
        }
        for (at, balancing) in self.balancing.iter_mut().enumerate() {
            balancing.reconfigure(now, &before, scenario, Seat(self.seat.wrapping_add(at as u64)));
        }
        for stage in &mut self.stages {
            let expired = !stage.sheds_expired;
            stage.reconfigure(&mut self.jobs, now, &before, scenario);
            let waiting =
                if expired && stage.sheds_expired { stage.lanes.all(&self.jobs) } else { Vec::new() };
            for slot in waiting {
                let Job { deadline, ticket, .. } = self.jobs[slot];
                // Who was late already when it did not matter is not turned away for it.
                if now < deadline && deadline != Instant::NEVER {
                    self.expiries.push(Reverse((deadline, ticket, self.jobs.id(slot))));
                }
            }
        }
        let hashes = scenario.balancer.hashes();
        if self.hashes != hashes {
            self.rehash();
        }
        self.hashes = hashes;
        self.levels = scenario.levels.clone();
        self.asks_more = self.told.is_some() || self.stages.iter().any(|stage| stage.control.at_entry());
        self.hears_responses = hears_responses(scenario);
        self.timed = scenario.reports
            || self.stages.iter().any(Stage::is_timed)
            || Balancing::is_timed(scenario)
            || self.balancing.iter().any(|balancing| balancing.next_at() != Instant::NEVER);
        self.dirty = self.stages.iter().enumerate().fold(0, |all, (at, _)| all | 1 << at);
        self.scenario = Arc::new(scenario.clone());
        Ok(())
    }

    /// Another number whenever the gateway has decided something: turned somebody away, picked a server, or changed workers,
    /// a split or the size of batches.
    #[must_use]
    pub fn decided(&self) -> u64 {
        let sheds = self.counts.iter().flat_map(|counts| counts.shed).sum::<u64>();
        let picks = self.balancing.iter().flat_map(|one| one.servers().iter()).map(|server| server.picked);
        let workers = self.stages.iter().flat_map(|stage| {
            let split = stage.slots.split().iter().copied();
            split.chain([stage.slots.workers(), stage.batch_size()]).map(u64::from)
        });
        core::iter::once(sheds).chain(picks).chain(workers).fold(0, |all, one| mix(all ^ one))
    }

    /// About how many bytes it takes, of what grows with the jobs inside.
    pub(crate) fn held_bytes(&self) -> usize {
        self.jobs.held_bytes() + self.expiries.len() * core::mem::size_of::<Expiry>()
    }

    /// The scenario in force.
    #[must_use]
    pub const fn scenario(&self) -> &Arc<Scenario> {
        &self.scenario
    }

    /// Spreads those who wait over what a balancer hashes: who they are is not known any more.
    fn rehash(&mut self) {
        for stage in &self.stages {
            for slot in stage.lanes.all(&self.jobs) {
                let job = &mut self.jobs[slot];
                job.key = mix(job.chance.0) as u32;
            }
        }
    }

    /// Offers a job at the first stage.
    ///
    /// # Errors
    /// The cause, if it was turned away; it is counted and gone.
    ///
    /// # Panics
    /// If its class is not one of the scenario's.
    #[inline(always)]
    pub fn arrive(&mut self, now: Instant, arrival: Arrival) -> Result<JobId, Cause> {
        let Arrival { class, deadline, chance, size, asked } = arrival;
        let correction = self.levels.correction(size);
        let verdict = self.judge_entry(now, class, correction, chance);
        let counts = &mut self.counts[usize::from(class.0)];
        counts.arrived += 1;
        if let Verdict::Shed(cause) = verdict {
            counts.shed[cause as usize] += 1;
            if let Some(told) = &mut self.told {
                told.shed = Some((class, now));
            }
            return Err(cause);
        }
        counts.in_system += 1;
        let key = match self.hashes {
            None => 0,
            Some(HashBy::Source) => asked.source,
            Some(HashBy::Target) => asked.target,
        };
        let id = self.jobs.insert(Job {
            generation: 0,
            place: Place::Gone,
            class,
            stage: StageId(0),
            level: 0,
            judged_at: 0,
            correction,
            server: None,
            gateway: 0,
            key,
            arrived: now,
            queued: now,
            since: now,
            waited: Duration::ZERO,
            worked: Duration::ZERO,
            deadline: deadline.unwrap_or(Instant::NEVER),
            chance,
            size: size.unwrap_or(0),
            cost_ns: 0,
            ticket: 0,
            batch: 0,
            next: NONE,
            prev: NONE,
            ahead: NONE,
        });
        self.enqueue(id.slot, now);
        Ok(id)
    }

    /// The next decision, or `None` when there is nothing more to do now.
    #[inline]
    pub fn poll(&mut self, now: Instant) -> Option<Output> {
        if self.timed {
            self.tick(now);
        }
        if let Some(shed) = self.expire(now) {
            return Some(shed);
        }
        while self.dirty != 0 {
            // Downstream first: it makes room for what comes from upstream.
            let at = 15 - self.dirty.leading_zeros() as usize;
            if let Some(output) = self.dispatch(at, now) {
                return Some(output);
            }
            self.stages[at].close_batch();
            self.dirty &= !(1 << at);
        }
        None
    }

    /// Whether [`poll`](Self::poll) may have something to say now; if not, it need not be called.
    #[must_use]
    #[inline(always)]
    pub fn may_decide(&self, now: Instant) -> bool {
        let is_due = |&Reverse((at, ..)): &Expiry| at <= now;
        self.dirty != 0 || self.timed || self.expiries.peek().is_some_and(is_due)
    }

    /// When to call [`poll`](Self::poll) although nothing happened: the earliest deadline of a queued job, promotion,
    /// look of a controller or start that was held back.
    ///
    /// May be early (the job has left since), never late.
    #[must_use]
    #[inline(always)]
    pub fn poll_at(&self) -> Option<Instant> {
        let deadline = self.expiries.peek().map(|&Reverse((at, ..))| at);
        if self.timed { self.next_at(deadline) } else { deadline }
    }

    /// The same where stages have a say.
    #[inline(never)]
    fn next_at(&self, deadline: Option<Instant>) -> Option<Instant> {
        let servers = self.balancing.iter().map(Balancing::next_at);
        let stages =
            self.stages.iter().map(Stage::next_at).chain(servers).min().filter(|&at| at != Instant::NEVER);
        match (deadline, stages) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Notes that work on a dispatched job ended.
    #[inline]
    pub fn done(&mut self, now: Instant, job: JobId, outcome: Outcome) -> Step {
        let Some(slot) = self.working(job) else { return Step::Stale };
        self.free_worker(
            now,
            slot,
            match outcome {
                Outcome::Completed => Ended::Answered,
                Outcome::Failed => Ended::Failed,
            },
        );
        let next = usize::from(self.jobs[slot].stage.0) + 1;
        if outcome == Outcome::Completed && next < self.stages.len() {
            self.advance(now, slot, next)
        } else {
            Step::Left(self.depart(now, slot, outcome))
        }
    }

    /// Sends a job in flight to another server, because its own could not be reached: the server gets a
    /// failure, the job keeps its worker and is not counted again. `None` leaves it where it is: there is no
    /// other server with room, or the job is not at a server.
    pub fn retry(&mut self, now: Instant, job: JobId) -> Option<ServerId> {
        let slot = self.working(job)?;
        let Job { class, chance, server, gateway, key, queued: sent, .. } = self.jobs[slot];
        let from = server?;
        let balancing = &mut self.balancing[usize::from(gateway)];
        let to = balancing.send(now, class, key, chance, Some(from))?;
        balancing.left(now, from, class, Left::Failed, now.since(sent));
        let job = &mut self.jobs[slot];
        (job.server, job.queued) = (Some(to), now);
        self.touch_serving();
        Some(to)
    }

    /// Notes that a job's client left: the job frees its place at once, in the queue or on the worker.
    /// `false` if it had left before.
    pub fn cancel(&mut self, now: Instant, job: JobId) -> bool {
        let Some(slot) = self.jobs.find(job) else { return false };
        let Job { place, class, stage, .. } = self.jobs[slot];
        if place == Place::Queued {
            self.stages[usize::from(stage.0)].leave(&mut self.jobs, slot, now);
        } else {
            self.free_worker(now, slot, Ended::Abandoned);
        }
        let counts = &mut self.counts[usize::from(class.0)];
        counts.cancelled += 1;
        counts.in_system -= 1;
        self.jobs.remove(slot);
        true
    }

    /// Marks a server up or down; while down it is sent nothing. Jobs in flight there stay until
    /// [`done`](Self::done) says otherwise.
    pub fn set_server(&mut self, now: Instant, server: ServerId, up: bool) {
        self.each_balancing(|balancing| balancing.set_up(now, server, up));
    }

    /// Notes what a server reports of its load.
    pub fn report(&mut self, now: Instant, server: ServerId, report: &LoadReport) {
        // Reports grow old, also where none were expected.
        self.timed = true;
        self.each_balancing(|balancing| balancing.report(now, server, report));
    }

    /// A server asks to get nothing new, or takes that back.
    pub fn set_draining(&mut self, now: Instant, server: ServerId, draining: bool) {
        self.each_balancing(|balancing| balancing.set_draining(now, server, draining));
    }

    /// What a server counts from now on, for balancers with weights; 0 for nothing new.
    pub fn set_weight(&mut self, now: Instant, server: ServerId, weight: f64) {
        self.each_balancing(|balancing| balancing.set_weight(now, server, weight));
    }

    /// The most a server is sent at once from now on; `None` for no limit.
    pub fn set_max_in_flight(&mut self, now: Instant, server: ServerId, most: Option<u32>) {
        self.each_balancing(|balancing| balancing.set_max_in_flight(now, server, most));
    }

    /// One more server, up and idle. It may get the place of one that was [removed](Self::remove_server).
    pub fn add_server(&mut self, now: Instant, spec: &ServerSpec) -> ServerId {
        let mut id = ServerId(0);
        self.each_balancing(|balancing| id = balancing.add(now, spec));
        id
    }

    /// Takes a server off the list: it is sent nothing more. Jobs in flight there stay until [`done`](Self::done)
    /// says otherwise.
    pub fn remove_server(&mut self, now: Instant, server: ServerId) {
        self.each_balancing(|balancing| balancing.remove(now, server));
    }

    /// How long somebody who is turned away because no server is fit should wait, if that is known: until the next
    /// report is due or the next server comes back. `None` while there is a server with room.
    #[must_use]
    pub fn retry_after(&self, now: Instant) -> Option<Duration> {
        if self.balancing.iter().any(|balancing| balancing.servers().any_fit()) {
            return None;
        }
        self.balancing.iter().map(|balancing| balancing.fit_again_at(now)).min().map(|at| at.since(now))
    }

    /// Begins or ends to write down how servers are picked; see [`last_decision`](Self::last_decision).
    pub fn write_decisions(&mut self, on: bool) {
        self.each_balancing(|balancing| balancing.write_decisions(on));
    }

    /// Begins to write down how jobs are judged; see [`told`](Self::told). It changes nothing about what is decided, and
    /// costs next to nothing but for those it is about.
    pub fn tell(&mut self, about: About) {
        self.told = Some(Box::new(Told { about, ..Told::default() }));
        self.asks_more = true;
    }

    /// What was decided last about who may wait, if that is being written down.
    #[must_use]
    pub fn told(&self) -> Option<&Told> {
        self.told.as_deref()
    }

    /// The job that is number `nth` of those of a class that wait at a stage, from the head of the highest level down:
    /// when it arrived. `None` if fewer wait there.
    #[must_use]
    pub fn waiting(&self, stage: StageId, class: ClassId, nth: u32) -> Option<Instant> {
        let lanes = &self.stages.get(usize::from(stage.0))?.lanes;
        let mut left = nth;
        for level in (0..lanes.level_count()).rev() {
            let here = lanes.lane_len(level, usize::from(class.0));
            if left >= here {
                left -= here;
                continue;
            }
            let mut slot = lanes.head(level as u8, class.0);
            for _ in 0..left {
                slot = self.jobs[slot].next;
            }
            return Some(self.jobs[slot].arrived);
        }
        None
    }

    /// The job of a class that arrived at this very moment and is still inside.
    #[must_use]
    pub fn arrived_at(&self, class: ClassId, at: Instant) -> Option<JobId> {
        self.jobs.all().find(|(_, job)| job.class == class && job.arrived == at).map(|(id, _)| id)
    }

    /// The job that was sent to a server last of those still there: its class and when it arrived.
    #[must_use]
    pub fn last_at(&self, server: ServerId) -> Option<(ClassId, Instant)> {
        let there = self.jobs.all().filter(|(_, job)| job.server == Some(server));
        there.max_by_key(|(_, job)| (job.queued, job.ticket)).map(|(_, job)| (job.class, job.arrived))
    }

    /// How many of a class have left which way: answered, failed, left by their clients, and turned away by [`Cause`].
    pub(crate) fn left_of(&self, class: ClassId) -> [u64; 7] {
        let Counts { completed, failed, cancelled, shed: [a, b, c, d], .. } =
            self.counts[usize::from(class.0)];
        [completed, failed, cancelled, a, b, c, d]
    }

    /// Where a job is; `None` if it has left.
    #[must_use]
    pub fn whereabouts(&self, job: JobId) -> Option<Whereabouts> {
        let slot = self.jobs.find(job)?;
        let Job { place, stage, level, server, since, waited, .. } = self.jobs[slot];
        Some(Whereabouts { working: place == Place::Working, stage, level, server, since, waited })
    }

    /// The last pick of a server, if they are being written down.
    #[must_use]
    pub fn last_decision(&self) -> Option<&Decision> {
        self.balancing.iter().filter_map(Balancing::last_decision).max_by_key(|decision| decision.at)
    }

    /// The servers and what is in flight at each, as the first gateway sees them.
    #[must_use]
    pub fn servers(&self) -> &Servers {
        self.balancing[0].servers()
    }

    fn each_balancing(&mut self, change: impl FnMut(&mut Balancing)) {
        self.balancing.iter_mut().for_each(change);
        self.touch_serving();
    }

    /// Jobs inside: waiting or in work.
    #[must_use]
    pub fn in_system(&self) -> u64 {
        self.counts.iter().map(|c| c.in_system).sum()
    }

    /// Workers of each class at a stage; empty if all share one pool.
    #[must_use]
    pub fn split(&self, stage: StageId) -> &[u32] {
        self.stages[usize::from(stage.0)].slots.split()
    }

    /// Deadlines kept, for a test that they do not pile up.
    #[doc(hidden)]
    #[must_use]
    pub fn expiries_held(&self) -> usize {
        self.expiries.len()
    }

    /// The class of a job that is inside, and when it arrived.
    #[must_use]
    pub fn job(&self, job: JobId) -> Option<(ClassId, Instant)> {
        self.jobs.find(job).map(|slot| (self.jobs[slot].class, self.jobs[slot].arrived))
    }

    /// Fills `out` with the present state, reusing its memory.
    pub fn frame(&self, now: Instant, out: &mut Frame) {
        let classes = self.counts.len();
        out.now = now;
        out.classes.clear();
        out.classes.extend(self.counts.iter().map(|c| ClassFrame {
            arrived: c.arrived,
            completed: c.completed,
            good: c.good,
            shed: c.shed,
            failed: c.failed,
            cancelled: c.cancelled,
            in_system: c.in_system,
            wait_sum_s: c.wait_ns as f64 / 1e9,
            response_sum_s: c.response_ns as f64 / 1e9,
        }));
        out.stages.resize_with(self.stages.len(), StageFrame::default);
        for (stage, out) in self.stages.iter().zip(&mut out.stages) {
            let levels = stage.lanes.level_count();
            out.workers = stage.slots.workers();
            out.limit = stage.control.limit();
            out.levels = levels as u8;
            out.batch = stage.batch_size();
            out.worked_s = stage.worked_ns as f64 / 1e9;
            out.wasted_s = stage.wasted_ns as f64 / 1e9;
            stage.gauges(now, out);
            stage.split_frame(&mut out.split);
            out.waiting.clear();
            out.waiting.extend(
                (0..levels)
                    .flat_map(|level| (0..classes).map(move |class| stage.lanes.lane_len(level, class))),
            );
            out.classes.clear();
            out.classes.extend(stage.counts.iter().enumerate().map(|(class, counts)| {
                let class = ClassId(class as u8);
                StageClassFrame {
                    busy: stage.slots.busy_of(class),
                    slots: stage.slots.slots_of(class),
                    started: counts.started,
                    shed: counts.shed,
                    wait_sum_s: counts.wait_ns as f64 / 1e9,
                    oldest_wait_s: stage.oldest_wait(&self.jobs, class, now).as_secs_f64(),
                }
            }));
        }
        let servers = self.servers().len();
        out.servers.resize_with(servers, ServerFrame::default);
        for (at, out) in out.servers.iter_mut().enumerate() {
            self.server_frame(now, ServerId(at as u16), out);
        }
        out.decision = self.last_decision().map(DecisionFrame::of);
    }

    /// One server: what all gateways sent there, and what the first makes of it.
    fn server_frame(&self, now: Instant, id: ServerId, out: &mut ServerFrame) {
        let (first, others) = self.balancing.split_first().expect("there is a gateway");
        first.server_frame(now, id, out);
        for other in others {
            let server = other.servers().get(id);
            for (sum, more) in out.in_flight.iter_mut().zip(other.servers().in_flight_by_class(id)) {
                *sum += more;
            }
            out.sessions += server.sessions;
            out.picked += server.picked;
            out.completed += server.completed;
            out.failed += server.failed;
        }
    }

    /// Whether a worker of the stage that is free could begin: at the serving stage, a server must have room.
    #[inline(always)]
    fn can_start(&self, stage: usize) -> bool {
        !self.stages[stage].serving || self.any_room()
    }

    /// Whether a server may be sent a job.
    #[inline(always)]
    fn any_room(&self) -> bool {
        match self.balancing.as_slice() {
            [only] => only.servers().any_room(),
            several => several.iter().any(|balancing| balancing.servers().any_room()),
        }
    }

    /// The slot of a job that is on a worker.
    #[inline]
    fn working(&self, job: JobId) -> Option<u32> {
        self.jobs.find(job).filter(|&slot| self.jobs[slot].place == Place::Working)
    }

    #[inline(always)]
    fn enqueue(&mut self, slot: u32, now: Instant) {
        let ticket = self.next_ticket;
        self.next_ticket += 1;
        let job = &mut self.jobs[slot];
        job.ticket = ticket;
        let (at, deadline) = (usize::from(job.stage.0), job.deadline);
        let stage = &mut self.stages[at];
        stage.join(&mut self.jobs, slot, now);
        // It need not be asked who is next while nobody could begin.
        if stage.may_start() {
            self.dirty |= 1 << at;
        }
        if deadline != Instant::NEVER && stage.sheds_expired {
            self.watch(slot, deadline, ticket);
        }
    }

    /// Remembers a deadline, and forgets those of jobs that no longer wait once they are the majority.
    fn watch(&mut self, slot: u32, deadline: Instant, ticket: u64) {
        self.expiries.push(Reverse((deadline, ticket, self.jobs.id(slot))));
        let waiting: u32 = self.stages.iter().map(|stage| stage.lanes.len()).sum();
        if self.expiries.len() > 2 * waiting as usize + 64 {
            let jobs = &self.jobs;
            self.expiries.retain(|&Reverse((.., id))| still_waits(jobs, id).is_some());
        }
    }

    /// Turns away one queued job whose deadline has passed.
    #[inline]
    fn expire(&mut self, now: Instant) -> Option<Output> {
        while let Some(&Reverse((at, _, job))) = self.expiries.peek() {
            if at > now {
                return None;
            }
            self.expiries.pop();
            let Some(slot) = still_waits(&self.jobs, job) else { continue };
            let Job { class, stage, .. } = self.jobs[slot];
            let at = &mut self.stages[usize::from(stage.0)];
            if !at.sheds_expired {
                continue;
            }
            at.leave(&mut self.jobs, slot, now);
            at.counts[usize::from(class.0)].shed += 1;
            self.shed(slot, Cause::Deadline);
            return Some(Output::Shed { job, class, stage, cause: Cause::Deadline });
        }
        None
    }

    #[inline(always)]
    fn dispatch(&mut self, at: usize, now: Instant) -> Option<Output> {
        if !self.can_start(at) {
            return None;
        }
        let stage = &mut self.stages[at];
        let (slot, waited) = match stage.take(&mut self.jobs, now)? {
            Next::Started(slot, waited) => {
                if !stage.may_start() {
                    // It need not be asked again until a worker is free.
                    self.dirty &= !(1 << at);
                }
                (slot, waited)
            }
            Next::Shed(slot, cause) => {
                let (job, class) = (self.jobs.id(slot), self.jobs[slot].class);
                self.shed(slot, cause);
                return Some(Output::Shed { job, class, stage: StageId(at as u8), cause });
            }
        };
        let job = &mut self.jobs[slot];
        let class = job.class;
        if stage.serving {
            let (key, chance) = (job.key, job.chance);
            let gateway = if self.balancing.len() > 1 { self.gateway_of(chance) } else { 0 };
            let server = self.balancing[usize::from(gateway)]
                .send(now, class, key, chance, None)
                .expect("a balancer finds a server when one has room");
            let job = &mut self.jobs[slot];
            (job.server, job.gateway, job.queued) = (Some(server), gateway, now);
        }
        let job = &self.jobs[slot];
        Some(Output::Dispatch(Dispatch {
            job: JobId { slot, generation: job.generation },
            class,
            stage: StageId(at as u8),
            server: job.server,
            waited,
            batch: (job.batch > 0).then_some(job.batch),
        }))
    }

    /// Takes a job off its worker and, if it is at one, its server.
    #[inline(always)]
    fn free_worker(&mut self, now: Instant, slot: u32, ended: Ended) {
        let job = &mut self.jobs[slot];
        let at = usize::from(job.stage.0);
        if let Some(server) = job.server.take() {
            let left = match ended {
                Ended::Answered => Left::Answered,
                Ended::Failed => Left::Failed,
                Ended::Abandoned => Left::Abandoned,
            };
            let took = now.since(job.queued);
            self.balancing[usize::from(job.gateway)].left(now, server, job.class, left, took);
        }
        self.stages[at].release(job, now, ended);
        self.dirty |= 1 << at;
    }

    /// Judges a job at the door: by the first stage, and by every later one that wants to be asked there.
    #[inline(always)]
    fn judge_entry(&mut self, now: Instant, class: ClassId, correction: u8, chance: Chance) -> Verdict {
        if self.asks_more {
            return self.judge_ahead(now, class, correction, chance);
        }
        let can_start = self.can_start(0);
        let stage = &mut self.stages[0];
        let standing = stage.standing(class, correction);
        stage.judge(now, class, standing, can_start, chance)
    }

    /// Asks every stage concerned, also once one has said no: each keeps an average of what arrives.
    fn judge_ahead(&mut self, now: Instant, class: ClassId, correction: u8, chance: Chance) -> Verdict {
        let mut verdict = Verdict::Admit;
        for at in 0..self.stages.len() {
            if at == 0 || self.stages[at].control.at_entry() {
                let one = self.judge(at, now, (class, now), correction, chance);
                if verdict == Verdict::Admit {
                    verdict = one;
                }
            }
        }
        verdict
    }

    fn judge(
        &mut self,
        at: usize,
        now: Instant,
        (class, arrived): (ClassId, Instant),
        correction: u8,
        chance: Chance,
    ) -> Verdict {
        let can_start = self.can_start(at);
        let stage = &mut self.stages[at];
        let standing = stage.standing(class, correction);
        match &mut self.told {
            Some(told) if told.wants(class, arrived) => {
                told.judged(stage.judge_aloud(now, class, standing, can_start, chance))
            }
            _ => stage.judge(now, class, standing, can_start, chance),
        }
    }

    /// Lets time do its part at every stage.
    // Out of the way of runs without a controller.
    #[inline(never)]
    fn tick(&mut self, now: Instant) {
        let mut changed = false;
        for balancing in &mut self.balancing {
            if balancing.next_at() <= now {
                balancing.tick(now);
                changed = true;
            }
        }
        if changed {
            self.touch_serving();
        }
        for (at, stage) in self.stages.iter_mut().enumerate() {
            if stage.next_at() <= now && stage.tick(&mut self.jobs, now, &mut self.next_ticket) {
                self.dirty |= 1 << at;
            }
        }
    }

    /// Offers a job to the next stage.
    fn advance(&mut self, now: Instant, slot: u32, next: usize) -> Step {
        let job = &mut self.jobs[slot];
        job.stage = StageId(next as u8);
        let (class, arrived, correction, chance) = (job.class, job.arrived, job.correction, job.chance);
        let verdict = if self.stages[next].control.at_entry() {
            let can_start = self.can_start(next);
            let stage = &mut self.stages[next];
            let standing = stage.standing(class, correction);
            stage.judge_late(now, class, standing, can_start)
        } else {
            self.judge(next, now, (class, arrived), correction, chance)
        };
        match verdict {
            Verdict::Admit => {
                self.enqueue(slot, now);
                Step::Queued(StageId(next as u8))
            }
            Verdict::Shed(cause) => {
                self.shed(slot, cause);
                Step::Shed(StageId(next as u8), cause)
            }
        }
    }

    /// A job inside is turned away at its present stage: what was worked on it was for nothing.
    fn shed(&mut self, slot: u32, cause: Cause) {
        let Job { class, stage, worked, arrived, .. } = self.jobs[slot];
        if let Some(told) = &mut self.told {
            told.shed = Some((class, arrived));
        }
        self.stages[usize::from(stage.0)].wasted_ns += u128::from(worked.as_nanos());
        let counts = &mut self.counts[usize::from(class.0)];
        counts.shed[cause as usize] += 1;
        counts.in_system -= 1;
        self.jobs.remove(slot);
    }

    #[inline]
    fn depart(&mut self, now: Instant, slot: u32, outcome: Outcome) -> Departure {
        let Job { class, arrived, waited, deadline, .. } = self.jobs[slot];
        let response = now.since(arrived);
        let good = outcome == Outcome::Completed && now <= deadline;
        let counts = &mut self.counts[usize::from(class.0)];
        counts.in_system -= 1;
        match outcome {
            Outcome::Completed => {
                counts.completed += 1;
                counts.good += u64::from(good);
                counts.wait_ns += u128::from(waited.as_nanos());
                counts.response_ns += u128::from(response.as_nanos());
            }
            Outcome::Failed => counts.failed += 1,
        }
        self.jobs.remove(slot);
        if self.hears_responses && outcome == Outcome::Completed {
            for stage in &mut self.stages {
                stage.control.on_response(now, class, response);
            }
        }
        Departure { class, outcome, waited, response, good }
    }

    /// Which of several gateways a job came to: any, and the next with room if that has none.
    #[inline(never)]
    fn gateway_of(&self, chance: Chance) -> u8 {
        let n = self.balancing.len();
        let first = (chance.draw(GATEWAY_DRAW).get() * n as f64) as usize;
        let has_room = |at: &usize| self.balancing[*at].servers().any_room();
        (first..n).chain(0..first).find(has_room).unwrap_or(0) as u8
    }

    fn touch_serving(&mut self) {
        if let Some(at) = self.stages.iter().position(|stage| stage.serving) {
            self.dirty |= 1 << at;
        }
    }
}

/// Whether a queue control wants to know response times.
fn hears_responses(scenario: &Scenario) -> bool {
    scenario.stages.iter().any(|spec| matches!(spec.queue, QueueV1::AdaptiveRate { .. }))
}

/// The slot of a job that waits, at whatever stage.
fn still_waits(jobs: &Jobs, id: JobId) -> Option<u32> {
    jobs.find(id).filter(|&slot| jobs[slot].place == Place::Queued)
}
