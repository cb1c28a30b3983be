//! From a wire scenario to one that can be run: limits, then what has to fit together.
//!
//! Limits of single fields come from their declarations in [`v1`](super::v1). What is here involves more than
//! one field: names that must be unique or known, a split that sums to the workers, times within the horizon.

use super::error::ScenarioError;
use super::v1::{
    ActionV1, AgeingV1, BalancerV1, BatchV1, ClassV1, EventV1, KindV1, LawV1, LoadV1, ModeV1, OrderV1,
    PoolV1, QueueV1, RuleV1, RunV1, ScenarioV1, SizeV1, SplitByV1, StageV1, WeightsV1, WorkV1,
};
use super::wire::{self, Path};
use super::{Action, Class, Edit, Levels, Scenario, ServerSpec, StageSpec, TimedEvent, Work, edits};
use crate::id::{ClassId, ServerId, StageId};
use crate::time::{Duration, Instant};
use crate::unit::{DelayWeight, Priority};
use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::net::IpAddr;

impl Scenario {
    /// Makes a scenario that can be run.
    ///
    /// # Errors
    /// The first rule that is broken, in the order of the document.
    pub fn check(wire: ScenarioV1) -> Result<Self, ScenarioError> {
        let errors = check_plain(&wire);
        let (versions, errors) =
            if errors.is_empty() { edits::versions(&wire) } else { (Vec::new(), errors) };
        match errors.into_iter().next() {
            Some(error) => Err(error),
            None => Ok(resolve_all(wire, versions)),
        }
    }

    /// Every rule that `wire` breaks, in the order of the document; empty exactly if [`check`](Self::check)
    /// accepts it.
    #[must_use]
    pub fn check_all(wire: &ScenarioV1) -> Vec<ScenarioError> {
        check_all(wire)
    }

    /// About how many calendar events a run will take: an arrival, a departure for each stage passed.
    ///
    /// An estimate to warn by: refused requests take fewer, and closed clients are counted as if the system
    /// kept up as far as its capacity goes.
    #[must_use]
    pub fn estimated_events(&self) -> f64 {
        let starts = core::iter::once(0.0).chain(self.edits.iter().map(|edit| edit.at.as_secs_f64()));
        let ends = self.edits.iter().map(|edit| edit.at.as_secs_f64());
        let ends = ends.chain(core::iter::once(self.horizon.as_secs_f64()));
        let spans = starts.zip(ends).zip(self.all_versions());
        spans.map(|(span, version)| version.estimated_within(span)).sum::<f64>() + self.events.len() as f64
    }

    /// The same for a span of the run, in seconds, without timed events.
    fn estimated_within(&self, (from_s, to_s): (f64, f64)) -> f64 {
        let per_request = 1.0 + self.stages.len() as f64;
        let requests: f64 =
            (0..self.classes.len()).map(|class| self.estimated_requests(class, (from_s, to_s))).sum();
        let reports = if self.reports { (to_s - from_s) * 1e6 / self.feedback.period_us as f64 } else { 0.0 };
        requests * per_request + reports
    }

    /// About how many requests a class makes within a span. A trace has none until its rows are there.
    fn estimated_requests(&self, class: usize, span: (f64, f64)) -> f64 {
        let spec = &self.classes[class];
        let capped = |n: f64, count: Option<u64>| count.map_or(n, |count| n.min(count as f64));
        let loaded_s = self.loaded_seconds(class, span);
        match &spec.load {
            LoadV1::Poisson { rate_per_s } => rate_per_s * loaded_s,
            LoadV1::Deterministic { rate_per_s, count } => capped(rate_per_s * loaded_s, *count),
            LoadV1::Mmpp { phases } => {
                let length: f64 = phases.iter().map(|p| p.mean_us as f64).sum();
                let arrivals: f64 = phases.iter().map(|p| p.rate_per_s * p.mean_us as f64).sum();
                arrivals / length * loaded_s
            }
            LoadV1::Closed { clients, think, count } => {
                let cycle_s = (think.mean_us() + self.round_trip_us(class)).max(1.0) / 1e6;
                let all = count.map(|count| count.saturating_mul(u64::from(*clients)));
                capped(f64::from(*clients) * loaded_s / cycle_s, all)
                    .min(self.capacity_per_s(spec.kind) * (span.1 - span.0))
            }
            LoadV1::Trace { .. } => 0.0,
        }
    }

    /// The integral of the class's load factor over a span of the run, in seconds.
    fn loaded_seconds(&self, class: usize, (from_s, to_s): (f64, f64)) -> f64 {
        let (mut factor, mut since, mut sum) = (1.0, from_s, 0.0);
        for event in &self.events {
            if let Action::Load { class: which, factor: new } = event.action
                && which.is_none_or(|which| usize::from(which.0) == class)
            {
                let at = event.at.as_secs_f64().clamp(from_s, to_s);
                sum += factor * (at - since);
                (factor, since) = (new, at);
            }
        }
        sum + factor * (to_s - since)
    }

    /// Mean time a request of the class spends in work, without any wait, in microseconds.
    fn round_trip_us(&self, class: usize) -> f64 {
        let spec = &self.classes[class];
        let bytes = spec.size.as_ref().map_or(0.0, SizeV1::mean_bytes);
        let at = |stage: &StageSpec| match &stage.work {
            Work::Own(law, _) => law.mean_us(),
            Work::Link(bytes_per_s) => bytes / bytes_per_s * 1e6,
            Work::Servers => spec.service.mean_us(),
        };
        self.stages.iter().map(at).sum()
    }

    /// Requests of a kind a second that the narrowest stage can finish; infinite if no stage limits it. Sessions are not
    /// limited by servers, where they take no slot.
    fn capacity_per_s(&self, kind: KindV1) -> f64 {
        let short = self.classes.iter().filter(|class| class.kind == KindV1::Short);
        let shortest = short.map(|class| class.service.mean_us()).fold(f64::INFINITY, f64::min);
        let smallest = self.classes.iter().filter_map(|c| Some(c.size.as_ref()?.mean_bytes()));
        let smallest = smallest.fold(f64::INFINITY, f64::min);
        let rate = |stage: &StageSpec| match &stage.work {
            Work::Own(law, _) => f64::from(stage.workers) * 1e6 / law.mean_us(),
            Work::Link(bytes_per_s) => bytes_per_s / smallest,
            Work::Servers if kind == KindV1::Session => f64::INFINITY,
            Work::Servers => {
                self.servers.iter().map(|s| f64::from(s.slots) * s.speed).sum::<f64>() * 1e6 / shortest
            }
        };
        self.stages.iter().map(rate).fold(f64::INFINITY, f64::min)
    }
}

impl LawV1 {
    /// Mean, in microseconds.
    #[must_use]
    pub fn mean_us(&self) -> f64 {
        match self {
            Self::Uniform { min_us, max_us } => (*min_us as f64 + *max_us as f64) / 2.0,
            Self::Constant { mean_us }
            | Self::Exponential { mean_us }
            | Self::Erlang { mean_us, .. }
            | Self::Hyperexponential { mean_us, .. }
            | Self::Lognormal { mean_us, .. }
            | Self::Pareto { mean_us, .. } => *mean_us as f64,
        }
    }
}

impl SizeV1 {
    /// Mean, in bytes.
    #[must_use]
    pub fn mean_bytes(&self) -> f64 {
        match self {
            Self::Uniform { min_bytes, max_bytes } => (*min_bytes as f64 + *max_bytes as f64) / 2.0,
            Self::Constant { bytes: mean_bytes }
            | Self::Lognormal { mean_bytes, .. }
            | Self::Pareto { mean_bytes, .. } => *mean_bytes as f64,
        }
    }
}

/// Collects what is broken.
struct Checks<'a> {
    wire: &'a ScenarioV1,
    errors: Vec<ScenarioError>,
}

/// Every rule that is broken, in the order of the document. Edits are looked at once the rest is right.
pub(super) fn check_all(wire: &ScenarioV1) -> Vec<ScenarioError> {
    let errors = check_plain(wire);
    if errors.is_empty() { edits::versions(wire).1 } else { errors }
}

/// The same without what edits make of it.
fn check_plain(wire: &ScenarioV1) -> Vec<ScenarioError> {
    let mut checks = Checks { wire, errors: Vec::new() };
    // Declared limits, for all fields; then, section by section, what has to fit together.
    wire::check_fields(wire, &Path::Root, &mut checks.errors);
    let limits = core::mem::take(&mut checks.errors);
    checks.run(&wire.run);
    checks.classes();
    checks.priority();
    checks.stages();
    checks.balancer();
    checks.servers();
    checks.events();
    merge(limits, checks.errors)
}

/// Both lists, section by section.
fn merge(limits: Vec<ScenarioError>, relations: Vec<ScenarioError>) -> Vec<ScenarioError> {
    const SECTIONS: [&str; 11] = [
        "title", "about", "eng", "run", "classes", "priority", "stages", "balancer", "feedback", "gateways",
        "servers",
    ];
    let place = |error: &ScenarioError| {
        let end = error.path.find(['.', '[']).unwrap_or(error.path.len());
        SECTIONS.iter().position(|name| *name == &error.path[..end]).unwrap_or(SECTIONS.len())
    };
    let mut all = limits;
    all.extend(relations);
    all.sort_by_key(place);
    all
}

impl Checks<'_> {
    fn fail(&mut self, path: &dyn fmt::Display, rule: &dyn fmt::Display, found: &dyn fmt::Display) {
        self.errors.push(ScenarioError::new(path, rule, found));
    }

    fn run(&mut self, run: &RunV1) {
        match run.warmup_us {
            Some(warmup) if run.mode == ModeV1::Transient && warmup > 0 => {
                self.fail(&"run.warmup_us", &"0 or left out when mode is transient", &warmup);
            }
            Some(warmup) if warmup >= run.horizon_us => {
                self.fail(&"run.warmup_us", &format_args!("below horizon_us ({})", run.horizon_us), &warmup);
            }
            _ => {}
        }
    }

    fn classes(&mut self) {
        let wire = self.wire;
        self.unique("classes", wire.classes.iter().map(|c| c.name.as_str()));
        for (i, class) in wire.classes.iter().enumerate() {
            self.class(i, class);
        }
        self.trace_labels();
    }

    fn class(&mut self, i: usize, class: &ClassV1) {
        self.law(&format_args!("classes[{i}].service"), &class.service);
        if let Some(SizeV1::Uniform { min_bytes, max_bytes }) = &class.size
            && max_bytes < min_bytes
        {
            let rule = format_args!("at least min_bytes ({min_bytes})");
            self.fail(&format_args!("classes[{i}].size.max_bytes"), &rule, &max_bytes);
        }
        if class.size.is_none()
            && let Some(link) = self.wire.stages.iter().find(|s| matches!(s.work, WorkV1::Link { .. }))
        {
            let rule = format_args!("required, as the stage {} is a link", wire::quoted(&link.name));
            self.fail(&format_args!("classes[{i}].size"), &rule, &"nothing");
        }
        if let Some(retry) = &class.retry {
            self.law(&format_args!("classes[{i}].retry.after"), &retry.after);
            if matches!(class.load, LoadV1::Closed { .. }) {
                let rule = "left out for closed clients, who ask again after thinking";
                self.fail(&format_args!("classes[{i}].retry"), &rule, &"one");
            }
        }
        if let LoadV1::Closed { think, count, .. } = &class.load {
            self.law(&format_args!("classes[{i}].load.think"), think);
            if count.is_none() && think.mean_us() == 0.0 && self.takes_no_time(class) {
                let rule = "above 0 when no stage takes time";
                self.fail(&format_args!("classes[{i}].load.think"), &rule, &"a loop without end");
            }
        }
        for (j, rule) in class.rules.iter().enumerate() {
            self.rule(&format_args!("classes[{i}].rules[{j}]"), rule);
        }
    }

    /// Whether a request of the class passes all stages in no time at all.
    fn takes_no_time(&self, class: &ClassV1) -> bool {
        !self.wire.stages.is_empty()
            && self.wire.stages.iter().all(|stage| match &stage.work {
                WorkV1::Stage { service, batch_us } => service.mean_us() == 0.0 && *batch_us == 0,
                WorkV1::Link { .. } => false,
                WorkV1::Servers => class.service.mean_us() == 0.0,
            })
    }

    /// Two classes cannot read the same rows of a trace.
    fn trace_labels(&mut self) {
        let mut seen = BTreeSet::new();
        for (i, class) in self.wire.classes.iter().enumerate() {
            if let LoadV1::Trace { label } = &class.load {
                let label = if label.is_empty() { &class.name } else { label };
                if !seen.insert(label) {
                    let path = format_args!("classes[{i}].load.label");
                    self.fail(&path, &"unlike every other class's label", &wire::quoted(label));
                }
            }
        }
    }

    /// The parameters of a law that depend on each other.
    fn law(&mut self, path: &dyn fmt::Display, law: &LawV1) {
        if let LawV1::Uniform { min_us, max_us } = law
            && max_us < min_us
        {
            self.fail(&format_args!("{path}.max_us"), &format_args!("at least min_us ({min_us})"), &max_us);
        }
    }

    fn rule(&mut self, path: &dyn fmt::Display, rule: &RuleV1) {
        let RuleV1 { path: url, host, method, header, value, client, from: _ } = rule;
        if [url, host, method, header, client].iter().all(|condition| condition.is_none()) && value.is_none()
        {
            self.fail(path, &"at least one of path, host, method, header, client", &"none of them");
        }
        if value.is_some() && header.is_none() {
            self.fail(&format_args!("{path}.header"), &"required when value is given", &"nothing");
        }
        let mut text = |key: &str, text: &Option<String>, fits: fn(&str) -> bool, rule: &str| {
            if let Some(text) = text
                && !text.is_empty()
                && !fits(text)
            {
                self.fail(&format_args!("{path}.{key}"), &rule, &wire::quoted(text));
            }
        };
        text("path", url, is_path_pattern, "a path that begins with / or *, where * stands alone or doubled");
        text("host", host, is_host_pattern, "a host name without port, possibly after *.");
        text("method", method, is_method, "a method in upper case");
        text("header", header, is_header_name, "a header name in lower case");
        text("value", value, is_visible, "printable ASCII");
        text("client", client, is_block, "an address or CIDR block such as 10.0.0.0/8");
    }

    /// Sizes grow, and the levels suffice for every sum that can come about.
    fn priority(&mut self) {
        let priority = &self.wire.priority;
        for (i, pair) in priority.size_limits.windows(2).enumerate() {
            if pair[1] <= pair[0] {
                let path = format_args!("priority.size_limits[{}]", i + 1);
                self.fail(&path, &format_args!("above the one before ({})", pair[0]), &pair[1]);
            }
        }
        let needed = levels_needed(self.wire);
        if priority.clamp {
            return;
        }
        match priority.levels {
            Some(levels) if u32::from(levels) < needed => {
                let rule = format_args!("at least {needed} (classes, stages, sizes), or clamp set");
                self.fail(&"priority.levels", &rule, &levels);
            }
            None if needed > 16 => {
                self.fail(&"priority", &"at most 16 levels in all, or clamp set", &needed);
            }
            _ => {}
        }
    }

    /// What the policies of a stage ask of each other.
    fn policies(&mut self, i: usize, stage: &StageV1) {
        let at = |rest: &str| format!("stages[{i}].{rest}");
        let mut band = |path: String, min: f64, max: f64| {
            if max <= min {
                self.fail(&path, &format_args!("above min ({min})"), &max);
            }
        };
        match &stage.queue {
            QueueV1::Red { min, max, .. }
            | QueueV1::PriorityRed { min, max, .. }
            | QueueV1::PdtRed { min, max, .. } => band(at("queue.max"), *min, *max),
            QueueV1::WorkRed { min_us, max_us, .. } => {
                band(at("queue.max_us"), *min_us as f64, *max_us as f64);
            }
            QueueV1::Wred { curves, .. } => {
                for (n, curve) in curves.iter().enumerate() {
                    band(at(&format!("queue.curves[{n}].max")), curve.min, curve.max);
                }
            }
            _ => {}
        }
        if stage.ageing != AgeingV1::None && stage.order != OrderV1::StrictPriority {
            self.fail(&at("ageing"), &"with the order strict_priority only", &"another order");
        }
        if let BatchV1::Adaptive { min, max, .. } = stage.batch
            && max < min
        {
            self.fail(&at("batch.max"), &format_args!("at least min ({min})"), &max);
        }
        if stage.batch != BatchV1::One && !matches!(stage.work, WorkV1::Stage { .. }) {
            self.fail(&at("batch"), &"one, unless the work is at the stage", &"more");
        }
        self.pool(i, stage);
    }

    /// A pool that is controlled stays within bounds, and each class of a split keeps a worker.
    fn pool(&mut self, i: usize, stage: &StageV1) {
        let (PoolV1::Threads { min, max, .. }
        | PoolV1::Aimd { min, max, .. }
        | PoolV1::Gradient { min, max, .. }) = stage.pool
        else {
            return;
        };
        if max < min {
            self.fail(&format_args!("stages[{i}].pool.max"), &format_args!("at least min ({min})"), &max);
        } else if !(min..=max).contains(&stage.workers) {
            let rule = format_args!("from pool.min to pool.max ({min} to {max})");
            self.fail(&format_args!("stages[{i}].workers"), &rule, &stage.workers);
        }
        let classes =
            if stage.split_by == SplitByV1::Fixed { stage.split.len() } else { self.wire.classes.len() };
        if min < classes as u32 {
            let rule = format_args!("at least one worker for each of the {classes} classes of the split");
            self.fail(&format_args!("stages[{i}].pool.min"), &rule, &min);
        }
    }

    fn stages(&mut self) {
        let wire = self.wire;
        self.unique("stages", wire.stages.iter().map(|s| s.name.as_str()));
        let mut serving = wire.stages.iter().enumerate().filter(|(_, s)| s.work == WorkV1::Servers);
        serving.next();
        for (i, _) in serving {
            self.fail(&format_args!("stages[{i}].work"), &"at servers in one stage at most", &"a second one");
        }
        for (i, stage) in wire.stages.iter().enumerate() {
            if let WorkV1::Stage { service, .. } = &stage.work {
                self.law(&format_args!("stages[{i}].work.service"), service);
            }
            self.split(i, stage);
            self.policies(i, stage);
        }
    }

    fn split(&mut self, i: usize, stage: &StageV1) {
        let (split, classes) = (&stage.split, self.wire.classes.len());
        let is_split = !split.is_empty() || stage.split_by != SplitByV1::Fixed;
        if stage.lend_after_us.is_some() && !is_split {
            let rule = "nothing, as the workers are not split among classes";
            self.fail(&format_args!("stages[{i}].lend_after_us"), &rule, &"a time");
        }
        if stage.dither && stage.split_by == SplitByV1::Fixed {
            self.fail(&format_args!("stages[{i}].dither"), &"false, as split_by is fixed", &"true");
        }
        if stage.split_by != SplitByV1::Fixed && (stage.workers as usize) < classes {
            let rule = format_args!("at least one for each of the {classes} classes, as they are split");
            self.fail(&format_args!("stages[{i}].workers"), &rule, &stage.workers);
        }
        if split.is_empty() {
            return;
        }
        if split.len() != classes {
            let rule = format_args!("one entry for each of the {classes} classes");
            return self.fail(&format_args!("stages[{i}].split"), &rule, &split.len());
        }
        let sum: u64 = split.iter().copied().map(u64::from).sum();
        if sum != u64::from(stage.workers) {
            let rule = format_args!("a sum of {} (workers)", stage.workers);
            self.fail(&format_args!("stages[{i}].split"), &rule, &sum);
        }
    }

    /// Numbers of the balancer and of the feedback that depend on each other.
    fn balancer(&mut self) {
        if let BalancerV1::DnfPublished { coefficients: k, base, min, .. } = &self.wire.balancer {
            let sum = k.cpu + k.mem + k.net + k.disk + k.rooms;
            if !(0.999_999..=1.000_001).contains(&sum) {
                self.fail(&"balancer.coefficients", &"a sum of 1", &sum);
            }
            if min >= base {
                self.fail(&"balancer.min", &format_args!("below base ({base})"), min);
            }
        }
        if let Some(feedback) = &self.wire.feedback {
            if feedback.clear > feedback.limit {
                let rule = format_args!("at most limit ({})", feedback.limit);
                self.fail(&"feedback.clear", &rule, &feedback.clear);
            }
            if feedback.silence_us < feedback.period_us {
                let rule = format_args!("at least period_us ({})", feedback.period_us);
                self.fail(&"feedback.silence_us", &rule, &feedback.silence_us);
            }
        }
    }

    fn servers(&mut self) {
        let wire = self.wire;
        if !wire.servers.is_empty() && wire.servers.iter().all(|server| server.weight == 0.0) {
            self.fail(&"servers", &"a weight above 0 for one of them at least", &"0 for all");
        }
        self.unique("servers", wire.servers.iter().map(|s| s.name.as_str()));
        let serving = wire.stages.iter().any(|s| s.work == WorkV1::Servers);
        match (serving, wire.servers.len()) {
            (true, 0) => self.fail(&"servers", &"1 to 64 entries, as a stage works at servers", &"0"),
            (false, n) if n > 0 => self.fail(&"servers", &"none, as no stage works at servers", &n),
            _ => {}
        }
    }

    fn events(&mut self) {
        let wire = self.wire;
        for (i, event) in wire.events.iter().enumerate() {
            if event.at_us > wire.run.horizon_us {
                let rule = format_args!("at most horizon_us ({})", wire.run.horizon_us);
                self.fail(&format_args!("events[{i}].at_us"), &rule, &event.at_us);
            }
            self.target(i, event);
        }
    }

    /// Whom the event is about has to exist.
    fn target(&mut self, i: usize, event: &EventV1) {
        let wire = self.wire;
        match &event.action {
            ActionV1::Load { class: None, .. } | ActionV1::Service { class: None, .. } => {}
            ActionV1::Service { class: Some(name), .. } => {
                let names: Vec<&str> = wire.classes.iter().map(|c| c.name.as_str()).collect();
                self.known(&format_args!("events[{i}].class"), "class", name, &names);
            }
            ActionV1::Load { class: Some(name), .. } => {
                let names: Vec<&str> = wire.classes.iter().map(|c| c.name.as_str()).collect();
                self.known(&format_args!("events[{i}].class"), "class", name, &names);
                if let Some(class) = wire.classes.iter().find(|c| c.name == *name)
                    && matches!(class.load, LoadV1::Trace { .. })
                {
                    let rule = "a class whose load is not a trace";
                    self.fail(&format_args!("events[{i}].class"), &rule, &wire::quoted(name));
                }
            }
            action => {
                let names: Vec<&str> = wire.servers.iter().map(|s| s.name.as_str()).collect();
                let server = action.server().map_or("", String::as_str);
                self.known(&format_args!("events[{i}].server"), "server", server, &names);
            }
        }
    }

    fn known(&mut self, path: &dyn fmt::Display, what: &str, name: &str, names: &[&str]) {
        if names.contains(&name) {
            return;
        }
        let rule = match names {
            [] => format!("the name of a {what}, of which there are none"),
            _ => format!("the name of a {what} ({})", names.join(", ")),
        };
        self.errors.push(
            ScenarioError::new(path, &rule, &wire::quoted(name)).with_guess(wire::nearest(name, names)),
        );
    }

    fn unique<'n>(&mut self, list: &str, names: impl Iterator<Item = &'n str>) {
        let mut seen = BTreeSet::new();
        for (i, name) in names.enumerate() {
            if !seen.insert(name) {
                self.fail(
                    &format_args!("{list}[{i}].name"),
                    &"unlike every other name here",
                    &wire::quoted(name),
                );
            }
        }
    }
}

/// `/` or `*` first, no query, no spaces, and never more than two stars in a row.
fn is_path_pattern(text: &str) -> bool {
    text.starts_with(['/', '*'])
        && !text.contains("***")
        && text.bytes().all(|b| b.is_ascii_graphic() && b != b'?' && b != b'#')
}

/// A DNS name, an IPv4 address or a bracketed IPv6 address; `*.` may stand in front of a name.
fn is_host_pattern(text: &str) -> bool {
    if let Some(address) = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<core::net::Ipv6Addr>().is_ok();
    }
    let name = text.strip_prefix("*.").unwrap_or(text);
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    name.split('.').all(label)
}

fn is_method(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_uppercase() || b == b'-' || b == b'_')
}

/// A token of RFC 9110, section 5.6.2, in lower case.
fn is_header_name(text: &str) -> bool {
    text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"!#$%&'*+-.^_`|~".contains(&b))
}

fn is_visible(text: &str) -> bool {
    text.bytes().all(|b| (b' '..=b'~').contains(&b))
}

/// An address, or an address, `/` and the length of its prefix.
fn is_block(text: &str) -> bool {
    let (address, prefix) = match text.split_once('/') {
        Some((address, prefix)) => (address, Some(prefix)),
        None => (text, None),
    };
    let Ok(address) = address.parse::<IpAddr>() else {
        return false;
    };
    let longest = if address.is_ipv4() { 32 } else { 128 };
    prefix.is_none_or(|prefix| {
        prefix.bytes().all(|b| b.is_ascii_digit()) && prefix.parse::<u8>().is_ok_and(|n| n <= longest)
    })
}

/// Levels that suffice for every class, at every stage, whatever its size.
fn levels_needed(wire: &ScenarioV1) -> u32 {
    let top = wire.classes.iter().map(|c| c.priority).max().unwrap_or(0);
    let passed = if wire.priority.per_stage { wire.stages.len().saturating_sub(1) } else { 0 };
    u32::from(top) + 1 + passed as u32 + wire.priority.size_limits.len() as u32
}

/// Resolves a scenario and what its edits make of it.
fn resolve_all(wire: ScenarioV1, versions: Vec<ScenarioV1>) -> Scenario {
    let at = |us| Instant::START + Duration::from_micros(us);
    let times: Vec<Instant> = wire.edits.iter().map(|edit| at(edit.at_us)).collect();
    let versions = versions.into_iter().map(resolve);
    let edits = times.into_iter().zip(versions).map(|(at, version)| Edit { at, version }).collect();
    Scenario { edits, ..resolve(wire) }
}

/// Resolves what [`check_all`] found to be right.
fn resolve(wire: ScenarioV1) -> Scenario {
    let horizon = Duration::from_micros(wire.run.horizon_us);
    let warmup_us = wire.run.warmup_us.unwrap_or(match wire.run.mode {
        ModeV1::Steady => wire.run.horizon_us / 10,
        ModeV1::Transient => 0,
    });
    let classes: Vec<Class> = wire.classes.iter().map(class).collect();
    let levels = wire.priority.levels.unwrap_or_else(|| levels_needed(&wire).min(16) as u8);
    let serving_stage = wire.stages.iter().position(|s| s.work == WorkV1::Servers).map(|i| StageId(i as u8));
    let mut events: Vec<TimedEvent> = wire.events.iter().flat_map(|event| timed(&wire, event)).collect();
    events.sort_by_key(|event| event.at);
    Scenario {
        seed: wire.run.seed,
        horizon,
        warmup: Duration::from_micros(warmup_us),
        mode: wire.run.mode,
        classes,
        levels: Levels {
            count: levels,
            size_limits: wire.priority.size_limits.clone(),
            per_stage: wire.priority.per_stage,
            size_in_queue: wire.priority.size_in_queue,
        },
        stages: wire.stages.iter().map(|s| stage(s, levels)).collect(),
        serving_stage,
        balancer: wire.balancer.clone(),
        reports: wire.feedback.is_some() || wire.balancer.goes_by_reports(),
        feedback: wire.feedback.clone().unwrap_or_default(),
        gateways: wire.gateways,
        servers: wire
            .servers
            .iter()
            .map(|s| ServerSpec {
                name: s.name.clone(),
                slots: s.slots,
                speed: s.speed,
                max_in_flight: s.max_in_flight,
                weight: s.weight,
                discipline: s.discipline,
                capacity: s.capacity.clone(),
            })
            .collect(),
        events,
        edits: Arc::from([]),
        wire,
    }
}

fn class(class: &ClassV1) -> Class {
    let mut load = class.load.clone();
    if let LoadV1::Trace { label } = &mut load
        && label.is_empty()
    {
        label.clone_from(&class.name);
    }
    Class {
        name: class.name.clone(),
        priority: Priority(class.priority),
        delay_weight: DelayWeight::new(class.delay_weight).expect("checked: finite and above zero"),
        deadline: class.deadline_us.map(Duration::from_micros),
        load,
        service: class.service.clone(),
        size: class.size.clone(),
        share: class.share,
        retry: class.retry.clone(),
        kind: class.kind,
        demand: class.demand.clone(),
        answer: Duration::from_micros(class.answer_us),
        sources: class.sources,
        targets: class.targets,
        rules: class.rules.clone(),
    }
}

fn stage(stage: &StageV1, levels: u8) -> StageSpec {
    StageSpec {
        name: stage.name.clone(),
        workers: stage.workers,
        split: (!stage.split.is_empty()).then(|| stage.split.clone()),
        split_by: stage.split_by.clone(),
        dither: stage.dither,
        lend_after: stage.lend_after_us.map(Duration::from_micros),
        levels,
        order: stage.order,
        queue: stage.queue.clone(),
        expired: stage.expired,
        ageing: stage.ageing.clone(),
        pool: stage.pool.clone(),
        batch: stage.batch.clone(),
        starts_per_s: stage.starts_per_s,
        work: match &stage.work {
            WorkV1::Stage { service, batch_us } => {
                Work::Own(service.clone(), Duration::from_micros(*batch_us))
            }
            WorkV1::Link { bytes_per_s } => Work::Link(*bytes_per_s),
            WorkV1::Servers => Work::Servers,
        },
    }
}

/// What an event of the wire form does, and when: once or, for a server that flaps, several times.
fn timed(wire: &ScenarioV1, event: &EventV1) -> Vec<TimedEvent> {
    let class = |name: &str| {
        let index = wire.classes.iter().position(|c| c.name == name).expect("checked: the class exists");
        ClassId(index as u8)
    };
    let server = |name: &str| {
        let index = wire.servers.iter().position(|s| s.name == name).expect("checked: the server exists");
        ServerId(index as u16)
    };
    let action = match &event.action {
        ActionV1::Load { class: name, factor } => {
            Action::Load { class: name.as_deref().map(class), factor: *factor }
        }
        ActionV1::Service { class: name, factor } => {
            Action::Service { class: name.as_deref().map(class), factor: *factor }
        }
        ActionV1::ServerDown { server: name } => Action::ServerDown(server(name)),
        ActionV1::ServerUp { server: name } => Action::ServerUp(server(name)),
        ActionV1::ServerSpeed { server: name, speed } => Action::ServerSpeed(server(name), *speed),
        ActionV1::Neighbour { server: name, share } => Action::Neighbour(server(name), *share),
        ActionV1::ServerReports { server: name, state } => Action::ServerReports(server(name), *state),
        ActionV1::ServerFlapping { server: name, period_us, times } => {
            return flaps(server(name), event.at_us, *period_us, *times, wire.run.horizon_us);
        }
    };
    Vec::from([TimedEvent { at: Instant::START + Duration::from_micros(event.at_us), action }])
}

/// A server that goes down and comes back, within the run.
fn flaps(server: ServerId, at_us: u64, period_us: u64, times: u32, horizon_us: u64) -> Vec<TimedEvent> {
    let one = |n: u64| {
        let down_us = at_us.saturating_add(n.saturating_mul(period_us));
        [
            (down_us, Action::ServerDown(server)),
            (down_us.saturating_add(period_us / 2), Action::ServerUp(server)),
        ]
    };
    (0..u64::from(times))
        .flat_map(one)
        .filter(|&(at_us, _)| at_us <= horizon_us)
        .map(|(at_us, action)| TimedEvent { at: Instant::START + Duration::from_micros(at_us), action })
        .collect()
}

impl BalancerV1 {
    /// Whether it goes by what servers report of their load.
    #[must_use]
    pub const fn goes_by_reports(&self) -> bool {
        matches!(
            self,
            Self::Dnf { .. }
                | Self::DnfPublished { .. }
                | Self::WeightedRoundRobin { weights: WeightsV1::Reported }
        )
    }
}
