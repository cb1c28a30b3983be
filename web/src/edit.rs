//! Changes to a scenario, as the editor makes them: each is one function from wire form to wire form, and
//! only a result that passes the core's check is run.

use tidegate_core::scenario::v1::{
    ActionV1, ClassV1, EventV1, FromV1, LawV1, LoadV1, PhaseV1, RuleV1, ScenarioV1, ServerV1, StageV1, WorkV1,
};

/// The classes from the highest priority down; equals as written.
#[must_use]
pub fn by_priority(s: &ScenarioV1) -> Vec<usize> {
    let mut order: Vec<usize> = (0..s.classes.len()).collect();
    crate::draw::geom::sort_few(&mut order, |&a, &b| s.classes[a].priority > s.classes[b].priority);
    order
}

/// Whole microseconds of a time in seconds.
#[must_use]
pub fn us(s: f64) -> u64 {
    (s.max(0.0) * 1e6).round() as u64
}

/// Whole number of a typed one; out of range it lands where the check complains.
#[must_use]
pub fn whole(x: f64) -> u32 {
    x.round().clamp(0.0, f64::from(u32::MAX)) as u32
}

/// Kinds of load, in the order offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Independent arrivals.
    Poisson,
    /// Evenly spaced.
    Even,
    /// Phases of different rates.
    Bursty,
    /// Clients who wait.
    Closed,
    /// Recorded.
    Trace,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Poisson, Self::Even, Self::Bursty, Self::Closed, Self::Trace];

    /// Kind of a load.
    #[must_use]
    pub const fn of(load: &LoadV1) -> Self {
        match load {
            LoadV1::Poisson { .. } => Self::Poisson,
            LoadV1::Deterministic { .. } => Self::Even,
            LoadV1::Mmpp { .. } => Self::Bursty,
            LoadV1::Closed { .. } => Self::Closed,
            LoadV1::Trace { .. } => Self::Trace,
        }
    }

    /// A load of the kind with about the given mean rate.
    #[must_use]
    pub fn with_rate(self, rate_per_s: f64, class: &str) -> LoadV1 {
        match self {
            Self::Poisson => LoadV1::Poisson { rate_per_s },
            Self::Even => LoadV1::Deterministic { rate_per_s, count: None },
            Self::Bursty => LoadV1::Mmpp {
                phases: vec![
                    PhaseV1 { rate_per_s: rate_per_s * 0.5, mean_us: 8_000_000 },
                    PhaseV1 { rate_per_s: rate_per_s * 3.0, mean_us: 2_000_000 },
                ],
            },
            Self::Closed => LoadV1::Closed {
                clients: whole(rate_per_s.clamp(1.0, 1000.0)),
                think: LawV1::Exponential { mean_us: 1_000_000 },
                count: None,
            },
            Self::Trace => LoadV1::Trace { label: class.to_owned() },
        }
    }
}

/// A name that no other in `taken` has: `Class 3`, `api-6`.
fn fresh(stem: &str, taken: &[&str]) -> String {
    (taken.len() + 1..)
        .map(|n| format!("{stem}{n}"))
        .find(|name| !taken.contains(&name.as_str()))
        .unwrap_or_default()
}

/// Gives a class another kind of load, of about the same rate. Recorded traffic cannot be told to change, so the
/// load events about the class go with its load.
pub fn set_kind(s: &mut ScenarioV1, class: usize, kind: Kind) {
    let Some(class) = s.classes.get_mut(class).filter(|c| Kind::of(&c.load) != kind) else { return };
    let rate = crate::story::mean_rate(&class.load).unwrap_or(20.0).max(1.0);
    class.load = kind.with_rate(rate, &class.name);
    if kind == Kind::Trace {
        let name = class.name.clone();
        s.events.retain(|e| !matches!(&e.action, ActionV1::Load { class: Some(of), .. } if *of == name));
    }
}

/// Adds a class below all others.
pub fn add_class(s: &mut ScenarioV1) {
    let taken: Vec<&str> = s.classes.iter().map(|c| c.name.as_str()).collect();
    let name = fresh("Class ", &taken);
    s.classes.push(ClassV1 { name, load: LoadV1::Poisson { rate_per_s: 20.0 }, ..ClassV1::default() });
    for stage in s.stages.iter_mut().filter(|s| !s.split.is_empty()) {
        stage.split.push(1);
        stage.workers += 1;
    }
}

/// Removes a class and everything that names it.
pub fn remove_class(s: &mut ScenarioV1, at: usize) {
    if at >= s.classes.len() {
        return;
    }
    let gone = s.classes.remove(at).name;
    s.events.retain(|e| class_of(&e.action) != Some(gone.as_str()));
    for stage in s.stages.iter_mut().filter(|s| at < s.split.len()) {
        stage.split.remove(at);
        stage.workers = stage.split.iter().sum();
    }
}

/// Renames a class wherever it is named. A trace label that followed the name follows it still.
pub fn rename_class(s: &mut ScenarioV1, at: usize, to: &str) {
    let Some(class) = s.classes.get_mut(at) else { return };
    let old = core::mem::replace(&mut class.name, to.to_owned());
    for event in &mut s.events {
        if let ActionV1::Load { class: Some(name), .. } | ActionV1::Service { class: Some(name), .. } =
            &mut event.action
            && *name == old
        {
            to.clone_into(name);
        }
    }
}

/// Puts a stage before stage `at`: eight workers who take a millisecond for each request.
pub fn add_stage(s: &mut ScenarioV1, at: usize) {
    let taken: Vec<&str> = s.stages.iter().map(|stage| stage.name.as_str()).collect();
    let name = fresh("Stage ", &taken);
    let work = WorkV1::Stage { service: LawV1::Exponential { mean_us: 1_000 }, batch_us: 0 };
    s.stages.insert(at.min(s.stages.len()), StageV1 { name, workers: 8, work, ..StageV1::default() });
}

/// Whether a stage may go: another is left, and it is not the one that servers work for.
#[must_use]
pub fn is_removable(s: &ScenarioV1, at: usize) -> bool {
    s.stages.len() > 1 && s.stages.get(at).is_some_and(|stage| stage.work != WorkV1::Servers)
}

/// Removes a stage that [may go](is_removable).
pub fn remove_stage(s: &mut ScenarioV1, at: usize) {
    if is_removable(s, at) {
        s.stages.remove(at);
    }
}

/// Adds a server like the last one.
pub fn add_server(s: &mut ScenarioV1) {
    let taken: Vec<&str> = s.servers.iter().map(|c| c.name.as_str()).collect();
    let stem = taken.last().map_or("server-", |n| n.trim_end_matches(|c: char| c.is_ascii_digit()));
    let name = fresh(stem, &taken);
    let like = s.servers.last().cloned();
    let like = like.unwrap_or_default();
    s.servers.push(ServerV1 { name, ..like });
}

/// Removes a server and the events about it.
pub fn remove_server(s: &mut ScenarioV1, at: usize) {
    if at >= s.servers.len() {
        return;
    }
    let gone = s.servers.remove(at).name;
    s.events.retain(|e| e.action.server() != Some(&gone));
}

/// Renames a server wherever it is named.
pub fn rename_server(s: &mut ScenarioV1, at: usize, to: &str) {
    let Some(server) = s.servers.get_mut(at) else { return };
    let old = core::mem::replace(&mut server.name, to.to_owned());
    for event in &mut s.events {
        if let Some(server) = event.action.server_mut().filter(|server| **server == old) {
            to.clone_into(server);
        }
    }
}

/// Sets the workers of a stage; a split keeps its proportions, and everyone at least one while there are enough.
pub fn set_workers(s: &mut ScenarioV1, stage: usize, workers: u32) {
    let Some(stage) = s.stages.get_mut(stage) else { return };
    stage.workers = workers;
    if !stage.split.is_empty() {
        let shares: Vec<f64> = stage.split.iter().map(|&n| f64::from(n)).collect();
        stage.split = crate::draw::geom::apportion(workers, &shares);
    }
}

/// Sets one class's part of a split; the pool is what the parts add up to.
pub fn set_part(s: &mut ScenarioV1, stage: usize, class: usize, workers: u32) {
    let Some(stage) = s.stages.get_mut(stage) else { return };
    if let Some(part) = stage.split.get_mut(class) {
        *part = workers;
        stage.workers = stage.split.iter().fold(0, |sum, &n| sum.saturating_add(n));
    }
}

/// Splits a pool evenly, or shares it again.
pub fn split(s: &mut ScenarioV1, stage: usize, on: bool) {
    let classes = s.classes.len();
    let Some(stage) = s.stages.get_mut(stage) else { return };
    stage.split =
        if on { crate::draw::geom::apportion(stage.workers, &vec![1.0; classes]) } else { Vec::new() };
}

/// Sets the path rule of a class; an empty one removes it.
pub fn set_path_rule(s: &mut ScenarioV1, class: usize, path: &str) {
    let Some(class) = s.classes.get_mut(class) else { return };
    let rule = class.rules.iter().position(|r| r.path.is_some());
    match (rule, path.is_empty()) {
        (Some(at), true) => {
            class.rules.remove(at);
        }
        (Some(at), false) => class.rules[at].path = Some(path.to_owned()),
        (None, true) => {}
        (None, false) => class.rules.push(RuleV1 {
            path: Some(path.to_owned()),
            host: None,
            method: None,
            header: None,
            value: None,
            client: None,
            from: FromV1::Trusted,
        }),
    }
}

/// Adds an event at a moment: what breaks a quiet run most plainly. Events stay in order of time.
pub fn add_event(s: &mut ScenarioV1, at_us: u64) {
    let up = s.servers.iter().rev().find(|server| {
        let last = s.events.iter().rfind(|e| {
            e.at_us <= at_us && e.action.server().map(String::as_str) == Some(server.name.as_str())
        });
        !matches!(last.map(|e| &e.action), Some(ActionV1::ServerDown { .. }))
    });
    let action = match up {
        Some(server) if s.servers.len() > 1 => ActionV1::ServerDown { server: server.name.clone() },
        _ => ActionV1::Load { class: None, factor: 1.5 },
    };
    let place = s.events.partition_point(|e| e.at_us <= at_us);
    s.events.insert(place, EventV1 { at_us, action });
}

/// The class that an event is about, if it is about one.
fn class_of(action: &ActionV1) -> Option<&str> {
    match action {
        ActionV1::Load { class, .. } | ActionV1::Service { class, .. } => class.as_deref(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::{Scenario, presets};

    fn wire() -> ScenarioV1 {
        presets::get("flash-crowd").expect("a preset").scenario().wire().clone()
    }

    fn valid(s: &ScenarioV1) {
        if let Err(e) = Scenario::check(s.clone()) {
            panic!("{e}");
        }
    }

    #[test]
    fn classes_and_servers_come_and_go_without_loose_ends() {
        let mut s = wire();
        split(&mut s, 1, true);
        valid(&s);
        add_class(&mut s);
        add_server(&mut s);
        assert_eq!(s.servers.last().expect("one").name, "api-6");
        valid(&s);
        rename_class(&mut s, 1, "Reading");
        rename_server(&mut s, 3, "db-4");
        valid(&s);
        remove_class(&mut s, 1);
        remove_server(&mut s, 3);
        valid(&s);
        assert!(!s.events.iter().any(|e| e.action.server().map(String::as_str) == Some("db-4")));
    }

    #[test]
    fn stages_come_and_go_but_for_the_one_that_servers_work_for() {
        let mut s = wire();
        let before = s.stages.clone();
        add_stage(&mut s, 1);
        add_stage(&mut s, 0);
        valid(&s);
        assert_eq!(s.stages.len(), 4);
        assert_ne!(s.stages[0].name, s.stages[2].name);
        remove_stage(&mut s, 2);
        remove_stage(&mut s, 0);
        assert_eq!(s.stages, before);
        remove_stage(&mut s, 1);
        assert_eq!(s.stages, before, "servers work for it");
        remove_stage(&mut s, 0);
        remove_stage(&mut s, 0);
        assert_eq!(s.stages, before[1..], "one is left");
        valid(&s);
    }

    #[test]
    fn a_split_always_adds_up() {
        let mut s = wire();
        split(&mut s, 1, true);
        set_workers(&mut s, 1, 50);
        assert_eq!(s.stages[1].split.iter().sum::<u32>(), 50);
        set_part(&mut s, 1, 0, 9);
        assert_eq!(s.stages[1].split.iter().sum::<u32>(), s.stages[1].workers);
        valid(&s);
    }

    #[test]
    fn every_kind_and_family_is_valid() {
        for kind in Kind::ALL {
            let mut s = wire();
            set_kind(&mut s, 0, kind);
            assert_eq!(Kind::of(&s.classes[0].load), kind);
            valid(&s);
        }
    }

    #[test]
    fn added_events_stay_in_order_and_hit_servers_that_are_up() {
        let mut s = wire();
        add_event(&mut s, 100_000_000);
        valid(&s);
        assert!(s.events.is_sorted_by_key(|e| e.at_us));
        let added = s.events.iter().find(|e| e.at_us == 100_000_000).expect("added");
        assert_eq!(added.action, ActionV1::ServerDown { server: "api-5".into() });
    }
}
