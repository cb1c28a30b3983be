//! The worker's side of a run, without anything of a browser: tested on the host.
//!
//! Two simulations of the same run live here. One is *shown*: it stands where the playhead stands. The other
//! runs *ahead* to the end, in slices, for the history tracks and the run's hash, and leaves snapshots behind
//! from which a jump backwards starts. Both are pure functions of scenario and seed, so they agree.

use crate::protocol::{Answer, HistoryPart, Order, Picture};
use crate::trial::Trial;
use tidegate_core::frame::Frame;
use tidegate_core::import::Trace;
use tidegate_core::scenario::{Parsed, Scenario, parse};
use tidegate_core::sim::Simulation;
use tidegate_core::time::{Duration, Instant};

/// Steps of a history: about one for each pixel of a wide track.
pub const STEPS: u32 = 720;
/// Snapshots of a run, for jumping back.
const SNAPSHOTS: u32 = 32;
/// Events between two looks at the clock.
const EVENTS_A_LOOK: u32 = 256;
/// How far before the target of a jump the frame lies that rates are taken against, in seconds.
const BEFORE_S: f64 = 2.0;

/// Something for the page.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// A small message.
    Answer(Answer),
    /// A flat list, to be transferred.
    Numbers(Vec<f64>),
}

/// What the worker holds.
#[derive(Debug, Default)]
pub struct Engine {
    run: Option<Run>,
    log: Option<Trace>,
    awaited_log: String,
    /// Pairs of runs for a comparison.
    trial: Option<Trial>,
    /// Whether the shown simulation writes down how servers are picked. The one that runs ahead never does.
    explains: bool,
}

#[derive(Debug)]
struct Run {
    number: u32,
    scenario: Scenario,
    with_log: bool,
    shown: Simulation,
    explains: bool,
    goal: Option<Goal>,
    ahead: Option<Simulation>,
    ahead_steps: u32,
    unsent: HistoryPart,
    snapshots: Vec<Simulation>,
    work_ms: f64,
}

/// Where the shown simulation is going.
#[derive(Clone, Debug)]
struct Goal {
    at: Instant,
    jump: Option<Jump>,
}

/// A jump goes to a moment before the target first, to have something to take rates against.
#[derive(Clone, Debug)]
struct Jump {
    before_at: Instant,
    before: Option<Frame>,
}

impl Engine {
    /// Takes an order. What follows from it may need [`work`](Self::work).
    pub fn take(&mut self, order: Order, out: &mut Vec<Output>) {
        match order {
            Order::Load { run, scenario, at_s, with_log } => {
                self.run = None;
                match self.begin(run, &scenario, at_s, with_log) {
                    Ok(begun) => self.run = Some(begun),
                    Err(reason) => out.push(Output::Answer(Answer::Refused { run, reason })),
                }
            }
            Order::Advance { run, to_s } => {
                if let Some(r) = self.current(run) {
                    let jumping = r.goal.as_ref().is_some_and(|g| g.jump.is_some());
                    if !jumping {
                        r.goal = Some(Goal { at: r.clamped(to_s), jump: None });
                    }
                }
            }
            Order::Seek { run, to_s } => {
                // The field is borrowed apart from `self.log`, which a restart needs too.
                let log = self.log.take();
                if let Some(r) = self.current(run) {
                    r.seek(to_s, log.as_ref());
                }
                self.log = log;
            }
            Order::StepEvent { run } => {
                if let Some(r) = self.current(run) {
                    r.goal = None;
                    r.shown.step();
                    out.push(r.picture(true, None));
                }
            }
            Order::Explain { on } => {
                self.explains = on;
                if let Some(run) = &mut self.run {
                    run.explains = on;
                    run.shown.write_decisions(on);
                }
            }
            Order::ReadLog { name } => self.awaited_log = name,
            Order::Both { job, a, b, with_log } => match Trial::new(job, [&a, &b], with_log) {
                Ok(trial) => self.trial = trial,
                Err(reason) => out.push(Output::Answer(Answer::Refused { run: job, reason })),
            },
            Order::Pair { job, replication } => {
                if let Some(trial) = self.trial.as_mut().filter(|trial| trial.job == job) {
                    trial.begin(replication);
                }
            }
        }
    }

    /// Takes the content of a log or trace file, whose name an order gave.
    pub fn take_log(&mut self, bytes: &[u8], out: &mut Vec<Output>) {
        let name = core::mem::take(&mut self.awaited_log);
        match crate::log::read(bytes) {
            Ok(trace) => {
                out.push(Output::Answer(Answer::Log(crate::log::describe(name, &trace))));
                self.log = Some(trace);
            }
            Err(reason) => {
                let first = bytes.split(|&b| b == b'\n').next().unwrap_or_default();
                let first_line = String::from_utf8_lossy(&first[..first.len().min(200)]).into_owned();
                out.push(Output::Answer(Answer::LogRefused { name, reason, first_line }));
            }
        }
    }

    /// Works while `more_time` says so. Returns whether something is left to do.
    pub fn work(&mut self, mut more_time: impl FnMut() -> bool, out: &mut Vec<Output>) -> bool {
        let busy = match &mut self.run {
            None => false,
            Some(run) => {
                if run.goal.is_some() {
                    run.approach(&mut more_time, out);
                }
                if run.goal.is_none() && run.ahead.is_some() {
                    run.run_ahead(&mut more_time, out);
                }
                run.goal.is_some() || run.ahead.is_some()
            }
        };
        let trying =
            self.trial.as_mut().is_some_and(|trial| trial.work(self.log.as_ref(), &mut more_time, out));
        busy || trying
    }

    /// Notes time spent on the present run, for the page to show.
    pub fn spent(&mut self, ms: f64) {
        if let Some(run) = &mut self.run {
            run.work_ms += ms;
        }
    }

    fn current(&mut self, number: u32) -> Option<&mut Run> {
        self.run.as_mut().filter(|r| r.number == number)
    }

    fn begin(&self, number: u32, json: &str, at_s: f64, with_log: bool) -> Result<Run, String> {
        let scenario = parse::parse_json(json).and_then(Parsed::check).map_err(|e| e.to_string())?;
        let log = self.log.as_ref().filter(|_| with_log);
        let shown = simulation(&scenario, 0, log)?;
        let step_s = scenario.horizon.as_secs_f64() / f64::from(STEPS);
        let mut frame = Frame::default();
        shown.frame(&mut frame);
        let unsent = HistoryPart { run: number, first: 0, step_s, share: 0.0, frames: vec![frame] };
        let mut run = Run {
            number,
            with_log,
            ahead: Some(shown.clone()),
            snapshots: vec![shown.clone()],
            shown,
            explains: self.explains,
            goal: None,
            ahead_steps: 0,
            unsent,
            work_ms: 0.0,
            scenario,
        };
        run.seek(at_s, log);
        Ok(run)
    }
}

/// A run at its beginning, with the rows of a log if there is one.
pub(crate) fn simulation(
    scenario: &Scenario,
    replication: u32,
    log: Option<&Trace>,
) -> Result<Simulation, String> {
    let rows = log.map(|t| (t.rows.as_slice(), t.labels.as_slice()));
    Simulation::new(scenario, replication, rows).map_err(|e| e.to_string())
}

/// Runs towards `to` while there is time. Returns whether it got there.
pub(crate) fn advance(sim: &mut Simulation, to: Instant, more_time: &mut impl FnMut() -> bool) -> bool {
    loop {
        for _ in 0..EVENTS_A_LOOK {
            match sim.next_event_at() {
                Some(at) if at <= to => {
                    sim.step();
                }
                _ => {
                    sim.run_until(to);
                    return true;
                }
            }
        }
        if !more_time() {
            return false;
        }
    }
}

impl Run {
    fn clamped(&self, s: f64) -> Instant {
        Instant::START + Duration::from_secs_f64(s.max(0.0)).min(self.scenario.horizon)
    }

    fn seek(&mut self, to_s: f64, log: Option<&Trace>) {
        let at = self.clamped(to_s);
        let before_at = self.clamped(at.as_secs_f64() - BEFORE_S);
        if self.shown.now() > before_at {
            let back = self.snapshots.iter().rev().find(|s| s.now() <= before_at);
            if let Some(snapshot) = back {
                self.shown = snapshot.clone();
            } else if let Ok(fresh) = simulation(&self.scenario, 0, log.filter(|_| self.with_log)) {
                self.shown = fresh;
            }
        } else if let Some(nearer) =
            self.snapshots.iter().rev().find(|s| s.now() <= before_at && s.now() > self.shown.now())
        {
            self.shown = nearer.clone();
        }
        self.shown.write_decisions(self.explains);
        self.goal = Some(Goal { at, jump: Some(Jump { before_at, before: None }) });
    }

    /// Goes on towards the goal, and shows what it sees when it is there or time is out.
    fn approach(&mut self, more_time: &mut impl FnMut() -> bool, out: &mut Vec<Output>) {
        let Some(mut goal) = self.goal.take() else { return };
        if let Some(jump) = &mut goal.jump
            && jump.before.is_none()
        {
            if !advance(&mut self.shown, jump.before_at, more_time) {
                self.goal = Some(goal);
                return;
            }
            let mut before = Frame::default();
            self.shown.frame(&mut before);
            jump.before = Some(before);
        }
        let reached = advance(&mut self.shown, goal.at, more_time);
        match goal.jump {
            // An unfinished jump shows nothing and goes on; unfinished playing shows how far it came.
            Some(_) if !reached => self.goal = Some(goal),
            Some(jump) => out.push(self.picture(true, jump.before)),
            None => out.push(self.picture(reached, None)),
        }
    }

    fn picture(&self, reached: bool, before: Option<Frame>) -> Output {
        let mut frame = Frame::default();
        self.shown.frame(&mut frame);
        let over = self.shown.is_over();
        let events = self.shown.events() as f64;
        Output::Numbers(Picture { run: self.number, reached, over, events, before, frame }.encode())
    }

    fn run_ahead(&mut self, more_time: &mut impl FnMut() -> bool, out: &mut Vec<Output>) {
        let Some(mut sim) = self.ahead.take() else { return };
        while self.ahead_steps < STEPS {
            let ns = u128::from(self.scenario.horizon.as_nanos()) * u128::from(self.ahead_steps + 1);
            let at = Instant::from_nanos((ns / u128::from(STEPS)) as u64);
            if !advance(&mut sim, at, more_time) {
                break;
            }
            self.ahead_steps += 1;
            let mut frame = Frame::default();
            sim.frame(&mut frame);
            self.unsent.frames.push(frame);
            if self.ahead_steps.is_multiple_of(STEPS / SNAPSHOTS) && self.ahead_steps < STEPS {
                self.snapshots.push(sim.clone());
            }
            if !more_time() {
                break;
            }
        }
        self.unsent.share = f64::from(self.ahead_steps) / f64::from(STEPS);
        let part = core::mem::take(&mut self.unsent);
        self.unsent = HistoryPart {
            first: part.first + part.frames.len(),
            frames: Vec::new(),
            ..HistoryPart { run: part.run, step_s: part.step_s, share: part.share, ..HistoryPart::default() }
        };
        if !part.frames.is_empty() {
            out.push(Output::Numbers(part.encode()));
        }
        if self.ahead_steps < STEPS {
            self.ahead = Some(sim);
        } else {
            sim.run_to_end();
            out.push(Output::Answer(Answer::Done {
                run: self.number,
                hash: sim.trace_hash(),
                events: sim.events(),
                work_ms: self.work_ms,
            }));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Numbers;
    use tidegate_core::scenario::presets;

    const PRESET: &str = "flash-crowd";

    fn load(engine: &mut Engine, run: u32, at_s: f64) -> Vec<Output> {
        let scenario = presets::get(PRESET).expect("a preset").json.to_owned();
        let mut out = Vec::new();
        engine.take(Order::Load { run, scenario, at_s, with_log: false }, &mut out);
        out
    }

    fn pictures(out: &[Output]) -> Vec<Picture> {
        out.iter()
            .filter_map(|o| match o {
                Output::Numbers(list) => match Numbers::decode(list).expect("a list of ours") {
                    Numbers::Picture(p) => Some(p),
                    _ => None,
                },
                Output::Answer(_) => None,
            })
            .collect()
    }

    /// A frame's numbers as they are written: what is not known is then equal to itself.
    fn bits(frame: &Frame) -> Vec<u64> {
        let mut numbers = Vec::new();
        frame.encode(&mut numbers);
        numbers.into_iter().map(f64::to_bits).collect()
    }

    fn hash(out: &[Output]) -> Option<u64> {
        out.iter().find_map(|o| match o {
            Output::Answer(Answer::Done { hash, .. }) => Some(*hash),
            _ => None,
        })
    }

    fn whole(slices: impl Fn(u32) -> bool) -> (Vec<Output>, usize) {
        let mut engine = Engine::default();
        let mut out = load(&mut engine, 1, 0.0);
        let mut calls = 0;
        loop {
            let mut looks = 0;
            calls += 1;
            let more = engine.work(
                || {
                    looks += 1;
                    slices(looks)
                },
                &mut out,
            );
            if !more {
                return (out, calls);
            }
        }
    }

    #[test]
    fn slicing_the_work_changes_nothing_about_the_run() {
        let (at_once, one) = whole(|_| true);
        let (in_slices, many) = whole(|looks| looks < 7);
        assert!(many > 10 * one, "{many} slices");
        let scenario = presets::get(PRESET).expect("a preset").scenario();
        let mut plain = Simulation::new(&scenario, 0, None).expect("runs");
        plain.run_to_end();
        assert_eq!(hash(&at_once), Some(plain.trace_hash()));
        assert_eq!(hash(&in_slices), Some(plain.trace_hash()));
    }

    #[test]
    fn the_history_comes_whole_and_in_order() {
        let (out, _) = whole(|looks| looks < 20);
        let mut next = 0;
        for output in &out {
            if let Output::Numbers(list) = output
                && let Ok(Numbers::History(part)) = Numbers::decode(list)
            {
                assert_eq!(part.first, next);
                next += part.frames.len();
            }
        }
        assert_eq!(next, STEPS as usize + 1);
    }

    #[test]
    fn a_jump_back_shows_what_playing_there_shows() {
        let mut engine = Engine::default();
        let mut out = load(&mut engine, 3, 0.0);
        while engine.work(|| true, &mut out) {}
        out.clear();
        engine.take(Order::Seek { run: 3, to_s: 100.0 }, &mut out);
        engine.take(Order::Advance { run: 3, to_s: 5.0 }, &mut out); // must not turn the jump round
        while engine.work(|| true, &mut out) {}
        engine.take(Order::Seek { run: 3, to_s: 70.5 }, &mut out);
        while engine.work(|| true, &mut out) {}
        let seen = pictures(&out);
        assert_eq!(seen.len(), 2);
        let scenario = presets::get(PRESET).expect("a preset").scenario();
        for (picture, at_s) in seen.iter().zip([100.0, 70.5]) {
            let mut plain = Simulation::new(&scenario, 0, None).expect("runs");
            plain.run_until(Instant::START + Duration::from_secs_f64(at_s));
            let mut frame = Frame::default();
            plain.frame(&mut frame);
            assert_eq!(bits(&picture.frame), bits(&frame), "at {at_s}");
            assert!(picture.before.is_some());
        }
    }

    #[test]
    fn picks_are_written_down_while_asked_for_and_change_nothing() {
        let mut engine = Engine::default();
        let mut out = Vec::new();
        engine.take(Order::Explain { on: true }, &mut out);
        out.extend(load(&mut engine, 1, 0.0));
        while engine.work(|| true, &mut out) {}
        engine.take(Order::Seek { run: 1, to_s: 70.0 }, &mut out);
        while engine.work(|| true, &mut out) {}
        engine.take(Order::Explain { on: false }, &mut out);
        engine.take(Order::Seek { run: 1, to_s: 70.0 }, &mut out);
        while engine.work(|| true, &mut out) {}
        let seen = pictures(&out);
        let [.., with, without] = &seen[..] else { panic!("two jumps, two pictures") };
        let picked = with.frame.decision.as_ref().expect("a decision");
        assert!((69.0..=70.0).contains(&picked.at_s), "the last one: {}", picked.at_s);
        let servers = presets::get(PRESET).expect("a preset").scenario().servers.len();
        assert!(!picked.candidates.is_empty() && picked.candidates.len() <= servers);
        assert_eq!(without.frame.decision, None);
        let mut plain = Vec::new();
        let mut other = Engine::default();
        plain.extend(load(&mut other, 1, 0.0));
        while other.work(|| true, &mut plain) {}
        assert_eq!(hash(&out), hash(&plain), "the run is the same");
        let classes = |p: &Picture| p.frame.classes.clone();
        assert_eq!(classes(with), classes(without), "and so is what is shown");
    }

    #[test]
    fn orders_for_another_run_are_ignored() {
        let mut engine = Engine::default();
        let mut out = load(&mut engine, 5, 0.0);
        while engine.work(|| true, &mut out) {}
        out.clear();
        engine.take(Order::Seek { run: 4, to_s: 1.0 }, &mut out);
        assert!(!engine.work(|| true, &mut out));
        assert!(out.is_empty());
    }

    #[test]
    fn a_scenario_that_cannot_run_is_refused_in_words() {
        let mut engine = Engine::default();
        let mut out = Vec::new();
        engine.take(Order::Load { run: 1, scenario: "{".into(), at_s: 0.0, with_log: false }, &mut out);
        assert!(matches!(&out[..], [Output::Answer(Answer::Refused { run: 1, .. })]), "{out:?}");
    }
}
