//! `tidegate load`: a scenario's clients as real HTTP.
//!
//! Open-loop requests are sent when they are due, whatever became of those before, and their response time counts from
//! that moment, not from when a connection was free: a server that stalls is not spared the requests it would have got
//! (no coordinated omission). Closed clients wait for their answer, think, and ask again.
//!
//! A request is made so that the gateway's rules put it into its class: path, host, method and header come from the
//! class's first rule. Its work travels in the query (`work_us`), where `tidegate origin` reads it; any other server
//! ignores it. The same seed gives the same requests as `tidegate simulate`.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use http_body_util::{BodyExt as _, Empty};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1::{self, SendRequest};
use hyper::header::{self, HeaderName, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tidegate_core::measure::Histogram;
use tidegate_core::scenario::v1::{LoadV1, RuleV1};
use tidegate_core::scenario::{Class, Scenario};
use tidegate_core::sim::{Ask, Traffic};
use tidegate_core::time::Instant;
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, mpsc};

use crate::serve::shutdown::Shutdown;

/// What to play, and against whom.
#[derive(Clone, Debug)]
pub(crate) struct LoadConfig {
    /// Whose clients.
    pub(crate) scenario: Scenario,
    /// `http://HOST[:PORT]`.
    pub(crate) target: Uri,
    /// Stop after this long; the scenario's horizon if that is sooner.
    pub(crate) duration: Option<Duration>,
    /// Begin again at the horizon, with other random numbers, until stopped.
    pub(crate) repeat: bool,
    /// Requests under way at once; more are not sent, and counted.
    pub(crate) outstanding: usize,
    /// Longest wait for an answer.
    pub(crate) timeout: Duration,
    /// Requests due earlier than this after the start are in no response time.
    pub(crate) warmup: Duration,
}

impl LoadConfig {
    /// The usual settings.
    pub(crate) fn new(scenario: Scenario, target: Uri) -> Self {
        Self {
            scenario,
            target,
            duration: None,
            repeat: false,
            outstanding: 10_000,
            timeout: Duration::from_secs(60),
            warmup: Duration::ZERO,
        }
    }
}

/// What became of the requests.
#[derive(Debug)]
pub(crate) struct LoadReport {
    /// How long it took, answers awaited.
    pub(crate) elapsed: Duration,
    /// One entry a class.
    pub(crate) classes: Vec<ClassReport>,
}

/// What became of the requests of one class.
#[derive(Clone, Debug)]
pub(crate) struct ClassReport {
    /// Class name.
    pub(crate) name: String,
    /// Requests due.
    pub(crate) due: u64,
    /// Answers by status.
    pub(crate) answers: BTreeMap<u16, u64>,
    /// Requests without an answer: no connection, or broken off.
    pub(crate) failed: u64,
    /// Requests without an answer in time.
    pub(crate) timed_out: u64,
    /// Requests not sent, for too many were under way.
    pub(crate) unsent: u64,
    /// Answers below 400 within the class's deadline.
    pub(crate) good: u64,
    /// Time from when a request was due to the end of its answer, of answers below 400 after the warm-up.
    pub(crate) response: Histogram,
}

/// Pause of a closed client that was refused, if it thinks for less; the simulator's clients do the same.
type Answered = (u32, bool);

/// Plays the load until its end or the shutdown, and waits for the answers that are due.
pub(crate) async fn run(config: LoadConfig, mut shutdown: Shutdown) -> LoadReport {
    let started = tokio::time::Instant::now();
    let player = Arc::new(Player::new(&config, started));
    let (answered, mut answers) = mpsc::unbounded_channel::<Answered>();
    let mut cut = shutdown.clone();
    let playing = async {
        let mut replication = 0;
        loop {
            let begun = tokio::time::Instant::now();
            let until = config.duration.map(|limit| started + limit);
            play(&player, Traffic::new(&config.scenario, replication), begun, until, &answered, &mut answers)
                .await;
            if !config.repeat || until.is_some_and(|until| until <= tokio::time::Instant::now()) {
                return;
            }
            replication += 1;
            // The horizon may be reached before its time if nothing more is due.
            tokio::time::sleep_until(begun + to_std(config.scenario.horizon)).await;
        }
    };
    tokio::select! {
        () = playing => (),
        () = shutdown.begins() => (),
    }
    // Whoever is under way is waited for; each has its own limit.
    let all = u32::try_from(config.outstanding).unwrap_or(u32::MAX);
    tokio::select! {
        _ = player.under_way.acquire_many(all) => (),
        () = cut.begins() => (),
    }
    LoadReport { elapsed: started.elapsed(), classes: player.lock().clone() }
}

fn to_std(length: tidegate_core::time::Duration) -> Duration {
    Duration::from_nanos(length.as_nanos())
}

/// One pass of the scenario, from its start to its horizon (or `until`).
async fn play(
    player: &Arc<Player>,
    mut traffic: Traffic,
    begun: tokio::time::Instant,
    until: Option<tokio::time::Instant>,
    answered: &mpsc::UnboundedSender<Answered>,
    answers: &mut mpsc::UnboundedReceiver<Answered>,
) {
    let end = async {
        match until {
            Some(until) => tokio::time::sleep_until(until).await,
            None => std::future::pending().await,
        }
    };
    let mut end = std::pin::pin!(end);
    let mut waiting = 0_usize;
    loop {
        let due = traffic.due();
        if due.is_none() && waiting == 0 {
            return;
        }
        let next = async {
            match due {
                Some(at) => tokio::time::sleep_until(begun + Duration::from_nanos(at.as_nanos())).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = &mut end => return,
            Some((client, refused)) = answers.recv() => {
                waiting = waiting.saturating_sub(1);
                let now = u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
                traffic.answered(Instant::from_nanos(now), client, refused);
            }
            () = next => {
                if let Some(ask) = traffic.take() {
                    waiting += usize::from(ask.client.is_some());
                    player.send(ask, begun, answered);
                }
            }
        }
    }
}

/// Sends requests and notes what becomes of them.
struct Player {
    target: Target,
    requests: Vec<Shape>,
    deadlines: Vec<Option<Duration>>,
    timeout: Duration,
    /// The end of the warm-up.
    measured_from: tokio::time::Instant,
    under_way: Arc<Semaphore>,
    classes: Mutex<Vec<ClassReport>>,
}

impl Player {
    fn new(config: &LoadConfig, started: tokio::time::Instant) -> Self {
        let classes = &config.scenario.classes;
        Self {
            target: Target::new(&config.target),
            requests: classes.iter().map(|class| Shape::of(class, &config.target)).collect(),
            deadlines: classes.iter().map(|class| class.deadline.map(to_std)).collect(),
            timeout: config.timeout,
            measured_from: started + config.warmup,
            under_way: Arc::new(Semaphore::new(config.outstanding)),
            classes: Mutex::new(classes.iter().map(|class| ClassReport::new(&class.name)).collect()),
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<ClassReport>> {
        self.classes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sends a request and returns at once.
    fn send(
        self: &Arc<Self>,
        ask: Ask,
        begun: tokio::time::Instant,
        answered: &mpsc::UnboundedSender<Answered>,
    ) {
        let class = usize::from(ask.class.0);
        let permit = Arc::clone(&self.under_way).try_acquire_owned();
        {
            let report = &mut self.lock()[class];
            report.due += 1;
            report.unsent += u64::from(permit.is_err());
        }
        let Ok(permit) = permit else {
            if let Some(client) = ask.client {
                let _ = answered.send((client, true));
            }
            return;
        };
        let player = Arc::clone(self);
        let answered = answered.clone();
        tokio::spawn(async move {
            let due = begun + Duration::from_nanos(ask.at.as_nanos());
            let request = player.requests[class].request(ask.work.as_nanos() / 1000);
            let answer = tokio::time::timeout_at(due + player.timeout, player.target.ask(request)).await;
            let refused = !matches!(answer, Ok(Ok(status)) if status < 400);
            player.note(class, answer.ok(), due);
            if let Some(client) = ask.client {
                let _ = answered.send((client, refused));
            }
            drop(permit);
        });
    }

    fn note(&self, class: usize, answer: Option<io::Result<u16>>, due: tokio::time::Instant) {
        let response = due.elapsed();
        let report = &mut self.lock()[class];
        match answer {
            None => report.timed_out += 1,
            Some(Err(_)) => report.failed += 1,
            Some(Ok(status)) => {
                *report.answers.entry(status).or_default() += 1;
                if status < 400 {
                    if due >= self.measured_from {
                        report.response.record(u64::try_from(response.as_nanos()).unwrap_or(u64::MAX));
                    }
                    report.good += u64::from(self.deadlines[class].is_none_or(|limit| response <= limit));
                }
            }
        }
    }
}

/// What the requests of a class look like.
struct Shape {
    method: Method,
    path: String,
    host: HeaderValue,
    header: Option<(HeaderName, HeaderValue)>,
}

impl Shape {
    /// As the class's first rule has it; a class without rules asks for `/`.
    fn of(class: &Class, target: &Uri) -> Self {
        let rule = class.rules.first();
        let field =
            |get: fn(&RuleV1) -> &Option<String>| rule.and_then(|rule| get(rule).as_deref()).map(example);
        let host = field(|rule| &rule.host).or_else(|| target.authority().map(ToString::to_string));
        let name = field(|rule| &rule.header).and_then(|name| HeaderName::try_from(name).ok());
        let value = field(|rule| &rule.value).unwrap_or_else(|| "1".to_owned());
        Self {
            method: field(|rule| &rule.method).and_then(|method| method.parse().ok()).unwrap_or(Method::GET),
            path: field(|rule| &rule.path)
                .filter(|path| path.starts_with('/'))
                .unwrap_or_else(|| "/".to_owned()),
            host: host
                .and_then(|host| HeaderValue::try_from(host).ok())
                .unwrap_or(HeaderValue::from_static("localhost")),
            header: name.zip(HeaderValue::try_from(value).ok()),
        }
    }

    fn request(&self, work_us: u64) -> Request<Empty<Bytes>> {
        let mut request = Request::new(Empty::new());
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = format!("{}?work_us={work_us}", self.path).parse().unwrap_or_default();
        request.headers_mut().insert(header::HOST, self.host.clone());
        if let Some((name, value)) = &self.header {
            request.headers_mut().insert(name.clone(), value.clone());
        }
        request
    }
}

/// A text that a pattern matches.
fn example(pattern: &str) -> String {
    pattern.replace("**", "x").replace('*', "x")
}

/// The server that is asked, and the connections to it that are free.
struct Target {
    host: String,
    port: u16,
    idle: Mutex<Vec<SendRequest<Empty<Bytes>>>>,
}

impl Target {
    fn new(url: &Uri) -> Self {
        let host = url.host().unwrap_or_default();
        Self {
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port: url.port_u16().unwrap_or(80),
            idle: Mutex::new(Vec::new()),
        }
    }

    /// Asks, and reads the whole answer.
    async fn ask(&self, request: Request<Empty<Bytes>>) -> io::Result<u16> {
        let mut request = request;
        // A connection that was idle may have been closed meanwhile; nothing was sent then, and the next is tried.
        while let Some(mut connection) = self.reuse() {
            match connection.try_send_request(request).await {
                Ok(response) => return self.read(connection, response).await,
                Err(mut failed) => match failed.take_message() {
                    Some(unsent) => request = unsent,
                    None => return Err(io::Error::other(failed.into_error())),
                },
            }
        }
        let stream = TcpStream::connect((self.host.as_str(), self.port)).await?;
        stream.set_nodelay(true)?;
        let (mut connection, driver) =
            http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
        tokio::spawn(driver);
        let response = connection.send_request(request).await.map_err(io::Error::other)?;
        self.read(connection, response).await
    }

    async fn read(
        &self,
        mut connection: SendRequest<Empty<Bytes>>,
        response: Response<Incoming>,
    ) -> io::Result<u16> {
        let status = response.status().as_u16();
        let mut body = response.into_body();
        while let Some(frame) = body.frame().await {
            frame.map_err(io::Error::other)?;
        }
        if connection.ready().await.is_ok() {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        Ok(status)
    }

    fn reuse(&self) -> Option<SendRequest<Empty<Bytes>>> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        std::iter::from_fn(|| idle.pop()).find(|connection| !connection.is_closed())
    }
}

impl ClassReport {
    fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            due: 0,
            answers: BTreeMap::new(),
            failed: 0,
            timed_out: 0,
            unsent: 0,
            good: 0,
            response: Histogram::new(),
        }
    }

    /// Answers below 400.
    pub(crate) fn completed(&self) -> u64 {
        self.answers.range(..400).map(|(_, count)| count).sum()
    }

    fn quantile_s(&self, q: f64) -> Option<f64> {
        self.response.quantile(q).map(|ns| ns as f64 / 1e9)
    }
}

impl LoadReport {
    /// The report as data.
    pub(crate) fn to_json(&self) -> Value {
        let seconds = self.elapsed.as_secs_f64();
        let classes: Vec<Value> = self
            .classes
            .iter()
            .map(|class| {
                let answers: serde_json::Map<String, Value> = class
                    .answers
                    .iter()
                    .map(|(status, count)| (status.to_string(), (*count).into()))
                    .collect();
                json!({
                    "name": class.name, "due": class.due, "completed": class.completed(), "answers": answers,
                    "failed": class.failed, "timed_out": class.timed_out, "unsent": class.unsent,
                    "goodput_per_s": class.good as f64 / seconds,
                    "response_s": {
                        "mean": class.response.mean().map(|ns| ns / 1e9),
                        "p50": class.quantile_s(0.5), "p90": class.quantile_s(0.9),
                        "p95": class.quantile_s(0.95), "p99": class.quantile_s(0.99),
                    },
                })
            })
            .collect();
        json!({ "elapsed_s": seconds, "classes": classes })
    }
}

impl fmt::Display for LoadReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.elapsed.as_secs_f64();
        writeln!(
            f,
            "{:<16} {:>8} {:>8} {:>8} {:>8} {:>10} {:>10} {:>10} {:>10}  other answers",
            "class", "due", "ok", "503", "lost", "good/s", "mean ms", "p50 ms", "p99 ms"
        )?;
        for class in &self.classes {
            let ms = |seconds: Option<f64>| seconds.map_or("-".to_owned(), |s| format!("{:.1}", s * 1e3));
            let mut others = String::new();
            for (status, count) in class.answers.range(400..).filter(|(status, _)| **status != 503) {
                let _ = write!(others, " {status}: {count}");
            }
            if class.unsent > 0 {
                let _ = write!(others, " not sent: {}", class.unsent);
            }
            writeln!(
                f,
                "{:<16} {:>8} {:>8} {:>8} {:>8} {:>10.1} {:>10} {:>10} {:>10} {others}",
                class.name,
                class.due,
                class.completed(),
                class.answers.get(&503).unwrap_or(&0),
                class.failed + class.timed_out,
                class.good as f64 / seconds,
                ms(class.response.mean().map(|ns| ns / 1e9)),
                ms(class.quantile_s(0.5)),
                ms(class.quantile_s(0.99)),
            )?;
        }
        write!(f, "{seconds:.1} s")
    }
}

/// Classes whose requests cannot be played: they replay a trace, which a scenario does not carry.
pub(crate) fn silent(scenario: &Scenario) -> impl Iterator<Item = &str> {
    let traces = scenario.classes.iter().filter(|class| matches!(class.load, LoadV1::Trace { .. }));
    traces.map(|class| class.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidegate_core::scenario::presets;

    #[tokio::test(start_paused = true)]
    async fn requests_of_the_warm_up_are_counted_and_not_timed() {
        let scenario = presets::get("demo").unwrap().scenario();
        let mut config = LoadConfig::new(scenario, "http://127.0.0.1:1".parse().unwrap());
        config.warmup = Duration::from_secs(5);
        let started = tokio::time::Instant::now();
        let player = Player::new(&config, started);
        for due_s in [0, 4, 5, 6] {
            player.note(0, Some(Ok(200)), started + Duration::from_secs(due_s));
        }
        let report = player.lock()[0].clone();
        assert_eq!((report.completed(), report.response.count()), (4, 2), "counted, and timed");
    }

    #[test]
    fn requests_are_made_to_fit_the_first_rule() {
        let scenario = presets::get("demo").unwrap().scenario();
        let target: Uri = "http://127.0.0.1:8080".parse().unwrap();
        let uris: Vec<String> = scenario
            .classes
            .iter()
            .map(|class| Shape::of(class, &target).request(1500).uri().to_string())
            .collect();
        assert_eq!(uris, ["/pay/x?work_us=1500", "/shop/x?work_us=1500", "/?work_us=1500"]);
    }
}
