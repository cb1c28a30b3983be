//! One server behind the gateway: its idle connections, and whether it can be reached.
//!
//! A connection that cannot be made takes the server out; while it is out, a connection is tried now and then, and the
//! first that succeeds takes that back. Bad answers to clients do not take a server out. Health checks and the server's
//! agent have reasons of their own; the server is up while nobody has one, and whoever had it takes it back.
//!
//! Which servers there are is for the [`registry`](super::registry) to know. One that is off its list may have lost its
//! number to another, so from then on nothing about it reaches the core.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tidegate_core::balance::LoadReport;
use tidegate_core::id::ServerId;
use tidegate_core::reports::AgentState;
use tidegate_core::scenario::ServerSpec;
use tokio::net::TcpStream;
use tokio::time::Instant;

use super::Target;
use super::body::Upload;
use super::driver::Driver;
use super::fetch::Place;
use super::reports::Tally;

/// Read buffer of a connection to a server: the longest head it may answer with.
const BUFFER: usize = 64 * 1024;
/// Idle connections kept to one server.
const IDLE: usize = 256;
/// First wait before a server that cannot be reached is tried again; doubled each time, up to [`LONGEST_PAUSE`].
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// How a server is connected to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Connecting {
    /// Longest wait for a connection.
    pub(crate) timeout: Duration,
    /// How long an unused connection is kept.
    pub(crate) idle_timeout: Duration,
}

/// Where a server comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    /// The list of the settings.
    List,
    /// The servers file.
    File,
    /// One of the names that are resolved, by number.
    Name(usize),
    /// The operator's API.
    Api,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::List => "list",
            Self::File => "file",
            Self::Name(_) => "dns",
            Self::Api => "api",
        })
    }
}

/// What a server counts by configuration; its agent speaks of shares of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Terms {
    /// What balancers with weights make of it; 0 for nothing new.
    pub(crate) weight: f64,
    /// The most it is sent at once.
    pub(crate) max_in_flight: Option<u32>,
}

impl Terms {
    /// Those of a server of a scenario.
    pub(crate) const fn of(spec: &ServerSpec) -> Self {
        Self { weight: spec.weight, max_in_flight: spec.max_in_flight }
    }
}

/// A server behind the gateway.
pub(crate) struct Upstream {
    /// Its number in the core, while it is on the list.
    pub(crate) id: ServerId,
    /// Name for metrics and answers.
    pub(crate) name: String,
    /// Its address, as it was given.
    pub(crate) url: Uri,
    /// Where it comes from.
    pub(crate) source: Source,
    /// Where it is.
    pub(crate) place: Place,
    connecting: Connecting,
    idle: Mutex<Vec<Idle>>,
    state: Mutex<State>,
    /// Connections that could not be made.
    pub(crate) unreachable: AtomicU64,
    /// Connections made.
    pub(crate) connected: AtomicU64,
    /// Health checks: bad ones, good ones.
    pub(crate) checks: [AtomicU64; 2],
    /// What came of its load reports.
    pub(crate) reports: Tally,
}

/// What was decided about a server, and by whom.
#[derive(Clone, Debug)]
struct State {
    /// Who has a reason against it: bits of [`Why`].
    out: u8,
    /// What its agent wants.
    agent: AgentState,
    /// Whether the operator wants it to get nothing new.
    drained: bool,
    terms: Terms,
    /// Whether it is off the list.
    gone: bool,
}

/// What the core is told of a server.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Told {
    up: bool,
    draining: bool,
    terms: Terms,
}

impl State {
    fn told(&self) -> Told {
        let terms = Terms {
            weight: self.agent.weight(self.terms.weight),
            max_in_flight: self.agent.max_in_flight(self.terms.max_in_flight),
        };
        Told { up: self.out == 0, draining: self.drained || self.agent.drains(), terms }
    }
}

/// Why a server is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Why {
    /// No connection could be made.
    Unreachable = 1,
    /// Its health checks fail.
    Unhealthy = 2,
    /// Its agent says so.
    Agent = 4,
}

impl Why {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [Self::Unreachable, Self::Unhealthy, Self::Agent];

    /// As it is written in `/state`.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Unreachable => "unreachable",
            Self::Unhealthy => "unhealthy",
            Self::Agent => "agent",
        }
    }
}

struct Idle {
    sender: SendRequest<Upload>,
    since: Instant,
}

/// A connection in use. Dropped, it is closed; given back, it is used again.
pub(crate) struct Lease {
    upstream: Arc<Upstream>,
    sender: SendRequest<Upload>,
    /// Whether it has carried an exchange before, so that the server may have closed it meanwhile.
    pub(crate) reused: bool,
}

/// Why a request got no answer.
pub(crate) struct Unanswered {
    /// What went wrong.
    pub(crate) error: hyper::Error,
    /// The request, if none of it was sent.
    pub(crate) unsent: Option<Request<Upload>>,
}

impl Upstream {
    /// The server at a target, whose address has a host; the core knows its terms.
    pub(crate) fn new(
        id: ServerId,
        target: &Target,
        source: Source,
        terms: Terms,
        connecting: Connecting,
    ) -> Arc<Self> {
        let host = target.url.host().unwrap_or_default();
        Arc::new(Self {
            id,
            name: target.called().to_owned(),
            source,
            place: Place {
                host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
                port: target.url.port_u16().unwrap_or(80),
            },
            url: target.url.clone(),
            connecting,
            idle: Mutex::new(Vec::new()),
            state: Mutex::new(State {
                out: 0,
                agent: AgentState::default(),
                drained: false,
                terms,
                gone: false,
            }),
            unreachable: AtomicU64::new(0),
            connected: AtomicU64::new(0),
            checks: Default::default(),
            reports: Tally::default(),
        })
    }

    /// The most recently used idle connection that still stands.
    pub(crate) fn reuse(self: &Arc<Self>) -> Option<Lease> {
        let mut idle = self.lock();
        // The oldest are in front; whatever is too old goes, so that the pool shrinks after a peak.
        let fresh = idle.partition_point(|one| one.since.elapsed() >= self.connecting.idle_timeout);
        idle.drain(..fresh);
        for at in (0..idle.len()).rev() {
            if idle[at].sender.is_ready() {
                let one = idle.remove(at);
                return Some(Lease { upstream: Arc::clone(self), sender: one.sender, reused: true });
            }
            // One that is neither ready nor closed is about to be: its last exchange is being wrapped up.
            if idle[at].sender.is_closed() {
                idle.remove(at);
            }
        }
        None
    }

    /// A new connection.
    ///
    /// # Errors
    /// If the server cannot be reached in time.
    pub(crate) async fn connect(self: &Arc<Self>) -> std::io::Result<Lease> {
        let stream = self.reach().await.inspect_err(|_| {
            self.unreachable.fetch_add(1, Ordering::Relaxed);
        })?;
        self.connected.fetch_add(1, Ordering::Relaxed);
        let (sender, connection) = http1::Builder::new()
            .max_buf_size(BUFFER)
            .handshake(TokioIo::new(stream))
            .await
            .map_err(std::io::Error::other)?;
        // It ends with the sender, or when the server closes.
        tokio::spawn(connection.with_upgrades());
        Ok(Lease { upstream: Arc::clone(self), sender, reused: false })
    }

    async fn reach(&self) -> std::io::Result<TcpStream> {
        let stream = tokio::time::timeout(
            self.connecting.timeout,
            TcpStream::connect((self.place.host.as_str(), self.place.port)),
        )
        .await??;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    /// Forgets the idle connections: one has been found dead, so the others are, too.
    pub(crate) fn forget(&self) {
        self.lock().clear();
    }

    /// Takes the server out and watches for its return.
    pub(crate) fn take_out(self: &Arc<Self>, driver: &Arc<Driver>) {
        self.forget();
        if !self.set_out(driver, Why::Unreachable, true) {
            return;
        }
        let upstream = Arc::clone(self);
        // Weak, so that a gateway that has ended is not kept alive by a dead server.
        let driver = Arc::downgrade(driver);
        tokio::spawn(async move {
            let mut pause = FIRST_PAUSE;
            while !upstream.is_gone() {
                tokio::time::sleep(pause).await;
                let reached = upstream.reach().await.is_ok();
                let Some(driver) = driver.upgrade() else { return };
                if reached {
                    upstream.set_out(&driver, Why::Unreachable, false);
                    return;
                }
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
        });
    }

    /// Says that somebody has a reason against the server, or has it no longer; whether that is news. The server is up
    /// while nobody has one.
    pub(crate) fn set_out(&self, driver: &Driver, why: Why, out: bool) -> bool {
        self.change(driver, |state| {
            let before = state.out;
            state.out = if out { before | why as u8 } else { before & !(why as u8) };
            before != state.out
        })
    }

    /// Makes the server what its agent wants.
    pub(crate) fn obey(&self, driver: &Driver, agent: &AgentState) {
        self.change(driver, |state| {
            let bit = Why::Agent as u8;
            state.out = if agent.is_up() { state.out & !bit } else { state.out | bit };
            state.agent = agent.clone();
        });
    }

    /// The operator wants the server to get nothing new, or no longer wants it. Its agent may want it, too.
    pub(crate) fn drain(&self, driver: &Driver, on: bool) {
        self.change(driver, |state| state.drained = on);
    }

    /// What the server counts from now on, by configuration.
    pub(crate) fn set_terms(&self, driver: &Driver, terms: Terms) {
        self.change(driver, |state| state.terms = terms);
    }

    /// What the server counts, by configuration.
    pub(crate) fn terms(&self) -> Terms {
        self.state().terms
    }

    /// Notes what the server reports of its load.
    pub(crate) fn report(&self, driver: &Driver, report: &LoadReport) {
        let state = self.state();
        if !state.gone {
            driver.report(self.id, report);
        }
    }

    /// Takes the server off the list: it is sent nothing more, and nobody asks for its connections again.
    pub(crate) fn leave(&self, driver: &Driver) {
        let mut state = self.state();
        if !std::mem::replace(&mut state.gone, true) {
            driver.remove_server(self.id);
        }
        drop(state);
        self.forget();
    }

    /// Whether it is off the list.
    pub(crate) fn is_gone(&self) -> bool {
        self.state().gone
    }

    /// Who has a reason against the server.
    pub(crate) fn why_out(&self) -> impl Iterator<Item = Why> + use<> {
        let reasons = self.state().out;
        Why::ALL.into_iter().filter(move |&why| reasons & why as u8 != 0)
    }

    /// Changes what was decided about the server, and tells the core what follows from it.
    fn change<T>(&self, driver: &Driver, change: impl FnOnce(&mut State) -> T) -> T {
        // Held to the end, so that the core hears of two changes in the order they came.
        let mut state = self.state();
        let before = state.told();
        let result = change(&mut state);
        let told = state.told();
        if state.gone {
            return result;
        }
        if told.up != before.up {
            driver.set_server(self.id, told.up);
        }
        if told.draining != before.draining {
            driver.set_draining(self.id, told.draining);
        }
        if told.terms.weight != before.terms.weight {
            driver.set_weight(self.id, told.terms.weight);
        }
        if told.terms.max_in_flight != before.terms.max_in_flight {
            driver.set_max_in_flight(self.id, told.terms.max_in_flight);
        }
        result
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lease {
    /// Sends a request and waits for the head of its answer.
    ///
    /// # Errors
    /// [`Unanswered`] if there is none.
    pub(crate) async fn send(&mut self, request: Request<Upload>) -> Result<Response<Incoming>, Unanswered> {
        self.sender.try_send_request(request).await.map_err(|mut failed| {
            let unsent = failed.take_message();
            Unanswered { error: failed.into_error(), unsent }
        })
    }

    /// Keeps the connection for another request.
    pub(crate) fn give_back(self) {
        let Self { upstream, sender, .. } = self;
        if sender.is_closed() || upstream.is_gone() || upstream.why_out().any(|why| why == Why::Unreachable) {
            return;
        }
        let mut idle = upstream.lock();
        if idle.len() < IDLE {
            idle.push(Idle { sender, since: Instant::now() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::frame::Frame;

    #[tokio::test]
    async fn a_server_is_up_while_nobody_has_a_reason_against_it() {
        let text = r#"{"tidegate":1,"classes":[{"name":"all"}],
            "stages":[{"name":"serve","workers":1,"work":{"at":"servers"}}],"servers":[{"name":"a"}]}"#;
        let scenario = tidegate_core::scenario::parse_json(text).unwrap().check().unwrap();
        let driver = Driver::new(&scenario);
        let connecting = Connecting { timeout: Duration::ZERO, idle_timeout: Duration::ZERO };
        let target =
            Target { name: None, url: "http://[::1]:1".parse().unwrap(), weight: None, max_in_flight: None };
        let terms = Terms::of(&scenario.servers[0]);
        let upstream = Upstream::new(ServerId(0), &target, Source::List, terms, connecting);
        assert_eq!(upstream.place, Place { host: "::1".to_owned(), port: 1 });
        for (why, out, news, up) in [
            (Why::Unhealthy, true, true, false),
            (Why::Unhealthy, true, false, false),
            (Why::Agent, true, true, false),
            (Why::Unreachable, false, false, false),
            (Why::Unhealthy, false, true, false),
            (Why::Agent, false, true, true),
        ] {
            assert_eq!(upstream.set_out(&driver, why, out), news, "{why:?} {out}");
            let mut frame = Frame::default();
            driver.frame(&mut frame);
            assert_eq!(frame.servers[0].up, up, "after {why:?} {out}");
            assert_eq!(upstream.why_out().next().is_none(), up);
        }
    }
}
