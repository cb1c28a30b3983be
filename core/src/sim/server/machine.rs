//! What a server has besides slots: cores that sessions and neighbours take a part of, memory, network, disk and rooms.
//!
//! Cores left for requests = slots (1 - the neighbours' share) - what sessions hold, and never less than a twentieth of the
//! slots. Sums of what is held are made anew from the numbers of each class, so that nothing is left of them by rounding
//! when everybody has gone.

use super::answer::first_answer;
use crate::balance::LoadReport;
use crate::id::ClassId;
use crate::scenario::v1::{DemandV1, KindV1, ReportsV1, ResourceV1};
use crate::scenario::{Class, ServerSpec};
use crate::sim::level::Level;
use crate::time::{Duration, Instant};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

/// The part of its cores that requests always get.
const LEAST: f64 = 0.05;

const CPU: usize = ResourceV1::Cpu as usize;
const NET: usize = ResourceV1::Net as usize;
const DISK: usize = ResourceV1::Disk as usize;

/// What the requests of one class are to a server.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Guest {
    /// Whether they stay and take no slot.
    pub session: bool,
    /// What one holds, in the order of [`ResourceV1::FIVE`]. Of the cores only sessions hold any: short requests use what
    /// their work takes.
    holds: [f64; 5],
    /// Time to the first answer at an idle server.
    answer: Duration,
}

impl Guest {
    pub(crate) fn new(class: &Class) -> Self {
        let session = class.kind == KindV1::Session;
        let DemandV1 { cpu, mem, net, disk, rooms } = class.demand;
        Self {
            session,
            holds: [if session { cpu } else { 0.0 }, mem, net, disk, rooms],
            answer: class.answer,
        }
    }

    /// Whether they are more to a server than work.
    pub(crate) fn matters(&self) -> bool {
        self.session || self.holds != [0.0; 5]
    }
}

/// Present use and accounts of a server's cores and capacities.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    guests: Arc<[Guest]>,
    /// What there is of each; the cores are its slots.
    capacity: [Option<f64>; 5],
    /// Share of the cores that others on the same machine take.
    neighbour: f64,
    /// How many of each class are here.
    here: Vec<u32>,
    /// What they hold together.
    held: [f64; 5],
    /// Cores that work on short requests.
    working: f64,
    /// Cores in use in the measured part.
    in_use: Level,
    /// The same since the last report.
    since_report: Level,
    /// Bandwidth of the network that is wanted, in the measured part.
    net_needed: Level,
    /// Of that, what is beyond the capacity.
    net_missed: Level,
    /// Answers since the last report.
    answered: u32,
    up: bool,
    reports: ReportsV1,
    last_report: Option<LoadReport>,
}

impl Machine {
    pub(crate) fn new(spec: &ServerSpec, guests: Arc<[Guest]>, measure_from: Instant) -> Self {
        let capacity = &spec.capacity;
        Self {
            capacity: [
                Some(f64::from(spec.slots)),
                capacity.mem,
                capacity.net,
                capacity.disk,
                capacity.rooms,
            ],
            neighbour: 0.0,
            here: vec![0; guests.len()],
            guests,
            held: [0.0; 5],
            working: 0.0,
            in_use: Level::from(measure_from),
            since_report: Level::default(),
            net_needed: Level::from(measure_from),
            net_missed: Level::from(measure_from),
            answered: 0,
            up: true,
            reports: ReportsV1::Normal,
            last_report: None,
        }
    }

    /// What there is of each resource, and what requests are, from now on.
    pub(crate) fn reconfigure(&mut self, spec: &ServerSpec, guests: &Arc<[Guest]>) {
        let capacity = &spec.capacity;
        self.capacity =
            [Some(f64::from(spec.slots)), capacity.mem, capacity.net, capacity.disk, capacity.rooms];
        self.guests = Arc::clone(guests);
        self.add_up();
    }

    /// The first report is about the time from `now` on.
    pub(crate) fn begin_reports(&mut self, now: Instant) {
        self.since_report.restart(now);
        self.answered = 0;
    }

    /// So many of each class are here already.
    pub(crate) fn take_over(&mut self, here: &[u32], up: bool) {
        self.here.copy_from_slice(here);
        self.up = up;
        self.add_up();
    }

    fn cores(&self) -> f64 {
        self.capacity[CPU].expect("the cores of a server are known")
    }

    /// Cores left for short requests.
    pub(crate) fn available(&self) -> f64 {
        let cores = self.cores();
        (cores * (1.0 - self.neighbour) - self.held[CPU]).max(LEAST * cores)
    }

    /// How many are here.
    pub(crate) fn here(&self) -> u32 {
        self.here.iter().sum()
    }

    /// One of a class comes.
    pub(crate) fn come(&mut self, class: ClassId) {
        self.here[usize::from(class.0)] += 1;
        self.sum_up(class);
    }

    /// One of a class leaves, with its answer.
    pub(crate) fn leave(&mut self, class: ClassId) {
        let class_at = usize::from(class.0);
        self.here[class_at] -= 1;
        self.sum_up(class);
        // A session was answered when it began.
        self.answered += u32::from(!self.guests[class_at].session);
    }

    /// All leave, and nobody comes until it is [up](Self::come_up).
    pub(crate) fn go_down(&mut self) {
        self.here.fill(0);
        self.held = [0.0; 5];
        self.up = false;
    }

    pub(crate) fn come_up(&mut self) {
        self.up = true;
    }

    pub(crate) fn set_neighbour(&mut self, share: f64) {
        self.neighbour = share;
    }

    pub(crate) fn set_reports(&mut self, reports: ReportsV1) {
        self.reports = reports;
    }

    /// Adds up anew what is held, if the class holds anything.
    fn sum_up(&mut self, class: ClassId) {
        if self.guests[usize::from(class.0)].matters() {
            self.add_up();
        }
    }

    fn add_up(&mut self) {
        self.held = [0.0; 5];
        for (guest, &here) in self.guests.iter().zip(&self.here) {
            for (sum, one) in self.held.iter_mut().zip(guest.holds) {
                *sum += f64::from(here) * one;
            }
        }
    }

    /// Enters the present state into the accounts; `working` cores work on short requests.
    pub(crate) fn account(&mut self, now: Instant, working: f64) {
        self.working = working;
        let cores_in_use = self.wanted_cores().min(self.cores());
        self.in_use.set(now, cores_in_use);
        self.since_report.set(now, cores_in_use);
        self.net_needed.set(now, self.held[NET]);
        let beyond = self.capacity[NET].map_or(0.0, |capacity| (self.held[NET] - capacity).max(0.0));
        self.net_missed.set(now, beyond);
    }

    /// Cores that short requests work on, that sessions hold and that neighbours take, if there were enough.
    fn wanted_cores(&self) -> f64 {
        self.working + self.held[CPU] + self.neighbour * self.cores()
    }

    /// Time to the first answer of a session that has just come: by the fullest of cores, network and disk.
    pub(crate) fn first_answer(&mut self, class: ClassId) -> Duration {
        self.answered += 1;
        let of = |at: usize| self.capacity[at].map_or(0.0, |capacity| self.held[at] / capacity);
        let rho = (self.wanted_cores() / self.cores()).max(of(NET)).max(of(DISK));
        first_answer(self.guests[usize::from(class.0)].answer, rho)
    }

    /// Core time in use in the measured part until `now`, in core-nanoseconds.
    pub(crate) fn busy_ns(&self, now: Instant) -> f64 {
        self.in_use.integral(now)
    }

    /// Bandwidth of the network wanted in the measured part until `now`, times nanoseconds, and the part of it that was
    /// beyond the capacity.
    pub(crate) fn net_ns(&self, now: Instant) -> (f64, f64) {
        (self.net_needed.integral(now), self.net_missed.integral(now))
    }

    /// What it reports after `period`, if it does. What is reported next begins `now`.
    pub(crate) fn report(&mut self, now: Instant, period: Duration) -> Option<LoadReport> {
        let present = self.load(now, period);
        self.since_report.restart(now);
        self.answered = 0;
        if !self.up {
            return None;
        }
        match self.reports {
            ReportsV1::Normal => self.last_report = Some(present),
            ReportsV1::Stuck => {}
            ReportsV1::Lost => return None,
        }
        self.last_report
    }

    /// The load as it is: of the cores the mean since the last report, of everything else the present use.
    fn load(&self, now: Instant, period: Duration) -> LoadReport {
        let mut loads: [Option<f64>; 5] =
            core::array::from_fn(|at| self.capacity[at].map(|capacity| (self.held[at] / capacity).min(1.0)));
        loads[CPU] = Some((self.since_report.mean(now) / self.cores()).clamp(0.0, 1.0));
        LoadReport {
            loads,
            application: None,
            requests_per_s: Some(f64::from(self.answered) / period.as_secs_f64()),
            errors_per_s: Some(0.0),
        }
    }
}
