//! One request from its arrival to its end, with the figures of every decision about it.
//!
//! Nothing is kept for this while a run is going: a run repeats, so a request that somebody asks about is followed
//! through a copy of the run that begins before it arrived. A request is named by its class and the moment it arrived.

use super::Simulation;
use crate::admission::{About, Judged, Verdict};
use crate::balance::Decision;
use crate::frame::Cause;
use crate::gateway::Whereabouts;
use crate::id::{ClassId, JobId, ServerId, StageId};
use crate::time::Instant;
use alloc::vec::Vec;

/// Steps kept of one journey; a request passes at most 16 stages, and each as many levels.
const MOST_STEPS: usize = 600;

/// Something that happened to a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// It came to a stage and was judged there.
    Judged(Judged),
    /// It waits in another level.
    Moved {
        /// At which stage.
        stage: StageId,
        /// The level.
        level: u8,
    },
    /// A worker took it.
    Started {
        /// Of which stage.
        stage: StageId,
    },
    /// It was sent to a server.
    Sent {
        /// Which.
        server: ServerId,
        /// How that was decided, if the last decision of that moment was about it.
        decision: Option<Decision>,
    },
    /// It was answered.
    Answered,
    /// A server failed with it.
    Failed,
    /// It was turned away, at the entry or later.
    TurnedAway(Cause),
    /// Its client left.
    Abandoned,
}

/// What happened to one request.
#[derive(Clone, Debug, PartialEq)]
pub struct Journey {
    /// Its class.
    pub class: ClassId,
    /// When it arrived.
    pub arrived: Instant,
    /// What happened, and when, in order.
    pub steps: Vec<(Instant, Happening)>,
    /// Whether it has come to its end.
    pub over: bool,
    job: Option<JobId>,
    last: Option<Whereabouts>,
}

/// How many of a class had left which way: answered, failed, left by their clients, and turned away by cause.
type Left = [u64; 7];

impl Journey {
    /// Of the request of `class` that arrives at `arrived`.
    #[must_use]
    pub const fn of(class: ClassId, arrived: Instant) -> Self {
        Self { class, arrived, steps: Vec::new(), over: false, job: None, last: None }
    }

    /// Has a run, which has not come to its arrival, write down what is decided about it.
    pub fn begin(&self, sim: &mut Simulation) {
        sim.gateway.write_decisions(true);
        sim.gateway.tell(About::One(self.class, self.arrived));
    }

    /// Plays one event of the run that was [begun](Self::begin) with, and takes down what that meant for the request.
    /// `false` when the request or the run is at its end.
    pub fn step(&mut self, sim: &mut Simulation) -> bool {
        if self.over {
            return false;
        }
        let before = sim.left_of(self.class);
        let was = sim.now;
        let went = sim.step();
        let now = sim.now;
        if self.job.is_none() && now >= self.arrived {
            self.look_for_it(sim, &before);
        } else if let Some(job) = self.job {
            self.follow(sim, job, &before, was);
        }
        self.over |= self.steps.len() >= MOST_STEPS;
        went && !self.over
    }

    fn look_for_it(&mut self, sim: &Simulation, before: &Left) {
        self.take_verdicts(sim);
        if self.steps.is_empty() {
            // Not yet its turn among the events of this moment, or there is no such request.
            self.over = sim.now > self.arrived;
            return;
        }
        self.job = sim.gateway.arrived_at(self.class, self.arrived);
        match self.job {
            Some(job) => self.note_place(sim, job),
            None => self.end(sim, before, true, self.arrived),
        }
    }

    /// Takes down the verdicts of this moment about it.
    fn take_verdicts(&mut self, sim: &Simulation) {
        let Some(told) = sim.gateway.told() else { return };
        for judged in told.judged.iter().filter(|j| j.class == self.class && j.at == sim.now) {
            let happening = Happening::Judged(judged.clone());
            if !self.steps.iter().any(|(_, known)| *known == happening) {
                self.steps.push((judged.at, happening));
            }
        }
    }

    fn follow(&mut self, sim: &Simulation, job: JobId, before: &Left, was: Instant) {
        if sim.gateway.whereabouts(job).is_some() {
            self.note_place(sim, job);
        } else {
            let waited = self.last.is_some_and(|last| !last.working);
            self.end(sim, before, waited, was);
        }
    }

    /// Takes down what is new about where it is.
    fn note_place(&mut self, sim: &Simulation, job: JobId) {
        let Some(place) = sim.gateway.whereabouts(job) else { return };
        let last = self.last.replace(place);
        if last == self.last {
            return;
        }
        let since = place.since;
        let new_stage = last.is_some_and(|last| last.stage != place.stage);
        if new_stage {
            self.take_verdicts(sim);
        }
        let moved = last.is_some_and(|last| !last.working && !place.working && last.level != place.level);
        if moved && !new_stage {
            self.steps.push((since, Happening::Moved { stage: place.stage, level: place.level }));
        }
        let began = place.working && last.is_none_or(|last| !last.working || new_stage);
        if began {
            self.steps.push((since, Happening::Started { stage: place.stage }));
        }
        if let Some(server) = place.server
            && last.and_then(|last| last.server) != Some(server)
        {
            let about_it = |d: &&Decision| d.at == since && d.server == server && d.class == self.class;
            let decision = sim.gateway.last_decision().filter(about_it).cloned();
            self.steps.push((since, Happening::Sent { server, decision }));
        }
    }

    /// It is gone: takes down how. What waited cannot have been answered, what was in work cannot have been turned away
    /// but at the next stage.
    fn end(&mut self, sim: &Simulation, before: &Left, waited: bool, was: Instant) {
        let after = sim.left_of(self.class);
        let more = |at: usize| after[at] > before[at];
        let shed = Cause::ALL.into_iter().find(|&cause| more(3 + cause as usize)).map(Happening::TurnedAway);
        let worked = match () {
            () if more(0) => Some(Happening::Answered),
            () if more(1) => Some(Happening::Failed),
            () => None,
        };
        if !waited {
            // The next stage may have turned it away, and says by which figures.
            self.take_verdicts(sim);
        }
        let refused = self.steps.last().and_then(|(at, last)| match last {
            Happening::Judged(judged) if *at == sim.now => match judged.verdict {
                Verdict::Shed(cause) => Some(Happening::TurnedAway(cause)),
                Verdict::Admit => None,
            },
            _ => None,
        });
        let how = if waited { refused.or(shed) } else { refused.or(worked).or(shed) };
        let how = how.unwrap_or(Happening::Abandoned);
        // Who is next is asked before the next event, at the time of the one before.
        let at_take = waited && matches!(how, Happening::TurnedAway(cause) if cause != Cause::Deadline);
        self.steps.push((if at_take { was } else { sim.now }, how));
        self.over = true;
    }
}

impl Simulation {
    fn left_of(&self, class: ClassId) -> Left {
        self.gateway.left_of(class)
    }

    /// When the request arrived that is number `nth` of those of `class` that wait at a stage, from the head of the highest
    /// level down.
    #[must_use]
    pub fn waiting(&self, stage: StageId, class: ClassId, nth: u32) -> Option<Instant> {
        self.gateway.waiting(stage, class, nth)
    }

    /// Begins to write down who is turned away; see [`turned_away`](Self::turned_away).
    pub fn tell_refusals(&mut self) {
        self.gateway.tell(About::Nobody);
    }

    /// When the request of `class` arrived that was turned away last, if the last one turned away was of that class;
    /// [`tell_refusals`](Self::tell_refusals) goes before.
    #[must_use]
    pub fn turned_away(&self, class: ClassId) -> Option<Instant> {
        let told = self.gateway.told()?;
        told.shed.filter(|&(of, _)| of == class).map(|(_, arrived)| arrived)
    }

    /// The request that came to a server last, if it is still there.
    #[must_use]
    pub fn last_sent(&self, server: ServerId) -> Option<(ClassId, Instant)> {
        self.gateway.last_at(server)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::presets;
    use crate::time::Duration;

    fn at(s: u64) -> Instant {
        Instant::START + Duration::from_secs(s)
    }

    fn fresh(preset: &str) -> Simulation {
        Simulation::new(&presets::get(preset).expect("a preset").scenario(), 0, None).expect("it runs")
    }

    /// The journey of a request through a run of its own.
    fn journey(preset: &str, class: ClassId, arrived: Instant) -> Journey {
        let mut sim = fresh(preset);
        let mut journey = Journey::of(class, arrived);
        journey.begin(&mut sim);
        sim.run_until(Instant::from_nanos(arrived.as_nanos() - 1));
        while journey.step(&mut sim) {}
        let times: Vec<Instant> = journey.steps.iter().map(|&(at, _)| at).collect();
        assert!(times.is_sorted() && times[0] == arrived, "{preset}: {journey:?}");
        journey
    }

    fn verdicts(journey: &Journey) -> Vec<&Judged> {
        let of = |step: &(Instant, Happening)| matches!(step.1, Happening::Judged(_));
        let judged = journey.steps.iter().filter(|step| of(step)).map(|(_, happening)| match happening {
            Happening::Judged(judged) => judged,
            _ => unreachable!("filtered"),
        });
        judged.collect()
    }

    #[test]
    fn who_waits_is_followed_from_its_arrival_to_its_answer() {
        for preset in ["flash-crowd", "red5-dnf", "seda-loop-3", "starvation-aged", "pdd-two-class"] {
            let mut sim = fresh(preset);
            let until = at(110);
            sim.run_until(until);
            let mut frame = crate::frame::Frame::default();
            sim.frame(&mut frame);
            let mut followed = 0;
            for (stage, of) in frame.stages.iter().enumerate() {
                let classes = frame.classes.len();
                for class in 0..classes {
                    let waiting: u32 = of.waiting.iter().skip(class).step_by(classes).sum();
                    let class = ClassId(class as u8);
                    let found = |nth| sim.waiting(StageId(stage as u8), class, nth);
                    assert_eq!(found(waiting), None, "{preset}: there are only {waiting}");
                    let Some(arrived) = waiting.checked_sub(1).and_then(found) else { continue };
                    let journey = journey(preset, class, arrived);
                    let waits = |(when, what): &(Instant, Happening)| {
                        *when > until || !matches!(what, Happening::Sent { .. } | Happening::Answered)
                    };
                    assert!(journey.steps.iter().all(waits), "{preset}: it waits at 110 s: {journey:?}");
                    assert!(verdicts(&journey).iter().all(|j| j.verdict == Verdict::Admit || j.at > until));
                    followed += 1;
                }
            }
            assert!(followed > 0 || preset == "red5-dnf", "{preset}: somebody waits");
        }
    }

    #[test]
    fn a_refusal_says_by_which_chance_and_draw() {
        let (mut early, mut spaced) = (0, 0);
        for (preset, from_s) in [("flash-crowd", 80), ("seda-exp1", 30), ("seda-loop-3-published", 30)] {
            let mut sim = fresh(preset);
            sim.run_until(at(from_s));
            sim.gateway.tell(About::All);
            let mut shed = [sim.gateway.left_of(ClassId(0))[3..].iter().sum(); 2];
            let begun: u64 = shed[0];
            for _ in 0..6_000 {
                if !sim.step() {
                    break;
                }
                let told = sim.gateway.told().expect("written down");
                for judged in told.judged.iter().filter(|judged| judged.at == sim.now) {
                    let away = judged.draw < judged.chance;
                    assert_eq!(away, judged.verdict != Verdict::Admit, "{preset}: {judged:?}");
                    early += u32::from(judged.verdict == Verdict::Shed(Cause::Early));
                    let on_curve = judged.gauge.map_or(0.0, |gauge| gauge.drop_p);
                    spaced +=
                        u32::from(judged.chance > 0.0 && judged.chance < 1.0 && on_curve != judged.chance);
                }
                shed[0] = sim.gateway.left_of(ClassId(0))[3..].iter().sum();
                if shed[0] > shed[1] {
                    let arrived = sim.turned_away(ClassId(0));
                    if let Some(arrived) = arrived.filter(|_| shed[1] < begun + 2) {
                        let journey = journey(preset, ClassId(0), arrived);
                        let last = journey.steps.last().map(|(_, what)| what);
                        assert!(matches!(last, Some(Happening::TurnedAway(_))), "{preset}: {journey:?}");
                    }
                }
                shed[1] = shed[0];
            }
        }
        assert!(early > 10 && spaced > 0, "{early} at random, {spaced} spaced out");
    }

    #[test]
    fn the_last_at_a_server_says_who_was_considered() {
        let mut sim = fresh("flash-crowd");
        sim.run_until(at(70));
        let (class, arrived) = sim.last_sent(ServerId(0)).expect("it is busy");
        let journey = journey("flash-crowd", class, arrived);
        let sent = journey.steps.iter().find_map(|(when, what)| match what {
            Happening::Sent { server, decision } => Some((*when, *server, decision.clone())),
            _ => None,
        });
        let (when, server, decision) = sent.expect("it was sent");
        let decision = decision.expect("nobody else was sent at that moment");
        assert_eq!((server, decision.server), (ServerId(0), ServerId(0)));
        assert!(when <= at(70) && decision.candidates.len() > 1, "{decision:?}");
        assert!(
            journey.over && matches!(journey.steps.last(), Some((_, Happening::Answered))),
            "{journey:?}"
        );
    }

    #[test]
    fn writing_down_changes_nothing() {
        for preset in presets::ALL.iter().filter(|preset| !preset.name.starts_with("trace")) {
            let scenario = preset.scenario();
            let mut plain = Simulation::new(&scenario, 0, None).expect("it runs");
            let mut told = plain.clone();
            told.write_decisions(true);
            told.gateway.tell(About::All);
            for sim in [&mut plain, &mut told] {
                for _ in 0..3_000 {
                    sim.step();
                }
            }
            assert_eq!(plain.trace_hash(), told.trace_hash(), "{}", preset.name);
        }
    }

    #[test]
    fn a_request_that_is_none_has_no_journey() {
        let mut sim = fresh("mm1");
        let mut journey = Journey::of(ClassId(0), at(5));
        journey.begin(&mut sim);
        while journey.step(&mut sim) {}
        assert!(journey.over && journey.steps.is_empty());
    }
}
