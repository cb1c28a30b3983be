//! The simulator: a driver of the [`Gateway`] in virtual time.
//!
//! It owns what the real world owns — clients, arrivals, work, servers, faults, chance and the clock — and
//! calls the gateway through the same functions as the server does. A run is a function of scenario, seed,
//! replication and engine version: [`Simulation::trace_hash`] folds in every event and decision, and is the
//! same in debug, release, Node and a browser.
//!
//! Every run that is [finished](Simulation::finish) ends by asserting that no request was lost or doubled and
//! that Little's law holds, exactly and in integers.
//!
//! ```
//! use tidegate_core::{scenario, sim::Simulation};
//! let scenario = scenario::presets::get("mm1").unwrap().scenario();
//! let result = Simulation::new(&scenario, 0, None).unwrap().finish();
//! assert_eq!(result.classes[0].arrived, result.classes[0].completed + result.classes[0].in_system);
//! ```

mod arrivals;
mod calendar;
mod census;
mod clients;
mod csv;
mod edited;
mod figures;
pub mod journey;
mod law;
mod level;
mod places;
mod proportion;
mod random;
pub mod report;
mod result;
mod server;
mod serving;
mod sharing;
mod traffic;

pub use proportion::Proportion;
pub use result::{ClassResult, RunResult, ServerResult, StageResult};
pub use traffic::{Ask, Times, Traffic};

use crate::frame::{Cause, Frame};
use crate::gateway::{Arrival, Asked, Dispatch, Gateway, Outcome, Output, Step};
use crate::id::{ClassId, JobId, ServerId, StageId};
use crate::import::TraceRow;
use crate::measure::{BatchMeans, Histogram};
use crate::scenario::v1::{KindV1, LoadV1};
use crate::scenario::{Action, Class, Edit, Scenario, StageSpec, Work};
use crate::time::{Duration, Instant};
use crate::unit::{Chance, mix};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use arrivals::{Arrivals, Recorded};
use calendar::{Calendar, Rank, What};
use census::Census;
use clients::{Clients, Population};
use core::fmt;
use law::{Law, Works};
use places::Places;
use proportion::Watch;
use random::{Purpose, Stream, key, nth};
use server::{Guest, SimServer};
use sharing::Sharing;

/// Version of what a seed means. It goes up whenever the same scenario and seed give another
/// [`trace_hash`](Simulation::trace_hash) than before; links carry it as `eng`.
pub const ENGINE: &str = "1";

/// The decisions of the gateway come after completions and control at an instant, before arrivals.
const DISPATCH_RANK: u8 = 3;
/// Deadlines pass after control, before dispatch.
const DEADLINE_RANK: u8 = 2;

/// No client: the request came by itself.
const NO_CLIENT: u32 = u32::MAX;

/// Salt for the work of a request; stage `s` uses `WORK + 1 + s`, servers `WORK`.
const WORK: u64 = 0x10;
/// Salt for the size of what a request asks for.
const SIZE: u64 = 0x40;
/// Salt for who asks; what is asked for uses the next.
const ASKED: u64 = 0x50;
/// Salt for the luck of a request that is made again; the time before it uses the next.
const AGAIN: u64 = 0x100;

/// Why a scenario cannot be simulated as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SimError {
    /// A class replays a trace, and none was handed over.
    NoTrace {
        /// Name of the class.
        class: String,
    },
    /// A class replays rows of a label that the trace does not have.
    NoRows {
        /// Name of the class.
        class: String,
        /// The label.
        label: String,
        /// Labels it does have.
        known: Vec<String>,
    },
}

impl fmt::Display for SimError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTrace { class } => {
                write!(f, "class `{class}` replays recorded traffic, and no log or trace was given")
            }
            Self::NoRows { class, label, known } => write!(
                f,
                "class `{class}` replays rows labelled `{label}`; the trace has {}",
                if known.is_empty() { String::from("none at all") } else { known.join(", ") }
            ),
        }
    }
}

impl core::error::Error for SimError {}

/// What the simulator knows of a request inside the gateway, by slot of its [`JobId`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    job: JobId,
    class: ClassId,
    /// Source of its work and its luck.
    key: u64,
    client: u32,
    /// How often it was made before.
    tries: u32,
    /// Its client has asked again and waits for this answer no longer.
    given_up: bool,
    /// It is a session that had its first answer within its deadline.
    answered_in_time: bool,
    /// Bytes it asks for; 0 if that is not known.
    bytes: u64,
    /// Work at a server of speed 1.
    work: Duration,
    server: Option<u16>,
    /// The stage it was last dispatched at.
    stage: u8,
    inside: bool,
    arrived: Instant,
}

impl Request {
    /// In a slot that has had none.
    const NOBODY: Self = Self {
        job: JobId { slot: 0, generation: 0 },
        class: ClassId(0),
        key: 0,
        client: NO_CLIENT,
        tries: 0,
        given_up: false,
        answered_in_time: false,
        bytes: 0,
        work: Duration::ZERO,
        server: None,
        stage: 0,
        inside: false,
        arrived: Instant::START,
    };

    /// The same request, made once more.
    const fn again(&self) -> Again {
        Again { class: self.class, key: self.key, tries: self.tries + 1, recorded: Some(self.work) }
    }
}

/// How a request that is over came to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Answered,
    TurnedAway,
    Failed,
}

/// A request that was turned away and will be made again.
#[derive(Clone, Copy, Debug)]
struct Again {
    class: ClassId,
    key: u64,
    tries: u32,
    recorded: Option<Duration>,
}

/// What a worker of a stage does.
#[derive(Clone, Debug)]
enum Task {
    /// Hands requests to servers.
    Servers,
    /// Works for a time of this law on each, and so long besides for each batch.
    Own(Law, Duration),
    /// Sends their bytes over the link.
    Link(Sharing),
}

impl Task {
    fn new(stage: &StageSpec) -> Self {
        match &stage.work {
            Work::Own(law, batch) => Self::Own(Law::new(law), *batch),
            Work::Link(bytes_per_s) => Self::Link(Sharing::link(*bytes_per_s)),
            Work::Servers => Self::Servers,
        }
    }
}

/// Jobs that one worker does together.
#[derive(Clone, Debug, Default)]
struct Batch {
    jobs: Vec<JobId>,
    /// The gateway's number for it, at a stage.
    number: (u8, u32),
    length: Duration,
}

/// Things by number, where a number is used again once it is free.
#[derive(Clone, Debug)]
struct Numbered<T> {
    things: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Numbered<T> {
    const fn new() -> Self {
        Self { things: Vec::new(), free: Vec::new() }
    }

    fn add(&mut self, thing: T) -> u32 {
        if let Some(number) = self.free.pop() {
            self.things[number as usize] = Some(thing);
            return number;
        }
        self.things.push(Some(thing));
        self.things.len() as u32 - 1
    }

    fn take(&mut self, number: u32) -> Option<T> {
        let thing = self.things.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(thing)
    }
}

/// What is counted of one class besides what the gateway counts.
#[derive(Clone, Debug, Default)]
struct ClassTally {
    wait: Histogram,
    response: Histogram,
    wait_batches: BatchMeans,
    response_batches: BatchMeans,
    /// In the measured part of the run.
    arrived: u64,
    completed: u64,
    good: u64,
    shed: u64,
    /// Whether it is a class of sessions, whose answer is the first.
    sessions: bool,
    /// In the whole run, sessions that had their first answer within their deadline.
    good_sessions: u64,
    /// Little's law: number inside with its integral, and the times in system of those who left.
    inside: Census,
    stayed_ns: u128,
}

impl ClassTally {
    /// One for each class. Sessions are what they are only at servers.
    fn all(scenario: &Scenario) -> Vec<Self> {
        let at_servers = scenario.serving_stage.is_some();
        let sessions = |class: &Class| at_servers && class.kind == KindV1::Session;
        scenario.classes.iter().map(|class| Self { sessions: sessions(class), ..Self::default() }).collect()
    }
}

/// What requests of one class are like and when they come.
#[derive(Clone, Debug)]
struct Kind {
    arrivals: Arrivals,
    /// Requests made in open loop.
    made: u64,
    /// What the keys of its requests are made of.
    key: u64,
    service: Works,
    deadline: Option<Duration>,
    /// Size of what it asks for, if it has one.
    size: Option<Law>,
    /// How often a request is made again when it is turned away, and after what time.
    retry: Option<(u32, Law)>,
    /// What the work of its requests is multiplied by, if it begins now.
    work_factor: f64,
}

/// A run of a scenario. `Clone` is a snapshot: both go on the same way.
#[derive(Clone, Debug)]
pub struct Simulation {
    seed: u64,
    replication: u32,
    now: Instant,
    horizon: Instant,
    measure_from: Instant,
    gateway: Gateway,
    calendar: Calendar,
    kinds: Vec<Kind>,
    clients: Clients,
    requests: Vec<Request>,
    servers: Vec<SimServer>,
    /// Whether more matters in the servers than slots.
    beyond_slots: bool,
    /// By class: what its requests are to a server.
    guests: Arc<[Guest]>,
    report_period: Duration,
    again: Numbered<Again>,
    /// What the workers of each stage do.
    tasks: Vec<Task>,
    batches: Numbered<Batch>,
    /// The batch that is being filled.
    filling: Option<Batch>,
    /// What it was made of, without edits.
    start: Arc<Scenario>,
    timed: Arc<[(Instant, Action)]>,
    /// What it goes on by, and how many of those are in force.
    edits: Arc<[Edit]>,
    edited: u32,
    /// How often reports have been set anew: what was entered in the calendar before is void.
    reports_version: u32,
    tallies: Vec<ClassTally>,
    stage_busy: Vec<Census>,
    /// The most workers that each stage may have.
    stage_places: Vec<Places>,
    /// Slots of each server.
    server_places: Vec<Places>,
    /// Whether an event of the scenario changes the work of requests.
    work_changes: bool,
    /// Whether the balancer goes by who asks or what for.
    hashes: bool,
    /// By class: how many ask, and for how many things.
    asked: Arc<[(u32, u32)]>,
    /// Stages whose delays are compared.
    watches: Vec<Watch>,
    /// Whether something happened since the gateway was last drained.
    undrained: bool,
    over: bool,
    events: u64,
    hash: u64,
}

impl Simulation {
    /// A run at its beginning. `replication` numbers independent runs of the same seed; `trace` holds the rows
    /// and labels of recorded traffic, for classes that replay it.
    ///
    /// # Errors
    /// [`SimError`] if a class replays a trace that is not there.
    pub fn new(
        scenario: &Scenario,
        replication: u32,
        trace: Option<(&[TraceRow], &[String])>,
    ) -> Result<Self, SimError> {
        let seed = scenario.seed;
        let classes = &scenario.classes;
        let rows = recorded_rows(scenario, trace)?;
        let stream_key = |purpose, class: usize| key(seed, replication, purpose, class as u64);
        let kinds = classes
            .iter()
            .zip(rows)
            .enumerate()
            .map(|(at, (class, rows))| Kind {
                arrivals: Arrivals::new(&class.load, Stream::new(stream_key(Purpose::Arrivals, at)), rows),
                made: 0,
                key: stream_key(Purpose::Request, at),
                service: Works::new(&class.service, WORK),
                deadline: class.deadline,
                size: class.size.as_ref().map(Law::of_size),
                retry: class.retry.as_ref().map(|retry| (retry.times, Law::new(&retry.after))),
                work_factor: 1.0,
            })
            .collect();
        let measure_from = Instant::START + scenario.warmup;
        let guests: Arc<[Guest]> = classes.iter().map(Guest::new).collect();
        let beyond_slots = server::more_than_slots(scenario);
        let taken_in = beyond_slots.then_some(&guests);
        let gateway = Gateway::new(scenario);
        let mut sim = Self {
            seed,
            replication,
            now: Instant::START,
            horizon: Instant::START + scenario.horizon,
            measure_from,
            calendar: Calendar::new(),
            kinds,
            clients: Clients::default(),
            requests: Vec::new(),
            servers: scenario
                .servers
                .iter()
                .map(|spec| SimServer::new(spec, measure_from, taken_in))
                .collect(),
            beyond_slots,
            guests,
            report_period: Duration::from_micros(scenario.feedback.period_us),
            again: Numbered::new(),
            tasks: scenario.stages.iter().map(Task::new).collect(),
            batches: Numbered::new(),
            filling: None,
            start: Arc::clone(gateway.scenario()),
            edits: Arc::clone(&scenario.edits),
            edited: 0,
            reports_version: 0,
            gateway,
            timed: scenario.events.iter().map(|event| (event.at, event.action)).collect(),
            tallies: ClassTally::all(scenario),
            stage_busy: vec![Census::from(measure_from); scenario.stages.len()],
            stage_places: scenario.stages.iter().map(|stage| Places::new(stage.most_workers())).collect(),
            server_places: scenario.servers.iter().map(|server| Places::new(server.slots)).collect(),
            work_changes: scenario.events.iter().any(|event| matches!(event.action, Action::Service { .. })),
            hashes: scenario.balancer.hashes().is_some(),
            asked: classes.iter().map(|class| (class.sources, class.targets)).collect(),
            watches: Watch::all(scenario, measure_from),
            undrained: false,
            over: false,
            events: 0,
            hash: mix(seed ^ mix(u64::from(replication))),
        };
        sim.open(scenario);
        Ok(sim)
    }

    /// Enters the first events.
    fn open(&mut self, scenario: &Scenario) {
        for (number, &(at, _)) in self.timed.clone().iter().enumerate() {
            self.calendar.push(at, Rank::Control, What::Timed(number as u32));
        }
        self.expect_edits();
        if scenario.reports && !scenario.servers.is_empty() {
            self.expect_report(Instant::START);
        }
        let mut first = 0;
        for (at, class) in scenario.classes.iter().enumerate() {
            if let LoadV1::Closed { clients, think, count } = &class.load {
                let keys = (
                    key(self.seed, self.replication, Purpose::Think, at as u64),
                    key(self.seed, self.replication, Purpose::Request, at as u64),
                );
                let most = largest_factor(scenario, ClassId(at as u8));
                let law = Law::new(think);
                let mut people = Population::new(at as u8, *clients, law, *count, keys, first, most);
                first += people.len();
                let calendar = &mut self.calendar;
                people.set_factor(1.0, |client, think| {
                    let at = Clients::asks_at(Instant::START, think);
                    calendar.push(at, Rank::Arrival, What::Client { client });
                });
                self.clients.populations.push(people);
            } else {
                let next = self.kinds[at].arrivals.first();
                self.calendar.set_arrival(at, next);
            }
        }
    }

    /// Moment the run has come to.
    #[must_use]
    pub const fn now(&self) -> Instant {
        self.now
    }

    /// End of the run.
    #[must_use]
    pub const fn horizon(&self) -> Instant {
        self.horizon
    }

    /// Whether the run has come to its end.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        self.over
    }

    /// Events so far: arrivals, completions, timed events and passed deadlines.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.events
    }

    /// Digest of every event and decision so far. Equal digests mean equal runs.
    #[must_use]
    pub const fn trace_hash(&self) -> u64 {
        mix(self.hash ^ self.events)
    }

    /// The gateway, to be looked at.
    #[must_use]
    pub const fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    /// Time that the cores of a server were in use in the measured part so far, added up over them, in seconds: by requests
    /// and sessions and, where there are any, by neighbours. Where requests have slots, a slot in use is a core in use.
    ///
    /// The difference of two readings, over the time between them and the slots, is the utilisation in between.
    ///
    /// # Panics
    /// If there is no such server.
    #[must_use]
    pub fn server_busy_s(&self, server: ServerId) -> f64 {
        self.servers[usize::from(server.0)].busy_ns(self.now) / 1e9
    }

    /// Fills `out` with the present state.
    pub fn frame(&self, out: &mut Frame) {
        self.gateway.frame(self.now, out);
    }

    /// Begins or ends to write down how servers are picked; it changes nothing about the run.
    pub fn write_decisions(&mut self, on: bool) {
        self.gateway.write_decisions(on);
    }

    /// Time of the next event within the run.
    #[must_use]
    pub fn next_event_at(&self) -> Option<Instant> {
        let deadline = self.gateway.poll_at().unwrap_or(Instant::NEVER);
        let next = self.calendar.peek().at().min(deadline);
        (next <= self.horizon).then_some(next)
    }

    /// Runs every event up to and including `t`, and no further than the horizon; then it is `t`.
    pub fn run_until(&mut self, t: Instant) {
        let t = t.min(self.horizon);
        if !self.over {
            self.run_events(t, u64::MAX);
        }
        if t > self.now {
            self.now = t;
        }
        self.over = self.now >= self.horizon;
    }

    /// Runs one event; `false` when the run is over.
    pub fn step(&mut self) -> bool {
        if self.over {
            return false;
        }
        let went = self.run_events(self.horizon, 1);
        if !went {
            self.now = self.horizon;
            self.over = true;
        }
        went
    }

    /// Runs to the end.
    pub fn run_to_end(&mut self) {
        self.run_until(self.horizon);
    }

    /// Runs to the end and sums up.
    ///
    /// # Panics
    /// If a request was lost or doubled, or Little's law does not hold: a defect of the engine, whatever the
    /// scenario. The message names seed and replication.
    #[must_use]
    pub fn finish(&mut self) -> RunResult {
        self.run_to_end();
        result::sum_up(self)
    }

    /// Runs the events that come no later than `limit`, at most so many; whether there were that many.
    // The one copy of the loop, with all that is inlined into it.
    #[inline(never)]
    fn run_events(&mut self, limit: Instant, most: u64) -> bool {
        (0..most).all(|_| self.step_before(limit))
    }

    /// Runs one event if it comes no later than `limit`.
    #[inline(always)]
    fn step_before(&mut self, limit: Instant) -> bool {
        let mut next = self.calendar.peek();
        if self.undrained && next.is_after(self.now, DISPATCH_RANK) {
            self.drain();
            // What was dispatched may end before anything that was known of.
            next = self.calendar.peek();
        }
        if let Some(deadline) = self.gateway.poll_at()
            && deadline <= limit
            && (deadline, DEADLINE_RANK) < (next.at(), next.rank())
        {
            self.now = self.now.max(deadline);
            self.events += 1;
            self.drain();
            return true;
        }
        if next.at() > limit {
            return false;
        }
        let Some((at, what)) = self.calendar.pop(next) else { return false };
        self.now = at;
        match what {
            What::Completion(job) => self.completion(job),
            What::Arrival { class } => self.arrival(class),
            rarer => self.happen(rarer),
        }
        true
    }

    /// Whatever is not the arrival of an open class or the end of work on one request: kept out of the loop that those
    /// two make up most of.
    #[inline(never)]
    fn happen(&mut self, what: What) {
        match what {
            What::Client { client } => self.client_asks(client),
            What::Timed(number) => self.timed_event(number),
            What::Link { stage, version } => self.transfer_ended(stage, version),
            What::Again(number) => self.asks_again(number),
            What::Batch(number) => self.batch_done(number),
            What::Overdue(job) => self.overdue(job),
            What::Shared { server, version } => self.share_ended(server, version),
            What::Reports { version } => self.report(version),
            What::Completion(job) => self.completion(job),
            // Told apart by the caller.
            What::Arrival { .. } => {}
        }
    }

    #[inline]
    fn fold(&mut self, a: u64, b: u64) {
        // Fowler-like: rotate, mix in, multiply by an odd constant. Quick, and every bit reaches the top half.
        self.hash = (self.hash.rotate_left(5) ^ a).wrapping_mul(0x517C_C1B7_2722_0A95);
        self.hash = (self.hash.rotate_left(5) ^ b).wrapping_mul(0x517C_C1B7_2722_0A95);
    }

    /// Counts an event and folds it into the digest.
    #[inline(always)]
    fn note(&mut self, kind: u64, detail: u64) {
        self.events += 1;
        self.fold(self.now.as_nanos(), (kind << 56) | detail);
    }

    #[inline(always)]
    fn arrival(&mut self, class: u8) {
        let at = usize::from(class);
        let kind = &mut self.kinds[at];
        let (recorded, next) = kind.arrivals.take(self.now);
        let key = nth(kind.key, kind.made);
        // Drawn here although it may never be needed: the request is what it is before any policy sees it.
        let work = recorded.unwrap_or_else(|| kind.service.of_nth(kind.key, kind.made));
        kind.made += 1;
        self.calendar.set_arrival(at, next);
        self.request(ClassId(class), key, NO_CLIENT, recorded, work, 0);
    }

    fn client_asks(&mut self, client: u32) {
        let people = self.clients.of(client);
        let class = ClassId(people.class);
        if let Some(key) = people.asks(client) {
            self.request_again(class, key, client, None, 0);
        }
    }

    /// The same for requests that closed clients make, or make once more: one copy for those who ask less often.
    #[inline(never)]
    fn request_again(
        &mut self,
        class: ClassId,
        key: u64,
        client: u32,
        recorded: Option<Duration>,
        tries: u32,
    ) {
        let work = recorded.unwrap_or_else(|| self.kinds[usize::from(class.0)].service.of(key));
        self.request(class, key, client, recorded, work, tries);
    }

    /// A request arrives at the gateway, after so many times before.
    #[inline(always)]
    fn request(
        &mut self,
        class: ClassId,
        key: u64,
        client: u32,
        recorded: Option<Duration>,
        work: Duration,
        tries: u32,
    ) {
        let at = usize::from(class.0);
        let kind = &self.kinds[at];
        let mut size = None;
        if let Some(law) = &kind.size {
            size = Some(law.draw(&mut Stream::new(nth(key, SIZE))).as_nanos().max(1));
        }
        let deadline = kind.deadline.map(|length| self.now + length);
        // Whose client asks again at its deadline, if it has no answer by then.
        let overdue_at = deadline.filter(|_| kind.retry.is_some());
        let measured = self.now >= self.measure_from;
        self.tallies[at].arrived += u64::from(measured);
        let chance = if tries == 0 { key } else { nth(nth(key, AGAIN), u64::from(tries)) };
        let asked = if self.hashes { self.asked(class, key, client) } else { Asked::default() };
        let arrival = Arrival { class, deadline, chance: Chance(chance), size, asked };
        match self.gateway.arrive(self.now, arrival) {
            Ok(job) => {
                self.note(1, u64::from(class.0));
                self.tallies[at].inside.come(self.now);
                let slot = job.slot as usize;
                if slot >= self.requests.len() {
                    self.more_requests(slot);
                }
                self.requests[slot] = Request {
                    job,
                    class,
                    key,
                    client,
                    tries,
                    given_up: false,
                    answered_in_time: false,
                    bytes: size.unwrap_or(0),
                    work,
                    server: None,
                    stage: 0,
                    inside: true,
                    arrived: self.now,
                };
                if let Some(at) = overdue_at {
                    self.calendar.push(at, Rank::Arrival, What::Overdue(job));
                }
                self.undrained = self.gateway.may_decide(self.now);
                if self.undrained {
                    self.drain();
                }
            }
            Err(cause) => {
                self.note(2, (cause as u64) << 8 | u64::from(class.0));
                self.tallies[at].shed += u64::from(measured);
                self.answer_client(client, true);
                self.retry(Again { class, key, tries: tries + 1, recorded });
            }
        }
    }

    /// Makes room for what is known of the request in a slot.
    #[cold]
    fn more_requests(&mut self, slot: usize) {
        self.requests.resize(slot + 1, Request::NOBODY);
    }

    /// Who asks and what for: closed clients are themselves, others any of those the class has.
    #[inline(never)]
    fn asked(&self, class: ClassId, key: u64, client: u32) -> Asked {
        let (sources, targets) = self.asked[usize::from(class.0)];
        let any_of = |n: u32, what: u64| (nth(key, what) % u64::from(n)) as u32;
        let source = if client == NO_CLIENT { any_of(sources, ASKED) } else { client };
        let hash = |of: u32| mix(u64::from(class.0) << 32 | u64::from(of)) as u32;
        Asked { source: hash(source), target: hash(any_of(targets, ASKED + 1)) }
    }

    /// Lets a request that was turned away be made again, if its class does that and it was not made too often.
    #[inline]
    fn retry(&mut self, again: Again) {
        let Some((times, after)) = &self.kinds[usize::from(again.class.0)].retry else { return };
        if again.tries <= *times {
            let mut stream = Stream::new(nth(nth(again.key, AGAIN + 1), u64::from(again.tries)));
            let at = self.now + after.draw(&mut stream);
            let number = self.again.add(again);
            self.calendar.push(at, Rank::Arrival, What::Again(number));
        }
    }

    /// The deadline of a request passes: if it is still inside, its client asks again all the same.
    fn overdue(&mut self, job: JobId) {
        let request = &mut self.requests[job.slot as usize];
        if request.job == job && request.inside && !request.answered_in_time {
            request.given_up = true;
            let again = request.again();
            self.retry(again);
        }
    }

    fn asks_again(&mut self, number: u32) {
        if let Some(Again { class, key, tries, recorded }) = self.again.take(number) {
            self.request_again(class, key, NO_CLIENT, recorded, tries);
        }
    }

    /// The client of a request that is over thinks, and will ask again.
    #[inline]
    fn answer_client(&mut self, client: u32, refused: bool) {
        if client == NO_CLIENT {
            return;
        }
        if let Some(think) = self.clients.of(client).answered(client, refused) {
            let at = Clients::asks_at(self.now, think);
            self.calendar.push(at, Rank::Arrival, What::Client { client });
        }
    }

    /// Carries out what the gateway wants done now.
    #[inline]
    fn drain(&mut self) {
        self.undrained = false;
        while let Some(output) = self.gateway.poll(self.now) {
            match output {
                Output::Dispatch(dispatch) => self.dispatch(dispatch),
                Output::Shed { job, stage, cause, .. } => {
                    self.fold(self.now.as_nanos(), 7 << 56 | (cause as u64) << 8 | u64::from(stage.0));
                    self.leave(job.slot, End::TurnedAway);
                }
            }
        }
        if self.filling.is_some() {
            self.start_batch();
        }
    }

    // Out of the way of the runs that compare no delays.
    #[inline(never)]
    fn watch(&mut self, stage: StageId, class: ClassId, waited: Duration) {
        for watch in self.watches.iter_mut().filter(|watch| watch.stage() == stage) {
            watch.on_dispatch(self.now, class, waited, &self.gateway);
        }
    }

    #[inline]
    fn dispatch(&mut self, dispatch: Dispatch) {
        let slot = dispatch.job.slot;
        self.stage_busy[usize::from(dispatch.stage.0)].come(self.now);
        if !self.watches.is_empty() {
            self.watch(dispatch.stage, dispatch.class, dispatch.waited);
        }
        let server = dispatch.server.map_or(0xFFFF, |server| u64::from(server.0));
        let request = &mut self.requests[slot as usize];
        request.stage = dispatch.stage.0;
        request.server = dispatch.server.map(|server| server.0);
        let (key, bytes) = (request.key, request.bytes);
        self.fold(
            key,
            3 << 56
                | u64::from(dispatch.stage.0) << 48
                | server << 32
                | dispatch.waited.as_nanos() & 0xFFFF_FFFF,
        );
        if let Some(server) = dispatch.server {
            if self.beyond_slots {
                self.come(server, slot);
            } else if self.servers[usize::from(server.0)].accept(slot, self.now) {
                self.start_at_server(server, slot);
            }
            return;
        }
        let stage = dispatch.stage.0;
        match &mut self.tasks[usize::from(stage)] {
            Task::Own(law, per_batch) => {
                let mut stream = Stream::new(nth(key, WORK + 1 + u64::from(stage)));
                let (drawn, per_batch) = (law.draw(&mut stream), *per_batch);
                let length = if self.work_changes { self.changed(dispatch.class, drawn) } else { drawn };
                if let Some(number) = dispatch.batch {
                    self.join_batch((stage, number), dispatch.job, length, per_batch);
                } else {
                    let at = self.now + length + per_batch;
                    self.calendar.push(at, Rank::Completion, What::Completion(dispatch.job));
                }
            }
            Task::Link(link) => {
                link.begin(self.now, dispatch.job, bytes);
                if let Some(at) = link.next_end(self.now) {
                    let version = link.version;
                    self.calendar.push(at, Rank::Completion, What::Link { stage, version });
                }
            }
            Task::Servers => unreachable!("the serving stage names a server"),
        }
    }

    /// Adds a job to the batch with this number, a new one if it is not being filled.
    fn join_batch(&mut self, number: (u8, u32), job: JobId, length: Duration, per_batch: Duration) {
        if self.filling.as_ref().is_none_or(|batch| batch.number != number) {
            self.start_batch();
            self.filling = Some(Batch { jobs: Vec::new(), number, length: per_batch });
        }
        if let Some(batch) = &mut self.filling {
            batch.jobs.push(job);
            batch.length += length;
        }
    }

    /// Work on the batch that was being filled begins.
    #[cold]
    fn start_batch(&mut self) {
        if let Some(batch) = self.filling.take() {
            let at = self.now + batch.length;
            let number = self.batches.add(batch);
            self.calendar.push(at, Rank::Completion, What::Batch(number));
        }
    }

    fn batch_done(&mut self, number: u32) {
        for job in self.batches.take(number).unwrap_or_default().jobs {
            self.happen(What::Completion(job));
        }
    }

    /// A transfer over the link of a stage ends, unless its end was set anew.
    fn transfer_ended(&mut self, stage: u8, version: u32) {
        let Task::Link(link) = &mut self.tasks[usize::from(stage)] else { return };
        if link.version != version {
            return;
        }
        let Some(job) = link.end(self.now) else { return };
        if let Some(at) = link.next_end(self.now) {
            let version = link.version;
            self.calendar.push(at, Rank::Completion, What::Link { stage, version });
        }
        self.happen(What::Completion(job));
    }

    /// A length of work of a class with what an event has made of it.
    #[inline(never)]
    fn changed(&self, class: ClassId, length: Duration) -> Duration {
        times(length, self.kinds[usize::from(class.0)].work_factor)
    }

    /// The work of a request at a server of speed 1, if it begins now.
    #[inline(always)]
    fn work_of(&self, slot: u32) -> Duration {
        let request = &self.requests[slot as usize];
        if self.work_changes { self.changed(request.class, request.work) } else { request.work }
    }

    /// A server begins to work on a request.
    #[inline]
    fn start_at_server(&mut self, server: ServerId, slot: u32) {
        let length = self.servers[usize::from(server.0)].time_for(self.work_of(slot));
        let job = self.requests[slot as usize].job;
        self.calendar.push(self.now + length, Rank::Completion, What::Completion(job));
    }

    #[inline(always)]
    fn completion(&mut self, job: JobId) {
        let request = &mut self.requests[job.slot as usize];
        if request.job != job || !request.inside {
            return;
        }
        let class = request.class;
        if let Some(server) = request.server.take() {
            let server = ServerId(server);
            if self.beyond_slots {
                self.go(server, class);
            } else if let Some(next) = self.servers[usize::from(server.0)].finish(self.now) {
                self.start_at_server(server, next);
            }
        }
        self.note(4, u64::from(class.0));
        self.work_ended(job, Outcome::Completed);
    }

    /// Tells the gateway, and follows the request to where it goes.
    #[inline]
    fn work_ended(&mut self, job: JobId, outcome: Outcome) {
        let &Request { class, stage, arrived, .. } = &self.requests[job.slot as usize];
        let at = usize::from(class.0);
        self.undrained = true;
        self.stage_busy[usize::from(stage)].leave(self.now);
        match self.gateway.done(self.now, job, outcome) {
            Step::Queued(_) => {}
            Step::Shed(stage, cause) => {
                self.fold(self.now.as_nanos(), 5 << 56 | (cause as u64) << 8 | u64::from(stage.0));
                self.leave(job.slot, End::TurnedAway);
            }
            Step::Left(left) => {
                let sessions = self.tallies[at].sessions;
                let good = if sessions { self.session_ended(job.slot, outcome) } else { left.good };
                let tally = &mut self.tallies[at];
                if left.outcome == Outcome::Completed {
                    if self.now >= self.measure_from {
                        tally.completed += 1;
                        tally.good += u64::from(good);
                    }
                    if arrived >= self.measure_from {
                        tally.wait.record(left.waited.as_nanos());
                        tally.wait_batches.push(left.waited.as_nanos());
                        if !sessions {
                            tally.response.record(left.response.as_nanos());
                            tally.response_batches.push(left.response.as_nanos());
                        }
                    }
                }
                let failed = left.outcome == Outcome::Failed;
                self.leave(job.slot, if failed { End::Failed } else { End::Answered });
            }
            Step::Stale => unreachable!("the simulator ends only work that was dispatched"),
        }
    }

    /// A request is over, one way or another.
    #[inline(always)]
    fn leave(&mut self, slot: u32, end: End) {
        let request = &mut self.requests[slot as usize];
        request.inside = false;
        let (class, client, arrived) = (request.class, request.client, request.arrived);
        let tally = &mut self.tallies[usize::from(class.0)];
        tally.inside.leave(self.now);
        tally.stayed_ns += u128::from(self.now.since(arrived).as_nanos());
        tally.shed += u64::from(end == End::TurnedAway && self.now >= self.measure_from);
        self.answer_client(client, end != End::Answered);
        let request = &self.requests[slot as usize];
        if end == End::TurnedAway && !request.given_up {
            let again = request.again();
            self.retry(again);
        }
    }

    fn timed_event(&mut self, number: u32) {
        let Some(&(_, action)) = self.timed.get(number as usize) else {
            return self.edit(number as usize - self.timed.len());
        };
        self.note(6, u64::from(number));
        self.undrained = true;
        match action {
            Action::Load { class, factor } => {
                for at in 0..self.kinds.len() {
                    if class.is_none_or(|only| usize::from(only.0) == at) {
                        self.set_load(at, factor);
                    }
                }
            }
            Action::Service { class, factor } => {
                for (at, kind) in self.kinds.iter_mut().enumerate() {
                    if class.is_none_or(|only| usize::from(only.0) == at) {
                        kind.work_factor = factor;
                    }
                }
            }
            Action::ServerDown(server) => self.server_down(server),
            Action::ServerUp(server) => {
                if let Some(machine) = self.servers[usize::from(server.0)].machine() {
                    machine.come_up();
                }
                self.gateway.set_server(self.now, server, true);
            }
            Action::Neighbour(server, share) => self.set_neighbour(server, share),
            Action::ServerReports(server, reports) => self.set_reports(server, reports),
            Action::ServerSpeed(server, speed) => {
                self.servers[usize::from(server.0)].set_speed(speed);
                self.settle(server);
            }
        }
    }

    fn set_load(&mut self, class: usize, factor: f64) {
        let pending = self.calendar.arrival(class).filter(|&at| at >= self.now);
        let next = self.kinds[class].arrivals.set_factor(self.now, factor, pending);
        if next != pending {
            self.calendar.set_arrival(class, next);
        }
        let (now, calendar) = (self.now, &mut self.calendar);
        for people in self.clients.populations.iter_mut().filter(|p| usize::from(p.class) == class) {
            people.set_factor(factor, |client, think| {
                calendar.push(Clients::asks_at(now, think), Rank::Arrival, What::Client { client });
            });
        }
    }

    /// A server stops: what it has in flight fails, in the order of the job table.
    fn server_down(&mut self, server: ServerId) {
        self.servers[usize::from(server.0)].fail(self.now);
        self.settle(server);
        self.gateway.set_server(self.now, server, false);
        for slot in 0..self.requests.len() {
            let request = &mut self.requests[slot];
            if request.inside && server::is_at(request, server.0) {
                request.server = None;
                let job = request.job;
                self.work_ended(job, Outcome::Failed);
            }
        }
    }
}

/// A length of work multiplied, to the nearest nanosecond.
fn times(length: Duration, factor: f64) -> Duration {
    if factor == 1.0 {
        return length;
    }
    Duration::from_nanos((length.as_nanos() as f64 * factor + 0.5) as u64)
}

/// Largest factor that a timed event gives the load of a class.
fn largest_factor(scenario: &Scenario, class: ClassId) -> f64 {
    scenario
        .events
        .iter()
        .filter_map(|event| match event.action {
            Action::Load { class: which, factor } if which.is_none_or(|only| only == class) => Some(factor),
            _ => None,
        })
        .fold(1.0, f64::max)
}

/// The recorded rows of each class that replays any.
fn recorded_rows(
    scenario: &Scenario,
    trace: Option<(&[TraceRow], &[String])>,
) -> Result<Vec<Option<Arc<[Recorded]>>>, SimError> {
    let named: Vec<&str> = scenario
        .classes
        .iter()
        .filter_map(|class| match &class.load {
            LoadV1::Trace { label } if label != "*" => Some(label.as_str()),
            _ => None,
        })
        .collect();
    scenario
        .classes
        .iter()
        .map(|class| {
            let LoadV1::Trace { label } = &class.load else { return Ok(None) };
            let (rows, labels) = trace.ok_or_else(|| SimError::NoTrace { class: class.name.clone() })?;
            let mine = |row: &&TraceRow| {
                let name = labels.get(usize::from(row.label)).map_or("", String::as_str);
                if label == "*" { !named.contains(&name) } else { name == label }
            };
            if label != "*" && !labels.iter().any(|name| name == label) {
                return Err(SimError::NoRows {
                    class: class.name.clone(),
                    label: label.clone(),
                    known: labels.to_vec(),
                });
            }
            let mut mine: Vec<Recorded> =
                rows.iter().filter(mine).map(|row| Recorded { at: row.at, service: row.service }).collect();
            mine.sort_by_key(|row| row.at);
            Ok(Some(mine.into()))
        })
        .collect()
}

/// Why a request was turned away, in the order of [`Cause::ALL`].
pub(crate) const CAUSES: usize = Cause::ALL.len();
