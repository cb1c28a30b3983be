//! The worker's side of a run, without anything of a browser: tested on the host.
//!
//! Two simulations of the same run live here. One is *shown*: it stands where the playhead stands. The other
//! runs *ahead* to the end, in slices, for the history tracks and the run's hash, and leaves snapshots behind
//! from which a jump backwards starts. Both are pure functions of scenario and seed, so they agree.

use crate::protocol::{Answer, HistoryPart, Order, Picture};
use crate::trace::{self, Told, Traced};
use crate::trial::Trial;
use tidegate_core::frame::Frame;
use tidegate_core::import::flat::{self, Rows};
use tidegate_core::scenario::{Parsed, Scenario, parse};
use tidegate_core::sim::Simulation;
use tidegate_core::time::{Duration, Instant};

/// Steps of a history: about one for each pixel of a wide track.
pub const STEPS: u32 = 720;
/// Steps from one snapshot to the next, for jumping back; twice as many whenever snapshots take more than
/// [`SNAPSHOT_BYTES`].
const SNAPSHOT_EVERY: u32 = 2;
/// What the snapshots of a run may take together.
const SNAPSHOT_BYTES: usize = 48 << 20;
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
    log: Option<Rows>,
    /// How many logs were taken: a run keeps the rows it began with.
    logs: u32,
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
    logs: u32,
    shown: Simulation,
    explains: bool,
    goal: Option<Goal>,
    ahead: Option<Simulation>,
    ahead_steps: u32,
    unsent: HistoryPart,
    /// The whole history, for a run that shares its beginning.
    frames: Vec<Frame>,
    /// By the step of the history that each was taken at.
    snapshots: Vec<(u32, Simulation)>,
    snapshot_every: u32,
    snapshot_bytes: usize,
    trace: Option<trace::Trace>,
    /// Plays on until the gateway decides something: what it had decided before.
    decides: Option<u64>,
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
                let before =
                    self.run.take().filter(|before| (before.with_log, before.logs) == (with_log, self.logs));
                match self.begin(run, &scenario, at_s, with_log, before) {
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
            Order::StepEvent { run, back } => {
                if let Some(r) = self.current(run) {
                    r.goal = None;
                    r.decides = None;
                    let before = if back { Some(r.step_back()) } else { None };
                    if !back {
                        r.shown.step();
                    }
                    out.push(r.picture(true, before));
                }
            }
            Order::StepDecision { run } => {
                if let Some(r) = self.current(run) {
                    r.goal = None;
                    r.decides = Some(r.shown.gateway().decided());
                }
            }
            Order::Explain { on } => {
                self.explains = on;
                if let Some(run) = &mut self.run {
                    run.explains = on;
                    run.shown.write_decisions(on);
                }
            }
            Order::Trace { run, spot } => {
                if let Some(r) = self.current(run) {
                    r.trace = Some(trace::Trace::begin(spot, &r.shown, |at| r.copy_before(at)));
                }
            }
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

    /// Takes the rows of a log as flat bytes. Without any that can be read, there is no log.
    pub fn take_rows(&mut self, bytes: &[u8]) {
        self.log = None; // before there are two
        self.log = flat::decode(bytes).ok();
        self.logs += 1;
    }

    /// Works while `more_time` says so. Returns whether something is left to do.
    pub fn work(&mut self, mut more_time: impl FnMut() -> bool, out: &mut Vec<Output>) -> bool {
        let busy = self.run.as_mut().is_some_and(|run| run.work(&mut more_time, out));
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

    /// Begins a run. What it shares with the run `before`, it takes from there.
    fn begin(
        &self,
        number: u32,
        json: &str,
        at_s: f64,
        with_log: bool,
        before: Option<Run>,
    ) -> Result<Run, String> {
        let scenario = parse::parse_json(json).and_then(Parsed::check).map_err(|e| e.to_string())?;
        let log = self.log.as_ref().filter(|_| with_log);
        let step_s = scenario.horizon.as_secs_f64() / f64::from(STEPS);
        let shared = before.and_then(|before| before.shared_with(&scenario));
        let shared = match shared {
            Some(shared) => shared,
            None => Shared::new(simulation(&scenario, 0, log)?),
        };
        let Shared { snapshots, snapshot_every, frames } = shared;
        let (ahead_steps, ahead) = snapshots.last().cloned().ok_or_else(String::new)?;
        let unsent = HistoryPart { run: number, first: 0, step_s, share: 0.0, frames: frames.clone() };
        let mut run = Run {
            number,
            with_log,
            logs: self.logs,
            shown: ahead.clone(),
            ahead: Some(ahead),
            snapshot_bytes: snapshots.iter().map(|(_, sim)| sim.held_bytes()).sum(),
            snapshots,
            snapshot_every,
            explains: self.explains,
            goal: None,
            decides: None,
            ahead_steps,
            trace: None,
            unsent,
            frames,
            work_ms: 0.0,
            scenario,
        };
        run.seek(at_s, log);
        Ok(run)
    }
}

/// What two runs that begin alike have in common.
struct Shared {
    /// At least one.
    snapshots: Vec<(u32, Simulation)>,
    snapshot_every: u32,
    /// The history up to the last of them.
    frames: Vec<Frame>,
}

impl Shared {
    /// Nothing but the beginning.
    fn new(start: Simulation) -> Self {
        let mut frame = Frame::default();
        start.frame(&mut frame);
        Self { snapshots: vec![(0, start)], snapshot_every: SNAPSHOT_EVERY, frames: vec![frame] }
    }
}

/// A run at its beginning, with the rows of a log if there is one.
pub(crate) fn simulation(
    scenario: &Scenario,
    replication: u32,
    log: Option<&Rows>,
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
    /// Works while there is time. Returns whether something is left to do.
    fn work(&mut self, more_time: &mut impl FnMut() -> bool, out: &mut Vec<Output>) -> bool {
        if self.goal.is_some() {
            self.decides = None;
            self.approach(more_time, out);
        }
        if self.decides.is_some() {
            self.decide(more_time, out);
        }
        let settled = self.goal.is_none() && self.decides.is_none();
        if settled && let Some(mut trace) = self.trace.take() {
            match trace.work(more_time, |at| self.copy_before(at)) {
                Traced::NotYet => self.trace = Some(trace),
                Traced::Nobody => out.push(Output::Numbers(Told::of(self.number, None).to_numbers())),
                Traced::Done(journey) => {
                    out.push(Output::Numbers(Told::of(self.number, Some(&journey)).to_numbers()));
                }
            }
        }
        if settled && self.trace.is_none() && self.ahead.is_some() {
            self.run_ahead(more_time, out);
        }
        self.goal.is_some() || self.decides.is_some() || self.trace.is_some() || self.ahead.is_some()
    }

    /// A copy of the run that has come no further than a moment.
    fn copy_before(&self, at: Instant) -> Simulation {
        // The first snapshot is of the beginning.
        let mut copies = self.snapshots.iter().rev().map(|(_, sim)| sim);
        copies.find(|s| s.now() <= at).unwrap_or(&self.shown).clone()
    }

    fn clamped(&self, s: f64) -> Instant {
        Instant::START + Duration::from_secs_f64(s.max(0.0)).min(self.scenario.horizon)
    }

    /// What a run of another scenario can take over, if that begins as this one did.
    fn shared_with(mut self, scenario: &Scenario) -> Option<Shared> {
        self.snapshots.retain_mut(|(_, sim)| sim.go_over_to(scenario));
        let last = self.snapshots.last()?.0 as usize;
        self.frames.truncate(last + 1);
        Some(Shared { snapshots: self.snapshots, snapshot_every: self.snapshot_every, frames: self.frames })
    }

    /// The last snapshot for which `is_before` holds.
    fn snapshot(&self, is_before: impl Fn(&Simulation) -> bool) -> Option<&Simulation> {
        self.snapshots.iter().map(|(_, sim)| sim).rev().find(|sim| is_before(sim))
    }

    /// Goes back to the event before the present moment; the frame that rates are then taken against.
    fn step_back(&mut self) -> Frame {
        let (now, events) = (self.shown.now(), self.shown.events());
        let before_at = self.clamped(now.as_secs_f64() - BEFORE_S);
        let mut frame = Frame::default();
        let early = self.snapshot(|sim| sim.events() < events && sim.now() <= before_at);
        let Some(mut sim) = early.or_else(|| self.snapshots.first().map(|(_, sim)| sim)).cloned() else {
            return frame;
        };
        sim.write_decisions(self.explains);
        while sim.now() < before_at && sim.events() + 1 < events && sim.step() {}
        sim.frame(&mut frame);
        while sim.events() + 1 < events && sim.step() {}
        let before = sim.clone();
        // Between two events, the last one is the one before.
        if sim.step() && sim.now() < now {
            self.shown = sim;
        } else {
            self.shown = before;
        }
        frame
    }

    /// Plays on until something is decided.
    fn decide(&mut self, more_time: &mut impl FnMut() -> bool, out: &mut Vec<Output>) {
        let Some(before) = self.decides else { return };
        loop {
            for _ in 0..EVENTS_A_LOOK {
                if !self.shown.step() || self.shown.gateway().decided() != before {
                    self.decides = None;
                    out.push(self.picture(true, None));
                    return;
                }
            }
            if !more_time() {
                return;
            }
        }
    }

    /// Keeps a snapshot of the run that goes ahead, and every other one if they are too many.
    fn keep(&mut self, sim: &Simulation) {
        if !self.ahead_steps.is_multiple_of(self.snapshot_every) || self.ahead_steps >= STEPS {
            return;
        }
        self.snapshot_bytes += sim.held_bytes();
        self.snapshots.push((self.ahead_steps, sim.clone()));
        while self.snapshot_bytes > SNAPSHOT_BYTES && self.snapshot_every < STEPS / 8 {
            self.snapshot_every *= 2;
            let every = self.snapshot_every;
            self.snapshots.retain(|(step, _)| step.is_multiple_of(every));
            self.snapshot_bytes = self.snapshots.iter().map(|(_, sim)| sim.held_bytes()).sum();
        }
    }

    fn seek(&mut self, to_s: f64, log: Option<&Rows>) {
        let at = self.clamped(to_s);
        let before_at = self.clamped(at.as_secs_f64() - BEFORE_S);
        if self.shown.now() > before_at {
            if let Some(snapshot) = self.snapshot(|sim| sim.now() <= before_at) {
                self.shown = snapshot.clone();
            } else if let Ok(fresh) = simulation(&self.scenario, 0, log.filter(|_| self.with_log)) {
                self.shown = fresh;
            }
        } else if let Some(nearer) =
            self.snapshot(|sim| sim.now() <= before_at && sim.now() > self.shown.now())
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
            self.unsent.frames.push(frame.clone());
            self.frames.push(frame);
            self.keep(&sim);
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
    use crate::trace::Spot;
    use tidegate_core::scenario::presets;

    const PRESET: &str = "flash-crowd";

    fn load(engine: &mut Engine, run: u32, at_s: f64) -> Vec<Output> {
        let scenario = presets::get(PRESET).expect("a preset").json().to_owned();
        let mut out = Vec::new();
        engine.take(Order::Load { run, scenario, at_s, with_log: false }, &mut out);
        out
    }

    #[test]
    fn a_request_is_followed_while_the_run_is_not_yet_computed() {
        let mut engine = Engine::default();
        let mut out = load(&mut engine, 1, 0.0);
        engine.take(Order::Seek { run: 1, to_s: 110.0 }, &mut out);
        while pictures(&out).is_empty() {
            engine.work(|| false, &mut out);
        }
        out.clear();
        engine.take(Order::Trace { run: 1, spot: Spot::Refused { class: 2 } }, &mut out);
        while engine.work(|| true, &mut out) {}
        let told = out.iter().find_map(|o| match o {
            Output::Numbers(list) => match Numbers::decode(list) {
                Ok(Numbers::Told(told)) => Some(told),
                _ => None,
            },
            Output::Answer(_) => None,
        });
        let told = told.expect("an answer");
        assert!(told.run == 1 && told.over == Some(true) && told.arrived_s <= 110.0, "{told:?}");
        assert!(hash(&out).is_some(), "and the run is computed all the same");
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

    /// Two runs one after the other in the same worker; what is said of the second.
    fn second(first: &str, second: &str, at_s: f64) -> Vec<Output> {
        let mut engine = Engine::default();
        let mut out = Vec::new();
        for (run, scenario) in [(1, first), (2, second)] {
            out.clear();
            engine.take(Order::Load { run, scenario: scenario.to_owned(), at_s, with_log: false }, &mut out);
            while engine.work(|| true, &mut out) {}
        }
        out
    }

    #[test]
    fn a_run_that_forks_from_the_one_before_is_the_run_from_zero() {
        let base = presets::get(PRESET).expect("a preset").json();
        let with = |at_us: u64, workers: u32| {
            let edits =
                format!(r#","edits":[{{"at_us":{at_us},"set":{{"stages[0].workers":{workers}}}}}]}}"#);
            let end = base.rfind('}').expect("an object");
            format!("{}{edits}", base[..end].trim_end())
        };
        let [early, late] = [with(20_000_000, 9), with(50_000_000, 5)];
        for (first, then) in [(base, late.as_str()), (&late, &early), (&early, &late), (&late, base)] {
            let forked = second(first, then, 51.0);
            let whole = second("", then, 51.0);
            assert_eq!(hash(&forked), hash(&whole), "{then}");
            let history = |out: &[Output]| -> Vec<Vec<u64>> {
                let parts = out.iter().filter_map(|o| match o {
                    Output::Numbers(list) => match Numbers::decode(list).expect("a list of ours") {
                        Numbers::History(part) => Some(part.frames),
                        _ => None,
                    },
                    Output::Answer(_) => None,
                });
                parts.flatten().map(|frame| bits(&frame)).collect()
            };
            assert_eq!(history(&forked), history(&whole), "{then}");
            let shown = |out: &[Output]| pictures(out).last().map(|p| bits(&p.frame));
            assert_eq!(shown(&forked), shown(&whole), "{then}");
        }
    }

    #[test]
    fn an_event_taken_back_and_played_again_is_the_same() {
        let mut engine = Engine::default();
        let mut out = load(&mut engine, 1, 30.0);
        while engine.work(|| true, &mut out) {}
        let mut step = |back: bool| {
            let mut out = Vec::new();
            engine.take(Order::StepEvent { run: 1, back }, &mut out);
            let picture = pictures(&out).pop().expect("a picture");
            (picture.events, picture.frame.now, bits(&picture.frame))
        };
        let forth: Vec<_> = (0..5).map(|_| step(false)).collect();
        let back: Vec<_> = (0..4).map(|_| step(true)).collect();
        for (n, back) in back.iter().enumerate() {
            assert_eq!(back, &forth[3 - n], "{} events back", n + 1);
        }
        let before = step(true);
        assert!(before.0 < forth[0].0 && before.1 < forth[0].1, "on to before the moment it began at");

        let mut out = Vec::new();
        engine.take(Order::StepEvent { run: 1, back: true }, &mut out);
        let picture = pictures(&out).pop().expect("a picture");
        let since = picture.before.expect("a frame to take rates against").now;
        let over = picture.frame.now.as_secs_f64() - since.as_secs_f64();
        assert!((over - BEFORE_S).abs() < 0.1, "rates are taken over {over} s");
    }

    #[test]
    fn a_step_to_the_next_decision_ends_where_something_was_decided() {
        let mut engine = Engine::default();
        let mut out = load(&mut engine, 1, 30.0);
        while engine.work(|| true, &mut out) {}
        let mut last = pictures(&out).pop().expect("a picture");
        for _ in 0..5 {
            let mut out = Vec::new();
            engine.take(Order::StepDecision { run: 1 }, &mut out);
            while engine.work(|| true, &mut out) {}
            let next = pictures(&out).pop().expect("a picture");
            let decided = |frame: &Frame| {
                let picked: u64 = frame.servers.iter().map(|s| s.picked).sum();
                let shed: u64 = frame.classes.iter().flat_map(|c| c.shed).sum();
                picked + shed
            };
            assert!(
                decided(&next.frame) > decided(&last.frame),
                "{} events later",
                next.events - last.events
            );
            last = next;
        }
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
