//! A simulated server: so many slots with a line for what it was sent beyond them, or cores that all share.
//!
//! Where only slots matter there is no more to it than what is on this page; whatever else a scenario can say of a server
//! is in its [`Machine`].

mod answer;
mod machine;

pub(super) use machine::{Guest, Machine};

use super::Request;
use super::census::Census;
use super::sharing::Sharing;
use crate::id::{ClassId, JobId};
use crate::scenario::v1::DisciplineV1;
use crate::scenario::{Action, Scenario, ServerSpec};
use crate::time::{Duration, Instant};
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::sync::Arc;

/// A server at work.
#[derive(Clone, Debug)]
pub(crate) struct SimServer {
    slots: u32,
    /// Slots in use.
    busy: Census,
    /// How fast work goes that begins now, to a slot.
    pace: f64,
    /// Jobs sent beyond the slots, first come first served: their slots in the gateway's table.
    line: VecDeque<u32>,
    /// The most jobs that were here at once.
    most: u32,
    /// What else it has; `None` where only slots matter.
    beyond: Option<Box<Beyond>>,
}

/// What a server has where more matters than its slots.
#[derive(Clone, Debug)]
struct Beyond {
    speed: f64,
    /// Time that slots were in use before this was kept, in nanoseconds.
    before_ns: f64,
    /// Its cores, if jobs share them.
    shared: Option<Sharing>,
    machine: Machine,
}

/// Whether more matters in a scenario's servers than their slots.
pub(crate) fn more_than_slots(scenario: &Scenario) -> bool {
    let neighbour = |action: &Action| matches!(action, Action::Neighbour(..));
    scenario.reports
        || scenario.servers.iter().any(|server| server.discipline == DisciplineV1::Sharing)
        || scenario.classes.iter().any(|class| Guest::new(class).matters())
        || scenario.events.iter().any(|event| neighbour(&event.action))
}

impl SimServer {
    /// An idle one, whose use is measured from `measure_from` on; with all it has if `guests` are to be taken in.
    pub(crate) fn new(spec: &ServerSpec, measure_from: Instant, guests: Option<&Arc<[Guest]>>) -> Self {
        let cores = || Sharing::cores(f64::from(spec.slots), spec.speed);
        let beyond = |guests: &Arc<[Guest]>| {
            Box::new(Beyond {
                speed: spec.speed,
                before_ns: 0.0,
                shared: (spec.discipline == DisciplineV1::Sharing).then(cores),
                machine: Machine::new(spec, guests.clone(), measure_from),
            })
        };
        Self {
            slots: spec.slots,
            busy: Census::from(measure_from),
            pace: spec.speed,
            line: VecDeque::new(),
            most: 0,
            beyond: guests.map(beyond),
        }
    }

    /// The most jobs that were here at once.
    pub(crate) const fn most(&self) -> u32 {
        self.most
    }

    /// Time that slots were in use (or cores, by whomever), added up over them, in nanoseconds.
    pub(crate) fn busy_ns(&self, now: Instant) -> f64 {
        match &self.beyond {
            None => self.busy.integral_ns(now) as f64,
            Some(beyond) => beyond.before_ns + beyond.machine.busy_ns(now),
        }
    }

    /// Bandwidth of the network wanted, times nanoseconds, and the part of it that was beyond the capacity.
    pub(crate) fn net_ns(&self, now: Instant) -> (f64, f64) {
        self.beyond.as_ref().map_or((0.0, 0.0), |beyond| beyond.machine.net_ns(now))
    }

    /// It is so fast from now on: for work begun from now on, and at once where cores are shared.
    pub(crate) fn set_speed(&mut self, speed: f64) {
        self.pace = speed;
        if let Some(beyond) = &mut self.beyond {
            beyond.speed = speed;
        }
    }

    /// How long a piece of work takes here.
    #[inline]
    pub(crate) fn time_for(&self, work: Duration) -> Duration {
        if self.pace == 1.0 {
            return work;
        }
        Duration::from_nanos((work.as_nanos() as f64 / self.pace + 0.5) as u64)
    }

    /// Takes a job; `true` if work on it begins at once.
    #[inline(always)]
    pub(crate) fn accept(&mut self, slot: u32, now: Instant) -> bool {
        let begins = self.busy.here() < self.slots;
        if begins {
            self.busy.come(now);
        } else {
            self.line.push_back(slot);
        }
        self.most = self.most.max(self.busy.here() + self.line.len() as u32);
        begins
    }

    /// Ends work on one job: the one that begins in its place, if any waits.
    #[inline(always)]
    pub(crate) fn finish(&mut self, now: Instant) -> Option<u32> {
        let next = self.line.pop_front();
        if next.is_none() {
            self.busy.leave(now);
        }
        next
    }

    /// The same where there may be fewer slots than are in use: one too many is given up.
    pub(crate) fn finish_within(&mut self, now: Instant) -> Option<u32> {
        if self.busy.here() > self.slots {
            self.busy.leave(now);
            return None;
        }
        self.finish(now)
    }

    /// The job that begins in a slot that is free although somebody waits, as there are more slots than before.
    pub(crate) fn next_in_line(&mut self, now: Instant) -> Option<u32> {
        let next = if self.busy.here() < self.slots { self.line.pop_front() } else { None };
        if next.is_some() {
            self.busy.come(now);
        }
        next
    }

    /// From `now` on more matters than its slots; so many of each class are `here`, and it is `up` or not.
    pub(crate) fn take_in(
        &mut self,
        now: Instant,
        spec: &ServerSpec,
        (guests, measure_from): (&Arc<[Guest]>, Instant),
        (here, up): (&[u32], bool),
    ) {
        let before_ns = self.busy_ns(now);
        let mut machine = Machine::new(spec, guests.clone(), measure_from);
        machine.take_over(here, up);
        machine.begin_reports(now);
        self.beyond = Some(Box::new(Beyond { speed: self.pace, before_ns, shared: None, machine }));
    }

    /// Goes by another specification. Whoever does this settles it afterwards.
    pub(crate) fn reconfigure(&mut self, spec: &ServerSpec, guests: &Arc<[Guest]>) {
        self.slots = spec.slots;
        if let Some(machine) = self.machine() {
            machine.reconfigure(spec, guests);
        }
    }

    /// Drops everything it has, and is down.
    pub(crate) fn fail(&mut self, now: Instant) {
        self.busy.leave_all(now);
        self.line.clear();
        if let Some(beyond) = &mut self.beyond {
            beyond.machine.go_down();
            if let Some(shared) = &mut beyond.shared {
                shared.clear();
            }
        }
    }

    /// What else it has. Whoever changes something [settles](Self::settle) it afterwards.
    pub(crate) fn machine(&mut self) -> Option<&mut Machine> {
        self.beyond.as_mut().map(|beyond| &mut beyond.machine)
    }

    /// One of a class comes.
    pub(crate) fn come(&mut self, class: ClassId) {
        if let Some(beyond) = &mut self.beyond {
            beyond.machine.come(class);
            self.most = self.most.max(beyond.machine.here());
        }
    }

    /// Begins to work on a job, where cores are shared; `false` where they are not.
    pub(crate) fn share(&mut self, now: Instant, job: JobId, work: Duration) -> bool {
        let Some(shared) = self.shared() else { return false };
        shared.begin(now, job, work.as_nanos());
        true
    }

    /// The cores, where they are shared.
    pub(crate) fn shared(&mut self) -> Option<&mut Sharing> {
        self.beyond.as_mut()?.shared.as_mut()
    }

    /// Brings pace and accounts up to what is here now; when the next job ends, where cores are shared, and the version of
    /// that.
    pub(crate) fn settle(&mut self, now: Instant) -> Option<(Instant, u32)> {
        let Beyond { speed, shared, machine, .. } = self.beyond.as_deref_mut()?;
        let cores = machine.available();
        let Some(shared) = shared else {
            let to_a_slot = cores / f64::from(self.slots);
            self.pace = *speed * to_a_slot;
            machine.account(now, f64::from(self.busy.here()) * to_a_slot);
            return None;
        };
        shared.set_cores(now, cores, *speed);
        machine.account(now, cores.min(shared.users() as f64));
        let at = shared.next_end(now)?;
        Some((at, shared.version))
    }
}

/// Whether a request is at the server `at`.
pub(crate) fn is_at(request: &Request, at: u16) -> bool {
    request.server == Some(at)
}
