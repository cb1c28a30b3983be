//! Scenarios: parsed and checked once, then trusted.
//!
//! [`v1`] is the frozen wire form. [`Scenario`] is what the engine takes: every name resolved, every
//! number in range. There is no other way to make one than [`Scenario::check`].
//!
//! ```
//! use tidegate_core::scenario::parse_json;
//!
//! let text = r#"{
//!   "tidegate": 1,
//!   "classes": [{ "name": "Web", "load": { "kind": "poisson", "rate_per_s": 80 } }],
//!   "stages": [{ "name": "Serve", "workers": 1, "work": { "at": "servers" } }],
//!   "servers": [{ "name": "api-1" }]
//! }"#;
//! let scenario = parse_json(text)?.check()?;
//! assert_eq!(scenario.classes[0].name, "Web");
//!
//! let error = parse_json(&text.replace("80", "-1"))?.check().unwrap_err();
//! assert_eq!(error.to_string(), "classes[0].load.rate_per_s: from 0 to 1000000, found -1");
//! # Ok::<(), tidegate_core::scenario::ScenarioError>(())
//! ```

#[cfg(test)]
mod agreement;
mod check;
pub mod edits;
mod error;
mod json;
pub mod parse;
pub mod presets;
mod ratio;
#[cfg(test)]
mod tests;
pub mod v1;
mod wire;

pub use error::{Newer, ScenarioError};
pub(crate) use json::{push_value, shorten};
pub use parse::{Parsed, from_value, json_schema, parse_json, to_canonical_json};
pub use ratio::{RatioConflict, WaitLimit};

use crate::id::{ClassId, ServerId, StageId};
use crate::time::{Duration, Instant};
use crate::unit::{DelayWeight, Priority};
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use v1::{
    AgeingV1, BalancerV1, BatchV1, CapacityV1, DemandV1, DisciplineV1, ExpiredV1, FeedbackV1, KindV1, LawV1,
    LoadV1, ModeV1, OrderV1, PoolV1, QueueV1, ReportsV1, RetryV1, RuleV1, ScenarioV1, SizeV1, SplitByV1,
};

/// A scenario that can be run: checked, with names resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    wire: ScenarioV1,
    /// Seed of every random stream.
    pub seed: u64,
    /// Length of the run; above zero.
    pub horizon: Duration,
    /// Left out of the statistics; less than the horizon.
    pub warmup: Duration,
    /// What the statistics are about.
    pub mode: ModeV1,
    /// The classes, indexed by [`ClassId`].
    pub classes: Vec<Class>,
    /// How a request's priority level is made.
    pub levels: Levels,
    /// The stages, indexed by [`StageId`].
    pub stages: Vec<StageSpec>,
    /// The one stage that hands requests to servers, if any.
    pub serving_stage: Option<StageId>,
    /// How a server is picked.
    pub balancer: BalancerV1,
    /// What is made of load reports, failures and silence.
    pub feedback: FeedbackV1,
    /// Whether servers report their load: the balancer goes by it, or feedback was asked for.
    pub reports: bool,
    /// Gateways in front of the same servers, at least 1.
    pub gateways: u8,
    /// The servers, indexed by [`ServerId`].
    pub servers: Vec<ServerSpec>,
    /// Timed events, by time; equal times in the order written.
    pub events: Vec<TimedEvent>,
    /// What edits make of it while it runs, by time.
    pub edits: Arc<[Edit]>,
}

/// A checked edit.
#[derive(Clone, Debug, PartialEq)]
pub struct Edit {
    /// When.
    pub at: Instant,
    /// What is in force from then on, without edits of its own.
    pub version: Scenario,
}

/// Dynamic priority, paper S, 1.2: level = class priority + stages passed + correction for size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Levels {
    /// Levels of every stage, 1 to 16.
    pub count: u8,
    /// Sizes in bytes, growing.
    pub size_limits: Vec<u64>,
    /// Whether each stage passed counts for a level.
    pub per_stage: bool,
    /// Whether the correction for size counts for the place in the queue.
    pub size_in_queue: bool,
}

impl Levels {
    /// The correction for size, paper S's lambda on arrival at a stage: as many levels as there are limits above
    /// `size`; 0 for an unknown one.
    #[must_use]
    #[inline(always)]
    pub fn correction(&self, size: Option<u64>) -> u8 {
        let Some(size) = size else { return 0 };
        self.size_limits.iter().filter(|&&limit| size < limit).count() as u8
    }

    /// The level of a class's request at a stage without and with its correction for size, none above the top.
    #[must_use]
    #[inline]
    pub fn at(&self, priority: Priority, stage: StageId, correction: u8) -> (u8, u8) {
        let passed = if self.per_stage { stage.0 } else { 0 };
        let base = priority.0.saturating_add(passed);
        (base.min(self.count - 1), base.saturating_add(correction).min(self.count - 1))
    }
}

/// A checked class.
#[derive(Clone, Debug, PartialEq)]
pub struct Class {
    /// Name, unique.
    pub name: String,
    /// Larger goes first.
    pub priority: Priority,
    /// Smaller is faster.
    pub delay_weight: DelayWeight,
    /// Time from arrival within which the answer is wanted.
    pub deadline: Option<Duration>,
    /// When requests arrive.
    pub load: LoadV1,
    /// Work at a server of speed 1.
    pub service: LawV1,
    /// Size of what a request asks for, in bytes.
    pub size: Option<SizeV1>,
    /// Share of the work relative to the other classes; above zero.
    pub share: f64,
    /// What a client does when it is turned away.
    pub retry: Option<RetryV1>,
    /// What kind of work it is to a server.
    pub kind: KindV1,
    /// What one request holds of its server while it is there.
    pub demand: DemandV1,
    /// Time to the first answer of a session at an idle server.
    pub answer: Duration,
    /// Clients the requests come from, at least 1.
    pub sources: u32,
    /// Things that are asked for, at least 1.
    pub targets: u32,
    /// Which real requests belong to it.
    pub rules: Vec<RuleV1>,
}

/// A checked stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageSpec {
    /// Name, unique.
    pub name: String,
    /// Requests in work at once, at least 1.
    pub workers: u32,
    /// Workers of each class, summing to `workers`; `None` for one shared pool.
    pub split: Option<Vec<u32>>,
    /// How the split follows the delays of the classes.
    pub split_by: SplitByV1,
    /// Whether what rounding leaves over is carried to the next split.
    pub dither: bool,
    /// Time without an arrival after which a class's idle workers are lent; `None` for never.
    pub lend_after: Option<Duration>,
    /// Priority levels.
    pub levels: u8,
    /// Who is served next.
    pub order: OrderV1,
    /// Who may wait.
    pub queue: QueueV1,
    /// What becomes of a request whose deadline passes while it waits.
    pub expired: ExpiredV1,
    /// How those who wait long get ahead.
    pub ageing: AgeingV1,
    /// How the number of workers is controlled.
    pub pool: PoolV1,
    /// How many requests a worker takes at once.
    pub batch: BatchV1,
    /// Starts a second, at most.
    pub starts_per_s: Option<f64>,
    /// What a worker does.
    pub work: Work,
}

/// What a worker of a stage does with a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// Works on it itself for a time of this law, and so long more for each batch.
    Own(LawV1, Duration),
    /// Sends its bytes over a link of so many bytes a second, shared equally with the other workers.
    Link(f64),
    /// Hands it to a server.
    Servers,
}

impl StageSpec {
    /// The most workers it may have: the upper bound of a controlled pool, else those it has.
    #[must_use]
    pub const fn most_workers(&self) -> u32 {
        match self.pool {
            PoolV1::Fixed => self.workers,
            PoolV1::Threads { max, .. } | PoolV1::Aimd { max, .. } | PoolV1::Gradient { max, .. } => max,
        }
    }

    /// Whether each class has workers of its own.
    #[must_use]
    pub fn is_split(&self) -> bool {
        self.split.is_some() || self.split_by != SplitByV1::Fixed
    }

    /// Whether it is asked to keep the waits of the classes in proportion to their delay weights.
    #[must_use]
    pub const fn keeps_proportion(&self) -> bool {
        !matches!(self.split_by, SplitByV1::Fixed)
            || matches!(self.order, OrderV1::Wtp | OrderV1::Pad | OrderV1::Hpd)
    }

    /// The law of the stage's own work, if it does any that has one.
    #[must_use]
    pub const fn own_work(&self) -> Option<&LawV1> {
        if let Work::Own(law, _) = &self.work { Some(law) } else { None }
    }
}

/// A checked server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSpec {
    /// Name, unique.
    pub name: String,
    /// Requests it works on at once.
    pub slots: u32,
    /// Divides service times; above zero.
    pub speed: f64,
    /// Most the gateway sends at once.
    pub max_in_flight: Option<u32>,
    /// What balancers with weights make of it; 0 for nothing new.
    pub weight: f64,
    /// How it works on several requests.
    pub discipline: DisciplineV1,
    /// What it has besides processors.
    pub capacity: CapacityV1,
}

/// A checked timed event.
#[derive(Clone, Debug, PartialEq)]
pub struct TimedEvent {
    /// When.
    pub at: Instant,
    /// What.
    pub action: Action,
}

/// What a timed event does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// The load of one class (or of all) becomes `factor` times what is written.
    Load {
        /// Which class; `None` for all.
        class: Option<ClassId>,
        /// At least 0.
        factor: f64,
    },
    /// The work of one class's requests (or of all) becomes `factor` times what is written, for work begun from then on.
    Service {
        /// Which class; `None` for all.
        class: Option<ClassId>,
        /// Above 0.
        factor: f64,
    },
    /// A server stops; what it has in flight fails.
    ServerDown(ServerId),
    /// A server comes back.
    ServerUp(ServerId),
    /// A server changes speed.
    ServerSpeed(ServerId, f64),
    /// Others on the same machine take this share of a server's processors.
    Neighbour(ServerId, f64),
    /// What becomes of a server's load reports.
    ServerReports(ServerId, ReportsV1),
}

impl Scenario {
    /// Whether the delays of the classes at a stage are worth comparing: their weights differ, and it either keeps
    /// delays in proportion or is what such a stage is compared to, a fixed split or one line for all.
    #[must_use]
    pub fn compares_delays(&self, stage: &StageSpec) -> bool {
        let differ = self.classes.iter().any(|class| class.delay_weight != self.classes[0].delay_weight);
        differ && (stage.keeps_proportion() || stage.is_split() || stage.order == OrderV1::Fifo)
    }

    /// The wire form it was made from.
    #[must_use]
    pub const fn wire(&self) -> &ScenarioV1 {
        &self.wire
    }
}
