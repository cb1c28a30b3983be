//! Follows one request through a copy of the run: who it is, and what became of it and why.
//!
//! A run repeats, so nothing is written down while it plays: a request that is asked about is followed from a snapshot
//! before it arrived. Work is done in slices, as all work of the worker.

use tidegate_core::admission::Verdict;
use tidegate_core::id::{ClassId, ServerId, StageId};
use tidegate_core::sim::Simulation;
use tidegate_core::sim::journey::{Happening, Journey};
use tidegate_core::time::{Duration, Instant};

/// Events between two looks at the clock.
const EVENTS_A_LOOK: u32 = 64;
/// The shortest time.
const TICK: Duration = Duration::from_nanos(1);

/// Which request is asked about, as seen at the playhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// Number `nth` of those of a class that wait at a stage, from the head.
    Waiting {
        /// The stage.
        stage: u8,
        /// The class.
        class: u8,
        /// Which.
        nth: u32,
    },
    /// The last of a class that was turned away.
    Refused {
        /// The class.
        class: u8,
    },
    /// The last that was sent to a server and is still there.
    Sent {
        /// The server.
        server: u16,
    },
}

impl Spot {
    /// As one number, for a message: three fields of 16 bits and more.
    #[must_use]
    pub fn pack(self) -> u64 {
        let (kind, a, b, c) = match self {
            Self::Waiting { stage, class, nth } => (0, u64::from(stage), u64::from(class), u64::from(nth)),
            Self::Refused { class } => (1, 0, u64::from(class), 0),
            Self::Sent { server } => (2, 0, 0, u64::from(server)),
        };
        kind | a << 2 | b << 10 | c << 18
    }

    /// What [`pack`](Self::pack) packed.
    #[must_use]
    pub fn unpack(packed: u64) -> Self {
        let (stage, class, last) = ((packed >> 2) as u8, (packed >> 10) as u8, packed >> 18);
        match packed & 3 {
            0 => Self::Waiting { stage, class, nth: last as u32 },
            1 => Self::Refused { class },
            _ => Self::Sent { server: last as u16 },
        }
    }
}

/// A search that goes on.
#[derive(Debug)]
pub enum Trace {
    /// For the last refusal of a class.
    Find {
        /// A copy of the run.
        sim: Box<Simulation>,
        /// Where it began.
        from: Instant,
        /// Where it ends.
        until: Instant,
        /// The class.
        class: ClassId,
        /// The last refusal so far.
        found: Option<Instant>,
    },
    /// Of what becomes of a request that is known.
    Follow {
        /// A copy of the run.
        sim: Box<Simulation>,
        /// What is known so far.
        journey: Journey,
    },
    /// There is no such request.
    Nobody,
}

/// What a slice of work came to.
#[derive(Clone, Debug, PartialEq)]
pub enum Traced {
    /// There is more to do.
    NotYet,
    /// There is no such request.
    Nobody,
    /// What became of it.
    Done(Journey),
}

impl Trace {
    /// Begins to look for a request in the run that `shown` shows a moment of. `before` gives a copy of the run that has
    /// come no further than a moment.
    pub fn begin(spot: Spot, shown: &Simulation, before: impl Fn(Instant) -> Simulation) -> Self {
        let known = match spot {
            Spot::Waiting { stage, class, nth } => {
                let class = ClassId(class);
                shown.waiting(StageId(stage), class, nth).map(|arrived| (class, arrived))
            }
            Spot::Sent { server } => shown.last_sent(ServerId(server)),
            Spot::Refused { class } => return Self::find(ClassId(class), shown.now(), before),
        };
        known.map_or(Self::Nobody, |(class, arrived)| Self::follow(class, arrived, before))
    }

    fn find(class: ClassId, until: Instant, before: impl Fn(Instant) -> Simulation) -> Self {
        let mut sim = Box::new(before(until));
        sim.tell_refusals();
        Self::Find { from: sim.now(), sim, until, class, found: None }
    }

    fn follow(class: ClassId, arrived: Instant, before: impl Fn(Instant) -> Simulation) -> Self {
        let journey = Journey::of(class, arrived);
        let mut sim = Box::new(before(back(arrived)));
        journey.begin(&mut sim);
        Self::Follow { sim, journey }
    }

    /// Goes on while `more_time` says so.
    pub fn work(
        &mut self,
        more_time: &mut impl FnMut() -> bool,
        before: impl Fn(Instant) -> Simulation,
    ) -> Traced {
        loop {
            match self {
                Self::Nobody => return Traced::Nobody,
                Self::Find { sim, from, until, class, found } => {
                    for _ in 0..EVENTS_A_LOOK {
                        if sim.next_event_at().is_some_and(|at| at <= *until) && sim.step() {
                            *found = sim.turned_away(*class).or(*found);
                            continue;
                        }
                        let next = match *found {
                            Some(arrived) => Self::follow(*class, arrived, &before),
                            None if *from == Instant::START => Self::Nobody,
                            None => Self::find(*class, back(*from), &before),
                        };
                        *self = next;
                        break;
                    }
                }
                Self::Follow { sim, journey } => {
                    for _ in 0..EVENTS_A_LOOK {
                        if !journey.step(sim) {
                            let nothing = journey.steps.is_empty();
                            return if nothing { Traced::Nobody } else { Traced::Done(journey.clone()) };
                        }
                    }
                }
            }
            if !more_time() {
                return Traced::NotYet;
            }
        }
    }
}

fn back(at: Instant) -> Instant {
    if at > Instant::START { Instant::from_nanos(at.as_nanos() - TICK.as_nanos()) } else { at }
}

/// A step of a journey on its way to the page: when, of which kind, and its figures as [`flat`] lays them out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Step {
    /// When, in seconds.
    pub at_s: f64,
    /// Which kind, by the constants of [`kind`].
    pub kind: u8,
    /// Its figures.
    pub figures: Vec<f64>,
}

/// Kinds of steps and their figures.
pub mod kind {
    /// Judged: stage, level, level it was judged at, waiting, ahead, would wait, draw, chance, verdict (-1 for let in, else
    /// the number of the cause), then if the control has them average, min, max, `max_p`, drop probability, seconds.
    pub const JUDGED: u8 = 0;
    /// Moved: stage, level.
    pub const MOVED: u8 = 1;
    /// Taken by a worker: stage.
    pub const STARTED: u8 = 2;
    /// Sent: server, then server, key, turn and group of everyone considered.
    pub const SENT: u8 = 3;
    /// Answered.
    pub const ANSWERED: u8 = 4;
    /// Failed.
    pub const FAILED: u8 = 5;
    /// Turned away: number of the cause.
    pub const TURNED_AWAY: u8 = 6;
    /// Left by its client.
    pub const ABANDONED: u8 = 7;
}

fn flat(happening: &Happening) -> (u8, Vec<f64>) {
    match happening {
        Happening::Judged(j) => {
            let verdict = match j.verdict {
                Verdict::Admit => -1.0,
                Verdict::Shed(cause) => f64::from(cause as u8),
            };
            let mut out = vec![
                f64::from(j.stage.0),
                f64::from(j.level),
                f64::from(j.judged_at),
                f64::from(j.waiting),
                f64::from(j.ahead),
                f64::from(u8::from(j.would_wait)),
                j.draw,
                j.chance,
                verdict,
            ];
            if let Some(g) = j.gauge {
                let seconds = f64::from(u8::from(g.seconds));
                out.extend([g.average, g.min, g.max, g.max_p, g.drop_p, seconds]);
            }
            (kind::JUDGED, out)
        }
        Happening::Moved { stage, level } => (kind::MOVED, vec![f64::from(stage.0), f64::from(*level)]),
        Happening::Started { stage } => (kind::STARTED, vec![f64::from(stage.0)]),
        Happening::Sent { server, decision } => {
            let mut out = vec![f64::from(server.0)];
            for c in decision.iter().flat_map(|decision| &decision.candidates) {
                out.extend([f64::from(c.server.0), c.key, c.turn, f64::from(c.group)]);
            }
            (kind::SENT, out)
        }
        Happening::Answered => (kind::ANSWERED, Vec::new()),
        Happening::Failed => (kind::FAILED, Vec::new()),
        Happening::TurnedAway(cause) => (kind::TURNED_AWAY, vec![f64::from(*cause as u8)]),
        Happening::Abandoned => (kind::ABANDONED, Vec::new()),
    }
}

/// What the page gets of a journey.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Told {
    /// Of which run.
    pub run: u32,
    /// Class of the request.
    pub class: usize,
    /// When it arrived, in seconds.
    pub arrived_s: f64,
    /// Whether it came to its end within the run; `None` if there is no such request.
    pub over: Option<bool>,
    /// What happened.
    pub steps: Vec<Step>,
}

impl Told {
    /// What is told of a search that has come to its end.
    #[must_use]
    pub fn of(run: u32, journey: Option<&Journey>) -> Self {
        let Some(journey) = journey else { return Self { run, ..Self::default() } };
        let step = |(at, happening): &(Instant, Happening)| {
            let (kind, figures) = flat(happening);
            Step { at_s: at.as_secs_f64(), kind, figures }
        };
        Self {
            run,
            class: usize::from(journey.class.0),
            arrived_s: journey.arrived.as_secs_f64(),
            over: Some(journey.over),
            steps: journey.steps.iter().map(step).collect(),
        }
    }

    /// As a flat list, behind its head.
    pub fn encode(&self, out: &mut Vec<f64>) {
        let over = self.over.map_or(-1.0, |over| f64::from(u8::from(over)));
        out.extend([f64::from(self.run), self.class as f64, self.arrived_s, over]);
        for step in &self.steps {
            out.extend([step.at_s, f64::from(step.kind), step.figures.len() as f64]);
            out.extend(&step.figures);
        }
    }

    /// Reads what [`encode`](Self::encode) wrote.
    #[must_use]
    pub fn decode(list: &[f64]) -> Option<Self> {
        let (head, mut rest) = list.split_at_checked(4)?;
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (begin, more) = rest.split_at_checked(3)?;
            let (figures, more) = more.split_at_checked(begin[2] as usize)?;
            steps.push(Step { at_s: begin[0], kind: begin[1] as u8, figures: figures.to_vec() });
            rest = more;
        }
        Some(Self {
            run: head[0] as u32,
            class: head[1] as usize,
            arrived_s: head[2],
            over: (head[3] >= 0.0).then_some(head[3] > 0.0),
            steps,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::presets;

    /// What is told about a spot of the flash crowd at a moment, with snapshots each so many seconds.
    fn told(at_s: f64, apart_s: f64, spot: Spot) -> Told {
        let scenario = presets::get("flash-crowd").expect("a preset").scenario();
        let mut sim = Simulation::new(&scenario, 0, None).expect("it runs");
        let at = |s: f64| Instant::START + Duration::from_secs_f64(s);
        let mut snapshots = vec![sim.clone()];
        let mut s = apart_s;
        while s < at_s {
            sim.run_until(at(s));
            snapshots.push(sim.clone());
            s += apart_s;
        }
        sim.run_until(at(at_s));
        let before = |to: Instant| {
            snapshots.iter().rev().find(|s| s.now() <= to).expect("the first is at the start").clone()
        };
        let mut trace = Trace::begin(spot, &sim, before);
        loop {
            let mut looks = 0;
            let mut more = || {
                looks += 1;
                looks < 5
            };
            match trace.work(&mut more, before) {
                Traced::NotYet => {}
                Traced::Nobody => return Told::of(7, None),
                Traced::Done(journey) => return Told::of(7, Some(&journey)),
            }
        }
    }

    #[test]
    fn a_request_is_the_same_whatever_the_snapshots() {
        for spot in [
            Spot::Waiting { stage: 1, class: 2, nth: 3 },
            Spot::Refused { class: 2 },
            Spot::Sent { server: 1 },
        ] {
            let (near, far) = (told(100.0, 4.0, spot), told(100.0, 60.0, spot));
            assert_eq!(near, far, "{spot:?}");
            assert!(near.over == Some(true) && near.arrived_s <= 100.0, "{near:?}");
            assert_eq!(near.steps[0].kind, kind::JUDGED, "{near:?}");
        }
    }

    #[test]
    fn the_last_refusal_is_found_however_long_ago() {
        let none = told(20.0, 5.0, Spot::Refused { class: 2 });
        assert_eq!((none.over, none.steps.len()), (None, 0), "nobody is turned away before the crowd");
        let last = told(175.0, 3.0, Spot::Refused { class: 2 });
        assert!(last.arrived_s < 172.0, "{last:?}");
        assert_eq!(last.steps.last().map(|step| step.kind), Some(kind::TURNED_AWAY));
    }

    #[test]
    fn spots_and_what_is_told_survive_the_way() {
        for spot in [
            Spot::Waiting { stage: 15, class: 15, nth: 1_000_000 },
            Spot::Refused { class: 3 },
            Spot::Sent { server: 999 },
        ] {
            assert_eq!(Spot::unpack(spot.pack()), spot);
        }
        let told = told(100.0, 10.0, Spot::Sent { server: 0 });
        let mut list = Vec::new();
        told.encode(&mut list);
        assert_eq!(Told::decode(&list), Some(told));
        assert_eq!(Told::decode(&list[..list.len() - 1]), None);
    }
}
