//! A run that goes on by another version of its scenario, and runs that share their beginning.
//!
//! Nothing here is in the loop of the simulator: a version comes into force as a timed event, and is the state of the
//! simulation from then on. What a request that is inside was drawn to be, it stays.

use super::calendar::{Rank, What};
use super::clients::Clients;
use super::law::{Law, Works};
use super::proportion::Watch;
use super::server::{self, Guest};
use super::{Simulation, Task, WORK};
use crate::id::{ClassId, ServerId};
use crate::scenario::v1::LoadV1;
use crate::scenario::{Scenario, StageSpec, Work};
use crate::time::{Duration, Instant};
use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

impl Simulation {
    /// The same run so far, which goes on by the edits of `scenario`. `None` if that would not be a run of `scenario` from
    /// its beginning: it has to begin alike, and to differ only in edits that are still to come.
    #[must_use]
    pub fn fork(&self, scenario: &Scenario) -> Option<Self> {
        let mut fork = self.clone();
        fork.go_over_to(scenario).then_some(fork)
    }

    /// Goes on by the edits of `scenario`, as a [`fork`](Self::fork) does; `false` if it cannot, and nothing has changed.
    pub fn go_over_to(&mut self, scenario: &Scenario) -> bool {
        let done = self.edited as usize;
        let is_past = |at: Instant| at <= self.now;
        let same_past = scenario.edits.get(..done) == Some(&self.edits[..done]);
        let same_start = self.start.as_ref() == &scenario.without_edits();
        let none_missed = scenario.edits.iter().skip(done).all(|edit| !is_past(edit.at));
        if !(same_past && same_start && none_missed) || self.edits[done..].iter().any(|edit| is_past(edit.at))
        {
            return false;
        }
        self.edits = Arc::clone(&scenario.edits);
        // What is in the calendar for the edits that were to come finds that their turn has passed, or comes with it.
        self.expect_edits();
        true
    }

    /// About how many bytes a snapshot of the run takes: of what grows with it.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let requests = self.requests.len() * core::mem::size_of::<super::Request>();
        let clients: usize = self.clients.populations.iter().map(|people| 16 * people.len() as usize).sum();
        let tallies = self.tallies.len() * core::mem::size_of::<super::ClassTally>();
        requests + clients + tallies + self.gateway.held_bytes() + self.calendar.held_bytes()
    }

    /// Enters the edits that are still to come.
    pub(super) fn expect_edits(&mut self) {
        for (number, edit) in self.edits.iter().enumerate().skip(self.edited as usize) {
            // After whatever else happens at that moment, so that a fork that enters it late has it in the same place.
            let what = What::Timed((self.timed.len() + number) as u32);
            self.calendar.push_last(edit.at, Rank::Control, number as u16, what);
        }
    }

    /// Edit number so-and-so is due, unless it was done already or is another one's by now.
    pub(super) fn edit(&mut self, number: usize) {
        let edits = Arc::clone(&self.edits);
        let Some(edit) =
            edits.get(number).filter(|edit| number == self.edited as usize && edit.at == self.now)
        else {
            return;
        };
        self.edited += 1;
        let before = Arc::clone(self.gateway.scenario());
        if *before != edit.version {
            self.note(6, (self.timed.len() + number) as u64);
            self.undrained = true;
            self.go_on(&before, &edit.version);
        }
    }

    fn go_on(&mut self, before: &Scenario, after: &Scenario) {
        let now = self.now;
        self.gateway.reconfigure(now, after).expect("checked: a version that may follow the one before");
        for (class, (was, is)) in before.classes.iter().zip(&after.classes).enumerate() {
            let kind = &mut self.kinds[class];
            kind.service = Works::new(&is.service, WORK);
            kind.deadline = is.deadline;
            kind.size = is.size.as_ref().map(Law::of_size);
            kind.retry = is.retry.as_ref().map(|retry| (retry.times, Law::new(&retry.after)));
            if was.load != is.load {
                self.change_load(class, &is.load, super::largest_factor(after, ClassId(class as u8)));
            }
        }
        self.asked = after.classes.iter().map(|class| (class.sources, class.targets)).collect();
        self.hashes = after.balancer.hashes().is_some();
        for at in 0..after.stages.len() {
            self.change_task(at, &after.stages[at]);
        }
        for (places, stage) in self.stage_places.iter_mut().zip(&after.stages) {
            places.change(now, self.measure_from, StageSpec::most_workers(stage));
        }
        self.change_servers(before, after);
        self.change_reports(before, after);
        let watched = core::mem::take(&mut self.watches);
        let fresh = Watch::all(after, self.measure_from.max(now));
        let kept = |new: Watch| watched.iter().find(|old| old.is_like(&new)).cloned().unwrap_or(new);
        self.watches = fresh.into_iter().map(kept).collect();
    }

    fn change_load(&mut self, class: usize, load: &LoadV1, largest_factor: f64) {
        let kind = &mut self.kinds[class];
        let LoadV1::Closed { clients, think, count } = load else {
            let pending = self.calendar.arrival(class).filter(|&at| at >= self.now);
            let next = kind.arrivals.set_load(self.now, load, kind.made, pending);
            if next != pending {
                self.calendar.set_arrival(class, next);
            }
            return;
        };
        let factor = kind.arrivals.factor();
        let all = &mut self.clients.populations;
        let first = all.last().map_or(0, |last| last.first + last.len());
        let last = all.iter().rfind(|people| usize::from(people.class) == class);
        let more = last.and_then(|last| last.more(*clients, largest_factor, first));
        all.extend(more);
        let (now, calendar) = (self.now, &mut self.calendar);
        for people in all.iter_mut().filter(|people| usize::from(people.class) == class) {
            people.set_load(*clients, Law::new(think), *count);
            people.set_factor(factor, |client, think| {
                calendar.push(Clients::asks_at(now, think), Rank::Arrival, What::Client { client });
            });
        }
    }

    /// What a worker of a stage does with work that begins from now on; a link carries what it has at its new pace.
    fn change_task(&mut self, at: usize, stage: &StageSpec) {
        match (&mut self.tasks[at], &stage.work) {
            (Task::Link(link), Work::Link(bytes_per_s)) => {
                if link.set_link(self.now, *bytes_per_s)
                    && let Some(end) = link.next_end(self.now)
                {
                    let version = link.version;
                    self.calendar.push(end, Rank::Completion, What::Link { stage: at as u8, version });
                }
            }
            (task, _) => *task = Task::new(stage),
        }
    }

    fn change_servers(&mut self, before: &Scenario, after: &Scenario) {
        let guests: Arc<[Guest]> = after.classes.iter().map(Guest::new).collect();
        let other_slots = before.servers.iter().zip(&after.servers).any(|(was, is)| was.slots != is.slots);
        let begins = !self.beyond_slots && (other_slots || server::more_than_slots(after));
        for (at, (was, is)) in before.servers.iter().zip(&after.servers).enumerate() {
            let id = ServerId(at as u16);
            if begins {
                let here = self.here(id);
                let up = self.gateway.servers().get(id).up;
                self.servers[at].take_in(self.now, is, (&guests, self.measure_from), (&here, up));
            }
            if was.speed != is.speed {
                self.servers[at].set_speed(is.speed);
            }
            self.servers[at].reconfigure(is, &guests);
            self.server_places[at].change(self.now, self.measure_from, is.slots);
            while let Some(slot) = self.servers[at].next_in_line(self.now) {
                self.start_at_server(id, slot);
            }
        }
        self.beyond_slots |= begins;
        self.guests = guests;
        if self.beyond_slots {
            (0..self.servers.len()).for_each(|at| self.settle(ServerId(at as u16)));
        }
    }

    /// How many requests of each class are at a server.
    fn here(&self, id: ServerId) -> Vec<u32> {
        let mut here = vec![0; self.kinds.len()];
        for request in self.requests.iter().filter(|request| request.inside && server::is_at(request, id.0)) {
            here[usize::from(request.class.0)] += 1;
        }
        here
    }

    fn change_reports(&mut self, before: &Scenario, after: &Scenario) {
        self.report_period = Duration::from_micros(after.feedback.period_us);
        if before.reports == after.reports && before.feedback.period_us == after.feedback.period_us {
            return;
        }
        // Whatever report was expected is void.
        self.reports_version = self.reports_version.wrapping_add(1);
        if after.reports && !after.servers.is_empty() {
            if !before.reports {
                let now = self.now;
                self.servers
                    .iter_mut()
                    .filter_map(server::SimServer::machine)
                    .for_each(|machine| machine.begin_reports(now));
            }
            self.expect_report(self.now);
        }
    }
}
