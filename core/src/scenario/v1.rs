//! Wire form of a scenario, version 1: the body of a share link and of a scenario file.
//!
//! Frozen: links made with it must open for ever. A new field needs a default that keeps old links
//! meaning what they meant; a changed default needs version 2 and a migration.
//! Durations are whole microseconds (`_us`), rates are per second, enums are short stable strings.
//!
//! This is the one place where a field's name, sentence, limits and default are written. Reader, canonical
//! writer, limit checks and JSON Schema are derived from it by the macros of [`wire`](super::wire).
//! Rules that involve more than one field are in [`check`](super::check).

use super::error::ScenarioError;
use super::wire::{
    ANY, Defs, Fields, Object, Path, Reader, Rule, Shape, Wire, Writer, above, choice, expect_word, from_to,
    key, line, list, list_of, prose, read_word, record, usual, whole, words, write_word,
};
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::Value;

/// The version of the format described here.
pub const VERSION: u32 = 1;

/// Largest whole number that every JSON reader keeps exactly, 2^53 - 1.
const MAX_EXACT: u64 = 9_007_199_254_740_991;
/// Longest time, 7 days in microseconds.
const MAX_US: u64 = 604_800_000_000;
/// Most arrivals a second.
const MAX_RATE: f64 = 1e6;
/// Most workers or slots.
const MAX_WORKERS: u64 = 100_000;
/// Rule of names: of classes, stages, servers and trace labels.
const NAME: Rule = line(1, 40);
/// Rule of one entry of a worker split.
const SHARE: Rule = whole(0, MAX_WORKERS);

record! {
    /// A scenario as written: `{"tidegate": 1, ...}`.
    pub struct ScenarioV1 as "scenario" {
        /// What it is called; shown as text only. At most 80 characters.
        title: String = line(0, 80), default(String::new());
        /// The question it answers, in a sentence or two. At most 500 characters.
        about: String = prose(0, 500), default(String::new());
        /// Engine results version that shared it; empty when written by hand.
        engine as "eng": String = line(0, 40), default(String::new());
        /// Seed, length, warm-up.
        run: RunV1 = ANY, default(RunV1::empty());
        /// Who sends requests; 1 to 16.
        classes: Vec<ClassV1> = list(1, 16), required;
        /// What a request passes on its way; 1 to 16.
        stages: Vec<StageV1> = list(1, 16), required;
        /// How the serving stage picks a server.
        balancer: BalancerV1 = ANY, default(BalancerV1::LeastConnections);
        /// Machines behind the balancer; 0 to 64, and none if no stage works at servers.
        servers: Vec<ServerV1> = list(0, 64), default(Vec::new());
        /// What happens during the run; at most 256.
        events: Vec<EventV1> = list(0, 256), default(Vec::new());
    }
}

record! {
    /// Seed, length and warm-up of a run.
    pub struct RunV1 as "run" {
        /// Seed of every random stream; below 2^53 so that every JSON reader keeps it exactly. Default 1.
        seed: u64 = whole(0, MAX_EXACT), default(1);
        /// Length of the run. Default 60 s, at most 7 days.
        horizon_us: u64 = whole(1, MAX_US), default(60_000_000);
        /// Left out of the statistics at the start. Default: a tenth of the horizon when `steady`, else 0.
        warmup_us: Option<u64> = whole(0, MAX_US), optional;
        /// What the statistics are about: `steady` for long-run means (the warm-up is left out), `transient`
        /// for this very stretch of time. Default `steady`.
        mode: ModeV1 = ANY, default(ModeV1::Steady);
    }
}

words! {
    /// What the statistics of a run are about.
    pub enum ModeV1 {
        /// `steady`: long-run means; the warm-up is left out, intervals come from batch means.
        Steady = "steady",
        /// `transient`: this very stretch of time; nothing is left out, intervals come from replications.
        Transient = "transient",
    }
}

record! {
    /// One class of requests.
    pub struct ClassV1 as "class" {
        /// Name, 1 to 40 characters, unlike every other class.
        name: String = NAME, required;
        /// Larger goes first, 0 to 15. Default 0.
        priority: u8 = whole(0, 15), default(0);
        /// Smaller is faster, above 0. Default 1. Read by the proportional-delay policies.
        delay_weight: f64 = above(0.0, 1000.0), default(1.0);
        /// Answer wanted within this time of the arrival; later answers are no goodput, and a request that
        /// is still queued then is turned away. Default: none.
        deadline_us: Option<u64> = whole(1, MAX_US), optional;
        /// When requests arrive. Default: never (`poisson` with rate 0), for a gateway on real traffic.
        load: LoadV1 = ANY, default(LoadV1::Poisson { rate_per_s: 0.0 });
        /// Work of one request at a server of speed 1. Default: exponential with mean 10 ms.
        service: LawV1 = ANY, default(LawV1::Exponential { mean_us: 10_000 });
        /// Which real requests belong to the class (any rule suffices); at most 32. A class without rules
        /// takes what no other class matches.
        rules: Vec<RuleV1> = list(0, 32), default(Vec::new());
    }
}

choice! {
    /// How requests of a class arrive (`kind`).
    pub enum LoadV1 as "load" by "kind" {
        /// `poisson`: independent arrivals, 0 to 1,000,000 a second.
        Poisson = "poisson" {
            /// Mean arrivals a second.
            rate_per_s: f64 = from_to(0.0, MAX_RATE), required;
        },
        /// `deterministic`: evenly spaced, the first at time 0.
        Deterministic = "deterministic" {
            /// Arrivals a second.
            rate_per_s: f64 = from_to(0.0, MAX_RATE), required;
            /// Stop after so many. Default: no end.
            count: Option<u64> = whole(0, MAX_EXACT), optional;
        },
        /// `mmpp`: Poisson whose rate follows phases of exponential length, one after the other in a ring.
        Mmpp = "mmpp" {
            /// 2 to 16 phases; the run begins in the first.
            phases: Vec<PhaseV1> = list(2, 16), required;
        },
        /// `closed`: clients who wait for the answer, think, and ask again.
        Closed = "closed" {
            /// How many, 1 to 100,000.
            clients: u32 = whole(1, 100_000), required;
            /// Time between an answer (or refusal) and the next request. Default: constant 0.
            /// Every client begins by thinking once; constant 0 means all ask at time 0.
            think: LawV1 = ANY, default(LawV1::Constant { mean_us: 0 });
            /// Requests a client makes before it leaves. Default: no end.
            count: Option<u64> = whole(1, MAX_EXACT), optional;
        },
        /// `trace`: arrivals (and service times, if recorded) come from rows handed over with the scenario.
        Trace = "trace" {
            /// Label of the rows that are this class's. Default: the class's name; `*` takes every row whose
            /// label no other class names.
            label: String = line(0, 40), default(String::new());
        },
    }
}

record! {
    /// One phase of an `mmpp` load.
    pub struct PhaseV1 as "phase" {
        /// Arrivals a second while the phase lasts.
        rate_per_s: f64 = from_to(0.0, MAX_RATE), required;
        /// Mean length of the phase.
        mean_us: u64 = whole(1, MAX_US), required;
    }
}

choice! {
    /// Law of a random time (`law`).
    pub enum LawV1 as "law" by "law" {
        /// `constant`.
        Constant = "constant" {
            /// The value.
            mean_us: u64 = whole(0, MAX_US), required;
        },
        /// `exponential`.
        Exponential = "exponential" {
            /// Mean.
            mean_us: u64 = whole(1, MAX_US), required;
        },
        /// `uniform` between two ends.
        Uniform = "uniform" {
            /// Smallest.
            min_us: u64 = whole(0, MAX_US), required;
            /// Largest, at least the smallest.
            max_us: u64 = whole(0, MAX_US), required;
        },
        /// `erlang`: sum of `k` exponentials; squared coefficient of variation 1/k.
        Erlang = "erlang" {
            /// Mean of the sum.
            mean_us: u64 = whole(1, MAX_US), required;
            /// 1 to 64.
            k: u32 = whole(1, 64), required;
        },
        /// `hyperexponential` with balanced means (two branches); coefficient of variation 1 to 20.
        Hyperexponential = "hyperexponential" {
            /// Mean.
            mean_us: u64 = whole(1, MAX_US), required;
            /// Standard deviation over mean.
            cv: f64 = from_to(1.0, 20.0), required;
        },
        /// `lognormal`; coefficient of variation 0 to 20.
        Lognormal = "lognormal" {
            /// Mean (not the median).
            mean_us: u64 = whole(1, MAX_US), required;
            /// Standard deviation over mean.
            cv: f64 = from_to(0.0, 20.0), required;
        },
        /// `pareto`, bounded: density falls as x^-(alpha+1) between the smallest value and `ratio` times it.
        Pareto = "pareto" {
            /// Mean of the bounded law.
            mean_us: u64 = whole(1, MAX_US), required;
            /// Tail index, 0.5 to 10.
            alpha: f64 = from_to(0.5, 10.0), required;
            /// Largest over smallest value, above 1, at most 1e9. Default 1e4.
            ratio: f64 = above(1.0, 1e9), default(1e4);
        },
    }
}

record! {
    /// Conditions on a real request; all that are given must hold. At least one is given.
    pub struct RuleV1 as "rule" {
        /// Path pattern: `*` within a segment, `**` across segments. The query is not looked at.
        path: Option<String> = line(1, 200), optional;
        /// `Host` without port, `*.example.org` takes every subdomain. Case does not matter.
        host: Option<String> = line(1, 253), optional;
        /// Method, upper case.
        method: Option<String> = line(1, 20), optional;
        /// Header name, lower case; holds if the header is there (and matches `value`, if given).
        header: Option<String> = line(1, 64), optional;
        /// Pattern for the header's value, `*` matches any text. Needs `header`.
        value: Option<String> = line(1, 200), optional;
        /// Client address or CIDR block.
        client: Option<String> = line(1, 49), optional;
        /// Whose headers count. Default `trusted`: a `header` rule holds only for peers the server trusts, so
        /// that nobody on the internet names their own class.
        from: FromV1 = ANY, default(FromV1::Trusted);
    }
}

words! {
    /// Whose word a header rule takes.
    pub enum FromV1 {
        /// `trusted`: peers listed as trusted by the server's operator.
        Trusted = "trusted",
        /// `anyone`.
        Anyone = "anyone",
    }
}

record! {
    /// One stage: a queue in front of workers.
    pub struct StageV1 as "stage" {
        /// Name, 1 to 40 characters, unlike every other stage.
        name: String = NAME, required;
        /// Requests in work at once, 1 to 100,000.
        workers: u32 = whole(1, MAX_WORKERS), required;
        /// Workers reserved for each class, in class order; their sum is `workers`. Default (empty): one
        /// pool shared by all.
        split: Vec<u32> = list_of(0, 16, &SHARE), default(Vec::new());
        /// Who is served next: `strict_priority`, the oldest of the most urgent level, or `fifo`, the oldest of
        /// all. Default `strict_priority`.
        order: OrderV1 = ANY, default(OrderV1::StrictPriority);
        /// Who may wait.
        queue: QueueV1 = ANY, default(QueueV1::TailDrop { limit: 1_000, per: PerV1::Level });
        /// What a worker does.
        work: WorkV1 = ANY, required;
    }
}

words! {
    /// Who of those waiting is served next.
    pub enum OrderV1 {
        /// `strict_priority`: the oldest of the most urgent level.
        StrictPriority = "strict_priority",
        /// `fifo`: the oldest of all.
        Fifo = "fifo",
    }
}

choice! {
    /// Who may join the queue (`policy`).
    pub enum QueueV1 as "queue" by "policy" {
        /// `tail_drop`: up to a limit; later arrivals are turned away. The default, with limit 1,000 per level.
        TailDrop = "tail_drop" {
            /// Requests waiting, 0 to 1,000,000.
            limit: u32 = whole(0, 1_000_000), default(1_000);
            /// What the limit counts: `level`, each priority level by itself, so that the low cannot shut the
            /// door on the high, or `stage`, all levels together. Default `level`.
            per: PerV1 = ANY, default(PerV1::Level);
        },
    }
}

words! {
    /// What a queue limit counts.
    pub enum PerV1 {
        /// `level`: each priority level by itself, so that the low cannot shut the door on the high.
        Level = "level",
        /// `stage`: all levels together.
        Stage = "stage",
    }
}

choice! {
    /// What a worker of a stage does with a request (`at`).
    pub enum WorkV1 as "work" by "at" {
        /// `stage`: works on it itself.
        Stage = "stage" {
            /// Time it takes, whatever the class.
            service: LawV1 = ANY, required;
        },
        /// `servers`: hands it to the balancer and waits for the server's answer. One stage at most.
        Servers = "servers",
    }
}

choice! {
    /// How a server is picked (`policy`).
    pub enum BalancerV1 as "balancer" by "policy" {
        /// `round_robin`: each in turn.
        RoundRobin = "round_robin",
        /// `least_connections`: fewest requests in flight; ties go round. The default.
        LeastConnections = "least_connections",
    }
}

record! {
    /// One machine behind the balancer.
    pub struct ServerV1 as "server" {
        /// Name, 1 to 40 characters, unlike every other server.
        name: String = NAME, required;
        /// Requests it works on at once, 1 to 100,000; more wait inside it, first come first served. Default 1.
        slots: u32 = whole(1, MAX_WORKERS), default(1);
        /// Speed: a service time is divided by it. 0.001 to 1,000. Default 1.
        speed: f64 = from_to(0.001, 1000.0), default(1.0);
        /// The gateway sends at most so many at once. Default: no limit beyond the workers.
        max_in_flight: Option<u32> = whole(1, MAX_WORKERS), optional;
    }
}

/// Something that happens at a moment of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct EventV1 {
    /// When.
    pub at_us: u64,
    /// What (`do` and its fields, on the same level of the JSON object).
    pub action: ActionV1,
}

/// Rule of [`EventV1::at_us`].
const AT: Rule = whole(0, MAX_US);

/// By hand, as no other type has its fields on the level of another's.
impl Fields for EventV1 {
    const NAME: &'static str = "event";
    const DOC: &'static str = "Something that happens at a moment of the run.";

    fn read_fields(from: &mut Object<'_>, reader: &mut Reader) -> Self {
        Self { at_us: from.field("at_us", None, &AT, reader), action: ActionV1::read_fields(from, reader) }
    }

    fn empty() -> Self {
        Self { at_us: 0, action: ActionV1::empty() }
    }

    fn write_fields(&self, to: &mut Writer<'_>) {
        to.field("at_us", &self.at_us, None);
        self.action.write_fields(to);
    }

    fn check_fields(&self, path: &Path<'_>, errors: &mut Vec<ScenarioError>) {
        self.at_us.check(&AT, &Path::Key(path, "at_us"), errors);
        self.action.check_fields(path, errors);
    }

    fn shapes(defs: &mut Defs) -> Vec<Shape> {
        let actions = ActionV1::shapes(defs);
        actions.into_iter().map(|shape| shape.field::<u64>("at_us", "When.", None, &AT, defs)).collect()
    }
}

choice! {
    /// What happens (`do`).
    pub enum ActionV1 as "action" by "do" {
        /// `load`: arrivals (or the number of closed clients) become `factor` times the class's own load.
        Load = "load" {
            /// Class name. Default: every class.
            class: Option<String> = NAME, optional;
            /// 0 to 1,000. Not cumulative: 1 restores the load as written.
            factor: f64 = from_to(0.0, 1000.0), required;
        },
        /// `server_down`: what it has in flight fails, and it takes nothing more.
        ServerDown = "server_down" {
            /// Server name.
            server: String = NAME, required;
        },
        /// `server_up`: it takes requests again.
        ServerUp = "server_up" {
            /// Server name.
            server: String = NAME, required;
        },
        /// `server_speed`: it works `speed` times as fast as a server of speed 1, for work begun from now on.
        ServerSpeed = "server_speed" {
            /// Server name.
            server: String = NAME, required;
            /// 0.001 to 1,000.
            speed: f64 = from_to(0.001, 1000.0), required;
        },
    }
}

/// The defaults: seed 1, 60 s, steady.
impl Default for RunV1 {
    fn default() -> Self {
        Self::empty()
    }
}
