//! Splits that must not do harm: floors, sums, workers that finish what they have, and controllers that say what they cannot do.

use serde_json::{Value, json};
use tidegate_core::frame::{Frame, LoopFrame, SplitState};
use tidegate_core::gateway::{Arrival, Asked, Dispatch, Gateway, Outcome, Output, Step};
use tidegate_core::id::ClassId;
use tidegate_core::scenario::{Scenario, parse_json};
use tidegate_core::sim::Simulation;
use tidegate_core::time::{Duration, Instant};
use tidegate_core::unit::{Chance, mix};

const MS: u64 = 1_000_000;
const POLICIES: [&str; 7] =
    ["stc_lead", "stc_served", "stc_paper", "pid", "pairwise_pi", "pairwise_stc", "feed_forward"];

fn checked(json: &Value) -> Scenario {
    let parsed = parse_json(&json.to_string()).unwrap_or_else(|error| panic!("{error}: {json}"));
    parsed.check().unwrap_or_else(|error| panic!("{error}: {json}"))
}

fn closed(name: &str, weight: f64, clients: u32, think_us: u64) -> Value {
    json!({ "name": name, "delay_weight": weight,
        "load": { "kind": "closed", "clients": clients, "think": { "law": "exponential", "mean_us": think_us } } })
}

fn poisson(name: &str, weight: f64, rate_per_s: f64) -> Value {
    json!({ "name": name, "delay_weight": weight, "load": { "kind": "poisson", "rate_per_s": rate_per_s } })
}

/// One stage whose work takes `service_us` on average, for `horizon_s` seconds.
fn scenario(
    classes: &[Value],
    workers: u32,
    service_us: u64,
    horizon_s: u64,
    stage: &Value,
    events: &Value,
) -> Scenario {
    let mut fields = json!({ "name": "serve", "workers": workers,
        "queue": { "policy": "tail_drop", "limit": 100_000 },
        "work": { "at": "stage", "service": { "law": "exponential", "mean_us": service_us } } });
    for (field, value) in stage.as_object().expect("fields of a stage") {
        fields[field] = value.clone();
    }
    checked(&json!({ "tidegate": 1, "run": { "horizon_us": horizon_s * 1_000_000, "mode": "transient" },
        "classes": classes, "stages": [fields], "events": events }))
}

fn lead() -> Value {
    json!({ "split_by": { "policy": "stc_lead" } })
}

/// Every frame of a run, `step_ms` apart.
fn frames(scenario: &Scenario, step_ms: u64, mut look: impl FnMut(&Frame)) {
    let mut sim = Simulation::new(scenario, 0, None).expect("no trace is needed");
    let mut frame = Frame::default();
    let mut at = Instant::START;
    while !sim.is_over() {
        at += Duration::from_millis(step_ms);
        sim.run_until(at);
        sim.frame(&mut frame);
        look(&frame);
    }
    let _ = sim.finish();
}

/// Share of the frames from `from_s` on for which something holds.
fn share(scenario: &Scenario, from_s: f64, holds: impl Fn(&Frame) -> bool) -> f64 {
    let (mut all, mut held) = (0, 0);
    frames(scenario, 250, |frame| {
        if frame.now.as_secs_f64() >= from_s {
            all += 1;
            held += u32::from(holds(frame));
        }
    });
    f64::from(held) / f64::from(all)
}

/// What must hold of a fixed pool at every moment, whoever divides it.
#[track_caller]
fn check_floors(frame: &Frame, what: &str) {
    let stage = &frame.stages[0];
    let (slots, busy): (Vec<u32>, u32) =
        (stage.classes.iter().map(|c| c.slots).collect(), stage.classes.iter().map(|c| c.busy).sum());
    let now = frame.now;
    assert_eq!(slots.iter().sum::<u32>(), stage.workers, "{what}, {now}: {slots:?} are not the pool");
    assert!(slots.iter().all(|&n| n >= 1), "{what}, {now}: a class of {slots:?} has no worker");
    assert!(busy <= stage.workers, "{what}, {now}: {busy} of {} at work", stage.workers);
    for (class, shown) in stage.split.classes.iter().enumerate() {
        check_finite(shown, &format!("{what}, {now}, class {class}"));
    }
}

#[track_caller]
fn check_finite(shown: &LoopFrame, what: &str) {
    let figures = [
        shown.share,
        shown.target,
        shown.delay_s,
        shown.error,
        shown.output,
        shown.a[0],
        shown.a[1],
        shown.b,
    ]
    .into_iter()
    .chain(shown.gains)
    .chain([shown.trust, shown.uncertainty, shown.bias, shown.margin]);
    assert!(figures.into_iter().all(f64::is_finite), "{what}: {shown:?}");
    assert!((0.0..=1.0).contains(&shown.share), "{what}: share {}", shown.share);
}

/// Random scenarios under every controller: sum, floor, and no more at work than there are workers, at every sample.
#[test]
fn every_split_is_the_pool_and_leaves_nobody_without_a_worker() {
    for number in 0..70_u64 {
        let mut draws = (0..).map(|n| mix(mix(number + 1) ^ n));
        let mut draw = |below: u64| draws.next().expect("endless") % below;
        let classes = 2 + draw(4) as usize;
        let workers = classes as u32 + draw(30) as u32;
        let service_us = 20_000 + draw(200_000);
        let capacity = f64::from(workers) * 1e6 / service_us as f64;
        let loads: Vec<Value> = (0..classes)
            .map(|class| {
                let weight = 0.25 * (1 + draw(32)) as f64;
                let name = format!("class {class}");
                if draw(2) == 0 {
                    closed(&name, weight, 1 + draw(60) as u32, 1_000 + draw(2_000_000))
                } else {
                    poisson(&name, weight, capacity * draw(150) as f64 / 100.0 / classes as f64)
                }
            })
            .collect();
        let policy = POLICIES[(number % 7) as usize];
        let period_us = 50_000 + draw(2_000_000);
        let mut stage =
            json!({ "split_by": { "policy": policy, "period_us": period_us }, "dither": draw(2) == 0 });
        if draw(2) == 0 {
            stage["lend_after_us"] = json!(draw(2_000_000));
        }
        let events = json!([
            { "at_us": 8_000_000, "do": "load", "class": "class 0", "factor": draw(400) as f64 / 100.0 },
            { "at_us": 14_000_000, "do": "service", "class": "class 1", "factor": 0.1 + draw(300) as f64 / 100.0 },
            { "at_us": 20_000_000, "do": "load", "factor": draw(2) as f64 },
        ]);
        let scenario = scenario(&loads, workers, service_us, 30, &stage, &events);
        let what = format!("scenario {number}, {policy}");
        frames(&scenario, 40, |frame| check_floors(frame, &what));
    }
}

#[test]
fn below_overload_the_split_is_idle_and_stays() {
    let classes = [poisson("a", 1.0, 40.0), poisson("b", 2.0, 40.0)];
    let quiet = scenario(&classes, 32, 100_000, 60, &lead(), &json!([]));
    let idle = share(&quiet, 1.0, |frame| frame.stages[0].split.state == SplitState::Idle);
    assert!(idle > 0.99, "idle {idle:.3} of the time at a quarter of the capacity");
    let even = share(&quiet, 0.0, |frame| frame.stages[0].classes.iter().all(|class| class.slots == 16));
    assert!(even > 0.99, "the first split stays {even:.3} of the time");
    let classes = [closed("a", 1.0, 300, 1_000_000), closed("b", 2.0, 300, 1_000_000)];
    let busy = scenario(&classes, 32, 100_000, 60, &lead(), &json!([]));
    let steering = share(&busy, 10.0, |frame| frame.stages[0].split.state == SplitState::Steering);
    assert!(steering > 0.99, "steering {steering:.3} of the time in overload");
}

/// Class b has its one worker, and too few clients to wait as long as asked: the controller says so, and which class it is.
#[test]
fn a_target_out_of_reach_is_said_with_the_class_it_is_for() {
    let classes = [closed("a", 1.0, 100, 1_000), closed("b", 100.0, 20, 1_000)];
    let scenario = scenario(&classes, 8, 100_000, 120, &lead(), &json!([]));
    let said = share(&scenario, 30.0, |frame| {
        let stage = &frame.stages[0];
        let at_floor = stage.split.classes[1].flags & LoopFrame::AT_FLOOR != 0;
        stage.split.state == SplitState::Infeasible
            && stage.split.stuck == 1
            && at_floor
            && stage.classes[1].slots == 1
    });
    assert!(said > 0.9, "said in {said:.2} of the frames");
    let classes = [closed("a", 1.0, 100, 1_000), closed("b", 2.0, 100, 1_000)];
    let within = self::scenario(&classes, 8, 100_000, 120, &lead(), &json!([]));
    let said = share(&within, 30.0, |frame| frame.stages[0].split.state == SplitState::Infeasible);
    assert!(said == 0.0, "a target within reach is said to be out of it in {said:.2} of the frames");
}

/// Class b may wait a second and a half, and its deadline turns it away before that.
#[test]
fn a_deadline_below_the_wait_that_is_wanted_is_flagged() {
    let flagged = |deadline_us: u64| {
        let mut classes = [closed("a", 1.0, 200, 200_000), closed("b", 2.0, 200, 200_000)];
        classes[1]["deadline_us"] = json!(deadline_us);
        let scenario = scenario(&classes, 32, 100_000, 60, &lead(), &json!([]));
        let flags = |frame: &Frame, class: usize| frame.stages[0].split.classes[class].flags;
        [0, 1].map(|class| share(&scenario, 20.0, |frame| flags(frame, class) & LoopFrame::WAIT_LIMITED != 0))
    };
    let [a, b] = flagged(500_000);
    assert!(b > 0.9 && a == 0.0, "of the time: class a {a:.2}, class b {b:.2}");
    let [_, b] = flagged(60_000_000);
    assert!(b == 0.0, "a deadline of a minute limits nothing, and is flagged {b:.2} of the time");
}

/// Case 23: eight workers, targets 1 to 2 to 4. The third class is silent for a minute, then asks once; then the first
/// floods.
#[test]
fn a_class_that_was_silent_finds_its_worker() {
    for policy in POLICIES {
        let mut classes = vec![closed("a", 1.0, 30, 500_000), closed("b", 2.0, 30, 500_000)];
        classes.push(json!({ "name": "c", "delay_weight": 4.0, "load": { "kind": "trace" } }));
        classes[2]["load"] = json!({ "kind": "deterministic", "rate_per_s": 0.016, "count": 2 });
        let events = json!([{ "at_us": 90_000_000, "do": "load", "class": "a", "factor": 10 }]);
        let scenario =
            scenario(&classes, 8, 100_000, 150, &json!({ "split_by": { "policy": policy } }), &events);
        frames(&scenario, 250, |frame| check_floors(frame, policy));
        // Asked at 0 and 62.5 s. Its worker is there, unless the split is just being changed: then the first that comes free.
        let run = Simulation::new(&scenario, 0, None).unwrap().finish();
        assert_eq!(run.stages[0].started[2], 2, "{policy}: both requests of the silent class are served");
        let waited_s = run.classes[2].wait.max().expect("two waits") as f64 / 1e9;
        assert!(waited_s <= 0.1, "{policy}: it waited {waited_s:.3} s, a service time is 0.1 s");
    }
}

#[test]
fn fewer_workers_than_classes_are_refused_with_the_reason() {
    let classes = [poisson("a", 1.0, 1.0), poisson("b", 2.0, 1.0), poisson("c", 4.0, 1.0)];
    for policy in POLICIES {
        let json = json!({ "tidegate": 1, "classes": classes, "stages": [{ "name": "serve", "workers": 2,
            "split_by": { "policy": policy },
            "work": { "at": "stage", "service": { "law": "constant", "mean_us": 1000 } } }] });
        let error =
            parse_json(&json.to_string()).unwrap().check().expect_err("two workers for three classes");
        let text = error.to_string();
        assert!(text.contains("stages[0].workers") && text.contains("3 classes"), "{policy}: {text}");
    }
}

/// Case 25: nothing at all for 50,000 samples, then a load. No figure leaves the numbers, nothing moves meanwhile, and
/// then it steers as if it were new.
#[test]
fn an_estimator_that_was_fed_nothing_is_none_the_worse() {
    for policy in POLICIES {
        let classes = [closed("a", 1.0, 200, 500_000), closed("b", 2.0, 200, 500_000)];
        let stage = json!({ "split_by": { "policy": policy, "period_us": 250_000 } });
        let begins_us = 12_500_000_000_u64;
        let events = json!([
            { "at_us": 0, "do": "load", "factor": 0 },
            { "at_us": begins_us, "do": "load", "factor": 1 },
        ]);
        let scenario = scenario(&classes, 32, 100_000, begins_us / 1_000_000 + 60, &stage, &events);
        let mut sim = Simulation::new(&scenario, 0, None).unwrap();
        let mut frame = Frame::default();
        sim.run_until(Instant::from_nanos(begins_us * 1_000));
        sim.frame(&mut frame);
        check_floors(&frame, policy);
        let split: Vec<u32> = frame.stages[0].classes.iter().map(|class| class.slots).collect();
        assert_eq!(
            (split, frame.stages[0].split.moved),
            (vec![16, 16], 0),
            "{policy}: nothing was asked for"
        );
        assert!(frame.stages[0].split.samples >= 49_000, "{policy}: {}", frame.stages[0].split.samples);
        while !sim.is_over() {
            sim.run_until(sim.now() + Duration::from_millis(250));
            sim.frame(&mut frame);
            check_floors(&frame, policy);
        }
        let _ = sim.finish();
    }
}

/// Case 25, the other half: a load that does not change for 50,000 samples excites nothing. A small pool of slow work.
#[test]
fn an_estimator_that_learns_nothing_for_hours_keeps_its_bounds() {
    for policy in ["stc_lead", "stc_served", "stc_paper", "pairwise_stc"] {
        let classes = [closed("a", 1.0, 8, 1_000_000), closed("b", 2.0, 8, 1_000_000)];
        let stage = json!({ "split_by": { "policy": policy, "period_us": 250_000 } });
        let scenario = scenario(&classes, 4, 1_000_000, 12_500, &stage, &json!([]));
        frames(&scenario, 5_000, |frame| check_floors(frame, policy));
    }
}

/// A gateway by hand: one stage, constant work, and jobs that the test ends itself.
struct Hand {
    gateway: Gateway,
    now_ms: u64,
    started: Vec<Dispatch>,
}

impl Hand {
    fn new(stage: &Value) -> Self {
        let classes = [poisson("a", 1.0, 0.0), poisson("b", 2.0, 0.0)];
        let workers = stage["workers"].as_u64().expect("workers") as u32;
        let scenario = scenario(&classes, workers, 1_000, 1_000, stage, &json!([]));
        Self { gateway: Gateway::new(&scenario), now_ms: 0, started: Vec::new() }
    }

    fn now(&self) -> Instant {
        Instant::from_nanos(self.now_ms * MS)
    }

    /// Lets time pass until `ms`, polling whenever the gateway wants it; the classes of jobs that started meanwhile.
    fn until(&mut self, ms: u64) -> Vec<u8> {
        let before = self.started.len();
        while let Some(at) = self.gateway.poll_at().filter(|at| at.as_nanos() <= ms * MS) {
            self.now_ms = at.as_nanos().div_ceil(MS).max(self.now_ms);
            self.poll();
        }
        self.now_ms = ms;
        self.poll();
        self.started[before..].iter().map(|dispatch| dispatch.class.0).collect()
    }

    fn poll(&mut self) {
        while let Some(output) = self.gateway.poll(self.now()) {
            if let Output::Dispatch(dispatch) = output {
                self.started.push(dispatch);
            }
        }
    }

    fn arrive(&mut self, class: u8) {
        let arrival = Arrival {
            class: ClassId(class),
            deadline: None,
            chance: Chance(1),
            size: None,
            asked: Asked::default(),
        };
        self.gateway.arrive(self.now(), arrival).expect("there is room");
        self.poll();
    }

    /// Ends the job that started as number `n`.
    fn done(&mut self, n: usize) {
        let step = self.gateway.done(self.now(), self.started[n].job, Outcome::Completed);
        assert!(matches!(step, Step::Left(_)), "{step:?}");
        self.poll();
    }

    fn busy(&self) -> [u32; 2] {
        let mut frame = Frame::default();
        self.gateway.frame(self.now(), &mut frame);
        [0, 1].map(|class| frame.stages[0].classes[class].busy)
    }
}

/// A worker whose class has asked for nothing for two seconds is lent, and no sooner; its class gets the next that is free.
#[test]
fn an_idle_worker_is_lent_after_a_while_and_comes_back() {
    let mut hand = Hand::new(&json!({ "workers": 2, "split": [1, 1], "lend_after_us": 2_000_000 }));
    hand.arrive(0);
    assert_eq!(hand.until(100), [] as [u8; 0]);
    hand.done(0); // the last request of a came at 0
    (0..3).for_each(|_| hand.arrive(1));
    assert_eq!(hand.busy(), [0, 1], "b has one worker of its own, and a's is not lent yet");
    assert_eq!(hand.until(1_999), [] as [u8; 0]);
    assert_eq!(hand.until(2_000), [1], "a has asked for nothing for two seconds");
    assert_eq!(hand.busy(), [0, 2]);
    hand.arrive(0);
    assert_eq!(hand.busy(), [0, 2], "work is not interrupted");
    hand.done(1);
    assert_eq!(hand.busy(), [1, 1], "the next worker that comes free is a's, though b waits longer");
    hand.done(2);
    assert_eq!(hand.busy(), [1, 1], "b goes on with its own");
}

#[test]
fn without_lending_an_idle_worker_waits_for_its_class_for_ever() {
    let mut hand = Hand::new(&json!({ "workers": 2, "split": [1, 1] }));
    (0..3).for_each(|_| hand.arrive(1));
    assert_eq!(hand.until(900_000), [] as [u8; 0]);
    assert_eq!(hand.busy(), [0, 1]);
    let mut lent = Hand::new(&json!({ "workers": 2, "split": [1, 1], "lend_after_us": 0 }));
    (0..3).for_each(|_| lent.arrive(1));
    assert_eq!(lent.busy(), [0, 2], "with no delay at all it is lent at once");
}

/// A clock that goes back, as a server's never should: no panic, and the pool is still the pool.
#[test]
fn a_clock_that_steps_back_breaks_nothing() {
    for policy in POLICIES {
        let mut hand =
            Hand::new(&json!({ "workers": 6, "split_by": { "policy": policy, "period_us": 100_000 },
            "lend_after_us": 300_000, "dither": true }));
        let mut running = 0;
        for n in 0..4_000_u64 {
            // Forwards by up to 60 ms, backwards by up to 400 ms one time in eight.
            let step = mix(n);
            hand.now_ms = if step.is_multiple_of(8) {
                hand.now_ms.saturating_sub(step / 8 % 400)
            } else {
                hand.now_ms + step / 8 % 60
            };
            hand.arrive((step >> 20 & 1) as u8);
            while running < hand.started.len() && !(step >> 30).is_multiple_of(4) {
                hand.done(running);
                running += 1;
            }
            let mut frame = Frame::default();
            hand.gateway.frame(hand.now(), &mut frame);
            check_floors(&frame, policy);
        }
        assert!(hand.started.len() > 1_000, "{policy}: {} jobs were started", hand.started.len());
    }
}
