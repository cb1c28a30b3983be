//! Which servers that can be reached are fit for work, whatever the balancer.
//!
//! A server is left out while a load it reports is above its limit (with hysteresis: paper B, 2.2 step 4), when it
//! used to report and has fallen silent (step 3), and for a while after failing several times in a row. One that
//! comes back gets a growing part of its share ([`Standing::warmth`]). Nobody is left out where too few would remain:
//! at most a part of the servers is ejected, an overload that all share bars nobody (but under the published rule,
//! which makes clients wait: step 9), and below the panic threshold everybody who can be reached is used.

use super::{LoadReport, Servers, bar};
use crate::frame::ServerFrame;
use crate::id::ServerId;
use crate::scenario::v1::{FeedbackV1, KindV1, ResourceV1};
use crate::time::{Duration, Instant};
use alloc::vec::Vec;

/// Share of its traffic that a server gets when it has just come back.
const LEAST_WARM: f64 = 0.1;

/// What is known of one server's health.
#[derive(Clone, Copy, Debug)]
struct Health {
    report: LoadReport,
    reported_at: Option<Instant>,
    /// Failures in a row.
    failures: u32,
    /// Ejections in a row.
    ejections: u32,
    /// End of the present ejection, or of the last.
    ejected_until: Instant,
    /// When it came back; [`Instant::NEVER`] for one that is warm.
    back_since: Instant,
}

impl Health {
    const NEW: Self = Self {
        report: LoadReport { loads: [None; 5], application: None, requests_per_s: None, errors_per_s: None },
        reported_at: None,
        failures: 0,
        ejections: 0,
        ejected_until: Instant::START,
        back_since: Instant::NEVER,
    };
}

/// Judges servers by what they report, by their failures and by their silence.
#[derive(Clone, Debug)]
pub struct Standing {
    period: Duration,
    silence: Duration,
    overload: Vec<ResourceV1>,
    limit: f64,
    clear: f64,
    eject_after: u32,
    eject: Duration,
    eject_at_most: f64,
    panic_below: f64,
    slow_start: Duration,
    /// Whether clients wait when all servers are overloaded.
    waits: bool,
    each: Vec<Health>,
    /// Servers that warm up.
    warming: u32,
    /// When something may change by itself; may be early, never late.
    next_at: Instant,
}

impl Standing {
    /// Nothing known of anyone. With `waits`, nobody gets work while all are overloaded.
    #[must_use]
    pub fn new(feedback: &FeedbackV1, servers: &Servers, waits: bool) -> Self {
        Self {
            period: Duration::from_micros(feedback.period_us),
            silence: Duration::from_micros(feedback.silence_us),
            overload: overload(&feedback.overload, servers.kinds(), waits),
            limit: feedback.limit,
            clear: feedback.clear,
            eject_after: feedback.eject_after,
            eject: Duration::from_micros(feedback.eject_us),
            eject_at_most: feedback.eject_at_most,
            panic_below: feedback.panic_below,
            slow_start: Duration::from_micros(feedback.slow_start_us),
            waits,
            each: servers.iter().map(|_| Health::NEW).collect(),
            warming: 0,
            next_at: Instant::NEVER,
        }
    }

    /// Goes on at `now` by other rules, with what is known of the servers. Where nobody reports any more, what was reported
    /// is forgotten.
    pub(crate) fn reconfigure(
        &mut self,
        now: Instant,
        feedback: &FeedbackV1,
        reports: bool,
        servers: &mut Servers,
        waits: bool,
    ) {
        let each = core::mem::take(&mut self.each);
        *self = Self { each, warming: self.warming, next_at: now, ..Self::new(feedback, servers, waits) };
        if reports {
            return;
        }
        for (at, health) in self.each.iter_mut().enumerate() {
            health.reported_at = None;
            servers.set_bar(ServerId(at as u16), bar::OVERLOADED | bar::SILENT, false);
        }
    }

    /// When [`tick`](Self::tick) wants to be called.
    #[must_use]
    #[inline]
    pub const fn next_at(&self) -> Instant {
        self.next_at
    }

    /// Whether failures are counted.
    #[must_use]
    #[inline]
    pub const fn counts_failures(&self) -> bool {
        self.eject_after > 0
    }

    /// Whether any server gets less than its share because it has just come back.
    #[must_use]
    #[inline]
    pub const fn any_warming(&self) -> bool {
        self.warming > 0
    }

    /// Part of its share that a server gets, above 0 up to 1: grows evenly from a tenth over the slow start.
    #[must_use]
    pub fn warmth(&self, now: Instant, server: ServerId) -> f64 {
        let since = self.each[usize::from(server.0)].back_since;
        if since == Instant::NEVER || self.slow_start == Duration::ZERO {
            return 1.0;
        }
        let part = now.since(since).as_nanos() as f64 / self.slow_start.as_nanos() as f64;
        (LEAST_WARM + (1.0 - LEAST_WARM) * part).min(1.0)
    }

    /// A new server in this place, cold unless everything begins with it.
    pub fn add(&mut self, now: Instant, server: ServerId) {
        let at = usize::from(server.0);
        if self.each.len() <= at {
            self.each.resize(at + 1, Health::NEW);
        }
        let before = core::mem::replace(&mut self.each[at], Health::NEW);
        self.warming -= u32::from(before.back_since != Instant::NEVER);
        self.warm_up(now, server);
    }

    /// A server can be reached again: it starts slowly, and its failures are forgotten.
    pub fn reached(&mut self, now: Instant, server: ServerId) {
        self.each[usize::from(server.0)].failures = 0;
        self.warm_up(now, server);
    }

    /// Notes a report.
    pub fn report(&mut self, now: Instant, servers: &mut Servers, server: ServerId, report: &LoadReport) {
        let health = &mut self.each[usize::from(server.0)];
        health.report = *report;
        health.reported_at = Some(now);
        let bars = servers.get(server).bars;
        if bars & bar::SILENT != 0 {
            servers.set_bar(server, bar::SILENT, false);
            self.warm_up(now, server);
        }
        let loads = self.overload.iter().filter_map(|&of| report.load(of));
        // A report that says nothing of these loads changes nothing about them.
        match loads.reduce(f64::max) {
            Some(highest) if highest > self.limit => servers.set_bar(server, bar::OVERLOADED, true),
            Some(highest) if highest < self.clear => servers.set_bar(server, bar::OVERLOADED, false),
            _ => {}
        }
        self.next_at = self.next_at.min(now + self.silence);
    }

    /// Notes that a server answered.
    #[inline]
    pub fn answered(&mut self, server: ServerId) {
        self.each[usize::from(server.0)].failures = 0;
    }

    /// Notes that a server failed, and leaves it out for a while if that has happened too often. `true` if so.
    pub fn failed(&mut self, now: Instant, servers: &mut Servers, server: ServerId) -> bool {
        let at = usize::from(server.0);
        self.each[at].failures = self.each[at].failures.saturating_add(1);
        let is_out = servers.get(server).bars & bar::EJECTED != 0;
        if self.eject_after == 0 || self.each[at].failures < self.eject_after || is_out {
            return false;
        }
        let present = servers.iter().filter(|s| s.bars & bar::GONE == 0).count();
        let ejected = servers.iter().filter(|s| s.bars & (bar::GONE | bar::EJECTED) == bar::EJECTED).count();
        if (ejected + 1) as f64 > self.eject_at_most * present as f64 {
            return false;
        }
        let health = &mut self.each[at];
        // One that has been good for as long as it was out begins anew.
        if now.since(health.ejected_until) > term(self.eject, health.ejections) {
            health.ejections = 0;
        }
        health.ejections = health.ejections.saturating_add(1);
        health.failures = 0;
        health.ejected_until = now + term(self.eject, health.ejections);
        self.next_at = self.next_at.min(health.ejected_until);
        servers.set_bar(server, bar::EJECTED, true);
        true
    }

    /// Ends ejections and slow starts whose time is over, and notices silence. The servers that changed are handed
    /// to `changed`.
    pub fn tick(&mut self, now: Instant, servers: &mut Servers, mut changed: impl FnMut(&Servers, ServerId)) {
        let mut next_at = Instant::NEVER;
        for at in 0..self.each.len() {
            let id = ServerId(at as u16);
            let bars = servers.get(id).bars;
            if bars & bar::EJECTED != 0 {
                if self.each[at].ejected_until <= now {
                    servers.set_bar(id, bar::EJECTED, false);
                    self.warm_up(now, id);
                    changed(servers, id);
                } else {
                    next_at = next_at.min(self.each[at].ejected_until);
                }
            }
            if let Some(reported_at) = self.each[at].reported_at
                && bars & (bar::SILENT | bar::GONE) == 0
            {
                if reported_at + self.silence <= now {
                    servers.set_bar(id, bar::SILENT, true);
                    changed(servers, id);
                } else {
                    next_at = next_at.min(reported_at + self.silence);
                }
            }
            if self.each[at].back_since != Instant::NEVER {
                let warm_at = self.each[at].back_since + self.slow_start;
                if warm_at <= now {
                    self.each[at].back_since = Instant::NEVER;
                    self.warming -= 1;
                } else {
                    next_at = next_at.min(warm_at);
                }
            }
        }
        self.next_at = next_at;
    }

    /// The bars that do not count, given the servers there are.
    #[must_use]
    pub fn lifted(&self, servers: &Servers) -> u8 {
        let (mut reachable, mut fit, mut only_overloaded) = (0_u32, 0_u32, 0_u32);
        for server in servers.iter().filter(|server| server.is_fit(bar::SOFT)) {
            reachable += 1;
            fit += u32::from(server.bars == 0);
            only_overloaded += u32::from(server.bars == bar::OVERLOADED);
        }
        if f64::from(fit) < self.panic_below * f64::from(reachable) {
            bar::SOFT
        } else if fit == 0 && only_overloaded > 0 && !self.waits {
            bar::OVERLOADED
        } else {
            0
        }
    }

    /// When a server may be fit again, if none is now: at the end of an ejection, or with the next report.
    #[must_use]
    pub fn fit_again_at(&self, now: Instant, servers: &Servers) -> Instant {
        let each = servers.iter().zip(&self.each).filter(|(server, _)| server.up);
        let at = each.map(|(server, health)| {
            if server.bars & bar::EJECTED != 0 {
                return health.ejected_until;
            }
            let reported_at = health.reported_at.unwrap_or(now);
            if reported_at + self.period > now { reported_at + self.period } else { now + self.period }
        });
        at.min().unwrap_or(now + self.period)
    }

    /// What is to be seen of a server.
    pub(crate) fn server_frame(&self, now: Instant, server: ServerId, out: &mut ServerFrame) {
        let health = &self.each[usize::from(server.0)];
        out.loads = health.report.loads.map(|load| load.unwrap_or(f64::NAN));
        out.report_age_s = health.reported_at.map_or(f64::NAN, |at| now.since(at).as_secs_f64());
        out.warm = self.warmth(now, server);
    }

    fn warm_up(&mut self, now: Instant, server: ServerId) {
        if self.slow_start == Duration::ZERO {
            return;
        }
        let since = &mut self.each[usize::from(server.0)].back_since;
        self.warming += u32::from(*since == Instant::NEVER);
        *since = now;
        self.next_at = self.next_at.min(now + self.slow_start);
    }
}

/// The loads that bar a server. All five bar one under the published rule. Elsewhere only what cannot be shared out: a
/// server whose processors are busy still serves, and leaving it out moves its work to others, who are then as busy, so
/// that all take turns being left out.
fn overload(asked_for: &[ResourceV1], kinds: &[KindV1], waits: bool) -> Vec<ResourceV1> {
    match asked_for {
        [] if waits => ResourceV1::FIVE.to_vec(),
        // Short requests need no place in a room.
        [] if kinds.contains(&KindV1::Short) => Vec::from([ResourceV1::Mem]),
        [] => Vec::from([ResourceV1::Mem, ResourceV1::Rooms]),
        some => some.to_vec(),
    }
}

/// How long the `n`-th ejection in a row lasts.
const fn term(first: Duration, n: u32) -> Duration {
    Duration::from_nanos(first.as_nanos().saturating_mul(n as u64))
}

#[cfg(test)]
mod tests {
    use super::super::tests::{servers, spec};
    use super::*;

    fn at(seconds: u64) -> Instant {
        Instant::START + Duration::from_secs(seconds)
    }

    fn feedback() -> FeedbackV1 {
        FeedbackV1 {
            overload: ResourceV1::FIVE.to_vec(),
            eject_after: 3,
            slow_start_us: 10_000_000,
            ..FeedbackV1::default()
        }
    }

    fn loaded(cpu: f64, disk: f64) -> LoadReport {
        LoadReport { loads: [Some(cpu), None, None, Some(disk), None], ..LoadReport::default() }
    }

    /// A standing of four servers.
    fn four(feedback: &FeedbackV1) -> (Standing, Servers) {
        let servers = servers(4, 9);
        (Standing::new(feedback, &servers, false), servers)
    }

    fn fail(standing: &mut Standing, servers: &mut Servers, now: Instant, server: u16, times: u32) -> bool {
        (0..times).fold(false, |_, _| standing.failed(now, servers, ServerId(server)))
    }

    #[test]
    fn one_load_above_its_limit_bars_a_server_until_all_are_below_the_lower_one() {
        let (mut standing, mut servers) = four(&feedback());
        let mut check = |second, report: LoadReport, barred: bool, what: &str| {
            standing.report(at(second), &mut servers, ServerId(1), &report);
            assert_eq!(!servers.has_room(ServerId(1)), barred, "{what}");
        };
        check(0, loaded(0.2, 0.95), false, "at the limit");
        check(1, loaded(0.2, 0.96), true, "the disk alone is enough (2.5, trap 9)");
        check(2, loaded(0.2, 0.92), true, "not yet below the lower limit");
        check(3, loaded(0.93, 0.2), true, "another load keeps it out");
        check(4, loaded(0.89, 0.89), false, "all below");
        check(5, loaded(0.92, 0.92), false, "between the limits nothing changes");
        check(6, loaded(0.2, 0.99), true, "the disk again");
        check(
            7,
            LoadReport { requests_per_s: Some(9.0), ..LoadReport::default() },
            true,
            "not a word of loads",
        );
    }

    #[test]
    fn busy_processors_bar_nobody_unless_the_rule_is_the_published_one_or_is_told_so() {
        for (waits, asked_for, cpu_bars, mem_bars) in [
            (false, Vec::new(), false, true),
            (true, Vec::new(), true, true),
            (false, Vec::from([ResourceV1::Cpu]), true, false),
        ] {
            let feedback = FeedbackV1 { overload: asked_for.clone(), ..FeedbackV1::default() };
            for (load, bars) in [(0, cpu_bars), (1, mem_bars)] {
                let mut servers = servers(2, 9);
                let mut standing = Standing::new(&feedback, &servers, waits);
                let mut report = LoadReport::default();
                report.loads[load] = Some(0.99);
                standing.report(at(0), &mut servers, ServerId(0), &report);
                let what = alloc::format!("load {load}, {asked_for:?}, waits: {waits}");
                assert_eq!(!servers.has_room(ServerId(0)), bars, "{what}");
            }
        }
    }

    #[test]
    fn an_overload_that_all_share_bars_nobody_unless_clients_are_to_wait() {
        for waits in [false, true] {
            let mut servers = servers(2, 9);
            let mut standing = Standing::new(&feedback(), &servers, waits);
            standing.report(at(1), &mut servers, ServerId(0), &loaded(1.0, 0.0));
            assert_eq!(standing.lifted(&servers), 0, "one is left");
            standing.report(at(1), &mut servers, ServerId(1), &loaded(1.0, 0.0));
            assert_eq!(standing.lifted(&servers), if waits { 0 } else { bar::OVERLOADED }, "waits: {waits}");
            assert_eq!(standing.fit_again_at(at(4), &servers), at(11), "with the next report");
        }
    }

    #[test]
    fn who_reported_once_and_falls_silent_is_left_out_and_comes_back_with_a_report() {
        let (mut standing, mut servers) = four(&feedback());
        standing.report(at(1), &mut servers, ServerId(2), &loaded(0.5, 0.5));
        assert_eq!(standing.next_at(), at(181));
        let mut changed = Vec::new();
        standing.tick(at(180), &mut servers, |_, id| changed.push(id));
        assert_eq!(changed, []);
        standing.tick(at(181), &mut servers, |_, id| changed.push(id));
        assert_eq!(changed, [ServerId(2)], "the others never reported and are trusted");
        assert!(!servers.has_room(ServerId(2)));
        assert_eq!(standing.lifted(&servers), 0);
        standing.report(at(200), &mut servers, ServerId(2), &loaded(0.5, 0.5));
        assert!(servers.has_room(ServerId(2)));
        assert_eq!(standing.warmth(at(200), ServerId(2)), 0.1, "and starts slowly");
    }

    #[test]
    fn failures_in_a_row_eject_for_longer_each_time() {
        let (mut standing, mut servers) = four(&feedback());
        assert!(!fail(&mut standing, &mut servers, at(0), 0, 2));
        standing.answered(ServerId(0));
        assert!(!fail(&mut standing, &mut servers, at(0), 0, 2), "an answer between them");
        assert!(fail(&mut standing, &mut servers, at(0), 0, 1));
        assert!(!servers.has_room(ServerId(0)));
        standing.tick(at(29), &mut servers, |_, _| ());
        assert!(!servers.has_room(ServerId(0)));
        standing.tick(at(30), &mut servers, |_, _| ());
        assert!(servers.has_room(ServerId(0)));
        assert!(fail(&mut standing, &mut servers, at(31), 0, 3));
        assert_eq!(standing.next_at(), at(40), "the slow start of the first return");
        standing.tick(at(60), &mut servers, |_, _| ());
        assert_eq!(standing.next_at(), at(91), "60 s, as it is the second time");
        standing.tick(at(91), &mut servers, |_, _| ());
        assert!(fail(&mut standing, &mut servers, at(500), 0, 3));
        assert_eq!(standing.next_at().min(at(530)), at(101), "the end of the last slow start comes first");
        standing.tick(at(501), &mut servers, |_, _| ());
        assert_eq!(standing.next_at(), at(530), "good for long: the first time again");
    }

    #[test]
    fn no_more_than_a_part_is_ejected() {
        let (mut standing, mut servers) = four(&feedback());
        let out: Vec<bool> = (0..4).map(|id| fail(&mut standing, &mut servers, at(0), id, 9)).collect();
        assert_eq!(servers.iter().filter(|s| s.bars == bar::EJECTED).count(), 2, "half of four: {out:?}");
        assert!(servers.has_room(ServerId(2)) && servers.has_room(ServerId(3)));
    }

    #[test]
    fn below_the_panic_threshold_everybody_reachable_is_used() {
        let (mut standing, mut servers) =
            four(&FeedbackV1 { panic_below: 0.6, eject_at_most: 1.0, ..feedback() });
        fail(&mut standing, &mut servers, at(0), 0, 3);
        assert_eq!(standing.lifted(&servers), 0, "three of four");
        fail(&mut standing, &mut servers, at(0), 1, 3);
        assert_eq!(standing.lifted(&servers), bar::SOFT, "two of four");
        servers.set_up(ServerId(0), false);
        assert_eq!(standing.lifted(&servers), 0, "two of the three that can be reached");
    }

    #[test]
    fn a_server_that_comes_back_warms_up_evenly() {
        let (mut standing, mut servers) = four(&feedback());
        assert!(!standing.any_warming());
        standing.reached(at(5), ServerId(3));
        for (second, want) in [(5, 0.1), (10, 0.55), (15, 1.0), (99, 1.0)] {
            let warmth = standing.warmth(at(second), ServerId(3));
            assert!((warmth - want).abs() < 1e-12, "at {second} s: {warmth}, want {want}");
        }
        assert!(standing.any_warming());
        standing.tick(at(15), &mut servers, |_, _| ());
        assert!(!standing.any_warming());
        assert_eq!(standing.next_at(), Instant::NEVER);
        let id = servers.add(&spec(9, 9, 1.0));
        standing.add(at(20), id);
        assert_eq!(standing.warmth(at(20), id), 0.1, "so does one that registers");
        standing.add(at(21), id);
        standing.tick(at(31), &mut servers, |_, _| ());
        assert!(!standing.any_warming(), "one that is replaced while it warms counts once");
    }
}
