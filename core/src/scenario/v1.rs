//! Wire form of a scenario, version 1: the body of a share link and of a scenario file.
//!
//! Frozen: links made with it must open for ever. A new field needs a default that keeps old links
//! meaning what they meant; a changed default needs version 2 and a migration.
//! Durations are whole microseconds (`_us`), rates are per second, enums are short stable strings.

use alloc::string::String;
use alloc::vec::Vec;

/// A scenario as written: `{"tidegate": 1, ...}`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScenarioV1 {
    /// What it is called; shown as text only. At most 80 characters.
    pub title: String,
    /// The question it answers, in a sentence or two. At most 500 characters.
    pub about: String,
    /// Engine results version that shared it (`eng`); empty when written by hand.
    pub engine: String,
    /// Seed, length, warm-up.
    pub run: RunV1,
    /// Who sends requests; 1 to 16.
    pub classes: Vec<ClassV1>,
    /// What a request passes on its way; 1 to 16.
    pub stages: Vec<StageV1>,
    /// How the serving stage picks a server.
    pub balancer: BalancerV1,
    /// Machines behind the balancer; 0 to 64, and none if no stage works at servers.
    pub servers: Vec<ServerV1>,
    /// What happens during the run; at most 256.
    pub events: Vec<EventV1>,
}

/// Seed, length and warm-up of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunV1 {
    /// Seed of every random stream; below 2^53 so that every JSON reader keeps it exactly. Default 1.
    pub seed: u64,
    /// Length of the run. Default 60 s, at most 7 days.
    pub horizon_us: u64,
    /// Left out of the statistics at the start. Default: a tenth of the horizon when `steady`, else 0.
    pub warmup_us: Option<u64>,
    /// What the statistics are about. Default `steady`.
    pub mode: ModeV1,
}

/// What the statistics of a run are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModeV1 {
    /// `steady`: long-run means; the warm-up is left out, intervals come from batch means.
    Steady,
    /// `transient`: this very stretch of time; nothing is left out, intervals come from replications.
    Transient,
}

/// One class of requests.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassV1 {
    /// Name, 1 to 40 characters, unlike every other class.
    pub name: String,
    /// Larger goes first, 0 to 15. Default 0.
    pub priority: u8,
    /// Smaller is faster, above 0. Default 1. Read by the proportional-delay policies.
    pub delay_weight: f64,
    /// Answer wanted within this time of the arrival; later answers are no goodput, and a request that
    /// is still queued then is turned away. Default: none.
    pub deadline_us: Option<u64>,
    /// When requests arrive.
    pub load: LoadV1,
    /// Work of one request at a server of speed 1. Default: exponential with mean 10 ms.
    pub service: LawV1,
    /// Which real requests belong to the class (any rule suffices); at most 32. A class without rules
    /// takes what no other class matches.
    pub rules: Vec<RuleV1>,
}

/// How requests of a class arrive (`kind`).
#[derive(Clone, Debug, PartialEq)]
pub enum LoadV1 {
    /// `poisson`: independent arrivals, 0 to 1,000,000 a second.
    Poisson {
        /// Mean arrivals a second.
        rate_per_s: f64,
    },
    /// `deterministic`: evenly spaced, the first at time 0.
    Deterministic {
        /// Arrivals a second.
        rate_per_s: f64,
        /// Stop after so many. Default: no end.
        count: Option<u64>,
    },
    /// `mmpp`: Poisson whose rate follows phases of exponential length, one after the other in a ring.
    Mmpp {
        /// 2 to 16 phases; the run begins in the first.
        phases: Vec<PhaseV1>,
    },
    /// `closed`: clients who wait for the answer, think, and ask again.
    Closed {
        /// How many, 1 to 100,000.
        clients: u32,
        /// Time between an answer (or refusal) and the next request. Default: constant 0.
        /// Every client begins by thinking once; constant 0 means all ask at time 0.
        think: LawV1,
        /// Requests a client makes before it leaves. Default: no end.
        count: Option<u64>,
    },
    /// `trace`: arrivals (and service times, if recorded) come from rows handed over with the scenario.
    Trace {
        /// Label of the rows that are this class's. Default: the class's name; `*` takes every row whose
        /// label no other class names.
        label: String,
    },
}

/// One phase of an `mmpp` load.
#[derive(Clone, Debug, PartialEq)]
pub struct PhaseV1 {
    /// Arrivals a second while the phase lasts.
    pub rate_per_s: f64,
    /// Mean length of the phase.
    pub mean_us: u64,
}

/// Law of a random time (`law`).
#[derive(Clone, Debug, PartialEq)]
pub enum LawV1 {
    /// `constant`.
    Constant {
        /// The value.
        mean_us: u64,
    },
    /// `exponential`.
    Exponential {
        /// Mean.
        mean_us: u64,
    },
    /// `uniform` between two ends.
    Uniform {
        /// Smallest.
        min_us: u64,
        /// Largest, at least the smallest.
        max_us: u64,
    },
    /// `erlang`: sum of `k` exponentials; squared coefficient of variation 1/k.
    Erlang {
        /// Mean of the sum.
        mean_us: u64,
        /// 1 to 64.
        k: u32,
    },
    /// `hyperexponential` with balanced means (two branches); coefficient of variation 1 to 20.
    Hyperexponential {
        /// Mean.
        mean_us: u64,
        /// Standard deviation over mean.
        cv: f64,
    },
    /// `lognormal`; coefficient of variation 0 to 20.
    Lognormal {
        /// Mean (not the median).
        mean_us: u64,
        /// Standard deviation over mean.
        cv: f64,
    },
    /// `pareto`, bounded: density falls as x^-(alpha+1) between the smallest value and `ratio` times it.
    Pareto {
        /// Mean of the bounded law.
        mean_us: u64,
        /// Tail index, 0.5 to 10.
        alpha: f64,
        /// Largest over smallest value, above 1, at most 1e9. Default 1e4.
        ratio: f64,
    },
}

/// Conditions on a real request; all that are given must hold. At least one is given.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleV1 {
    /// Path pattern: `*` within a segment, `**` across segments. The query is not looked at.
    pub path: Option<String>,
    /// `Host` without port, `*.example.org` takes every subdomain. Case does not matter.
    pub host: Option<String>,
    /// Method, upper case.
    pub method: Option<String>,
    /// Header name, lower case; holds if the header is there (and matches `value`, if given).
    pub header: Option<String>,
    /// Pattern for the header's value, `*` matches any text. Needs `header`.
    pub value: Option<String>,
    /// Client address or CIDR block.
    pub client: Option<String>,
    /// Whose headers count. Default `trusted`: a `header` rule holds only for peers the server trusts, so
    /// that nobody on the internet names their own class.
    pub from: FromV1,
}

/// Whose word a header rule takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromV1 {
    /// `trusted`: peers listed as trusted by the server's operator.
    Trusted,
    /// `anyone`.
    Anyone,
}

/// One stage: a queue in front of workers.
#[derive(Clone, Debug, PartialEq)]
pub struct StageV1 {
    /// Name, 1 to 40 characters, unlike every other stage.
    pub name: String,
    /// Requests in work at once, 1 to 100,000.
    pub workers: u32,
    /// Workers reserved for each class, in class order; their sum is `workers`. Default (empty): one
    /// pool shared by all.
    pub split: Vec<u32>,
    /// Who is served next. Default `strict_priority`.
    pub order: OrderV1,
    /// Who may wait.
    pub queue: QueueV1,
    /// What a worker does.
    pub work: WorkV1,
}

/// Who of those waiting is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OrderV1 {
    /// `strict_priority`: the oldest of the most urgent level.
    StrictPriority,
    /// `fifo`: the oldest of all.
    Fifo,
}

/// Who may join the queue (`policy`).
#[derive(Clone, Debug, PartialEq)]
pub enum QueueV1 {
    /// `tail_drop`: up to a limit; later arrivals are turned away. The default, with limit 1,000 per level.
    TailDrop {
        /// Requests waiting, 0 to 1,000,000.
        limit: u32,
        /// What the limit counts. Default `level`.
        per: PerV1,
    },
}

/// What a queue limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PerV1 {
    /// `level`: each priority level by itself, so that the low cannot shut the door on the high.
    Level,
    /// `stage`: all levels together.
    Stage,
}

/// What a worker of a stage does with a request (`at`).
#[derive(Clone, Debug, PartialEq)]
pub enum WorkV1 {
    /// `stage`: works on it itself.
    Stage {
        /// Time it takes, whatever the class.
        service: LawV1,
    },
    /// `servers`: hands it to the balancer and waits for the server's answer. One stage at most.
    Servers,
}

/// How a server is picked (`policy`).
#[derive(Clone, Debug, PartialEq)]
pub enum BalancerV1 {
    /// `round_robin`: each in turn.
    RoundRobin,
    /// `least_connections`: fewest requests in flight; ties go round. The default.
    LeastConnections,
}

/// One machine behind the balancer.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerV1 {
    /// Name, 1 to 40 characters, unlike every other server.
    pub name: String,
    /// Requests it works on at once, 1 to 100,000; more wait inside it, first come first served. Default 1.
    pub slots: u32,
    /// Speed: a service time is divided by it. 0.001 to 1,000. Default 1.
    pub speed: f64,
    /// The gateway sends at most so many at once. Default: no limit beyond the workers.
    pub max_in_flight: Option<u32>,
}

/// Something that happens at a moment of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct EventV1 {
    /// When.
    pub at_us: u64,
    /// What (`do` and its fields, on the same level of the JSON object).
    pub action: ActionV1,
}

/// What happens (`do`).
#[derive(Clone, Debug, PartialEq)]
pub enum ActionV1 {
    /// `load`: arrivals (or the number of closed clients) become `factor` times the class's own load.
    Load {
        /// Class name. Default: every class.
        class: Option<String>,
        /// 0 to 1,000. Not cumulative: 1 restores the load as written.
        factor: f64,
    },
    /// `server_down`: what it has in flight fails, and it takes nothing more.
    ServerDown {
        /// Server name.
        server: String,
    },
    /// `server_up`: it takes requests again.
    ServerUp {
        /// Server name.
        server: String,
    },
    /// `server_speed`: it works `speed` times as fast as a server of speed 1, for work begun from now on.
    ServerSpeed {
        /// Server name.
        server: String,
        /// 0.001 to 1,000.
        speed: f64,
    },
}
