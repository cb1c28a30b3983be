//! Scenarios and links as other programs see them: round trips over many random scenarios, damage, noise, and
//! another implementation of the compression.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use tidegate_core::link::{self, LinkError};
use tidegate_core::scenario::v1::*;
use tidegate_core::scenario::{Scenario, parse, presets};
use tidegate_core::unit::mix;

/// A source of choices; the same seed gives the same scenarios everywhere.
struct Choices(u64);

impl Choices {
    fn bits(&mut self) -> u64 {
        self.0 = mix(self.0);
        self.0
    }

    fn below(&mut self, n: u64) -> u64 {
        self.bits() % n
    }

    fn chance(&mut self) -> bool {
        self.bits() & 1 == 1
    }

    /// A whole number from `lo` to `hi`, the ends and round numbers more often.
    fn whole(&mut self, lo: u64, hi: u64) -> u64 {
        match self.below(6) {
            0 => lo,
            1 => hi,
            2 => (10_u64.pow(self.below(12) as u32)).clamp(lo, hi),
            _ => lo + self.below(hi - lo + 1),
        }
    }

    /// A number from `lo` to `hi`; half of them with few digits, half with all.
    fn number(&mut self, lo: f64, hi: f64) -> f64 {
        let unit = (self.bits() >> 11) as f64 / (1_u64 << 53) as f64;
        match self.below(4) {
            0 => hi,
            1 => ((lo + unit * (hi - lo)) * 8.0).round().clamp(lo * 8.0, hi * 8.0) / 8.0,
            2 => lo + unit * (hi - lo),
            // Small ones: exponents below -6 too.
            _ => lo + (hi - lo) * unit.powi(8),
        }
    }

    fn text(&mut self, most: u64) -> String {
        let alphabet: Vec<char> = "abz AZ09._-/\"\\{}[]:,%&#+üß人流🌊\u{85}".chars().collect();
        (0..self.below(most + 1)).map(|_| alphabet[self.below(alphabet.len() as u64) as usize]).collect()
    }

    fn maybe<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.chance() { Some(make(self)) } else { None }
    }

    /// A list of `lo` to `hi` entries, most of them short.
    fn list<T>(&mut self, lo: u64, hi: u64, mut make: impl FnMut(&mut Self, usize) -> T) -> Vec<T> {
        let most = if self.below(8) == 0 { hi } else { hi.min(lo + (hi - lo) / 6 + 1) };
        (0..lo + self.below(most - lo + 1)).map(|i| make(self, i as usize)).collect()
    }

    fn pick<T: Clone>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize].clone()
    }

    fn law(&mut self) -> LawV1 {
        const MOST: u64 = 604_800_000_000;
        let mean_us = self.whole(1, MOST);
        match self.below(7) {
            0 => LawV1::Constant { mean_us },
            1 => LawV1::Exponential { mean_us },
            2 => LawV1::Uniform { min_us: self.whole(0, mean_us), max_us: mean_us },
            3 => LawV1::Erlang { mean_us, k: self.whole(1, 64) as u32 },
            4 => LawV1::Hyperexponential { mean_us, cv: self.number(1.0, 20.0) },
            5 => LawV1::Lognormal { mean_us, cv: self.number(0.0, 20.0) },
            _ => LawV1::Pareto {
                mean_us,
                alpha: self.number(0.5, 10.0),
                ratio: if self.chance() { 1e4 } else { self.number(1.5, 1e9) },
            },
        }
    }

    fn load(&mut self, class: usize) -> LoadV1 {
        match self.below(5) {
            0 => LoadV1::Poisson { rate_per_s: self.number(0.0, 1e6) },
            1 => LoadV1::Deterministic {
                rate_per_s: self.number(0.0, 1e6),
                count: self.maybe(|c| c.whole(0, 9_007_199_254_740_991)),
            },
            2 => LoadV1::Mmpp {
                phases: self.list(2, 16, |c, _| PhaseV1 {
                    rate_per_s: c.number(0.0, 1e6),
                    mean_us: c.whole(1, 604_800_000_000),
                }),
            },
            3 => LoadV1::Closed {
                clients: self.whole(1, 100_000) as u32,
                think: self.law(),
                count: self.maybe(|c| c.whole(1, 9_007_199_254_740_991)),
            },
            _ => {
                LoadV1::Trace { label: if self.chance() { String::new() } else { format!("label {class}") } }
            }
        }
    }

    fn balancer(&mut self) -> BalancerV1 {
        let tau_us = self.whole(1_000, 604_800_000_000);
        match self.below(14) {
            0 => BalancerV1::RoundRobin,
            1 => BalancerV1::LeastConnections,
            2 => BalancerV1::WeightedRoundRobin {
                weights: self.pick(&[WeightsV1::Configured, WeightsV1::Reported]),
            },
            3 => BalancerV1::WeightedLeastConnections,
            4 => BalancerV1::SourceHash,
            5 => BalancerV1::DestinationHash,
            6 => BalancerV1::ConsistentHash {
                by: self.pick(&[HashByV1::Source, HashByV1::Target]),
                table: self.pick(&[HashTableV1::Ring, HashTableV1::Maglev]),
            },
            7 => BalancerV1::Random,
            8 => BalancerV1::PowerOfTwo { choices: self.whole(2, 8) as u8 },
            9 => BalancerV1::JoinShortestQueue,
            10 => BalancerV1::PeakEwma { tau_us },
            11 => BalancerV1::LeastTime { tau_us },
            12 => self.dnf_published(),
            _ => BalancerV1::Dnf {
                gain: self.number(0.001, 10.0),
                dead_band: self.number(0.0, 1.0),
                step: self.number(0.001, 1.0),
                smoothing: self.number(0.0, 0.99),
                min: self.number(0.001, 1.0),
                max: self.number(1.0, 1000.0),
                group: self.number(0.0, 1.0),
                short: self.list(0, 5, |c, _| c.resource()),
                session: self.list(0, 5, |c, _| c.resource()),
            },
        }
    }

    fn resource(&mut self) -> ResourceV1 {
        self.pick(&ResourceV1::FIVE)
    }

    fn dnf_published(&mut self) -> BalancerV1 {
        let cpu = (self.below(9) as f64) / 8.0;
        let base = self.number(1.0, 1e6);
        BalancerV1::DnfPublished {
            coefficients: CoefficientsV1 { cpu, mem: 0.0, net: 1.0 - cpu, disk: 0.0, rooms: 0.0 },
            target: self.number(0.001, 1.0),
            target_mean: self.chance(),
            gain: self.number(0.001, 1000.0),
            initial: self.pick(&[InitialV1::Equal, InitialV1::Weight, InitialV1::Capacity]),
            base,
            min: base / 2.0,
            max_factor: self.number(1.001, 1000.0),
            smoothing: self.number(0.0, 0.99),
            dead_band: self.number(0.0, 1.0),
            threshold: self.number(0.0, 1000.0),
            damping: self.number(0.0, 0.99),
            groups: self.whole(1, 16) as u8,
            group_by: self.pick(&[GroupByV1::Width, GroupByV1::Rank]),
            weighted: self.chance(),
        }
    }

    fn feedback(&mut self) -> FeedbackV1 {
        let period_us = self.whole(100_000, 604_800_000_000);
        let limit = self.number(0.01, 1.0);
        FeedbackV1 {
            period_us,
            silence_us: self.whole(period_us, 604_800_000_000),
            overload: self.list(0, 5, |c, _| c.resource()),
            limit,
            clear: limit / 2.0,
            eject_after: self.whole(0, 1_000_000) as u32,
            eject_us: self.whole(1_000, 604_800_000_000),
            eject_at_most: self.number(0.0, 1.0),
            panic_below: self.number(0.0, 1.0),
            slow_start_us: self.whole(0, 604_800_000_000),
        }
    }

    fn demand(&mut self) -> DemandV1 {
        let mut one = || self.number(0.0, 1e12);
        DemandV1 { cpu: one(), mem: one(), net: one(), disk: one(), rooms: one() }
    }

    fn capacity(&mut self) -> CapacityV1 {
        let mut one = || self.maybe(|c| c.number(1e-3, 1e12));
        CapacityV1 { mem: one(), net: one(), disk: one(), rooms: one() }
    }

    fn rule(&mut self) -> RuleV1 {
        RuleV1 {
            path: Some(self.pick(&["/", "/**", "/a/*/b?".trim_end_matches('?'), "**/x"]).to_string()),
            host: self.maybe(|c| c.pick(&["example.org", "*.example.org", "[::1]"]).to_string()),
            method: self.maybe(|c| c.pick(&["GET", "POST"]).to_string()),
            header: Some("x-class".to_string()),
            value: self.maybe(|c| c.pick(&["gold*", "*", "a \"b\""]).to_string()),
            client: self.maybe(|c| c.pick(&["10.0.0.0/8", "::/0", "127.0.0.1"]).to_string()),
            from: self.pick(&[FromV1::Trusted, FromV1::Anyone]),
        }
    }

    fn size(&mut self) -> SizeV1 {
        let mean_bytes = self.whole(1, 1 << 40);
        match self.below(4) {
            0 => SizeV1::Constant { bytes: mean_bytes },
            1 => SizeV1::Uniform { min_bytes: self.whole(1, mean_bytes), max_bytes: mean_bytes },
            2 => SizeV1::Lognormal { mean_bytes, cv: self.number(0.0, 20.0) },
            _ => SizeV1::Pareto { mean_bytes, alpha: self.number(0.5, 10.0), ratio: self.number(1.5, 1e9) },
        }
    }

    /// A band of average queue lengths, the upper end above the lower.
    fn band(&mut self) -> (f64, f64) {
        let min = self.number(0.0, 999_999.0);
        (min, (min + self.number(0.5, 1_000.0)).min(1e6))
    }

    fn adapt(&mut self) -> AdaptV1 {
        match self.below(4) {
            0 => AdaptV1::None,
            1 => AdaptV1::Counters { factor: self.number(1.5, 100.0), repeat: self.whole(1, 1_000) as u32 },
            2 => AdaptV1::Feng,
            _ => AdaptV1::Floyd,
        }
    }

    fn queue(&mut self) -> QueueV1 {
        const MOST: u64 = 604_800_000_000;
        let (min, max) = self.band();
        let (max_p, weight) = (self.number(0.01, 1.0), self.number(0.001, 1.0));
        let limit = self.whole(1, 1_000_000) as u32;
        let spacing = self.pick(&[SpacingV1::Bernoulli, SpacingV1::Uniform, SpacingV1::Wait]);
        let per = self.pick(&[PerV1::Level, PerV1::Stage]);
        match self.below(13) {
            0 => QueueV1::LengthThreshold { threshold: self.whole(0, 1_000_000) as u32 },
            1 => QueueV1::EnqueueRate {
                rate_per_s: self.number(0.5, 1e6),
                depth: self.number(1.0, 1e6),
                limit,
            },
            2 => QueueV1::Red {
                min,
                max,
                max_p,
                weight,
                gentle: self.chance(),
                spacing,
                adapt: self.adapt(),
                limit: self.maybe(|_| limit),
            },
            3 => QueueV1::PriorityRed {
                min,
                max,
                max_p,
                weight,
                gentle: self.chance(),
                spacing,
                adapt: self.adapt(),
                adapt_per: per,
                update_per: per,
                on_departure: self.chance(),
                limit: self.maybe(|_| limit),
            },
            4 => QueueV1::PdtRed { min, max, max_p, weight, gain: self.number(0.0, 10.0), limit },
            5 => QueueV1::Wred {
                curves: self.list(1, 16, |c, _| {
                    let (min, max) = c.band();
                    CurveV1 { min, max, max_p: c.number(0.01, 1.0) }
                }),
                weight,
                average: self.pick(&[CountV1::All, CountV1::Above, CountV1::Level]),
                limit,
            },
            6 => QueueV1::Codel { target_us: self.whole(1, MOST), interval_us: self.whole(1, MOST), limit },
            7 => QueueV1::Pie {
                target_us: self.whole(1, MOST),
                update_us: self.whole(1_000, MOST),
                burst_us: self.whole(0, MOST),
                limit,
            },
            8 => {
                let min_us = self.whole(0, MOST - 1);
                QueueV1::WorkRed {
                    min_us,
                    max_us: self.whole(min_us + 1, MOST),
                    max_p,
                    tau_us: self.whole(1, MOST),
                    hard: self.number(1.0, 100.0),
                    adapt: self.adapt(),
                    limit,
                }
            }
            9 => QueueV1::AdaptiveRate {
                rule: self.pick(&[
                    RateRuleV1::Direct,
                    RateRuleV1::Multiclass,
                    RateRuleV1::Pid,
                    RateRuleV1::Mm1,
                ]),
                target_us: self.whole(1, MOST),
                limit,
            },
            10 => QueueV1::AdmissionWindow {
                target_us: self.whole(1, MOST),
                period_us: self.whole(10_000, MOST),
                gain: self.number(0.001, 1.0),
                limit,
            },
            _ => QueueV1::TailDrop { limit: self.whole(0, 1_000_000) as u32, per },
        }
    }

    fn split_by(&mut self) -> SplitByV1 {
        let period_us = self.whole(10_000, 604_800_000_000);
        let (pole, forgetting) = (self.number(0.0, 0.95), self.number(0.8, 1.0));
        let mut gain = || self.number(0.0, 10.0);
        match (gain(), gain(), gain(), self.below(8)) {
            (kp, ki, kd, 0) => SplitByV1::Pid { period_us, kp, ki, kd },
            (gain, .., 1) => SplitByV1::PairwisePi { period_us, gain, zero: self.number(0.0, 0.999) },
            (.., 2) => SplitByV1::PairwiseStc { period_us, pole, forgetting },
            (.., 3) => SplitByV1::FeedForward {
                period_us,
                think_us: self.whole(0, 604_800_000_000),
                trim: self.number(0.0, 1.0),
            },
            (.., 4) => SplitByV1::StcPaper {
                period_us,
                warm_up: self.whole(0, 1_000) as u32,
                design: self.pick(&[DesignV1::PolePlacement, DesignV1::MinimumVariance]),
                pole,
                forgetting,
                a_terms: self.whole(1, 3) as u32,
                b_terms: self.whole(1, 3) as u32,
                lag: self.whole(1, 3) as u32,
            },
            (.., 5) => SplitByV1::StcServed { period_us, tune: self.chance() },
            (.., 6) => SplitByV1::StcLead { period_us, prior: self.number(0.05, 20.0), tune: self.chance() },
            _ => SplitByV1::Fixed,
        }
    }

    /// A controlled pool for a stage that begins with `workers`, at least one of them for each class of a split.
    fn pool(&mut self, workers: u32, classes: usize) -> PoolV1 {
        const MOST: u64 = 604_800_000_000;
        let min = self.whole(classes.max(1) as u64, u64::from(workers)) as u32;
        let max = self.whole(u64::from(workers), 100_000) as u32;
        let period_us = self.whole(1_000, MOST);
        match self.below(4) {
            0 => PoolV1::Threads {
                min,
                max,
                period_us,
                threshold: self.whole(0, 1_000_000) as u32,
                idle_us: self.whole(1_000, MOST),
            },
            1 => PoolV1::Aimd { min, max, target_us: self.whole(1, MOST), period_us },
            2 => PoolV1::Gradient { min, max, tolerance: self.number(1.0, 10.0), period_us },
            _ => PoolV1::Fixed,
        }
    }

    fn ageing(&mut self) -> AgeingV1 {
        const MOST: u64 = 604_800_000_000;
        match self.below(3) {
            0 => AgeingV1::None,
            1 => AgeingV1::Promote { after_us: self.list(1, 16, |c, _| c.whole(1, MOST)) },
            _ => AgeingV1::Share { after_us: self.whole(1, MOST), share: self.number(0.01, 0.9) },
        }
    }

    fn batch(&mut self) -> BatchV1 {
        match self.below(3) {
            0 => BatchV1::One,
            1 => BatchV1::Fixed { size: self.whole(2, 1_000) as u32 },
            _ => {
                let max = self.whole(2, 1_000);
                BatchV1::Adaptive {
                    min: self.whole(1, max) as u32,
                    max: max as u32,
                    period_us: self.whole(1_000, 604_800_000_000),
                }
            }
        }
    }

    fn scenario(&mut self) -> ScenarioV1 {
        let classes = self.list(1, 16, |c, i| {
            let load = c.load(i);
            let closed = matches!(load, LoadV1::Closed { .. });
            ClassV1 {
                name: format!("{i} {}", c.text(20)),
                priority: c.whole(0, 15) as u8,
                delay_weight: c.number(0.001, 1000.0),
                deadline_us: c.maybe(|c| c.whole(1, 604_800_000_000)),
                load,
                service: c.law(),
                size: Some(c.size()),
                share: c.number(0.001, 1000.0),
                retry: c
                    .maybe(|c| RetryV1 { times: c.whole(1, 100) as u32, after: c.law() })
                    .filter(|_| !closed),
                kind: c.pick(&[KindV1::Short, KindV1::Session]),
                demand: c.demand(),
                answer_us: c.whole(1, 604_800_000_000),
                sources: c.whole(1, 1_000_000) as u32,
                targets: c.whole(1, 1_000_000) as u32,
                rules: c.list(0, 3, |c, _| c.rule()),
            }
        });
        let count = classes.len();
        let serving = self.below(4);
        let stages = self.list(1, 4, |c, i| {
            let split: Vec<u32> =
                if c.chance() { (0..count).map(|_| c.whole(1, 50) as u32).collect() } else { Vec::new() };
            let workers = if split.is_empty() { c.whole(1, 100_000) as u32 } else { split.iter().sum() };
            let order = c.pick(&[
                OrderV1::StrictPriority,
                OrderV1::Fifo,
                OrderV1::WeightedFair,
                OrderV1::Wtp,
                OrderV1::Pad,
                OrderV1::Hpd,
                OrderV1::EarliestDeadline,
                OrderV1::AdaptiveLifo,
            ]);
            let work = match c.below(3) {
                _ if i as u64 == serving => WorkV1::Servers,
                0 => WorkV1::Link { bytes_per_s: c.number(1.0, 1e12) },
                _ => WorkV1::Stage { service: c.law(), batch_us: c.whole(0, 604_800_000_000) },
            };
            let split_by = if workers as usize >= count { c.split_by() } else { SplitByV1::Fixed };
            let is_controlled = split_by != SplitByV1::Fixed;
            let parts = if is_controlled { count } else { split.len() };
            StageV1 {
                name: format!("{i} {}", c.text(20)),
                workers,
                pool: c.pool(workers, parts),
                dither: is_controlled && c.chance(),
                lend_after_us: c.maybe(|c| c.whole(0, 604_800_000_000)).filter(|_| parts > 0),
                split_by,
                split,
                order,
                queue: c.queue(),
                expired: c.pick(&[ExpiredV1::Shed, ExpiredV1::Serve]),
                ageing: if order == OrderV1::StrictPriority { c.ageing() } else { AgeingV1::None },
                batch: if matches!(work, WorkV1::Stage { .. }) { c.batch() } else { BatchV1::One },
                starts_per_s: c.maybe(|c| c.number(0.5, 1e6)),
                work,
            }
        });
        let serves = stages.iter().any(|stage| stage.work == WorkV1::Servers);
        let servers = self.list(u64::from(serves), if serves { 64 } else { 0 }, |c, i| ServerV1 {
            name: format!("{i} {}", c.text(20)),
            slots: c.whole(1, 100_000) as u32,
            speed: c.number(0.001, 1000.0),
            max_in_flight: c.maybe(|c| c.whole(1, 100_000) as u32),
            weight: c.number(0.001, 65_535.0),
            discipline: c.pick(&[DisciplineV1::Slots, DisciplineV1::Sharing]),
            capacity: c.capacity(),
        });
        let horizon_us = self.whole(10, 604_800_000_000);
        let mode = self.pick(&[ModeV1::Steady, ModeV1::Transient]);
        let loads: Vec<_> = classes
            .iter()
            .filter(|c| !matches!(c.load, LoadV1::Trace { .. }))
            .map(|c| c.name.clone())
            .collect();
        let names: Vec<_> = classes.iter().map(|c| c.name.clone()).collect();
        let events = self.list(0, 12, |c, _| EventV1 {
            at_us: c.whole(0, horizon_us),
            action: match c.below(8) {
                0 => {
                    ActionV1::Service { class: c.maybe(|c| c.pick(&names)), factor: c.number(0.001, 1000.0) }
                }
                _ if servers.is_empty() || c.below(4) == 0 => ActionV1::Load {
                    class: if loads.is_empty() { None } else { c.maybe(|c| c.pick(&loads)) },
                    factor: c.number(0.0, 1000.0),
                },
                1 => ActionV1::ServerDown { server: c.pick(&servers).name },
                2 => ActionV1::ServerUp { server: c.pick(&servers).name },
                3 => ActionV1::Neighbour { server: c.pick(&servers).name, share: c.number(0.0, 0.99) },
                4 => ActionV1::ServerReports {
                    server: c.pick(&servers).name,
                    state: c.pick(&[ReportsV1::Normal, ReportsV1::Stuck, ReportsV1::Lost]),
                },
                5 => ActionV1::ServerFlapping {
                    server: c.pick(&servers).name,
                    period_us: c.whole(2, 604_800_000_000),
                    times: c.whole(1, 100) as u32,
                },
                _ => ActionV1::ServerSpeed { server: c.pick(&servers).name, speed: c.number(0.001, 1000.0) },
            },
        });
        ScenarioV1 {
            title: self.text(80),
            about: self.text(100) + if self.chance() { "\n" } else { "" },
            engine: self.pick(&["", "1", "1.4.2-beta"]).to_string(),
            run: RunV1 {
                seed: self.whole(0, 9_007_199_254_740_991),
                horizon_us,
                warmup_us: if mode == ModeV1::Steady { self.maybe(|c| c.below(horizon_us)) } else { None },
                mode,
            },
            classes,
            priority: PriorityV1 {
                levels: self.maybe(|c| c.whole(1, 16) as u8),
                size_limits: (0..self.below(8)).map(|n| 1 << (4 * n)).collect(),
                per_stage: self.chance(),
                size_in_queue: self.chance(),
                clamp: true,
            },
            stages,
            balancer: self.balancer(),
            feedback: self.maybe(Self::feedback),
            gateways: self.whole(1, 16) as u8,
            servers,
            events,
            edits: Vec::new(),
        }
    }
}

#[test]
fn ten_thousand_random_scenarios_survive_text_and_link() {
    let mut choices = Choices(1);
    for round in 0..10_000 {
        let wire = choices.scenario();
        let json = parse::to_canonical_json(&wire);
        let context = || format!("round {round}: {json}");
        let parsed = parse::parse_json(&json).unwrap_or_else(|e| panic!("{e}; {}", context()));
        assert_eq!(parsed.wire, wire, "{}", context());
        assert!(parsed.unknown.is_empty(), "{}", context());
        assert_eq!(parsed.to_canonical_json(), json, "{}", context());
        if let Err(error) = Scenario::check(wire.clone()) {
            panic!("{error}; {}", context());
        }
        let text = link::encode(&wire);
        match link::decode(&text) {
            Ok(link) => assert_eq!(link.parsed.wire, wire, "{}", context()),
            Err(error) => panic!("{error}; {text} of {}", context()),
        }
        // Every tenth: the forms for people.
        if round % 10 == 0 {
            let pretty = parse::to_pretty_json(&wire);
            assert_eq!(parse::parse_json(&pretty).map(|p| p.wire).as_ref(), Ok(&wire), "{pretty}");
            let readable = link::encode_readable(&parsed);
            if readable.len() <= link::MAX_CHARS {
                assert_eq!(link::decode(&readable).map(|l| l.parsed.wire).as_ref(), Ok(&wire), "{readable}");
            }
        }
    }
}

#[test]
fn no_change_of_one_character_and_no_cut_gets_through() {
    let mut choices = Choices(2);
    for preset in presets::ALL {
        let link = link::encode(preset.scenario().wire());
        for end in 0..link.len() {
            assert!(link::decode(&link[..end]).is_err(), "{}: cut after {end}", preset.name);
        }
        for at in 0..link.len() {
            for _ in 0..16 {
                let mut changed: Vec<char> = link.chars().collect();
                let other = char::from(b'!' + choices.below(94) as u8);
                if changed[at] == other {
                    continue;
                }
                changed[at] = other;
                let changed: String = changed.into_iter().collect();
                assert!(link::decode(&changed).is_err(), "{}: {changed}", preset.name);
            }
        }
    }
}

#[test]
fn noise_is_refused_and_never_panics() {
    let mut choices = Choices(3);
    let links: Vec<String> = presets::ALL.iter().map(|p| link::encode(p.scenario().wire())).collect();
    let mut texts: Vec<&str> = presets::ALL.iter().map(presets::Preset::json).collect();
    texts.extend(links.iter().map(String::as_str));
    for _ in 0..10_000 {
        let mut bytes = choices.pick(&texts).as_bytes().to_vec();
        for _ in 0..=choices.below(8) {
            let at = choices.below(bytes.len() as u64) as usize;
            match choices.below(4) {
                0 => bytes[at] = choices.bits() as u8,
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, choices.pick(b"{}[]\",:0-9.e#&%t1zj ")),
                _ => bytes.truncate(at + 1),
            }
            if bytes.is_empty() {
                bytes.push(b'{');
            }
        }
        let text = String::from_utf8_lossy(&bytes);
        if let Ok(link) = link::open(&text) {
            let _ = link.to_text();
            let _ = Scenario::check_all(&link.parsed.wire);
            if let Ok(scenario) = link.parsed.check() {
                assert!(scenario.estimated_events() >= 0.0);
            }
        }
        let _ = parse::parse_lenient(&text);
    }
    // A good check in front of noise: what is inside has to be refused on its own.
    for _ in 0..2_000 {
        let length = choices.below(200);
        let noise: Vec<u8> = (0..length).map(|_| choices.bits() as u8).collect();
        let text = seal(&format!("t1z.{}", base64(&noise)));
        match link::decode(&text) {
            Err(LinkError::Content | LinkError::Scenario(_)) => {}
            other => panic!("{text}: {other:?}"),
        }
    }
}

/// Base64url, bit by bit: not the code under test.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let bit = |i: usize| bytes.get(i / 8).is_some_and(|b| b >> (7 - i % 8) & 1 == 1);
    (0..(bytes.len() * 8).div_ceil(6))
        .map(|i| ALPHABET[(0..6).fold(0, |value, j| value << 1 | usize::from(bit(i * 6 + j)))])
        .map(char::from)
        .collect()
}

/// Adds the check, computed bit by bit: not the code under test.
fn seal(body: &str) -> String {
    let crc = !body.bytes().fold(u32::MAX, |crc, byte| {
        (0..8).fold(
            crc ^ u32::from(byte),
            |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xEDB8_8320 } else { crc >> 1 },
        )
    });
    let digit =
        |i: u32| char::from(b"0123456789abcdefghjkmnpqrstvwxyz"[(u64::from(crc) >> (5 * i) & 31) as usize]);
    format!("{body}.{}", (0..7).rev().map(digit).collect::<String>())
}

/// The format, once more, in another language: reads lines of links, answers with the JSON and a link of its own.
const OTHER: &str = r#"
import base64, binascii, sys, zlib
digits = "0123456789abcdefghjkmnpqrstvwxyz"
words = open(sys.argv[1], "rb").read()
def check(body):
    crc = binascii.crc32(body.encode())
    return "".join(digits[crc >> 5 * i & 31] for i in range(6, -1, -1))
for line in sys.stdin.read().split():
    head, payload, given = line.split(".")
    assert head == "t1z" and check(head + "." + payload) == given, line
    packed = base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4))
    reader = zlib.decompressobj(wbits=-15, zdict=words)
    text = reader.decompress(packed) + reader.flush()
    assert reader.eof and not reader.unused_data
    writer = zlib.compressobj(9, zlib.DEFLATED, -15, 9, zlib.Z_DEFAULT_STRATEGY, words)
    again = writer.compress(text) + writer.flush()
    body = "t1z." + base64.urlsafe_b64encode(again).decode().rstrip("=")
    sys.stdout.buffer.write(text + b"\n" + (body + "." + check(body)).encode() + b"\n")
"#;

#[test]
fn zlib_reads_our_links_and_we_read_those_of_zlib() {
    let dictionary = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/src/link/dictionary1.txt");
    let child = Command::new("python3")
        .args(["-c", OTHER])
        .arg(dictionary)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = child else {
        eprintln!("skipped: there is no python3 to compare with");
        return;
    };
    let mut choices = Choices(4);
    let mut wires: Vec<ScenarioV1> = presets::ALL.iter().map(|p| p.scenario().wire().clone()).collect();
    wires
        .extend((0..300).map(|_| choices.scenario()).map(|wire| ScenarioV1 { about: String::new(), ..wire }));
    let links: String = wires.iter().map(|wire| link::encode(wire) + "\n").collect();
    let mut input = child.stdin.take().expect("piped");
    let writer = std::thread::spawn(move || input.write_all(links.as_bytes()));
    let output = child.wait_with_output().expect("it was started");
    writer.join().expect("no panic").expect("it reads all its input");
    assert!(output.status.success(), "the other implementation found a difference");
    let answers = String::from_utf8(output.stdout).expect("JSON is UTF-8");
    let mut lines = answers.lines();
    for wire in &wires {
        let json = lines.next().expect("an answer for each link");
        assert_eq!(json, parse::to_canonical_json(wire));
        let theirs = lines.next().expect("a link of its own");
        assert_eq!(link::decode(theirs).map(|l| l.parsed.wire).as_ref(), Ok(wire), "{theirs}");
    }
}
