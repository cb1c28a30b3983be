//! How requests meet servers in which more matters than slots: shared cores, sessions, held resources, neighbours, load
//! reports.
//!
//! Runs whose servers have nothing but slots pass by here: what they do is in the loop of the simulator.

use super::calendar::{Rank, What};
use super::{Outcome, Simulation};
use crate::id::{ClassId, ServerId};
use crate::scenario::v1::ReportsV1;
use crate::time::Instant;

impl Simulation {
    /// A request comes to a server.
    #[inline(never)]
    pub(super) fn come(&mut self, server: ServerId, slot: u32) {
        let &super::Request { job, class, .. } = &self.requests[slot as usize];
        let now = self.now;
        let there = &mut self.servers[usize::from(server.0)];
        there.come(class);
        if self.guests[usize::from(class.0)].session {
            let ends = now + self.work_of(slot);
            self.calendar.push(ends, Rank::Completion, What::Completion(job));
            self.settle(server);
            self.answer_first(server, slot);
            return;
        }
        let work = self.work_of(slot);
        let there = &mut self.servers[usize::from(server.0)];
        if !there.share(now, job, work) && there.accept(slot, now) {
            self.start_at_server(server, slot);
        }
        self.settle(server);
    }

    /// A request leaves its server, with its answer.
    #[inline(never)]
    pub(super) fn go(&mut self, server: ServerId, class: ClassId) {
        let there = &mut self.servers[usize::from(server.0)];
        if let Some(machine) = there.machine() {
            machine.leave(class);
        }
        let in_slot = !self.guests[usize::from(class.0)].session && there.shared().is_none();
        let next = if in_slot { there.finish_within(self.now) } else { None };
        self.settle(server);
        if let Some(next) = next {
            self.start_at_server(server, next);
        }
    }

    /// The first job of a server whose cores are shared ends, unless its end was set anew.
    pub(super) fn share_ended(&mut self, server: u16, version: u32) {
        let Some(shared) = self.servers[usize::from(server)].shared() else { return };
        if shared.version != version {
            return;
        }
        if let Some(job) = shared.end(self.now) {
            self.happen(What::Completion(job));
        }
    }

    /// The first answer of a session: what its response time is, and whether it is within its deadline.
    fn answer_first(&mut self, server: ServerId, slot: u32) {
        let request = &mut self.requests[slot as usize];
        let Some(machine) = self.servers[usize::from(server.0)].machine() else { return };
        let response = self.now.since(request.arrived) + machine.first_answer(request.class);
        let at = usize::from(request.class.0);
        request.answered_in_time = self.kinds[at].deadline.is_none_or(|deadline| response <= deadline);
        if request.arrived >= self.measure_from {
            self.tallies[at].response.record(response.as_nanos());
            self.tallies[at].response_batches.push(response.as_nanos());
        }
        self.fold(response.as_nanos(), 9 << 56 | u64::from(server.0));
    }

    /// A session is over: whether its first answer was within its deadline counts, not how long it stayed.
    pub(super) fn session_ended(&mut self, slot: u32, outcome: Outcome) -> bool {
        let request = &self.requests[slot as usize];
        let good = request.answered_in_time && outcome == Outcome::Completed;
        self.tallies[usize::from(request.class.0)].good_sessions += u64::from(good);
        good
    }

    /// Something changed at a server: whatever goes on there goes on accordingly.
    pub(super) fn settle(&mut self, server: ServerId) {
        if let Some((at, version)) = self.servers[usize::from(server.0)].settle(self.now) {
            self.calendar.push(at, Rank::Completion, What::Shared { server: server.0, version });
        }
    }

    /// Others on the same machine take a share of its cores.
    pub(super) fn set_neighbour(&mut self, server: ServerId, share: f64) {
        if let Some(machine) = self.servers[usize::from(server.0)].machine() {
            machine.set_neighbour(share);
        }
        self.settle(server);
    }

    /// Something becomes of a server's reports.
    pub(super) fn set_reports(&mut self, server: ServerId, reports: ReportsV1) {
        if let Some(machine) = self.servers[usize::from(server.0)].machine() {
            machine.set_reports(reports);
        }
    }

    /// All servers that are up say how they are; then the gateway is asked what it makes of it. Void if reports were set
    /// anew since it was entered.
    pub(super) fn report(&mut self, version: u32) {
        if version != self.reports_version {
            return;
        }
        self.note(8, 0);
        self.undrained = true;
        let period = self.report_period;
        for at in 0..self.servers.len() {
            let report = self.servers[at].machine().and_then(|machine| machine.report(self.now, period));
            let Some(report) = report else { continue };
            for load in report.loads {
                self.fold(at as u64, load.map_or(u64::MAX, f64::to_bits));
            }
            self.gateway.report(self.now, ServerId(at as u16), &report);
        }
        self.expect_report(self.now);
    }

    /// Enters the report that follows one at `last`.
    pub(super) fn expect_report(&mut self, last: Instant) {
        let version = self.reports_version;
        self.calendar.push(last + self.report_period, Rank::Control, What::Reports { version });
    }
}

#[cfg(test)]
mod tests;
