//! `tidegate origin`: an emulated backend.
//!
//! A real HTTP server whose only work is to wait. A request waits for one of `slots`, first come, first served, then
//! holds it for its service time: what its `work_us` says, else a draw from the law, divided by the speed. So it
//! behaves like a server of a scenario, and measurements of the two can be laid side by side.
//!
//! Query: `work_us` (service time in microseconds), `size` (bytes of the answer), `status`. Times are kept to about a
//! millisecond, which is what the runtime's timer has.
//!
//! It says how loaded it is: in a header of every answer, at `/load` and to agent checks. Its processors are the slots;
//! it has no memory, network or disk to run short of, and no rooms.

use std::future::pending;
use std::net::SocketAddr;
use std::pin::Pin;
use std::str::FromStr;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use http_body_util::BodyExt as _;
use hyper::body::{Body, Bytes, Frame, Incoming, SizeHint};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Request, Response, StatusCode};
use serde_json::{Value, json};
use tidegate_core::balance::LoadReport;
use tidegate_core::scenario::v1::LawV1;
use tidegate_core::scenario::{self, Scenario};
use tidegate_core::sim::Times;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;

use crate::reporting::{
    HeaderForm, Level, Loaded, Rate, answer_checks, listen_for_checks, load_answer, orca_header,
};
use crate::serve::ServeError;
use crate::serve::body::{BodyError, Reply};
use crate::serve::connection::{Client, Rules, Serve, accept};
use crate::serve::shutdown::Shutdown;

/// How an emulated backend behaves.
#[derive(Clone, Debug)]
pub(crate) struct OriginConfig {
    /// Where it listens; port 0 takes any free one.
    pub(crate) listen: SocketAddr,
    /// Service time of a request that does not say.
    pub(crate) service: LawV1,
    /// Requests in work at once, at least 1.
    pub(crate) slots: usize,
    /// Requests that may wait for a slot; more are answered 503.
    pub(crate) queue: usize,
    /// Divides service times; above 0.
    pub(crate) speed: f64,
    /// Seed of the service times.
    pub(crate) seed: u64,
    /// How answers carry the load.
    pub(crate) report: HeaderForm,
    /// Where agent checks are answered, if anywhere.
    pub(crate) agent_check: Option<SocketAddr>,
}

/// Time constant of what is reported: several service times long, so that a report does not say how many slots were
/// busy when it happened to be made; and a part of the seconds between two looks at it, so that it is about the present.
const TIME_CONSTANT: Duration = Duration::from_secs(1);

/// The longest service time, whatever is asked for.
const LONGEST: Duration = Duration::from_secs(60);
/// The largest answer, whatever is asked for.
const LARGEST: u64 = 1 << 30;

const RULES: Rules = Rules {
    connections: 10_000,
    header_bytes: 64 * 1024,
    header_timeout: Duration::from_secs(10),
    idle_timeout: Duration::from_secs(120),
    write_timeout: Duration::from_secs(60),
};

/// Answers until the shutdown; `ready` hears of the addresses, that of agent checks last.
///
/// # Errors
/// If the address cannot be listened on.
pub(crate) async fn run(
    config: OriginConfig,
    shutdown: Shutdown,
    ready: impl FnOnce(SocketAddr, Option<SocketAddr>),
) -> Result<(), ServeError> {
    let listener =
        TcpListener::bind(config.listen).await.map_err(|error| ServeError::Listen(config.listen, error))?;
    let checks = match config.agent_check {
        Some(address) => {
            let checks = listen_for_checks(address).await;
            Some(checks.map_err(|error| ServeError::Listen(address, error))?)
        }
        None => None,
    };
    ready(listener.local_addr().unwrap_or(config.listen), checks.as_ref().map(|(_, address)| *address));
    let origin = Origin {
        slots: Semaphore::new(config.slots.max(1)),
        waiting: AtomicUsize::new(0),
        queue: config.queue,
        speed: config.speed,
        times: Mutex::new(Times::new(&config.service, config.seed)),
        served: AtomicU64::new(0),
        report: config.report,
        meters: Mutex::new(Meters::new(config.slots.max(1))),
    };
    let origin = Arc::new(origin);
    let checking = checks.map(|(listener, _)| tokio::spawn(answer_checks(listener, Arc::clone(&origin))));
    accept(listener, origin, RULES, shutdown.bounded(Duration::from_secs(10))).await;
    if let Some(checking) = checking {
        checking.abort();
    }
    Ok(())
}

struct Origin {
    /// Fair: whoever asked first gets the next slot.
    slots: Semaphore,
    waiting: AtomicUsize,
    queue: usize,
    speed: f64,
    times: Mutex<Times>,
    served: AtomicU64,
    report: HeaderForm,
    meters: Mutex<Meters>,
}

/// What the origin knows of its load.
struct Meters {
    slots: f64,
    /// Requests on a slot, and those that wait for one.
    busy: f64,
    waiting: f64,
    /// Slots in use, of all.
    cpu: Level,
    /// Slots that are wanted, of all: above 1 while requests wait.
    wanted: Level,
    answers: Rate,
    errors: Rate,
}

impl Meters {
    fn new(slots: usize) -> Self {
        Self {
            slots: slots as f64,
            busy: 0.0,
            waiting: 0.0,
            cpu: Level::new(TIME_CONSTANT),
            wanted: Level::new(TIME_CONSTANT),
            answers: Rate::new(TIME_CONSTANT),
            errors: Rate::new(TIME_CONSTANT),
        }
    }

    fn change(&mut self, busy: f64, waiting: f64) {
        self.busy += busy;
        self.waiting += waiting;
        self.cpu.set(self.busy / self.slots);
        self.wanted.set((self.busy + self.waiting) / self.slots);
    }

    fn answered(&mut self, status: StatusCode) {
        self.answers.note();
        if status.is_server_error() {
            self.errors.note();
        }
    }

    fn report(&self) -> LoadReport {
        LoadReport {
            loads: [Some(self.cpu.average()), None, None, None, None],
            application: Some(self.wanted.average()),
            requests_per_s: Some(self.answers.per_s()),
            errors_per_s: Some(self.errors.per_s()),
        }
    }
}

impl Loaded for Origin {
    fn report(&self) -> LoadReport {
        self.meters().report()
    }
}

/// What a query asks for.
#[derive(Debug, Default, PartialEq)]
struct Wish {
    work: Option<Duration>,
    size: Option<u64>,
    status: Option<StatusCode>,
}

impl Wish {
    fn of(query: Option<&str>) -> Self {
        let mut wish = Self::default();
        for (key, value) in query.unwrap_or_default().split('&').filter_map(|pair| pair.split_once('=')) {
            match key {
                "work_us" => wish.work = value.parse().ok().map(Duration::from_micros),
                "size" => wish.size = value.parse().ok(),
                "status" => {
                    wish.status = StatusCode::from_str(value).ok().filter(|status| status.as_u16() >= 200);
                }
                _ => (),
            }
        }
        wish
    }
}

impl Serve for Origin {
    async fn serve(self: Arc<Self>, _: Arc<Client>, request: Request<Incoming>) -> Response<Reply> {
        if request.uri().path() == "/load" {
            return load_answer(&*self);
        }
        let wish = Wish::of(request.uri().query());
        // The work begins when the request is there.
        let mut body = request.into_body();
        while let Some(Ok(_)) = body.frame().await {}
        let mut response = if self.work(wish.work).await { self.answer(&wish) } else { too_many_waiting() };
        self.meters().answered(response.status());
        if let Some((name, value)) = orca_header(self.report, &Loaded::report(&*self)) {
            response.headers_mut().insert(name, value);
        }
        response
    }
}

fn too_many_waiting() -> Response<Reply> {
    let mut response = Response::new(Reply::text("too many waiting\n"));
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

impl Origin {
    fn answer(&self, wish: &Wish) -> Response<Reply> {
        let number = self.served.fetch_add(1, Ordering::Relaxed) + 1;
        let reply = match wish.size {
            Some(size) => Reply::new(Filler { left: size.min(LARGEST) }),
            None => Reply::text(format!("request {number} at this origin\n")),
        };
        let mut response = Response::new(reply);
        *response.status_mut() = wish.status.unwrap_or(StatusCode::OK);
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        headers.insert(HeaderName::from_static("x-origin-request"), HeaderValue::from(number));
        response
    }

    /// Waits for a slot, then works. `false` if too many wait already.
    async fn work(&self, wish: Option<Duration>) -> bool {
        let _slot = match self.slots.try_acquire() {
            Ok(slot) => slot,
            Err(_) => {
                let Some(_place) = Place::take(&self.waiting, self.queue) else { return false };
                let _waits = Metered::new(self, 0.0, 1.0);
                match self.slots.acquire().await {
                    Ok(slot) => slot,
                    // Never closed.
                    Err(_) => pending().await,
                }
            }
        };
        let _works = Metered::new(self, 1.0, 0.0);
        let work = wish.unwrap_or_else(|| {
            let drawn = self.times.lock().unwrap_or_else(PoisonError::into_inner).draw();
            Duration::from_nanos(drawn.as_nanos())
        });
        let seconds = work.as_secs_f64() / self.speed;
        tokio::time::sleep(Duration::try_from_secs_f64(seconds).unwrap_or(LONGEST).min(LONGEST)).await;
        true
    }

    fn meters(&self) -> MutexGuard<'_, Meters> {
        self.meters.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request on a slot or in the queue, as the meters have it; until this is dropped, also by a client that leaves.
struct Metered<'a> {
    origin: &'a Origin,
    busy: f64,
    waiting: f64,
}

impl<'a> Metered<'a> {
    fn new(origin: &'a Origin, busy: f64, waiting: f64) -> Self {
        origin.meters().change(busy, waiting);
        Self { origin, busy, waiting }
    }
}

impl Drop for Metered<'_> {
    fn drop(&mut self) {
        self.origin.meters().change(-self.busy, -self.waiting);
    }
}

/// A place in the queue; given up when dropped, also by a client that leaves.
struct Place<'a>(&'a AtomicUsize);

impl<'a> Place<'a> {
    fn take(waiting: &'a AtomicUsize, limit: usize) -> Option<Self> {
        let before = waiting.fetch_add(1, Ordering::Relaxed);
        let place = Self(waiting);
        (before < limit).then_some(place)
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// So many bytes of nothing in particular.
struct Filler {
    left: u64,
}

/// What they are made of.
const BLOCK: [u8; 16 * 1024] = [b'.'; 16 * 1024];

impl Body for Filler {
    type Data = Bytes;
    type Error = BodyError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BodyError>>> {
        let next = usize::try_from(self.left).map_or(BLOCK.len(), |left| left.min(BLOCK.len()));
        self.left -= next as u64;
        Poll::Ready((next > 0).then(|| Ok(Frame::data(Bytes::from_static(&BLOCK[..next])))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == 0
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.left)
    }
}

/// Reads a law from the command line: `NAME:TIME[:NUMBER]`, such as `exp:20ms`, `const:5ms`, `uniform:5ms..20ms`,
/// `erlang:20ms:4` (phases), `hyper:20ms:3` and `lognormal:20ms:2` (deviation over mean), `pareto:20ms:1.5` (tail).
///
/// # Errors
/// What is wrong with it.
pub(crate) fn parse_law(text: &str) -> Result<LawV1, String> {
    let mut parts = text.split(':');
    let name = parts.next().unwrap_or_default();
    let time = parts.next().ok_or_else(|| format!("NAME:TIME, such as exp:20ms, found {text}"))?;
    let number = parts.next();
    if parts.next().is_some() {
        return Err(format!("NAME:TIME[:NUMBER], found {text}"));
    }
    let number =
        number.map(|n| n.parse::<Value>().map_err(|_| format!("a number, found {n}"))).transpose()?;
    let mut law = match name {
        "uniform" => {
            let (min, max) = time.split_once("..").ok_or_else(|| format!("MIN..MAX, found {time}"))?;
            json!({ "law": "uniform", "min_us": parse_time(min)?, "max_us": parse_time(max)? })
        }
        _ => json!({ "mean_us": parse_time(time)? }),
    };
    let (full, parameter) = match name {
        "const" | "constant" => ("constant", None),
        "exp" | "exponential" => ("exponential", None),
        "uniform" => ("uniform", None),
        "erlang" => ("erlang", Some("k")),
        "hyper" | "hyperexponential" => ("hyperexponential", Some("cv")),
        "lognormal" => ("lognormal", Some("cv")),
        "pareto" => ("pareto", Some("alpha")),
        _ => return Err(format!("const, exp, uniform, erlang, hyper, lognormal or pareto, found {name}")),
    };
    law["law"] = full.into();
    match (parameter, number) {
        (Some(parameter), Some(number)) => law[parameter] = number,
        (Some(parameter), None) => return Err(format!("{name}:TIME:NUMBER, the number being {parameter}")),
        (None, Some(number)) => return Err(format!("{name} has no number beside its time, found {number}")),
        (None, None) => (),
    }
    checked(law)
}

/// The ranges are those of a scenario, so a scenario checks them.
fn checked(law: Value) -> Result<LawV1, String> {
    let value = json!({
        "tidegate": 1,
        "classes": [{ "name": "all", "service": law }],
        "stages": [{ "name": "serve", "work": { "at": "servers" }, "workers": 1 }],
        "servers": [{ "name": "origin" }],
    });
    let scenario = scenario::from_value(&value).and_then(|parsed| Scenario::check(parsed.wire));
    match scenario {
        Ok(scenario) => Ok(scenario.classes[0].service.clone()),
        Err(error) => {
            let error = error.to_string();
            Err(error.strip_prefix("classes[0].service.").unwrap_or(&error).to_owned())
        }
    }
}

/// Microseconds of a time with a unit.
fn parse_time(text: &str) -> Result<u64, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        _ => return Err(format!("a time with its unit (us, ms, s), found {text}")),
    };
    let time: f64 = digits.parse().map_err(|_| format!("a time such as 20ms, found {text}"))?;
    if !(0.0..=1e15).contains(&(time * unit)) {
        return Err(format!("a time of 0 or more, found {text}"));
    }
    Ok((time * unit).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn laws_are_written_short() {
        for (text, want) in [
            ("exp:20ms", LawV1::Exponential { mean_us: 20_000 }),
            ("const:1.5s", LawV1::Constant { mean_us: 1_500_000 }),
            ("uniform:500us..2ms", LawV1::Uniform { min_us: 500, max_us: 2000 }),
            ("erlang:20ms:4", LawV1::Erlang { mean_us: 20_000, k: 4 }),
            ("lognormal:20ms:2", LawV1::Lognormal { mean_us: 20_000, cv: 2.0 }),
        ] {
            assert_eq!(parse_law(text), Ok(want), "{text}");
        }
        for text in
            ["", "exp", "exp:20", "exp:20ms:2", "erlang:20ms", "erlang:20ms:0", "nothing:1ms", "uniform:5ms"]
        {
            assert!(parse_law(text).is_err(), "{text}");
        }
        assert_eq!(parse_law("exp:-1s").unwrap_err(), "a time of 0 or more, found -1s");
    }

    /// An origin of two slots and one place to wait.
    fn origin() -> Origin {
        Origin {
            slots: Semaphore::new(2),
            waiting: AtomicUsize::new(0),
            queue: 1,
            speed: 1.0,
            times: Mutex::new(Times::new(&LawV1::Constant { mean_us: 1_000 }, 1)),
            served: AtomicU64::new(0),
            report: HeaderForm::Text,
            meters: Mutex::new(Meters::new(2)),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_load_is_the_share_of_busy_slots_over_the_last_second_or_so() {
        let origin = Arc::new(origin());
        let work = |seconds| {
            let origin = Arc::clone(&origin);
            tokio::spawn(async move { origin.work(Some(Duration::from_secs(seconds))).await })
        };
        let check = |cpu: f64, wanted: f64, when: &str| {
            let report = origin.meters().report();
            let (got_cpu, got_wanted) = (report.loads[0].unwrap(), report.application.unwrap());
            assert!((got_cpu - cpu).abs() < 0.01, "cpu {got_cpu}, want {cpu}, {when}");
            assert!((got_wanted - wanted).abs() < 0.01, "wanted {got_wanted}, want {wanted}, {when}");
        };
        let first = work(60);
        tokio::time::sleep(Duration::from_secs(9)).await;
        check(0.5, 0.5, "with one of two busy");
        let (second, third) = (work(20), work(1));
        tokio::time::sleep(Duration::from_secs(9)).await;
        check(1.0, 1.5, "with one that waits");
        assert!(!work(1).await.unwrap(), "the queue is full");
        third.abort();
        second.abort();
        tokio::time::sleep(Duration::from_secs(9)).await;
        check(0.5, 0.5, "after clients left");
        assert!(first.await.unwrap());
        tokio::time::sleep(Duration::from_secs(9)).await;
        check(0.0, 0.0, "with nothing left");
    }

    #[tokio::test(start_paused = true)]
    async fn a_refusal_is_an_answer_and_an_error() {
        let mut meters = Meters::new(1);
        meters.answered(StatusCode::OK);
        meters.answered(StatusCode::SERVICE_UNAVAILABLE);
        let report = meters.report();
        assert_eq!((report.requests_per_s, report.errors_per_s), (Some(2.0), Some(1.0)));
    }

    #[test]
    fn a_query_may_ask_for_work_size_and_status() {
        let wish = Wish::of(Some("work_us=1500&size=10&status=404&other=1"));
        assert_eq!(
            wish,
            Wish {
                work: Some(Duration::from_micros(1500)),
                size: Some(10),
                status: Some(StatusCode::NOT_FOUND)
            }
        );
        assert_eq!(Wish::of(Some("work_us=x&status=100")), Wish::default());
        assert_eq!(Wish::of(None), Wish::default());
    }
}
