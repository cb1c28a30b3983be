//! The gateway against a naive model, over random scenarios and random calls.
//!
//! The model keeps one plain list of jobs and searches it for every decision. Whatever the gateway does with
//! its linked lanes, bit sets and reused slots, the two must give the same answers to the same calls, and
//! nobody may be lost, doubled, or served out of turn.

use tidegate_core::frame::{Cause, Frame};
use tidegate_core::gateway::{Arrival, Asked, Gateway, Outcome, Output, Step};
use tidegate_core::id::{ClassId, JobId, ServerId};
use tidegate_core::scenario::v1::{OrderV1, PerV1, QueueV1};
use tidegate_core::scenario::{Parsed, Scenario, Work, parse_json};
use tidegate_core::time::Instant;
use tidegate_core::unit::{Chance, mix};

/// A plain random number generator for tests.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        mix(self.0) % n
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.below(n) == 0
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Where {
    Queued { since: u64, ticket: u64 },
    Working { server: Option<u16> },
}

#[derive(Clone, Debug)]
struct ModelJob {
    id: JobId,
    class: usize,
    stage: usize,
    place: Where,
    arrived: u64,
    waited: u64,
    deadline: Option<u64>,
}

struct Model<'a> {
    scenario: &'a Scenario,
    jobs: Vec<ModelJob>,
    up: Vec<bool>,
    tickets: u64,
}

impl Model<'_> {
    fn queued(&self, stage: usize) -> impl Iterator<Item = &ModelJob> {
        self.jobs.iter().filter(move |j| j.stage == stage && matches!(j.place, Where::Queued { .. }))
    }

    fn working(&self, stage: usize) -> impl Iterator<Item = &ModelJob> {
        self.jobs.iter().filter(move |j| j.stage == stage && matches!(j.place, Where::Working { .. }))
    }

    fn in_flight(&self, server: usize) -> u32 {
        let here = Where::Working { server: Some(server as u16) };
        self.jobs.iter().filter(|j| j.place == here).count() as u32
    }

    fn has_room(&self, server: usize) -> bool {
        let most = self.scenario.servers[server].max_in_flight.unwrap_or(u32::MAX);
        self.up[server] && self.in_flight(server) < most
    }

    fn serving(&self, stage: usize) -> bool {
        self.scenario.stages[stage].work == Work::Servers
    }

    /// Whether a job of `class` could be on a worker of `stage` right away.
    fn can_start(&self, stage: usize, class: usize) -> bool {
        let spec = &self.scenario.stages[stage];
        let free = match &spec.split {
            Some(split) => (self.working(stage).filter(|j| j.class == class).count() as u32) < split[class],
            None => (self.working(stage).count() as u32) < spec.workers,
        };
        free && (!self.serving(stage) || (0..self.up.len()).any(|s| self.has_room(s)))
    }

    fn level(&self, class: usize) -> u8 {
        self.scenario.classes[class].priority.0
    }

    fn is_full(&self, stage: usize, class: usize) -> bool {
        let QueueV1::TailDrop { limit, per } = self.scenario.stages[stage].queue else {
            unreachable!("the model knows no other")
        };
        let waiting = match per {
            PerV1::Level => self.queued(stage).filter(|j| self.level(j.class) == self.level(class)).count(),
            PerV1::Stage => self.queued(stage).count(),
        };
        !self.can_start(stage, class) && waiting as u32 >= limit
    }

    /// The job a stage must dispatch now, if any.
    fn next(&self, stage: usize) -> Option<JobId> {
        let order = self.scenario.stages[stage].order;
        self.queued(stage)
            .filter(|j| self.can_start(stage, j.class))
            .min_by_key(|j| {
                let Where::Queued { ticket, .. } = j.place else { unreachable!("filtered to queued jobs") };
                match order {
                    OrderV1::StrictPriority => (255 - self.level(j.class), ticket),
                    _ => (0, ticket),
                }
            })
            .map(|j| j.id)
    }

    fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    fn at(&mut self, id: JobId) -> &mut ModelJob {
        self.jobs.iter_mut().find(|j| j.id == id).expect("the gateway speaks of jobs that are inside")
    }

    fn remove(&mut self, id: JobId) -> ModelJob {
        let at =
            self.jobs.iter().position(|j| j.id == id).expect("the gateway speaks of jobs that are inside");
        self.jobs.remove(at)
    }
}

fn random_scenario(dice: &mut Dice) -> Scenario {
    let classes = 1 + dice.below(4) as usize;
    let stages = 1 + dice.below(3) as usize;
    let serving = dice.below(stages as u64 + 1) as usize; // = stages: none of them
    let class = |n: usize, dice: &mut Dice| format!(r#"{{"name":"c{n}","priority":{}}}"#, dice.below(3));
    let stage = |n: usize, dice: &mut Dice| {
        let split: Vec<u32> = (0..classes).map(|_| 1 + dice.below(2) as u32).collect();
        let (workers, split) = if dice.one_in(3) {
            (split.iter().sum(), format!(r#""split":{split:?},"#))
        } else {
            (1 + dice.below(3) as u32, String::new())
        };
        format!(
            r#"{{"name":"s{n}","workers":{workers},{split}"order":"{}",
                "queue":{{"policy":"tail_drop","limit":{},"per":"{}"}},"work":{{{}}}}}"#,
            ["strict_priority", "fifo"][dice.below(2) as usize],
            dice.below(6),
            ["level", "stage"][dice.below(2) as usize],
            if n == serving {
                r#""at":"servers""#
            } else {
                r#""at":"stage","service":{"law":"constant","mean_us":1}"#
            }
        )
    };
    let server = |n: u64, dice: &mut Dice| {
        let cap =
            if dice.one_in(2) { format!(r#","max_in_flight":{}"#, 1 + dice.below(2)) } else { String::new() };
        format!(r#"{{"name":"v{n}"{cap}}}"#)
    };
    let classes: Vec<String> = (0..classes).map(|n| class(n, dice)).collect();
    let stages_text: Vec<String> = (0..stages).map(|n| stage(n, dice)).collect();
    let servers: Vec<String> =
        if serving < stages { (0..=dice.below(3)).map(|n| server(n, dice)).collect() } else { Vec::new() };
    let balancer = ["round_robin", "least_connections"][dice.below(2) as usize];
    let text = format!(
        r#"{{"tidegate":1,"classes":[{}],"stages":[{}],"balancer":{{"policy":"{balancer}"}},"servers":[{}]}}"#,
        classes.join(","),
        stages_text.join(","),
        servers.join(",")
    );
    parse_json(&text).and_then(Parsed::check).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// Drains the gateway and checks each decision against the model.
fn drain(gateway: &mut Gateway, model: &mut Model<'_>, now: u64) {
    while let Some(output) = gateway.poll(Instant::from_nanos(now)) {
        match output {
            Output::Dispatch(dispatch) => {
                let stage = usize::from(dispatch.stage.0);
                assert_eq!(Some(dispatch.job), model.next(stage), "stage {stage} serves out of turn");
                assert_eq!(dispatch.server.is_some(), model.serving(stage));
                if let Some(server) = dispatch.server {
                    assert!(model.has_room(usize::from(server.0)), "sent to a server without room");
                }
                let job = model.at(dispatch.job);
                let Where::Queued { since, .. } = job.place else { panic!("dispatched twice") };
                assert_eq!(dispatch.waited.as_nanos(), now - since);
                job.waited += now - since;
                job.place = Where::Working { server: dispatch.server.map(|s| s.0) };
            }
            Output::Shed { job, cause, .. } => {
                assert_eq!(cause, Cause::Deadline);
                let job = model.remove(job);
                assert!(matches!(job.place, Where::Queued { .. }));
                assert!(job.deadline.is_some_and(|at| at <= now), "turned away before its deadline");
            }
        }
    }
    for stage in 0..model.scenario.stages.len() {
        assert_eq!(model.next(stage), None, "stage {stage} leaves a worker idle with work at hand");
    }
    let overdue = model
        .jobs
        .iter()
        .any(|j| matches!(j.place, Where::Queued { .. }) && j.deadline.is_some_and(|at| at <= now));
    assert!(!overdue, "a job waits on although its deadline passed");
    let next = model
        .jobs
        .iter()
        .filter(|j| matches!(j.place, Where::Queued { .. }))
        .filter_map(|j| j.deadline)
        .min();
    if let Some(next) = next {
        assert!(gateway.poll_at().is_some_and(|at| at.as_nanos() <= next), "poll_at is late");
    }
}

fn compare_frames(gateway: &Gateway, model: &Model<'_>, now: u64, frame: &mut Frame) {
    gateway.frame(Instant::from_nanos(now), frame);
    for (at, stage) in frame.stages.iter().enumerate() {
        assert_eq!(stage.waiting.iter().sum::<u32>() as usize, model.queued(at).count());
        for (class, seen) in stage.classes.iter().enumerate() {
            assert_eq!(seen.busy as usize, model.working(at).filter(|j| j.class == class).count());
            assert!(seen.busy <= seen.slots);
        }
    }
    for (at, server) in frame.servers.iter().enumerate() {
        assert_eq!(server.in_flight.iter().sum::<u32>(), model.in_flight(at));
    }
    for (at, class) in frame.classes.iter().enumerate() {
        assert_eq!(class.in_system as usize, model.jobs.iter().filter(|j| j.class == at).count());
        let gone = class.completed + class.failed + class.cancelled + class.shed.iter().sum::<u64>();
        assert_eq!(class.arrived, gone + class.in_system, "class {at}: lost or doubled");
    }
}

fn arrive(gateway: &mut Gateway, model: &mut Model<'_>, dice: &mut Dice, now: u64) {
    let class = dice.below(model.scenario.classes.len() as u64) as usize;
    let deadline = dice.one_in(3).then(|| now + dice.below(40));
    let full = model.is_full(0, class);
    let arrival = Arrival {
        class: ClassId(class as u8),
        deadline: deadline.map(Instant::from_nanos),
        chance: Chance(dice.below(u64::MAX)),
        size: None,
        asked: Asked::default(),
    };
    let result = gateway.arrive(Instant::from_nanos(now), arrival);
    assert_eq!(result.err(), full.then_some(Cause::Full));
    if let Ok(id) = result {
        let ticket = model.ticket();
        let place = Where::Queued { since: now, ticket };
        model.jobs.push(ModelJob { id, class, stage: 0, place, arrived: now, waited: 0, deadline });
    }
}

fn end_work(gateway: &mut Gateway, model: &mut Model<'_>, dice: &mut Dice, now: u64) {
    let working: Vec<JobId> =
        model.jobs.iter().filter(|j| matches!(j.place, Where::Working { .. })).map(|j| j.id).collect();
    if working.is_empty() {
        return;
    }
    let id = working[dice.below(working.len() as u64) as usize];
    let outcome = if dice.one_in(8) { Outcome::Failed } else { Outcome::Completed };
    let job = model.remove(id);
    let next = job.stage + 1;
    let goes_on = outcome == Outcome::Completed && next < model.scenario.stages.len();
    let full = goes_on && model.is_full(next, job.class);
    match gateway.done(Instant::from_nanos(now), id, outcome) {
        Step::Queued(stage) => {
            assert!(goes_on && !full);
            assert_eq!(usize::from(stage.0), next);
            let place = Where::Queued { since: now, ticket: model.ticket() };
            model.jobs.push(ModelJob { stage: next, place, ..job });
        }
        Step::Shed(stage, cause) => {
            assert!(full, "turned away although there was room");
            assert_eq!((usize::from(stage.0), cause), (next, Cause::Full));
        }
        Step::Left(left) => {
            assert!(!goes_on);
            assert_eq!(left.waited.as_nanos(), job.waited);
            assert_eq!(left.response.as_nanos(), now - job.arrived);
            let in_time = job.deadline.is_none_or(|at| now <= at);
            assert_eq!(left.good, outcome == Outcome::Completed && in_time);
        }
        Step::Stale => panic!("a job on a worker is not stale"),
    }
    assert_eq!(gateway.done(Instant::from_nanos(now), id, outcome), Step::Stale, "done twice");
}

fn retry(gateway: &mut Gateway, model: &mut Model<'_>, dice: &mut Dice, now: u64) {
    if model.jobs.is_empty() {
        return;
    }
    let at = dice.below(model.jobs.len() as u64) as usize;
    let (id, place) = (model.jobs[at].id, model.jobs[at].place.clone());
    let from = if let Where::Working { server } = place { server } else { None };
    let to = gateway.retry(Instant::from_nanos(now), id);
    let possible =
        from.is_some_and(|from| (0..model.up.len()).any(|s| s != usize::from(from) && model.has_room(s)));
    assert_eq!(to.is_some(), possible);
    if let Some(to) = to {
        assert_ne!(Some(to.0), from);
        assert!(model.has_room(usize::from(to.0)));
        model.at(id).place = Where::Working { server: Some(to.0) };
    }
}

#[test]
fn every_decision_is_the_model_s() {
    for seed in 0..400 {
        let mut dice = Dice(mix(seed));
        let scenario = random_scenario(&mut dice);
        let mut gateway = Gateway::new(&scenario);
        let mut model = Model {
            scenario: &scenario,
            jobs: Vec::new(),
            up: vec![true; scenario.servers.len()],
            tickets: 0,
        };
        let (mut now, mut frame) = (0, Frame::default());
        for step in 0..300 {
            now += dice.below(6);
            // Deadlines that passed since are the first thing to happen now.
            drain(&mut gateway, &mut model, now);
            match dice.below(10) {
                0..=4 => arrive(&mut gateway, &mut model, &mut dice, now),
                5..=7 => end_work(&mut gateway, &mut model, &mut dice, now),
                8 if !model.jobs.is_empty() => {
                    let at = dice.below(model.jobs.len() as u64) as usize;
                    let id = model.jobs.remove(at).id;
                    assert!(gateway.cancel(Instant::from_nanos(now), id));
                    assert!(!gateway.cancel(Instant::from_nanos(now), id), "cancelled twice");
                }
                9 if !model.up.is_empty() && dice.one_in(2) => {
                    let at = dice.below(model.up.len() as u64) as usize;
                    model.up[at] = !model.up[at];
                    gateway.set_server(Instant::from_nanos(now), ServerId(at as u16), model.up[at]);
                }
                _ => retry(&mut gateway, &mut model, &mut dice, now),
            }
            drain(&mut gateway, &mut model, now);
            compare_frames(&gateway, &model, now, &mut frame);
            assert!(step < 300, "seed {seed}");
        }
    }
}

/// A queue of jobs with deadlines that all leave by another way must not leave its deadlines behind for ever.
#[test]
fn deadlines_of_jobs_that_left_do_not_pile_up() {
    let scenario = parse_json(
        r#"{"tidegate":1,"classes":[{"name":"a"}],"stages":[{"name":"s","workers":1,
            "work":{"at":"stage","service":{"law":"constant","mean_us":1}}}]}"#,
    )
    .and_then(Parsed::check)
    .unwrap();
    let mut gateway = Gateway::new(&scenario);
    let far = Some(Instant::from_nanos(1 << 60));
    for n in 0..100_000 {
        let now = Instant::from_nanos(n);
        let arrival = Arrival {
            class: ClassId(0),
            deadline: far,
            chance: Chance(n),
            size: None,
            asked: Asked::default(),
        };
        let job = gateway.arrive(now, arrival).unwrap();
        while gateway.poll(now).is_some() {}
        assert!(gateway.cancel(now, job));
        while gateway.poll(now).is_some() {}
    }
    assert!(
        gateway.expiries_held() <= 64,
        "{} deadlines are kept for an empty gateway",
        gateway.expiries_held()
    );
}
