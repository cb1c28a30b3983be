//! Servers, their standing and the balancer that picks among them, put together.

use super::{Ask, Balancer, Candidate, Left, LoadReport, Pick, Seat, Servers, Setup, Standing, View, bar};
use crate::frame::ServerFrame;
use crate::id::{ClassId, ServerId};
use crate::scenario::v1::BalancerV1;
use crate::scenario::{Scenario, ServerSpec};
use crate::time::{Duration, Instant};
use crate::unit::Chance;
use alloc::vec::Vec;

/// The draw of an [`Ask`] by which a server that has just come back is spared.
const WARM_DRAW: u32 = 31;

/// A decision, as it was come to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decision {
    /// When.
    pub at: Instant,
    /// The class of the job.
    pub class: ClassId,
    /// Who got it.
    pub server: ServerId,
    /// Who was considered, with what they were judged by.
    pub candidates: Vec<Candidate>,
}

/// One gateway's view of the servers and its way of picking.
#[derive(Clone, Debug)]
pub struct Balancing {
    servers: Servers,
    balancer: Balancer,
    /// Whether the balancer is told of jobs that come and go.
    follows_jobs: bool,
    standing: Standing,
    /// The last decision, if they are being written down.
    last: Option<Decision>,
}

impl Balancing {
    /// All servers of a scenario, up and idle, seen from one seat among the gateways.
    #[must_use]
    pub fn new(scenario: &Scenario, seat: Seat) -> Self {
        let servers = Servers::new(scenario);
        let setup = Setup { wire: &scenario.balancer, feedback: &scenario.feedback, seat };
        let balancer = Balancer::new(&setup, &servers);
        Self {
            follows_jobs: balancer.follows_jobs(),
            balancer,
            standing: Standing::new(
                &scenario.feedback,
                &servers,
                matches!(scenario.balancer, BalancerV1::DnfPublished { .. }),
            ),
            servers,
            last: None,
        }
    }

    /// Goes on at `now` by another scenario of the same shape, with what is in flight and what is known of the servers. A
    /// balancer whose settings are the same is the same.
    pub(crate) fn reconfigure(&mut self, now: Instant, before: &Scenario, after: &Scenario, seat: Seat) {
        let same_balancer = before.balancer == after.balancer;
        let same_feedback = before.feedback == after.feedback && before.reports == after.reports;
        if same_balancer && same_feedback && before.servers == after.servers {
            return;
        }
        let bars: Vec<u8> = self.servers.iter().map(|server| server.bars).collect();
        self.servers.reconfigure(before, after);
        if !same_feedback || !same_balancer {
            let waits = matches!(after.balancer, BalancerV1::DnfPublished { .. });
            self.standing.reconfigure(now, &after.feedback, after.reports, &mut self.servers, waits);
        }
        if same_balancer && before.feedback.period_us == after.feedback.period_us {
            for (at, bars) in bars.into_iter().enumerate() {
                let id = ServerId(at as u16);
                let is_same = before.servers.get(at) == after.servers.get(at);
                if !is_same || self.servers.get(id).bars != bars {
                    self.balancer.changed(&self.servers, id, false);
                }
            }
        } else {
            let setup = Setup { wire: &after.balancer, feedback: &after.feedback, seat };
            self.balancer = Balancer::new(&setup, &self.servers);
            self.follows_jobs = self.balancer.follows_jobs();
        }
        self.lift();
    }

    /// The servers.
    #[must_use]
    #[inline]
    pub const fn servers(&self) -> &Servers {
        &self.servers
    }

    /// Changes something about a server, and lets everybody know.
    fn change(&mut self, server: ServerId, change: impl FnOnce(&mut Servers)) {
        if usize::from(server.0) < self.servers.len() {
            change(&mut self.servers);
            self.balancer.changed(&self.servers, server, false);
            self.lift();
        }
    }

    /// Lifts the bars that must not count, given who is left.
    fn lift(&mut self) {
        let lifted = self.standing.lifted(&self.servers);
        if lifted != self.servers.lifted() {
            self.servers.lift(lifted);
            for at in 0..self.servers.len() {
                self.balancer.changed(&self.servers, ServerId(at as u16), false);
            }
        }
    }

    /// Sends a job to a server that may be sent one: which; `None` if there is none.
    // In the loop of the simulator; what only some runs need is elsewhere.
    #[inline(always)]
    pub fn send(
        &mut self,
        now: Instant,
        class: ClassId,
        key: u32,
        chance: Chance,
        except: Option<ServerId>,
    ) -> Option<ServerId> {
        let special = self.last.is_some() || self.standing.any_warming();
        let server = match &mut self.balancer {
            // The balancer of whoever names none, which needs to know nothing of the job.
            Balancer::LeastConnections(balancer) if !special && except.is_none() => {
                balancer.emptiest(&self.servers)
            }
            _ => {
                let attempt = u32::from(except.is_some());
                let kind = self.servers.kind(class);
                self.pick(&Ask { now, class, kind, key, chance, attempt, except })
            }
        }?;
        self.servers.sent(server, class);
        if self.follows_jobs {
            self.tell_sent(server, class);
        }
        Some(server)
    }

    #[inline(never)]
    fn pick(&mut self, ask: &Ask) -> Option<ServerId> {
        if self.last.is_some() {
            self.write_down(ask);
        }
        let mut server = self.balancer.pick(&self.servers, ask)?;
        if self.standing.any_warming() {
            server = self.spare(ask, server);
        }
        if let Some(last) = &mut self.last {
            last.server = server;
        }
        Some(server)
    }

    #[inline(never)]
    fn tell_sent(&mut self, server: ServerId, class: ClassId) {
        let kind = self.servers.kind(class);
        self.balancer.sent(&self.servers, server, kind);
    }

    /// Gives a part of what a server would get to another, if it has just come back.
    fn spare(&mut self, ask: &Ask, server: ServerId) -> ServerId {
        if ask.draw(WARM_DRAW) < self.standing.warmth(ask.now, server) {
            return server;
        }
        // A job that is on its second server already goes where it is sent.
        let again = Ask { attempt: ask.attempt + 2, except: ask.except.or(Some(server)), ..*ask };
        match self.balancer.pick(&self.servers, &again) {
            Some(other) => other,
            None => server,
        }
    }

    /// Notes that a job is no longer at a server, where it was for `took`.
    #[inline(always)]
    pub fn left(&mut self, now: Instant, server: ServerId, class: ClassId, how: Left, took: Duration) {
        self.servers.left(server, class, how);
        if self.follows_jobs || self.standing.counts_failures() {
            self.tell_left(now, server, class, how, took);
        }
    }

    #[inline(never)]
    fn tell_left(&mut self, now: Instant, server: ServerId, class: ClassId, how: Left, took: Duration) {
        let kind = self.servers.kind(class);
        self.balancer.left(now, &self.servers, server, kind, how, took);
        if self.standing.counts_failures() {
            self.judge(now, server, how);
        }
    }

    fn judge(&mut self, now: Instant, server: ServerId, how: Left) {
        match how {
            Left::Answered => self.standing.answered(server),
            Left::Failed => {
                if self.standing.failed(now, &mut self.servers, server) {
                    self.change(server, |_| ());
                }
            }
            Left::Abandoned => {}
        }
    }

    /// Marks a server as one that can be reached or not.
    pub fn set_up(&mut self, now: Instant, server: ServerId, up: bool) {
        let was_up = self.servers.iter().nth(usize::from(server.0)).is_none_or(|server| server.up);
        if up && !was_up {
            self.standing.reached(now, server);
        }
        self.change(server, |servers| servers.set_up(server, up));
    }

    /// Notes what a server reports.
    pub fn report(&mut self, now: Instant, server: ServerId, report: &LoadReport) {
        if usize::from(server.0) >= self.servers.len() {
            return;
        }
        let before = self.servers.get(server).bars;
        self.standing.report(now, &mut self.servers, server, report);
        if self.servers.get(server).bars != before {
            self.change(server, |_| ());
        }
        self.balancer.report(now, &self.servers, server, report);
    }

    /// One more server.
    pub fn add(&mut self, now: Instant, spec: &ServerSpec) -> ServerId {
        let id = self.servers.add(spec);
        self.standing.add(now, id);
        self.balancer.changed(&self.servers, id, true);
        self.lift();
        id
    }

    /// A server asks to get nothing new, or takes that back.
    pub fn set_draining(&mut self, _now: Instant, server: ServerId, draining: bool) {
        self.change(server, |servers| servers.set_bar(server, bar::DRAINING, draining));
    }

    /// What a server counts from now on.
    pub fn set_weight(&mut self, _now: Instant, server: ServerId, weight: f64) {
        self.change(server, |servers| servers.set_weight(server, weight));
    }

    /// The most a server is sent at once from now on.
    pub fn set_max_in_flight(&mut self, _now: Instant, server: ServerId, most: Option<u32>) {
        self.change(server, |servers| servers.set_max_in_flight(server, most));
    }

    /// A server is registered no longer.
    pub fn remove(&mut self, _now: Instant, server: ServerId) {
        self.change(server, |servers| servers.set_bar(server, bar::GONE, true));
    }

    /// When a server may be fit again, if none is now.
    #[must_use]
    pub fn fit_again_at(&self, now: Instant) -> Instant {
        self.standing.fit_again_at(now, &self.servers)
    }

    /// Whether something about servers happens by itself as time passes, also without reports.
    #[must_use]
    pub const fn is_timed(scenario: &Scenario) -> bool {
        scenario.feedback.eject_after > 0 || scenario.feedback.slow_start_us > 0
    }

    /// What is to be seen of a server.
    pub(crate) fn server_frame(&self, now: Instant, id: ServerId, out: &mut ServerFrame) {
        let server = self.servers.get(id);
        let view = self.view(id, now);
        out.up = server.up;
        out.bars = server.bars;
        out.weight = view.weights[0];
        out.session_weight = view.weights[1];
        out.balanced_load = view.loads[0].unwrap_or(f64::NAN);
        out.session_load = view.loads[1].unwrap_or(f64::NAN);
        out.group = view.group;
        out.latency_s = view.latency_s.unwrap_or(f64::NAN);
        self.standing.server_frame(now, id, out);
        out.max_in_flight = if server.max_in_flight < u32::MAX - 1 { server.max_in_flight } else { u32::MAX };
        out.in_flight.clear();
        out.in_flight.extend_from_slice(self.servers.in_flight_by_class(id));
        out.sessions = server.sessions;
        out.picked = server.picked;
        out.completed = server.completed;
        out.failed = server.failed;
    }

    /// When [`tick`](Self::tick) wants to be called.
    #[must_use]
    pub fn next_at(&self) -> Instant {
        self.balancer.next_at().min(self.standing.next_at())
    }

    /// Does what is due by now.
    pub fn tick(&mut self, now: Instant) {
        if self.standing.next_at() <= now {
            let balancer = &mut self.balancer;
            let changed = |servers: &Servers, server| balancer.changed(servers, server, false);
            self.standing.tick(now, &mut self.servers, changed);
            self.lift();
        }
        if self.balancer.next_at() <= now {
            self.balancer.tick(now, &self.servers);
        }
    }

    /// What the balancer makes of a server.
    #[must_use]
    pub fn view(&self, server: ServerId, now: Instant) -> View {
        self.balancer.view(&self.servers, server, now)
    }

    /// Begins or ends to write decisions down.
    pub fn write_decisions(&mut self, on: bool) {
        self.last = on.then(|| self.last.take().unwrap_or_default());
    }

    /// The last decision, if they are being written down.
    #[must_use]
    pub const fn last_decision(&self) -> Option<&Decision> {
        self.last.as_ref()
    }

    #[inline(never)]
    fn write_down(&mut self, ask: &Ask) {
        let mut candidates = self.last.take().unwrap_or_default().candidates;
        candidates.clear();
        self.balancer.explain(&self.servers, ask, &mut candidates);
        self.last = Some(Decision { at: ask.now, class: ask.class, server: ServerId(0), candidates });
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::spec;
    use super::*;

    const CLASS: ClassId = ClassId(0);

    fn at(seconds: u64) -> Instant {
        Instant::START + Duration::from_secs(seconds)
    }

    /// Two servers behind a balancer, with some feedback.
    fn two(balancer: &str, feedback: &str) -> Balancing {
        let text = alloc::format!(
            r#"{{"tidegate":1,"classes":[{{"name":"a"}}],"stages":[{{"name":"s","workers":9,"work":{{"at":"servers"}}}}],
            "servers":[{{"name":"x"}},{{"name":"y"}}],"balancer":{{"policy":"{balancer}"}},"feedback":{feedback}}}"#
        );
        Balancing::new(&crate::scenario::parse_json(&text).unwrap().check().unwrap(), Seat(0))
    }

    /// The server of the `n`-th job; it is answered at once.
    fn send(balancing: &mut Balancing, now: Instant, n: u64) -> Option<u16> {
        let server = balancing.send(now, CLASS, 0, Chance(n), None)?;
        balancing.left(now, server, CLASS, Left::Answered, Duration::ZERO);
        Some(server.0)
    }

    fn part_of_second(balancing: &mut Balancing, now: Instant) -> f64 {
        (0..4000).filter(|&n| send(balancing, now, n) == Some(1)).count() as f64 / 4000.0
    }

    #[test]
    fn the_share_of_a_server_that_comes_back_grows_under_any_balancer() {
        for balancer in ["round_robin", "least_connections", "random"] {
            let mut two = two(balancer, r#"{"slow_start_us":10000000}"#);
            two.set_up(at(0), ServerId(1), false);
            assert_eq!(part_of_second(&mut two, at(1)), 0.0, "{balancer}");
            two.set_up(at(10), ServerId(1), true);
            let mut check = |second, want: f64| {
                if two.next_at() <= at(second) {
                    two.tick(at(second));
                }
                let part = part_of_second(&mut two, at(second));
                // Of two, one whose turn is skipped is asked again at once, so that it gets a little more.
                assert!((part - want).abs() < 0.09, "{balancer} at {second} s: {part}, want {want}");
            };
            check(10, 0.05);
            check(15, 0.275);
            check(20, 0.5);
        }
    }

    #[test]
    fn a_warming_server_takes_everything_if_there_is_no_other() {
        let mut two = two("round_robin", r#"{"slow_start_us":10000000}"#);
        two.set_up(at(0), ServerId(1), false);
        two.set_up(at(1), ServerId(1), true);
        two.set_up(at(1), ServerId(0), false);
        assert_eq!(part_of_second(&mut two, at(1)), 1.0);
    }

    #[test]
    fn failures_of_a_server_send_jobs_elsewhere_until_it_has_served_its_time() {
        let mut two = two("round_robin", r#"{"eject_after":3,"eject_us":5000000}"#);
        let fail = |two: &mut Balancing| two.standing.failed(at(1), &mut two.servers, ServerId(1));
        assert!(!fail(&mut two) && !fail(&mut two));
        let server = two.send(at(1), CLASS, 0, Chance(0), Some(ServerId(0))).unwrap();
        two.left(at(1), server, CLASS, Left::Failed, Duration::ZERO);
        assert_eq!(part_of_second(&mut two, at(2)), 0.0);
        assert_eq!(two.next_at(), at(6));
        two.tick(at(6));
        assert_eq!(part_of_second(&mut two, at(6)), 0.5);
    }

    #[test]
    fn the_last_decision_is_written_down_when_asked_for() {
        let mut two = two("least_connections", "{}");
        assert_eq!(two.last_decision(), None);
        two.write_decisions(true);
        let first = two.send(at(3), CLASS, 0, Chance(1), None).unwrap();
        two.send(at(4), CLASS, 0, Chance(2), None).unwrap();
        let last = two.last_decision().unwrap();
        assert_eq!((last.at, last.class, last.candidates.len()), (at(4), CLASS, 2));
        let key = |id: ServerId| last.candidates.iter().find(|c| c.server == id).unwrap().key;
        assert_eq!((key(first), key(last.server)), (1.0, 0.0), "as they were before the pick");
        two.write_decisions(false);
        assert_eq!(two.last_decision(), None);
    }

    #[test]
    fn a_server_may_come_and_go_at_run_time() {
        let mut two = two("round_robin", "{}");
        let third = two.add(at(0), &spec(3, 9, 1.0));
        assert_eq!(third, ServerId(2));
        let picks: Vec<_> = (0..6).filter_map(|n| send(&mut two, at(0), n)).collect();
        assert_eq!(picks.iter().filter(|&&id| id == 2).count(), 2, "{picks:?}");
        two.remove(at(1), ServerId(0));
        two.set_draining(at(1), ServerId(1), true);
        assert_eq!(send(&mut two, at(1), 9), Some(2));
        two.set_weight(at(1), ServerId(2), 0.0);
        assert_eq!(send(&mut two, at(1), 9), None);
        two.set_draining(at(2), ServerId(1), false);
        assert_eq!(send(&mut two, at(2), 9), Some(1));
    }
}
