//! Wire form of a scenario, version 1: the body of a share link and of a scenario file.
//!
//! Frozen: links made with it must open for ever. A new field needs a default that keeps old links
//! meaning what they meant; a changed default needs version 2 and a migration.
//! Durations are whole microseconds (`_us`), rates are per second, enums are short stable strings.
//!
//! This is the one place where a field's name, sentence, limits and default are written. Reader, canonical
//! writer, limit checks and JSON Schema are derived from it by the macros of [`wire`](super::wire).
//! Rules that involve more than one field are in [`check`](super::check).

use super::wire::{
    ANY, Defs, Described, Field, Fields, Kind, Part, Place, Rule, Shape, Wire, Word, above, choice, from_to,
    key, line, list, list_of, no_field, prose, record, required, usual, whole, words,
};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use serde_json::{Map, Value};

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
const SHARE: Rule = whole(1, MAX_WORKERS);
/// Largest size: 1 TiB.
const MAX_BYTES: u64 = 1 << 40;
/// Rule of a size in bytes.
const BYTES: Rule = whole(1, MAX_BYTES);
/// Rule of one size limit.
const LIMIT: Rule = BYTES;
/// Rule of one time before promotion.
const AFTER: Rule = whole(1, MAX_US);
/// Most that may wait under any queue control.
const MAX_WAITING: u64 = 1_000_000;
/// Rule of an averaged queue length.
const LENGTH: Rule = from_to(0.0, MAX_WAITING as f64);
/// Rule of the time between two splits.
const PERIOD: Rule = whole(10_000, MAX_US);
/// Rule of a controller's gain.
const GAIN: Rule = from_to(0.0, 10.0);
/// Rule of a probability that may not be 0.
const CHANCE: Rule = above(0.0, 1.0);

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
        /// How a request's priority level is made. Default: the class's priority and nothing else.
        priority: PriorityV1 = ANY, default(PriorityV1::empty());
        /// What a request passes on its way; 1 to 16.
        stages: Vec<StageV1> = list(1, 16), required;
        /// How the serving stage picks a server.
        balancer: BalancerV1 = ANY, default(BalancerV1::LeastConnections);
        /// What is made of load reports, failures and silence of servers. Default: reports only for a balancer that
        /// goes by them, and nobody ejected.
        feedback: Option<FeedbackV1> = ANY, optional;
        /// Gateways like this one in front of the same servers, 1 to 16. Each knows what it sent itself; a request
        /// comes to any of them. Default 1.
        gateways: u8 = whole(1, 16), default(1);
        /// Machines behind the balancer; 0 to 64, and none if no stage works at servers.
        servers: Vec<ServerV1> = list(0, 64), default(Vec::new());
        /// What happens during the run; at most 256.
        events: Vec<EventV1> = list(0, 256), default(Vec::new());
        /// What is changed in the scenario while it runs, by time; at most 64.
        edits: Vec<EditV1> = list(0, 64), default(Vec::new());
    }
}

record! {
    /// A change to the scenario at a moment of the run. What waits and what is in work stays; everything after goes by the
    /// new values.
    pub struct EditV1 as "edit" {
        /// When. Not before the edit before, and within the run.
        at_us: u64 = AT, required;
        /// New values, by path.
        set: SetV1 = whole(1, MAX_PATHS), required;
    }
}

/// New values by path: `{"stages[1].workers": 24}`. A path is written as in errors about scenarios; `null` takes a field
/// away, so that it has its default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SetV1(pub Map<String, Value>);

/// Most paths in one edit.
const MAX_PATHS: u64 = 64;

/// By hand, as its keys are no names of fields. What its values are worth shows when they are put in place.
impl Wire for SetV1 {
    fn stand_in() -> Self {
        Self::default()
    }

    fn part(&self) -> Part<'_> {
        Part::Paths(&self.0)
    }

    fn place(&mut self) -> Place<'_> {
        Place::Paths(&mut self.0)
    }

    fn schema(_: &Rule, _: &mut Defs) -> Value {
        serde_json::json!({ "type": "object", "minProperties": 1, "maxProperties": MAX_PATHS })
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
    /// Dynamic priority (paper S, 1.2): level = class priority + stages passed + correction for size.
    pub struct PriorityV1 as "priority" {
        /// Priority levels, 1 to 16. Default: as many as the sum can reach.
        levels: Option<u8> = whole(1, 16), optional;
        /// Sizes in bytes, growing. A request smaller than all of them is raised by as many levels as there are
        /// sizes when it asks to join a queue, one smaller than all but the first by one less, and so on. Default: none.
        size_limits: Vec<u64> = list_of(0, 15, &LIMIT), default(Vec::new());
        /// Raise a request by one level for each stage it has passed. Default false: in a line of stages it
        /// changes nothing but the number of levels.
        per_stage: bool = ANY, default(false);
        /// Let the correction for size count for the place in the queue too, not only for joining it. Default false.
        size_in_queue: bool = ANY, default(false);
        /// Allow fewer `levels` than the sum can reach: what is above the top waits in the top. Default false.
        clamp: bool = ANY, default(false);
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
        /// Size of what a request asks for, in bytes. Default: not known.
        size: Option<SizeV1> = ANY, optional;
        /// Share of the work while others wait too, relative to the other classes; above 0. Default 1. Read by
        /// the order `weighted_fair`.
        share: f64 = above(0.0, 1000.0), default(1.0);
        /// What a client does when it is turned away or its deadline passes. Default: nothing.
        retry: Option<RetryV1> = ANY, optional;
        /// What kind of work it is to a server: `short` requests or long `session`s. Default `short`.
        kind: KindV1 = ANY, default(KindV1::Short);
        /// What one request takes of its server while it is there, in the units of the server's capacities. Default: nothing
        /// but its work.
        demand: DemandV1 = ANY, default(DemandV1::empty());
        /// Time to the first answer of a session at an idle server; it grows as the server fills. Default 50 ms.
        answer_us: u64 = whole(1, MAX_US), default(50_000);
        /// Clients the requests come from, for balancers that go by them. Default 1,000.
        sources: u32 = whole(1, 1_000_000), default(1_000);
        /// Things that are asked for, for balancers that go by them. Default 100.
        targets: u32 = whole(1, 1_000_000), default(100);
        /// Which real requests belong to the class (any rule suffices); at most 32. A class without rules
        /// takes what no other class matches.
        rules: Vec<RuleV1> = list(0, 32), default(Vec::new());
    }
}

choice! {
    /// Law of a size in bytes (`law`).
    pub enum SizeV1 as "size" by "law" {
        /// `constant`.
        Constant = "constant" {
            /// The value.
            bytes: u64 = BYTES, required;
        },
        /// `uniform` between two ends.
        Uniform = "uniform" {
            /// Smallest.
            min_bytes: u64 = BYTES, required;
            /// Largest, at least the smallest.
            max_bytes: u64 = BYTES, required;
        },
        /// `lognormal`; coefficient of variation 0 to 20.
        Lognormal = "lognormal" {
            /// Mean (not the median).
            mean_bytes: u64 = BYTES, required;
            /// Standard deviation over mean.
            cv: f64 = from_to(0.0, 20.0), required;
        },
        /// `pareto`, bounded: density falls as x^-(alpha+1) between the smallest value and `ratio` times it.
        Pareto = "pareto" {
            /// Mean of the bounded law.
            mean_bytes: u64 = BYTES, required;
            /// Tail index, 0.5 to 10.
            alpha: f64 = from_to(0.5, 10.0), required;
            /// Largest over smallest value, above 1, at most 1e9. Default 1e4.
            ratio: f64 = above(1.0, 1e9), default(1e4);
        },
    }
}

record! {
    /// A client that is turned away, or has no answer by its deadline, asks again: the same request, as a new arrival.
    pub struct RetryV1 as "retry" {
        /// Times it asks again, at most.
        times: u32 = whole(1, 100), default(3);
        /// Time it waits before each. Default: exponential with mean 1 s.
        after: LawV1 = ANY, default(LawV1::Exponential { mean_us: 1_000_000 });
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
        /// Workers reserved for each class, at least one each, in class order; their sum is `workers`. Default (empty): one
        /// pool shared by all.
        split: Vec<u32> = list_of(0, 16, &SHARE), default(Vec::new());
        /// How a split follows the delays of the classes, so that they keep to their `delay_weight`s. The stage begins
        /// with `split`, or with equal parts. Default: it does not.
        split_by: SplitByV1 = ANY, default(SplitByV1::Fixed);
        /// Carry what rounding to whole workers leaves over to the next split, so that a small pool keeps the shares on
        /// average. Default false.
        dither: bool = ANY, default(false);
        /// Lend an idle worker of a split to another class once its own class has had no arrival for so long. Default:
        /// never, as lending costs accuracy.
        lend_after_us: Option<u64> = whole(0, MAX_US), optional;
        /// Who is served next: `strict_priority`, the oldest of the most urgent level, `fifo`, the oldest of
        /// all, or another. Default `strict_priority`.
        order: OrderV1 = ANY, default(OrderV1::StrictPriority);
        /// Who may wait.
        queue: QueueV1 = ANY, default(QueueV1::TailDrop { limit: 1_000, per: PerV1::Level });
        /// What becomes of a request whose deadline passes while it waits. Default `shed`.
        expired: ExpiredV1 = ANY, default(ExpiredV1::Shed);
        /// How those who wait long get ahead. Default: they do not.
        ageing: AgeingV1 = ANY, default(AgeingV1::None);
        /// How the number of workers is controlled. Default: it stays as it is.
        pool: PoolV1 = ANY, default(PoolV1::Fixed);
        /// How many requests a worker takes at once. Default: one.
        batch: BatchV1 = ANY, default(BatchV1::One);
        /// Start no more requests a second than this, spaced evenly (SEDA's read-rate throttle). Default: no limit.
        starts_per_s: Option<f64> = above(0.0, MAX_RATE), optional;
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
        /// `weighted_fair`: deficit round robin among classes, by `share` of the work (Shreedhar and Varghese 1996).
        WeightedFair = "weighted_fair",
        /// `wtp`, waiting-time priority: the class whose head has the largest wait over `delay_weight`.
        Wtp = "wtp",
        /// `pad`, proportional average delay: the class whose average delay over `delay_weight` is largest.
        Pad = "pad",
        /// `hpd`, hybrid proportional delay: seven parts of `wtp` to one of `pad`.
        Hpd = "hpd",
        /// `earliest_deadline`: the head whose deadline comes first; without a deadline last.
        EarliestDeadline = "earliest_deadline",
        /// `adaptive_lifo`: the oldest, or the newest once the queue has not been empty for 100 ms.
        AdaptiveLifo = "adaptive_lifo",
    }
}

words! {
    /// What becomes of a request whose deadline passes while it waits.
    pub enum ExpiredV1 {
        /// `shed`: it is turned away then.
        Shed = "shed",
        /// `serve`: it keeps its place and is served too late, as by a server that knows no deadlines.
        Serve = "serve",
    }
}

choice! {
    /// How those who wait long get ahead (`rule`).
    pub enum AgeingV1 as "ageing" by "rule" {
        /// `none`: they do not.
        None = "none",
        /// `promote`: after so long in one level, to the tail of the next (paper S, 1.4, as published).
        Promote = "promote" {
            /// Time in each level, the lowest first; one entry stands for all. Default 2 s.
            after_us: Vec<u64> = list_of(1, 16, &AFTER), default(alloc::vec![2_000_000]);
        },
        /// `share`: who has waited longer than `after_us` for each level above its own gets a share of the work,
        /// however much urgent work there is. Its wait is bounded.
        Share = "share" {
            /// Time allowed for each level above. Default 2 s.
            after_us: u64 = AFTER, default(2_000_000);
            /// Part of the work that goes to those overdue, above 0 and at most 0.9. Default 0.2.
            share: f64 = above(0.0, 0.9), default(0.2);
        },
    }
}

choice! {
    /// How the split of a stage's workers follows the delays of the classes (`policy`).
    pub enum SplitByV1 as "split_by" by "policy" {
        /// `fixed`: it does not; with a `split` each class keeps its quota, without one all share one pool.
        Fixed = "fixed",
        /// `stc_lead`: self-tuning control led by the backlog, in logarithms. What Tidegate recommends.
        StcLead = "stc_lead" {
            /// Time between splits. Default 0.25 s.
            period_us: u64 = PERIOD, default(250_000);
            /// Size of the gain that is assumed before anything is known: by how much, in logarithms, a delay falls
            /// for each unit its class's workers grow. Default 1.
            prior: f64 = from_to(0.05, 20.0), default(1.0);
            /// Learn the gain and use it where it predicts better than `prior`. Default true.
            tune: bool = ANY, default(true);
        },
        /// `stc_served`: self-tuning control on the delays of those who were served, in logarithms.
        StcServed = "stc_served" {
            /// Time between splits. Default 1 s.
            period_us: u64 = PERIOD, default(1_000_000);
            /// Learn the model and use it where it predicts better than the one it begins with. Default true.
            tune: bool = ANY, default(true);
        },
        /// `stc_paper`: decentralised self-tuning PID on shares of the delay, as published (paper P, 0.4 to 0.7).
        StcPaper = "stc_paper" {
            /// Time between splits. Default 10 s.
            period_us: u64 = PERIOD, default(10_000_000);
            /// Windows with the first split, before anything is learned. Default 6.
            warm_up: u32 = whole(0, 1_000), default(6);
            /// How the controller is found from the model. Default `pole_placement`.
            design: DesignV1 = ANY, default(DesignV1::PolePlacement);
            /// Pole of the closed loop, 0 to 0.95. Default 0.6.
            pole: f64 = from_to(0.0, 0.95), default(0.6);
            /// Forgetting factor of the identification. Default 0.98.
            forgetting: f64 = from_to(0.8, 1.0), default(0.98);
            /// Past outputs in the model. Default 2.
            a_terms: u32 = whole(1, 3), default(2);
            /// Past inputs in the model. Default 1.
            b_terms: u32 = whole(1, 3), default(1);
            /// Windows from an input to its first effect. Default 1.
            lag: u32 = whole(1, 3), default(1);
        },
        /// `pid`: a PID controller with fixed gains on shares of the delay.
        Pid = "pid" {
            /// Time between splits. Default 5 s.
            period_us: u64 = PERIOD, default(5_000_000);
            /// Proportional gain. Default 0.2.
            kp: f64 = GAIN, default(0.2);
            /// Integral gain. Default 0.2.
            ki: f64 = GAIN, default(0.2);
            /// Derivative gain. Default 0.
            kd: f64 = GAIN, default(0.0);
        },
        /// `pairwise_pi`: a PI controller on the ratio of each class's delay to the next one's (Lu et al. 2001).
        PairwisePi = "pairwise_pi" {
            /// Time between splits. Default 30 s.
            period_us: u64 = PERIOD, default(30_000_000);
            /// Gain. Default 0.3.
            gain: f64 = GAIN, default(0.3);
            /// Zero of the controller. Default 0.05.
            zero: f64 = from_to(0.0, 0.999), default(0.05);
        },
        /// `pairwise_stc`: self-tuning control of each ratio of neighbours by itself, one after the other.
        PairwiseStc = "pairwise_stc" {
            /// Time between splits. Default 5 s.
            period_us: u64 = PERIOD, default(5_000_000);
            /// Pole of the closed loop, twice. Default 0.5.
            pole: f64 = from_to(0.0, 0.95), default(0.5);
            /// Forgetting factor of the identification. Default 0.98.
            forgetting: f64 = from_to(0.8, 1.0), default(0.98);
        },
        /// `feed_forward`: from a queueing model of clients who think, corrected by the delays of those served.
        FeedForward = "feed_forward" {
            /// Time between splits. Default 1 s.
            period_us: u64 = PERIOD, default(1_000_000);
            /// Time a client is thought to let pass between an answer and its next request. Default 0.
            think_us: u64 = whole(0, MAX_US), default(0);
            /// Gain of the correction; 0 for none. Default 0.02.
            trim: f64 = from_to(0.0, 1.0), default(0.02);
        },
    }
}

words! {
    /// How a controller is found from a model.
    pub enum DesignV1 {
        /// `pole_placement`: by where the poles of the closed loop are to be.
        PolePlacement = "pole_placement",
        /// `minimum_variance`: by the least variance of the next output.
        MinimumVariance = "minimum_variance",
    }
}

choice! {
    /// How the number of workers of a stage is controlled (`control`). The stage begins with `workers`.
    pub enum PoolV1 as "pool" by "control" {
        /// `fixed`: it is not.
        Fixed = "fixed",
        /// `threads`: one more while the queue is long, one less after it was idle (SEDA's thread-pool controller).
        Threads = "threads" {
            /// Fewest. Default 1.
            min: u32 = whole(1, MAX_WORKERS), default(1);
            /// Most. Default 20.
            max: u32 = whole(1, MAX_WORKERS), default(20);
            /// Time between looks at the queue. Default 2 s.
            period_us: u64 = whole(1_000, MAX_US), default(2_000_000);
            /// A queue longer than this gets a worker more. Default 100.
            threshold: u32 = whole(0, MAX_WAITING), default(100);
            /// A worker idle for so long goes. Default 5 s.
            idle_us: u64 = whole(1_000, MAX_US), default(5_000_000);
        },
        /// `aimd`: up by one while answers come in time and the limit is used, down by a tenth when they do not.
        Aimd = "aimd" {
            /// Fewest. Default 1.
            min: u32 = whole(1, MAX_WORKERS), default(1);
            /// Most. Default 1,000.
            max: u32 = whole(1, MAX_WORKERS), default(1_000);
            /// Time in work that is too long.
            target_us: u64 = whole(1, MAX_US), required;
            /// Time between changes. Default 0.1 s.
            period_us: u64 = whole(1_000, MAX_US), default(100_000);
        },
        /// `gradient`: follows the ratio of the least to the present time in work.
        Gradient = "gradient" {
            /// Fewest. Default 1.
            min: u32 = whole(1, MAX_WORKERS), default(1);
            /// Most. Default 1,000.
            max: u32 = whole(1, MAX_WORKERS), default(1_000);
            /// Time in work, over the least seen, that is still no sign of a queue. Default 1.5.
            tolerance: f64 = from_to(1.0, 10.0), default(1.5);
            /// Time between changes. Default 0.1 s.
            period_us: u64 = whole(1_000, MAX_US), default(100_000);
        },
    }
}

choice! {
    /// How many requests a worker takes at once (`control`).
    pub enum BatchV1 as "batch" by "control" {
        /// `one`: one.
        One = "one",
        /// `fixed`: up to so many, if they wait.
        Fixed = "fixed" {
            /// 2 to 1,000.
            size: u32 = whole(2, 1_000), required;
        },
        /// `adaptive`: the smallest that keeps the throughput (SEDA's batching controller).
        Adaptive = "adaptive" {
            /// Smallest. Default 2.
            min: u32 = whole(1, 1_000), default(2);
            /// Largest, at least `min`. Default 1,000.
            max: u32 = whole(2, 1_000), default(1_000);
            /// Time between looks at the throughput. Default 1 s.
            period_us: u64 = whole(1_000, MAX_US), default(1_000_000);
        },
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
        /// `length_threshold`: while no more than `threshold` wait in all, whoever could start at once included
        /// (SEDA's stock control).
        LengthThreshold = "length_threshold" {
            /// Requests waiting. Default 1,000,000, which stands for no limit.
            threshold: u32 = whole(0, MAX_WAITING), default(1_000_000);
        },
        /// `enqueue_rate`: a token bucket in front of the queue (SEDA's rate limit).
        EnqueueRate = "enqueue_rate" {
            /// Tokens a second.
            rate_per_s: f64 = above(0.0, MAX_RATE), required;
            /// Tokens it holds at most. Default 10.
            depth: f64 = from_to(1.0, MAX_RATE), default(10.0);
            /// Requests waiting in all, at most. Default 10,000.
            limit: u32 = whole(0, MAX_WAITING), default(10_000);
        },
        /// `red`: random early drop by the average length of the whole queue (Floyd and Jacobson 1993).
        Red = "red" {
            /// Average below which nobody is turned away. Default 200.
            min: f64 = LENGTH, default(200.0);
            /// Average from which everybody is; above `min`. Default 280.
            max: f64 = LENGTH, default(280.0);
            /// Probability just below `max`. Default 0.2.
            max_p: f64 = CHANCE, default(0.2);
            /// Weight of the newest length in the average. Default 0.02.
            weight: f64 = CHANCE, default(0.02);
            /// From `max` to twice `max` the probability rises to 1 instead of jumping there. Default false.
            gentle: bool = ANY, default(false);
            /// How drops are spread over arrivals. Default `uniform`.
            spacing: SpacingV1 = ANY, default(SpacingV1::Uniform);
            /// How `max_p` follows the load. Default: it does not.
            adapt: AdaptV1 = ANY, default(AdaptV1::None);
            /// Requests waiting in all, at most. Default: 4 times `max`.
            limit: Option<u32> = whole(1, MAX_WAITING), optional;
        },
        /// `priority_red`: RED by the average number waiting at a level and above it (paper S, 1.3).
        PriorityRed = "priority_red" {
            /// Average below which nobody is turned away. Default 200.
            min: f64 = LENGTH, default(200.0);
            /// Average from which everybody is; above `min`. Default 280.
            max: f64 = LENGTH, default(280.0);
            /// Probability just below `max`. Default 0.2.
            max_p: f64 = CHANCE, default(0.2);
            /// Weight of the newest length in the average. Default 0.02.
            weight: f64 = CHANCE, default(0.02);
            /// From `max` to twice `max` the probability rises to 1 instead of jumping there. Default false.
            gentle: bool = ANY, default(false);
            /// How drops are spread over arrivals. Default `bernoulli`.
            spacing: SpacingV1 = ANY, default(SpacingV1::Bernoulli);
            /// How `max_p` follows the load. Default `counters`.
            adapt: AdaptV1 = ANY, default(AdaptV1::Counters { factor: 2.0, repeat: 5 });
            /// What has a `max_p` of its own: the `stage` or each `level`. Default `stage`.
            adapt_per: PerV1 = ANY, default(PerV1::Stage);
            /// Which averages an arrival moves: `stage`, those of all levels, or `level`, its own only, which
            /// breaks their order. Default `stage`.
            update_per: PerV1 = ANY, default(PerV1::Stage);
            /// Move the averages also when a request leaves the queue. Default true.
            on_departure: bool = ANY, default(true);
            /// Requests waiting in all, at most. Default: 4 times `max`.
            limit: Option<u32> = whole(1, MAX_WAITING), optional;
        },
        /// `pdt_red`: priority RED whose thresholds rise with the level and with the free room (PDT-RED).
        PdtRed = "pdt_red" {
            /// Threshold `min` of level 0 in a full queue. Default 50.
            min: f64 = LENGTH, default(50.0);
            /// Threshold `max` of level 0 in a full queue; above `min`. Default 100.
            max: f64 = LENGTH, default(100.0);
            /// Probability just below `max`. Default 0.2.
            max_p: f64 = CHANCE, default(0.2);
            /// Weight of the newest length in the average. Default 0.02.
            weight: f64 = CHANCE, default(0.02);
            /// What a level adds to both thresholds, in requests for each free place and level. Default 0.1.
            gain: f64 = from_to(0.0, 10.0), default(0.1);
            /// Requests waiting in all, at most. Default 1,000.
            limit: u32 = whole(1, MAX_WAITING), default(1_000);
        },
        /// `wred`: a RED curve for each level on one or on coupled averages (RIO, WRED).
        Wred = "wred" {
            /// Curves, that of the lowest level first; the last stands for all above it.
            curves: Vec<CurveV1> = list(1, 16), required;
            /// Weight of the newest length in the average. Default 0.02.
            weight: f64 = CHANCE, default(0.02);
            /// What a level's average counts. Default `above`, as RIO does.
            average: CountV1 = ANY, default(CountV1::Above);
            /// Requests waiting in all, at most. Default 1,000.
            limit: u32 = whole(1, MAX_WAITING), default(1_000);
        },
        /// `codel`: turns away the head of the queue while waits stay above a target (RFC 8289).
        Codel = "codel" {
            /// Wait that is acceptable. Default 5 ms.
            target_us: u64 = whole(1, MAX_US), default(5_000);
            /// How long it may be exceeded. Default 100 ms.
            interval_us: u64 = whole(1, MAX_US), default(100_000);
            /// Requests waiting in all, at most. Default 1,000.
            limit: u32 = whole(1, MAX_WAITING), default(1_000);
        },
        /// `pie`: a probability steered by the estimated wait and its trend (RFC 8033).
        Pie = "pie" {
            /// Wait that is wanted. Default 15 ms.
            target_us: u64 = whole(1, MAX_US), default(15_000);
            /// Time between updates. Default 15 ms.
            update_us: u64 = whole(1_000, MAX_US), default(15_000);
            /// Burst that passes untouched. Default 150 ms.
            burst_us: u64 = whole(0, MAX_US), default(150_000);
            /// Requests waiting in all, at most. Default 1,000.
            limit: u32 = whole(1, MAX_WAITING), default(1_000);
        },
        /// `work_red`: priority RED on seconds of work, asked at the entry of the gateway for every stage that
        /// has it; later stages take what was let in. What Tidegate recommends in place of `priority_red`.
        WorkRed = "work_red" {
            /// Work waiting, on average, below which nobody is turned away. Default 1 s.
            min_us: u64 = whole(0, MAX_US), default(1_000_000);
            /// Work from which everybody is; above `min_us`. Default 2 s.
            max_us: u64 = whole(1, MAX_US), default(2_000_000);
            /// Probability just below `max_us`. Default 0.2.
            max_p: f64 = CHANCE, default(0.2);
            /// Time constant of the average. Default 0.25 s.
            tau_us: u64 = whole(1, MAX_US), default(250_000);
            /// Everybody is turned away while the present work is this many times `max_us`. Default 1.5.
            hard: f64 = from_to(1.0, 100.0), default(1.5);
            /// How `max_p` follows the load, each level by itself. Default: it does not.
            adapt: AdaptV1 = ANY, default(AdaptV1::None);
            /// Requests waiting in all, at most. Default 10,000.
            limit: u32 = whole(1, MAX_WAITING), default(10_000);
        },
        /// `adaptive_rate`: a token bucket whose rate follows the response time (SEDA's overload controllers).
        AdaptiveRate = "adaptive_rate" {
            /// How the rate is found. Default `direct`.
            rule: RateRuleV1 = ANY, default(RateRuleV1::Direct);
            /// Response time that is wanted, at the 90th percentile.
            target_us: u64 = whole(1, MAX_US), required;
            /// Requests waiting in all, at most. Default 10,000.
            limit: u32 = whole(1, MAX_WAITING), default(10_000);
        },
        /// `admission_window`: in each period a class is let in for a while and then not; how long follows its delay.
        AdmissionWindow = "admission_window" {
            /// Delay that is wanted for a class of `delay_weight` 1; others in proportion.
            target_us: u64 = whole(1, MAX_US), required;
            /// Length of a period. Default 1 s.
            period_us: u64 = PERIOD, default(1_000_000);
            /// Part of the relative error by which the time changes. Default 0.2.
            gain: f64 = from_to(0.001, 1.0), default(0.2);
            /// Requests waiting in all, at most. Default 10,000.
            limit: u32 = whole(1, MAX_WAITING), default(10_000);
        },
    }
}

record! {
    /// One RED curve.
    pub struct CurveV1 as "curve" {
        /// Average below which nobody is turned away.
        min: f64 = LENGTH, required;
        /// Average from which everybody is; above `min`.
        max: f64 = LENGTH, required;
        /// Probability just below `max`. Default 0.2.
        max_p: f64 = CHANCE, default(0.2);
    }
}

words! {
    /// What a level's average counts.
    pub enum CountV1 {
        /// `all`: everybody who waits (WRED).
        All = "all",
        /// `above`: who waits at the level and above it (RIO, coupled).
        Above = "above",
        /// `level`: who waits at the level.
        Level = "level",
    }
}

words! {
    /// How drops are spread over arrivals.
    pub enum SpacingV1 {
        /// `bernoulli`: an independent coin for each.
        Bernoulli = "bernoulli",
        /// `uniform`: evenly, by counting arrivals since the last (Floyd and Jacobson 1993, method 2).
        Uniform = "uniform",
        /// `wait`: evenly, and none soon after the last.
        Wait = "wait",
    }
}

choice! {
    /// How `max_p` follows the load (`rule`).
    pub enum AdaptV1 as "adapt" by "rule" {
        /// `none`: it does not.
        None = "none",
        /// `counters`: up after so many arrivals above `max`, down after so many below `min` (paper S, 1.3).
        Counters = "counters" {
            /// Factor of each change, above 1. Default 2.
            factor: f64 = above(1.0, 100.0), default(2.0);
            /// Arrivals that make a change. Default 5.
            repeat: u32 = whole(1, 1_000_000), default(5);
        },
        /// `feng`: doubled when the average passes `max`, a third when it falls below `min` (Feng et al. 1999).
        Feng = "feng",
        /// `floyd`: every 0.5 s a small step towards the middle of the band (Adaptive RED, Floyd et al. 2001).
        Floyd = "floyd",
    }
}

words! {
    /// How `adaptive_rate` finds its rate.
    pub enum RateRuleV1 {
        /// `direct`: up by a constant, down by half (AIMD on the 90th percentile).
        Direct = "direct",
        /// `multiclass`: a rate for each class; the lower give way first.
        Multiclass = "multiclass",
        /// `pid`: a PID controller on the relative error.
        Pid = "pid",
        /// `mm1`: from the service rate, as if the stage were an M/M/1 queue.
        Mm1 = "mm1",
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
            /// Time that a worker needs besides for each batch it takes. Default 0.
            batch_us: u64 = whole(0, MAX_US), default(0);
        },
        /// `link`: sends `size` bytes over a link that its workers share equally.
        Link = "link" {
            /// What the link carries.
            bytes_per_s: f64 = above(0.0, 1e12), required;
        },
        /// `servers`: hands it to the balancer and waits for the server's answer. One stage at most.
        Servers = "servers",
    }
}

words! {
    /// What kind of work a request is to a server.
    pub enum KindV1 {
        /// `short`: it is worked on and answered.
        Short = "short",
        /// `session`: it stays, takes no slot, and holds its `demand` until it ends.
        Session = "session",
    }
}

record! {
    /// What one request holds of a server's capacities while it is there.
    pub struct DemandV1 as "demand" {
        /// Cores (at speed 1).
        cpu: f64 = AMOUNT, default(0.0);
        /// Memory.
        mem: f64 = AMOUNT, default(0.0);
        /// Bandwidth of the network.
        net: f64 = AMOUNT, default(0.0);
        /// Bandwidth of the disk.
        disk: f64 = AMOUNT, default(0.0);
        /// Places in rooms.
        rooms: f64 = AMOUNT, default(0.0);
    }
}

/// Rule of an amount of some resource.
const AMOUNT: Rule = from_to(0.0, 1e12);
/// Rule of what a server has of it.
const CAPACITY: Rule = above(0.0, 1e12);
/// Rule of a share of something.
const PART: Rule = from_to(0.0, 1.0);
/// Rule of a share that is not nothing.
const LOAD: Rule = above(0.0, 1.0);
/// Rule of a weight a controller may give.
const WEIGHT: Rule = above(0.0, 1e6);

choice! {
    /// How a server is picked (`policy`).
    pub enum BalancerV1 as "balancer" by "policy" {
        /// `round_robin`: each in turn.
        RoundRobin = "round_robin",
        /// `least_connections`: fewest requests in flight; ties go round. The default.
        LeastConnections = "least_connections",
        /// `weighted_round_robin`: each in turn, as often as its weight says, evenly spread.
        WeightedRoundRobin = "weighted_round_robin" {
            /// Where weights come from: the servers' `weight`, or what they report (gRFC A58). Default `configured`.
            weights: WeightsV1 = ANY, default(WeightsV1::Configured);
        },
        /// `weighted_least_connections`: fewest requests in flight for its weight (IPVS's `wlc`).
        WeightedLeastConnections = "weighted_least_connections",
        /// `source_hash`: by who asks, through 256 buckets (IPVS's `sh`).
        SourceHash = "source_hash",
        /// `destination_hash`: by what is asked for, through 256 buckets (IPVS's `dh`).
        DestinationHash = "destination_hash",
        /// `consistent_hash`: as above, but few move when a server comes or goes.
        ConsistentHash = "consistent_hash" {
            /// What is hashed. Default `source`.
            by: HashByV1 = ANY, default(HashByV1::Source);
            /// How servers are found by it. Default `maglev`.
            table: HashTableV1 = ANY, default(HashTableV1::Maglev);
        },
        /// `random`: any, as likely as its weight says.
        Random = "random",
        /// `power_of_two`: the emptier of two that are drawn at random.
        PowerOfTwo = "power_of_two" {
            /// How many are drawn. Default 2.
            choices: u8 = whole(2, 8), default(2);
        },
        /// `join_shortest_queue`: fewest requests there; ties by chance.
        JoinShortestQueue = "join_shortest_queue",
        /// `peak_ewma`: of two drawn at random, the one with the smaller product of latency and requests in flight, where a
        /// latency above the average counts at once.
        PeakEwma = "peak_ewma" {
            /// Time constant of the average. Default 10 s.
            tau_us: u64 = whole(1_000, MAX_US), default(10_000_000);
        },
        /// `least_time`: the smallest product of mean latency and requests in flight, for its weight.
        LeastTime = "least_time" {
            /// Time constant of the average. Default 10 s.
            tau_us: u64 = whole(1_000, MAX_US), default(10_000_000);
        },
        /// `dnf_published`: dynamic negative feedback as published (paper B, 2.1 and 2.2).
        DnfPublished = "dnf_published" {
            /// How much each load counts; they sum to 1.
            coefficients: CoefficientsV1 = ANY, default(CoefficientsV1::empty());
            /// Composite load that leaves a weight as it is. Default 0.8.
            target: f64 = LOAD, default(0.8);
            /// Use the mean of all servers in place of `target`. Default false.
            target_mean: bool = ANY, default(false);
            /// Gain A of the cube root. Default 5.
            gain: f64 = above(0.0, 1000.0), default(5.0);
            /// Where weights begin. Default `equal`.
            initial: InitialV1 = ANY, default(InitialV1::Equal);
            /// Mean weight at the beginning. Default 50.
            base: f64 = WEIGHT, default(50.0);
            /// Smallest weight; below `base`. Default 1.
            min: f64 = WEIGHT, default(1.0);
            /// Largest weight, in initial weights. Default 2.
            max_factor: f64 = above(1.0, 1000.0), default(2.0);
            /// Part of the old load in the average. Default 0: the newest counts alone.
            smoothing: f64 = from_to(0.0, 0.99), default(0.0);
            /// Distance from the target that is taken for none. Default 0.
            dead_band: f64 = PART, default(0.0);
            /// Change of a weight that is too small to be made. Default 0.
            threshold: f64 = from_to(0.0, 1000.0), default(0.0);
            /// Part of a change that is not made. Default 0.
            damping: f64 = from_to(0.0, 0.99), default(0.0);
            /// Groups by weight, of which the heaviest gets everything. Default 3.
            groups: u8 = whole(1, 16), default(3);
            /// How groups are made: of equal `width` in weight, or of equal numbers by `rank`. Default `width`.
            group_by: GroupByV1 = ANY, default(GroupByV1::Width);
            /// Take turns in the group by weight, not alike. Default false.
            weighted: bool = ANY, default(false);
        },
        /// `dnf`: dynamic negative feedback with a weight for each kind of work, around the mean of the servers, and groups by
        /// what is in flight. What Tidegate recommends where servers report their load.
        Dnf = "dnf" {
            /// Gain of the cube root. Default 0.2.
            gain: f64 = above(0.0, 10.0), default(0.2);
            /// Distance from the mean that is taken for none. Default 0.03.
            dead_band: f64 = PART, default(0.03);
            /// Largest change of a weight at a report, as a part of it. Default 0.3.
            step: f64 = from_to(0.001, 1.0), default(0.3);
            /// Part of the old load in the average. Default 0.5.
            smoothing: f64 = from_to(0.0, 0.99), default(0.5);
            /// Smallest weight, in configured weights. Default 0.1.
            min: f64 = LOAD, default(0.1);
            /// Largest weight, in configured weights. Default 8.
            max: f64 = from_to(1.0, 1000.0), default(8.0);
            /// How much more than the least may be in flight, for its weight, in the group that takes turns. Default 0.1.
            group: f64 = PART, default(0.1);
            /// Loads by which short requests are balanced; the largest counts. Default: `cpu` and `disk`, or all five where
            /// there are no sessions.
            short: Vec<ResourceV1> = list(0, 5), default(Vec::new());
            /// Loads by which sessions are balanced; the largest counts. Default: `net`, `rooms` and `mem`, or all five
            /// where there is nothing but sessions.
            session: Vec<ResourceV1> = list(0, 5), default(Vec::new());
        },
    }
}

words! {
    /// Where weights come from.
    pub enum WeightsV1 {
        /// `configured`: the servers' `weight`.
        Configured = "configured",
        /// `reported`: requests a second over utilisation, as servers report them (gRFC A58).
        Reported = "reported",
    }
}

words! {
    /// What is hashed.
    pub enum HashByV1 {
        /// `source`: who asks.
        Source = "source",
        /// `target`: what is asked for.
        Target = "target",
    }
}

words! {
    /// How servers are found by a hash.
    pub enum HashTableV1 {
        /// `ring`: the next of many points on a ring (ketama).
        Ring = "ring",
        /// `maglev`: a table in which each has its part (Eisenbud et al. 2016).
        Maglev = "maglev",
    }
}

words! {
    /// Where the weights of `dnf_published` begin.
    pub enum InitialV1 {
        /// `equal`: all alike.
        Equal = "equal",
        /// `weight`: in proportion to the servers' `weight`.
        Weight = "weight",
        /// `capacity`: in proportion to their capacities, by the coefficients (paper B, formula 3).
        Capacity = "capacity",
    }
}

words! {
    /// How groups of servers are made.
    pub enum GroupByV1 {
        /// `width`: equal parts of the range of weights.
        Width = "width",
        /// `rank`: equal numbers of servers, whatever their weights.
        Rank = "rank",
    }
}

words! {
    /// One of the five loads of a server.
    pub enum ResourceV1 {
        /// `cpu`.
        Cpu = "cpu",
        /// `mem`.
        Mem = "mem",
        /// `net`.
        Net = "net",
        /// `disk`.
        Disk = "disk",
        /// `rooms`.
        Rooms = "rooms",
    }
}

record! {
    /// How much each load counts in the composite load (paper B, formula 2).
    pub struct CoefficientsV1 as "coefficients" {
        /// Of the processors. Default 0.30.
        cpu: f64 = PART, default(0.30);
        /// Of memory. Default 0.15.
        mem: f64 = PART, default(0.15);
        /// Of the network. Default 0.25.
        net: f64 = PART, default(0.25);
        /// Of the disk. Default 0.10.
        disk: f64 = PART, default(0.10);
        /// Of places in rooms. Default 0.20.
        rooms: f64 = PART, default(0.20);
    }
}

record! {
    /// What is made of load reports, failures and silence of servers.
    pub struct FeedbackV1 as "feedback" {
        /// Time between two reports. Default 10 s.
        period_us: u64 = whole(100_000, MAX_US), default(10_000_000);
        /// Silence after which a server that used to report gets nothing more; at least `period_us`. Default 180 s.
        silence_us: u64 = whole(100_000, MAX_US), default(180_000_000);
        /// Loads of which one above `limit` bars a server. Default: all five under `dnf_published`; else `mem`, and `rooms`
        /// where there is nothing but sessions, as a server whose processors or lines are busy can still share them out.
        overload: Vec<ResourceV1> = list(0, 5), default(Vec::new());
        /// A server with such a load above this gets nothing more. Default 0.95.
        limit: f64 = LOAD, default(0.95);
        /// Until all are below this; at most `limit`. Default 0.9.
        clear: f64 = LOAD, default(0.9);
        /// Failures in a row after which a server is left out for a while; 0 for never. Default 0.
        eject_after: u32 = whole(0, 1_000_000), default(0);
        /// For how long, the first time; each further time as much longer. Default 30 s.
        eject_us: u64 = whole(1_000, MAX_US), default(30_000_000);
        /// Part of the servers that may be left out for failures at once. Default 0.5.
        eject_at_most: f64 = PART, default(0.5);
        /// If fewer than this part of the servers were left, all that can be reached are used. Default 0.
        panic_below: f64 = PART, default(0.0);
        /// Time over which a server that comes back gets from a tenth to all of its share. Default 0: at once.
        slow_start_us: u64 = whole(0, MAX_US), default(0);
    }
}

record! {
    /// One machine behind the balancer.
    pub struct ServerV1 as "server" {
        /// Name, 1 to 40 characters, unlike every other server.
        name: String = NAME, required;
        /// Requests it works on at once (or cores, where they share), 1 to 100,000; more wait inside it, first come first
        /// served. Default 1.
        slots: u32 = whole(1, MAX_WORKERS), default(1);
        /// Speed: a service time is divided by it. 0.001 to 1,000. Default 1.
        speed: f64 = from_to(0.001, 1000.0), default(1.0);
        /// The gateway sends at most so many at once. Default: no limit beyond the workers.
        max_in_flight: Option<u32> = whole(1, MAX_WORKERS), optional;
        /// What balancers with weights make of it; 0 for nothing new. Default 1.
        weight: f64 = from_to(0.0, 65_535.0), default(1.0);
        /// How it works on several requests. Default `slots`.
        discipline: DisciplineV1 = ANY, default(DisciplineV1::Slots);
        /// What it has besides processors. Default: nothing that runs short.
        capacity: CapacityV1 = ANY, default(CapacityV1::empty());
    }
}

words! {
    /// How a server works on several requests.
    pub enum DisciplineV1 {
        /// `slots`: so many at once, each at full speed; the others wait.
        Slots = "slots",
        /// `sharing`: all at once; beyond `slots` of them, cores are shared equally.
        Sharing = "sharing",
    }
}

record! {
    /// What a server has besides processors, in any unit that the `demand` of classes is written in.
    pub struct CapacityV1 as "capacity" {
        /// Memory. Default: enough.
        mem: Option<f64> = CAPACITY, optional;
        /// Bandwidth of the network. Default: enough.
        net: Option<f64> = CAPACITY, optional;
        /// Bandwidth of the disk. Default: enough.
        disk: Option<f64> = CAPACITY, optional;
        /// Places in rooms. Default: enough.
        rooms: Option<f64> = CAPACITY, optional;
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

/// Rule of the moment of an event or edit.
const AT: Rule = whole(0, MAX_US);

/// By hand, as no other type has its fields on the level of another's.
impl Fields for EventV1 {
    fn kind(&self) -> &'static Kind {
        const {
            &Kind {
                name: Self::NAME,
                first: &[Field { key: "at_us", rule: &AT, required: true }],
                tag: "do",
                words: ActionV1::WORDS,
                variants: ActionV1::VARIANTS,
            }
        }
    }

    fn variant(&self) -> usize {
        self.action.variant()
    }

    fn reset(&mut self, variant: usize) {
        self.action = ActionV1::of(variant);
    }

    fn usual(&self) -> Box<dyn Fields> {
        Box::new(Self { at_us: 0, action: ActionV1::of(self.variant()) })
    }

    fn field(&self, i: usize) -> &dyn Wire {
        i.checked_sub(1).map_or(&self.at_us, |i| self.action.field(i))
    }

    fn field_mut(&mut self, i: usize) -> &mut dyn Wire {
        match i.checked_sub(1) {
            None => &mut self.at_us,
            Some(i) => self.action.field_mut(i),
        }
    }
}

impl Described for EventV1 {
    const NAME: &'static str = "event";
    const DOC: &'static str = "Something that happens at a moment of the run.";

    fn empty() -> Self {
        Self { at_us: 0, action: ActionV1::empty() }
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
        /// `service`: the work of a request becomes `factor` times the law of its class (or of the stage), for work
        /// begun from now on.
        Service = "service" {
            /// Class name. Default: every class.
            class: Option<String> = NAME, optional;
            /// 0.001 to 1,000. Not cumulative: 1 restores the work as written.
            factor: f64 = from_to(0.001, 1000.0), required;
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
        /// `server_speed`: it works `speed` times as fast as a server of speed 1: on work begun from now on, or, where cores are
        /// shared, on all.
        ServerSpeed = "server_speed" {
            /// Server name.
            server: String = NAME, required;
            /// 0.001 to 1,000.
            speed: f64 = from_to(0.001, 1000.0), required;
        },
        /// `server_flapping`: it goes down and comes back, `times` times, down for half of each period.
        ServerFlapping = "server_flapping" {
            /// Server name.
            server: String = NAME, required;
            /// Time from one failure to the next.
            period_us: u64 = whole(2, MAX_US), required;
            /// How often. Default 10.
            times: u32 = whole(1, 100), default(10);
        },
        /// `neighbour`: others on the same machine take a `share` of its processors; 0 when they are gone.
        Neighbour = "neighbour" {
            /// Server name.
            server: String = NAME, required;
            /// 0 to 0.99.
            share: f64 = from_to(0.0, 0.99), required;
        },
        /// `server_reports`: what becomes of its load reports.
        ServerReports = "server_reports" {
            /// Server name.
            server: String = NAME, required;
            /// How they are from now on.
            state: ReportsV1 = ANY, required;
        },
    }
}

words! {
    /// What becomes of a server's load reports.
    pub enum ReportsV1 {
        /// `normal`: they say how it is.
        Normal = "normal",
        /// `stuck`: they say again and again what the last one said.
        Stuck = "stuck",
        /// `lost`: there are none.
        Lost = "lost",
    }
}

/// Everything that has a default, and no name.
impl Default for ClassV1 {
    fn default() -> Self {
        Self::empty()
    }
}

/// Everything that has a default, and no name.
impl Default for StageV1 {
    fn default() -> Self {
        Self::empty()
    }
}

/// Everything that has a default, and no name.
impl Default for ServerV1 {
    fn default() -> Self {
        Self::empty()
    }
}

/// Reports each 10 s, and nobody ejected.
impl Default for FeedbackV1 {
    fn default() -> Self {
        Self::empty()
    }
}

/// The defaults: seed 1, 60 s, steady.
impl Default for RunV1 {
    fn default() -> Self {
        Self::empty()
    }
}

impl ActionV1 {
    /// The server it is about, if it is about one.
    #[must_use]
    pub const fn server(&self) -> Option<&String> {
        match self {
            Self::Load { .. } | Self::Service { .. } => None,
            Self::ServerDown { server }
            | Self::ServerUp { server }
            | Self::ServerSpeed { server, .. }
            | Self::ServerFlapping { server, .. }
            | Self::Neighbour { server, .. }
            | Self::ServerReports { server, .. } => Some(server),
        }
    }

    /// The same, to be changed.
    pub const fn server_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Load { .. } | Self::Service { .. } => None,
            Self::ServerDown { server }
            | Self::ServerUp { server }
            | Self::ServerSpeed { server, .. }
            | Self::ServerFlapping { server, .. }
            | Self::Neighbour { server, .. }
            | Self::ServerReports { server, .. } => Some(server),
        }
    }
}
